"""A list by which people decide, with the meaning of each column, as CSV, as a sheet of a workbook, and as Parquet."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb

from gpuledger import local_files
from gpuledger.warehouse.outputs import csv_files
from gpuledger.warehouse.outputs.answer import cell
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.schema import quote

Kind = Literal["text", "long", "money", "percent", "number", "count", "day", "link"]
#: DuckDB's type of a column of this kind.
_TYPES: Mapping[Kind, str] = {
    "text": "VARCHAR", "long": "VARCHAR", "money": "DECIMAL(18, 2)", "percent": "DOUBLE", "number": "DOUBLE",
    "count": "BIGINT", "day": "DATE", "link": "VARCHAR",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name for programs, its heading for people, the kind of its values, their meaning, and how many letters
    wide it is on paper (0: it is not printed, and as wide as its values).
    """

    name: str
    heading: str
    kind: Kind
    meaning: str
    width: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A list with a title, and a subtitle that says what it lists.

    `printed` is the number of columns that go on paper. `colours` has the colour of each text of the first column.
    `currency` is that of its amounts, if they have no column `currency`, and of the tables that are exported with it.
    """

    name: str
    title: str
    subtitle: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    printed: int
    colours: Mapping[str, Literal["good", "wait", "bad"]]
    currency: Currency = DOLLARS


def write_csv(sheet: Sheet, folder: Path) -> Path:
    """Write `<folder>/<name>.csv`, with headings for people in the first line, and return its path."""
    rows = ([_day(value) for value in row] for row in sheet.rows)
    text = csv_files.to_csv([column.heading for column in sheet.columns], rows)
    return local_files.write(folder / f"{sheet.name}.csv", text.encode())


def write_parquet(sheet: Sheet, folder: Path) -> Path:
    """Write `<folder>/<name>.parquet`, and return its path. It has the names for programs, and the meanings as metadata."""
    path = folder / f"{sheet.name}.parquet"
    part = path.with_suffix(".part")
    columns = ", ".join(f'"{column.name}" {_TYPES[column.kind]}' for column in sheet.columns)
    about = {"title": sheet.title, "subtitle": sheet.subtitle} | {
        column.name: column.meaning for column in sheet.columns
    }
    metadata = ", ".join(f"{quote(name)}: {quote(text)}" for name, text in about.items())
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE list ({columns})")
        if sheet.rows:
            places = ", ".join("?" for _ in sheet.columns)
            con.executemany(
                f"INSERT INTO list VALUES ({places})", [[_day(value) for value in row] for row in sheet.rows]
            )
        con.execute(f"COPY list TO {quote(str(part))} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{metadata}}})")
    part.replace(path)
    return path


def _day(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def is_number(kind: Kind) -> bool:
    """Whether cells of this kind are aligned to the right."""
    return kind in ("money", "percent", "number", "count", "day")


def widest(sheet: Sheet, place: int) -> int:
    """Width of the widest text in a column of neither sentences nor links, in letters."""
    texts = [_text(row[place]) for row in sheet.rows]
    return max((len(_widened(text)) for text in texts), default=0)


def height(sheet: Sheet, row: Sequence[Any]) -> int:
    """What the longest text of a row takes in the columns that are printed, of 11 points [pt]. Korean lines are higher."""
    texts = [
        (text := _text(value), textwrap.wrap(_widened(text), column.width - 1))
        for column, value in zip(sheet.columns, row, strict=True)
        if column.width and column.kind in ("text", "long")
    ]
    return max((max(len(lines), 1) * (15 if text == _widened(text) else 17) for text, lines in texts), default=15)


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else cell(value)


def _widened(text: str) -> str:
    """A text of as many letters as it is wide: a Korean, Chinese or Japanese letter is as wide as two others."""
    return "".join(letter * 2 if ord(letter) > 0x1100 else letter for letter in text)
