"""A second check without a model: compares each digit of a number with the other digits of the same picture.

All numbers along the bars have the same font. So a digit that was read as 3 must look like the other threes of the picture,
and less like any 8. A point must be on the baseline, and a comma below it. The shapes for the comparison come from all other
numbers, never from the number that is checked.
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

#: Numbers are enlarged until digits are at least this tall, so that the border between two digits is at whole pixels.
_TALL = 48
#: Height and width in pixels to which each shape is scaled.
_HEIGHT, _WIDTH = 28, 24
#: The distance to the same digit must be less than this share of the distance to the nearest other digit.
_CLEARLY = 0.8
#: Two shapes may be the same digit if their mean difference of grey (from 0 to 1) is at most this. That holds for 99% of
#: equal digits and for 1 in 1,000 pairs of different digits.
_LIKE = 0.22
#: The same limit if the picture has every digit that the shape might be, as small letters in JPEG differ so much.
_LIKE_AMONG_ALL = 0.28
#: The digits for which each digit may be mistaken.
_MISTAKEN = {
    "0": "689", "1": "47", "2": "37", "3": "589", "4": "19", "5": "3689", "6": "058", "7": "12", "8": "03569", "9": "03458",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Glyph:
    """One mark of a number: the character that was read, and its shape. `shape` is None for a point or a comma."""

    text: str
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a number from left to right.

    `tail` is the length of what follows them in the crop, such as the unit. `pitch` is the distance between two neighbouring
    digits. Both are in heights of a digit, and 0 if there is nothing to measure.
    """

    glyphs: tuple[Glyph, ...]
    tail: float
    pitch: float


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual `pitch` and `tail` of a chart's numbers, as in `Marks`.

    `tail` is None if too few numbers have a unit.
    """

    pitch: float
    tail: float | None

    def fits(self, candidate: Marks, has_unit: bool) -> bool:
        """Whether the marks are plausible: no mark is two digits, and no digit before the unit was left out."""
        tail = self.tail if has_unit else 0.0
        slack = (_BEFORE_UNIT if has_unit else _ROOM) * self.pitch
        return (
            tail is not None
            and abs(candidate.tail - tail) <= slack
            and (candidate.pitch == 0 or abs(candidate.pitch - self.pitch) <= _EVEN * self.pitch)
        )


#: How many digits the tails of two numbers may differ in length, the same for tails that are units, and the share by which
#: the pitch of digits may differ. In measurements, the length of one unit varied by 0.12, and a 1 is half as wide as other
#: digits.
_ROOM = 0.6
_BEFORE_UNIT = 0.4
_EVEN = 0.25


def usual(numbers: Sequence[tuple[Marks, bool]]) -> Usual | None:
    """The usual pitch and tail of a chart's numbers, each given with whether it has a unit. None for fewer than two."""
    pitch = [each.pitch for each, _ in numbers if each.pitch]
    tail = [each.tail for each, has_unit in numbers if has_unit]
    if len(pitch) < 2:
        return None
    return Usual(float(np.median(pitch)), float(np.median(tail)) if len(tail) > 2 else None)


def marks(crop: Pixels, text: str, has_unit: bool = False, known: Usual | None = None) -> Marks | None:
    """The marks of a number as printed. `has_unit` says that a unit follows the number in the crop.

    If `known` is given, it says how the numbers of the picture are set, so that touching digits can be cut at the right
    places. None if there are not as many marks as characters, or if a point does not look like a point.
    """
    ink = _ink(crop)
    if ink is None:
        return None
    # A high threshold breaks thin strokes, but separates digits that touch.
    candidates = [_at(ink, text, has_unit, threshold) for threshold in _THRESHOLDS]
    if known is not None:
        candidates.append(_cut(ink, text, known.pitch, (known.tail or 0.0) if has_unit else 0.0))
    return next(
        (candidate for candidate in candidates if candidate and (known is None or known.fits(candidate, has_unit))),
        None,
    )


