"""Read one source: get its pages, parse them from the archive, follow its links."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.errors import ExtractError, FetchError, LayoutChanged
from gpuledger.extract.fetch import addresses, blocks
from gpuledger.extract.items import Issue, Item, Link, Parsed
from gpuledger.extract.pages import LocalFile, Pages
from gpuledger.extract.source import Page, Source

#: A source whose pages fail in this share or more has failed; below, the pages that are missing are issues.
FAILED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """One source as a run reads it: from these addresses and these files of this machine."""

    source: Source
    starts: Sequence[str]
    files: Sequence[LocalFile] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """What one source gave. `failure` is set where it failed as a whole; then nothing of it may be loaded.

    `rows` are items with the hash of the archived page, `issues` likewise. `images` are hashes by address of the images
    that were watched, `parsed` address and hash of each page that was parsed. `is_complete` says that every page was read.

    `starts`, `files` (name, content type and hash), `fetched` (how many pages came, those that could not be read included)
    and `missed` (the address and why nothing came) are what a replay needs to do the same again; so are, for files that hold
    many nights, the first and last of the `nights` that are in it, and the run `fetched_by` that archived them.
    """

    source: str
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


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What came of one address or file: a page with what was read on it, the bytes of an image, or a failure.

    `snapshot` is there where something was fetched, `page` where it could be read too.
    """

    address: str
    snapshot: Snapshot | None = None
    page: Page | None = None
    items: Sequence[Parsed] = ()
    is_unchanged: bool = False
    failure: ExtractError | None = None


def collect(
    reading: Reading, pages: Pages, cache: ParsedCache, on_page: Callable[[str], None] = lambda url: None
) -> Collected:
    """Read a source by way of `pages`; never raises for a page that fails.

    A page that answers 304, or whose bytes and parser are known, is not parsed again.
    """
    source = reading.source
    files = [_read_file(source, file, pages, cache) for file in reading.files]
    attempts: list[_Attempt] = []
    waiting = deque(Link(url=url, role="start") for url in reading.starts)
    known = set(reading.starts)
    while waiting and len(attempts) < source.max_pages:
        link = waiting.popleft()
        on_page(link.url)
        attempt = _read_link(source, link, pages, cache)
        attempts.append(attempt)
        for item in attempt.items:
            if isinstance(item, Link) and item.url not in known:
                known.add(item.url)
                waiting.append(item)
    return _judge(_collected(reading, files, attempts, waiting[0].url if waiting else None), [*files, *attempts])


def _read_link(source: Source, link: Link, pages: Pages, cache: ParsedCache) -> _Attempt:
    try:
        snapshot = pages.fetch(source, link.url)
    except ExtractError as error:
        return _Attempt(link.url, failure=error)
    if link.role == "image":
        return _Attempt(link.url, snapshot)
    return _read(source, link.url, snapshot, pages, cache)


def _read_file(source: Source, file: LocalFile, pages: Pages, cache: ParsedCache) -> _Attempt:
    address = f"file:{file.path.name}"
    try:
        snapshot = pages.local(source, file)
    except ExtractError as error:
        return _Attempt(address, failure=error)
    except OSError as error:
        seen = f"the file cannot be read ({error.strerror})"
        action = "mend its permissions, or take it out of the folder"
        return _Attempt(address, failure=FetchError(address, seen, action))
    attempt = _read(source, address, snapshot, pages, cache)
    if attempt.page is None:
        return attempt
    try:
        pages.give_back(source, file, attempt.page)
    except OSError as error:
        # The rows that could not be read go back to a person; a folder that cannot be written costs them that, not the run.
        message = f"the rows that could not be read cannot be given back ({error.strerror}); see the other issues"
        issue = Issue(code="not_given_back", message=message, url=attempt.page.url)
        return replace(attempt, items=[*attempt.items, issue])
    return attempt


