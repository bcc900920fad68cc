"""Read one source: get its pages, parse them from the archive, follow its links."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from gpuledger.extract import local_files, looks
from gpuledger.extract.archive import passing
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.errors import ExtractError, FetchError, LayoutChanged, NotFound, Unforeseen, described
from gpuledger.extract.fetch import addresses, blocks
from gpuledger.extract.following import merged
from gpuledger.extract.items import Aside, Issue, Item, Link, ListingTotal, Looked, Offer, Parsed, Severity, admitted
from gpuledger.extract.market import with_market
from gpuledger.extract.pages import LocalFile, Pages
from gpuledger.extract.source import Page, Source

#: Called before a page is asked for, with its address and how many pages of the source are known by then, it included.
OnPage = Callable[[str, int], None]

#: A source whose pages fail in this share or more has failed; below, the pages that are missing are issues.
FAILED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """One source as a run reads it: from these addresses and these files of this machine.

    `shop` is the one whose addresses these are, of a source of many that is read shop by shop; empty for all of a source.
    """

    source: Source
    starts: Sequence[str]
    files: Sequence[LocalFile] = ()
    shop: str = ""

    @property
    def name(self) -> str:
        """The source's, with the shop where it is of one."""
        return f"{self.source.name} {self.shop}".rstrip()


@dataclass(frozen=True, slots=True)
class Collected:
    """What one source gave. `failure` is set where it failed as a whole; then nothing of it may be loaded.

    `rows` are items with the hash of the archived page, `issues` likewise. `images` are hashes by address of the images
    that were watched, `parsed` address and hash of each page that was parsed. `is_complete` says that every page was read.

    `stated_total` is how many goods the listings say that they hold, None unless each start address says so; `listed` is how
    many offers were read on them.

    `starts`, `files` (name, content type and hash), `fetched` (how many pages came, those that could not be read included)
    and `missed` (the address and why nothing came) are what a replay needs to do the same again; so are, for files that hold
    many nights, the first and last of the `nights` that are in it, and the run `fetched_by` that archived them.
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
    is_complete: bool = True
    starts: Sequence[str] = ()
    files: Sequence[tuple[str, str, str]] = ()
    fetched: int = 0
    missed: Sequence[tuple[str, ExtractError]] = ()
    nights: tuple[datetime, datetime] | None = None
    fetched_by: str | None = None
    stated_total: int | None = None
    listed: int = 0
    #: For each selector and the page that it was looked for on: how often that was, and how often it matched.
    looked: Sequence[tuple[Looked, str]] = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What came of one address or file: a page with what was read on it, the bytes of an image, or a failure.

    `snapshot` is there where something was fetched, `page` where it could be read too.
    """

    link: Link
    snapshot: Snapshot | None = None
    page: Page | None = None
    items: Sequence[Parsed] = ()
    is_unchanged: bool = False
    failure: ExtractError | None = None
    #: The start address from which links led here; empty for a file.
    start: str = ""

    @property
    def address(self) -> str:
        """Where it came from."""
        return self.link.url


class Parser(Protocol):
    """Who parses: this process, or one that can be ended."""

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """All that the source reads on the page. Raises ExtractError."""

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """What the source's own `give_back` does. Raises OSError."""


class InThisProcess:
    """Parses here, without limits of time and memory."""

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """See `parse_page`."""
        return parse_page(source, page)

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """As the source does it."""
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
    on_page: OnPage = lambda url, known: None,
    parser: Parser | None = None,
) -> Collected:
    """Read a source by way of `pages`; never raises for a page that fails.

    A page that answers 304, or whose bytes and parser are known to the `cache`, is not parsed again.
    """
    source, tools = reading.source, _Tools(pages, cache, parser or InThisProcess())
    files = [_read_file(source, file, tools) for file in reading.files]
    attempts: list[_Attempt] = []
    waiting = deque((Link(url=url, role="start"), url) for url in reading.starts)
    products: dict[str, str] = {}
    known = set(reading.starts)
    while waiting and len(attempts) < source.max_pages:
        link, start = waiting.popleft()
        lists = min(len(attempts) + 1 + len(waiting), source.max_pages)
        on_page(link.url, lists + min(len(products), source.max_products))
        attempt = replace(_read_link(source, link, tools), start=start)
        attempts.append(attempt)
        for item in attempt.items:
            if isinstance(item, Link) and item.url not in known:
                known.add(item.url)
                if item.role == "product":
                    products[item.url] = start
                else:
                    waiting.append((item, start))
    chosen = pages.stalest(source, list(products), source.max_products)
    lists = len(attempts)
    for url in chosen:
        on_page(url, lists + len(chosen))
        attempt = _read_link(source, Link(url=url, role="product"), tools)
        attempts.append(replace(attempt, start=products[url]))
    left_out = waiting[0][0].url if waiting else None
    collected = _collected(reading, files, attempts, left_out)
    collected = _without_unread(collected, attempts, len(products) - len(chosen))
    return _judge(collected, [*files, *attempts], has_lists=source.has_lists)