_THRESHOLDS = (0.5, 0.38, 0.65, 0.28, 0.78)
#: Ink below this is noise that JPEG leaves beside letters.
_FAINT = 0.4
#: Left, top, right and bottom of a mark.
_Mark = tuple[int, int, int, int]


def _at(ink: Shape, text: str, has_unit: bool, threshold: float) -> Marks | None:
    """The marks with more ink than the threshold, if there are as many as characters."""
    boxes = _marks(ink, threshold)
    if not boxes:
        return None
    # The letters of a unit may be taller or lower than digits.
    own = boxes[: len(text)] if has_unit else boxes
    digits = [box for box in own if box[3] - box[1] >= 0.6 * max(box[3] - box[1] for box in own)]
    if not digits:
        return None
    top = float(np.median([box[1] for box in digits]))
    bottom = float(np.median([box[3] for box in digits]))
    tall = bottom - top
    on_line = [
        box
        for box in boxes
        if box[3] > top + 0.5 * tall and box[1] < bottom + 0.2 * tall and box[3] <= bottom + 0.45 * tall
    ]
    if has_unit:
        if len(on_line) <= len(text):
            return None
        on_line = on_line[: len(text)]
    else:
        on_line = _parted(on_line, text, tall)
    return _signed(ink, on_line, text, (top, bottom))


def _signed(ink: Shape, boxes: Sequence[_Mark], text: str, line: tuple[float, float]) -> Marks | None:
    """The marks with their characters, if the numbers agree and each mark is as tall as its character.

    `line` is the top and the bottom of the digits.
    """
    if len(boxes) != len(text):
        return None
    top, bottom = line
    tall = bottom - top
    signed = []
    for box, sign in zip(boxes, text, strict=True):
        small = box[3] - box[1] < 0.6 * tall
        if small != (sign in ".,"):
            return None
        if sign == "." and (box[3] > bottom + 0.1 * tall or box[3] - box[1] > 0.34 * tall):
            return None
        if sign == "," and box[3] <= bottom + 0.04 * tall:
            return None
        signed.append(Glyph(sign, None if small else _shape(ink, box, top, bottom)))
    inked = np.flatnonzero(ink[max(0, int(top)) : int(np.ceil(bottom))].max(axis=0) > _FAINT)
    tail = float(inked[-1] + 1 - boxes[-1][2]) if inked.size else 0.0
    steps = [
        (after[0] + after[2] - before[0] - before[2]) / 2
        for (before, after), signs in zip(pairwise(boxes), pairwise(text), strict=True)
        if all(sign.isdigit() for sign in signs)
    ]
    return Marks(tuple(signed), max(0.0, tail) / tall, float(np.median(steps)) / tall if steps else 0.0)


def _cut(ink: Shape, text: str, pitch: float, tail: float) -> Marks | None:
    """The marks of a number whose digits touch, cut at the columns with the least ink into digits of the usual width.

    None if this many digits do not fill the crop, or do not fit into it.
    """
    boxes = _marks(ink)
    whole = [box for box in boxes if box[3] - box[1] >= 0.6 * max(each[3] - each[1] for each in boxes)]
    if not whole:
        return None
    top = float(np.median([box[1] for box in whole]))
    # The median, because a comma that touches its digit makes the mark longer, and a broken digit is shorter.
    bottom = float(np.median([box[3] for box in whole]))
    digit_width = pitch * (bottom - top)
    start, end = min(box[0] for box in boxes), round(max(box[2] for box in boxes) - tail * (bottom - top))
    column = ink[int(top) : int(np.ceil(bottom))].sum(axis=0) / max(1.0, bottom - top)
    # For each column at which the marks so far may end: the lowest cost (ink that was cut), and the cuts.
    best: dict[int, tuple[float, tuple[int, ...]]] = {start: (0.0, ())} if digit_width >= 4 else {}
    for sign in text:
        least, most, usual = (0.72, 1.28, 1.0) if sign.isdigit() else (0.2, 0.8, 0.5)
        after: dict[int, tuple[float, tuple[int, ...]]] = {}
        for at, (cost, cuts) in best.items():
            for wide in range(max(1, round(least * digit_width)), round(most * digit_width) + 1):
                to = at + wide
                if to > end + round(0.2 * digit_width):
                    break
                total = cost + float(column[min(to, len(column) - 1)]) + (wide / digit_width - usual) ** 2
                if to not in after or total < after[to][0]:
                    after[to] = total, (*cuts, to)
        best = after
    reached = {to: best_cut for to, best_cut in best.items() if to >= end - round(0.1 * digit_width)}
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
    """Whether there is hardly anything above a point or a comma, at most a corner of the neighbouring digit."""
    return bool((above > _THRESHOLDS[0]).mean() < 0.15) if above.size else True


