"""Finds the bars of a chart by their colours: pieces of one colour that begin at a common line.

All functions assume that bars run from left to right. A chart with vertical bars is turned before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gpuledger.extract.charts.outcome import Box
from gpuledger.extract.charts.picture import Pixels

#: How far a channel may differ from a bar's colour. JPEG at low quality changes flat colours by a dozen.
_TOLERANCE = 26
#: Two colours that differ by less may be the same colour at two places of one bar.
_ALIKE = 40
#: If a pixel differs by more from its four neighbours, there is an edge. A gradient changes only by a few levels per pixel.
_SMOOTH = 12
#: No chart has more colours than this. The rarer colours are blends at the borders of letters.
_MOST_COLOURS = 40
#: Pixels by which the left ends of bars may differ.
_LINE = 3
#: The halo of the line at which bars begin is this many pixels wide, and runs all along the line.
_HALO = 8
#: Side in pixels of the blocks in which JPEG stores colours.
_BLOCK = 16
#: A bar that ends at most this many pixels after another bar is the border of that bar, or its halo from JPEG or WebP.
_BORDER = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its box in whole pixels, and `end`, the column where it ends to a fraction of a pixel."""

    left: int
    top: int
    right: int
    bottom: int
    colour: tuple[int, int, int]
    end: float

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """The row in the middle of the bar."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Lane:
    """The bars in one line of the chart, ordered by their ends: one bar, or several nested bars."""

    bars: tuple[Bar, ...]

    @property
    def top(self) -> int:
        """The top row of the highest bar."""
        return min(bar.top for bar in self.bars)

    @property
    def bottom(self) -> int:
        """The bottom row of the lowest bar."""
        return max(bar.bottom for bar in self.bars)

    @property
    def middle(self) -> float:
        """The row in the middle of the lane."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Bars:
    """All lanes from top to bottom, and `zero`, the column at which they begin, to a fraction of a pixel."""

    zero: float
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    left: int
    top: int
    right: int
    bottom: int
    area: int
    colour: tuple[int, int, int]

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def is_frame(self) -> bool:
        """Whether other pixels fill most of its box."""
        return self.area < 0.3 * (self.right - self.left) * self.height

    def same_line(self, other: _Piece) -> bool:
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return shared >= 0.6 * min(self.height, other.height)


def find(picture: Pixels, word_boxes: Sequence[Box]) -> Bars | None:
    """The bars of a picture. None if fewer than two lanes begin at one line. `word_boxes` are the boxes of its words."""
    flat = _flat(picture)
    background = _commonest(np.concatenate([flat[0], flat[-1], flat[:, 0], flat[:, -1]]))
    pieces: list[_Piece] = []
    for colour in _colours(flat):
        of_colour = list(_pieces(flat, colour, background))
        if any(_is_picture_background(piece, flat) for piece in of_colour):
            continue
        pieces += [
            piece
            for piece in of_colour
            if piece.height < len(picture) / 2.5 and not _at_border(piece, picture) and not _letter(piece, word_boxes)
        ]
    pieces = _unshaded(pieces, flat)
    # Pieces of nearly the background's colour come second, because JPEG leaves such pieces beside the labels at one line.
    start = _common_left([piece for piece in pieces if not _is_like(piece, background)]) or _common_left(pieces)
    if start is None:
        return None
    # A frame of nearly the background's colour around bars is not a bar.
    pieces = [piece for piece in pieces if not (piece.is_frame and _is_like(piece, background))]
    starting = [piece for piece in pieces if abs(piece.left - start) <= _LINE and piece.right > start + _LINE]
    starting += [
        piece for piece in pieces if not _is_like(piece, background) and _behind_word(piece, start, word_boxes, pieces)
    ]
    starting = [piece for piece in starting if not _is_blend(piece, flat)]
    if not starting:
        return None
    usual = _usual_height(starting)
    grown = [
        _grow(piece, pieces)
        for piece in starting
        if max(5, (0.6 if _is_like(piece, background) else 0.4) * usual) <= piece.height <= 2.5 * usual
    ]
    behind = [
        piece
        for piece in _continuing(grown, pieces)
        if not _is_halo(piece, background) and not _is_across(piece, grown)
    ]
    tracked = _without_tracks([*grown, *behind], background)
    lanes = [_lane(flat, lane, background, word_boxes, picture) for lane in _lanes(tracked)]
    lanes = _without_shadows(lanes, background, word_boxes)
    lanes = _without_strangers(lanes, background)
    if len(lanes) < 2:
        return None
    zero = float(np.median([_edge(picture, lane.bars[0], start) for lane in lanes]))
    return Bars(zero=zero, lanes=tuple(lanes))


