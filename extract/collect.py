"""Reads one source: gets its pages, parses them from the archive, and follows its links."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from gpuledger import local_files
from gpuledger.errors import (
    ExtractError,
    FetchError,
    LayoutChanged,
    NotFound,
    OutOfTime,
    Unforeseen,
    described,
)  # fmt: skip
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.fetch import addresses, blocks
from gpuledger.extract.pages import LocalFile, Pages
from gpuledger.extract.product_details import merged
from gpuledger.extract.source import Page, Source
from gpuledger.items import Aside, Issue, Item, Link, ListingTotal, Offer, Parsed, Severity, admitted

#: Called before a page is fetched, with its address.
OnPage = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run reads of one source: these addresses, and these files of this machine.

    If a source of many shops is read shop by shop, `shop` is the shop of these addresses. It is empty for a whole source.
    """

    source: Source
    starts: Sequence[str]
    files: Sequence[LocalFile] = ()
    shop: str = ""

    @property
    def name(self) -> str:
        """The name of the source, followed by the shop if there is one."""
        return f"{self.source.name} {self.shop}".rstrip()


@dataclass(frozen=True, slots=True)
class Collected:
    """The batch of one source. `failure` is set if no page could be read. Then there is nothing to load.

    A page fails alone: `unread` are the failures of the pages that are missing, and the rows of the other pages are good.
    A page that is gone because its product is gone is not among them: that is an answer of the shop.

    `rows` are items, each with the hash of its archived page, and so are `issues`. `images` maps the addresses of watched
    images to hashes. `parsed` has the address and the hash of each parsed page. `is_complete` says that every page was read.

    `stated_total` is the number of goods that the listings say they have, or None if a start address does not say it.
    `listed` is the number of offers that were read from the listings.

    A replay needs the next fields to repeat the run: `starts`, `files` (name, content type and hash), `fetched` (the number
    of pages that came, including unreadable pages) and `missed` (each address without an answer, and why). If files have
    many nights in them, a replay also needs `nights` (the first and the last night in the batch) and `fetched_by` (the run
    that archived the files).
    """

    source: str
    #: As in Reading.
    shop: str = field(default="", kw_only=True)
    rows: Sequence[tuple[Item, str]] = ()
    issues: Sequence[tuple[Issue, str | None]] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    parsed: Sequence[tuple[str, str]] = ()
    pages: int = 0
    pages_unchanged: int = 0
    size_bytes: int = 0
    failure: ExtractError | None = None
    unread: Sequence[ExtractError] = ()
    is_complete: bool = True
    starts: Sequence[str] = ()
    files: Sequence[tuple[str, str, str]] = ()
    fetched: int = 0
    missed: Sequence[tuple[str, ExtractError]] = ()
    nights: tuple[datetime, datetime] | None = None
    fetched_by: str | None = None
    stated_total: int | None = None
    listed: int = 0


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The result of one address or file: a page with its items, the bytes of an image, or a failure.

    `snapshot` is set if something was fetched, and `page` if it could also be read.
    """

    link: Link
    snapshot: Snapshot | None = None
    page: Page | None = None
    items: Sequence[Parsed] = ()
    is_unchanged: bool = False
    failure: ExtractError | None = None
    #: The start address from which links led here; empty for a file.
    start: str = ""


class Parser(Protocol):
    """Parses pages, in this process or in one that can be killed."""

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """All items that the source reads on the page. Raises ExtractError."""

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """Call the source's own `give_back`. Raises OSError."""


class InThisProcess:
    """Parses in this process, without limits of time and memory."""

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """See `parse_page`."""
        return parse_page(source, page)

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """Call the source's own `give_back`, if it has one."""
        return source.give_back is not None and source.give_back(page, target)


@dataclass(frozen=True, slots=True)
class _Tools:
    pages: Pages
    cache: ParsedCache | None
    parser: Parser


