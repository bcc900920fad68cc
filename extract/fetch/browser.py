"""Renders pages that a script fills in, with a Chromium that never touches the network.

Every request that a page makes goes to the polite client instead (`visit`). The client checks robots.txt and each address,
waits its turn, and keeps the limits of size and time. It fetches from the source's own hosts only, so it never contacts
trackers.

Interception may miss something: hints to connect ahead, calls, a new kind of request. So there are three more barriers. The
page's policy forbids network use that is not a request, the browser's only way out is a proxy that does not exist, and the
browser cannot resolve any host name.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
import shutil
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from gpuledger.extract.errors import ExtractError, FetchError, NoBrowser, Timeout, TooLarge
from gpuledger.extract.fetch import addresses, blocks
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.http import Client
from gpuledger.extract.fetch.site import Site
from gpuledger.extract.fetch.visit import Asking, Visit, is_html

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Page, Playwright, ProxySettings

#: Program names under which Chromium may be installed.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: How many pages of all sources are rendered at the same time, and how many of their requests the client handles at a time.
_AT_ONCE, _THREADS = 4, 8
#: A page that keeps changing is taken as it is this many seconds after its last pending request.
SETTLE_S = 8.0
#: If a page does not close within this many seconds, the browser is killed together with the page.
_CLOSED_WITHIN_S = 3.0
#: A proxy whose name never resolves (RFC 6761), also used for loopback. Requests that were not intercepted fail here.
_NOWHERE = "http://nowhere.invalid:9"
_ARGUMENTS = (
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
    "--dns-prefetch-disable", "--no-pings", "--disable-breakpad", "--disable-domain-reliability", "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--js-flags=--max-old-space-size=256",
)  # fmt: skip
_LENGTH = "() => document.documentElement.outerHTML.length"

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings:
    """How pages are rendered.

    `program` is the name or path of Chromium; if it is empty, the usual names are tried. `address` is the address of a
    Chromium that runs elsewhere and is driven by its DevTools protocol. A page fails if it is not done after `deadline_s`.
    It counts as done when nothing has changed for `quiet_s`. Pages of any source may load scripts from `hosts`, besides the
    source's own hosts.
    """

    program: str = ""
    address: str = ""
    deadline_s: float = 90.0
    quiet_s: float = 1.0
    max_body_bytes: int = 5_000_000
    hosts: frozenset[str] = frozenset()


def find(program: str = "") -> str:
    """The path of the browser's program. Raises NoBrowser if there is none."""
    program_names = [program] if program else NAMES
    path = next(filter(None, map(shutil.which, program_names)), None) or (None if program else _of_playwright())
    if path is None:
        raise NoBrowser("browser", f"no program is called {program or ' or '.join(NAMES)}")
    return path


def _of_playwright() -> str | None:
    """The newest Chromium that `playwright install chromium` has installed."""
    folder = Path.home() / ".cache" / "ms-playwright"
    return next(map(str, sorted(folder.glob("chromium-*/chrome-linux*/chrome"), reverse=True)), None)


@dataclass(frozen=True, slots=True)
class Rendering:
    """Which pages of one source the browser renders: all pages, or only those of `hosts`."""

    browser: Browser
    hosts: frozenset[str] | None = None

    def is_for(self, url: str) -> bool:
        """Whether the page at `url` is rendered."""
        return self.hosts is None or urlsplit(url).hostname in self.hosts


