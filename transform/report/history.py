"""Three years of prices in little space: what changed, and by how much, instead of every day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple


class Day(NamedTuple):
    """Lowest, middle and highest price of a card on one day [USD]; `suspect` where the low is not believed."""

    day: date
    low: Decimal
    median: Decimal
    high: Decimal
    suspect: bool


def packed(days: Iterable[Day]) -> dict[str, Any]:
    """The days, in order and at least one, as steps: `days` since the step before, `low` in cents, `median` and `high` in
    whole dollars, each as the difference to the last known one. None ends a stretch: from that day on no price is known.
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
    for one in days:
        if before is not None and one.day != before.day + timedelta(days=1):
            step(before.day + timedelta(days=1), None)
            is_open = False
        values = (round(one.low * 100), round(one.median), round(one.high))
        if not is_open or values != known:
            step(one.day, values)
        if one.suspect:
            suspects.append(one.day.isoformat())
        before, is_open = one, True
    assert before is not None, "a card without a day has no history"
    assert first is not None
    step(before.day + timedelta(days=1), None)
    return {"start": first.isoformat(), **steps, "suspect": suspects}