def collect(
    reading: Reading,
    pages: Pages,
    cache: ParsedCache | None,
    on_page: OnPage = lambda url: None,
    parser: Parser | None = None,
) -> Collected:
    """Read a source through `pages`. Does not raise if a page fails, and reads no further page after OutOfTime.

    A page is not parsed again if the server answers 304, or if the `cache` has the items of these bytes and this parser.
    """
    source, tools = reading.source, _Tools(pages, cache, parser or InThisProcess())
    files = [_read_file(source, file, tools) for file in reading.files]
    attempts: list[_Attempt] = []
    waiting = deque((Link(url=url, role="start"), url) for url in reading.starts)
    products: dict[str, str] = {}
    known = set(reading.starts)
    is_over = False
    while waiting and len(attempts) < source.max_pages and not is_over:
        link, start = waiting.popleft()
        on_page(link.url)
        attempt = replace(_read_link(source, link, tools), start=start)
        attempts.append(attempt)
        is_over = isinstance(attempt.failure, OutOfTime)
        for item in attempt.items:
            if isinstance(item, Link) and item.url not in known:
                known.add(item.url)
                if item.role == "product":
                    products[item.url] = start
                else:
                    waiting.append((item, start))
    chosen = [] if is_over else pages.stalest(source, list(products), source.max_products)
    for url in chosen:
        on_page(url)
        attempt = _read_link(source, Link(url=url, role="product"), tools)
        attempts.append(replace(attempt, start=products[url]))
        if isinstance(attempt.failure, OutOfTime):
            break
    left_out = waiting[0][0].url if waiting and not is_over else None
    collected = _collected(reading, files, attempts, left_out, len(products) - len(chosen))
    return _judge(collected, [*files, *attempts], has_lists=source.has_lists)


def _read_link(source: Source, link: Link, tools: _Tools) -> _Attempt:
    try:
        snapshot = tools.pages.fetch(source, link.url)
    except Exception as error:  # noqa: BLE001  a failing page must not stop the other pages
        return _Attempt(link, failure=_failure(link.url, error))
    if link.role == "image":
        return _Attempt(link, snapshot)
    return _parse_snapshot(source, link, snapshot, tools)


def _read_file(source: Source, file: LocalFile, tools: _Tools) -> _Attempt:
    address = file.address
    link = Link(url=address, role="file")
    try:
        snapshot = tools.pages.local(source, file)
    except OSError as error:
        is_its_own = error.filename is not None and str(error.filename) == str(file.path)
        seen = f"the file cannot be {'read' if is_its_own else 'archived'} ({local_files.why(error)})"
        action = "mend that, or take it out of the folder" if is_its_own else "mend that; the file stays where it is"
        return _Attempt(link, failure=FetchError(address, seen, action))
    except Exception as error:  # noqa: BLE001  as for a page
        return _Attempt(link, failure=_failure(address, error))
    attempt = _parse_snapshot(source, link, snapshot, tools)
    page = attempt.page
    has_problems = any(isinstance(item, Issue) for item in attempt.items)
    if page is None or source.give_back is None or (attempt.is_unchanged and not has_problems):
        return attempt
    try:
        tools.pages.give_back(file, lambda target: tools.parser.give_back(source, page, target))
    except OSError as error:
        # A person gets the unreadable rows back in a file. If the folder cannot be written, only this file is lost and the
        # run goes on.
        message = (
            f"the rows that could not be read cannot be given back ({local_files.why(error)}); see the other issues"
        )
        issue = Issue(code="not_given_back", message=message, url=page.url)
        return replace(attempt, items=[*attempt.items, issue])
    return attempt


