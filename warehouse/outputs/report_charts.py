"""Where the marks of the report's charts stand. Pure geometry: the templates draw it as SVG.

Positions are SVG user units from the upper left corner, rounded, so that equal prices draw equal pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

WIDTH, HEIGHT = 560, 330
#: Room for the ticks' words at the left and below.
LEFT, TOP, RIGHT, BOTTOM = 46, 14, 24, 36
SPARK_WIDTH, SPARK_HEIGHT = 120, 30

#: Beyond this ratio of the dearest to the cheapest, equal steps would press all but the dearest into a corner.
LOGARITHMIC_FROM = 12.0
_LETTER, _LINE = 6.2, 13.0


@dataclass(frozen=True, slots=True)
class Point:
    """One card: its price and score, what to call it, and whether it is on the Pareto front."""

    price: float
    score: float
    label: str
    is_front: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A point where it is drawn; `anchor` and the two positions of its label are None where there is no room for it."""

    x: float
    y: float
    point: Point
    label_x: float | None = None
    label_y: float | None = None
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Score against price: dots, the path of the front, and ticks as position and number."""

    dots: tuple[Dot, ...]
    front: str
    x_ticks: tuple[tuple[float, float], ...]
    y_ticks: tuple[tuple[float, float], ...]


def scatter(points: Sequence[Point]) -> Scatter:
    """The chart of at least one point, prices along the x axis. Scores start at zero: heights may then be compared."""
    prices = [point.price for point in points]
    low, high = min(prices), max(prices)
    is_log = high / low > LOGARITHMIC_FROM
    x_numbers = _decades(low, high) if is_log else _steps(0, high)
    y_numbers = _steps(0, max(point.score for point in points))
    start, end = (x_numbers[0], x_numbers[-1]) if is_log else (0.0, x_numbers[-1])

    def x(price: float) -> float:
        share = math.log(price / start) / math.log(end / start) if is_log else price / end
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(score: float) -> float:
        return round(HEIGHT - BOTTOM - score / y_numbers[-1] * (HEIGHT - TOP - BOTTOM), 1)

    placed = [Dot(x(point.price), y(point.score), point) for point in points]
    return Scatter(
        tuple(_labelled(placed)),
        _front([dot for dot in placed if dot.point.is_front]),
        tuple((x(number), number) for number in x_numbers),
        tuple((y(number), number) for number in y_numbers),
    )


def sparkline(days: Sequence[tuple[date, float]], first: date, last: date) -> str:
    """SVG path of a price's steps between two days; a day without a price breaks it. Empty where there is no day."""
    if not days:
        return ""
    low, high = min(price for _, price in days), max(price for _, price in days)
    span = max((last - first).days + 1, 1)

    def x(day: date, after: int) -> float:
        return round(((day - first).days + after) / span * SPARK_WIDTH, 1)

    def y(price: float) -> float:
        share = (price - low) / (high - low) if high > low else 0.5
        return round(SPARK_HEIGHT - 3 - share * (SPARK_HEIGHT - 6), 1)

    path: list[str] = []
    before: tuple[date, float] | None = None
    for day, price in days:
        if before is None or before[0] + timedelta(days=1) != day:
            if before is not None:
                path.append(f"H{x(before[0], 1):g}")
            path.append(f"M{x(day, 0):g} {y(price):g}")
        elif price != before[1]:
            path.append(f"H{x(day, 0):g}V{y(price):g}")
        before = (day, price)
    return "".join([*path, f"H{x(days[-1][0], 1):g}"])


def _front(dots: Sequence[Dot]) -> str:
    """The steps of the front: whoever pays less than for the next card gets no more than the last one gives."""
    path = ""
    for dot in sorted(dots, key=lambda dot: (dot.x, -dot.y)):
        path += f"H{dot.x:g}V{dot.y:g}" if path else f"M{dot.x:g} {dot.y:g}"
    return path + f"H{WIDTH - RIGHT}" if path else ""


def _labelled(dots: Sequence[Dot]) -> Iterable[Dot]:
    """The dots with labels where there is room, those of the front first; the others keep their name in the tooltip."""
    taken = [(dot.x - 5, dot.y - 5, dot.x + 5, dot.y + 5) for dot in dots]
    labels: dict[int, tuple[float, float, str]] = {}
    for number, dot in sorted(enumerate(dots), key=lambda pair: (not pair[1].point.is_front, pair[1].x)):
        width = len(dot.point.label) * _LETTER
        for label_x, label_y, anchor in (
            (dot.x - 8, dot.y - 3, "end"), (dot.x + 8, dot.y + 9, "start"), (dot.x + 8, dot.y - 3, "start"),
            (dot.x - 8, dot.y + 9, "end"),
        ):  # fmt: skip
            left = label_x - width if anchor == "end" else label_x
            box = (left, label_y - _LINE + 3, left + width, label_y + 3)
            inside = box[0] >= LEFT and box[2] <= WIDTH and box[1] >= 0 and box[3] <= HEIGHT - BOTTOM
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                labels[number] = (round(label_x, 1), round(label_y, 1), anchor)
                break
    for number, dot in enumerate(dots):
        yield Dot(dot.x, dot.y, dot.point, *labels[number]) if number in labels else dot


_Box = tuple[float, float, float, float]


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _steps(low: float, high: float) -> list[float]:
    """Round numbers from `low` to beyond `high`, four to seven of them."""
    rough = (high - low) / 5 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    return [round(low + step * n, 10) for n in range(math.ceil((high - low) / step) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every power of ten, from below `low` to beyond `high`, both above zero."""
    numbers = [
        factor * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for factor in (1, 2, 5)
    ]
    below = max(n for n in numbers if n <= low)
    above = min(n for n in numbers if n >= high)
    return [n for n in numbers if below <= n <= above]
