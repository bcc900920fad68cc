"""A list for people to decide by, with what each column holds, as CSV, as a sheet of a workbook, and as Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb

from gpuledger.warehouse.outputs.cells import cell, safe_text
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
    """One column: its name for programs, its heading for people, what kind of value it holds, and what that means."""

    name: str
    heading: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A list with a title and a line on what it is of.

    `printed` is how many of its columns go on paper, `colours` which words of the first one look how, `currency` what its
    money is in, and that of the tables that leave with it.
    """

    name: str
    title: str
    subtitle: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    printed: int
    colours: Mapping[str, Literal["good", "wait", "bad"]]
    currency: Currency = DOLLARS

    def dicts(self) -> list[dict[str, Any]]:
        """The rows by the names for programs."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def to_csv(sheet: Sheet, *, excel: bool = False) -> bytes:
    """The list as CSV, headings for people in the first line; `excel` puts the mark before it that Excel knows UTF-8 by."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_text(column.heading) for column in sheet.columns])
    writer.writerows([cell(_day(value)) for value in row] for row in sheet.rows)
    return text.getvalue().encode("utf-8-sig" if excel else "utf-8")


def write_csv(sheet: Sheet, folder: Path, *, excel: bool = False) -> Path:
    """Write `<folder>/<name>.csv`; its path."""
    return _swap_in(folder / f"{sheet.name}.csv", to_csv(sheet, excel=excel))


def write_parquet(sheet: Sheet, folder: Path) -> Path:
    """Write `<folder>/<name>.parquet`, with the names for programs and what each column means in its metadata; its path."""
    path = folder / f"{sheet.name}.parquet"
    part = path.with_suffix(".part")
    columns = ", ".join(f'"{column.name}" {_TYPES[column.kind]}' for column in sheet.columns)
    about = {"title": sheet.title, "subtitle": sheet.subtitle} | {one.name: one.meaning for one in sheet.columns}
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


def _swap_in(path: Path, content: bytes) -> Path:
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)
    return path


def is_number(kind: Kind) -> bool:
    """Whether cells of this kind are aligned to the right."""
    return kind in ("money", "percent", "number", "count")


def widest(sheet: Sheet, place: int) -> int:
    """Letters of the longest text in a column that is neither sentence nor link."""
    texts = [_text(row[place]) for row in sheet.rows]
    return max((_cells(text) for text in texts), default=0)


def lines(sheet: Sheet, row: Sequence[Any], width: int) -> int:
    """Lines that the longest sentence of a row takes in columns that are `width` letters wide."""
    sentences = [_text(row[i]) for i, column in enumerate(sheet.columns) if column.kind == "long"]
    return max((-(-_cells(text) // width) for text in sentences), default=1) or 1


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else cell(value)


def _cells(text: str) -> int:
    """Widths of letters: one of Korean, Chinese or Japanese is as wide as two."""
    return sum(2 if ord(letter) > 0x1100 else 1 for letter in text)
