# ruff: noqa: E501  tables of cases
"""What the walls were not built for: answers, redirects and hosts that were thought of after the code was done."""

from __future__ import annotations

import gzip
import json
import random
import re
import socket
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.errors import ExtractError, ForbiddenAddress
from gpuledger.extract import source as sources
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Reading, collect, parse_page
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.pages import Fetching
from gpuledger.extract.source import Page, Source
from gpuledger.items import Issue, Offer, to_json
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.walls.cases import failing

HOST, ELSEWHERE = "www.shop.test", "elsewhere.test"
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def _parse(page: Page) -> list[Offer | Issue]:
    """A shop whose good pages say so; any other text is an issue."""
    if page.content == b"good":
        return [Offer(title="Card", url=page.url, key=page.url, price=Decimal(5), currency="USD", price_kind="now")]
    return [Issue(code="odd", message=page.content[:50].decode("utf-8", "replace"), url=page.url)]


SHOP = Source(name="test_shop", title="Shop", homepage=f"http://{HOST}", parse=_parse, kinds=("offer",), max_pages=1000)


def _sent(head: bytes, body: bytes = b"") -> Callable[[Exchange], None]:
    """Answers with exactly these bytes, and hangs up."""

    def send(exchange: Exchange) -> None:
        exchange.send(head + body)
        exchange.sock.shutdown(socket.SHUT_RDWR)

    return send


def _read(
    routes: dict[str, Callable[[Exchange], None]], folder: Path
) -> tuple[dict[str, str], dict[str, str], list[Exchange]]:
    """Read each route between two good pages: the issues and the addresses of the offers, by path, and what was asked."""
    with FaultyServer() as server:
        starts = []
        for number, (path, route) in enumerate(routes.items()):
            server.routes |= {path: route, f"/good{number}": lambda exchange: exchange.reply(200, b"good")}
            starts += [f"http://{HOST}{path}", f"http://{HOST}/good{number}"]
        there = ("127.0.0.1", server.port)
        hosts = dict.fromkeys((HOST, "shop.test", ELSEWHERE, f"{HOST}.{ELSEWHERE}"), there)
        # Twice, since a connection that was left open may be gone when the next page is asked for; without waiting between.
        time = FakeTime()
        settings = HttpSettings(delay_s=0.0, max_attempts=2, connect_to=hosts)
        with Client(settings, Machine(clock=time.clock, sleep=time.sleep)) as client:
            pages = Fetching(client, Archive(folder / "s"), NOW, "run", site_of(starts))
            found = collect(Reading(SHOP, starts), pages, ParsedCache(folder / "p"))
        asked = list(server.asked)
    assert found.failure is None, found.failure
    start = f"http://{HOST}"
    for issue, _ in found.issues:
        json.dumps(to_json(issue)).encode()
    issues = {(issue.url or "").removeprefix(start): f"{issue.code}: {issue.message}" for issue, _ in found.issues}
    offers = {item.key.removeprefix(start): item.title for item, _ in found.rows if isinstance(item, Offer)}
    assert {path for path in offers if path.startswith("/good")} == {f"/good{number}" for number in range(len(routes))}
    return issues, offers, asked


# ── answers that are no HTTP, or hardly ───────────────────────────────────────────────────────────────────────────────

