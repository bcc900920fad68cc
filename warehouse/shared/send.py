"""Send a warehouse to a store that several machines share: published versions, and the files that belong to them.

Each file is written once, under a name with its SHA-256, and counts from the moment when the head names it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.objects import Objects
from gpuledger.warehouse import private
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import lease as leases
from gpuledger.warehouse.shared.head import File, Head, Published

#: Folders of what people decide, add and drop. Without them no other machine could write the next night or replay old ones.
OF_PEOPLE = ("decisions", "models", "gpus", "rates", "workloads", "measurements", "inbox", "charts")
#: Files that runs write in addition to the warehouse and the archive.
OF_RUNS = ("snapshots/runs.jsonl", "snapshots/baseline.duckdb", "state/iceberg.db")
WATCHES = "watches.toml"
#: Most bytes of a file's name, so that there is room for the longer name of a half written file.
_LONGEST_NAME = 200
#: Control characters, bytes that are no UTF-8, and the character that some systems read as a slash.
_ODD = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


@dataclass(slots=True)
class Note:
    """What was last the same in the directory and in the store `address`: the version, by hash, and the files' hashes by
    path.
    """

    address: str = ""
    version: str = ""
    files: dict[str, str] = field(default_factory=dict)


def commit(data: DataDir, version: Path, part: Path, sha256: str, keep_versions: int) -> None:
    """Publish a version for all machines: put it into the store, and then name it in the head. It still lies in `part`.

    From then on every reader gets it. Raises Superseded if another machine took the lease, and StoreError; then nothing is
    published.
    """
    lease = leases.of(data)
    run_id = version.parent.name
    key = f"versions/{run_id}-{sha256[:16]}.duckdb"
    lease.store.upload(key, part)
    published = Published(run_id, key, sha256, part.stat().st_size)
    files = _send_files(data, lease.store, lease.head)

    def change(head: Head) -> Head:
        return replace(head, versions=(*head.versions, published)[-keep_versions:], files=files)

    before = lease.head.versions
    head = lease.commit(change)
    lease.store.delete(earlier.key for earlier in before if earlier not in head.versions)


def settle(data: DataDir) -> None:
    """Send changed files and note that directory and head are the same: after a publish, and after a run without one."""
    lease = leases.of(data)
    head = lease.head
    files = _send_files(data, lease.store, head)
    if files != head.files:
        head = lease.commit(lambda now: replace(now, files=files))
    note = note_of(data, lease.store)
    note.files = {path: file.sha256 for path, file in files.items()}
    keep(data, note, lease.store, head.published.sha256 if head.published else note.version)


def forget(data: DataDir, epoch: int) -> None:
    """Name a new epoch of the archive in the head, and remove the versions and files that the head no longer names."""
    lease = leases.of(data)
    files = _send_files(data, lease.store, lease.head)
    head = lease.commit(lambda now: replace(now, epoch=epoch, files=files))
    kept_keys = {version.key for version in head.versions} | {key_of(file.sha256) for file in files.values()}
    for folder in ("versions/", "files/"):
        lease.store.delete(entry.key for entry in lease.store.listed(folder) if entry.key not in kept_keys)


def _send_files(data: DataDir, store: Objects, head: Head) -> Mapping[str, File]:
    """Put the files of the warehouse that the store lacks into it. Returns all files by path."""
    files = {path: File(digest(data.root / path), (data.root / path).stat().st_size) for path in files_of(data)}
    known = {file.sha256 for file in head.files.values()}
    for path, file in files.items():
        if file.sha256 not in known and store.size(key_of(file.sha256)) is None:
            store.upload(key_of(file.sha256), data.root / path)
    return files


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
    for folder in OF_PEOPLE:
        files = (path for path in sorted((data.root / folder).rglob("*")) if path.is_file() and not path.is_symlink())
        whole = (path for path in files if not path.name.startswith(".") and path.suffix != ".part")
        small = (path for path in whole if path.stat().st_size <= local_files.MAX_BYTES)
        paths += [name for path in small if is_path(name := path.relative_to(data.root).as_posix())]
    return [*paths, WATCHES] if (data.root / WATCHES).is_file() else paths


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(sha256: str) -> str:
    """The key of the object that holds a file."""
    return f"files/{sha256}"


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
