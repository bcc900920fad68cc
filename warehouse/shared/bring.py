"""Take a warehouse from a store that several machines share: as a copy for readers, or as the base of the next run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuledger.extract import local_files, sealed
from gpuledger.extract.objects import Objects, StoreError
from gpuledger.warehouse import integrity, private, publish, read
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
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
    noted,
)

_AT_ONCE = 8
#: Of what people add: what questions are answered from beside the published version.
_FOR_READERS = ("decisions", "models", "gpus", "rates", "workloads")


class Diverged(WarehouseError):
    """A data directory and the store hold two histories of which neither begins with the other."""


def bring(data: DataDir, store: Objects, head: Head) -> None:
    """Make the directory what the head names, as the base of the next run. What people changed here since stays.

    The caller holds the writer's lock, and no run is half published. Raises Diverged, and StoreError.
    """
    note = noted(data, store)
    version = head.published
    mine = _published_sum(data)
    if version is not None and mine != version.sha256:
        if mine != note.version:
            what = "a warehouse of its own" if not note.address else "a version that the store never had"
            raise Diverged(
                f"{data.root} holds {what}, and {store.address} another one: name another --data-dir, which begins with "
                "what the store has"
            )
        take(data, store, version, with_base=True)
    _bring_files(data, store, head.files, note)
    keep(data, note, store, version.sha256 if version else note.version)


def take(data: DataDir, store: Objects, version: Published, *, with_base: bool = False) -> Path:
    """Publish a version of the store in the directory, as soon as its sum is right; the writer's base with it, if asked.

    Raises StoreError where it is not there, or not what was written.
    """
    private.make_folder(data.state)
    path = publish.version_of(data, version.run_id)
    part = publish.part_of(path)
    try:
        if store.size(version.key) not in (None, version.size):
            raise StoreError(
                f"{store.address}/{version.key} is not of the {version.size:,} bytes that were written: nothing is changed "
                "here; restore it from the bucket's earlier versions"
            )
        if not store.download(version.key, part):
            raise StoreError(
                f"{store.address}/{version.key} is not there: restore it from the bucket's earlier versions"
            )
        if integrity.digest(part) != version.sha256:
            raise StoreError(
                f"{store.address}/{version.key} is not what was written: nothing is changed here; restore it from the "
                "bucket's earlier versions"
            )
        _check_opens(part, f"{store.address}/{version.key}")
        part.chmod(0o444)
        integrity.note(data, path, version.sha256)
        publish.adopt(data, path, with_base=with_base)
    finally:
        shutil.rmtree(part.parent, ignore_errors=True)  # where it did not come to that
    return path


def _check_opens(part: Path, name: str) -> None:
    """A right sum says that a file is what was written, and not that a warehouse was. Raises StoreError, NewerWarehouse."""
    try:
        read.file_query(part, "SELECT run_id FROM ops.run LIMIT 1")
    except NotAWarehouse as error:
        raise StoreError(f"{name} is no warehouse ({error}): nothing is changed here") from None


def is_current(data: DataDir, store: Objects, head: Head) -> bool:
    """Whether the directory has all that a reader gets of the head already."""
    note = noted(data, store)
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
    """Keep a verified copy of the published version for readers; the version where it is new here, None where it was there.

    What people added comes with it, so that a question about a card of theirs has an answer (quotes stand in the version),
    and so does the log of runs, which `status` tells of. Raises StoreError, and Diverged where the directory has runs
    of its own.
    """
    note = noted(data, store)
    version = head.published
    mine = _published_sum(data)
    path = None
    if version is not None and mine != version.sha256:
        if mine and mine != note.version:
            raise Diverged(
                f"{data.root} holds a warehouse of its own: name another --data-dir for a copy of {store.address}"
            )
        path = take(data, store, version)
    own = _for_readers(head)
    _bring_files(data, store, own, note)
    if version is not None:
        keep(data, note, store, version.sha256)
    for old in publish.old_versions(data, keep_versions):
        publish.remove_version(old)
    return path


def _bring_files(data: DataDir, store: Objects, files: Mapping[str, File], note: Note) -> None:
    """Take over what changed in the store; where it changed here too, what is here stays, and is sent with the next run."""
    mine = {path: digest(data.root / path) for path in files_of(data)}
    due = []
    for path, file in files.items():
        _check(path, store)
        was, is_of_runs = note.files.get(path), path in OF_RUNS
        # What runs wrote here alone is of runs that published nothing: it goes on behind what others wrote.
        if file.sha256 not in (mine.get(path), was) and (mine.get(path) == was or is_of_runs):
            due.append((path, file))
    runs = data.runs.read_bytes() if data.runs.exists() else b""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda one: _bring_file(data, store, *one), due))
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
                f"{store.address}/{key_of(file.sha256)} ({path}) is not what was written: restore it from the bucket's "
                "earlier versions"
            )
        part.chmod(private.FILE_MODE)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if target == data.baseline:
        integrity.note(data, target, file.sha256)


def _append_missing(log: Path, before: bytes) -> None:
    """Put the lines of a sealed log that are not in the one which took its place behind that one's."""
    if not log.exists() or log.read_bytes() == before:
        return
    there = {_said(line) for line in log.read_bytes().splitlines()}
    missing = [words for line in before.splitlines() if (words := _said(line)) and words not in there]
    if missing:
        sealed.extend(log, [local_files.loads(words) for words in missing])


def _said(line: bytes) -> str:
    """What a line of a sealed log says, without its place there; empty where it cannot be believed."""
    try:
        words = local_files.loads(line) if line.strip() and sealed.is_whole(line) else {}
        return json.dumps(
            {name: value for name, value in words.items() if name not in ("after", "seal")}, sort_keys=True
        )
    except (ValueError, AttributeError):
        return ""


def _check(path: str, store: Objects) -> None:
    """A store is written by others: no name in it leads out of the directory, or to what is no such file."""
    parts = path.split("/")
    is_known = path in (*OF_RUNS, WATCHES) or (len(parts) > 1 and parts[0] in OF_PEOPLE)
    if not is_known or not is_path(path):
        raise StoreError(f"{store.address}: the head names the file {path!r}, which belongs to no warehouse")


def _published_sum(data: DataDir) -> str:
    """The sum of the version that is published in the directory, as it was noted; empty where there is none."""
    if not data.published.exists():
        return ""
    path = data.published.resolve()
    return integrity.noted(data).get(integrity.name_of(path)) or integrity.digest(path)
