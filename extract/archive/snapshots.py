"""The archive of fetched pages: what parsers read, what `replay` rebuilds the warehouse from, and every price's evidence.

    <root>/blobs/ab/ab12….gz     the bytes, gzip, named by their SHA-256, stored once however often they come
    <root>/blobs/ab/ab12….json   the sidecar: size, and the request that brought the bytes first
    <root>/log/<source>.jsonl    one line a fetch, 304s included, in order, with the run that made it
    <root>/runs.jsonl            the log of runs: what `replay` goes through (written by the flows)

The sidecar is written before the blob and the log line after it, each whole or not at all, so a process killed anywhere
leaves no line that speaks of bytes which are not there. Where several machines share a store, a page that is not in the
folder is taken from there; `exchange` sends what the store lacks.
"""

from __future__ import annotations

import gzip
import hashlib
import heapq
import json
import threading
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive.fetch_log import FetchLog
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.errors import CorruptSnapshot
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.objects import Objects
from gpuledger.extract.source import Page

__all__ = ["Archive", "Snapshot"]

# A response's cookies are a session's secret; the rest says nothing about the page that would be worth its space.
_KEPT_HEADERS = frozenset(
    ("cache-control", "content-language", "content-type", "date", "etag", "expires", "last-modified")
)


class Archive:
    """The archive below the folder `root`, which is made when the first page is saved.

    Safe for threads, and for processes that save at the same time; `prune` waits until none of them is in the middle of it.
    """

    def __init__(self, root: Path, store: Objects | None = None) -> None:
        self.root = root
        self.store = store
        self._logs: dict[str, FetchLog] = {}
        self._lock = threading.Lock()

    def save(self, source: str, fetched: Fetched, fetched_at: datetime, run_id: str | None = None) -> Snapshot:
        """Store one answer and put it on record, as fetched by the run `run_id`. `fetched_at` must carry its time zone.

        For an answer that nothing changed (304) the snapshot is the last one of the same address with the new time; its
        headers are the last ones, freshened by the new (RFC 9111, 3.2). Raises ValueError where there is no last one.
        """
        if fetched_at.tzinfo is None:
            raise ValueError(f"fetched_at needs a time zone: {fetched_at.isoformat()}")
        url = addresses.redact(fetched.url)
        headers = {name: value for name, value in fetched.headers.items() if name in _KEPT_HEADERS}
        sha256, size = hashlib.sha256(fetched.content).hexdigest(), len(fetched.content)
        if fetched.not_modified:
            last = self.latest(source, url)
            if last is None:
                raise ValueError(f"{url} is said to be unchanged, but {source} has no archived page of it")
            sha256, size, headers = last.sha256, last.size, {**last.headers, **headers}
        snapshot = Snapshot(
            source=source,
            url=url,
            final_url=addresses.redact(fetched.final_url),
            status=fetched.status,
            headers=headers,
            fetched_at=fetched_at.astimezone(UTC),
            sha256=sha256,
            size=size,
            not_modified=fetched.not_modified,
            run_id=run_id,
        )
        with archive_files.shared(self.root):
            if not fetched.not_modified:
                self._store(snapshot, fetched.content)
            self.log(source).append(snapshot)
        return snapshot

    def latest(self, source: str, url: str) -> Snapshot | None:
        """The newest record of the address, or None. Its headers hold the etag and last-modified to ask with."""
        last = self.log(source).last(addresses.redact(url))
        if last is None or not self._is_there(last.sha256):
            return None  # without its bytes a record must not turn the next fetch into a 304
        return last

    def first(self, source: str, url: str) -> str | None:
        """The hash of the first page that was ever archived of the address, or None."""
        return self.log(source).first(addresses.redact(url))

    def of_run(self, source: str, run_id: str) -> list[Snapshot]:
        """What one run fetched of a source, in order. Reads each log once: for an archive that does not grow meanwhile."""
        return self.log(source).of_run(run_id)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing is pruned while the block runs."""
        with archive_files.shared(self.root):
            yield

    def content_of(self, sha256: str) -> bytes:
        """The bytes of one page. Raises CorruptSnapshot, naming the file, unless they are whole and are what was stored."""
        self._bring(sha256)
        blob, sidecar = self.paths(sha256)
        try:
            size = local_files.loads(sidecar.read_bytes())["size"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptSnapshot(str(sidecar), f"the sidecar cannot be read ({error})") from None
        if not isinstance(size, int) or size < 0:
            raise CorruptSnapshot(str(sidecar), f"the sidecar gives the size {size!r}")
        try:
            packed = blob.read_bytes()
            unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
            # One byte more than promised, and no more: a damaged or planted file must not fill the memory.
            content = unpack.decompress(packed, size + 1)
        except (OSError, zlib.error) as error:
            raise CorruptSnapshot(str(blob), f"the page cannot be unpacked ({error})") from None
        if len(content) <= size and not unpack.eof:
            raise CorruptSnapshot(str(blob), f"the page ends after {len(content)} of {size} bytes")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise CorruptSnapshot(str(blob), "the bytes do not match the file's name")
        return content

    def origin(self, sha256: str) -> Snapshot | None:
        """The fetch that brought these bytes first; None where the archive has no record of them that can be read."""
        try:
            self._bring(sha256)
            return Snapshot.from_json(local_files.loads(self.paths(sha256)[1].read_bytes()))
        except (OSError, ValueError):
            return None

    def page(self, snapshot: Snapshot) -> Page:
        """The page as a parser takes it. Raises CorruptSnapshot."""
        return Page(
            url=snapshot.url,
            final_url=snapshot.final_url,
            content=self.content_of(snapshot.sha256),
            sha256=snapshot.sha256,
            fetched_at=snapshot.fetched_at,
            status=200 if snapshot.not_modified else snapshot.status,
            headers=snapshot.headers,
        )

    def sources(self) -> list[str]:
        """The names of the sources that have a record, sorted."""
        return sorted(path.stem for path in (self.root / "log").glob("*.jsonl"))

    def history(self, source: str | None = None) -> Iterator[Snapshot]:
        """Every fetch on record in the order of fetching: of one source, or of all merged by time."""
        if source is not None:
            return self.log(source).fetches()
        return heapq.merge(
            *(self.log(name).fetches() for name in self.sources()), key=lambda snapshot: snapshot.fetched_at
        )

    def prune(self, keep_days: int, now: datetime, keep: Collection[str] = (), *, dry_run: bool = False) -> list[str]:
        """Forget fetches older than `keep_days` and remove the pages that no remaining fetch needs.

        Returns the hashes of the pages; with `dry_run` nothing else is done.

        The newest fetch of every address stays however old it is, and so does each page whose hash is in `keep`.
        """
        if keep_days < 0 or now.tzinfo is None:
            raise ValueError(f"pruning needs days (not {keep_days}) and a time with its zone (not {now.isoformat()})")
        cutoff = now - timedelta(days=keep_days)
        with archive_files.exclusive(self.root):
            needed: set[str] = set(keep)
            for name in self.sources():
                log = self.log(name)
                newest = log.newest()
                kept = [
                    snapshot
                    for snapshot in log.fetches()
                    if snapshot.fetched_at >= cutoff or snapshot == newest[snapshot.url] or snapshot.sha256 in keep
                ]
                if not dry_run:
                    log.rewrite(kept)
                needed.update(snapshot.sha256 for snapshot in kept)
            removed = [sha256 for sha256 in self.pages() if sha256 not in needed]
            if dry_run:
                return removed
            for sha256 in removed:
                # The blob first: a sidecar left alone is no more than litter.
                for path in self.paths(sha256):
                    path.unlink(missing_ok=True)
            archive_files.remove_leftovers(self.root)
        return removed

    def size(self, sha256: str) -> int:
        """Bytes that a page takes in the archive; 0 where it is not there."""
        paths = self.paths(sha256)
        if self.store is not None and not paths[0].exists():
            return sum(self.store.size(self.key(path)) or 0 for path in paths)
        return sum(path.stat().st_size for path in paths if path.exists())

    def verify(self) -> list[CorruptSnapshot]:
        """Everything that is wrong with the archive: damaged or missing pages and sidecars, lines that cannot be read."""
        damaged: list[CorruptSnapshot] = []
        stored = set(self.pages())
        elsewhere = stored - set(self._local_pages())
        logged: dict[str, list[Snapshot]] = {}
        for name in self.sources():
            log = self.log(name)
            for snapshot in log.fetches():
                logged.setdefault(snapshot.sha256, []).append(snapshot)
            damaged.extend(log.damage())
        # Of pages that only the store has, that it has them: to read them all would be to copy the archive here.
        for sha256 in sorted((stored | logged.keys()) - elsewhere):
            try:
                self.content_of(sha256)
            except CorruptSnapshot as error:
                damaged.append(error)
                continue
            origin, records = self.origin(sha256), logged.get(sha256, [])
            # A sidecar may be of a fetch that was pruned, or of a run that was killed before its line; one of the same time,
            # source and run must be the same.
            twins = [one for one in records if origin and _fetch_of(one) == _fetch_of(origin)]
            if origin is None or (twins and origin not in twins):
                seen = (
                    "the sidecar says another fetch than the log" if origin else "the sidecar is no record of a fetch"
                )
                damaged.append(CorruptSnapshot(str(self.paths(sha256)[1]), seen))
        return damaged

    def _store(self, snapshot: Snapshot, content: bytes) -> None:
        blob, sidecar = self.paths(snapshot.sha256)
        with suppress(CorruptSnapshot):
            # Read, not only looked for: fetching a page again mends a damaged file.
            self.content_of(snapshot.sha256)
            return
        archive_files.write(sidecar, json.dumps(snapshot.to_json(), ensure_ascii=False, indent=1).encode() + b"\n")
        # No time in the header: the same page packs to the same file.
        archive_files.write(blob, gzip.compress(content, 6, mtime=0))

    def log_damage(self, source: str) -> list[CorruptSnapshot]:
        """What is wrong with the lines of one source's log."""
        return self.log(source).damage()

    def pages(self) -> list[str]:
        """The hashes of all pages in the archive, and in the store, sorted."""
        local = self._local_pages()
        if self.store is None:
            return sorted(local)
        stored = (Path(one.key) for one in self.store.listed("blobs/"))
        return sorted({*local, *(key.stem for key in stored if key.suffix == ".gz")})

    def _local_pages(self) -> list[str]:
        return [path.stem for path in (self.root / "blobs").glob("*/*.gz")]

    def key(self, path: Path) -> str:
        """The key in the store of a file of the archive."""
        return path.relative_to(self.root).as_posix()

    def _is_there(self, sha256: str) -> bool:
        paths = self.paths(sha256)
        if all(path.exists() for path in paths):
            return True
        return self.store is not None and self.store.size(self.key(paths[0])) is not None

    def _bring(self, sha256: str) -> None:
        """Take a page that is not in the folder from the store, where there is one. Raises StoreError."""
        blob, sidecar = self.paths(sha256)
        if self.store is None or (blob.exists() and sidecar.exists()):
            return
        for path in (sidecar, blob):
            if not path.exists() and (found := self.store.get(self.key(path))):
                archive_files.write(path, found[0])

    def paths(self, sha256: str) -> tuple[Path, Path]:
        """Blob and sidecar. Raises ValueError for what is no SHA-256, so that no name leads out of the archive."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ValueError(f"{sha256!r} is no SHA-256 in lower-case hexadecimal")
        folder = self.root / "blobs" / sha256[:2]
        return folder / f"{sha256}.gz", folder / f"{sha256}.json"

    def log(self, source: str) -> FetchLog:
        """The record of one source's fetches. Raises ValueError for what is no name of a source."""
        if not source.isidentifier():
            raise ValueError(f"{source!r} is no name of a source")
        with self._lock:
            return self._logs.setdefault(source, FetchLog(self.root / "log" / f"{source}.jsonl", source))


def _fetch_of(snapshot: Snapshot) -> tuple[str, datetime, str | None]:
    """What tells one fetch of a page from another."""
    return snapshot.source, snapshot.fetched_at, snapshot.run_id
