"""One workbook with a sheet a table; numbers and dates are cells of their kind, and the header stays in sight."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font

from gpuledger.warehouse.outputs.cells import safe_text
from gpuledger.warehouse.outputs.tables import tables
from gpuledger.warehouse.paths import DataDir

#: A sheet holds no more (ECMA-376), header included.
MAX_ROWS = 1_048_575


def export(data: DataDir, folder: Path) -> list[Path]:
    """Write `<folder>/gpuledger.xlsx`; its path. ValueError where a table has more rows than a sheet can hold."""
    folder.mkdir(parents=True, exist_ok=True)
    book = Workbook(write_only=True)
    for table, columns, rows in tables(data):
        if len(rows) > MAX_ROWS:
            raise ValueError(f"{table} has {len(rows)} rows, and a sheet holds {MAX_ROWS}: export it as csv or parquet")
        sheet = book.create_sheet(table[:31])
        sheet.freeze_panes = "A2"
        header = []
        for column in columns:
            cell = WriteOnlyCell(sheet, value=column)
            cell.font = Font(bold=True)
            header.append(cell)
        sheet.append(header)
        for row in rows:
            sheet.append([_value(value) for value in row])
    path = folder / "gpuledger.xlsx"
    part = path.with_suffix(".part")
    book.save(part)
    part.replace(path)
    return [path]


def _value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        # A sheet knows no time zones; all times of the warehouse are UTC.
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, str):
        # A control character in a title would end the export: XML has no place for it.
        return safe_text(ILLEGAL_CHARACTERS_RE.sub("", value))
    return value