class Browser:
    """One browser for all pages of a run, started for the first page. Safe to share between threads.

    Use it as a context manager. `agent` is the User-Agent, the same as the client's.
    """

    def __init__(self, client: Client, settings: BrowserSettings, agent: str) -> None:
        self._client, self._settings, self._agent = client, settings, agent
        #: An argument of the browser's command line, by which we recognise its processes among all others.
        self._mark = f"--gpuledger-{secrets.token_hex(8)}"
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._known: dict[Site, dict[str, Fetched]] = {}
        self._playwright: Playwright | None = None
        self._browser: Chromium | None = None
        self._failure: NoBrowser | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._loop is None or self._thread is None or self._pool is None:
            return
        with suppress(Exception):
            self._wait(asyncio.wait_for(self._stop(), 2 * _CLOSED_WITHIN_S))
        _kill(self._mark)
        self._pool.shutdown(cancel_futures=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None

    def render(self, url: str, site: Site) -> Fetched:
        """The page at `url` as its scripts leave it, followed by the list of the requests that it was made from.

        A page that is not HTML is returned as it came. Raises NoBrowser, TooLarge, Timeout if the page is not done in time,
        and whatever the client raises for the page itself.
        """
        self._start()
        page = self._client.fetch(url, site=site)
        if not is_html(page):
            return page
        shown_url, started = addresses.redact(url), time.monotonic()
        try:
            rendered = self._wait(self._rendered(page, site))
        except ExtractError:
            raise
        except Exception as error:
            if self._is_running():
                raise FetchError(shown_url, f"the browser gave up on it: {_first_line(error)}") from error
            # The browser ended, perhaps because of another page. Render this page once more in a new browser.
            self._start()
            rendered = self._wait(self._rendered(page, site))
        if len(rendered.content) > self._settings.max_body_bytes:
            raise TooLarge(shown_url, f"rendered it has {len(rendered.content)} bytes")
        blocks.detect(rendered.content, rendered.final_url, rendered.headers, rendered.status)
        return replace(rendered, elapsed_s=page.elapsed_s + time.monotonic() - started)

    def _is_running(self) -> bool:
        return self._browser is not None and self._browser.is_connected()

    def _wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _start(self) -> None:
        """Start the browser if it does not run. Raises NoBrowser, and raises it again for every later page."""
        with self._starting:
            if self._failure is not None:
                raise self._failure
            if self._is_running():
                return
            try:
                if importlib.util.find_spec("playwright") is None:
                    raise NoBrowser("browser", "Playwright is not installed", "pip install 'gpuledger[browser]'")
                program = "" if self._settings.address else find(self._settings.program)
                if self._loop is None:
                    self._loop = asyncio.new_event_loop()
                    self._pool = ThreadPoolExecutor(_THREADS, "browser")
                    self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
                    self._thread.start()
                self._wait(self._launch(program))
            except NoBrowser as error:
                self._failure = error
                raise

    async def _launch(self, program: str) -> None:
        from playwright.async_api import async_playwright

        address = self._settings.address
        if self._playwright is None:
            self._places = asyncio.Semaphore(_AT_ONCE)
            self._playwright = await async_playwright().start()
        try:
            if address:
                self._browser = await self._playwright.chromium.connect_over_cdp(address, timeout=20_000)
                return
            self._browser = await self._playwright.chromium.launch(
                executable_path=program, args=[*_ARGUMENTS, self._mark], proxy=_proxy(), timeout=60_000,
                # Chromium has no sandbox for root.
                chromium_sandbox=os.geteuid() != 0,
            )  # fmt: skip
        except Exception as error:
            if address:
                seen = f"none answers at {addresses.redact(address)}: {_first_line(error)}"
                raise NoBrowser("browser", seen, "start it there, or mend GPULEDGER_BROWSER_ADDRESS") from error
            seen = f"{program} did not start: {_first_line(error)}"
            raise NoBrowser("browser", seen, "start it by hand as this user, and see what it says") from error

    async def _stop(self) -> None:
        if self._browser is not None and not self._settings.address:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()

    async def _rendered(self, page: Fetched, site: Site) -> Fetched:
        assert self._browser is not None
        assert self._pool is not None
        sites = replace(site, hosts=site.hosts | self._settings.hosts)
        visit = Visit(
            Asking(self._client, sites, self._pool, self._known.setdefault(sites, {})), page,
            most_bytes=4 * self._settings.max_body_bytes,
        )  # fmt: skip
        shown_url, longest = addresses.redact(page.url), self._settings.deadline_s
        async with self._places:
            # Each page has its own context, so that a page never sees data that another page stored.
            context = await self._browser.new_context(
                accept_downloads=False, service_workers="block", user_agent=self._agent, proxy=_proxy()
            )
            try:
                async with asyncio.timeout(longest):
                    return visit.rendered(await self._html_of(context, visit))
            except TimeoutError:
                waited = f", and waits for {addresses.redact(min(visit.waits_for))}" if visit.waits_for else ""
                seen = f"the page was not done after {longest:g} s{waited}"
                raise Timeout(
                    shown_url, seen, "look at it in a browser; raise browser_deadline_s if it is really so slow"
                ) from None
            finally:
                await self._close(context)

    async def _html_of(self, context: BrowserContext, visit: Visit) -> str:
        await context.route("**/*", visit.answer)
        # A socket that is routed here is never opened.
        await context.route_web_socket("**/*", lambda socket: socket.close())
        page = await context.new_page()
        context.on("page", _close_window)
        await page.goto(visit.address, wait_until="commit", timeout=0)
        await _wait_until_settled(page, visit, self._settings.quiet_s)
        return await page.content()

    async def _close(self, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(_CLOSED_WITHIN_S):
                await context.close()
        except Exception:  # noqa: BLE001  Playwright raises anything here, and a page that does not close must not stay
            _kill(self._mark)


async def _wait_until_settled(page: Page, visit: Visit, quiet_s: float) -> None:
    """Return when the page waits for no request and its length has not changed for `quiet_s` seconds.

    A page that keeps changing is taken as it is SETTLE_S after its last pending request.
    """
    length, since, ends = -1, time.monotonic(), time.monotonic() + SETTLE_S
    while True:
        await asyncio.sleep(0.05)
        try:
            now = await page.evaluate(_LENGTH)
        except Exception:
            if page.is_closed():
                raise
            now = -1
        moment = time.monotonic()
        if visit.waits_for:
            since, ends = moment, moment + SETTLE_S
        elif now != length:
            since = moment
        elif now >= 0 and moment - since >= quiet_s:
            return
        if moment >= ends:
            return
        length = now


async def _close_window(page: Page) -> None:
    """Close a window that a page opened."""
    with suppress(Exception):
        await page.close()


def _proxy() -> ProxySettings:
    return {"server": _NOWHERE, "bypass": "<-loopback>"}


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _kill(mark: str) -> None:
    """Kill the browser that has `mark` among its arguments, with all processes that it started."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if mark in process.cmdline():
                for child in process.children(recursive=True):
                    with suppress(psutil.Error):
                        child.kill()
                process.kill()
