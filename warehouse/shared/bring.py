"""Bring a warehouse from a store that several machines share: as a copy for readers, or as the base of the next run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuledger.extract import local_files, sealed
from gpuledger.extract.message import Message
from gpuledger.extract.objects import Objects, StoreError
from gpuledger.warehouse import integrity, private, publish, read
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared.head import File, Head, Published
from gpuledger.warehouse.shared.send import (
    OF_PEOPLE,
    OF_RUNS,
    WATCHES,
    Note,
    digest,
    files_of,
    is_path,
    keep,
    key_of,
    note_of,
)

_AT_ONCE = 8
#: Folders that people add to and that answers need in addition to the published version.
_FOR_READERS = ("decisions", "models", "gpus", "rates", "workloads")


class Diverged(WarehouseError):
    """A data directory and the store hold two different histories, and neither begins with the other."""


def bring(data: DataDir, store: Objects, head: Head) -> None:
    """Bring the directory to the state that the head names, as the base of the next run. What people changed here since
    then stays.

    The caller holds the writer's lock, and no run is half published. Raises Diverged, and StoreError.
    """
    note = note_of(data, store)
    version = head.published
    mine = _published_sum(data)
    if version is not None and mine != version.sha256:
        if mine != note.version:
            what = "a warehouse of its own" if not note.address else "a version that the store never had"
            raise Diverged(Message("warehouse.holds_another", root=data.root, what=what, address=store.address))
        take(data, store, version, with_base=True)
    _bring_files(data, store, head.files, note)
    keep(data, note, store, version.sha256 if version else note.version)


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
    NewerWarehouse and OlderWarehouse if it has another schema.
    """
    try:
        read.file_query(part, "SELECT run_id FROM ops.run LIMIT 1", name)
    except NewerWarehouse:
        raise
    except NotAWarehouse as error:
        raise StoreError(Message("warehouse.no_warehouse", name=name, error=error)) from None


def is_current(data: DataDir, store: Objects, head: Head) -> bool:
    """Whether the directory already has everything that a reader gets from the head."""
    note = note_of(data, store)
    version = head.published
    is_same = version is not None and data.published.exists() and note.version == version.sha256
    return is_same and note.files == {name: file.sha256 for name, file in _for_readers(head).items()}


def _for_readers(head: Head) -> dict[str, File]:
    return {
        name: file
        for name, file in head.files.items()
        if name.partition("/")[0] in _FOR_READERS or name == "snapshots/runs.jsonl"
    }


def pull(data: DataDir, store: Objects, head: Head, keep_versions: int) -> Path | None:
    """Keep a verified copy of the published version for readers. Returns the version if it is new here, else None.

    It also brings what people added, so that questions about their cards have an answer (quotes are in the version), and the
    log of runs, which `status` shows. Raises StoreError, and Diverged if the directory has runs of its own.
    """
    note = note_of(data, store)
    version = head.published
    mine = _published_sum(data)
    path = None
    if version is not None and mine != version.sha256:
        if mine and mine != note.version:
            raise Diverged(Message("warehouse.holds_warehouse_own", root=data.root, address=store.address))
        path = take(data, store, version)
    own = _for_readers(head)
    _bring_files(data, store, own, note)
    if version is not None:
        keep(data, note, store, version.sha256)
    for old in publish.old_versions(data, keep_versions):
        publish.remove_version(old)
    return path


def _bring_files(data: DataDir, store: Objects, files: Mapping[str, File], note: Note) -> None:
    """Bring the files that changed in the store. A file that changed here too stays, and is sent with the next run."""
    mine = {path: digest(data.root / path) for path in files_of(data)}
    due = []
    for path, file in files.items():
        _check(path, store)
        was, is_of_runs = note.files.get(path), path in OF_RUNS
        # Lines that runs wrote only here are of runs that published nothing. They are appended to what other machines wrote.
        if file.sha256 not in (mine.get(path), was) and (mine.get(path) == was or is_of_runs):
            due.append((path, file))
    runs = data.runs.read_bytes() if data.runs.exists() else b""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda path_and_file: _bring_file(data, store, *path_and_file), due))
    _append_missing(data.runs, runs)
    for path, was in note.files.items():
        if path not in files and mine.get(path) == was:
            (data.root / path).unlink(missing_ok=True)
    note.files = {path: file.sha256 for path, file in files.items()}


def _bring_file(data: DataDir, store: Objects, path: str, file: File) -> None:
    target = data.root / path
    private.make_folder(target.parent)
    part = target.with_name(f".{target.name}.part")
    try:
        if not store.download(key_of(file.sha256), part) or digest(part) != file.sha256:
            raise StoreError(
                Message(
                    "warehouse.not_written_restore_bucket_earlier",
                    address=store.address,
                    key_of=key_of(file.sha256),
                    path=path,
                )
            )
        part.chmod(private.FILE_MODE)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if target == data.baseline:
        integrity.note(data, target, file.sha256)


def _append_missing(log: Path, before: bytes) -> None:
    """Append to a sealed log those lines of its former content `before` that it lacks."""
    if not log.exists() or log.read_bytes() == before:
        return
    present = {_content(line) for line in log.read_bytes().splitlines()}
    missing = [content for line in before.splitlines() if (content := _content(line)) and content not in present]
    if missing:
        sealed.extend(log, [local_files.loads(content) for content in missing])


def _content(line: bytes) -> str:
    """The content of a line of a sealed log, without its place in the log; empty if the line cannot be trusted."""
    try:
        fields = local_files.loads(line) if line.strip() and sealed.is_whole(line) else {}
        return json.dumps(
            {name: value for name, value in fields.items() if name not in ("after", "seal")}, sort_keys=True
        )
    except (ValueError, AttributeError):
        return ""


def _check(path: str, store: Objects) -> None:
    """Raise StoreError for a name that leads out of the directory or to other files, as other machines write the store."""
    parts = path.split("/")
    is_known = path in (*OF_RUNS, WATCHES) or (len(parts) > 1 and parts[0] in OF_PEOPLE)
    if not is_known or not is_path(path):
        raise StoreError(Message("warehouse.head_names_file_belongs_no", address=store.address, path=path))


def _published_sum(data: DataDir) -> str:
    """The recorded sum of the version that is published in the directory; empty if there is none."""
    if not data.published.exists():
        return ""
    path = data.published.resolve()
    return integrity.noted(data).get(integrity.name_of(path)) or integrity.digest(path)
