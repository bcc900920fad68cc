"""The archive of fetched pages. Parsers read it, `replay` rebuilds the warehouse from it, and it is every price's evidence.

    <root>/blobs/ab/ab12….gz     the bytes, gzip, named by their SHA-256, stored once however often they come
    <root>/blobs/ab/ab12….json   the sidecar: size, and the request that brought the bytes first
    <root>/log/<source>.jsonl    one line per fetch, including 304s, in order, with the run that made the fetch
    <root>/runs.jsonl            the log of runs, which `replay` repeats (written by the flows)

The sidecar is written before the blob and the log line after it, each completely or not at all. So wherever a process is
killed, no line names bytes that are not there. If there is a store, a page that is not in the folder is
copied from it, and `send` gives the store what it lacks.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gpuledger import local_files
from gpuledger.errors import CorruptSnapshot
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.fetch_log import FetchLog
from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.source import Page

__all__ = ["Archive", "Snapshot"]

#: Pages that are sent to a store at the same time.
_AT_ONCE = 16

# Cookies are the secret of a session. The other headers say nothing about the page that would be worth its space.
_KEPT_HEADERS = frozenset(
    ("cache-control", "content-language", "content-type", "date", "etag", "expires", "last-modified")
)


class Archive:
    """The archive below the folder `root`. The folder is made when the first page is saved.

    Safe for threads, and for processes that save at the same time. `prune` waits until no process is saving.
    """

    def __init__(self, root: Path, store: Objects | None = None) -> None:
        self.root = root
        self.store = store
        self._logs: dict[str, FetchLog] = {}
        self._lock = threading.Lock()

    @classmethod
    def at(cls, root: Path, store: str) -> Archive:
        """The archive below `root` that shares its pages with the store of this address; empty for none."""
        return cls(root, objects.store_at(store))

    def save(self, source: str, fetched: Fetched, fetched_at: datetime, run_id: str | None = None) -> Snapshot:
        """Store one answer and log it as fetched by the run `run_id`. `fetched_at` must have a time zone.

        If the answer says that nothing changed (304), the snapshot is the last snapshot of the same address with the new
        time. Its headers are the last headers, updated by the new ones (RFC 9111, 3.2). Raises ValueError if there is no
        last snapshot.
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
        with archive_files.locked(self.root):
            if not fetched.not_modified:
                self._store(snapshot, fetched.content)
            self.log(source).append(snapshot)
        return snapshot

    def latest(self, source: str, url: str) -> Snapshot | None:
        """The newest record of the address, or None. Its headers have the etag and last-modified for the next request."""
        last = self.log(source).last(addresses.redact(url))
        if last is None:
            return None
        paths, store = self.paths(last.sha256), self.store
        is_there = all(path.exists() for path in paths) or (store and store.size(self.key(paths[0])) is not None)
        return last if is_there else None  # if not, the next fetch must not be answered with a 304

    def first(self, source: str, url: str) -> str | None:
        """The hash of the first page that was archived for the address, or None."""
        return self.log(source).first(addresses.redact(url))

    def held(self) -> AbstractContextManager[None]:
        """Keeps the archive from being pruned while the block runs."""
        return archive_files.locked(self.root)

    def content_of(self, sha256: str) -> bytes:
        """The bytes of one page. Raises CorruptSnapshot, which names the file, if they differ from the stored page."""
        self._bring(sha256)
        return self._local_content(sha256)

    def _local_content(self, sha256: str) -> bytes:
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
            # At most one byte more than the sidecar says, because a damaged or planted file must not fill the memory.
            content = unpack.decompress(packed, size + 1)
        except (OSError, zlib.error) as error:
            raise CorruptSnapshot(str(blob), f"the page cannot be unpacked ({error})") from None
        if len(content) <= size and not unpack.eof:
            raise CorruptSnapshot(str(blob), f"the page ends after {len(content)} of {size} bytes")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise CorruptSnapshot(str(blob), "the bytes do not match the file's name")
        return content

    def origin(self, sha256: str) -> Snapshot | None:
        """The first fetch of these bytes. None if the archive has no readable record of it."""
        try:
            self._bring(sha256)
            return Snapshot.from_json(local_files.loads(self.paths(sha256)[1].read_bytes()))
        except (OSError, ValueError):
            return None

    def page(self, snapshot: Snapshot) -> Page:
        """The page in the form that parsers take. Raises CorruptSnapshot."""
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

    def history(self, source: str) -> Iterator[Snapshot]:
        """Every logged fetch of one source in order."""
        return self.log(source).fetches()

    def prune(self, keep_days: int, now: datetime, keep: Collection[str] = (), *, dry_run: bool = False) -> list[str]:
        """Forget fetches older than `keep_days` and remove the pages that no remaining fetch needs.

        Returns the hashes of these pages. With `dry_run` nothing is removed.

        The newest fetch of every address stays however old it is. The pages whose hashes are in `keep` stay too.
        """
        if keep_days < 0 or now.tzinfo is None:
            raise ValueError(f"pruning needs days (not {keep_days}) and a time with its zone (not {now.isoformat()})")
        cutoff = now - timedelta(days=keep_days)
        with archive_files.locked(self.root, alone=True):
            needed: set[str] = set(keep)
            for name in self.sources():
                log = self.log(name)
                newest = log.newest()
                remaining = [
                    snapshot
                    for snapshot in log.fetches()
                    if snapshot.fetched_at >= cutoff or snapshot == newest[snapshot.url] or snapshot.sha256 in keep
                ]
                if not dry_run:
                    log.rewrite(remaining)
                needed.update(snapshot.sha256 for snapshot in remaining)
            removed = [sha256 for sha256 in self.pages() if sha256 not in needed]
            if dry_run:
                return removed
            for sha256 in removed:
                # The blob first, because a sidecar without its blob does no harm.
                for path in self.paths(sha256):
                    path.unlink(missing_ok=True)
            archive_files.remove_leftovers(self.root)
        return removed

    def send(self, hashes: Iterable[str]) -> None:
        """Put those of the pages that are here and not in the store into it. Raises StoreError."""
        store = self.store
        if store is None:
            return
        there = {Path(key).stem for key in store.listed("blobs/") if key.endswith(".gz")}

        def send_page(sha256: str) -> None:
            blob, sidecar = self.paths(sha256)
            if blob.exists() and sidecar.exists():
                for path in (sidecar, blob):
                    store.write(self.key(path), path.read_bytes())

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(send_page, sorted({*hashes} - there)))

    def size(self, sha256: str) -> int:
        """The bytes that a page takes in the archive. 0 if the page is not there."""
        paths = self.paths(sha256)
        if self.store is not None and not paths[0].exists():
            return sum(self.store.size(self.key(path)) or 0 for path in paths)
        return sum(path.stat().st_size for path in paths if path.exists())

    def verify(self) -> list[CorruptSnapshot]:
        """Everything that is wrong with the archive: damaged or missing pages and sidecars, and unreadable lines."""
        damaged: list[CorruptSnapshot] = []
        stored = set(self.pages())
        elsewhere = stored - set(self._local_pages())
        logged: dict[str, list[Snapshot]] = {}
        for name in self.sources():
            log = self.log(name)
            for snapshot in log.fetches():
                logged.setdefault(snapshot.sha256, []).append(snapshot)
            damaged.extend(log.damage())
        # Pages that only the store has are not read, because that would copy the whole archive to this machine.
        for sha256 in sorted((stored | logged.keys()) - elsewhere):
            try:
                self.content_of(sha256)
            except CorruptSnapshot as error:
                damaged.append(error)
                continue
            origin, records = self.origin(sha256), logged.get(sha256, [])
            # A sidecar may be from a fetch that was pruned, or from a run that was killed before it wrote the log line. But
            # if the log has a fetch of the same time, source and run, the two records must be equal.
            twins = [record for record in records if origin and _fetch_of(record) == _fetch_of(origin)]
            if origin is None or (twins and origin not in twins):
                seen = (
                    "the sidecar says another fetch than the log" if origin else "the sidecar is no record of a fetch"
                )
                damaged.append(CorruptSnapshot(str(self.paths(sha256)[1]), seen))
        return damaged

    def _store(self, snapshot: Snapshot, content: bytes) -> None:
        blob, sidecar = self.paths(snapshot.sha256)
        with suppress(CorruptSnapshot):
            # The file is read and checked, so that fetching a page again repairs a damaged file.
            self._local_content(snapshot.sha256)
            return
        archive_files.write(sidecar, json.dumps(snapshot.to_json(), ensure_ascii=False, indent=1).encode() + b"\n")
        # No time in the gzip header, so that the same page always gives the same file.
        archive_files.write(blob, gzip.compress(content, 6, mtime=0))

    def pages(self) -> list[str]:
        """The hashes of all pages in the archive and in the store, sorted."""
        local = self._local_pages()
        if self.store is None:
            return sorted(local)
        stored = map(Path, self.store.listed("blobs/"))
        return sorted({*local, *(key.stem for key in stored if key.suffix == ".gz")})

    def _local_pages(self) -> list[str]:
        return [path.stem for path in (self.root / "blobs").glob("*/*.gz")]

    def key(self, path: Path) -> str:
        """The key under which the store has a file of the archive."""
        return path.relative_to(self.root).as_posix()

    def _bring(self, sha256: str) -> None:
        """Copy a page that is not in the folder from the store, if there is a store. Raises StoreError."""
        blob, sidecar = self.paths(sha256)
        if self.store is None or (blob.exists() and sidecar.exists()):
            return
        for path in (sidecar, blob):
            if not path.exists() and (content := self.store.get(self.key(path))):
                archive_files.write(path, content)

    def paths(self, sha256: str) -> tuple[Path, Path]:
        """The paths of blob and sidecar. Raises ValueError if `sha256` is no SHA-256, so that no path leaves the archive."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ValueError(f"{sha256!r} is no SHA-256 in lower-case hexadecimal")
        folder = self.root / "blobs" / sha256[:2]
        return folder / f"{sha256}.gz", folder / f"{sha256}.json"

    def log(self, source: str) -> FetchLog:
        """The log of one source's fetches. Raises ValueError if `source` is not a name of a source."""
        if not source.isidentifier():
            raise ValueError(f"{source!r} is no name of a source")
        with self._lock:
            return self._logs.setdefault(source, FetchLog(self.root / "log" / f"{source}.jsonl", source))


def _fetch_of(snapshot: Snapshot) -> tuple[str, datetime, str | None]:
    """The fields by which fetches of the same page differ."""
    return snapshot.source, snapshot.fetched_at, snapshot.run_id
