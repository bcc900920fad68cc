"""A dropped CSV or XLSX file as rows of cells.

All sizes are bounded, since a spreadsheet from outside may be a bomb, or simply far too large.
"""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import IO, NamedTuple, TypeAlias

from gpuledger.errors import LayoutChanged, TooLarge
from gpuledger.extract.markup import charset_evidence
from gpuledger.extract.sources.quotes.columns import fields

Cell: TypeAlias = str | int | Decimal | bool | date | datetime | time | None

#: The most rows of a file. A vendor's price list has hundreds of rows. A longer file is not a quote and would only cost
#: memory.
MAX_ROWS = 50_000
MAX_COLUMNS = 200
#: The most bytes of an unpacked XLSX. A sheet of MAX_ROWS rows and ten columns takes about 20 MB.
MAX_UNPACKED = 64_000_000
#: The most bytes between two tags of its XML. Excel's own bound for a cell is 32,767 letters.
MAX_TEXT = 200_000
#: How deep its XML may be nested. A cell is six levels deep, a drawing some twenty.
MAX_DEPTH = 200
_SMALLER = "send the rows that are quotes, in a file of their own"


class Table(NamedTuple):
    """One sheet. `rows` holds each row's number, counted from 1, and its cells. Empty rows are left out."""

    name: str
    rows: list[tuple[int, list[Cell]]]


@lru_cache(maxsize=1)  # whoever checks a file, gives back its rows or looks for a cell asks again for the same one
def tables(content: bytes, name: str) -> list[Table]:
    """Return the sheets of an XLSX, or the one table of a CSV. Errors name the file by `name`.

    Raises LayoutChanged if the file is neither, TooLarge if it exceeds a bound.
    """
    if content[:4] == b"PK\x03\x04":
        return _xlsx(content, name)
    if content[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise LayoutChanged(
            name, "an old .xls or a password-protected workbook", "save it as .xlsx or CSV without a password"
        )
    text = _decode(content, name)
    return [Table("", _bounded(enumerate(_csv_rows(text, name), start=1), name))]


def _decode(content: bytes, name: str) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise LayoutChanged(name, f"UTF-16 text that breaks off: {error}", "save it as CSV in UTF-8") from error
    try:
        text = content.decode("utf-8-sig")
        if "\0" not in text:
            return text
    except UnicodeDecodeError:
        pass  # some other charset
    # Excel saves CP949 in Korea, GB18030 in China and CP1252 in the West. Bytes of one charset are often valid in another,
    # so the meaning of the text decides first. Validity decides only if the meaning does not.
    sample = charset_evidence.sample(content)
    # A few Chinese words may also be Korean syllables. The currency shows the country.
    is_chinese = _YUAN.search(content) is not None and _WON.search(content) is None
    order = ("gb18030", "cp949") if is_chinese else ("cp949", "gb18030")
    likely = [name for name in order if charset_evidence.makes_sense(sample, name)]
    for encoding in (*likely, "cp949", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise LayoutChanged(
        name, "neither a CSV in UTF-8, UTF-16, CP949, GB18030 or CP1252 nor an XLSX", "save it as UTF-8"
    )


_YUAN = re.compile(rb"\b(?:CNY|RMB)\b|" + "元".encode("gb18030"))
_WON = re.compile(rb"\bKRW\b|" + "원".encode("cp949"))


def _csv_rows(text: str, name: str) -> Iterator[list[Cell]]:
    """Yield the rows, split at the separator that gives the first lines most known column names, else most columns."""
    head = text[:20_000].splitlines()[:30]

    def header(separator: str) -> tuple[int, int]:
        try:
            rows = list(csv.reader(head, delimiter=separator))
        except csv.Error:
            return 0, 0
        return max((len(fields(row)) for row in rows), default=0), max(map(len, rows), default=0)

    separator = max((",", ";", "\t", "|"), key=header)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise LayoutChanged(name, f"line {reader.line_num} is no CSV: {error}", "save it as CSV again") from error


def _xlsx(content: bytes, name: str) -> list[Table]:
    import openpyxl  # imported here, since it takes 0.2 s and most commands read no workbook

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > MAX_UNPACKED:
                raise TooLarge(name, f"the workbook unpacks to {unpacked} bytes, the bound is {MAX_UNPACKED}", _SMALLER)
            for entry in archive.infolist():
                with archive.open(entry) as part:
                    _refuse_bomb(part, f"{name}: {entry.filename}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of extensions that it leaves out; no cell depends on them
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            try:
                return [_sheet(sheet, name) for sheet in book.worksheets]
            finally:
                book.close()
    except (TooLarge, LayoutChanged):
        raise
    except Exception as error:
        # Any other error, such as a full disk: a person may mend the cause while the file stays the same.
        seen = f"the workbook cannot be read: {error!r:.200}"
        raise LayoutChanged(name, seen, "save it as .xlsx or CSV again", is_by_content=False) from error


def _refuse_bomb(part: IO[bytes], name: str) -> None:
    """Raise TooLarge for a text or a nesting that no spreadsheet program writes, before a parser builds a tree of it.

    Counts on the bytes, a piece at a time. The tags that are open at the end of a piece are the depth of the nesting there.
    """
    depth, text = 0, 0
    while piece := part.read(_PIECE):
        first, *others = piece.split(b"<")
        longest = max(text + len(first), *map(len, others[:-1]), 0)
        text = len(others[-1]) if others else text + len(first)
        if max(longest, text) > MAX_TEXT:
            raise TooLarge(name, f"a cell of more than {MAX_TEXT} bytes", _SMALLER)
        depth += len(others) - 2 * piece.count(b"</") - piece.count(b"/>") - piece.count(b"<?") - piece.count(b"<!")
        if depth > MAX_DEPTH:
            raise TooLarge(name, f"XML that is nested more than {MAX_DEPTH} deep", "save it as .xlsx or CSV again")


_PIECE = 1 << 16


def _sheet(sheet: object, name: str) -> Table:
    # Without max_row openpyxl reads as many rows as the file claims to have, which may be a million empty ones.
    values = sheet.iter_rows(values_only=True, max_row=4 * MAX_ROWS, max_col=MAX_COLUMNS)  # type: ignore[attr-defined]
    rows = _bounded(enumerate(([_plain(value) for value in row] for row in values), start=1), name)
    return Table(str(sheet.title), rows)  # type: ignore[attr-defined]


def _plain(value: object) -> Cell:
    if isinstance(value, float) and math.isfinite(value):
        # repr gives the shortest decimal for this float, which is what the person typed, and not 1599.99000000000000909.
        return Decimal(repr(value))
    if value is None or isinstance(value, bool | int | date | datetime | time):
        return value
    return str(value).strip()


def _bounded(rows: Iterator[tuple[int, list[Cell]]], name: str) -> list[tuple[int, list[Cell]]]:
    filled: list[tuple[int, list[Cell]]] = []
    for number, row in rows:
        if any(cell not in (None, "") for cell in row):
            filled.append((number, row[:MAX_COLUMNS]))
        if len(filled) > MAX_ROWS:
            raise TooLarge(name, f"more than {MAX_ROWS} rows", _SMALLER)
    return filled
