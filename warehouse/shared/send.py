"""Publish a warehouse in a store that several machines share, on the condition that no other machine has published since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.message import Message
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import files
from gpuledger.warehouse.shared import head as heads
from gpuledger.warehouse.shared.head import Head, Published, Seen, Superseded


@dataclass(slots=True)
class Writer:
    """A machine that writes, with the head as it last saw it."""

    data: DataDir
    store: Objects
    seen: Seen
    #: Whether another machine has published since, so that nothing of this one counts.
    has_lost: bool = False

    def replace(self, versions: tuple[Published, ...]) -> Head:
        """Send changed files, and name them and the versions in the head.

        Raises Superseded if another machine has published since this one began, and StoreError. If another machine has only
        sent files since then, they are brought here first.
        """
        while True:
            was = self.seen
            sent = files.send(self.data, self.store, was.head)
            if (versions, sent) == (was.head.versions, was.head.files):
                return was.head
            try:
                self.seen = heads.write(self.store, Head(versions=versions, files=sent), was)
            except Superseded:
                self.seen = heads.read_head(self.store)
                if self.seen.head.versions != was.head.versions:
                    self.has_lost = True
                    raise
                note = files.note_of(self.data, self.store)
                files.bring(self.data, self.store, self.seen.head.files, note)
                files.keep(self.data, note, self.store, note.version)
                continue
            # Of a log every publish writes the whole, so the former one would only fill the store.
            named = {file.sha256 for file in sent.values()}
            former = {file.sha256 for path, file in was.head.files.items() if files.is_log(path)} - named
            self.store.delete(files.key_of(sha256) for sha256 in former)
            return self.seen.head


#: The writers of this process, by data directory.
_WRITERS: dict[DataDir, Writer] = {}


@contextmanager
def writer(data: DataDir, store: Objects) -> Iterator[Writer]:
    """Read the head, and write under the condition that it is still the same while the block runs. Raises StoreError."""
    _WRITERS[data] = Writer(data, store, heads.read_head(store))
    try:
        yield _WRITERS[data]
    finally:
        del _WRITERS[data]


def _writer_of(data: DataDir) -> Writer:
    try:
        return _WRITERS[data]
    except KeyError:
        raise WarehouseError(Message("warehouse.nothing_published_before_head_read", store=data.store)) from None


def commit(data: DataDir, version: Path, part: Path, sha256: str, keep_versions: int) -> None:
    """Publish a version for all machines: put it into the store, and then name it in the head. It still lies in `part`.

    From then on every reader gets it. Raises Superseded if another machine has published since this one began, and
    StoreError; then nothing is published.
    """
    writer = _writer_of(data)
    run_id = version.parent.name
    key = f"versions/{run_id}-{sha256[:16]}.duckdb"
    published = Published(run_id, key, sha256, part.stat().st_size)
    before = writer.seen.head.versions
    writer.store.upload(key, part)
    try:
        head = writer.replace((*before, published)[-keep_versions:])
    except Superseded:
        if published in writer.seen.head.versions:
            return  # the answer was lost, and the next machine went on from this version
        writer.store.delete([key])
        raise
    writer.store.delete(earlier.key for earlier in before if earlier not in head.versions)


def settle(data: DataDir) -> None:
    """Send the files that changed without a publish: the record of a run that failed, and how the last one ended."""
    writer = _writer_of(data)
    if not writer.has_lost:
        head = writer.replace(writer.seen.head.versions)
        note = files.note_of(data, writer.store)
        note.take(head.files)
        files.keep(data, note, writer.store, head.published.sha256 if head.published else note.version)


def forget(data: DataDir, pages: Iterable[str]) -> None:
    """Remove the objects of `pages` from the store, and the versions and files that the head no longer names."""
    writer = _writer_of(data)
    head = writer.replace(writer.seen.head.versions)
    writer.store.delete(pages)
    kept_keys = {version.key for version in head.versions} | {files.key_of(file.sha256) for file in head.files.values()}
    for folder in ("versions/", "files/", "handover/"):
        writer.store.delete(entry.key for entry in writer.store.listed(folder) if entry.key not in kept_keys)
