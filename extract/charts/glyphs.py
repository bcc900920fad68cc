"""A second reading without a model: each digit of a number is compared with the other digits of the same picture.

All numbers along the bars are set in one font. So a digit that was read as 3 must look like the other threes of the picture,
and less like any 8; a point must stand on the line, and a comma below it. What a digit looks like is taken from all other
numbers, never from the one in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from gpuledger.extract.charts.picture import Pixels

Shape = NDArray[np.float32]
Verdict = Literal["same", "other", "alone"]

#: Letters are enlarged until digits are at least this tall, so that a border between two lies on whole pixels.
_TALL = 48
#: Pixels that a shape is brought to.
_HEIGHT, _WIDTH = 28, 24
#: How much closer the like digit must be than the nearest unlike one.
_CLEARLY = 0.8
#: Mean difference of grey, of 1, below which two shapes may be the same digit: 99% of the same are, 1 in 1,000 of others.
_LIKE = 0.22
#: The same where each digit that it might be is there to compare with: small letters in JPEG differ so from each other.
_LIKE_AMONG_ALL = 0.28
#: What each digit may be mistaken for.
_MISTAKEN = {
    "0": "689", "1": "47", "2": "37", "3": "589", "4": "19", "5": "3689", "6": "058", "7": "12", "8": "03569", "9": "03458",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Glyph:
    """One mark of a number: what it was read as, and its shape. `shape` is None for a point or a comma."""

    text: str
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a number from left to right.

    In heights of a digit: how far the crop goes on `behind` them, its unit, and how far two digits beside each other are
    `apart`; 0 where there are none.
    """

    glyphs: tuple[Glyph, ...]
    behind: float
    apart: float


@dataclass(frozen=True, slots=True)
class Usual:
    """How far apart two digits of a chart's numbers are, and how long what stands behind them is: as for `Marks`.

    `behind` is None where too few numbers have a unit to say so.
    """

    apart: float
    behind: float | None

    def fits(self, told: Marks, has_unit: bool) -> bool:
        """Whether marks are what they seem: not two digits in one, nor a digit of which nothing was read before the unit."""
        behind = self.behind if has_unit else 0.0
        slack = (_BEFORE_UNIT if has_unit else _ROOM) * self.apart
        return (
            behind is not None
            and abs(told.behind - behind) <= slack
            and (told.apart == 0 or abs(told.apart - self.apart) <= _EVEN * self.apart)
        )


#: Digits by which what stands behind two numbers may differ in length, the same where it is their unit, and share by which
#: digits may be closer or wider. Measured, one unit differs from itself by 0.12, and a 1 is half as wide as other digits.
_ROOM = 0.6
_BEFORE_UNIT = 0.4
_EVEN = 0.25


def usual(told: Sequence[tuple[Marks, bool]]) -> Usual | None:
    """What is usual for the numbers of a chart, each with whether it has a unit; None for fewer than two."""
    apart = [one.apart for one, _ in told if one.apart]
    behind = [one.behind for one, has_unit in told if has_unit]
    if len(apart) < 2:
        return None
    return Usual(float(np.median(apart)), float(np.median(behind)) if len(behind) > 2 else None)


def marks(crop: Pixels, text: str, has_unit: bool = False, known: Usual | None = None) -> Marks | None:
    """The marks of a number as printed; `has_unit` where the crop goes on with a unit. `known`, where it is, says how the
    numbers of the picture are set: digits that touch are then cut where they must be.

    None where they are not as many as were read, or where a point is no point.
    """
    ink = _ink(crop)
    if ink is None:
        return None
    # Thin strokes break at a high threshold, and digits that touch part at one.
    told = [_at(ink, text, has_unit, threshold) for threshold in _THRESHOLDS]
    if known is not None:
        told.append(_cut(ink, text, known.apart, (known.behind or 0.0) if has_unit else 0.0))
    return next((one for one in told if one and (known is None or known.fits(one, has_unit))), None)


_THRESHOLDS = (0.5, 0.38, 0.65, 0.28, 0.78)
#: What stands out less is the noise that JPEG leaves beside letters.
_FAINT = 0.4
#: Left, top, right and bottom of a mark.
_Mark = tuple[int, int, int, int]


