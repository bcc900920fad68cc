"""Writes CSV files for procurement, one for each table, in UTF-8."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

import duckdb

from gpuledger.warehouse.outputs.answer import cell, flat
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.tables import names, rows_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader


def export(data: DataDir, folder: Path, *, currency: Currency = DOLLARS, recent: bool = False) -> list[Path]:
    """Write `<folder>/<table>.csv` for every table, with dollars converted to `currency`; returns the paths.

    Each file is swapped in when it is complete, so nobody reads half a file. With `recent`, tables that grow every night
    have their newest days only. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.part"):
        left.unlink()  # from a run that was killed
    with reader(data) as con:
        return [
            _write(con, folder / f"{table.partition('.')[2]}.csv", rows_of(con, table, currency, recent=recent))
            for table in names(con)
        ]


def _write(con: duckdb.DuckDBPyConnection, path: Path, rows: str) -> Path:
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines(con, rows))
    part.replace(path)
    return path


def lines(con: duckdb.DuckDBPyConnection, rows: str) -> Iterator[str]:
    """The text of `to_csv` for the rows of a statement, in pieces.

    We write the file and not DuckDB, because its error about a full disk would look like one about a damaged warehouse.
    """
    result = con.execute(rows)
    yield _text([[name for name, *_ in result.description]])
    while some := result.fetchmany(10_000):
        yield _text([flat(value) for value in row] for row in some)


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Hashable]]) -> str:
    """A header and rows as CSV text, lines ending in \\n."""
    return _text([columns, *rows])


def _text(rows: Iterable[Sequence[Hashable]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()
