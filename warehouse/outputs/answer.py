"""An answer: rows with declared columns. The terminal, CSV, JSON, agents and workbooks are all made from the declaration."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal

#: How people see the values of a column.
#: text: as it is; a text longer than a name is broken between words. prose: always broken between words.
#: name: shortened in its middle and never broken. card: the same, and it can do without its maker.
#: words: texts of the program itself, which are translated. reasons, title: the same for prose and for a name.
#: state: one such word, in a colour.
#: number: as it is. ratio: with two decimals. per_thousand: a figure per dollar, shown per 1000. share: in percent.
#: change: in percent with its sign. day: a time without its hours.
ShownAs = Literal[
    "text", "prose", "name", "card", "words", "reasons", "title", "state", "number", "ratio", "per_thousand", "share",
    "change", "day",
]  # fmt: skip

#: The weight of a column that is no more important than others: such columns are kept in their own order.
UNIMPORTANT = 1000


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an answer, declared once for every way to show it.

    `name` is for programs and has its unit at its end. `heading` is for people, in English, with the unit in it; it is
    translated where it is shown, and USD in it becomes the currency in use. Without a heading only programs get the column.
    `weight` says how important it is on a narrow screen: 1 is kept first. `least` is the width, in cells of the terminal,
    below which it is left out; 0 for that of its kind. `value` takes the value out of a row; without it the value is what
    the row has under `name`. `seen` is what people see in the place of the value, also out of the row; a message is said in
    their language. `unit_in` names the column with the unit of each row: if all rows have the same, the heading says it.
    """

    name: str
    heading: str | None = None
    shown_as: ShownAs = "text"
    weight: int = UNIMPORTANT
    least: int = 0
    value: Callable[[Any], Any] | None = None
    seen: Callable[[Any], Any] | None = None
    unit_in: str = ""

    def of(self, row: Any) -> Any:
        """The value of this column in `row`, for programs."""
        if self.value is not None:
            return self.value(row)
        return row[self.name] if isinstance(row, Mapping) else getattr(row, self.name)

    def seen_of(self, row: Any) -> Any:
        """What people see of `row` in this column."""
        return self.of(row) if self.seen is None else self.seen(row)


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of one type, and the columns that are read off them in the order in which programs get them.

    People see the columns that have a heading: those of `order` (names) first, and then the others. `title` is in the
    language in use.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Any]
    title: str = ""
    order: tuple[str, ...] = ()

    @classmethod
    def of_query(cls, names: Sequence[str], rows: Iterable[Sequence[Any]], shown: Sequence[Column] = ()) -> Answer:
        """The answer of a query. People see those of `shown` that the query gives, in this order."""
        by_name = {column.name: column for column in shown}
        columns = tuple(by_name.get(name, Column(name)) for name in names)
        return cls(columns, [dict(zip(names, row, strict=True)) for row in rows], "", tuple(by_name))

    @classmethod
    def of_rows(cls, columns: Sequence[Column], rows: Sequence[Sequence[Any]], title: str = "") -> Answer:
        """The answer whose rows have a value for each column, in their order. Two columns may have one name."""
        placed = tuple(replace(column, value=itemgetter(place)) for place, column in enumerate(columns))
        return cls(placed, rows, title)

    @property
    def names(self) -> list[str]:
        """The names of the columns, for programs."""
        return [column.name for column in self.columns]

    def values(self) -> list[tuple[Any, ...]]:
        """The rows for programs: a value for each column."""
        return [tuple(column.of(row) for column in self.columns) for row in self.rows]

    def seen_columns(self) -> list[Column]:
        """The columns that people see, in their order."""
        places = {name: place for place, name in enumerate(self.order)}
        seen = [column for column in self.columns if column.heading is not None]
        return sorted(seen, key=lambda column: places.get(column.name, len(places)))

    def under(self, title: str, **headings: str) -> Answer:
        """The same answer under `title`, with another heading of each column that `headings` names."""
        columns = tuple(
            replace(column, heading=headings[column.name]) if column.name in headings else column
            for column in self.columns
        )
        return replace(self, title=title, columns=columns)

    def with_first(self, *names: str) -> Answer:
        """The same answer, of which a narrow screen keeps the columns `names` first, in this order."""
        weights = {name: place - len(names) for place, name in enumerate(names)}
        columns = (replace(one, weight=weights.get(one.name, one.weight)) for one in self.columns)
        return replace(self, columns=tuple(columns))


#: A spreadsheet reads a cell that begins with one of these as a formula (OWASP, "CSV Injection"). It strips a leading tab or
#: carriage return first, so these are among them.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@lru_cache(maxsize=1 << 16, typed=True)
def cell(value: Hashable) -> str:
    """One value as text; the empty string for None. It is cached, as most values of a table come again and again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""  # a word such as `nan` would make a program read the whole column as text
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value:
            return "0"  # and never -0, which is equal to it, so that whichever came first would be kept for both
        # Without an exponent, which some programs read as text, and without trailing zeros.
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        if not value.tzinfo:
            return value.isoformat()
        with suppress(OverflowError):  # the first and the last day of the calendar, in another zone
            value = value.astimezone(UTC)
        # Not strftime, which writes the year 1 as 1.
        return f"{value.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
    if isinstance(value, date):
        return value.isoformat()
    # One kind of line end, as Python's CSV writer does not quote a lone carriage return, which breaks the row for a reader.
    return safe_text(str(value).replace("\r\n", "\n").replace("\r", "\n"))


def plain(value: object) -> object:
    """One value for JSON: numbers as numbers, times as ISO 8601, bytes in hexadecimal."""
    if isinstance(value, Decimal):
        return float(value) if value % 1 else int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no such number
    if isinstance(value, date):
        return cell(value)
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def flat(value: object, json_text: Callable[[object], str] = _json_text) -> Hashable:
    """One value for a cell, from any type that a table may have: nested values as JSON, bytes in hexadecimal."""
    if value is None or isinstance(value, str | int | float | Decimal | date):
        # First, as nearly all values are such, and a check for Mapping takes longer than writing one.
        return value
    if isinstance(value, Mapping | list | tuple):
        return json_text(plain(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return str(plain(value))
    assert isinstance(value, Hashable)
    return value


def safe_text(text: str) -> str:
    """`text`, with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