def _at(ink: Shape, text: str, has_unit: bool, threshold: float) -> Marks | None:
    """The marks that stand out by this much, if they are as many as were read."""
    boxes = _marks(ink, threshold)
    if not boxes:
        return None
    # Letters of a unit are higher than digits, or lower.
    own = boxes[: len(text)] if has_unit else boxes
    digits = [box for box in own if box[3] - box[1] >= 0.6 * max(box[3] - box[1] for box in own)]
    if not digits:
        return None
    top = float(np.median([box[1] for box in digits]))
    bottom = float(np.median([box[3] for box in digits]))
    tall = bottom - top
    kept = [
        box
        for box in boxes
        if box[3] > top + 0.5 * tall and box[1] < bottom + 0.2 * tall and box[3] <= bottom + 0.45 * tall
    ]
    if has_unit:
        if len(kept) <= len(text):
            return None
        kept = kept[: len(text)]
    else:
        kept = _parted(kept, text, tall)
    return _signed(ink, kept, text, (top, bottom))


def _signed(ink: Shape, boxes: Sequence[_Mark], text: str, line: tuple[float, float]) -> Marks | None:
    """Marks with what they were read as, if they are as many and each is as high as its sign; `line`: where digits stand."""
    if len(boxes) != len(text):
        return None
    top, bottom = line
    tall = bottom - top
    found = []
    for box, sign in zip(boxes, text, strict=True):
        small = box[3] - box[1] < 0.6 * tall
        if small != (sign in ".,"):
            return None
        if sign == "." and (box[3] > bottom + 0.1 * tall or box[3] - box[1] > 0.34 * tall):
            return None
        if sign == "," and box[3] <= bottom + 0.04 * tall:
            return None
        found.append(Glyph(sign, None if small else _shape(ink, box, top, bottom)))
    inked = np.flatnonzero(ink[max(0, int(top)) : int(np.ceil(bottom))].max(axis=0) > _FAINT)
    behind = float(inked[-1] + 1 - boxes[-1][2]) if inked.size else 0.0
    steps = [
        (after[0] + after[2] - before[0] - before[2]) / 2
        for (before, after), signs in zip(pairwise(boxes), pairwise(text), strict=True)
        if all(sign.isdigit() for sign in signs)
    ]
    return Marks(tuple(found), max(0.0, behind) / tall, float(np.median(steps)) / tall if steps else 0.0)


def _cut(ink: Shape, text: str, apart: float, behind: float) -> Marks | None:
    """The marks of a number whose digits touch: cut where least ink is, each digit about as wide as elsewhere.

    None where so many digits do not fill the crop, or fill more than it.
    """
    boxes = _marks(ink)
    whole = [box for box in boxes if box[3] - box[1] >= 0.6 * max(one[3] - one[1] for one in boxes)]
    if not whole:
        return None
    top = float(np.median([box[1] for box in whole]))
    # A comma that touches its digit makes that mark longer, and a broken digit is shorter: most are neither.
    bottom = float(np.median([box[3] for box in whole]))
    one = apart * (bottom - top)
    start, end = min(box[0] for box in boxes), round(max(box[2] for box in boxes) - behind * (bottom - top))
    column = ink[int(top) : int(np.ceil(bottom))].sum(axis=0) / max(1.0, bottom - top)
    # By the column at which the marks until now end: the least ink that was cut, and where.
    best: dict[int, tuple[float, tuple[int, ...]]] = {start: (0.0, ())} if one >= 4 else {}
    for sign in text:
        least, most, usual = (0.72, 1.28, 1.0) if sign.isdigit() else (0.2, 0.8, 0.5)
        after: dict[int, tuple[float, tuple[int, ...]]] = {}
        for at, (cost, cuts) in best.items():
            for wide in range(max(1, round(least * one)), round(most * one) + 1):
                to = at + wide
                if to > end + round(0.2 * one):
                    break
                total = cost + float(column[min(to, len(column) - 1)]) + (wide / one - usual) ** 2
                if to not in after or total < after[to][0]:
                    after[to] = total, (*cuts, to)
        best = after
    reached = {to: found for to, found in best.items() if to >= end - round(0.1 * one)}
    if not reached:
        return None
    _, cuts = min(reached.values())
    cells = pairwise((start, *(min(cut, ink.shape[1]) for cut in cuts)))
    low = round(top + 0.68 * (bottom - top))
    boxes = [
        _inked(ink, *cell, low if sign in ".," and _is_empty(ink[:low, slice(*cell)]) else 0)
        for sign, cell in zip(text, cells, strict=True)
    ]
    return _signed(ink, boxes, text, (top, bottom))


