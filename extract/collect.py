"""Read one source: fetch its pages, archive the bytes, parse them from the archive, follow its links."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extract import blocks
from extract.errors import ExtractError, LayoutChanged
from extract.fetched import Fetched
from extract.items import Issue, Item, Link, Parsed
from extract.parsed_cache import ParsedCache
from extract.snapshot import Snapshot
from extract.snapshots import Archive
from extract.source import Page, Source

if TYPE_CHECKING:
    from extract.http import Client

#: A source whose pages fail in this share or more has failed; below, the pages that are missing are issues.
FAILED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine that a source reads like a page: a transcription, a vendor's quote."""

    path: Path
    content_type: str


@dataclass(slots=True)
class Collected:
    """What one source gave. `failure` is set where it failed as a whole; then nothing of it may be loaded.

    `rows` are items with the hash of the archived page, `issues` likewise. `images` are hashes by address of the images
    that were watched. `is_complete` says that every page was read.
    """

    source: str
    rows: list[tuple[Item, str]] = field(default_factory=list)
    issues: list[tuple[Issue, str | None]] = field(default_factory=list)
    images: dict[str, str] = field(default_factory=dict)
    pages: int = 0
    pages_unchanged: int = 0
    size_bytes: int = 0
    failure: ExtractError | None = None
    is_complete: bool = True


def collect(
    source: Source,
    starts: Sequence[str],
    client: Client,
    archive: Archive,
    cache: ParsedCache,
    now: datetime,
    *,
    files: Sequence[LocalFile] = (),
    on_page: Callable[[str], None] = lambda url: None,
) -> Collected:
    """Read `source` from the addresses `starts` and the local `files`; never raises for a page that fails.

    `now` dates what is archived. A page that answers 304, or whose bytes and parser are known, is not parsed again.
    """
    result = Collected(source.name)
    failures: list[ExtractError] = []
    for file in files:
        _read(source, archive_file(source, file, archive, now), archive, cache, result, failures, deque(), set())
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
            snapshot = _fetch(source, link.url, client, archive, now)
        except ExtractError as error:
            failures.append(error)
            continue
        if link.role == "image":
            result.images[link.url] = snapshot.sha256
            result.pages += 1
            continue
        _read(source, snapshot, archive, cache, result, failures, waiting, known)
    return _judge(result, failures)


def _fetch(source: Source, url: str, client: Client, archive: Archive, now: datetime) -> Snapshot:
    last = archive.latest(source.name, url)
    headers = last.headers if last else {}
    fetched = client.fetch(url, etag=headers.get("etag"), last_modified=headers.get("last-modified"))
    return archive.save(source.name, fetched, now)


def archive_file(source: Source, file: LocalFile, archive: Archive, now: datetime) -> Snapshot:
    """Save a file of this machine as if it had been fetched at `now`. Raises OSError where it cannot be read."""
    content = file.path.read_bytes()
    # The name only: where the folder lies on this machine is nobody's business, and differs between two of them.
    url = f"file:{file.path.name}"
    fetched = Fetched(
        url=url, final_url=url, status=200, headers={"content-type": file.content_type}, content=content,
        not_modified=False, attempts=1, elapsed_s=0.0, wire_bytes=len(content),
    )  # fmt: skip
    return archive.save(source.name, fetched, now)


def _read(
    source: Source,
    snapshot: Snapshot,
    archive: Archive,
    cache: ParsedCache,
    result: Collected,
    failures: list[ExtractError],
    waiting: deque[Link],
    known: set[str],
) -> None:
    """Parse one archived page into `result`, or note why it could not be."""
    try:
        page = archive.page(snapshot)
        parsed = cache.get(source, page)
        if parsed is None:
            parsed = parse_page(source, page)
            cache.put(source, page, parsed)
        else:
            result.pages_unchanged += 1
    except ExtractError as error:
        failures.append(error)
        return
    result.pages += 1
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
    """Set the failure of the whole source, or make an issue of each page that is missing."""
    if not failures:
        return result
    result.is_complete = False
    tried = result.pages + len(failures)
    if len(failures) / tried >= FAILED_SHARE:
        result.failure = failures[0]
    for error in failures:
        message = f"{error.seen}; {error.action}"
        result.issues.append((Issue(code=type(error).__name__, message=message, severity="error", url=error.url), None))
    return result
