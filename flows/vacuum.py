"""Retention of the archive: pages that no row refers to and no recent fetch needs are removed, and what old parsers gave."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from extract.parsed_cache import parser_code
from extract.snapshots import Archive
from flows.context import utc_now
from warehouse.lock import writer_lock
from warehouse.paths import DataDir
from warehouse.read import reader


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed: archived pages, results of older parsers, and the bytes of both."""

    pages: int
    parsed: int
    size_bytes: int


def vacuum(data: DataDir, keep_days: int) -> Removed:
    """Remove what is older than `keep_days` and traced by nothing. Every page that a row of the warehouse names stays.

    Under the writer's lock, so no run can refer to a page that is on its way out. Raises Locked, and NoWarehouse where
    there is nothing to trace by.
    """
    with writer_lock(data.lock):
        referred = _referred(data)
        before = _size(data.snapshots)
        pages = Archive(data.snapshots).prune(keep_days, utc_now(), referred)
        parsed = 0
        for folder in (data.snapshots / "parsed").glob("*/v*"):
            if not folder.name.endswith(parser_code()):
                parsed += sum(1 for _ in folder.rglob("*.gz"))
                shutil.rmtree(folder)
        return Removed(len(pages), parsed, before - _size(data.snapshots))


def _referred(data: DataDir) -> set[str]:
    """Hashes of all archived pages that any row of the published file names."""
    with reader(data) as con:
        tables = con.execute(
            """SELECT DISTINCT schema_name || '.' || table_name FROM duckdb_columns()
               WHERE database_name = 'gpuledger' AND column_name = 'snapshot_sha256' AND schema_name IN ('core', 'ops')"""
        ).fetchall()
        return {
            sha256
            for (table,) in tables
            for (sha256,) in con.execute(
                f"SELECT DISTINCT snapshot_sha256 FROM {table} WHERE snapshot_sha256 IS NOT NULL"
            ).fetchall()
        }


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
