"""One page in a browser. The polite client answers the requests of the page or refuses them, and each one is recorded."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpuledger.extract.errors import ExtractError, FetchError
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.http import Client
from gpuledger.extract.fetch.site import Site

if TYPE_CHECKING:
    from playwright.async_api import Request, Route

#: Kinds of requests that are fetched. Pictures, fonts, films, frames, beacons and prefetches are not.
FETCHED = frozenset(("document", "script", "xhr", "fetch"))
#: How many requests of one page are fetched, and how often the page may move to another address.
MOST_PARTS, MOST_MOVES = 60, 3
#: Bytes of scripts of one site that are kept for the site's next page.
_MOST_KNOWN_BYTES = 30_000_000
#: Most entries in the list of a page's requests: a page that requests without end must not make a list without end.
_MOST_LINES = 200
#: Forbids the page the network use that cannot be intercepted: no frames, workers, sockets, calls, forms or objects.
_POLICY = (
    "connect-src http: https:; frame-src 'none'; worker-src 'none'; object-src 'none'; manifest-src 'none'; "
    "form-action 'none'; webrtc 'block'"
)
_HTML = ("text/html", "application/xhtml+xml")


def is_html(page: Fetched) -> bool:
    """Whether scripts can fill in the page. A sitemap, a picture or a table is not HTML and is not rendered."""
    media = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media in _HTML or (not media and page.content.lstrip()[:1] == b"<")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One request of a page: the `sha256` and `size` (bytes) of the answer, or the reason why it was `refused`."""

    url: str
    kind: str
    sha256: str = ""
    size: int = 0
    refused: str = ""

    def to_json(self) -> dict[str, Any]:
        """The entry of this request in the list at the end of the rendered page."""
        entry = {"url": addresses.redact(self.url), "kind": self.kind}
        return entry | ({"refused": self.refused} if self.refused else {"sha256": self.sha256, "bytes": self.size})


@dataclass(frozen=True, slots=True)
class Asking:
    """How requests of a source's pages are answered: `client` fetches from the hosts of `site` in the threads of `pool`.

    `known` holds the scripts that an earlier page of the run has requested, by their addresses.
    """

    client: Client
    site: Site
    pool: ThreadPoolExecutor
    known: dict[str, Fetched]


class Visit:
    """Answers the requests of one page, which the client fetched as `page`, with at most `most_bytes` in all."""

    def __init__(self, asking: Asking, page: Fetched, most_bytes: int) -> None:
        self._asking, self._page, self._bytes_left = asking, page, most_bytes
        self._moves = self._fetched = 0
        self._parts: list[Part] = [_part_of(page.url, "document", page)]
        self._seen: set[str] = set()
        #: Addresses that the page waits for. Only the first request of an address counts: a clock or a chat repeats its own.
        self.waits_for: set[str] = set()
        #: The address to which the page moved last.
        self.address = page.final_url

    async def answer(self, route: Route, request: Request) -> None:
        """Answer one request. If anything goes wrong, the page gets no answer and stays at its address."""
        url, kind = request.url, request.resource_type
        place = url.partition("?")[0]
        if place not in self._seen:
            self.waits_for.add(place)
        self._seen.add(place)
        try:
            fetched = await self._answer(request)
        except ExtractError as error:
            self._note(Part(url, kind, refused=f"{type(error).__name__}: {error.seen}"))
            await self._refuse(route, kind)
            return
        except Exception as error:  # noqa: BLE001  one failed request must not fail the page
            self._note(Part(url, kind, refused=f"{type(error).__name__}: {error}"[:200]))
            await self._refuse(route, kind)
            return
        finally:
            self.waits_for.discard(place)
        origin = request.headers.get("origin", "*")
        headers = {
            "content-type": fetched.headers.get("content-type", ""), "content-security-policy": _POLICY,
            "x-dns-prefetch-control": "off", "access-control-allow-origin": origin,
            "access-control-allow-credentials": "true",
        }  # fmt: skip
        with suppress(Exception):  # Playwright raises if the page is gone
            await route.fulfill(status=200, headers=headers, body=fetched.content)

    async def _refuse(self, route: Route, kind: str) -> None:
        with suppress(Exception):
            if kind == "document":
                await route.fulfill(status=204)  # leaves the page as it is
            else:
                await route.abort("blockedbyclient")

    async def _answer(self, request: Request) -> Fetched:
        url, kind = request.url, request.resource_type
        if kind == "stylesheet":
            # Many pages give up if a stylesheet does not load, but no page needs its content.
            self._note(Part(url, kind, refused="answered as an empty one"))
            return replace(self._page, headers={"content-type": "text/css"}, content=b"")
        if kind not in FETCHED:
            raise FetchError(url, f"of the kind {kind}, which is not fetched")
        if kind == "document":
            self._check_move(request)
            if url.partition("#")[0] == self._page.final_url.partition("#")[0]:
                return self._page
        if request.method != "GET":
            raise FetchError(url, f"a {request.method}: nothing is sent")
        if kind == "script" and (known := self._asking.known.get(url)):
            self._note(_part_of(url, kind, known))
            return known
        if self._fetched >= MOST_PARTS:
            raise FetchError(url, f"more than {MOST_PARTS} requests of one page")
        if self._bytes_left <= 0:
            raise FetchError(url, "the page is made of too much")
        self._fetched += 1
        loop, asking = asyncio.get_running_loop(), self._asking
        fetched = await loop.run_in_executor(asking.pool, lambda: asking.client.fetch(url, site=asking.site))
        self._bytes_left -= len(fetched.content)
        self._note(_part_of(url, kind, fetched))
        if kind == "script" and sum(len(script.content) for script in asking.known.values()) < _MOST_KNOWN_BYTES:
            asking.known[url] = fetched
        if kind == "document":
            if not is_html(fetched):
                raise FetchError(url, "a download")
            self._page, self.address = fetched, fetched.final_url
        return fetched

    def _check_move(self, request: Request) -> None:
        if not request.is_navigation_request() or request.frame.parent_frame is not None:
            raise FetchError(request.url, "a frame, which is not fetched")
        self._moves += 1
        self._seen.clear()
        if self._moves > 1 + MOST_MOVES:
            raise FetchError(request.url, f"the page moved on more than {MOST_MOVES} times")

    def _note(self, part: Part) -> None:
        if len(self._parts) < _MOST_LINES:
            self._parts.append(part)

    def rendered(self, html: str) -> Fetched:
        """The page as its scripts left it, followed by the list of its requests.

        The list is in the order of addresses, because scripts do not arrive in the same order every night.
        """
        parts: Collection[Part] = sorted(set(self._parts))
        made_of = json.dumps([part.to_json() for part in parts], ensure_ascii=False).replace("--", "-\\u002d")
        content = f"{html}\n<!-- rendered from {made_of} -->\n".encode("utf-8", "replace")
        headers = {"content-type": "text/html; charset=utf-8"}
        return replace(self._page, final_url=self.address, headers=headers, content=content)


def _part_of(url: str, kind: str, fetched: Fetched) -> Part:
    return Part(url, kind, hashlib.sha256(fetched.content).hexdigest(), len(fetched.content))