def _without_unread(collected: Collected, attempts: Sequence[_Attempt], unread: int) -> Collected:
    """Not complete where product pages were left for another night that no listing tells of."""
    if not unread:
        return collected
    message = f"{unread} product pages are left for the next nights, the stalest first"
    issues = [*collected.issues, (Issue(code="products_left", message=message, severity="info"), None)]
    is_listed = any(
        isinstance(item, Offer) for attempt in attempts if attempt.link.role != "product" for item in attempt.items
    )
    return replace(collected, issues=issues, is_complete=collected.is_complete and is_listed)


def _read_link(source: Source, link: Link, tools: _Tools) -> _Attempt:
    try:
        snapshot = tools.pages.fetch(source, link.url)
    except Exception as error:  # noqa: BLE001  whatever one page does stops no other
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
        # The rows that could not be read go back to a person; a folder that cannot be written costs them that, not the run.
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
            items = _parsed(source, page, tools)
    except Exception as error:  # noqa: BLE001  as for a page that does not come
        return _Attempt(link, snapshot, failure=_failure(link.url, error, snapshot))
    return _Attempt(link, snapshot, page, items, is_unchanged)


def _parsed(source: Source, page: Page, tools: _Tools) -> list[Parsed]:
    """What the parser gives for a page, kept for the nights on which the page is the same. Raises ExtractError."""
    cache = tools.cache if source.keeps_parsed else None
    try:
        items = tools.parser.parse(source, page)
    except LayoutChanged as refusal:
        if cache:
            cache.put_refusal(source, page, refusal)
        raise
    if cache:
        cache.put(source, page, items)
    return items


def _failure(address: str, error: Exception, snapshot: Snapshot | None = None) -> ExtractError:
    """What a page failed of. What nobody foresaw gets a name, with the archived page that brought it about."""
    if isinstance(error, ExtractError):
        return error
    url = addresses.redact(address)
    if isinstance(error, OSError):
        seen = f"{described(error)}" if error.errno is None else local_files.why(error)
        return FetchError(url, seen, "mend that, and start the run again")
    page = f"; the archived page is {snapshot.sha256}" if snapshot else ""
    return Unforeseen(url, f"{described(error)}{page}")