def _is_empty(above: Shape) -> bool:
    """Whether there is hardly anything above a point or a comma: a corner of the digit beside it at most."""
    return bool((above > _THRESHOLDS[0]).mean() < 0.15) if above.size else True


def _inked(ink: Shape, left: int, right: int, top: int) -> _Mark:
    """The box of what is written between two columns, from a row on."""
    rows, columns = np.nonzero(ink[top:, left:right] > _THRESHOLDS[0])
    if not rows.size:
        return left, 0, right, 0
    return left + int(columns.min()), top + int(rows.min()), left + int(columns.max()) + 1, top + int(rows.max()) + 1


def compare(own: Sequence[Glyph], others: Sequence[Glyph], may_be: Sequence[str] | None = None) -> list[Verdict]:
    """For each digit of a number: `same` where it looks like the same digit elsewhere and less like any other, `other` where
    another digit is closer, `alone` where the picture has it nowhere else.

    `may_be` are for each mark the other digits that are possible there (default: all); one that nothing else is possible for
    is the `same`. A digit that stands nowhere else is the `same` where all that it may be mistaken for stand elsewhere, and
    look otherwise.
    """
    shaped = [one for one in others if one.shape is not None]
    moved = _moved(np.array([one.shape for one in shaped], dtype=np.float32).reshape(-1, _HEIGHT, _WIDTH))
    texts = np.array([one.text for one in shaped], dtype="U1")
    known = set(texts.tolist())
    verdicts: list[Verdict] = []
    for glyph, possible in zip(own, may_be or ["0123456789"] * len(own), strict=True):
        if glyph.shape is None or not possible:
            verdicts.append("same")
            continue
        rivals = set(possible) - {glyph.text}
        distances = _distances(glyph.shape, moved)
        nearest = float(distances[texts == glyph.text].min(initial=1.0))
        stranger = float(distances[np.isin(texts, sorted(rivals))].min(initial=1.0))
        if glyph.text in known:
            like = _LIKE_AMONG_ALL if rivals <= known else _LIKE
            verdicts.append("same" if nearest <= like and nearest < _CLEARLY * stranger else "other")
        elif stranger <= _LIKE / 2:
            verdicts.append("other")
        else:
            is_told = stranger > _LIKE and rivals & set(_MISTAKEN[glyph.text]) <= known
            verdicts.append("same" if is_told else "alone")
    return verdicts


