"""Fits the scale of a chart (pixels per unit) to all bars at once, and compares it with the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

#: Pixels by which a bar may differ from its printed value. Bars of real charts differ by at most 0.6.
WITHIN = 1.0
#: Share of the bars that the scale must fit.
SHARE = 0.7
#: The fitted zero may differ by this many pixels from where the bars begin, because the bars may or may not have a border.
_ZERO = 3.0
#: Numbers of an axis may be this many pixels away from their marks.
MARK = 4.0


@dataclass(frozen=True, slots=True)
class Scale:
    """A value v ends at the column `zero + px_per_unit * v`."""

    zero: float
    px_per_unit: float

    def residual(self, value: float, end: float) -> float:
        """By how many pixels a bar that ends at `end` is longer than its value says."""
        return end - self.zero - self.px_per_unit * value


def fit(pairs: Sequence[tuple[float, float]], begin: float) -> Scale | None:
    """The scale that fits most pairs of value and end. None if it fits fewer than three pairs or less than `SHARE` of them.

    `begin` is the column at which the bars begin. Every two bars propose a scale, so a few wrong readings have no influence.
    """
    if len(pairs) < 3:
        return None
    values, ends = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    best: tuple[int, float, float, float] = (0, 0.0, 0.0, 0.0)
    for first, second in combinations(range(len(pairs)), 2):
        if abs(values[first] - values[second]) < 1e-9:
            continue
        slope = (ends[first] - ends[second]) / (values[first] - values[second])
        zero = ends[first] - slope * values[first]
        if slope <= 0 or abs(zero - begin) > _ZERO:
            continue
        off = np.abs(ends - zero - slope * values)
        within = off <= WITHIN
        if (candidate := (int(within.sum()), -float(off[within].sum()), zero, slope)) > best:
            best = candidate
    count, _, zero, slope = best
    if count < 3 or count < SHARE * len(pairs):
        return None
    for _ in range(3):
        within = np.abs(ends - zero - slope * values) <= WITHIN
        if within.sum() < 3 or np.ptp(values[within]) < 1e-9:
            return None
        slope, zero = (float(coefficient) for coefficient in np.polyfit(values[within], ends[within], 1))
    within = np.abs(ends - zero - slope * values) <= WITHIN
    if within.sum() < max(3, SHARE * len(pairs)) or slope <= 0 or abs(zero - begin) > _ZERO:
        return None
    return Scale(zero, slope)


def marks_agree(scale: Scale, marks: Sequence[tuple[float, float]]) -> bool | None:
    """Whether the numbers along the axis (pairs of value and column) are where the scale says.

    None if the chart has no axis, which means fewer than three numbers in a line. It suffices that two thirds of the numbers
    agree, because a number may be misread or may not belong to the axis.
    """
    if len(marks) < 3:
        return None
    longest = max(abs(value) for value, _ in marks) * scale.px_per_unit
    tolerance = max(MARK, 0.006 * longest)
    near = sum(abs(scale.residual(value, column)) <= tolerance for value, column in marks)
    return near >= 2 * len(marks) / 3
