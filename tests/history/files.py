"""Warehouse files made older, newer or foreign by hand."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import duckdb

from gpuledger.warehouse import integrity
from gpuledger.warehouse.paths import DataDir


def edit(data: Path, *statements: str) -> None:
    """Run statements on the base and on the published version, as another program would have left them."""
    where = DataDir(data)
    with duckdb.connect(str(where.base)) as con:
        for statement in statements:
            con.execute(statement)
    published = where.published.resolve()
    published.chmod(0o644)
    shutil.copyfile(where.base, published)
    published.chmod(0o444)
    # What another program wrote is whole: it is no damage.
    integrity.note(where, published, integrity.digest(published))


def of_a_newer_duckdb(data: Path) -> None:
    """Give the files a storage version that no DuckDB of today knows: the main header's third field."""
    where = DataDir(data)
    for path in (where.base, where.published.resolve()):
        mode = path.stat().st_mode
        path.chmod(0o644)
        header = bytearray(path.read_bytes()[:4096])
        (storage,) = struct.unpack_from("<Q", header, 12)
        struct.pack_into("<Q", header, 12, storage + 1000)
        struct.pack_into("<Q", header, 0, _checksum(bytes(header[8:])))
        with path.open("r+b") as file:
            file.write(header)
        path.chmod(mode)
        integrity.note(where, path, integrity.digest(path))


def _checksum(block: bytes) -> int:
    """DuckDB's own, over words of 64 bits; without the right one a file is damaged, and not new."""
    total = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        total ^= word * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    return total
