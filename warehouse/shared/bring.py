"""Bring a warehouse from a store that several machines share: as a copy for readers, or as the base of the next run."""

from __future__ import annotations

import shutil
from pathlib import Path

from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.message import Message
from gpuledger.warehouse import integrity, private, publish, read
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import FROM_PEOPLE, DataDir
from gpuledger.warehouse.shared import files
from gpuledger.warehouse.shared.head import File, Head, Published


class Diverged(WarehouseError):
    """A data directory and the store hold two different histories, and neither begins with the other."""


def bring(data: DataDir, store: Objects, head: Head) -> None:
    """Bring the directory to the state that the head names, as the base of the next run. What people changed here since
    then stays.

    The caller holds the writer's lock, and no run is half published. Raises Diverged, and StoreError.
    """
    note = files.note_of(data, store)
    version = head.published
    mine = _published_sum(data)
    if version is not None and mine != version.sha256:
        if mine != note.version:
            what = "a warehouse of its own" if not note.address else "a version that the store never had"
            raise Diverged(Message("warehouse.holds_another", root=data.root, what=what, address=store.address))
        take(data, store, version, with_base=True)
    files.bring(data, store, head.files, note)
    files.keep(data, note, store, version.sha256 if version else note.version)


def take(data: DataDir, store: Objects, version: Published, *, with_base: bool = False) -> Path:
    """Publish a version of the store in the directory, once its sum is right. `with_base` replaces the writer's base too.

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
        publish.adopt(data, path, with_base=with_base)
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
    mine = _published_sum(data)
    path = None
    if version is not None and mine != version.sha256:
        if mine and mine != note.version:
            raise Diverged(Message("warehouse.holds_warehouse_own", root=data.root, address=store.address))
        path = take(data, store, version)
    own = _for_readers(head)
    files.bring(data, store, own, note)
    if version is not None:
        files.keep(data, note, store, version.sha256)
    for old in publish.old_versions(data, keep_versions):
        publish.remove_version(old)
    return path


def _published_sum(data: DataDir) -> str:
    """The recorded sum of the version that is published in the directory; empty if there is none."""
    if not data.published.exists():
        return ""
    path = data.published.resolve()
    return integrity.noted(data).get(integrity.name_of(path)) or integrity.digest(path)
