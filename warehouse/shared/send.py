"""Send a warehouse to a store that several machines share: published versions, and the files that belong to them.

Each is written once, under a name that has its SHA-256, and counts from the moment that the head names it.
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

#: What people decide, add and drop, without which no other machine could write the next night, or replay the last ones.
OF_PEOPLE = ("decisions", "models", "gpus", "rates", "workloads", "measurements", "inbox", "charts")
#: What runs write beside the warehouse and the archive.
OF_RUNS = ("snapshots/runs.jsonl", "snapshots/baseline.duckdb", "state/iceberg.db")
WATCHES = "watches.toml"
#: Bytes of a file's name, so that it has room for what a half written one is called.
_LONGEST_NAME = 200
#: Control characters, bytes that are no UTF-8, and what some systems take for a slash.
_ODD = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


@dataclass(slots=True)
class Note:
    """What was the same in the directory and the store `address`: the version, by hash, and files by path."""

    address: str = ""
    version: str = ""
    files: dict[str, str] = field(default_factory=dict)


def commit(data: DataDir, version: Path, part: Path, sha256: str, keep_versions: int) -> None:
    """Publish a version, which lies in `part` still, for all machines: put it into the store, and then name it in the head.

    From here on every reader gets it. Raises Superseded where another machine took the lease, and StoreError; nothing is
    published then.
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
    lease.store.delete(one.key for one in before if one not in head.versions)


def settle(data: DataDir) -> None:
    """The directory is what the head names: after a publish, and at the end of a run that published nothing."""
    lease = leases.of(data)
    head = lease.head
    files = _send_files(data, lease.store, head)
    if files != head.files:
        head = lease.commit(lambda now: replace(now, files=files))
    note = noted(data, lease.store)
    note.files = {path: file.sha256 for path, file in files.items()}
    keep(data, note, lease.store, head.published.sha256 if head.published else note.version)


def forget(data: DataDir, epoch: int) -> None:
    """Name a new epoch of the archive in the head, and remove what it names no more: versions and files."""
    lease = leases.of(data)
    files = _send_files(data, lease.store, lease.head)
    head = lease.commit(lambda now: replace(now, epoch=epoch, files=files))
    kept = {one.key for one in head.versions} | {key_of(file.sha256) for file in files.values()}
    for folder in ("versions/", "files/"):
        lease.store.delete(one.key for one in lease.store.listed(folder) if one.key not in kept)


def _send_files(data: DataDir, store: Objects, head: Head) -> Mapping[str, File]:
    """Put what belongs to the warehouse into the store where it is not there yet; all of it by path."""
    files = {path: File(digest(data.root / path), (data.root / path).stat().st_size) for path in files_of(data)}
    known = {file.sha256 for file in head.files.values()}
    for path, file in files.items():
        if file.sha256 not in known and store.size(key_of(file.sha256)) is None:
            store.upload(key_of(file.sha256), data.root / path)
    return files


def is_path(path: str) -> bool:
    """Whether a store may name a file so: in letters that every machine has, and below the folder that it begins with."""
    if _ODD.search(path):
        return False
    return all(part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_NAME for part in path.split("/"))


def files_of(data: DataDir) -> list[str]:
    """The files that belong to a warehouse, by their paths in the directory. Links, what is half written, what is too large
    to be read and what no store can name are none: a head that names one would stop every machine.
    """
    found = [name for name in OF_RUNS if (data.root / name).is_file()]
    for folder in OF_PEOPLE:
        files = (path for path in sorted((data.root / folder).rglob("*")) if path.is_file() and not path.is_symlink())
        whole = (path for path in files if not path.name.startswith(".") and path.suffix != ".part")
        small = (path for path in whole if path.stat().st_size <= local_files.MAX_BYTES)
        found += [name for path in small if is_path(name := path.relative_to(data.root).as_posix())]
    return [*found, WATCHES] if (data.root / WATCHES).is_file() else found


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(sha256: str) -> str:
    """The key of the object that holds a file."""
    return f"files/{sha256}"


def noted(data: DataDir, store: Objects) -> Note:
    """What was the same in the directory and this store when it was looked at last."""
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