def _read(source: Source, address: str, snapshot: Snapshot, pages: Pages, cache: ParsedCache) -> _Attempt:
    """Parse one archived page."""
    try:
        page = pages.read(snapshot)
        items = cache.get(source, page)
        is_unchanged = items is not None
        if items is None:
            items = parse_page(source, page)
            cache.put(source, page, items)
    except ExtractError as error:
        return _Attempt(address, snapshot, failure=error)
    return _Attempt(address, snapshot, page, items, is_unchanged)


def _collected(
    reading: Reading, files: Sequence[_Attempt], attempts: Sequence[_Attempt], left_out: str | None
) -> Collected:
    """All that was read; `left_out` is the first address that was one too many."""
    done = [*files, *attempts]
    found = [(item, attempt.page.sha256) for attempt in done if attempt.page for item in attempt.items]
    issues: list[tuple[Issue, str | None]] = [(item, sha256) for item, sha256 in found if isinstance(item, Issue)]
    if left_out is not None:
        most = reading.source.max_pages
        message = f"more than {most} pages: the rest was left out; is a link leading in circles?"
        issues.append((Issue(code="too_many_pages", message=message, url=left_out), None))
    images = [attempt for attempt in attempts if attempt.page is None and attempt.failure is None]
    read = [attempt.page for attempt in done if attempt.page]
    return Collected(
        reading.source.name,
        rows=[(item, sha256) for item, sha256 in found if not isinstance(item, Issue | Link)],
        issues=issues,
        images={image.address: image.snapshot.sha256 for image in images if image.snapshot},
        parsed=[(page.url, page.sha256) for page in read],
        pages=len(read) + len(images),
        pages_unchanged=sum(attempt.is_unchanged for attempt in done),
        size_bytes=sum(len(page.content) for page in read),
        is_complete=left_out is None,
        starts=tuple(reading.starts),
        files=[
            (file.path.name, file.content_type, attempt.snapshot.sha256)
            for file, attempt in zip(reading.files, files, strict=True)
            if attempt.snapshot
        ],
        fetched=sum(attempt.snapshot is not None for attempt in done),
        missed=[
            (addresses.redact(attempt.address), attempt.failure)
            for attempt in attempts
            if attempt.failure and attempt.snapshot is None
        ],
    )


def parse_page(source: Source, page: Page) -> list[Parsed]:
    """All that `source` reads on `page`. Raises ExtractError; a bug in a parser comes out as LayoutChanged with its words.

    A parser that meets a page it was not written for often dies of an IndexError or a ValueError. That is a change of the
    layout to whoever runs it, and one source's bug must not stop the others.
    """
    blocks.detect(page.content, page.final_url, page.headers, page.status)
    try:
        return list(source.parse(page))
    except ExtractError:
        raise
    except Exception as error:
        raise LayoutChanged(page.url, f"the parser of {source.name} failed: {type(error).__name__}: {error}") from error


def _judge(collected: Collected, attempts: Sequence[_Attempt]) -> Collected:
    """With the failure of the whole source, or an issue for each page that is missing.

    Pages that were read without a row and without a word why are a failure too: an empty answer of an interface, a table of
    nothing but its header. To load them would end every listing that the source had.
    """
    failures = [attempt.failure for attempt in attempts if attempt.failure]
    if not failures:
        is_told = collected.images or any(issue.severity != "info" for issue, _ in collected.issues)
        if collected.parsed and not collected.rows and not is_told:
            count = len(collected.parsed)
            seen = f"{count} pages without one row" if count > 1 else "a page without one row"
            return replace(collected, failure=LayoutChanged(collected.parsed[0][0], seen), is_complete=False)
        return collected
    issues: list[tuple[Issue, str | None]] = [
        (Issue(code=type(e).__name__, message=f"{e.seen}; {e.action}", severity="error", url=e.url), None)
        for e in failures
    ]
    has_failed = len(failures) / len(attempts) >= FAILED_SHARE
    return replace(
        collected, failure=failures[0] if has_failed else None, issues=[*collected.issues, *issues], is_complete=False
    )
