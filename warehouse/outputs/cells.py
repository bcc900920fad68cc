"""How a value is written where people read it: plain numbers, ISO dates, and no text that a spreadsheet would run."""

from __future__ import annotations

import math
from collections.abc import Hashable
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache

#: A spreadsheet takes a cell that begins with one of these for a formula (OWASP, "CSV Injection"); so does one that begins
#: with a tab or a carriage return, which it strips first.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@lru_cache(maxsize=1 << 16, typed=True)
def cell(value: Hashable) -> str:
    """One value as text; the empty string where there is none. Most values of a table come again and again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""  # no number at all, and a word in a column of numbers makes text of the column
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        # Without an exponent, which some readers take for text, and without zeros that say nothing.
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        if not value.tzinfo:
            return value.isoformat()
        with suppress(OverflowError):  # the first and last day that there are, in another zone
            value = value.astimezone(UTC)
        # Not strftime: it writes the year 1 as 1.
        return f"{value.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
    if isinstance(value, date):
        return value.isoformat()
    # One kind of line end: Python's CSV writer leaves a lone carriage return unquoted, which breaks the row for a reader.
    return safe_text(str(value).replace("\r\n", "\n").replace("\r", "\n"))


def safe_text(text: str) -> str:
    """`text`, with an apostrophe before it where a spreadsheet would run it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
