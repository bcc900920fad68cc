"""Gets the pages of a source from the network and archives them, or takes the pages of one earlier run from the archive.

`collect` works with both, so that a replay treats a page as the run did, and has the same failures as the run.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gpuledger import local_files
from gpuledger.errors import ExtractError, NotArchived
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.source import Page, Source

if TYPE_CHECKING:
    from gpuledger.extract.fetch.http import Client
    from gpuledger.extract.fetch.keyed import Keyed
    from gpuledger.extract.fetch.site import Site


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine that a source reads like a page: a transcription, a vendor's quote."""

    path: Path
    content_type: str
    max_bytes: int = local_files.MAX_BYTES
    #: Links are followed for files of the program and for files that a person named, but not in a folder where anybody may
    #: drop files.
    follows_links: bool = False

    @property
    def name(self) -> str:
        """The file's name as it is logged."""
        return local_files.name_of(self.path)

    @property
    def address(self) -> str:
        """The name without the folder, because the folder is private and differs from machine to machine."""
        return f"file:{self.name}"


@dataclass(frozen=True, slots=True)
class Fetching:
    """Fetches pages from the network and archives them as fetched at `now` by the run `run_id`.

    If there is a `site`, only its hosts are used.
    """

    client: Client
    archive: Archive
    now: datetime
    run_id: str
    site: Site | None = None
    #: Fetches from the source's official interface, if the source is one.
    keyed: Keyed | None = None
    #: Raises OutOfTime if the source may fetch no further page.
    in_time: Callable[[str], None] = lambda url: None

    def fetch(self, source: Source, url: str) -> Snapshot:
        """Fetch a page and archive it. If the server answers 304, this is the page in the archive. Raises ExtractError."""
        self.in_time(url)
        answer = self.answer(url, self.archive.latest(source.name, url))
        return self.archive.save(source.name, answer, self.now, self.run_id)

    def answer(self, url: str, last: Snapshot | None = None) -> Fetched:
        """The page as it comes, which is not archived. A server may answer that it is still as in `last` (304)."""
        if self.keyed is not None:
            return self.keyed.fetch(url, self.site)
        headers = last.headers if last else {}
        validators = {"etag": headers.get("etag"), "last_modified": headers.get("last-modified")}
        return self.client.fetch(url, site=self.site, **validators)

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """Archive a file of this machine as a page. Raises OSError or ExtractError if the file cannot be read."""
        return archive_file(source, file, self.archive, self.now, self.run_id)

    def page_of(self, snapshot: Snapshot) -> Page:
        """The page from the archive, as for all parsing. Raises CorruptSnapshot."""
        return self.archive.page(snapshot)

    def stalest(self, source: Source, urls: Sequence[str], most: int) -> list[str]:
        """The addresses of at most `most` product pages to read in this run. Those that were read longest ago come first.

        Pages that were never archived are the first of all, in the order of the listing.
        """
        last = {url: snapshot.fetched_at for url in urls if (snapshot := self.archive.latest(source.name, url))}
        return sorted(urls, key=lambda url: (url in last, last.get(url, self.now)))[:most]

    def give_back(self, file: LocalFile, write: Callable[[Path], bool]) -> None:
        """Let `write` write the unreadable rows of a file. It returns whether there were any. Raises OSError.

        They go to `<name>.rejected.csv` in a folder `rejected` beside the file's own. If all were read, it is removed.
        """
        # Not in the folder where files are dropped: the program would read it too, and whoever watches the folder would
        # take it for a new file.
        target = file.path.parent.with_name("rejected") / f"{file.path.name}.rejected.csv"
        if not write(target):
            target.unlink(missing_ok=True)


def as_page(fetched: Fetched, at: datetime) -> Page:
    """What was fetched at that time, as a parser sees it, without the archive."""
    return Page(
        url=fetched.url, final_url=fetched.final_url, content=fetched.content,
        sha256=hashlib.sha256(fetched.content).hexdigest(), fetched_at=at, headers=fetched.headers,
    )  # fmt: skip


def read_file(file: LocalFile) -> Fetched:
    """A file of this machine as if it had been fetched. Raises OSError if it cannot be read."""
    content = local_files.read_bytes(file.path, file.max_bytes, follow=file.follows_links)
    return Fetched(
        url=file.address,
        final_url=file.address,
        status=200,
        headers={"content-type": file.content_type},
        content=content,
    )


def archive_file(source: Source, file: LocalFile, archive: Archive, now: datetime, run_id: str) -> Snapshot:
    """Save a file of this machine as if it had been fetched at `now`. Raises OSError if it cannot be read."""
    return archive.save(source.name, read_file(file), now, run_id)


class OfRun:
    """The pages of a source that one run fetched, from the archive. `failures` maps addresses without a page to errors."""

    def __init__(self, archive: Archive, fetched: Iterable[Snapshot], failures: Mapping[str, ExtractError]) -> None:
        self._archive = archive
        self._failures = {addresses.redact(url): failure for url, failure in failures.items()}
        # In order, because addresses that differ only by a secret are the same in the archive.
        self._pages: dict[str, deque[Snapshot]] = defaultdict(deque)
        for snapshot in fetched:
            # Redacted again by today's rules, because an earlier version of the program may have hidden less.
            self._pages[addresses.redact(snapshot.url)].append(snapshot)

    def fetch(self, source: Source, url: str) -> Snapshot:
        """The page that the run fetched. Raises the failure that the run had.

        Raises NotArchived for an address that the run did not fetch: the parser at that time did not link to it.
        """
        address = addresses.redact(url)
        if self._pages[address]:
            return self._pages[address].popleft()
        raise self._failures.get(address) or NotArchived(address, f"{source.name} did not fetch it in this run")

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """The file as it was when the run read it."""
        return self.fetch(source, file.address)

    def page_of(self, snapshot: Snapshot) -> Page:
        """The page as it was fetched. Raises CorruptSnapshot."""
        return self._archive.page(snapshot)

    def stalest(self, source: Source, urls: Sequence[str], most: int) -> list[str]:
        """The pages that the run tried to fetch."""
        return [
            url for url in urls if self._pages.get(addresses.redact(url)) or addresses.redact(url) in self._failures
        ]

    def give_back(self, file: LocalFile, write: Callable[[Path], bool]) -> None:
        """Does nothing, because a replay only repeats a run."""


#: The pages of one source in one run.
Pages: TypeAlias = Fetching | OfRun
