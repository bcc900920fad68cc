"""One workbook: what to buy on the first sheet, then the meanings of columns, then a sheet for each table.

Equal warehouses give equal bytes, as nothing in the file depends on when it was written.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from gpuledger import local_files
from gpuledger.message import Message
from gpuledger.warehouse.outputs.answer import cell, flat, safe_text
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.sheet import Kind, Sheet, height, is_number, widest
from gpuledger.warehouse.outputs.tables import tables
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The most rows of a sheet below its header (ECMA-376).
MAX_ROWS = 1_048_575
#: Widths in letters: of a table's column at most, and of a link.
WIDEST, LINK_WIDTH = 40, 9

_FORMATS: dict[Kind, str] = {
    "money": "#,##0.00", "percent": "+0.0%;−0.0%;0.0%", "number": "#,##0.##", "count": "#,##0", "day": "yyyy-mm-dd",
}  # fmt: skip
_COLOURS = {"good": "D5EBD8", "wait": "FBE9C0", "bad": "EDEDED"}
_HEAD = PatternFill("solid", fgColor="1F3A5F")
#: The font is named, as each program would choose another one.
_FONT = "Calibri"
_WHITE, _BOLD = Font(_FONT, size=11, bold=True, color="FFFFFF"), Font(_FONT, size=11, bold=True)
_LINK = Font(_FONT, size=11, color="1155CC", underline="single")
#: Characters that XML does not allow (XML 1.0, 2.2). With a single one of them no program opens the workbook.
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Most letters of a cell (ECMA-376), and of an address behind a cell: Excel calls a file with a longer one broken.
_LONGEST_TEXT, _LONGEST_LINK = 32_767, 2_079
_EPOCH = (1980, 1, 1, 0, 0, 0)


def export(
    data: DataDir,
    folder: Path,
    lists: Sequence[Sheet] = (),
    gettext: Callable[[str], str] = str,
) -> list[Path]:
    """Write `<folder>/gpuledger.xlsx`, with `lists` as its first sheets and all in their currency, and return its path.

    Only the lists are printed. `gettext` puts the workbook's own texts into the language in use.

    Tables that grow every night are left out. Raises ValueError if a table has more rows than a
    sheet can hold.
    """
    currency = lists[0].currency if lists else DOLLARS
    book = Workbook()
    book.remove(book.active)
    for one in lists:
        _list(book, one, gettext)
    _definitions(book, data, lists, gettext, currency)
    for table, columns, rows in tables(data, currency):
        if len(rows) > MAX_ROWS:
            raise ValueError(Message(
                "{table} has {count} rows, and a sheet holds {max_rows}: export it as csv or parquet", table=table,
                count=len(rows), max_rows=MAX_ROWS,
            ))  # fmt: skip
        _plain(book.create_sheet(table[:31]), columns, rows, currency)
    return [local_files.write(folder / "gpuledger.xlsx", _timeless(book))]


def _list(book: Any, front: Sheet, gettext: Callable[[str], str]) -> None:
    sheet = book.create_sheet(front.title[:31])
    sheet["A1"], sheet["A2"] = safe_text(front.title), safe_text(front.subtitle)
    sheet["A1"].font = Font(_FONT, bold=True, size=16)
    sheet["A2"].font = Font(_FONT, italic=True, color="555555")
    shapes = {place: _FORMATS[column.kind] for place, column in enumerate(front.columns, 1) if column.kind in _FORMATS}
    for place, column in enumerate(front.columns, 1):
        head = sheet.cell(4, place, safe_text(column.heading))
        head.font, head.fill = _WHITE, _HEAD
        head.alignment = Alignment(
            wrap_text=True, vertical="center", horizontal="right" if is_number(column.kind) else "left",
            indent=0 if is_number(column.kind) else 1,
        )  # fmt: skip
        if column.kind == "money":
            # Won are not counted in hundredths, and a cell that is too narrow for its number shows "###".
            amounts = [(row[place - 1], _places(front, row)) for row in front.rows if row[place - 1] is not None]
            longest_amount = max((len(f"{amount:,.{places}f}") for amount, places in amounts), default=0)
            sheet.column_dimensions[get_column_letter(place)].width = max(longest_amount + 2, column.width)
            continue
        width = column.width or {"link": LINK_WIDTH, "day": 12}.get(column.kind)
        longest = max((len(word) for word in column.heading.split()), default=0)
        sheet.column_dimensions[get_column_letter(place)].width = width or min(
            max(widest(front, place - 1), longest + 3, 8) + 2, WIDEST
        )
    sheet.row_dimensions[4].height = 48
    for number, row in enumerate(front.rows, 5):
        for place, (column, value) in enumerate(zip(front.columns, row, strict=True), 1):
            target_cell = sheet.cell(number, place)
            # An indent separates text from a number that ends just before it.
            side, indent = (None, 0) if is_number(column.kind) else ("left", 1)
            target_cell.alignment = Alignment(
                vertical="top", horizontal=side, wrap_text=bool(column.width), indent=indent
            )
            if column.kind == "link":
                if (link := _NO_XML.sub("", str(value or ""))).startswith(("http://", "https://")):
                    target_cell.value, target_cell.font = gettext("open"), _LINK
                    target_cell.hyperlink = link if len(link) <= _LONGEST_LINK else None
                continue
            target_cell.value = _value(value)
            if column.kind == "money":
                target_cell.number_format = "#,##0.00" if _places(front, row) else "#,##0"
            elif place in shapes:
                target_cell.number_format = shapes[place]
            if place == 1:
                target_cell.font = _BOLD
                if value in front.colours:
                    target_cell.fill = PatternFill("solid", fgColor=_COLOURS[front.colours[value]])
            elif place == 2:
                target_cell.font = _BOLD
        # Most programs do not compute the height of wrapped text.
        sheet.row_dimensions[number].height = height(front, row) + 2
    # The first columns stay in view too: what is ordered, and for which question.
    sheet.freeze_panes = "D5"
    sheet.auto_filter.ref = f"A4:{get_column_letter(len(front.columns))}{max(4 + len(front.rows), 5)}"
    sheet.print_title_rows = "4:4"
    sheet.print_area = f"A1:{get_column_letter(front.printed)}{4 + len(front.rows)}"
    _printed(sheet, gettext("Page &P of &N"))


def _places(front: Sheet, row: Sequence[Any]) -> int:
    """The decimals of the amounts of a row."""
    own = next((cell for column, cell in zip(front.columns, row, strict=True) if column.name == "currency"), None)
    return 2 if Currency(own or front.currency.code, 1.0, None).has_hundredths else 0


def _printed(sheet: Any, page: str) -> None:
    """Print on landscape A4, all columns side by side, on as many pages as the rows need."""
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", sheet.PAPERSIZE_A4
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.oddFooter.center.text = page
    sheet.page_margins.left = sheet.page_margins.right = 0.2


def _definitions(
    book: Any, data: DataDir, lists: Sequence[Sheet], gettext: Callable[[str], str], currency: Currency
) -> None:
    rows = [(one.title, column.heading, column.kind, column.meaning) for one in lists for column in one.columns]
    _, columns = query(
        data,
        """SELECT table_name, column_name, data_type, comment FROM duckdb_columns()
           WHERE database_name = 'gpuledger' AND schema_name = 'mart' AND table_name <> 'model_fit'
           ORDER BY table_name, column_index""",
    )
    columns = [
        (table, currency.name(name), kind, currency.meaning(comment or "")) for table, name, kind, comment in columns
    ]
    sheet = book.create_sheet(gettext("Definitions"))
    _plain(sheet, [gettext("table"), gettext("column"), gettext("type"), gettext("meaning")], [*rows, *columns])
    sheet.column_dimensions["D"].width = 110


def _plain(sheet: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]], currency: Currency = DOLLARS) -> None:
    """A table: its header stays in view and has filters, numbers and dates are such, and columns are as wide as needed."""
    sheet.append(list(columns))
    for head in sheet[1]:
        head.font, head.fill = _WHITE, _HEAD
    for row in rows:
        sheet.append([_value(value) for value in row])
    for place, column in enumerate(columns):
        letter = get_column_letter(place + 1)
        longest = max((_letters(row[place]) for row in rows), default=0)
        sheet.column_dimensions[letter].width = min(max(longest, len(column) + 3) + 1, WIDEST)
        shape = _shape(column, next((row[place] for row in rows if row[place] is not None), None), currency)
        if shape:
            for (target_cell,) in sheet.iter_rows(min_row=2, min_col=place + 1, max_col=place + 1):
                target_cell.number_format = shape
    sheet.freeze_panes = "A2"
    # Nobody reads a table of thousands of rows on paper. Without a print area it would be hundreds of pages.
    nothing = f"{get_column_letter(len(columns) + 1)}1"
    sheet.print_area = f"{nothing}:{nothing}"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(rows) + 1}"


def _shape(column: str, value: object, currency: Currency) -> str:
    if isinstance(value, datetime):
        return "yyyy-mm-dd hh:mm"
    if isinstance(value, date):
        return "yyyy-mm-dd"
    if isinstance(value, Decimal | float) and currency.code.lower() in column.split("_"):
        if column.startswith("score_per"):
            return "0.0000"
        return "#,##0.00" if currency.has_hundredths else "#,##0"
    return ""


def _letters(value: object) -> int:
    if isinstance(value, datetime):
        return 16
    if isinstance(value, Decimal | float):
        return len(f"{value:,.4g}") + 3
    return len(str(value)) if value is not None else 0


def _value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        # A sheet has no time zones, and all times of the warehouse are UTC.
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, str):
        return safe_text(_NO_XML.sub("", value))[:_LONGEST_TEXT]
    if value is None or isinstance(value, bool | int | float | date):
        return value
    return _value(cell(flat(value)))


def _timeless(book: Any) -> bytes:
    """The workbook's bytes, with all times of writing replaced by fixed ones."""
    saved, timeless = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as before, zipfile.ZipFile(timeless, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2000-01-01T00:00:00Z", content)
            after.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return timeless.getvalue()