def _inked(ink: Shape, left: int, right: int, top: int) -> _Mark:
    """The box of the ink between two columns, from the row `top` on."""
    rows, columns = np.nonzero(ink[top:, left:right] > _THRESHOLDS[0])
    if not rows.size:
        return left, 0, right, 0
    return left + int(columns.min()), top + int(rows.min()), left + int(columns.max()) + 1, top + int(rows.max()) + 1


def compare(own: Sequence[Glyph], others: Sequence[Glyph], may_be: Sequence[str] | None = None) -> list[Verdict]:
    """The verdict on each digit of a number.

    `same`: it looks like the same digit elsewhere in the picture, and less like any other digit. `other`: another digit
    looks more like it. `alone`: the picture has this digit nowhere else.

    `may_be` has for each mark the other digits that are possible there (default: all digits). If no other digit is possible,
    the verdict is `same`. For a digit that is nowhere else, the verdict is also `same` if all digits for which it may be
    mistaken are elsewhere in the picture and look different.
    """
    shaped = [glyph for glyph in others if glyph.shape is not None]
    moved = _moved(np.array([glyph.shape for glyph in shaped], dtype=np.float32).reshape(-1, _HEIGHT, _WIDTH))
    texts = np.array([glyph.text for glyph in shaped], dtype="U1")
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
            is_distinct = stranger > _LIKE and rivals & set(_MISTAKEN[glyph.text]) <= known
            verdicts.append("same" if is_distinct else "alone")
    return verdicts


