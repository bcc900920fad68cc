"""Drift: a source reads otherwise than on its own nights before, so its pages have probably changed.

Nothing is held for it. It says what a person should look at before prices are wrong: the page of tonight beside the nearest
earlier one that still read well.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gpuledger.transform.gate.good_nights import Released
from gpuledger.warehouse.load import profile
from gpuledger.warehouse.load.profile import Figure, Night

#: A share moves by less than this from night to night for reasons of the shop's own. Of 1,123 real nights of a market 23
#: begin a drift: on 22 prices, stock or sellers were missing, on one a sixth of the listings was new.
MIN_MOVE = 0.15
#: Standard errors of a share of so few rows that are chance.
ERRORS = 4.0
#: What few nights know too little of what is usual: added to the move, divided by their number.
FEW_NIGHTS = 0.3
#: A median length moves by less than this factor.
MIN_FACTOR = 1.5
#: Below so many rows or looks a figure says nothing.
MIN_ROWS = 3


@dataclass(frozen=True, slots=True)
class Drift:
    """A trait whose figure left the range `low` to `high` of earlier nights; `good` is the newest of them, with its page."""

    now: Figure
    low: float
    high: float
    good: Night

    @property
    def seen(self) -> str:
        """What is seen, in words."""
        trait, n = self.now.trait, self.now.counted
        if trait.endswith(profile.LENGTH):
            field = trait.removesuffix(profile.LENGTH)
            return f"{field} has {self.now.figure:.0f} characters (the median), {_range(self.low, self.high)} are usual"
        count, usual = round(self.now.figure * n), _range(self.low * 100, self.high * 100, "%")
        if trait.startswith(profile.SELECTOR):
            css = trait.removeprefix(profile.SELECTOR)
            return f"the selector {css!r} matched {count} of {n} times, {usual} are usual"
        if trait.startswith(profile.ISSUE):
            return f"{trait.removeprefix(profile.ISSUE)}: {count} issues for {n} rows, {usual} are usual"
        what = {profile.NEW_KEYS: "are listings that were never seen", profile.IN_STOCK: "are in stock"}
        return f"{count} of {n} rows {what.get(trait, f'have {trait}')}, {usual} are usual"


def find(figures: Sequence[Figure], past: Mapping[str, Sequence[Night]]) -> list[Drift]:
    """Which figures of a night left what was usual. `past` are the nights that say what is, newest first, by trait."""
    found = []
    longest = max(past.values(), key=len, default=())
    for now in figures:
        nights = past.get(now.trait, ())
        before = [night.figure.figure for night in nights[: profile.NIGHTS]]
        if now.trait.startswith(profile.ISSUE) or (now.trait == profile.NEW_KEYS and not before):
            # A night without such an issue has no figure of it, nor has the first night one of what it did not know.
            nights = nights or longest
            before += [0.0] * (len(longest[: profile.NIGHTS]) - len(before))
        if not before or now.counted < MIN_ROWS:
            continue
        low, high = min(before), max(before)
        if _has_left(now, low, high, len(before)):
            found.append(Drift(now, low, high, nights[0]))
    return sorted(found, key=lambda one: one.now.trait)


def _has_left(now: Figure, low: float, high: float, nights: int) -> bool:
    if now.trait.endswith(profile.LENGTH):
        factor = MIN_FACTOR + FEW_NIGHTS / nights
        return now.figure * factor < low or now.figure > high * factor
    is_worse_above = now.trait.startswith(profile.ISSUE) or now.trait == profile.NEW_KEYS
    usual, n = (high if is_worse_above else low), now.counted
    # As if one row more had it and one had not: a share of 1 in a few rows has a spread too.
    share = (usual * n + 1) / (n + 2)
    move = max(MIN_MOVE + FEW_NIGHTS / nights, ERRORS * math.sqrt(share * (1 - share) / n))
    return now.figure > usual + move if is_worse_above else now.figure < usual - move


def usual(nights: Collection[Night], source: str, before: datetime, released: Released) -> dict[str, list[Night]]:
    """The nights before a time that say what is usual, by trait, newest first: those that did not drift. Where a person
    accepted what the source showed on a night, that night and those since.
    """
    accepted = max(
        (one.last_night for one in released.sources if one.source == source and one.last_night < before), default=None
    )
    found: dict[str, list[Night]] = {}
    for night in nights:
        is_known = not night.is_drift or night.seen_at == accepted
        if night.seen_at < before and is_known and (accepted is None or night.seen_at >= accepted):
            found.setdefault(night.figure.trait, []).append(night)
    return found


def _range(low: float, high: float, unit: str = "") -> str:
    least, most = f"{low:.0f}{unit}", f"{high:.0f}{unit}"
    return least if least == most else f"{least} to {most}"
