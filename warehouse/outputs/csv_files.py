"""Writes CSV files for procurement, one for each table, in UTF-8."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from gpuledger.warehouse.outputs.answer import cell, flat
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.tables import MARKED, names, rows_of
from gpuledger.warehouse.outputs.unchanged import Unchanged
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from gpuledger.warehouse.schema import hash_text


def export(data: DataDir, folder: Path, *, currency: Currency = DOLLARS) -> list[Path]:
    """Write `<folder>/<table>.csv` for every table, with dollars converted to `currency`; returns the paths.

    Each file is swapped in when it is complete, so nobody reads half a file.
    """
    _make(folder)
    with reader(data) as con:
        return [_write(con, _file_of(folder, table), rows_of(con, table, currency)) for table in names(con)]


def export_recent(data: DataDir, contents: Mapping[str, str]) -> list[Path]:
    """Write the files of a run to the folder of exports; returns their paths. Growing tables have their newest days only.

    `contents` has the fingerprints of the tables whose changes are all tracked: if that of a table is unchanged, its file
    stays, unless the marks of its prices are others. Raises OSError.
    """
    _make(data.exports)
    written = []
    with reader(data) as con:
        marks = repr(
            con.execute("SELECT source, core.price_mark(source) FROM ops.source_state ORDER BY ALL").fetchall()
        )
        marked = {name: f"{contents[name]} {hash_text(marks)}" for name in MARKED if name in contents}
        unchanged = Unchanged(data.exported, {**contents, **marked})
        for table in names(con):
            path = _file_of(data.exports, table)
            if not unchanged.keeps(path, table):
                _write(con, path, rows_of(con, table, recent=True))
                unchanged.wrote(path, table)
            written.append(path)
    unchanged.remember()
    return written


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.part"):
        left.unlink()  # from a run that was killed


def _file_of(folder: Path, table: str) -> Path:
    return folder / f"{table.partition('.')[2]}.csv"


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
