"""The files of a warehouse beside its version: what people added, and the logs. Sent to a store and brought from it.

Each file is written once, under a name with its SHA-256, and counts from the moment when the head names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.message import Message
from gpuledger.warehouse import integrity, private
from gpuledger.warehouse.paths import FROM_PEOPLE, DataDir
from gpuledger.warehouse.shared.head import File, Head

#: Files that runs write in addition to the warehouse and the archive.
OF_RUNS = ("snapshots/runs.jsonl", "snapshots/baseline.duckdb")
#: The logs of fetches, a file for each source.
_FETCHES = "snapshots/log"
_AT_ONCE = 8
#: Most bytes of a file's name, so that there is room for the longer name of a half written file.
_LONGEST_NAME = 200
#: Control characters, bytes that are no UTF-8, and the character that some systems read as a slash.
_ODD = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


@dataclass(slots=True)
class Note:
    """What was last the same in the directory and in the store `address`: the version, by hash, and the files by path, each
    with its hash and its number of bytes.
    """

    address: str = ""
    version: str = ""
    files: dict[str, list[str | int]] = field(default_factory=dict)

    def sha256(self, path: str) -> str | None:
        """The hash of the file as it was last the same; None if it never was."""
        return str(self.files[path][0]) if path in self.files else None

    def take(self, files: Mapping[str, File]) -> None:
        """Note that the directory has these files as the store has them."""
        self.files = {path: [file.sha256, file.size] for path, file in files.items()}


def note_of(data: DataDir, store: Objects) -> Note:
    """The note on what was last the same in the directory and in this store; an empty note if there is none."""
    try:
        note = Note(**local_files.loads(data.shared.read_bytes()))
    except (OSError, ValueError, TypeError):
        return Note()
    return note if note.address == store.address else Note()


def keep(data: DataDir, note: Note, store: Objects, version: str) -> None:
    """Note that the directory has the version of that hash from the store."""
    note.address, note.version = store.address, version
    private.make_folder(data.state)
    private.write(data.shared, json.dumps(asdict(note), indent=1).encode())


def send(data: DataDir, store: Objects, head: Head) -> Mapping[str, File]:
    """Put the files of the warehouse that the store lacks into it. Returns all files by path."""
    files = {
        path: File(integrity.digest(data.root / path), (data.root / path).stat().st_size) for path in files_of(data)
    }
    known = {file.sha256 for file in head.files.values()}
    for path, file in files.items():
        if file.sha256 not in known and store.size(key_of(file.sha256)) is None:
            store.upload(key_of(file.sha256), data.root / path)
    return files


def bring(data: DataDir, store: Objects, files: Mapping[str, File], note: Note) -> None:
    """Bring the files that changed in the store. A file that changed here too stays. Raises StoreError."""
    mine = {path: integrity.digest(data.root / path) for path in files_of(data)}
    due = []
    for path, file in files.items():
        _check(path, store)
        was = note.sha256(path)
        if file.sha256 not in (mine.get(path), was) and mine.get(path) == was:
            due.append((path, file))
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda one: _bring_file(data, store, *one), due))
    for path in note.files:
        if path not in files and mine.get(path) == note.sha256(path):
            (data.root / path).unlink(missing_ok=True)
    note.take(files)


def _bring_file(data: DataDir, store: Objects, path: str, file: File) -> None:
    target = data.root / path
    private.make_folder(target.parent)
    part = target.with_name(f".{target.name}.part")
    try:
        download(store, path, file, part)
        part.chmod(private.FILE_MODE)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if target == data.baseline:
        integrity.note(data, target, file.sha256)


def download(store: Objects, path: str, file: File, to: Path) -> None:
    """Write a file of a warehouse, as the head names it. Raises StoreError if it is not what was written."""
    if not store.download(key_of(file.sha256), to) or integrity.digest(to) != file.sha256:
        key = key_of(file.sha256)
        raise StoreError(
            Message("warehouse.not_written_restore_bucket_earlier", address=store.address, key_of=key, path=path)
        )


def _check(path: str, store: Objects) -> None:
    """Raise StoreError for a name that leads out of the directory or to other files, as others can write the store."""
    is_known = path in OF_RUNS or (path.partition("/")[0] in FROM_PEOPLE and "/" in path) or is_log(path)
    if not is_known or not is_path(path):
        raise StoreError(Message("warehouse.head_names_file_belongs_no", address=store.address, path=path))


def is_log(path: str) -> bool:
    """Whether the file is a log, to which every run only adds lines."""
    return path == OF_RUNS[0] or (path.startswith(f"{_FETCHES}/") and path.endswith(".jsonl") and path.count("/") == 2)


def is_path(path: str) -> bool:
    """Whether this is a path that a store may name: in letters that every machine has, and within its first folder."""
    if _ODD.search(path):
        return False
    return all(part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_NAME for part in path.split("/"))


def files_of(data: DataDir) -> list[str]:
    """The paths of the files that belong to a warehouse.

    Links, half written files, files too large to read and names that no store can have are left out, as a head that names
    one would stop every machine.
    """
    paths = [name for name in OF_RUNS if (data.root / name).is_file()]
    paths += [f"{_FETCHES}/{log.name}" for log in sorted((data.root / _FETCHES).glob("*.jsonl"))]
    for folder in FROM_PEOPLE:
        files = (path for path in sorted((data.root / folder).rglob("*")) if path.is_file() and not path.is_symlink())
        whole = (path for path in files if not path.name.startswith(".") and path.suffix != ".part")
        small = (path for path in whole if path.stat().st_size <= local_files.MAX_BYTES)
        paths += [name for path in small if is_path(name := path.relative_to(data.root).as_posix())]
    return paths


def key_of(sha256: str) -> str:
    """The key of the object that holds a file."""
    return f"files/{sha256}"