_OK = b"HTTP/1.1 200 OK\r\n"
#: Head and body; the good pages around them are read whatever they are.
WILD: dict[str, tuple[bytes, bytes]] = {
    "no status": (b"HTTP/1.1\r\n\r\n", b"x"),
    "status of letters": (b"HTTP/1.1 two OK\r\n\r\n", b"x"),
    "status 0": (b"HTTP/1.1 000 OK\r\n\r\n", b"x"),
    "status 99": (b"HTTP/1.1 099 OK\r\n\r\n", b"x"),
    "status 999": (b"HTTP/1.1 999 Denied\r\n\r\n", b"x"),
    "status of 4,400 digits": (b"HTTP/1.1 " + b"2" * 4400 + b" OK\r\n\r\n", b"x"),
    "negative status": (b"HTTP/1.1 -200 OK\r\n\r\n", b"x"),
    "status in full-width digits": ("HTTP/1.1 ２００ OK\r\n\r\n".encode(), b"x"),
    "HTTP/9.9": (b"HTTP/9.9 200 OK\r\n\r\n", b"x"),
    "HTTP/1.1e5": (b"HTTP/1.1e5 200 OK\r\n\r\n", b"x"),
    "ICY": (b"ICY 200 OK\r\n\r\n", b"x"),
    "no HTTP at all": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 600),
    "only line ends": (b"\r\n" * 3000, b""),
    "nothing": (b"", b""),
    "a reason in escapes": (b"HTTP/1.1 500 \x1b]8;;http://evil/\x07\x1b[2J\r\n\r\n", b"x"),
    "100 and no more": (b"HTTP/1.1 100 Continue\r\n\r\n", b""),
    "a hundred times 100": (b"HTTP/1.1 100 Continue\r\n\r\n" * 100 + _OK + b"Content-Length: 4\r\n\r\n", b"good"),
    "103 before": (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + _OK + b"Content-Length: 4\r\n\r\n", b"good"),
    "101": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", b"PRI * HTTP/2.0"),
    "204 with a body": (b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", b"good"),
    "205": (b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", b""),
    "206 of what was not asked for": (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\n", b"part"),
    "304 of nothing": (b"HTTP/1.1 304 Not Modified\r\n\r\n", b""),
    "300 choices": (b"HTTP/1.1 300 Multiple Choices\r\nContent-Length: 1\r\n\r\n", b"x"),
    "402": (b"HTTP/1.1 402 Payment Required\r\nContent-Length: 1\r\n\r\n", b"x"),
    "a header without a name": (_OK + b": x\r\nContent-Length: 3\r\n\r\n", b"odd"),
    "a header without a colon": (_OK + b"Content-Length 3\r\n\r\n", b"odd"),
    "a header in two lines": (_OK + b"X-A: b\r\n c\r\nContent-Length: 3\r\n\r\n", b"odd"),
    "a header of 200 KB": (_OK + b"X-A: " + b"b" * 200_000 + b"\r\n\r\n", b"odd"),
    "5,000 headers": (_OK + b"X-A: b\r\n" * 5000 + b"\r\n", b"odd"),
    "zero bytes in a header": (_OK + b"Content-Type: text/\0html\r\nContent-Length: 3\r\n\r\n", b"odd"),
    "half a character in a header": (_OK + b"ETag: \xed\xa0\x80\r\nContent-Length: 4\r\n\r\n", b"good"),
    "an ETag of 60 KB": (_OK + b"ETag: \"" + b"e" * 60_000 + b"\"\r\nContent-Length: 4\r\n\r\n", b"good"),
    "an ETag of new lines": (_OK + b"ETag: a\rHost: evil\r\nContent-Length: 4\r\n\r\n", b"good"),
    "1,000 cookies": (_OK + b"".join(b"Set-Cookie: c%d=%s\r\n" % (n, b"v" * 50) for n in range(90)) + b"Content-Length: 4\r\n\r\n", b"good"),
    "a cookie of a year beyond all": (_OK + b"Set-Cookie: a=b; expires=Fri, 31-Dec-99999 23:59:59 GMT; max-age=" + b"9" * 400 + b"\r\nContent-Length: 4\r\n\r\n", b"good"),
    "a cookie for everybody": (_OK + b"Set-Cookie: a=b; domain=.test; path=/\r\nContent-Length: 4\r\n\r\n", b"good"),
    "a length in hexadecimal": (_OK + b"Content-Length: 0x4\r\n\r\n", b"good"),
    "a length with a plus": (_OK + b"Content-Length: +4\r\n\r\n", b"good"),
    "a length with a point": (_OK + b"Content-Length: 4.0\r\n\r\n", b"good"),
    "a negative length": (_OK + b"Content-Length: -1\r\n\r\n", b"good"),
    "a length of 5,000 digits": (_OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", b"good"),
    "a length of letters from elsewhere": (_OK + "Content-Length: ٤\r\n\r\n".encode(), b"good"),
    "two lengths": (_OK + b"Content-Length: 4\r\nContent-Length: 7\r\n\r\n", b"good"),
    "lengths in one line": (_OK + b"Content-Length: 4, 4\r\n\r\n", b"good"),
    "lengths that differ in one line": (_OK + b"Content-Length: 4, 9\r\n\r\n", b"good"),
    "a length and chunks": (_OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n", b"4\r\ngood\r\n0\r\n\r\n"),
    "chunked twice": (_OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n", b"4\r\ngood\r\n0\r\n\r\n"),
    "transfer by gzip": (_OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", b"4\r\ngood\r\n0\r\n\r\n"),
    **{f"a chunk of {size[:12]!r}": (_OK + b"Transfer-Encoding: chunked\r\n\r\n", size + b"\r\ngood\r\n0\r\n\r\n") for size in (
        b"-5", b"0x", b"1" * 4400, b"", b";", b"5;x=" + b"y" * 9000, b"\x00", b"+3", b"1_0",
    )},
    "a chunk of 2^64": (_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000000000000000\r\ngood"),
    "a chunk of 2^63 - 1": (_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"7fffffffffffffff\r\ngood\r\n0\r\n\r\n"),
    "chunks without an end of line": (_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"4\r\ngoodgood4\r\n"),
    "trailers without end": (_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"4\r\ngood\r\n0\r\n" + b"X: y\r\n" * 20_000),
    "gzip that is none": (_OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n", b"good"),
    "gzip of a member and dirt": (_OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"good") + b"dirt"),
    "gzip of two members": (_OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"go") + gzip.compress(b"od")),
    "gzip with a wrong sum": (_OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"good")[:-8] + b"\1" * 8),
    "gzip with a name of 1 MB": (_OK + b"Content-Encoding: gzip\r\n\r\n", b"\x1f\x8b\x08\x08\0\0\0\0\0\3" + b"n" * 1_000_000),
    "br": (_OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\n", b"good"),
    "ten encodings": (_OK + b"Content-Encoding: " + b"gzip, " * 10 + b"\r\nContent-Length: 4\r\n\r\n", b"good"),
    "no encoding of this world": (_OK + b"Content-Encoding: \x1b[2J\xff\r\nContent-Length: 4\r\n\r\n", b"good"),
    "Retry-After of all digits": (b"HTTP/1.1 503 X\r\nRetry-After: " + b"9" * 5000 + b"\r\nContent-Length: 1\r\n\r\n", b"x"),
    "Retry-After of 1e400": (b"HTTP/1.1 429 X\r\nRetry-After: 1e400\r\nContent-Length: 1\r\n\r\n", b"x"),
    "Retry-After in the year 0": (b"HTTP/1.1 429 X\r\nRetry-After: Sat, 00 Jan 0000 99:99:99 GMT\r\nContent-Length: 1\r\n\r\n", b"x"),
    "Retry-After beyond all days": (b"HTTP/1.1 503 X\r\nRetry-After: Fri, 31 Dec 99999 23:59:59 GMT\r\nContent-Length: 1\r\n\r\n", b"x"),
    "Retry-After of a zone beyond all": (b"HTTP/1.1 503 X\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 -9999\r\nContent-Length: 1\r\n\r\n", b"x"),
    "Retry-After before now": (b"HTTP/1.1 503 X\r\nRetry-After: -1\r\nContent-Length: 1\r\n\r\n", b"x"),
    **{f"rubbish in {name!r}": (_OK + name + b": " + random.Random(name).randbytes(300).translate(None, b"\r\n") + b"\r\n\r\n", b"good") for name in (
        b"Content-Length", b"Content-Encoding", b"Location", b"Set-Cookie", b"Retry-After", b"Content-Type", b"ETag",
    )},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:http.cookiejar bug")
def test_wild_answers_are_one_page_each(tmp_path: Path) -> None:
    routes = {f"/{number}": _sent(*said) for number, said in enumerate(WILD.values())}
    issues, offers, _ = _read(routes, tmp_path)

    def judged(number: int, body: bytes) -> None:
        path = f"/{number}"
        assert (path in issues) != (path in offers), "it is named, or read"
        if path in offers:
            assert b"good" in body or zlib.decompressobj(31).decompress(body) in (b"good", b"go")
        else:
            words = issues[path]
            assert len(words) < 2000
            assert not any(ord(letter) < 32 for letter in words), ascii(words)

    cases = {name: lambda n=number, b=body: judged(n, b) for number, (name, (_, body)) in enumerate(WILD.items())}  # type: ignore[misc]
    assert failing(cases) == {}


def test_links_that_are_no_address_cost_a_page_nothing_else() -> None:
    """Every link of every page of the sample, and the pictures of articles: found by the fuzzer."""
    for name in sources.names():
        for path in sources.folder(name).glob("sample/**/*.html"):
            for attribute in (b"href", b"src"):
                content = re.sub(attribute + b'="[^"]*"', attribute + b'="http://["', path.read_bytes())
                url = sources.get(name).homepage.rstrip("/") + "/p"
                page = Page(url=url, final_url=url, content=content, sha256="0" * 64, fetched_at=NOW, headers={})
                try:
                    parse_page(sources.get(name), page)
                except ExtractError as error:
                    said = str(error)
                else:
                    said = ""
                assert "ValueError" not in said, path


# ── hosts, and where redirects lead ───────────────────────────────────────────────────────────────────────────────────

SITE = ["https://www.shop.example/list", "https://www.shop.example/other"]
OWN = [
    "https://shop.example/", "https://SHOP.Example/", "https://www.shop.example./x", "https://shop.example:443/", "https://ｓhop.example/",
    "https://shop。example/", "https://shop.example?x", "https://shop.example#@evil.example", "https://shop.example/@evil.example/",
    "https://shop.example/https://evil.example/", "https://shop.example/?\\evil.example",
]  # fmt: skip
FOREIGN = [
    "https://evil.example/", "https://shop.example.evil.example/", "https://evilshop.example/", "https://evil-www.shop.example/",
    "https://a.shop.example/", "https://www.www.shop.example/", "https://shop.example@evil.example/", "https://evil.example@shop.example/",
    "https://shop.example:443@evil.example/", "https://shop.example%2eevil.example/", "https://shop.example%00.evil.example/",
    "https://shop.example\x00.evil.example/", "https://shop.example\\.evil.example/", "https://evil.example\\@shop.example/",
    "https://shop.example\tevil.example/", "https://shop.example\nevil.example/", "https://ѕhop.example/", "https://shop.exаmple/",
    "https://shop.example。evil.example/", "https://evil.example#.shop.example/", "https://evil.example?.shop.example/",
    "https://evil.example/.shop.example/", "https:evil.example", "https:/evil.example/", "https:///evil.example/", "//evil.example/",
    "https://[::ffff:1.1.1.1]/", "https://[shop.example]/", "https://1.1.1.1/", "https://16843009/", "https://0x1010101/",
    "https://shop/", "https://example/", "https://.shop.example/", "https://shop..example/", "https://shop.example../",
    "https://*.shop.example/", "https://shop.example,evil.example/", "https://shop.example;evil.example/",
    "https://shop.example evil.example/", "https://shop.example|evil.example/", "https://shop.example:evil/",
    "https://shop.example:99999/", "https://shop.example:-443/", "https://shop.example:४४३/", "https://xn--shop.example/",
    "https://xn--a.shop.example/", "https://shop.example:0/", "ws://shop.example/", "ftp://shop.example/",
    "view-source:https://shop.example/", "blob:https://shop.example/x", "http://shop.example/", "HTTP://shop.example/",
    "http://shop.example:443/", "https://shop.example\u2044evil.example/", "https://shop.example\uff0fevil.example/",
    "https://shop.example\u2100evil.example/", "https://" + "a." * 200 + "shop.example/",
]  # fmt: skip


def test_hosts_that_only_look_like_the_sources() -> None:
    site = site_of(SITE)

    def refused(url: str) -> None:
        try:
            site.check(addresses.check(url), "shown")
        except ForbiddenAddress as error:  # a ForeignHost is one
            str(error).encode()
            return
        raise AssertionError("it would be fetched")

    cases: dict[str, Callable[[], None]] = {ascii(url): lambda url=url: refused(url) for url in FOREIGN}  # type: ignore[misc]
    cases |= {ascii(url): lambda url=url: site.check(addresses.check(url), "shown") for url in OWN}  # type: ignore[misc]
    assert failing(cases) == {}


def test_a_start_in_letters_of_its_own_is_read_and_one_that_is_no_address_stops_nothing() -> None:
    for start in ("https://könig.example/p", "https://www.könig.example/p", "https://xn--knig-5qa.example/p"):
        for url in (start, "https://KÖNIG.example/x", "https://www.xn--knig-5qa.example/"):
            site_of([start]).check(addresses.check(url), "shown")
    for junk in (
        "https://[::1",
        "https://shop.example:x/",
        "",
        "\0",
        "https://",
        "shop",
        "https://a..b/",
        "https://\ud83d/",
    ):
        site = site_of([*SITE, junk])
        assert site == site_of(SITE), junk


#: Location headers of a page of the shop. None may have another host asked, or this one twice without need.
LOCATIONS = [
    f"http://{ELSEWHERE}/stolen", f"//{ELSEWHERE}/stolen", f"///{ELSEWHERE}/stolen", f"////{ELSEWHERE}/stolen", f"\\\\{ELSEWHERE}/stolen",
    f"/\\{ELSEWHERE}/stolen", f"http:\\\\{ELSEWHERE}/stolen", f"http:/{ELSEWHERE}/stolen", f"http:{ELSEWHERE}/stolen",
    f"HTTP://{ELSEWHERE.upper()}/stolen", f"http://{ELSEWHERE}./stolen", f"http://{HOST}@{ELSEWHERE}/stolen",
    f"http://{HOST}:80@{ELSEWHERE}/stolen", f"http://{ELSEWHERE}#@{HOST}/stolen", f"http://{ELSEWHERE}?@{HOST}/stolen",
    f"http://{HOST}.{ELSEWHERE}/stolen", f"http://{ELSEWHERE}\\@{HOST}/stolen", f" http://{ELSEWHERE}/stolen ",
    f"\thttp://{ELSEWHERE}/stolen", f"http://{ELSEWHERE}\t/stolen", f"ht\ttp://{ELSEWHERE}/stolen", f"http://{HOST}%2f@{ELSEWHERE}/stolen",
    f"http://{HOST}%40{ELSEWHERE}/stolen", f"http://[{ELSEWHERE}]/stolen", "http://[::1/stolen", "http://[::ffff:127.0.0.1]/stolen",
    "http://127.0.0.1/stolen", "http://localhost/stolen", "http://2130706433/stolen", "http://0/stolen", "http:///stolen",
    "file:///etc/passwd", "file://localhost/etc/passwd", "data:text/html,good", "javascript:alert(1)", "about:blank", "ftp://x.test/",
    "gopher://x.test/_x", "unix:/run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/", "jar:http://x.test!/", "mailto:a@b.test",
    f"http://{HOST}:22/stolen", f"http://{HOST}:0/stolen", f"http://{HOST}:99999/stolen", f"http://{HOST}:x/stolen",
    f"http://{'x' * 300}.test/stolen", "http://" + "x" * 60_000, "?" + "x" * 60_000, f"http://{ELSEWHERE}/" + "%0d%0aHost:%20x/stolen",
    f"http://{ELSEWHERE}\x00.{HOST}/stolen", f"http://{HOST}\x1b]8;;x\x07/stolen", "\x1b[2J", "\xff\xfe", "http://\xe9\xa9/stolen",
    "", "#", ".", "%", "http://", "//", "://", ":",
]  # fmt: skip


#: Of those, the one that means the shop itself: its host is left out.
OF_ITS_OWN = ("http:///stolen",)


def test_redirects_lead_nowhere_else(tmp_path: Path) -> None:
    def lead(location: str) -> Callable[[Exchange], None]:
        raw = location.encode("latin-1").replace(b"\n", b"")
        return _sent(b"HTTP/1.1 302 Found\r\nLocation: " + raw + b"\r\nContent-Length: 0\r\n\r\n")

    routes = {f"/r{number}": lead(location) for number, location in enumerate(LOCATIONS)}
    routes["/stolen"] = lambda exchange: exchange.reply(200, b"good")
    issues, _, asked = _read(routes, tmp_path)

    def judged(number: int, location: str) -> None:
        path = f"/r{number}"
        assert (path in issues) != (location in OF_ITS_OWN)
        assert sum(exchange.path == path for exchange in asked) <= 3
        assert not any(ord(letter) < 32 for letter in issues.get(path, "")), ascii(issues[path])

    cases = {
        ascii(location[:80]) + f" {number}": lambda n=number, to=location: judged(n, to)
        for number, location in enumerate(LOCATIONS)
    }  # type: ignore[misc]
    assert failing(cases) == {}
    assert {exchange.headers["host"].partition(":")[0] for exchange in asked} == {HOST}
