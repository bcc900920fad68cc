"""Read one source: get its pages, parse them from the archive, follow its links."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Collected:
    """What one source gave. `failure` is set where it failed as a whole; then nothing of it may be loaded.

    `rows` are items with the hash of the archived page, `issues` likewise. `images` are hashes by address of the images
    that were watched, `parsed` address and hash of each page that was parsed. `is_complete` says that every page was read.

    `starts`, `files` (name, content type and hash), `fetched` (how many pages came, those that could not be read included)
    and `missed` (the address and why nothing came) are what a replay needs to do the same again; so are, for files that hold
    many nights, the first and last of the `nights` that are in it, and the run `fetched_by` that archived them.
    """

    source: str
    rows: list[tuple[Item, str]] = field(default_factory=list)
    issues: list[tuple[Issue, str | None]] = field(default_factory=list)
    images: dict[str, str] = field(default_factory=dict)
    parsed: list[tuple[str, str]] = field(default_factory=list)
    pages: int = 0
    pages_unchanged: int = 0
    size_bytes: int = 0
    failure: ExtractError | None = None
    is_complete: bool = True
    starts: Sequence[str] = ()
    files: list[tuple[str, str, str]] = field(default_factory=list)
    fetched: int = 0
    missed: list[tuple[str, ExtractError]] = field(default_factory=list)
    nights: tuple[datetime, datetime] | None = None
    fetched_by: str | None = None


def collect(
    source: Source,
    starts: Sequence[str],
    pages: Pages,
    cache: ParsedCache,
    *,
    files: Sequence[LocalFile] = (),
    on_page: Callable[[str], None] = lambda url: None,
) -> Collected:
    """Read `source` from the addresses `starts` and the local `files` by way of `pages`; never raises for a page that fails.

    A page that answers 304, or whose bytes and parser are known, is not parsed again.
    """
    result = Collected(source.name, starts=tuple(starts))
    failures: list[ExtractError] = []
    for file in files:
        try:
            snapshot = pages.local(source, file)
        except ExtractError as error:
            failures.append(error)
            continue
        except OSError as error:
            seen = f"the file cannot be read ({error.strerror})"
            failures.append(
                FetchError(f"file:{file.path.name}", seen, "mend its permissions, or take it out of the folder")
            )
            continue
        result.files.append((file.path.name, file.content_type, snapshot.sha256))
        result.fetched += 1
        page = _read(source, snapshot, pages, cache, result, failures, deque(), set())
        if page is not None:
            _give_back(source, file, page, pages, result)
    waiting = deque(Link(url=url, role="start") for url in starts)
    known = set(starts)
    while waiting:
        link = waiting.popleft()
        if result.pages + len(failures) >= source.max_pages + len(files):
            result.is_complete = False
            message = f"more than {source.max_pages} pages: the rest was left out; is a link leading in circles?"
            result.issues.append((Issue(code="too_many_pages", message=message, url=link.url), None))
            break
        on_page(link.url)
        try:
            snapshot = pages.fetch(source, link.url)
        except ExtractError as error:
            failures.append(error)
            result.missed.append((addresses.redact(link.url), error))
            continue
        result.fetched += 1
        if link.role == "image":
            result.images[link.url] = snapshot.sha256
            result.pages += 1
            continue
        _read(source, snapshot, pages, cache, result, failures, waiting, known)
    return _judge(result, failures)


def _read(
    source: Source,
    snapshot: Snapshot,
    pages: Pages,
    cache: ParsedCache,
    result: Collected,
    failures: list[ExtractError],
    waiting: deque[Link],
    known: set[str],
) -> Page | None:
    """Parse one archived page into `result`, or note why it could not be; then None."""
    try:
        page = pages.read(snapshot)
        parsed = cache.get(source, page)
        if parsed is None:
            parsed = parse_page(source, page)
            cache.put(source, page, parsed)
        else:
            result.pages_unchanged += 1
    except ExtractError as error:
        failures.append(error)
        return None
    result.pages += 1
    result.parsed.append((page.url, page.sha256))
    result.size_bytes += len(page.content)
    for item in parsed:
        if isinstance(item, Link):
            if item.url not in known:
                known.add(item.url)
                waiting.append(item)
        elif isinstance(item, Issue):
            result.issues.append((item, page.sha256))
        else:
            result.rows.append((item, page.sha256))
    return page


def _give_back(source: Source, file: LocalFile, page: Page, pages: Pages, result: Collected) -> None:
    """Give a person the rows that could not be read; a folder that cannot be written costs them that, not the run."""
    try:
        pages.give_back(source, file, page)
    except OSError as error:
        message = f"the rows that could not be read cannot be given back ({error.strerror}); see the other issues"
        result.issues.append((Issue(code="not_given_back", message=message, url=page.url), page.sha256))


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


def _judge(result: Collected, failures: list[ExtractError]) -> Collected:
    """Set the failure of the whole source, or make an issue of each page that is missing.

    Pages that were read without a row and without a word why are a failure too: an empty answer of an interface, a table of
    nothing but its header. To load them would end every listing that the source had.
    """
    if not failures:
        is_told = result.images or any(issue.severity != "info" for issue, _ in result.issues)
        if result.parsed and not result.rows and not is_told:
            seen = f"{len(result.parsed)} pages without one row" if len(result.parsed) > 1 else "a page without one row"
            result.failure = LayoutChanged(result.parsed[0][0], seen)
            result.is_complete = False
        return result
    result.is_complete = False
    tried = result.pages + len(failures)
    if len(failures) / tried >= FAILED_SHARE:
        result.failure = failures[0]
    for error in failures:
        message = f"{error.seen}; {error.action}"
        result.issues.append((Issue(code=type(error).__name__, message=message, severity="error", url=error.url), None))
    return result
