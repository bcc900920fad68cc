"""A day on the command line: `2026-11-20`. Other ways to write it are refused, and the error names the probable day."""

from __future__ import annotations

import calendar
import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import click

from gpuledger.flows.words import naming
from gpuledger.flows.words.lang import gettext

_YEAR_FIRST = re.compile(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})\.?|(\d{4})(\d{2})(\d{2})")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})")
#: `7d`, `2 weeks ago`. `_WITH_TIME` is a day with a time behind it.
_AGO = re.compile(r"(\d{1,3})\s?(d|w|m|y)(?:ay|eek|onth|ear)?s?(?: ago)?", re.IGNORECASE)
_WITH_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ]\d.*")
_WORDS = {"today": 0, "now": 0, "yesterday": 1, "오늘": 0, "어제": 1}


def day(text: str) -> datetime:
    """Midnight of the day `YYYY-MM-DD`. A usage error for any other text, which names the day that was probably meant.

    No other way to write a day is accepted, because 3/4/2026 is in March in some countries and in April in others.
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    message = gettext("{text!r} is not a day such as 2026-11-20").format(text=text)
    meant = [f"{meant_day}" for meant_day in _meant(text.strip())]
    raise click.BadParameter(f"{message}; {naming.did_you_mean(meant)}" if meant else message)


def _meant(text: str) -> list[date]:
    """The days that `text` may mean. There are two if either of two numbers may be the month."""
    if text.lower() in _WORDS:
        return [datetime.now(UTC).date() - timedelta(days=_WORDS[text.lower()])]
    if match := _AGO.fullmatch(text):
        number, unit = int(match[1]), {"d": 1, "w": 7, "m": 30, "y": 365}[match[2].lower()]
        return [datetime.now(UTC).date() - timedelta(days=number * unit)]
    if match := _WITH_TIME.fullmatch(text):
        text = match[1]
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = (int(digits) for digits in match.groups() if digits)
        return _days((year, month, day))
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = map(int, match.groups())
        return _days((year, second, first), (year, first, second))
    return []


def _days(*candidates: tuple[int, int, int]) -> list[date]:
    """The candidates (year, month, day) that exist. A day after the last of a month becomes the last of that month."""
    days = []
    for year, month, day in candidates:
        if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31:
            days.append(date(year, month, min(day, calendar.monthrange(year, month)[1])))
    return list(dict.fromkeys(days))