def _ink(crop: Pixels) -> Shape | None:
    """The share of ink in each pixel of the enlarged crop, 0 to 1. None if letters and background look alike.

    The border of the crop shows the background. It has two colours if the number lies over the end of a bar.
    """
    if min(crop.shape[:2]) < 6:
        return None
    small = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY).astype(np.float32)
    times = max(1.0, _TALL / small.shape[0] * 1.5)
    enlarged = cv2.resize(small, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    grey: Shape = np.asarray(enlarged, dtype=np.float32)
    background = _background(grey, max(1, round(times)))
    usual = float(np.median(background))
    lighter, darker = np.percentile(grey, 99) - usual, usual - np.percentile(grey, 1)
    if max(lighter, darker) < _CONTRAST:
        return None
    if lighter >= darker:
        share = (grey - background) / np.maximum(np.percentile(grey, 99) - background, 30)
    else:
        share = (background - grey) / np.maximum(background - np.percentile(grey, 1), 30)
    return np.asarray(np.clip(share, 0, 1), dtype=np.float32)


#: Levels of grey, of 255, by which letters differ from their background. Thin white letters on a light bar reach hardly 40.
_CONTRAST = 30


def _background(grey: Shape, rim: int) -> Shape:
    """The background behind the letters, pixel by pixel: the end of a bar, and grid lines in both directions.

    It reaches from one side of the crop to the other, so both sides show it, and the weaker side counts. Something that
    touches only one side is a letter or a neighbour.
    """
    base = float(np.median(np.concatenate([grey[:rim].ravel(), grey[-rim:].ravel()])))
    across = _both(grey[:rim].mean(axis=0) - base, grey[-rim:].mean(axis=0) - base)
    left, right = grey[:, :rim].mean(axis=1), grey[:, -rim:].mean(axis=1)
    along = _both(left - np.median(left), right - np.median(right))
    return np.asarray(base + across[None, :] + along[:, None], dtype=np.float32)


def _both(first: Shape, second: Shape) -> Shape:
    """The smaller of two differences, or 0 if they have opposite signs."""
    weaker = np.where(np.abs(first) < np.abs(second), first, second)
    return np.asarray(np.where(first * second > 0, weaker, 0), dtype=np.float32)


def _marks(ink: Shape, threshold: float = 0.5) -> list[_Mark]:
    """The boxes of connected marks from left to right. Parts above each other are one mark."""
    mask = (ink > threshold).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    least = 0.0012 * mask.shape[0] ** 2
    height = mask.shape[0]
    boxes = []
    for left, top, width, tall, area in stats[1:count].tolist():
        # A part that runs along the rim of the crop is the border of a bar and not a mark.
        if area < least or width > 2.5 * height or (tall < 0.12 * height and width > 0.4 * height):
            continue
        boxes.append((left, top, left + width, top + tall))
    boxes.sort()
    merged: list[_Mark] = []
    for box in boxes:
        if merged and box[2] <= merged[-1][2] + 0.3 * (box[2] - box[0]) and box[0] >= merged[-1][0]:
            last = merged[-1]
            merged[-1] = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            merged.append(box)
    return merged


def _parted(boxes: list[_Mark], text: str, tall: float) -> list[_Mark]:
    """The boxes, with the common box of touching digits cut into equal parts. Only if boxes are missing for the text."""
    missing = len(text) - len(boxes)
    if missing <= 0 or not boxes:
        return boxes
    digits = [box for box in boxes if box[3] - box[1] >= 0.6 * tall]
    widths = sorted(box[2] - box[0] for box in digits)
    if not widths:
        return boxes
    digit_width = min(widths[len(widths) // 2], 0.8 * tall)
    parted: list[_Mark] = []
    for left, top, right, bottom in boxes:
        parts = (
            max(1, round((right - left) / digit_width))
            if bottom - top >= 0.6 * tall and right - left > 1.5 * digit_width
            else 1
        )
        step = (right - left) / parts
        parted += [(round(left + step * at), top, round(left + step * (at + 1)), bottom) for at in range(parts)]
    return parted


def _shape(ink: Shape, box: _Mark, top: float, bottom: float) -> Shape:
    """A digit scaled to the common height with its proportions, in the middle of a field."""
    left, _, right, _ = box
    cut = ink[max(0, int(top)) : int(np.ceil(bottom)), left:right]
    width = max(2, min(_WIDTH, round((right - left) * _HEIGHT / max(1.0, bottom - top))))
    small = cv2.resize(cut, (width, _HEIGHT), interpolation=cv2.INTER_AREA)
    field = np.zeros((_HEIGHT, _WIDTH), dtype=np.float32)
    start = (_WIDTH - width) // 2
    field[:, start : start + width] = small
    return field


class _Moved(NamedTuple):
    """Shapes moved to nine positions, as bytes (position, shape, pixel), and the sum of each moved shape."""

    shapes: NDArray[np.uint8]
    sums: NDArray[np.uint32]


def _moved(shapes: NDArray[np.float32]) -> _Moved:
    padded = np.pad(np.rint(shapes * 255).astype(np.uint8), ((0, 0), (1, 1), (1, 1)))
    positions = [padded[:, down : down + _HEIGHT, across : across + _WIDTH] for down in range(3) for across in range(3)]
    moved = np.stack([position.reshape(len(shapes), -1) for position in positions])
    return _Moved(moved, moved.sum(axis=2, dtype=np.uint32))


def _distances(shape: Shape, others: _Moved) -> NDArray[np.float64]:
    """The mean difference from each of the others over the pixels that either covers, at the best of nine positions."""
    own = np.rint(shape * 255).astype(np.uint8).ravel()
    covered = np.maximum(others.shapes, own).sum(axis=2, dtype=np.uint32)
    # |a - b| = 2 * max(a, b) - a - b.
    difference = 2.0 * covered - float(own.sum(dtype=np.uint32)) - others.sums
    return np.asarray((difference / np.maximum(covered, 255)).min(axis=0, initial=1.0), dtype=np.float64)
