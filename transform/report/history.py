"""Stores three years of prices in little space: only the changes and their size, instead of every day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple


class Day(NamedTuple):
    """Lowest, median and highest price of a card on one day [USD]. `suspect` is true if the lowest price is not believed."""

    day: date
    low: Decimal
    median: Decimal
    high: Decimal
    suspect: bool


def packed(days: Iterable[Day]) -> dict[str, Any]:
    """The days as steps. There must be at least one day, and the days must be in order.

    A step has the `days` since the step before, and the differences to the last known prices: `low` in cents, `median` and
    `high` in whole dollars. None instead of the differences means that from that day on no price is known.
    """
    steps: dict[str, list[int | None]] = {"days": [], "low": [], "median": [], "high": []}
    suspects: list[str] = []
    first: date | None = None
    at: date | None = None
    before: Day | None = None
    known = (0, 0, 0)

    def step(day: date, values: tuple[int, int, int] | None) -> None:
        nonlocal at, known, first
        first = first or day
        steps["days"].append((day - (at or first)).days)
        at = day
        for n, name in enumerate(("low", "median", "high")):
            steps[name].append(None if values is None else values[n] - known[n])
        known = values or known

    is_open = False
    for current in days:
        if before is not None and current.day != before.day + timedelta(days=1):
            step(before.day + timedelta(days=1), None)
            is_open = False
        values = (round(current.low * 100), round(current.median), round(current.high))
        if not is_open or values != known:
            step(current.day, values)
        if current.suspect:
            suspects.append(current.day.isoformat())
        before, is_open = current, True
    assert before is not None, "a card without a day has no history"
    assert first is not None
    step(before.day + timedelta(days=1), None)
    return {"start": first.isoformat(), **steps, "suspect": suspects}
