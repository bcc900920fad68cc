"""Parquet files, one for each table, with the warehouse's types."""

from __future__ import annotations

from pathlib import Path

from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.tables import names, rows_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from gpuledger.warehouse.schema import quote


def export(data: DataDir, folder: Path, currency: Currency = DOLLARS) -> list[Path]:
    """Write `<folder>/<table>.parquet` for every table, its dollars in `currency`, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with reader(data, folder) as con:
        for table in names(con):
            path = folder / f"{table.partition('.')[2]}.parquet"
            part = path.with_suffix(".part")
            con.execute(
                f"COPY ({rows_of(con, table, currency)}) TO {quote(str(part))} (FORMAT parquet, COMPRESSION zstd)"
            )
            part.replace(path)
            written.append(path)
    return written
