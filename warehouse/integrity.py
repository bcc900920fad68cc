"""Checks that a warehouse file is still what was written. A log beside the base has the SHA-256 of each published file.

DuckDB checks each block when it reads the block, so only the reader of a damaged part learns of the damage. A copy of a
damaged file is damaged too, and the undamaged versions before it are removed with time. So a file is checked against its sum
before it is copied.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from gpuledger import local_files
from gpuledger.extract.archive import sealed
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import WAREHOUSE_FILE, DataDir


class Damaged(WarehouseError):
    """A file is not what was written, and no other file can replace it."""


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_of(path: Path) -> str:
    """The name of a file in the log and for people: a version has the name of its run, others have their own name."""
    return f"{path.parent.name}/{path.name}" if path.name == WAREHOUSE_FILE else path.name


def note(data: DataDir, path: Path, sha256: str) -> None:
    """Record the sum of a file, durably."""
    sealed.append(data.checksums, {"file": name_of(path), "sha256": sha256})


def noted(data: DataDir) -> dict[str, str]:
    """The last recorded sum of each file, by its name, in the order in which they were recorded.

    Ignores lines that were changed.
    """
    sums: dict[str, str] = {}
    for line in sealed.lines(data.checksums):
        try:
            fields = local_files.loads(line) if line.strip() and sealed.is_whole(line) else {}
            name = str(fields["file"])
            sums.pop(name, None)
            sums[name] = str(fields["sha256"])
        except (ValueError, KeyError, TypeError):
            continue
    return sums


def is_whole(data: DataDir, path: Path) -> bool | None:
    """Whether the file has its recorded sum; None if no line about it can be trusted. Raises OSError."""
    sha256 = noted(data).get(name_of(path))
    return None if sha256 is None else digest(path) == sha256


def damage(data: DataDir) -> list[str]:
    """Each line of the log that is not as it was written, with its place."""
    damaged = sealed.damage(sealed.lines(data.checksums))
    return [f"{data.checksums}, line {line.number}: {line.reason}" for line in damaged if not line.is_torn]
