"""Where the pages of a source come from: the network and into the archive, or one run of the archive once more.

`collect` takes either, so that a replay does with a page what the run did, and meets the failures that the run met.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.errors import ExtractError, NotArchived
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.source import Page, Source

if TYPE_CHECKING:
    from gpuledger.extract.fetch.http import Client


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine that a source reads like a page: a transcription, a vendor's quote."""

    path: Path
    content_type: str


class Pages(Protocol):
    """The pages of one source in one run."""

    def fetch(self, source: Source, url: str) -> Snapshot:
        """The page at an address. Raises ExtractError where it did not come."""

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """A file of this machine as a page. Raises OSError, or ExtractError, where it cannot be read."""

    def read(self, snapshot: Snapshot) -> Page:
        """The page as a parser takes it. Raises CorruptSnapshot."""

    def give_back(self, source: Source, file: LocalFile, page: Page) -> None:
        """Put what the source could not read of a file beside it. Raises OSError where that cannot be written."""


@dataclass(frozen=True, slots=True)
class Fetching:
    """Pages from the network, archived as fetched at `now` by the run `run_id`."""

    client: Client
    archive: Archive
    now: datetime
    run_id: str

    def fetch(self, source: Source, url: str) -> Snapshot:
        """Fetch and archive; where the server says 304, what is archived."""
        last = self.archive.latest(source.name, url)
        headers = last.headers if last else {}
        fetched = self.client.fetch(url, etag=headers.get("etag"), last_modified=headers.get("last-modified"))
        return self.archive.save(source.name, fetched, self.now, self.run_id)

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """Archive the file."""
        return archive_file(source, file, self.archive, self.now, self.run_id)

    def read(self, snapshot: Snapshot) -> Page:
        """From the archive, as all parsing."""
        return self.archive.page(snapshot)

    def give_back(self, source: Source, file: LocalFile, page: Page) -> None:
        """Write `<name>.rejected.csv` in a folder `rejected` beside the file's own; where all was read, take it away."""
        # Not in the folder where files are dropped: there it would be one more of them, and news to whoever watches it.
        target = file.path.parent.with_name("rejected") / f"{file.path.name}.rejected.csv"
        if source.give_back is not None and not source.give_back(page, target):
            target.unlink(missing_ok=True)


def archive_file(source: Source, file: LocalFile, archive: Archive, now: datetime, run_id: str) -> Snapshot:
    """Save a file of this machine as if it had been fetched at `now`. Raises OSError where it cannot be read."""
    content = file.path.read_bytes()
    # The name only: where the folder lies on this machine is nobody's business, and differs between two of them.
    url = f"file:{file.path.name}"
    fetched = Fetched(
        url=url, final_url=url, status=200, headers={"content-type": file.content_type}, content=content,
        not_modified=False, attempts=1, elapsed_s=0.0, wire_bytes=len(content),
    )  # fmt: skip
    return archive.save(source.name, fetched, now, run_id)


class OfRun:
    """Pages that one run fetched of a source, from the archive; `failures` are those that never came, by address."""

    def __init__(self, archive: Archive, fetched: Iterable[Snapshot], failures: Mapping[str, ExtractError]) -> None:
        self._archive = archive
        self._failures = failures
        # In order: two addresses may be one in the archive, where all that told them apart was a secret.
        self._pages: dict[str, deque[Snapshot]] = defaultdict(deque)
        for snapshot in fetched:
            self._pages[snapshot.url].append(snapshot)

    def fetch(self, source: Source, url: str) -> Snapshot:
        """The page that the run fetched, or the failure that it met.

        Raises NotArchived for an address that the run never asked for: the parser that ran then did not link to it.
        """
        address = addresses.redact(url)
        if self._pages[address]:
            return self._pages[address].popleft()
        raise self._failures.get(address) or NotArchived(address, f"{source.name} did not fetch it in this run")

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """The file as it was when the run read it."""
        return self.fetch(source, f"file:{file.path.name}")

    def read(self, snapshot: Snapshot) -> Page:
        """The page as it was fetched."""
        return self._archive.page(snapshot)

    def give_back(self, source: Source, file: LocalFile, page: Page) -> None:
        """Nothing: a replay only repeats what a run did."""