def _flat(picture: Pixels) -> Pixels:
    """The picture with a single colour in each box that has a gradient.

    A bar that is lighter at one end or side has many colours. Without this, each colour would count as a bar.
    """
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    smooth = (cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, cross).max(axis=2) <= _SMOOTH).astype(np.uint8)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(smooth, connectivity=4)
    flat = picture.copy()
    for number, (left, top, width, height, area) in enumerate(stats[1:count].tolist(), start=1):
        reaches_border = left <= 0 or top <= 0 or left + width >= picture.shape[1] or top + height >= picture.shape[0]
        if reaches_border or min(width, height) < 4 or area < _FULL * width * height:
            continue
        # Includes the blend at the border of the box, if its colour continues the gradient.
        rows, columns = slice(max(top - 2, 0), top + height + 2), slice(max(left - 2, 0), left + width + 2)
        inside, box = numbered[rows, columns] == number, picture[rows, columns]
        low, high = np.percentile(box[inside], (2, 98), axis=0)
        if (high - low).max() <= _TOLERANCE:
            continue
        weights = cv2.boxFilter(inside.astype(np.float32), -1, (7, 7), normalize=False)
        sums = cv2.boxFilter(box.astype(np.float32) * inside[:, :, None], -1, (7, 7), normalize=False)
        near = np.abs(box - sums / np.maximum(weights, 1)[:, :, None]).max(axis=2) <= _TOLERANCE / 2
        flat[rows, columns][near & (weights > 0)] = np.median(box[inside], axis=0).astype(np.uint8)
    return flat


def _usual_height(pieces: Sequence[_Piece]) -> int:
    """The height up to which pieces have half of all pixels.

    Pixels are counted and not pieces, because JPEG draws many pieces with few pixels along the sides of bars.
    """
    by_height = sorted(pieces, key=lambda piece: piece.height)
    reached = np.cumsum([piece.area for piece in by_height])
    return by_height[int(np.searchsorted(reached, reached[-1] / 2))].height


