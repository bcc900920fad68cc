"""The archive's part in a store that several machines share: pages by their hash, and the log of fetches in segments.

A machine works on its folder, and sends what the store lacks: the pages first, then the lines that speak of them, in
segments that are named by their content, so that sending twice is sending once. It takes over the segments of others. A
note in the folder says how far both came; where it is lost, all is looked at again, and nothing is there twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath

from gpuledger.extract import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.objects import Objects, StoreError

#: Lines of one segment: about a megabyte.
_LINES = 2000
_AT_ONCE = 16


@dataclass(slots=True)
class _Note:
    """What of the folder's logs is in the store `address`, as bytes of each, and which segments are in the logs."""

    address: str = ""
    epoch: int = 0
    sent: dict[str, int] = field(default_factory=dict)
    segments: list[str] = field(default_factory=list)


class Exchange:
    """One archive and the store that it shares. For one process at a time: the caller holds the folder's lock."""

    def __init__(self, archive: Archive, store: Objects) -> None:
        self._archive, self._store = archive, store
        self._path = archive.root / "store.json"
        self._note = self._noted()

    def send(self, epoch: int) -> int:
        """Send the pages and the lines that the store lacks, as of the `epoch` of its head; the number of lines.

        Raises StoreError. What was sent until then need not be sent again.
        """
        count = 0
        for source in self._archive.sources():
            start = self._note.sent.get(source, 0)
            lines, end = self._archive.log(source).unsent(start)
            if end != start:
                self._send_pages([snapshot for _, snapshot in lines])
                self._send_lines(source, lines, epoch)
                self._note.sent[source] = end
                self._keep()
                count += len(lines)
        return count

    def bring(self, epoch: int) -> int:
        """Take over the segments that the logs of the folder lack; the number of them. The caller has sent before.

        Logs of an earlier epoch hold what was forgotten, and are made anew. Raises StoreError.
        """
        if self._note.epoch != epoch:
            if self._note.segments:
                for source in self._archive.sources():
                    self._archive.log(source).rewrite(())
            self._note = _Note(self._store.address, epoch)
        known = set(self._note.segments)
        new = [one.key for one in self._store.listed(f"log/{epoch}/") if one.key not in known]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            read = list(threads.map(self._read, new))
        by_source: dict[str, list[bytes]] = {}
        for key, lines in zip(new, read, strict=True):
            by_source.setdefault(PurePosixPath(key).parts[2], []).extend(lines)
        for source, lines in by_source.items():
            try:
                self._note.sent[source] = self._archive.log(source).take_in(lines)
            except ValueError as error:
                raise StoreError(
                    f"{self._store.address}/log/{epoch}/{source}: a segment is no record of fetches ({error}); restore it "
                    "from the bucket's earlier versions"
                ) from None
        self._note.segments += new
        if new or not self._path.exists():
            self._keep()
        return len(new)

    def renew(self, epoch: int) -> None:
        """Write all lines of the folder's logs into the store as the beginning of a new epoch, after a prune."""
        self._note = _Note(self._store.address, epoch)
        for source in self._archive.sources():
            lines, end = self._archive.log(source).unsent(0)
            self._send_lines(source, lines, epoch)
            self._note.sent[source] = end
        self._keep()

    def forget(self, pages: Collection[str], epoch: int) -> None:
        """Remove pages, and the segments of all other epochs. The head names the new one, and no worker reads."""
        self._store.delete(
            self._archive.key(path) for sha256 in pages for path in self._archive.paths(sha256)
        )  # a sidecar that is left alone is no more than litter
        self._store.delete(
            one.key for one in self._store.listed("log/") if not one.key.startswith(f"log/{epoch}/")
        )  # fmt: skip

    def _send_pages(self, snapshots: Sequence[Snapshot]) -> None:
        newest = {snapshot.sha256: snapshot for snapshot in snapshots}
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(self._send_page, newest.values()))

    def _send_page(self, snapshot: Snapshot) -> None:
        blob, sidecar = self._archive.paths(snapshot.sha256)
        if not blob.exists():
            return  # taken from the store before, or lost: `verify` names it
        origin = self._archive.origin(snapshot.sha256)
        is_new = origin is not None and (origin.run_id, origin.url) == (snapshot.run_id, snapshot.url)
        # Most pages of a night are those of the last one; they are asked after, and not sent.
        if not is_new and self._store.size(self._archive.key(blob)) is not None:
            return
        for path in (sidecar, blob):
            self._store.create(self._archive.key(path), path.read_bytes())

    def _send_lines(self, source: str, lines: Sequence[tuple[bytes, Snapshot]], epoch: int) -> None:
        for first in range(0, len(lines), _LINES):
            part = lines[first : first + _LINES]
            content = b"".join(line for line, _ in part)
            digest = hashlib.sha256(content).hexdigest()[:32]
            key = f"log/{epoch}/{source}/{part[0][1].fetched_at:%Y%m%dT%H%M%SZ}-{digest}.jsonl"
            self._store.create(key, content)
            self._note.segments.append(key)

    def _read(self, key: str) -> list[bytes]:
        found = self._store.get(key)
        content = found[0] if found else b""
        if hashlib.sha256(content).hexdigest()[:32] != PurePosixPath(key).stem.rpartition("-")[2]:
            raise StoreError(
                f"{self._store.address}/{key} is not what was written; restore it from the bucket's earlier versions"
            )
        return content.splitlines(keepends=True)

    def _noted(self) -> _Note:
        try:
            note = _Note(**local_files.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return _Note(self._store.address)
        # Another store lacks all of it.
        return note if note.address == self._store.address else _Note(self._store.address)

    def _keep(self) -> None:
        archive_files.write(self._path, json.dumps(asdict(self._note)).encode())
