"""Is a warehouse file still what was written? A log beside the base has the SHA-256 of each file that was published.

DuckDB checks each block as it reads it, which tells a reader of a damaged part and nobody else: a copy of a damaged file is
a damaged file, and the good ones before it age out. So a file is held against its sum before it is copied.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from gpuledger.extract import local_files, sealed
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import WAREHOUSE_FILE, DataDir


class Damaged(WarehouseError):
    """A file is not what was written, and no other takes its place."""


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_of(path: Path) -> str:
    """What a file is called on record and to people: a version by its run, the base and others by their own name."""
    return f"{path.parent.name}/{path.name}" if path.name == WAREHOUSE_FILE else path.name


def note(data: DataDir, path: Path, sha256: str) -> None:
    """Put the sum of a file on record, durably."""
    sealed.append(data.checksums, {"file": name_of(path), "sha256": sha256})


def noted(data: DataDir) -> dict[str, str]:
    """The sum of each file by its name, as it was noted last; a line that was changed is not believed."""
    sums: dict[str, str] = {}
    for line in data.checksums.read_bytes().split(b"\n") if data.checksums.exists() else ():
        try:
            fields = local_files.loads(line) if line.strip() and sealed.is_whole(line) else {}
            sums[str(fields["file"])] = str(fields["sha256"])
        except (ValueError, KeyError, TypeError):
            continue
    return sums


def is_whole(data: DataDir, path: Path) -> bool | None:
    """Whether the file is as it was noted; None where no note of it can be believed. Raises OSError."""
    sha256 = noted(data).get(name_of(path))
    return None if sha256 is None else digest(path) == sha256


def damage(data: DataDir) -> list[str]:
    """Each line of the log that is not as it was written, with its place."""
    lines = data.checksums.read_bytes().split(b"\n") if data.checksums.exists() else []
    return [f"{data.checksums}, line {one.number}: {one.reason}" for one in sealed.damage(lines) if not one.is_torn]