def _colours(picture: Pixels) -> Iterator[tuple[int, int, int]]:
    """The picture's flat colours except the one along its border, the commonest first."""
    coarse = (picture >> 3).astype(np.int32)
    codes = (coarse[:, :, 0] << 10 | coarse[:, :, 1] << 5 | coarse[:, :, 2]).ravel()
    counts = np.bincount(codes, minlength=1 << 15)
    least = max(40, picture.shape[0] * picture.shape[1] // 20_000)
    border = np.concatenate([coarse[0], coarse[-1], coarse[:, 0], coarse[:, -1]])
    seen: list[NDArray[np.int32]] = [_commonest(border)]
    order = np.argsort(counts)[::-1]
    for code in order:
        if counts[code] < least or len(seen) > _MOST_COLOURS:
            return
        colour = np.array([code >> 10, code >> 5 & 31, code & 31], dtype=np.int32)
        if any(np.abs(colour - other).max() <= 1 for other in seen):
            continue
        seen.append(colour)
        red, green, blue = (int(channel) * 8 + 4 for channel in colour)
        yield red, green, blue


def _commonest(colours: NDArray[Any]) -> NDArray[np.int32]:
    unique_colours, times = np.unique(colours, axis=0, return_counts=True)
    return np.asarray(unique_colours[times.argmax()], dtype=np.int32)


def _is_halo(piece: _Piece, background: NDArray[np.int32]) -> bool:
    """Whether a piece is a halo of JPEG after a bar's end: narrower than a block, and of nearly the background's colour."""
    return piece.right - piece.left < _BLOCK and _is_like(piece, background)


def _is_like(piece: _Piece | Bar, background: NDArray[np.int32]) -> bool:
    """Whether a piece has nearly the background's colour."""
    return bool(np.abs(np.array(piece.colour) - background).max() <= _ALIKE)


def _is_blend(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece consists of two touching bars, one lighter and one darker than the colour of their border."""
    box = picture[piece.top : piece.bottom, piece.left : piece.right].astype(np.int16)
    away = np.abs(box - np.array(piece.colour, dtype=np.int16)).max(axis=2)
    return bool((away <= _TOLERANCE / 2).sum() < _BLENDED * (away <= _TOLERANCE).sum())


#: Of the pixels that are like a bar's colour, at least this share is very close to it. It is a half if the colour changes
#: evenly along the bar.
_BLENDED = 0.3


def _pieces(picture: Pixels, colour: tuple[int, int, int], background: NDArray[np.int32]) -> Iterator[_Piece]:
    """The connected pieces of one colour that look like a box and not like a letter or a line."""
    is_background = bool(np.abs(np.array(colour) - background).max() <= _ALIKE)
    low = np.clip(np.array(colour) - _TOLERANCE, 0, 255).astype(np.uint8)
    high = np.clip(np.array(colour) + _TOLERANCE, 0, 255).astype(np.uint8)
    mask = cv2.inRange(picture, low, high)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    joined = [number for number in range(1, count) if _is_joined(stats[number], picture)]
    if joined:
        # Grid lines in the colour of the bars join the bars. Removing what is as narrow as a line leaves the bars.
        is_joined = np.isin(numbered, joined)
        alone = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((1, _WIDE), dtype=np.uint8))
        mask = np.where(is_joined, alone, mask)
        count, numbered, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    for number, (left, top, width, height, area) in enumerate(stats[1:count].tolist(), start=1):
        if width < 2 or height < 4 or area < 12:
            continue
        first, last, width = _without_thread(numbered[top : top + height, left : left + width] == number)
        top, height = top + first, last - first
        tick = _tick(numbered[top : top + height, left : left + width] == number)
        left, width = left + tick, width - tick
        # The longer of two nested bars may be only a frame around the shorter bar. Then it has a full end, which the blend
        # of two colours along their border does not have.
        is_full = area >= _FULL * width * height
        # A rounded bar is full at half its height before its end.
        ends = [
            numbered[top + 1 : top + height - 1, max(left, right - 4) : right - 1]
            for right in (left + width, max(left + width - height // 2, left + 1))
        ]
        is_dense = area >= (0.35 if width < 3 * height else 0.06) * width * height
        if is_full or (
            is_dense
            and any(_share(end == number) >= 0.6 for end in ends)
            and _is_around(numbered[top : top + height, left : left + width] == number)
        ):
            yield _Piece(left, top, left + width, top + height, area, colour)
        elif not is_background and width > 2 * _BLOCK and area >= _HALF_FULL * width * height:
            yield from _thick_parts(numbered[top : top + height, left : left + width] == number, (left, top), colour)


def _thick_parts(
    is_piece: NDArray[np.bool_], corner: tuple[int, int], colour: tuple[int, int, int]
) -> Iterator[_Piece]:
    """The bars in a piece, without parts that are thinner than any bar.

    If a lighter bar is beside dark bars, the blend along its border has the dark colour and joins the dark bars.
    """
    thick = cv2.morphologyEx(is_piece.astype(np.uint8), cv2.MORPH_OPEN, np.ones((_LINE, _LINE), dtype=np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(thick, connectivity=4)
    for left, top, width, height, area in stats[1:count].tolist():
        if width > 2 * _BLOCK and height > 4 and area >= _FULL * width * height:
            left, top = left + corner[0], top + corner[1]
            yield _Piece(left, top, left + width, top + height, area, colour)


def _is_around(is_piece: NDArray[np.bool_]) -> bool:
    """Whether a piece surrounds its content above and below, unlike a grid line or the border of a neighbouring bar."""
    third = max(1, len(is_piece) // 3)
    # A grid line is narrower than the visible part of a longer bar behind a shorter bar.
    is_wide = _share(is_piece[1:-1, -1 - _WIDE : -1]) >= _FULL
    return is_wide or all(float(part.any(axis=0).mean()) >= 0.5 for part in (is_piece[:third], is_piece[-third:]))


def _without_thread(is_piece: NDArray[np.bool_]) -> tuple[int, int, int]:
    """The first row, the row after the last, and the width of a piece without the long rows at its border.

    A few rows at the border go on further than the others if a longer neighbouring bar has the same colour there.
    """
    height, width = is_piece.shape
    whole = 0, height, width
    if height < 8 or is_piece[:, max(0, width - _LINE) :].mean() > _THREAD:
        return whole
    broad = np.flatnonzero(is_piece.mean(axis=0) > _THREAD)
    if not broad.size or broad[-1] + _BORDER >= width:
        return whole
    rows = np.flatnonzero(~is_piece[:, broad[-1] + _BORDER :].any(axis=1))
    if len(rows) < height / 2:
        return whole
    first, last, end = int(rows[0]), int(rows[-1]) + 1, int(broad[-1]) + 1
    return (first, last, end) if is_piece[first:last, :end].mean() >= _FULL else whole


def _tick(is_piece: NDArray[np.bool_]) -> int:
    """The number of columns at the left of a piece that are a tick of the axis, between a label and its bar.

    A tick is thin and at half the bar's height. If its edge has the bar's colour, all bars seem to begin at their ticks.
    """
    height = len(is_piece)
    outer = np.concatenate([is_piece[: height // 4], is_piece[-(height // 4) :]]) if height >= 8 else is_piece
    begin = int(outer.any(axis=0).argmax())
    return begin if begin <= height and not (is_piece[:, :begin].mean(axis=0) > _THREAD).any() else 0


#: Share of its box that a bar fills at least, even with letters in it.
_FULL = 0.6
#: The same share for a bar that is joined to the border of a neighbouring bar.
_HALF_FULL = 0.25
#: A thin line along a bar's border has at most this share of the bar's height.
_THREAD = 0.3
#: A vertical line is narrower than this, in pixels.
_WIDE = 6


def _is_joined(stats: NDArray[np.int32], picture: Pixels) -> bool:
    """Whether a connected part is higher and wider than any bar, and emptier than a background."""
    _, _, width, height, area = (int(value) for value in stats)
    return height > 0.4 * len(picture) and width > 0.1 * picture.shape[1] and area < 0.6 * width * height


def _unshaded(pieces: list[_Piece], picture: Pixels) -> list[_Piece]:
    """The pieces, with slices of the same bar joined. A bar has slices if its colour changes from top to bottom."""
    joined: list[_Piece] = []
    begun: dict[int, list[int]] = {}  # indices by left column, because an edge of a photograph has thousands of pieces
    for piece in sorted(pieces, key=lambda piece: (piece.top, piece.left)):
        near = sorted(at for left in range(piece.left - _LINE, piece.left + _LINE + 1) for at in begun.get(left, ()))
        at = next((at for at in near if _is_slice(piece, joined[at], picture)), None)
        if at is None:
            begun.setdefault(piece.left, []).append(len(joined))
            joined.append(piece)
            continue
        above = joined[at]
        whole = max(piece, above, key=lambda piece: piece.area)
        right, bottom = max(piece.right, above.right), max(piece.bottom, above.bottom)
        area = (right - above.left) * (bottom - above.top)
        joined[at] = replace(whole, left=above.left, right=right, top=above.top, bottom=bottom, area=area)
    return joined


def _is_slice(piece: _Piece, above: _Piece, picture: Pixels) -> bool:
    """Whether a piece begins where the piece `above` ends, is as wide, and has no border in between."""
    alike = abs(piece.left - above.left) <= _LINE and abs(piece.right - above.right) <= _LINE
    goes_on = above.top + _LINE < piece.top <= above.bottom + 1 and piece.bottom > above.bottom + _LINE
    if not alike or not goes_on or piece.colour == above.colour or piece.right - piece.left < _BLOCK:
        return False
    top, bottom = min(piece.top, above.top) + 1, max(piece.bottom, above.bottom) - 1
    # There may be letters at one end of the bar, but hardly at both.
    for low, high in ((above.left + 3, above.left + 7), (piece.right - 8, piece.right - 4)):
        rows = np.median(picture[top:bottom, low:high].astype(np.int16), axis=1)
        if len(rows) > 1 and np.abs(np.diff(rows, axis=0)).max() <= _SHADED:
            return True
    return False


#: In a bar whose colour changes from top to bottom, the colours of two neighbouring rows differ by at most this much.
_SHADED = 12


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if which.size else 0.0


def _is_picture_background(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece is the background of the bars: higher than any bar, and wider than a line."""
    height, width = picture.shape[:2]
    return bool(piece.height > 0.5 * height and piece.right - piece.left > 0.02 * width)


def _at_border(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece reaches the border of the picture. The shading of a row does, but no bar."""
    return piece.left <= 0 or piece.right >= picture.shape[1] - 1


def _letter(piece: _Piece, word_boxes: Sequence[Box]) -> bool:
    """Whether a piece is inside a word, like the strokes of its letters and the holes in them."""
    for left, top, right, bottom in word_boxes:
        across = min(piece.right, right) - max(piece.left, left)
        down = min(piece.bottom, bottom) - max(piece.top, top)
        is_wider = piece.left < left - _LINE and piece.right > right + _LINE
        is_line = piece.height >= 0.6 * (bottom - top) and piece.right - piece.left > 2.5 * piece.height
        if is_wider or is_line or piece.right > right + _BORDER:
            continue  # letters are narrow and end with their word, so this piece is the background of the letters
        if across >= 0.85 * (piece.right - piece.left) and down >= 0.85 * piece.height:
            return True
    return False


def _behind_word(piece: _Piece, start: int, word_boxes: Sequence[Box], pieces: list[_Piece]) -> bool:
    """Whether a piece is a bar that begins at the line among the letters of a word, where JPEG destroys its colour.

    Such a piece goes on far beyond the word, perhaps after a grid line.
    """
    return any(
        abs(left - start) <= _BLOCK
        and start + _LINE < piece.left <= right + _BORDER
        and top < (piece.top + piece.bottom) / 2 < bottom
        and right + _BORDER < _grow(piece, pieces).right - 2 * piece.height
        for left, top, right, bottom in word_boxes
    )


def _common_left(pieces: list[_Piece]) -> int | None:
    """The column at which most pieces below each other begin. If several columns are nearly as good, the first one.

    Grid lines over the bars cut many of them at a later column.
    """
    counts: dict[int, int] = {}
    for left in sorted({piece.left for piece in pieces}):
        tops = sorted(
            (piece.top, piece.bottom)
            for piece in pieces
            if abs(piece.left - left) <= 1 and piece.height >= 5 and piece.right - piece.left > _HALO
        )
        counts[left], reached = 0, -1
        for top, bottom in tops:
            if top >= reached:
                counts[left], reached = counts[left] + 1, bottom - 1
    most = max(counts.values(), default=0)
    if most < 2:
        return None
    first = next(left for left, count in counts.items() if count >= _AS_GOOD * most)
    # Of neighbouring columns, take the one with the most pieces.
    return max(range(first, first + _LINE), key=lambda left: counts.get(left, 0))


#: A column further left is the line if at least this share of the largest number of pieces begins there.
_AS_GOOD = 0.75


def _grow(piece: _Piece, pieces: list[_Piece]) -> _Piece:
    """The piece, joined with pieces of its colour and line that letters or grid lines have cut off."""
    right = piece.right
    later = sorted(
        (part for part in pieces if part.colour == piece.colour and part.left > piece.left and part.same_line(piece)),
        key=lambda part: part.left,
    )
    for part in later:
        if part.left - right <= _LINE + 1 and part.height >= 0.8 * piece.height:
            right = max(right, part.right)
    return _Piece(piece.left, piece.top, right, piece.bottom, piece.area, piece.colour)


def _continuing(bars: list[_Piece], pieces: list[_Piece]) -> Iterator[_Piece]:
    """Pieces of another colour that go on where a bar ends: the longer of two nested bars, seen behind the shorter bar."""
    for bar in bars:
        for piece in pieces:
            # A grid line over the bars may cut the longer bar before the shorter bar ends.
            is_around = piece.left < bar.right < piece.right - _BORDER and piece.height <= 1.6 * bar.height
            is_beyond_line = 0 < piece.left - bar.right <= _LINE + _WIDE and piece.height <= 1.6 * bar.height
            near = abs(piece.left - bar.right) <= _LINE or is_beyond_line or is_around
            # The rest of a grid line between two bars is not a bar.
            is_bar = piece.right - piece.left > _LINE and piece.height <= 2.5 * bar.height
            if (
                near
                and is_bar
                and piece.colour != bar.colour
                and piece.same_line(bar)
                and piece.height >= 0.6 * bar.height
            ):
                yield _grow(piece, pieces)


def _is_across(piece: _Piece, bars: Sequence[_Piece]) -> bool:
    """Whether a piece lies across several bars below each other. A letter of a watermark does, but no bar."""
    crossed = [bar for bar in bars if piece.top < (bar.top + bar.bottom) / 2 < piece.bottom]
    if not crossed:
        return False
    first, *_, last = sorted((*crossed, crossed[0]), key=lambda bar: bar.top + bar.bottom)
    return not first.same_line(last)


def _without_tracks(pieces: list[_Piece], background: NDArray[np.int32]) -> list[_Piece]:
    """The pieces without those that end at one column in most lines: the shading of rows, or the track of a bar."""
    bars = []
    for piece in pieces:
        alike = [other for other in pieces if other.colour == piece.colour]
        ends = [other for other in alike if abs(other.right - piece.right) <= 1]
        # Every other row may be shaded. Then the shading has nearly the background's colour, and it ends after all bars or,
        # in many rows, at one grid line.
        is_behind = piece.right >= max(other.right for other in pieces) - 1 or len(ends) >= _MANY
        is_shading = _is_like(piece, background) and is_behind
        if len(ends) < 3 or len(ends) < 0.6 * len(alike) or not (is_shading or len(alike) >= 0.3 * len(pieces)):
            bars.append(piece)
    return bars


#: If this many pieces of one colour end at one column, they are not bars, because no five values of a series are equal.
_MANY = 5


def _lanes(pieces: Iterable[_Piece]) -> list[list[_Piece]]:
    lanes: list[list[_Piece]] = []
    for piece in sorted(set(pieces), key=lambda part: (part.top + part.bottom, part.left)):
        for lane in lanes[-3:]:
            if any(piece.same_line(other) for other in lane):
                lane.append(piece)
                break
        else:
            lanes.append([piece])
    return lanes


def _without_shadows(lanes: list[Lane], background: NDArray[np.int32], word_boxes: Sequence[Box]) -> list[Lane]:
    """The lanes without those that have nearly the background's colour and are lower than the bars.

    JPEG draws such lanes between two bars. Others are the shading of a row between its bars and the next, without a word.
    """
    usual = float(np.median([lane.bottom - lane.top for lane in lanes])) if lanes else 0.0

    def is_bar(lane: Lane) -> bool:
        has_word = any(
            top <= lane.middle <= bottom and left + right > 2 * lane.bars[0].left
            for left, top, right, bottom in word_boxes
        )
        is_high = lane.bottom - lane.top > (_LOW if has_word else _LOW_AND_EMPTY) * usual
        return is_high or not all(_is_like(bar, background) for bar in lane.bars)

    return [lane for lane in lanes if is_bar(lane)]


def _without_strangers(lanes: list[Lane], background: NDArray[np.int32]) -> list[Lane]:
    """The lanes without a watermark behind the bars of one or two lanes.

    It has nearly the background's colour, and these lanes have more bars than is usual.
    """
    usual = Counter(len(lane.bars) for lane in lanes).most_common(1)
    strange = [
        lane for lane in lanes if usual and len(lane.bars) > max(1, usual[0][0]) and _is_like(lane.bars[-1], background)
    ]
    if len(strange) > max(1, _STRANGE * len(lanes)):
        return lanes
    return [Lane(lane.bars[:-1]) if lane in strange else lane for lane in lanes]


#: At most this share of the lanes has a watermark behind its bars.
_STRANGE = 0.25
#: If a lane has nearly the background's colour and less than this share of the usual height, it is not a lane.
_LOW = 0.65
#: The same share for a lane without a word.
_LOW_AND_EMPTY = 0.8


def _lane(
    picture: Pixels,
    pieces: list[_Piece],
    background: NDArray[np.int32],
    word_boxes: Sequence[Box] = (),
    original: Pixels | None = None,
) -> Lane:
    """The lane with one bar for each end: two pieces that end at the same place are a bar and its border.

    `word_boxes` are the boxes of words, which may be inside bars. The exact ends of the bars are measured in the `original`,
    if `picture` was changed.
    """
    bars: list[Bar] = []
    pieces = [piece for piece in pieces if not _is_fragment(piece, word_boxes)] or pieces
    for alike in _by_end(pieces):
        end = max(piece.right for piece in alike)
        longer = [piece for piece in pieces if piece.right > end]
        # A blend of two colours is like both colours. It must not join two bars into one.
        own = [piece for piece in alike if not any(_same_bar(piece, other, word_boxes) for other in longer)]
        if not own or max(piece.area for piece in own) < 0.5 * max(piece.area for piece in alike):
            continue
        piece = next(part for part in own if not any(_same_bar(part, other, word_boxes) for other in own))
        bar = Bar(piece.left, piece.top, piece.right, piece.bottom, piece.colour, float(piece.right))
        is_nested = any(_goes_on(piece, other) for other in pieces)
        behind = 0 if is_nested else _behind_number(picture, bar, word_boxes)
        over = 0 if is_nested else _over_lines(picture, bar, background)
        # A bar with a gradient has one flat colour in `picture`, which may be far from the colour of its end.
        further = _further(picture if original is None else original, bar)
        right = piece.right + (behind or -_halo(picture, bar, background) or over or further)
        if bars and right - bars[-1].right <= _BORDER:
            continue
        exactly = _edge(picture if original is None else original, bar, right, background)
        bars.append(Bar(bar.left, bar.top, right, bar.bottom, bar.colour, exactly))
    return Lane(tuple(bars))


def _is_fragment(piece: _Piece, word_boxes: Sequence[Box]) -> bool:
    """Whether a piece is the part of a bar that is visible between the letters of a word."""
    middle = (piece.top + piece.bottom) / 2
    return piece.right - piece.left < 2 * piece.height and any(
        left - _LINE <= piece.left and piece.right <= right + _BORDER and top < middle < bottom
        for left, top, right, bottom in word_boxes
    )


def _by_end(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Groups of pieces that end at the same place, ordered by this place."""
    group: list[_Piece] = []
    for piece in sorted(set(pieces), key=lambda part: (part.right, -part.area)):
        if group and piece.right - group[0].right > _BORDER:
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _behind_number(picture: Pixels, bar: Bar, word_boxes: Sequence[Box]) -> int:
    """Pixels by which a bar goes on around and after the number at its end, whose letters cut the bar. 0 if it does not.

    Each row of pixels is compared with its own colour further left, because a bar may be lighter at its top.
    """
    rows = picture[bar.top + 1 : bar.bottom - 1].astype(np.int32)
    over = [
        right
        for left, top, right, bottom in word_boxes
        if left - _HALO < bar.right < right and top < bar.middle < bottom
    ]
    if not over or max(over) <= bar.right + _LINE or len(rows) < 8 or bar.right - bar.left < 4 * _BLOCK:
        return 0
    last = round(max(over)) + 2 * bar.height
    if last + _BLOCK >= picture.shape[1]:
        return 0
    own = np.median(rows[:, bar.right - 3 * _BLOCK : bar.right - _HALO], axis=1)
    # Rows in which the bar cannot be distinguished from what is behind it are left out.
    is_seen = np.abs(own - np.median(rows[:, last : last + _BLOCK], axis=1)).max(axis=1) > _ALIKE
    rows, own = rows[is_seen, :last], own[is_seen]
    if len(rows) < bar.height / 3:
        return 0
    is_own = (np.abs(rows[:, bar.right :] - own[:, None]).max(axis=2) <= _ALIKE).mean(axis=0) >= _AROUND_LETTERS
    end = next((at for at in range(len(is_own)) if not is_own[at : at + _LINE + 1].any()), 0)
    return end if bar.right + end >= max(over) else 0


#: Share of a bar's rows that are visible above, below and between the letters in it.
_AROUND_LETTERS = 0.12


def _over_lines(picture: Pixels, bar: Bar, background: NDArray[np.int32]) -> int:
    """Pixels by which a bar goes on after a grid line that was drawn over it. 0 if it does not.

    This is measured where there are no letters: along the upper and the lower border of the bar.
    """
    if bar.height < 10 or bar.right - bar.left < _BLOCK:
        return 0
    rows = picture[[bar.top + 2, bar.top + 3, bar.bottom - 4, bar.bottom - 3]].astype(np.int32)
    own = np.median(rows[:, max(bar.left, bar.right - 3 * _BLOCK) : bar.right - 2].reshape(-1, 3), axis=0)
    if np.abs(own - background).max() <= _ALIKE:
        return 0
    away = np.abs(rows[:, bar.right :] - own).max(axis=2)
    is_own = (away <= _ALIKE).mean(axis=0) >= 0.5
    # A line of nearly the bar's colour cuts the bar too.
    is_line = (away > _TOLERANCE).mean(axis=0) >= 0.5
    reached = 0
    for at, goes_on in enumerate(is_own):
        if goes_on:
            reached = at + 1
        elif at - reached >= _LINE:
            break
    lines = np.flatnonzero(is_line[:reached])
    # After the line the bar goes on in all rows, but letters would not.
    is_cut = bool(lines.size) and bool((away[:, lines[-1] + 1 : reached] <= _TOLERANCE).all(axis=0).any())
    return reached if (is_cut or reached > 3 * _BLOCK) and _LINE < reached < len(is_own) - 1 else 0


def _further(picture: Pixels, bar: Bar) -> int:
    """Pixels by which a bar goes on in a colour that JPEG has changed slightly in the block where the bar ends.

    0 if it does not go on, or if no end is found within a block.
    """
    rows = picture[bar.top + 2 : bar.bottom - 2, bar.right - _BLOCK : bar.right + _BLOCK + 2]
    if bar.right - bar.left < 2 * _BLOCK or rows.shape[0] < 2 or rows.shape[1] < 2 * _BLOCK + 2:
        return 0
    columns = np.median(rows, axis=0)
    own = np.median(columns[: _BLOCK - 2], axis=0)
    # If bar and background are alike, pixels that are nearer to the background are the halo of the bar.
    limit = min(_ALIKE, np.abs(np.median(columns[-_BORDER:], axis=0) - own).max() / 2)
    is_own = np.abs(columns[_BLOCK:] - own).max(axis=1) <= limit
    return 0 if is_own.all() else int(is_own.argmin())


def _goes_on(piece: _Piece, other: _Piece) -> bool:
    """Whether another bar is visible behind the end of a piece."""
    begins = abs(other.left - piece.right) <= _LINE and other.right > piece.right + _BORDER
    return begins and other.height >= 0.6 * piece.height and not _are_alike(piece, other)


def _are_alike(piece: _Piece, other: _Piece) -> bool:
    return max(abs(first - second) for first, second in zip(piece.colour, other.colour, strict=True)) <= _ALIKE


def _halo(picture: Pixels, bar: Bar, background: NDArray[np.int32]) -> int:
    """Pixels by which a bar ends before its piece ends.

    If bar and background are alike, the halo that JPEG draws after the end has nearly the colour of the bar.
    """
    first, last = bar.right - _BLOCK, bar.right + _BLOCK
    rows = picture[bar.top + 2 : bar.bottom - 2, max(0, first) : last].astype(np.float64)
    if bar.right - bar.left < 2 * _BLOCK or rows.shape[0] < 4 or rows.shape[1] < 2 * _BLOCK:
        return 0
    columns = np.median(rows, axis=0)
    inside, behind = np.median(columns[: _BLOCK - _HALO], axis=0), rows[:, _BLOCK + 3 : _BLOCK + 8].reshape(-1, 3)
    # A number may begin there and cover more of these columns than the background.
    is_background = np.abs(behind - background).max(axis=1) <= _TOLERANCE
    outside = np.median(
        behind[is_background] if is_background.mean() >= _SEEN else columns[_BLOCK + 3 : _BLOCK + 8], axis=0
    )
    step = outside - inside
    if (step**2).sum() < 30**2:
        return 0
    is_behind = ((columns - inside) @ step / (step**2).sum() > 0.5)[: _BLOCK + 3]
    end = int(is_behind.argmax())
    away = _BLOCK - end
    return away if 2 <= away <= _BORDER and bool(is_behind[end:].all()) else 0


#: Share of the pixels after a bar that must show the background if there is a number among them.
_SEEN = 0.2


def _same_bar(piece: _Piece, other: _Piece, word_boxes: Sequence[Box] = ()) -> bool:
    """Whether a piece is the beginning of another piece, cut off by letters or changed in colour by JPEG."""
    # A blend of two colours is a frame around the bar and not the bar itself.
    is_longer = other.left <= piece.left + _LINE and other.area >= 0.5 * piece.area
    begins = is_longer or 0 < other.left - piece.right <= 2 * piece.height or _is_between(piece, other, word_boxes)
    return _are_alike(piece, other) and other.right > piece.right and begins


def _is_between(piece: _Piece, other: _Piece, word_boxes: Sequence[Box]) -> bool:
    """Whether one word fills the whole gap between two pieces: the letters of a number that is as high as its bar."""
    low, high = max(piece.top, other.top), min(piece.bottom, other.bottom)
    is_beside = other.left > piece.right and piece.height >= 0.6 * other.height and high - low >= 0.8 * piece.height
    return is_beside and any(
        left <= piece.right + _WITHIN_WORD and right >= other.left - _WITHIN_WORD and top < (low + high) / 2 < bottom
        for left, top, right, bottom in word_boxes
    )


#: JPEG may destroy a bar's colour up to this many pixels beside the box of a word.
_WITHIN_WORD = 8


def _edge(picture: Pixels, bar: Bar, column: int, background: NDArray[np.int32] | None = None) -> float:
    """The place near `column` where the bar's colour changes, to a fraction of a pixel.

    It is computed from the part of each pixel that the bar covers. Each row of pixels gives a result, and the median counts,
    because letters and grid lines disturb only some rows. If letters begin in most rows, only the rows that show the
    `background` count.
    """
    reach = 3
    low, high = max(0, column - reach), min(picture.shape[1], column + reach)
    rows = picture[bar.top + 1 : max(bar.bottom - 1, bar.top + 2), low:high].astype(np.float64)
    if rows.shape[1] < 2 * reach:
        return float(column)
    if background is not None:
        is_background = np.abs(rows[:, -1] - background).max(axis=1) <= _TOLERANCE
        rows = rows[is_background] if is_background.mean() >= _SEEN else rows
    first, last = rows[:, 0], rows[:, -1]
    beside = _beside(picture, bar, (low, high), (np.median(first, axis=0), np.median(last, axis=0)))
    under = last[:, None] if beside is None else beside[None]
    step = under - first[:, None]
    size = (step**2).sum(axis=2)
    clear = (size > 30**2).all(axis=1)
    if not clear.any():
        return float(column)
    share = ((rows - first[:, None]) * step).sum(axis=2)[clear] / size[clear]
    return float(low + np.median((1 - np.clip(share, 0, 1)).sum(axis=1)))


def _beside(
    picture: Pixels, bar: Bar, columns: tuple[int, int], ends: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64] | None:
    """The pixels under the end of a bar if there is a grid line, taken from the line above or below the bar.

    `ends` are the colours at both ends of these columns, in the bar and after it. None if there is no line, or if something
    else is above and below the bar.
    """
    inside, outside = ends
    low, high = columns
    for start in (bar.top - _AWAY - 2, bar.bottom + _AWAY):
        if start < 0 or start + 2 > len(picture):
            continue
        strip = picture[start : start + 2, low:high].astype(np.float64).mean(axis=0)
        is_background = (
            np.abs(strip[-1] - outside).max() <= _SAME and np.abs(strip - inside).max(axis=1).min() > _TOLERANCE
        )
        if is_background and np.abs(strip - strip[-1]).max() > _SAME:
            return np.asarray(strip, dtype=np.float64)
    return None


#: Rows of pixels between a bar and the strip that is taken for the background beside it, and how far the colours of one
#: background may differ.
_AWAY = 2
_SAME = 20
