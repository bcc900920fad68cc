"""Exchanges the archive with a store that several machines share: pages by their hash, and the log of fetches in segments.

A machine works on its own folder and sends to the store what the store lacks. It sends the pages first, and then the log
lines that name these pages, in segments. A segment is named by its content, so sending it twice changes nothing. The machine
also takes over the segments of other machines. A note in the folder says how far both directions came. If the note is lost,
everything is compared again and nothing is stored twice.
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

#: Most lines of one segment: about a megabyte.
_LINES = 2000
_AT_ONCE = 16


@dataclass(slots=True)
class _Note:
    """How many bytes of each log of the folder are in the store at `address`, and which segments are in the logs."""

    address: str = ""
    epoch: int = 0
    sent: dict[str, int] = field(default_factory=dict)
    segments: list[str] = field(default_factory=list)


class Exchange:
    """One archive and the store that it shares. For one process at a time: the caller holds the folder's lock."""

    def __init__(self, archive: Archive, store: Objects) -> None:
        self._archive, self._store = archive, store
        self._path = archive.root / "store.json"
        self._note = self._read_note()

    def send(self, epoch: int) -> int:
        """Send the pages and the log lines that the store lacks. Returns the number of lines.

        `epoch` is the one that the head of the store names. Raises StoreError. What was sent before the error need not be
        sent again.
        """
        count = 0
        for source in self._archive.sources():
            start = self._note.sent.get(source, 0)
            lines, end = self._archive.log(source).unsent(start)
            if end != start:
                self._send_pages([snapshot for _, snapshot in lines])
                self._send_lines(source, lines, epoch)
                self._note.sent[source] = end
                self._write_note()
                count += len(lines)
        return count

    def bring(self, epoch: int) -> int:
        """Take over the segments that the logs of the folder lack. Returns their number. The caller calls `send` before.

        Logs of an earlier epoch contain fetches that were pruned since, so they are built anew. Raises StoreError.
        """
        if self._note.epoch != epoch:
            if self._note.segments:
                for source in self._archive.sources():
                    self._archive.log(source).rewrite(())
            self._note = _Note(self._store.address, epoch)
        known = set(self._note.segments)
        new = [segment.key for segment in self._store.listed(f"log/{epoch}/") if segment.key not in known]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            segments = list(threads.map(self._segment_lines, new))
        by_source: dict[str, list[bytes]] = {}
        for key, lines in zip(new, segments, strict=True):
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
            self._write_note()
        return len(new)

    def renew(self, epoch: int) -> None:
        """After a prune, write all lines of the folder's logs into the store as the beginning of a new epoch."""
        self._note = _Note(self._store.address, epoch)
        for source in self._archive.sources():
            lines, end = self._archive.log(source).unsent(0)
            self._send_lines(source, lines, epoch)
            self._note.sent[source] = end
        self._write_note()

    def forget(self, pages: Collection[str], epoch: int) -> None:
        """Remove pages and the segments of all other epochs. The head names the new epoch, and no worker reads meanwhile."""
        self._store.delete(
            self._archive.key(path) for sha256 in pages for path in self._archive.paths(sha256)
        )  # a sidecar without its page does no harm
        self._store.delete(
            segment.key for segment in self._store.listed("log/") if not segment.key.startswith(f"log/{epoch}/")
        )  # fmt: skip

    def _send_pages(self, snapshots: Sequence[Snapshot]) -> None:
        newest = {snapshot.sha256: snapshot for snapshot in snapshots}
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(self._send_page, newest.values()))

    def _send_page(self, snapshot: Snapshot) -> None:
        blob, sidecar = self._archive.paths(snapshot.sha256)
        if not blob.exists():
            return  # the page is in the store already, or it is lost and `verify` names it
        origin = self._archive.origin(snapshot.sha256)
        is_new = origin is not None and (origin.run_id, origin.url) == (snapshot.run_id, snapshot.url)
        # Most pages of a night are the same as last night. For these we only ask whether the store has them.
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

    def _segment_lines(self, key: str) -> list[bytes]:
        item = self._store.get(key)
        content = item[0] if item else b""
        if hashlib.sha256(content).hexdigest()[:32] != PurePosixPath(key).stem.rpartition("-")[2]:
            raise StoreError(
                f"{self._store.address}/{key} is not what was written; restore it from the bucket's earlier versions"
            )
        return content.splitlines(keepends=True)

    def _read_note(self) -> _Note:
        try:
            note = _Note(**local_files.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return _Note(self._store.address)
        # The note is about another store, so this store has nothing yet.
        return note if note.address == self._store.address else _Note(self._store.address)

    def _write_note(self) -> None:
        archive_files.write(self._path, json.dumps(asdict(self._note)).encode())
