"""Bring a warehouse from a store: as a copy for readers, or in the place of a machine that is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.message import Message
from gpuledger.warehouse import integrity, private, publish, read
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse
from gpuledger.warehouse.paths import FROM_PEOPLE, DataDir
from gpuledger.warehouse.shared import files
from gpuledger.warehouse.shared.head import File, Head, Published
from gpuledger.warehouse.shared.send import Diverged, published_sum


def begin(data: DataDir, store: Objects, head: Head) -> None:
    """Fill an empty directory with what the store holds, as the base of the next run: so a lost machine is replaced.

    The caller holds the writer's lock. Raises StoreError.
    """
    if head.published is None:
        return
    note = files.note_of(data, store)
    files.bring(data, store, head.files, note)
    _take(data, store, head.published)
    files.keep(data, note, store, head.published.sha256)


def _take(data: DataDir, store: Objects, version: Published) -> Path:
    """Publish a version of the store in the directory, once its sum is right.

    Raises StoreError if the version is missing or is not what was written.
    """
    private.make_folder(data.state)
    path = publish.version_of(data, version.run_id)
    part = publish.part_of(path)
    try:
        if store.size(version.key) not in (None, version.size):
            raise StoreError(
                Message("warehouse.not_bytes_were_written", address=store.address, key=version.key, size=version.size)
            )
        if not store.download(version.key, part):
            raise StoreError(
                Message("warehouse.not_restore_bucket_earlier_versions", address=store.address, key=version.key)
            )
        if integrity.digest(part) != version.sha256:
            raise StoreError(Message("warehouse.not_written", address=store.address, key=version.key))
        _check_opens(part, f"{store.address}/{version.key}")
        part.chmod(0o444)
        integrity.note(data, path, version.sha256)
        publish.adopt(data, path)
    finally:
        shutil.rmtree(part.parent, ignore_errors=True)  # it is still there if the version was not published
    return path


def _check_opens(part: Path, name: str) -> None:
    """Raise StoreError if the file is no warehouse, as a right sum only shows that it is what was written. Raises
    NewerWarehouse if it has the schema of a newer program.
    """
    try:
        read.file_query(part, "SELECT run_id FROM ops.run LIMIT 1", name)
    except NewerWarehouse:
        raise
    except NotAWarehouse as error:
        raise StoreError(Message("warehouse.no_warehouse", name=name, error=error)) from None


def is_current(data: DataDir, store: Objects, head: Head) -> bool:
    """Whether the directory already has everything that a reader gets from the head."""
    note = files.note_of(data, store)
    version = head.published
    is_same = version is not None and data.published.exists() and note.version == version.sha256
    return is_same and note.files == {name: [file.sha256, file.size] for name, file in _for_readers(head).items()}


def _for_readers(head: Head) -> dict[str, File]:
    return {
        name: file
        for name, file in head.files.items()
        if ((folder := name.partition("/")[0]) in FROM_PEOPLE and folder != "inbox") or name == "snapshots/runs.jsonl"
    }


def pull(data: DataDir, store: Objects, head: Head, keep_versions: int) -> Path | None:
    """Keep a verified copy of the published version for readers. Returns the version if it is new here, else None.

    It also brings what people added, so that questions about their cards have an answer (quotes are in the version), and the
    log of runs, which `status` shows. Raises StoreError, and Diverged if the directory has runs of its own.
    """
    note = files.note_of(data, store)
    version = head.published
    mine = published_sum(data)
    path = None
    if version is not None and mine != version.sha256:
        if mine and mine != note.version:
            raise Diverged(Message("warehouse.holds_warehouse_own", root=data.root, address=store.address))
        path = _take(data, store, version)
    files.bring(data, store, _for_readers(head), note)
    if version is not None:
        files.keep(data, note, store, version.sha256)
    for old in publish.old_versions(data, keep_versions):
        publish.remove_version(old)
    return path
