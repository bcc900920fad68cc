"""A source is read from its own hosts: what its pages link or redirect to beyond them is not fetched, and said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuledger.extract import source as sources
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Reading, collect
from gpuledger.extract.errors import ForeignHost
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.items import Issue, Link, Parsed
from gpuledger.extract.pages import Fetching
from gpuledger.extract.source import Page, Source
from gpuledger.flows.settings import settings
from tests.extract.faulty_server import Exchange, FaultyServer

HOST, PICTURES, ELSEWHERE = "www.site.test", "pictures.site-cdn.test", "evil.elsewhere.test"
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def parse(page: Page) -> Iterator[Parsed]:
    """A page of addresses, one a line: an image where it ends so."""
    for url in page.content.decode().split():
        if "://" in url:
            yield Link(url=url, role="image" if url.endswith(".png") else "next_page")
    yield Issue(code="read", message="read", severity="warning")


SHOP = Source(name="site_shop", title="Shop", homepage="", parse=parse, kinds=("offer",), hosts=(PICTURES,))


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as found:
        yield found


def read(server: FaultyServer, folder: Path, page: str, *redirects: str) -> dict[str | None, str]:
    """Read the shop with one page that says `page`, and redirects from /r0, /r1, …; the issues by their address."""

    def say(exchange: Exchange) -> None:
        exchange.reply(200, page.encode() or b"nothing")

    def lead(exchange: Exchange) -> None:
        exchange.reply(302, headers={"Location": redirects[int(exchange.path[2:])]})

    server.routes |= {"/list": say, "/other": lambda exchange: exchange.reply(200, b"other"),
                      "/a.png": lambda exchange: exchange.reply(200, b"png")}  # fmt: skip
    server.routes |= {f"/r{number}": lead for number in range(len(redirects))}
    there = ("127.0.0.1", server.port)
    hosts = dict.fromkeys((HOST, "site.test", PICTURES, ELSEWHERE, f"{HOST}.elsewhere.test", "2130706433"), there)
    with Client(HttpSettings(delay_s=0.0, max_attempts=1, connect_to=hosts)) as client:
        start = f"http://{HOST}/list"
        pages = Fetching(client, Archive(folder / "s"), NOW, "run", site_of([start], SHOP.hosts))
        collected = collect(Reading(SHOP, [start]), pages, ParsedCache(folder / "p"))
    return {issue.url: f"{issue.code}: {issue.message}" for issue, _ in collected.issues if issue.code != "read"}


@pytest.mark.parametrize(
    "url",
    [
        f"http://{ELSEWHERE}/other", f"http://{ELSEWHERE}:80/other", f"http://{HOST}.elsewhere.test/other",
        f"http://{ELSEWHERE.upper()}/other", f"http://{ELSEWHERE}./other", f"http://{ELSEWHERE}/a.png",
        f"http://{ELSEWHERE}/other?u=http://{HOST}/", f"http://{ELSEWHERE}/{HOST}/",
    ],
)  # fmt: skip
def test_a_link_elsewhere_fails_with_the_hosts_name(server: FaultyServer, tmp_path: Path, url: str) -> None:
    issues = read(server, tmp_path, f"{url} http://{HOST}/other")
    (words,) = issues.values()
    assert words.startswith("ForeignHost: it leads to ")
    assert "elsewhere.test" in words
    assert server.paths() == ["/list", "/other"]  # its own link was followed; of the other host nothing was asked
    assert len([path for path in server.paths(robots=True) if path == "/robots.txt"]) == 1


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_redirect_elsewhere_fails_with_the_hosts_name(server: FaultyServer, tmp_path: Path, hops: int) -> None:
    chain = [f"http://{HOST}/r{number + 1}" for number in range(hops - 1)] + [f"http://{ELSEWHERE}/other"]
    issues = read(server, tmp_path, f"http://{HOST}/r0", *chain)
    assert [ELSEWHERE in words for words in issues.values()] == [True]
    assert "/other" not in server.paths()


@pytest.mark.parametrize(
    "url", [f"http://{HOST}/other", "http://site.test/other", f"http://{PICTURES}/a.png", f"http://{HOST}/r0"]
)
def test_the_sources_own_hosts_are_read(server: FaultyServer, tmp_path: Path, url: str) -> None:
    assert read(server, tmp_path, url, "http://site.test/other") == {}


def test_https_never_becomes_http() -> None:
    site = site_of(["https://www.shop.example/list"])
    site.check(addresses.check("https://shop.example/list"), "x")
    with pytest.raises(ForeignHost, match=r"shop\.example without TLS"):
        site.check(addresses.check("http://www.shop.example/list"), "x")
    # Where a person names an address without it, there is none to lose.
    site_of(["http://shop.example/"]).check(addresses.check("https://shop.example/"), "x")
    site_of(["http://shop.example/"]).check(addresses.check("http://shop.example/"), "x")


@pytest.mark.parametrize(
    "url", [f"http://{HOST}:8080/other", "http://site.test:8080/a.png", f"https://{HOST}:80/other"]
)
def test_another_port_of_its_own_host_fails_with_the_port(server: FaultyServer, tmp_path: Path, url: str) -> None:
    for issues in (read(server, tmp_path / "link", url), read(server, tmp_path / "hop", f"http://{HOST}/r0", url)):
        assert ["it leads to port 80" in words for words in issues.values()] == [True]
    assert "/other" not in server.paths()


def test_the_port_that_a_source_names_is_its_own() -> None:
    site = site_of(["http://shop.example:8443/list"])
    for url in ("http://shop.example:8443/x", "http://www.shop.example/x", "https://shop.example/x"):
        site.check(addresses.check(url), "x")
    with pytest.raises(ForeignHost, match=r"port 9000 of shop\.example"):
        site.check(addresses.check("http://shop.example:9000/x"), "x")


@pytest.mark.parametrize("name", sources.names())
def test_every_source_can_be_read_from_where_it_starts(name: str) -> None:
    source = sources.get(name)
    # As a night resolves them: a host may be a setting, as that of the model hub is.
    starts = source.addresses(settings.load({}, environment={}, file=Path("/nowhere.toml")))
    assert starts or not source.start or source.setting or "{" in source.start[0]
    site = site_of(starts, source.hosts)
    for start in starts:
        site.check(addresses.check(start), start)
    assert not starts or site.is_https
    assert all(host == host.lower() and "/" not in host for host in source.hosts)