def _parse_snapshot(source: Source, link: Link, snapshot: Snapshot, tools: _Tools) -> _Attempt:
    """Parse one archived page."""
    try:
        page = tools.pages.page_of(snapshot)
        items = tools.cache.get(source, page) if tools.cache else None
        is_unchanged = items is not None
        if items is None:
            # The items, or the refusal, are kept for nights with the same page.
            cache = tools.cache if source.keeps_parsed else None
            try:
                items = tools.parser.parse(source, page)
            except LayoutChanged as refusal:
                if cache:
                    cache.put_refusal(source, page, refusal)
                raise
            if cache:
                cache.put(source, page, items)
    except Exception as error:  # noqa: BLE001  as for a page that cannot be fetched
        return _Attempt(link, snapshot, failure=_failure(link.url, error, snapshot))
    return _Attempt(link, snapshot, page, items, is_unchanged)


def _failure(address: str, error: Exception, snapshot: Snapshot | None = None) -> ExtractError:
    """The failure of a page as an ExtractError. An unforeseen error becomes Unforeseen and names the archived page."""
    if isinstance(error, ExtractError):
        return error
    url = addresses.redact(address)
    if isinstance(error, OSError):
        seen = f"{described(error)}" if error.errno is None else local_files.why(error)
        return FetchError(url, seen, "mend that, and start the run again")
    page = f"; the archived page is {snapshot.sha256}" if snapshot else ""
    return Unforeseen(url, f"{described(error)}{page}")


def _collected(
    reading: Reading, files: Sequence[_Attempt], attempts: Sequence[_Attempt], left_out: str | None, unread: int
) -> Collected:
    """The batch of all pages. `left_out` is the first address beyond the allowed number of pages.

    `unread` product pages are left for another night. Without them it is not complete if no listing shows their offers.
    """
    done = [*files, *attempts]
    parsed = [(item, attempt.page.sha256) for attempt in done if attempt.page for item in attempt.items]
    issues: list[tuple[Issue, str | None]] = [(item, sha256) for item, sha256 in parsed if isinstance(item, Issue)]
    if left_out is not None:
        most = reading.source.max_pages
        message = f"more than {most} pages: the rest was left out; is a link leading in circles?"
        issues.append((Issue(code="too_many_pages", message=message, url=addresses.redact(left_out)), None))
    if unread:
        message = f"{unread} product pages are left for the next nights, the stalest first"
        issues.append((Issue(code="products_left", message=message, severity="info"), None))
    is_listed = any(
        isinstance(item, Offer) for attempt in attempts if attempt.link.role != "product" for item in attempt.items
    )
    images = [attempt for attempt in attempts if attempt.page is None and attempt.failure is None]
    pages = [attempt.page for attempt in done if attempt.page]
    listings = [attempt for attempt in done if attempt.link.role != "product"]
    return Collected(
        reading.source.name,
        shop=reading.shop,
        rows=merged(_rows(listings), _rows([attempt for attempt in done if attempt.link.role == "product"])),
        issues=issues,
        images={image.link.url: image.snapshot.sha256 for image in images if image.snapshot},
        parsed=[(page.url, page.sha256) for page in pages],
        pages=len(pages) + len(images),
        pages_unchanged=sum(attempt.is_unchanged for attempt in done),
        size_bytes=sum(len(page.content) for page in pages),
        is_complete=left_out is None and (is_listed or not unread),
        starts=tuple(reading.starts),
        files=[
            (file.name, file.content_type, attempt.snapshot.sha256)
            for file, attempt in zip(reading.files, files, strict=True)
            if attempt.snapshot
        ],
        fetched=sum(attempt.snapshot is not None for attempt in done),
        missed=[
            (addresses.redact(attempt.link.url), attempt.failure)
            for attempt in attempts
            if attempt.failure and attempt.snapshot is None
        ],
        stated_total=_stated_total(listings, reading.starts),
        listed=sum(isinstance(item, Offer) for attempt in listings for item in attempt.items),
    )


def _rows(attempts: Sequence[_Attempt]) -> list[tuple[Item, str]]:
    return [
        (item, attempt.page.sha256)
        for attempt in attempts
        if attempt.page
        for item in attempt.items
        if not isinstance(item, Aside)
    ]


