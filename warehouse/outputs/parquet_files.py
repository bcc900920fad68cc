"""Parquet files, one a table, with the warehouse's types."""

from __future__ import annotations

from pathlib import Path

from gpuledger.warehouse.outputs.tables import names
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from gpuledger.warehouse.schema import quote


def export(data: DataDir, folder: Path) -> list[Path]:
    """Write `<folder>/<table>.parquet` for every table; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with reader(data) as con:
        for table in names(con):
            path = folder / f"{table.partition('.')[2]}.parquet"
            part = path.with_suffix(".part")
            con.execute(f"COPY (FROM {table} ORDER BY ALL) TO {quote(str(part))} (FORMAT parquet, COMPRESSION zstd)")
            part.replace(path)
            written.append(path)
    return written
