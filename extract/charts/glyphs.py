"""A second reading without a model: each digit of a number is compared with the other digits of the same picture.

All numbers along the bars are set in one font. So a digit that was read as 3 must look like the other threes of the picture,
and less like any 8; a point must stand on the line, and a comma below it. What a digit looks like is taken from all other
numbers, never from the one in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
#: Mean difference of grey, of 1, below which two shapes may be the same digit.
_LIKE = 0.22


@dataclass(frozen=True, slots=True)
class Glyph:
    """One mark of a number: what it was read as, and its shape. `shape` is None for a point or a comma."""

    text: str
    shape: Shape | None


def glyphs(crop: Pixels, text: str, has_unit: bool = False) -> list[Glyph] | None:
    """The marks of a number as printed, from left to right; `has_unit` where the crop goes on with a unit.

    None where they are not as many as were read, or where a point is no point.
    """
    ink = _ink(crop)
    if ink is None:
        return None
    # Thin strokes break at a high threshold, and digits that touch part at one.
    return next(filter(None, (_at(ink, text, has_unit, threshold) for threshold in _THRESHOLDS)), None)


_THRESHOLDS = (0.5, 0.38, 0.65, 0.28, 0.78)


def _at(ink: Shape, text: str, has_unit: bool, threshold: float) -> list[Glyph] | None:
    """The marks that stand out by this much, if they are as many as were read."""
    boxes = _marks(ink, threshold)
    if not boxes:
        return None
    digits = [box for box in boxes if box[3] - box[1] >= 0.6 * max(box[3] - box[1] for box in boxes)]
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
    if len(kept) != len(text):
        return None
    found = []
    for box, sign in zip(kept, text, strict=True):
        small = box[3] - box[1] < 0.6 * tall
        if small != (sign in ".,"):
            return None
        if sign == "." and (box[3] > bottom + 0.1 * tall or box[3] - box[1] > 0.34 * tall):
            return None
        if sign == "," and box[3] <= bottom + 0.08 * tall:
            return None
        found.append(Glyph(sign, None if small else _shape(ink, box, top, bottom)))
    return found


def compare(own: Sequence[Glyph], others: Sequence[Glyph]) -> list[Verdict]:
    """For each digit of a number: `same` where it looks like the same digit elsewhere and less like any other, `other` where
    another digit is closer, `alone` where the picture has it nowhere else and it is like no other.
    """
    shaped = [one for one in others if one.shape is not None]
    moved = _moved(np.array([one.shape for one in shaped], dtype=np.float32).reshape(-1, _HEIGHT, _WIDTH))
    verdicts: list[Verdict] = []
    for glyph in own:
        if glyph.shape is None:
            verdicts.append("same")
            continue
        is_alike = np.array([one.text == glyph.text for one in shaped], dtype=bool)
        distances = _distances(glyph.shape, moved)
        alike, unlike = distances[is_alike], distances[~is_alike]
        nearest, stranger = float(alike.min(initial=1.0)), float(unlike.min(initial=1.0))
        if alike.size and nearest <= _LIKE and nearest < _CLEARLY * stranger:
            verdicts.append("same")
        elif not alike.size and stranger > _LIKE / 2:
            verdicts.append("alone")
        else:
            verdicts.append("other")
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
    # Column by column: the ground below and above a letter is the same colour there.
    rim = max(1, round(times))
    ground = (grey[:rim].mean(axis=0) + grey[-rim:].mean(axis=0)) / 2
    lighter, darker = np.percentile(grey, 99) - np.median(ground), np.median(ground) - np.percentile(grey, 1)
    if max(lighter, darker) < 50:
        return None
    if lighter >= darker:
        share = (grey - ground) / np.maximum(np.percentile(grey, 99) - ground, 30)
    else:
        share = (ground - grey) / np.maximum(ground - np.percentile(grey, 1), 30)
    return np.asarray(np.clip(share, 0, 1), dtype=np.float32)


def _marks(ink: Shape, threshold: float = 0.5) -> list[tuple[int, int, int, int]]:
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
    merged: list[tuple[int, int, int, int]] = []
    for box in found:
        if merged and box[2] <= merged[-1][2] + 0.3 * (box[2] - box[0]) and box[0] >= merged[-1][0]:
            last = merged[-1]
            merged[-1] = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            merged.append(box)
    return merged


def _parted(boxes: list[tuple[int, int, int, int]], text: str, tall: float) -> list[tuple[int, int, int, int]]:
    """Where two digits touch, their common box is cut in the middle; only where the count then comes out."""
    missing = len(text) - len(boxes)
    if missing <= 0 or not boxes:
        return boxes
    digits = [box for box in boxes if box[3] - box[1] >= 0.6 * tall]
    widths = sorted(box[2] - box[0] for box in digits)
    if not widths:
        return boxes
    one = min(widths[len(widths) // 2], 0.8 * tall)
    parted: list[tuple[int, int, int, int]] = []
    for left, top, right, bottom in boxes:
        parts = max(1, round((right - left) / one)) if bottom - top >= 0.6 * tall and right - left > 1.5 * one else 1
        step = (right - left) / parts
        parted += [(round(left + step * at), top, round(left + step * (at + 1)), bottom) for at in range(parts)]
    return parted


def _shape(ink: Shape, box: tuple[int, int, int, int], top: float, bottom: float) -> Shape:
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