def _stated_total(attempts: Sequence[_Attempt], starts: Sequence[str]) -> int | None:
    """The number of goods that all listings say they have. None if a listing does not say it.

    All pages of a listing state the same number, or a growing number of which the largest counts.
    """
    totals: dict[str, int] = {}
    for attempt in attempts:
        for item in attempt.items:
            if isinstance(item, ListingTotal):
                totals[attempt.start] = max(item.count, totals.get(attempt.start, 0))
    return sum(totals.values()) if starts and set(totals) == set(starts) else None


def parse_page(source: Source, page: Page) -> list[Parsed]:
    """All items that `source` reads on `page`.

    Raises ExtractError. A bug in a parser becomes LayoutChanged with the message of the bug.

    A parser often fails with an IndexError or a ValueError on a page that it was not written for. For the user that is a
    change of the layout, and the bug of one source must not stop the others.
    """
    # Imported here, as a night on which no page changed parses none, and the words of markets are many patterns.
    from gpuledger.extract import market

    try:
        blocks.detect(page.content, page.final_url, page.headers, page.status)
        country = source.country or market.country_told(page.url)
        items = [market.with_market(admitted(item), country) for item in source.parse(page)]
        return [*items, *market.without_country(items, page.url)] if source.is_of_many_shops else items
    except ExtractError:
        raise
    except Exception as error:
        seen = f"the parser of {source.name} failed: {described(error)}"
        raise LayoutChanged(page.url, seen, is_by_content=False) from error


def _judge(collected: Collected, attempts: Sequence[_Attempt], *, has_lists: bool) -> Collected:
    """The batch with the failure of the whole source, or with an issue for each missing page.

    The source has failed if no page of it could be read, or if those that were read have no rows. If only product pages
    behind a listing are missing, nothing is, because the listing has the offers. If each address is the page of one product,
    a page that is gone says something about the product and nothing about the source.

    It is also a failure if the pages have no rows and no issue that explains it: an empty answer of an interface, or a table
    with only a header. To load such pages would end every listing of the source.
    """
    failed = [attempt for attempt in attempts if attempt.failure]
    failures = [attempt.failure for attempt in failed if attempt.failure]
    if collected.listed and failures and all(attempt.link.role == "product" for attempt in failed):
        return replace(collected, issues=[*collected.issues, *_issues_of(failed, "warning")])
    if not failures:
        is_explained = collected.images or any(issue.severity != "info" for issue, _ in collected.issues)
        if collected.parsed and not collected.rows and not is_explained:
            count = len(collected.parsed)
            seen = f"{count} pages without one row" if count > 1 else "a page without one row"
            failure = LayoutChanged(collected.parsed[0][0], seen)
            issue = Issue(code="LayoutChanged", message=seen, severity="error", url=failure.url)
            issues_with_failure = [*collected.issues, (issue, collected.parsed[0][1])]
            return replace(collected, failure=failure, issues=issues_with_failure, is_complete=False)
        return collected
    issues = _issues_of(failed, "error")
    unread = [
        attempt.failure
        for attempt in failed
        if attempt.failure
        and not (isinstance(attempt.failure, NotFound) and (not has_lists or attempt.link.role == "product"))
    ]
    has_failed = len(failed) == len(attempts) or (unread and not collected.rows and not collected.images)
    return replace(
        collected, failure=failures[0] if has_failed else None, unread=unread, issues=[*collected.issues, *issues],
        is_complete=False,
    )  # fmt: skip


def _issues_of(attempts: Sequence[_Attempt], severity: Severity) -> list[tuple[Issue, str | None]]:
    """An issue for each failure, with the hash of the archived page if there is one."""
    return [
        (
            Issue(code=type(e).__name__, message=f"{e.seen}; {e.action}", severity=severity, url=e.url),
            attempt.snapshot.sha256 if attempt.snapshot else None,
        )
        for attempt in attempts
        if (e := attempt.failure)
    ]
