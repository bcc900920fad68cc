"""Finds drift: figures of a source that differ from its earlier nights, so that its pages have probably changed.

Drift does not hold any price. It tells a person to look at tonight's page, beside the newest page that was still read well,
before prices become wrong.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gpuledger.transform.gate.good_nights import Released
from gpuledger.warehouse.load import profile
from gpuledger.warehouse.load.profile import Figure, Night

#: A share that moves by less than this from night to night does so because of changes in the shop. With this limit, 23 of
#: 1,123 real nights of a market begin a drift: on 22 of them prices, stock or sellers were missing, and on one night a sixth
#: of the listings was new.
MIN_MOVE = 0.15
#: A share of few rows may also move by this many standard errors by chance.
ERRORS = 4.0
#: Few nights show poorly what is usual. This value, divided by their number, is added to the move that is allowed.
FEW_NIGHTS = 0.3
#: A median length that moves by less than this factor is no drift.
MIN_FACTOR = 1.5
#: With fewer rows or tries of a selector, a figure says nothing.
MIN_ROWS = 3


@dataclass(frozen=True, slots=True)
class Drift:
    """A figure `now` that left the range `low` to `high` of earlier nights. `good` is the newest of them, with its page."""

    now: Figure
    low: float
    high: float
    good: Night

    @property
    def seen(self) -> str:
        """The drift in words."""
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
    """The figures of a night that are no longer usual. `past` has the nights that define what is usual, newest first, by
    trait.
    """
    drifts = []
    longest = max(past.values(), key=len, default=())
    for now in figures:
        nights = past.get(now.trait, ())
        before = [night.figure.figure for night in nights[: profile.NIGHTS]]
        if now.trait.startswith(profile.ISSUE) or (now.trait == profile.NEW_KEYS and not before):
            # A night without such an issue has no figure for it, and the first night has none for new keys. Both count as 0.
            nights = nights or longest
            before += [0.0] * (len(longest[: profile.NIGHTS]) - len(before))
        if not before or now.counted < MIN_ROWS:
            continue
        low, high = min(before), max(before)
        if _has_left(now, low, high, len(before)):
            drifts.append(Drift(now, low, high, nights[0]))
    return sorted(drifts, key=lambda drift: drift.now.trait)


def _has_left(now: Figure, low: float, high: float, nights: int) -> bool:
    if now.trait.endswith(profile.LENGTH):
        factor = MIN_FACTOR + FEW_NIGHTS / nights
        return now.figure * factor < low or now.figure > high * factor
    is_worse_above = now.trait.startswith(profile.ISSUE) or now.trait == profile.NEW_KEYS
    usual, n = (high if is_worse_above else low), now.counted
    # Add one row that has the trait and one that does not, because even a share of 1 in a few rows has a spread.
    share = (usual * n + 1) / (n + 2)
    move = max(MIN_MOVE + FEW_NIGHTS / nights, ERRORS * math.sqrt(share * (1 - share) / n))
    return now.figure > usual + move if is_worse_above else now.figure < usual - move


def usual(nights: Collection[Night], source: str, before: datetime, released: Released) -> dict[str, list[Night]]:
    """The nights before a time that define what is usual, by trait, newest first: the nights without drift.

    If a person accepted what the source showed on some night, only that night and later ones count.
    """
    acceptance = released.accepted(source, before)
    accepted = acceptance.last_night if acceptance else None
    nights_of_trait: dict[str, list[Night]] = {}
    for night in nights:
        is_known = not night.is_drift or night.seen_at == accepted
        if night.seen_at < before and is_known and (accepted is None or night.seen_at >= accepted):
            nights_of_trait.setdefault(night.figure.trait, []).append(night)
    return nights_of_trait


def _range(low: float, high: float, unit: str = "") -> str:
    least, most = f"{low:.0f}{unit}", f"{high:.0f}{unit}"
    return least if least == most else f"{least} to {most}"
