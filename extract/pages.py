"""Where the pages of a source come from: the network and into the archive, or one run of the archive once more.

`collect` takes either, so that a replay does with a page what the run did, and meets the failures that the run met.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gpuledger.extract import local_files
from gpuledger.extract.archive import passing
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.errors import ExtractError, NotArchived
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.source import Page, Source

if TYPE_CHECKING:
    from gpuledger.extract.fetch.browser import Rendering
    from gpuledger.extract.fetch.http import Client
    from gpuledger.extract.fetch.keyed import Keyed
    from gpuledger.extract.fetch.site import Site


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine that a source reads like a page: a transcription, a vendor's quote."""

    path: Path
    content_type: str
    max_bytes: int = local_files.MAX_BYTES
    #: A link in a folder where anybody may drop files is not followed; one in the program, or named by a person, is.
    follows_links: bool = False

    @property
    def name(self) -> str:
        """The file's name as it stands on record."""
        return local_files.name_of(self.path)

    @property
    def address(self) -> str:
        """The name only: where the folder lies on this machine is nobody's business, and differs between two of them."""
        return f"file:{self.name}"


class Pages(Protocol):
    """The pages of one source in one run."""

    def fetch(self, source: Source, url: str) -> Snapshot:
        """The page at an address. Raises ExtractError where it did not come."""

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """A file of this machine as a page. Raises OSError, or ExtractError, where it cannot be read."""

    def page_of(self, snapshot: Snapshot) -> Page:
        """The page as a parser takes it. Raises CorruptSnapshot."""

    def stalest(self, source: Source, urls: Sequence[str], most: int) -> list[str]:
        """The addresses of product pages to read in this run: at most so many, those that were read longest ago first."""

    def give_back(self, file: LocalFile, write: Callable[[Path], bool]) -> None:
        """Have `write` put what could not be read of a file beside it, and say if there was any. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Fetching:
    """Pages from the network, archived as fetched at `now` by the run `run_id`; of the hosts of `site` alone, where one is
    given.
    """

    client: Client
    archive: Archive
    now: datetime
    run_id: str
    site: Site | None = None
    #: How the source's interface is asked, where it is one.
    keyed: Keyed | None = None
    #: Which of its pages a browser renders; None where the client brings all.
    rendering: Rendering | None = None

    def fetch(self, source: Source, url: str) -> Snapshot:
        """Fetch and archive; where the server says 304, what is archived.

        Of a source whose pages may be kept for some hours only, what the archive gets is what was read of them.
        """
        if self.keyed is not None:
            return self._save(source, self.keyed.fetch(url, self.site))
        if self.rendering is not None and self.site is not None and self.rendering.is_for(url):
            # Asked for anew every night: what its scripts fetch may have changed where the page has not.
            return self._save(source, self.rendering.browser.render(url, self.site))
        last = self.archive.latest(source.name, url)
        headers = last.headers if last else {}
        validators = {"etag": headers.get("etag"), "last_modified": headers.get("last-modified")}
        fetched = self.client.fetch(url, site=self.site, **validators)
        return self._save(source, fetched)

    def _save(self, source: Source, fetched: Fetched) -> Snapshot:
        if source.keep_hours is not None and not fetched.not_modified:
            page = Page(
                url=fetched.url, final_url=fetched.final_url, content=fetched.content,
                sha256=hashlib.sha256(fetched.content).hexdigest(), fetched_at=self.now, headers=fetched.headers,
            )  # fmt: skip
            kept = passing.Passing(self.archive.root, source.name, source.keep_hours)
            kept.expire(self.now)
            kept.save(page.sha256, page.content, self.now)
            content = passing.facts(list(source.parse(page)))
            fetched = replace(fetched, content=content, headers={"content-type": passing.FACTS})
        return self.archive.save(source.name, fetched, self.now, self.run_id)

    def local(self, source: Source, file: LocalFile) -> Snapshot:
        """Archive the file."""
        return archive_file(source, file, self.archive, self.now, self.run_id)

    def page_of(self, snapshot: Snapshot) -> Page:
        """From the archive, as all parsing."""
        return self.archive.page(snapshot)

    def stalest(self, source: Source, urls: Sequence[str], most: int) -> list[str]:
        """By the last fetch that is archived; pages that never were come first, in the order of the listing."""
        last = {url: snapshot.fetched_at for url in urls if (snapshot := self.archive.latest(source.name, url))}
        return sorted(urls, key=lambda url: (url in last, last.get(url, self.now)))[:most]

    def give_back(self, file: LocalFile, write: Callable[[Path], bool]) -> None:
        """Write `<name>.rejected.csv` in a folder `rejected` beside the file's own; where all was read, take it away."""
        # Not in the folder where files are dropped: there it would be one more of them, and news to whoever watches it.
        target = file.path.parent.with_name("rejected") / f"{file.path.name}.rejected.csv"
        if not write(target):
            target.unlink(missing_ok=True)


def archive_file(source: Source, file: LocalFile, archive: Archive, now: datetime, run_id: str) -> Snapshot:
    """Save a file of this machine as if it had been fetched at `now`. Raises OSError where it cannot be read."""
    content = local_files.read_bytes(file.path, file.max_bytes, follow=file.follows_links)
    fetched = Fetched(
        url=file.address, final_url=file.address, status=200, headers={"content-type": file.content_type}, content=content,
        not_modified=False, attempts=1, elapsed_s=0.0, wire_bytes=len(content),
    )  # fmt: skip
    return archive.save(source.name, fetched, now, run_id)


class OfRun:
    """Pages that one run fetched of a source, from the archive; `failures` are those that never came, by address."""

    def __init__(self, archive: Archive, fetched: Iterable[Snapshot], failures: Mapping[str, ExtractError]) -> None:
        self._archive = archive
        self._failures = {addresses.redact(url): failure for url, failure in failures.items()}
        # In order: two addresses may be one in the archive, where all that told them apart was a secret.
        self._pages: dict[str, deque[Snapshot]] = defaultdict(deque)
        for snapshot in fetched:
            # As addresses are shown now: a record of an earlier program may show more.
            self._pages[addresses.redact(snapshot.url)].append(snapshot)

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
        return self.fetch(source, file.address)

    def page_of(self, snapshot: Snapshot) -> Page:
        """The page as it was fetched."""
        return self._archive.page(snapshot)

    def stalest(self, source: Source, urls: Sequence[str], most: int) -> list[str]:
        """Those that the run asked for."""
        return [
            url for url in urls if self._pages.get(addresses.redact(url)) or addresses.redact(url) in self._failures
        ]

    def give_back(self, file: LocalFile, write: Callable[[Path], bool]) -> None:
        """Nothing: a replay only repeats what a run did."""