def _ink(crop: Pixels) -> Shape | None:
    """How much of each pixel is letter, 0 to 1, enlarged; None where letters and ground cannot be told apart.

    The ground may be two colours, where a number lies over the end of a bar: it is what the border of the crop shows.
    """
    if min(crop.shape[:2]) < 6:
        return None
    small = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY).astype(np.float32)
    times = max(1.0, _TALL / small.shape[0] * 1.5)
    enlarged = cv2.resize(small, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    grey: Shape = np.asarray(enlarged, dtype=np.float32)
    ground = _ground(grey, max(1, round(times)))
    usual = float(np.median(ground))
    lighter, darker = np.percentile(grey, 99) - usual, usual - np.percentile(grey, 1)
    if max(lighter, darker) < _CONTRAST:
        return None
    if lighter >= darker:
        share = (grey - ground) / np.maximum(np.percentile(grey, 99) - ground, 30)
    else:
        share = (ground - grey) / np.maximum(ground - np.percentile(grey, 1), 30)
    return np.asarray(np.clip(share, 0, 1), dtype=np.float32)


#: Levels of grey, of 255, by which letters differ from what they stand on: thin white ones on a light bar by hardly 40.
_CONTRAST = 30


def _ground(grey: Shape, rim: int) -> Shape:
    """What lies behind the letters, to the pixel: a bar that ends there, and the lines of a grid across or along.

    It goes through from one side of the crop to the other, so it shows at both, and the weaker of the two counts: what
    touches one side alone is a letter, or a neighbour.
    """
    base = float(np.median(np.concatenate([grey[:rim].ravel(), grey[-rim:].ravel()])))
    across = _both(grey[:rim].mean(axis=0) - base, grey[-rim:].mean(axis=0) - base)
    left, right = grey[:, :rim].mean(axis=1), grey[:, -rim:].mean(axis=1)
    along = _both(left - np.median(left), right - np.median(right))
    return np.asarray(base + across[None, :] + along[:, None], dtype=np.float32)


def _both(one: Shape, other: Shape) -> Shape:
    """By how much both differ, at least, and in one direction."""
    weaker = np.where(np.abs(one) < np.abs(other), one, other)
    return np.asarray(np.where(one * other > 0, weaker, 0), dtype=np.float32)


def _marks(ink: Shape, threshold: float = 0.5) -> list[_Mark]:
    """Boxes of connected marks, from left to right; what lies above one another is one mark."""
    mask = (ink > threshold).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    least = 0.0012 * mask.shape[0] ** 2
    height = mask.shape[0]
    found = []
    for left, top, width, tall, area in stats[1:count].tolist():
        # What runs along the rim of the crop is a bar's border, not a mark.
        if area < least or width > 2.5 * height or (tall < 0.12 * height and width > 0.4 * height):
            continue
        found.append((left, top, left + width, top + tall))
    found.sort()
    merged: list[_Mark] = []
    for box in found:
        if merged and box[2] <= merged[-1][2] + 0.3 * (box[2] - box[0]) and box[0] >= merged[-1][0]:
            last = merged[-1]
            merged[-1] = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            merged.append(box)
    return merged


def _parted(boxes: list[_Mark], text: str, tall: float) -> list[_Mark]:
    """Where two digits touch, their common box is cut in the middle; only where the count then comes out."""
    missing = len(text) - len(boxes)
    if missing <= 0 or not boxes:
        return boxes
    digits = [box for box in boxes if box[3] - box[1] >= 0.6 * tall]
    widths = sorted(box[2] - box[0] for box in digits)
    if not widths:
        return boxes
    one = min(widths[len(widths) // 2], 0.8 * tall)
    parted: list[_Mark] = []
    for left, top, right, bottom in boxes:
        parts = max(1, round((right - left) / one)) if bottom - top >= 0.6 * tall and right - left > 1.5 * one else 1
        step = (right - left) / parts
        parted += [(round(left + step * at), top, round(left + step * (at + 1)), bottom) for at in range(parts)]
    return parted


def _shape(ink: Shape, box: _Mark, top: float, bottom: float) -> Shape:
    """A digit brought to one height, its width kept in proportion, in the middle of a field."""
    left, _, right, _ = box
    cut = ink[max(0, int(top)) : int(np.ceil(bottom)), left:right]
    width = max(2, min(_WIDTH, round((right - left) * _HEIGHT / max(1.0, bottom - top))))
    small = cv2.resize(cut, (width, _HEIGHT), interpolation=cv2.INTER_AREA)
    field = np.zeros((_HEIGHT, _WIDTH), dtype=np.float32)
    start = (_WIDTH - width) // 2
    field[:, start : start + width] = small
    return field


class _Moved(NamedTuple):
    """Shapes in nine positions, as bytes: position, shape, pixel; and the sum of each."""

    shapes: NDArray[np.uint8]
    sums: NDArray[np.uint32]


def _moved(shapes: NDArray[np.float32]) -> _Moved:
    padded = np.pad(np.rint(shapes * 255).astype(np.uint8), ((0, 0), (1, 1), (1, 1)))
    positions = [padded[:, down : down + _HEIGHT, across : across + _WIDTH] for down in range(3) for across in range(3)]
    moved = np.stack([position.reshape(len(shapes), -1) for position in positions])
    return _Moved(moved, moved.sum(axis=2, dtype=np.uint32))


def _distances(one: Shape, others: _Moved) -> NDArray[np.float64]:
    """The mean difference from each of the others over what either of the two covers, in the best of nine positions."""
    own = np.rint(one * 255).astype(np.uint8).ravel()
    covered = np.maximum(others.shapes, own).sum(axis=2, dtype=np.uint32)
    # |a - b| is twice the larger of the two less both.
    apart = 2.0 * covered - float(own.sum(dtype=np.uint32)) - others.sums
    return np.asarray((apart / np.maximum(covered, 255)).min(axis=0, initial=1.0), dtype=np.float64)
