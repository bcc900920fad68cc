"""Pages that a script fills in: rendered by a Chromium that never touches the network.

Every request that a page makes comes to the polite client instead (`visit`), which asks robots.txt, waits its turn, checks
each address, and keeps size and deadline; only the source's own hosts are asked, so that trackers are not.

Behind that stand three walls, for what an interception may miss (hints to connect ahead, calls, a new kind of request): the
page's policy forbids what is no request, the browser's one way out is a proxy that there is not, and it looks up no name.
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
from types import TracebackType
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

#: Names under which a Chromium is installed.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Pages that are rendered at the same time, all sources together, and requests of theirs that wait for the client.
_AT_ONCE, _THREADS = 4, 8
#: Seconds that a page which goes on changing is given after what it last waited for.
SETTLE_S = 8.0
#: Seconds in which a page must be gone that was closed, before the browser is ended with it.
_CLOSED_WITHIN_S = 3.0
#: A proxy of a name that never leads anywhere (RFC 6761), loopback not excepted: what was not intercepted ends here.
_NOWHERE = "http://nowhere.invalid:9"
_ARGUMENTS = (
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
    "--dns-prefetch-disable", "--no-pings", "--disable-breakpad", "--disable-domain-reliability", "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--js-flags=--max-old-space-size=256",
)  # fmt: skip
_LENGTH = "() => document.documentElement.outerHTML.length"

_Given = TypeVar("_Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings:
    """How pages are rendered.

    `program` is Chromium's, found by its name where it is empty; `address` is that of one that runs elsewhere and is driven
    by its DevTools protocol. A page that is not done after `deadline_s` has failed; it counts as done when nothing changed
    for `quiet_s`. `hosts` may give scripts to pages of any source, beside the source's own.
    """

    program: str = ""
    address: str = ""
    deadline_s: float = 90.0
    quiet_s: float = 1.0
    max_body_bytes: int = 5_000_000
    hosts: frozenset[str] = frozenset()


def find(program: str = "") -> str:
    """The browser's program. Raises NoBrowser where there is none."""
    wanted = [program] if program else NAMES
    found = next(filter(None, map(shutil.which, wanted)), None) or (None if program else _of_playwright())
    if found is None:
        raise NoBrowser("browser", f"no program is called {program or ' or '.join(NAMES)}")
    return found


def _of_playwright() -> str | None:
    """The one that `playwright install chromium` has put there, the newest."""
    folder = Path.home() / ".cache" / "ms-playwright"
    return next(map(str, sorted(folder.glob("chromium-*/chrome-linux*/chrome"), reverse=True)), None)


@dataclass(frozen=True, slots=True)
class Rendering:
    """Which pages of one source the browser renders: all, or those of some `hosts`."""

    browser: Browser
    hosts: frozenset[str] | None = None

    def is_for(self, url: str) -> bool:
        """Whether the page at `url` is rendered."""
        return self.hosts is None or urlsplit(url).hostname in self.hosts


class Browser:
    """One browser for all pages of a run, started with the first one; safe to share between threads.

    Use it as a context manager. `agent` is the User-Agent that the client names too.
    """

    def __init__(self, client: Client, settings: BrowserSettings, agent: str) -> None:
        self._client, self._settings, self._agent = client, settings, agent
        #: Stands among the arguments of the browser, so that its processes are known among all others.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """The page at `url` as its scripts leave it, and behind its end the list of what it was made from; what is no HTML
        is given as it came.

        Raises what the client raises for the page itself; NoBrowser; Timeout for a page that is not done in time; TooLarge.
        """
        self._start()
        page = self._client.fetch(url, site=site)
        if not is_html(page):
            return page
        shown, started = addresses.redact(url), time.monotonic()
        try:
            rendered = self._wait(self._rendered(page, site))
        except ExtractError:
            raise
        except Exception as error:
            if self._is_running():
                raise FetchError(shown, f"the browser gave up on it: {_first_line(error)}") from error
            # It ended, perhaps with another page: once more in a new one.
            self._start()
            rendered = self._wait(self._rendered(page, site))
        if len(rendered.content) > self._settings.max_body_bytes:
            raise TooLarge(shown, f"rendered it has {len(rendered.content)} bytes")
        blocks.detect(rendered.content, rendered.final_url, rendered.headers, rendered.status)
        return replace(rendered, elapsed_s=page.elapsed_s + time.monotonic() - started)

    def _is_running(self) -> bool:
        return self._browser is not None and self._browser.is_connected()

    def _wait(self, work: Coroutine[Any, Any, _Given]) -> _Given:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _start(self) -> None:
        """Have a browser. Raises NoBrowser, also for every page after the one that was told so."""
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
                # As root there is no sandbox to be had.
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
        shown, longest = addresses.redact(page.url), self._settings.deadline_s
        async with self._places:
            # Another context for each page: nothing that one stores is there for the next.
            context = await self._browser.new_context(
                accept_downloads=False, service_workers="block", user_agent=self._agent, proxy=_proxy()
            )
            try:
                async with asyncio.timeout(longest):
                    return visit.rendered(await self._taken(context, visit))
            except TimeoutError:
                waited = f", and waits for {addresses.redact(min(visit.waits_for))}" if visit.waits_for else ""
                seen = f"the page was not done after {longest:g} s{waited}"
                raise Timeout(
                    shown, seen, "look at it in a browser; raise browser_deadline_s if it is really so slow"
                ) from None
            finally:
                await self._close(context)

    async def _taken(self, context: BrowserContext, visit: Visit) -> str:
        await context.route("**/*", visit.answer)
        # One that is routed here is never opened.
        await context.route_web_socket("**/*", lambda socket: socket.close())
        page = await context.new_page()
        context.on("page", _closed)
        await page.goto(visit.address, wait_until="commit", timeout=0)
        await _settled(page, visit, self._settings.quiet_s)
        return await page.content()

    async def _close(self, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(_CLOSED_WITHIN_S):
                await context.close()
        except Exception:  # noqa: BLE001  whatever Playwright raises: a page that cannot be closed must not stay
            _kill(self._mark)


async def _settled(page: Page, visit: Visit, quiet_s: float) -> None:
    """Return when the page waits for nothing and has not grown or shrunk for a while; one that goes on changing is given
    SETTLE_S after what it last waited for.
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


async def _closed(page: Page) -> None:
    """Close a window that a page has opened."""
    with suppress(Exception):
        await page.close()


def _proxy() -> ProxySettings:
    return {"server": _NOWHERE, "bypass": "<-loopback>"}


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _kill(mark: str) -> None:
    """End the browser that has the mark among its arguments, with all that it started."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if mark in process.cmdline():
                for child in process.children(recursive=True):
                    with suppress(psutil.Error):
                        child.kill()
                process.kill()
