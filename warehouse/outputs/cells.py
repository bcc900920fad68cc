"""How values are written for people: plain numbers, ISO dates, and no text that a spreadsheet would run as a formula."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache

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


def field_sql(column: str, kind: str) -> str | None:
    """The SQL that writes `column`, of DuckDB's type `kind`, as Python's CSV writer would write the result of `cell`.

    Three years of changes are three million values, and SQL writes them in a third of the time. None for a type that no
    table of ours has, and for DOUBLE, as DuckDB 2.0.0 writes 2 ** 81 as 4.8e+24.
    """
    text = f"{column}::VARCHAR"
    if kind == "VARCHAR":
        written = _text_sql(column)
    elif kind == "TIMESTAMP WITH TIME ZONE":
        written = f"strftime({column}, '%Y-%m-%dT%H:%M:%SZ')"
    elif kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        written = f"rtrim(rtrim({text}, '0'), '.')"
    elif kind.startswith("DECIMAL") or kind in ("BOOLEAN", "DATE", "INTEGER", "BIGINT", "HUGEINT", '"NULL"'):
        written = text
    else:
        return None
    return f"coalesce({written}, '')"


def _text_sql(column: str) -> str:
    runs = f"regexp_matches({column}, '^[{''.join(FORMULA_STARTS)}]')".replace("-", r"\-")
    breaks = f"""regexp_matches({column}, '[,"\r\n]')"""
    unix = f"replace(replace({column}, '\r\n', '\n'), '\r', '\n')"
    safe = f"if({runs}, '''', '') || {unix}"
    # Most texts need neither quotes nor an apostrophe, and stay as they are.
    return f"""CASE WHEN {breaks} THEN '"' || replace({safe}, '"', '""') || '"' WHEN {runs} THEN {safe} ELSE {column} END"""
