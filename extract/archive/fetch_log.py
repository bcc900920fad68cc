"""The log of one source's fetches: a file of JSON lines that only grows, except when old lines are pruned."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gpuledger import local_files
from gpuledger.errors import CorruptSnapshot
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive import sealed
from gpuledger.extract.archive.snapshot import Snapshot

_RESTORE = "restore the file from a backup; a torn line can be deleted, as its page was not kept"


class FetchLog:
    """The log in the file `path`. Safe for threads. Several processes may append; `rewrite` needs the archive's lock."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self._lock = threading.Lock()
        self._newest: dict[str, Snapshot] = {}
        self._first: dict[str, str] = {}
        self._stamp: tuple[int, int] | None = None  # which file was indexed, and how far
        self._runs: dict[str, list[int]] | None = None  # where the lines of each run begin

    def append(self, snapshot: Snapshot) -> None:
        """Log one fetch durably: when this returns, the line is on the disk."""
        with self._lock:
            created = not self._path.exists()
            sealed.append(self._path, snapshot.to_json())
            if created:
                archive_files.sync(self._path.parent)

    def take_in(self, fetches: Iterable[Snapshot]) -> None:
        """Add the fetches of another machine that this log lacks. Raises ValueError for a fetch of another source."""
        known = {_key(snapshot) for snapshot in self.fetches()}
        new = [snapshot for snapshot in fetches if _key(snapshot) not in known]
        if any(snapshot.source != self._source for snapshot in new):
            raise ValueError(f"it is no record of {self._source}")
        if not new:
            return
        with self._lock:
            sealed.extend(self._path, (snapshot.to_json() for snapshot in new))
            archive_files.sync(self._path.parent)
            self._runs = None

    def fetches(self) -> Iterator[Snapshot]:
        """Every fetch in order. Skips lines that cannot be read; `damage` names them."""
        for _, line in self._lines(0):
            try:
                yield self._parse(line)
            except ValueError:
                continue

    def last(self, url: str) -> Snapshot | None:
        """The last fetch of one address, or None."""
        with self._lock:
            self._index()
            return self._newest.get(url)

    def first(self, url: str) -> str | None:
        """The hash of the first logged page of one address, or None."""
        with self._lock:
            self._index()
            return self._first.get(url)

    def of_run(self, run_id: str) -> list[Snapshot]:
        """Every fetch of one run in order. Uses an index of the log as it was at the first call."""
        with self._lock:
            if self._runs is None:
                self._runs = {}
                for end, line in self._lines(0):
                    with suppress(ValueError):
                        if of_run := self._parse(line).run_id:
                            self._runs.setdefault(of_run, []).append(end - len(line))
            starts = self._runs.get(run_id, [])
        return [self._parse(next(iter(self._lines(start)))[1]) for start in starts]

    def newest(self) -> dict[str, Snapshot]:
        """The last fetch of every address."""
        with self._lock:
            self._index()
            return dict(self._newest)

    def _index(self) -> None:
        """Bring the index up to date. Reads only the lines that were written since the last time."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            self._newest, self._first, self._stamp = {}, {}, None
            return
        if self._stamp is None or self._stamp[0] != stat.st_ino or self._stamp[1] > stat.st_size:
            self._newest, self._first, self._stamp = {}, {}, (stat.st_ino, 0)
        end = self._stamp[1]
        for line_end, line in self._lines(end):
            if not line.endswith(b"\n"):
                break  # the line may be half written, so look again next time
            end = line_end
            with suppress(ValueError):
                snapshot = self._parse(line)
                self._newest[snapshot.url] = snapshot
                self._first.setdefault(snapshot.url, snapshot.sha256)
        self._stamp = (stat.st_ino, end)

    def rewrite(self, snapshots: Iterable[Snapshot]) -> None:
        """Replace all lines. The caller holds the archive's lock."""
        lines = sealed.chain(snapshot.to_json() for snapshot in snapshots)
        with self._lock:
            archive_files.write(self._path, b"".join(lines))
            self._runs = None

    def damage(self) -> list[CorruptSnapshot]:
        """A finding for each line that is not a record, such as the torn last line of a killed process."""
        damaged = []
        lines = [line for _, line in self._lines(0)]
        broken = {finding.number: finding for finding in sealed.damage(lines)}
        for number, line in enumerate(lines, start=1):
            try:
                self._parse(line)
            except ValueError as error:
                seen = f"the line is no record of a fetch ({error})"
            else:
                if number not in broken:
                    continue
                seen = broken[number].reason
            damaged.append(CorruptSnapshot(f"{self._path}:{number}", seen, _RESTORE))
        return damaged

    def _lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        """The lines from the byte `start` on, each after the byte at which it ends."""
        try:
            with self._path.open("rb") as file:
                file.seek(start)
                while line := file.readline(sealed.LONGEST):
                    start += len(line)
                    yield start, line
        except FileNotFoundError:
            return

    def _parse(self, line: bytes) -> Snapshot:
        if not sealed.is_whole(line):
            raise ValueError("it was changed after it was written")
        snapshot = Snapshot.from_json(local_files.loads(line))
        if snapshot.source != self._source:
            raise ValueError(f"the line is of {snapshot.source}")
        return snapshot


def _key(snapshot: Snapshot) -> tuple[object, ...]:
    """The fields that are equal in two records of the same fetch."""
    return snapshot.url, snapshot.fetched_at, snapshot.sha256, snapshot.run_id, snapshot.not_modified
