"""A day on the command line: `2026-11-20`. What is written otherwise is refused with the day that was probably meant."""

from __future__ import annotations

import calendar
import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import click

from gpuledger.flows.setup import naming
from gpuledger.flows.setup.lang import gettext

_YEAR_FIRST = re.compile(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})\.?|(\d{4})(\d{2})(\d{2})")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})")
#: `7d`, `2 weeks ago`; and a day with a time behind it.
_AGO = re.compile(r"(\d{1,3})\s?(d|w|m|y)(?:ay|eek|onth|ear)?s?(?: ago)?", re.IGNORECASE)
_WITH_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ]\d.*")
_WORDS = {"today": 0, "now": 0, "yesterday": 1, "오늘": 0, "어제": 1}


def day(text: str) -> datetime:
    """Midnight of the day `YYYY-MM-DD`. A usage error for anything else, with the day that was probably meant.

    Only the one way to write it is taken: 3/4/2026 is March here and April there.
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    message = gettext("{text!r} is not a day such as 2026-11-20").format(text=text)
    meant = [f"{one}" for one in _meant(text.strip())]
    raise click.BadParameter(f"{message}; {naming.did_you_mean(meant)}" if meant else message)


def _meant(text: str) -> list[date]:
    """The days that `text` may say: two where day and month may stand for each other."""
    if text.lower() in _WORDS:
        return [datetime.now(UTC).date() - timedelta(days=_WORDS[text.lower()])]
    if found := _AGO.fullmatch(text):
        number, unit = int(found[1]), {"d": 1, "w": 7, "m": 30, "y": 365}[found[2].lower()]
        return [datetime.now(UTC).date() - timedelta(days=number * unit)]
    if found := _WITH_TIME.fullmatch(text):
        text = found[1]
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = (int(one) for one in found.groups() if one)
        return _days((year, month, day))
    if found := _YEAR_LAST.fullmatch(text):
        first, second, year = map(int, found.groups())
        return _days((year, second, first), (year, first, second))
    return []


def _days(*written: tuple[int, int, int]) -> list[date]:
    """Those that there are; for a day after a month's last one, its last one."""
    days = []
    for year, month, day in written:
        if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31:
            days.append(date(year, month, min(day, calendar.monthrange(year, month)[1])))
    return list(dict.fromkeys(days))
