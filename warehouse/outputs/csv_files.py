"""CSV files for procurement: one a table, UTF-8."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from gpuledger.warehouse.outputs.cells import cell, safe_text
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.tables import tables
from gpuledger.warehouse.paths import DataDir


def export(data: DataDir, folder: Path, *, recent: bool = False, currency: Currency = DOLLARS) -> list[Path]:
    """Write `<folder>/<table>.csv` for every table; the paths. Each is swapped in whole: nobody reads half of one.

    Of the tables that grow by the night, `recent` writes the newest days only. Dollars are in `currency`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.part"):
        left.unlink()  # of a run that was killed
    written = []
    for table, columns, rows in tables(data, recent=recent, currency=currency):
        path = folder / f"{table}.csv"
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(to_csv(columns, rows), encoding="utf-8", newline="")
        part.replace(path)
        written.append(path)
    return written


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Hashable]]) -> str:
    """A header and rows as CSV text, lines ending in \\n."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_text(column) for column in columns])
    writer.writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()