def _collected(
    reading: Reading, files: Sequence[_Attempt], attempts: Sequence[_Attempt], left_out: str | None
) -> Collected:
    """All that was read; `left_out` is the first address that was one too many."""
    done = [*files, *attempts]
    parsed = [(item, attempt.page.sha256) for attempt in done if attempt.page for item in attempt.items]
    issues: list[tuple[Issue, str | None]] = [(item, sha256) for item, sha256 in parsed if isinstance(item, Issue)]
    if left_out is not None:
        most = reading.source.max_pages
        message = f"more than {most} pages: the rest was left out; is a link leading in circles?"
        issues.append((Issue(code="too_many_pages", message=message, url=addresses.redact(left_out)), None))
    images = [attempt for attempt in attempts if attempt.page is None and attempt.failure is None]
    read = [attempt.page for attempt in done if attempt.page]
    listings = [attempt for attempt in done if attempt.link.role != "product"]
    return Collected(
        reading.source.name,
        shop=reading.shop,
        rows=merged(_rows(listings), _rows([one for one in done if one.link.role == "product"])),
        issues=issues,
        images={image.address: image.snapshot.sha256 for image in images if image.snapshot},
        parsed=[(page.url, page.sha256) for page in read],
        pages=len(read) + len(images),
        pages_unchanged=sum(attempt.is_unchanged for attempt in done),
        size_bytes=sum(len(page.content) for page in read),
        is_complete=left_out is None,
        starts=tuple(reading.starts),
        files=[
            (file.name, file.content_type, attempt.snapshot.sha256)
            for file, attempt in zip(reading.files, files, strict=True)
            if attempt.snapshot
        ],
        fetched=sum(attempt.snapshot is not None for attempt in done),
        missed=[
            (addresses.redact(attempt.address), attempt.failure)
            for attempt in attempts
            if attempt.failure and attempt.snapshot is None
        ],
        stated_total=_stated_total(listings, reading.starts),
        listed=sum(isinstance(item, Offer) for attempt in listings for item in attempt.items),
        looked=[(item, sha256) for item, sha256 in parsed if isinstance(item, Looked)],
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
    """How many goods all listings say that they hold; None where one does not say so. Its pages say the same, or grow."""
    totals: dict[str, int] = {}
    for attempt in attempts:
        for item in attempt.items:
            if isinstance(item, ListingTotal):
                totals[attempt.start] = max(item.count, totals.get(attempt.start, 0))
    return sum(totals.values()) if starts and set(totals) == set(starts) else None


def parse_page(source: Source, page: Page) -> list[Parsed]:
    """All that `source` reads on `page`, and how often each of its selectors matched.

    Raises ExtractError; a bug in a parser comes out as LayoutChanged with its words.

    A parser that meets a page it was not written for often dies of an IndexError or a ValueError. That is a change of the
    layout to whoever runs it, and one source's bug must not stop the others.
    """
    try:
        if page.headers.get("content-type") == passing.FACTS:
            return passing.read_facts(page.content)
        blocks.detect(page.content, page.final_url, page.headers, page.status)
        with looks.counted() as looked:
            items = [with_market(admitted(item), source.country) for item in source.parse(page)]
            return [*items, *looked()]
    except ExtractError:
        raise
    except Exception as error:
        seen = f"the parser of {source.name} failed: {described(error)}"
        raise LayoutChanged(page.url, seen, is_by_content=False) from error


def _judge(collected: Collected, attempts: Sequence[_Attempt], *, has_lists: bool) -> Collected:
    """With the failure of the whole source, or an issue for each page that is missing.

    A product page that is missing behind a listing costs what it would have added: the listing told of the offer. Where
    each address is the page of one product, one that is gone says something of that product, and nothing of the source.

    Pages that were read without a row and without a word why are a failure too: an empty answer of an interface, a table of
    nothing but its header. To load them would end every listing that the source had.
    """
    failed = [attempt for attempt in attempts if attempt.failure]
    failures = [attempt.failure for attempt in attempts if attempt.failure]
    if collected.listed and failures and all(one.link.role == "product" for one in failed):
        return replace(collected, issues=[*collected.issues, *_issues_of(failed, "warning")])
    if not failures:
        is_told = collected.images or any(issue.severity != "info" for issue, _ in collected.issues)
        if collected.parsed and not collected.rows and not is_told:
            count = len(collected.parsed)
            seen = f"{count} pages without one row" if count > 1 else "a page without one row"
            failure = LayoutChanged(collected.parsed[0][0], seen)
            issue = Issue(code="LayoutChanged", message=seen, severity="error", url=failure.url)
            told = [*collected.issues, (issue, collected.parsed[0][1])]
            return replace(collected, failure=failure, issues=told, is_complete=False)
        return collected
    issues = _issues_of(failed, "error")
    # Files that people dropped have nothing to do with each other: a bad one says nothing of the next.
    gone = 0 if has_lists else sum(isinstance(failure, NotFound) for failure in failures)
    share = (len(failures) - gone) / (len(attempts) - gone) if len(attempts) > gone else 1
    has_failed = share >= (FAILED_SHARE if collected.starts else 1)
    return replace(
        collected, failure=failures[0] if has_failed else None, issues=[*collected.issues, *issues], is_complete=False
    )


def _issues_of(attempts: Sequence[_Attempt], severity: Severity) -> list[tuple[Issue, str | None]]:
    """An issue for each failure, with the archived page where there is one."""
    return [
        (
            Issue(code=type(e).__name__, message=f"{e.seen}; {e.action}", severity=severity, url=e.url),
            attempt.snapshot.sha256 if attempt.snapshot else None,
        )
        for attempt in attempts
        if (e := attempt.failure)
    ]
