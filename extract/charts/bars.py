"""The bars of a chart, found by their colours: pieces of one colour that begin at a common line.

Everything here is as if bars ran from left to right; a chart with standing bars is turned first.
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

#: How far a channel may be from a bar's colour: JPEG at low quality moves flat colours by a dozen.
_TOLERANCE = 26
#: Two colours that differ less are one, here and there in the same bar.
_ALIKE = 40
#: A pixel and the four around it that differ by more are two things: what goes over into another colour does so by a few a
#: pixel.
_SMOOTH = 12
#: More colours than this no chart has; what comes later are the blends at the borders of letters.
_MOST_COLOURS = 40
#: Pixels by which the left ends of bars may differ.
_LINE = 3
#: The halo of the line at which bars begin is so many pixels wide, and lies below itself all along it.
_HALO = 8
#: Pixels a side of the blocks in which JPEG keeps colours.
_BLOCK = 16
#: A bar that ends so few pixels after another is that one's border, or the halo that JPEG and WebP draw around it.
_BORDER = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: whole pixels of its box, and `end`, where it ends to a fraction of a pixel."""

    left: int
    top: int
    right: int
    bottom: int
    colour: tuple[int, int, int]
    end: float

    @property
    def height(self) -> int:
        """In pixels."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Of its height."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Lane:
    """The bars that lie in one line of the chart, by where they end: one, or several that are nested."""

    bars: tuple[Bar, ...]

    @property
    def top(self) -> int:
        """Of the highest bar."""
        return min(bar.top for bar in self.bars)

    @property
    def bottom(self) -> int:
        """Of the lowest bar."""
        return max(bar.bottom for bar in self.bars)

    @property
    def middle(self) -> float:
        """Of its height."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Bars:
    """All lanes from top to bottom, and the line at which they begin, to a fraction of a pixel."""

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
        """Whether most of its box is something else."""
        return self.area < 0.3 * (self.right - self.left) * self.height

    def same_line(self, other: _Piece) -> bool:
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return shared >= 0.6 * min(self.height, other.height)


def find(picture: Pixels, words: Sequence[Box]) -> Bars | None:
    """The bars of a picture whose words stand in `words`; None where fewer than two begin at one line."""
    flat = _flat(picture)
    ground = _commonest(np.concatenate([flat[0], flat[-1], flat[:, 0], flat[:, -1]]))
    pieces: list[_Piece] = []
    for colour in _colours(flat):
        of_colour = list(_pieces(flat, colour, ground))
        if any(_ground(piece, flat) for piece in of_colour):
            continue
        pieces += [
            piece
            for piece in of_colour
            if piece.height < len(picture) / 2.5 and not _at_border(piece, picture) and not _letter(piece, words)
        ]
    pieces = _unshaded(pieces, flat)
    # What JPEG leaves of the ground's colour beside the labels begins at one line too.
    start = _common_left([piece for piece in pieces if not _is_like(piece, ground)]) or _common_left(pieces)
    if start is None:
        return None
    # What lies around the bars on the ground is no longer bar.
    pieces = [piece for piece in pieces if not (piece.is_frame and _is_like(piece, ground))]
    begun = [piece for piece in pieces if abs(piece.left - start) <= _LINE and piece.right > start + _LINE]
    begun += [piece for piece in pieces if not _is_like(piece, ground) and _behind_word(piece, start, words, pieces)]
    begun = [piece for piece in begun if not _is_blend(piece, flat)]
    if not begun:
        return None
    usual = _usual_height(begun)
    grown = [
        _grow(piece, pieces)
        for piece in begun
        if max(5, (0.6 if _is_like(piece, ground) else 0.4) * usual) <= piece.height <= 2.5 * usual
    ]
    behind = [
        piece for piece in _continuing(grown, pieces) if not _is_halo(piece, ground) and not _is_across(piece, grown)
    ]
    tracked = _without_tracks([*grown, *behind], ground)
    lanes = [_lane(flat, lane, ground, words, picture) for lane in _lanes(tracked)]
    lanes = _without_shadows(lanes, ground, words)
    lanes = _without_strangers(lanes, ground)
    if len(lanes) < 2:
        return None
    zero = float(np.median([_edge(picture, lane.bars[0], start) for lane in lanes]))
    return Bars(zero=zero, lanes=tuple(lanes))


def _flat(picture: Pixels) -> Pixels:
    """The picture with one colour in each box that goes over from one into another: a bar that is lighter at one end or side
    is of many colours, each of which would be a bar.
    """
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    smooth = (cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, cross).max(axis=2) <= _SMOOTH).astype(np.uint8)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(smooth, connectivity=4)
    flat = picture.copy()
    for number, (left, top, width, height, area) in enumerate(stats[1:count].tolist(), start=1):
        reaches_border = left <= 0 or top <= 0 or left + width >= picture.shape[1] or top + height >= picture.shape[0]
        if reaches_border or min(width, height) < 4 or area < _FULL * width * height:
            continue
        # With the blend at its border, where that goes on as the box does.
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
    """Half of all pixels are in pieces no higher: what JPEG draws along the sides of bars is many pieces and few pixels."""
    by_height = sorted(pieces, key=lambda piece: piece.height)
    reached = np.cumsum([piece.area for piece in by_height])
    return by_height[int(np.searchsorted(reached, reached[-1] / 2))].height


def _colours(picture: Pixels) -> Iterator[tuple[int, int, int]]:
    """The picture's flat colours but the one along its border, the commonest first."""
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
    found, times = np.unique(colours, axis=0, return_counts=True)
    return np.asarray(found[times.argmax()], dtype=np.int32)


def _is_halo(piece: _Piece, ground: NDArray[np.int32]) -> bool:
    """Whether it is what JPEG draws behind a bar's end: narrower than its blocks, and nearly of the ground's colour."""
    return piece.right - piece.left < _BLOCK and _is_like(piece, ground)


def _is_like(piece: _Piece | Bar, ground: NDArray[np.int32]) -> bool:
    """Whether a piece is nearly of the ground's colour."""
    return bool(np.abs(np.array(piece.colour) - ground).max() <= _ALIKE)


def _is_blend(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece is two bars that touch, one lighter and one darker than its colour, which is that of their border."""
    box = picture[piece.top : piece.bottom, piece.left : piece.right].astype(np.int16)
    away = np.abs(box - np.array(piece.colour, dtype=np.int16)).max(axis=2)
    return bool((away <= _TOLERANCE / 2).sum() < _BLENDED * (away <= _TOLERANCE).sum())


#: Share of the pixels like a bar's colour that are nearer to it: half of them are where it changes evenly along the bar.
_BLENDED = 0.3


def _pieces(picture: Pixels, colour: tuple[int, int, int], ground: NDArray[np.int32]) -> Iterator[_Piece]:
    """What is connected and of this colour, and rather a box than a letter or a line."""
    is_ground = bool(np.abs(np.array(colour) - ground).max() <= _ALIKE)
    low = np.clip(np.array(colour) - _TOLERANCE, 0, 255).astype(np.uint8)
    high = np.clip(np.array(colour) + _TOLERANCE, 0, 255).astype(np.uint8)
    mask = cv2.inRange(picture, low, high)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    joined = [number for number in range(1, count) if _is_joined(stats[number], picture)]
    if joined:
        # Lines of a grid in the colour of the bars join them: the bars are what is wider than a line.
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
        # The longer bar of a nest may be no more than a frame around the shorter one, and then has a full end; the blend of
        # two colours along their border has none.
        is_full = area >= _FULL * width * height
        # A round end is full half a height before it.
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
        elif not is_ground and width > 2 * _BLOCK and area >= _HALF_FULL * width * height:
            yield from _thick_parts(numbered[top : top + height, left : left + width] == number, (left, top), colour)


def _thick_parts(
    is_piece: NDArray[np.bool_], corner: tuple[int, int], colour: tuple[int, int, int]
) -> Iterator[_Piece]:
    """The bars in a piece without what is thinner than any: the blend along the border of a lighter bar beside a dark one is
    of the dark one's colour, and joins them.
    """
    thick = cv2.morphologyEx(is_piece.astype(np.uint8), cv2.MORPH_OPEN, np.ones((_LINE, _LINE), dtype=np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(thick, connectivity=4)
    for left, top, width, height, area in stats[1:count].tolist():
        if width > 2 * _BLOCK and height > 4 and area >= _FULL * width * height:
            left, top = left + corner[0], top + corner[1]
            yield _Piece(left, top, left + width, top + height, area, colour)


def _is_around(is_piece: NDArray[np.bool_]) -> bool:
    """Whether a piece goes on above and below what is in it, unlike a line of a grid and the border of the bar beside it."""
    third = max(1, len(is_piece) // 3)
    # A line of a grid is narrower than what is seen of the longer bar behind the shorter one.
    is_wide = _share(is_piece[1:-1, -1 - _WIDE : -1]) >= _FULL
    return is_wide or all(float(part.any(axis=0).mean()) >= 0.5 for part in (is_piece[:third], is_piece[-third:]))


def _without_thread(is_piece: NDArray[np.bool_]) -> tuple[int, int, int]:
    """First row, row after the last and width of a piece without the few rows at its border in which it goes on further than
    in the others: the longer bar beside it has the same colour there.
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
    """Columns at the left of a piece that are the mark of the axis between a label and its bar: thin, and at half its
    height. Where its edge is of the bar's colour, all bars of the chart seem to begin where their marks do.
    """
    height = len(is_piece)
    outer = np.concatenate([is_piece[: height // 4], is_piece[-(height // 4) :]]) if height >= 8 else is_piece
    begin = int(outer.any(axis=0).argmax())
    return begin if begin <= height and not (is_piece[:, :begin].mean(axis=0) > _THREAD).any() else 0


#: Share of its box that a bar fills, whatever letters are in it.
_FULL = 0.6
#: The same of a bar with the border of one of its height beside it.
_HALF_FULL = 0.25
#: Share of a bar's height that a thin line along its border has at most.
_THREAD = 0.3
#: A standing line is narrower than this.
_WIDE = 6


def _is_joined(stats: NDArray[np.int32], picture: Pixels) -> bool:
    """Whether a connected part is so high and wide as no bar is, and so empty as no ground is."""
    _, _, width, height, area = (int(one) for one in stats)
    return height > 0.4 * len(picture) and width > 0.1 * picture.shape[1] and area < 0.6 * width * height


def _unshaded(pieces: list[_Piece], picture: Pixels) -> list[_Piece]:
    """The pieces with those made one that are slices of a bar whose colour changes from its top to its bottom."""
    kept: list[_Piece] = []
    begun: dict[int, list[int]] = {}  # which of them begin at a column: an edge of a photograph has thousands of pieces
    for piece in sorted(pieces, key=lambda one: (one.top, one.left)):
        near = sorted(at for left in range(piece.left - _LINE, piece.left + _LINE + 1) for at in begun.get(left, ()))
        at = next((at for at in near if _is_slice(piece, kept[at], picture)), None)
        if at is None:
            begun.setdefault(piece.left, []).append(len(kept))
            kept.append(piece)
            continue
        above = kept[at]
        whole = max(piece, above, key=lambda one: one.area)
        right, bottom = max(piece.right, above.right), max(piece.bottom, above.bottom)
        area = (right - above.left) * (bottom - above.top)
        kept[at] = replace(whole, left=above.left, right=right, top=above.top, bottom=bottom, area=area)
    return kept


def _is_slice(piece: _Piece, above: _Piece, picture: Pixels) -> bool:
    """Whether a piece goes on where another one ends below, as wide as it is, without a border between them."""
    alike = abs(piece.left - above.left) <= _LINE and abs(piece.right - above.right) <= _LINE
    goes_on = above.top + _LINE < piece.top <= above.bottom + 1 and piece.bottom > above.bottom + _LINE
    if not alike or not goes_on or piece.colour == above.colour or piece.right - piece.left < _BLOCK:
        return False
    top, bottom = min(piece.top, above.top) + 1, max(piece.bottom, above.bottom) - 1
    # Letters may stand at one end of the bar, and hardly at both.
    for low, high in ((above.left + 3, above.left + 7), (piece.right - 8, piece.right - 4)):
        rows = np.median(picture[top:bottom, low:high].astype(np.int16), axis=1)
        if len(rows) > 1 and np.abs(np.diff(rows, axis=0)).max() <= _SHADED:
            return True
    return False


#: Colours of two rows of pixels differ by so little in a bar whose colour changes from top to bottom.
_SHADED = 12


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if which.size else 0.0


def _ground(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece is what the bars lie on: it is higher than any bar, and wider than a line."""
    height, width = picture.shape[:2]
    return bool(piece.height > 0.5 * height and piece.right - piece.left > 0.02 * width)


def _at_border(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece goes on to the border of the picture, as the shading of a row does and no bar."""
    return piece.left <= 0 or piece.right >= picture.shape[1] - 1


def _letter(piece: _Piece, words: Sequence[Box]) -> bool:
    """Whether a piece lies within a word, as the strokes of its letters and the holes in them do."""
    for left, top, right, bottom in words:
        across = min(piece.right, right) - max(piece.left, left)
        down = min(piece.bottom, bottom) - max(piece.top, top)
        is_wider = piece.left < left - _LINE and piece.right > right + _LINE
        is_line = piece.height >= 0.6 * (bottom - top) and piece.right - piece.left > 2.5 * piece.height
        if is_wider or is_line or piece.right > right + _BORDER:
            continue  # letters end with their word, and are narrow: this is what they are written on
        if across >= 0.85 * (piece.right - piece.left) and down >= 0.85 * piece.height:
            return True
    return False


def _behind_word(piece: _Piece, start: int, words: Sequence[Box], pieces: list[_Piece]) -> bool:
    """Whether a piece begins among the letters of a word at the line: there JPEG leaves nothing of its colour.

    It goes on far behind that word, if need be on the other side of a line of the grid.
    """
    return any(
        abs(left - start) <= _BLOCK
        and start + _LINE < piece.left <= right + _BORDER
        and top < (piece.top + piece.bottom) / 2 < bottom
        and right + _BORDER < _grow(piece, pieces).right - 2 * piece.height
        for left, top, right, bottom in words
    )


def _common_left(pieces: list[_Piece]) -> int | None:
    """The column at which most pieces that lie below each other begin: the first of some that are as good.

    Lines of a grid over the bars cut many of them at a column further on.
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
    # Of columns beside each other, that of most pieces.
    return max(range(first, first + _LINE), key=lambda left: counts.get(left, 0))


#: Share of the most pieces that begin at one column which another, further left, must have to be the line itself.
_AS_GOOD = 0.75


def _grow(piece: _Piece, pieces: list[_Piece]) -> _Piece:
    """The piece with those of its colour and line that letters and grid lines have cut off it."""
    right = piece.right
    rest = sorted(
        (one for one in pieces if one.colour == piece.colour and one.left > piece.left and one.same_line(piece)),
        key=lambda one: one.left,
    )
    for one in rest:
        if one.left - right <= _LINE + 1 and one.height >= 0.8 * piece.height:
            right = max(right, one.right)
    return _Piece(piece.left, piece.top, right, piece.bottom, piece.area, piece.colour)


def _continuing(begun: list[_Piece], pieces: list[_Piece]) -> Iterator[_Piece]:
    """Pieces of another colour that go on where a bar ends: the longer bar of a nest, seen behind the shorter one."""
    for bar in begun:
        for piece in pieces:
            # A line of a grid over the bars cuts it off before the shorter one ends.
            is_around = piece.left < bar.right < piece.right - _BORDER and piece.height <= 1.6 * bar.height
            is_beyond_line = 0 < piece.left - bar.right <= _LINE + _WIDE and piece.height <= 1.6 * bar.height
            near = abs(piece.left - bar.right) <= _LINE or is_beyond_line or is_around
            # What is left of a line of the grid between two bars is none.
            is_bar = piece.right - piece.left > _LINE and piece.height <= 2.5 * bar.height
            if (
                near
                and is_bar
                and piece.colour != bar.colour
                and piece.same_line(bar)
                and piece.height >= 0.6 * bar.height
            ):
                yield _grow(piece, pieces)


def _is_across(piece: _Piece, begun: Sequence[_Piece]) -> bool:
    """Whether a piece lies across bars that lie below each other, as a letter of a mark of water does and no bar."""
    crossed = [bar for bar in begun if piece.top < (bar.top + bar.bottom) / 2 < piece.bottom]
    if not crossed:
        return False
    first, *_, last = sorted((*crossed, crossed[0]), key=lambda bar: bar.top + bar.bottom)
    return not first.same_line(last)


def _without_tracks(pieces: list[_Piece], ground: NDArray[np.int32]) -> list[_Piece]:
    """Without what ends at one column in most lines: the shading of rows, or the track in which a bar runs."""
    kept = []
    for piece in pieces:
        alike = [other for other in pieces if other.colour == piece.colour]
        ends = [other for other in alike if abs(other.right - piece.right) <= 1]
        # Every other row may be shaded: then it is nearly of the ground's colour, and ends behind all bars, or in many rows
        # at one line of the grid.
        is_behind = piece.right >= max(other.right for other in pieces) - 1 or len(ends) >= _MANY
        is_shading = _is_like(piece, ground) and is_behind
        if len(ends) < 3 or len(ends) < 0.6 * len(alike) or not (is_shading or len(alike) >= 0.3 * len(pieces)):
            kept.append(piece)
    return kept


#: Pieces of one colour that end at one column: no five values in one series are the same.
_MANY = 5


def _lanes(pieces: Iterable[_Piece]) -> list[list[_Piece]]:
    lanes: list[list[_Piece]] = []
    for piece in sorted(set(pieces), key=lambda one: (one.top + one.bottom, one.left)):
        for lane in lanes[-3:]:
            if any(piece.same_line(other) for other in lane):
                lane.append(piece)
                break
        else:
            lanes.append([piece])
    return lanes


def _without_shadows(lanes: list[Lane], ground: NDArray[np.int32], words: Sequence[Box]) -> list[Lane]:
    """Without what is nearly of the ground's colour and lower than the bars: what JPEG draws between two of them, and the
    shading of a row between its bars and the next, in which no word stands.
    """
    usual = float(np.median([lane.bottom - lane.top for lane in lanes])) if lanes else 0.0

    def is_bar(lane: Lane) -> bool:
        has_word = any(
            top <= lane.middle <= bottom and left + right > 2 * lane.bars[0].left for left, top, right, bottom in words
        )
        is_high = lane.bottom - lane.top > (_LOW if has_word else _LOW_AND_EMPTY) * usual
        return is_high or not all(_is_like(bar, ground) for bar in lane.bars)

    return [lane for lane in lanes if is_bar(lane)]


def _without_strangers(lanes: list[Lane], ground: NDArray[np.int32]) -> list[Lane]:
    """Without what is behind the bars of one lane or two and nearly of the ground's colour, as a mark of water is, where
    those lanes have more bars than is usual.
    """
    usual = Counter(len(lane.bars) for lane in lanes).most_common(1)
    strange = [
        lane for lane in lanes if usual and len(lane.bars) > max(1, usual[0][0]) and _is_like(lane.bars[-1], ground)
    ]
    if len(strange) > max(1, _STRANGE * len(lanes)):
        return lanes
    return [Lane(lane.bars[:-1]) if lane in strange else lane for lane in lanes]


#: Share of the lanes behind whose bars a mark of water may be seen.
_STRANGE = 0.25
#: Share of the usual height of a lane below which it is none where its colour is nearly that of the ground.
_LOW = 0.65
#: The same where no word stands in it.
_LOW_AND_EMPTY = 0.8


def _lane(
    picture: Pixels,
    pieces: list[_Piece],
    ground: NDArray[np.int32],
    words: Sequence[Box] = (),
    original: Pixels | None = None,
) -> Lane:
    """One bar an end: two pieces that end at the same place are one bar and its border. `words` may stand in its bars.

    Where one ends to a fraction of a pixel is read off the `original`, if `picture` is not as it was.
    """
    bars: list[Bar] = []
    pieces = [piece for piece in pieces if not _is_fragment(piece, words)] or pieces
    for alike in _by_end(pieces):
        end = max(piece.right for piece in alike)
        longer = [piece for piece in pieces if piece.right > end]
        # A blend of two colours is like both: it must not make one bar of two.
        own = [piece for piece in alike if not any(_same_bar(piece, other, words) for other in longer)]
        if not own or max(piece.area for piece in own) < 0.5 * max(piece.area for piece in alike):
            continue
        piece = next(one for one in own if not any(_same_bar(one, other, words) for other in own))
        bar = Bar(piece.left, piece.top, piece.right, piece.bottom, piece.colour, float(piece.right))
        is_nested = any(_goes_on(piece, other) for other in pieces)
        behind = 0 if is_nested else _behind_number(picture, bar, words)
        over = 0 if is_nested else _over_lines(picture, bar, ground)
        # A bar that goes over into another colour is flat in `picture`, which may be far from the colour of its end.
        further = _further(picture if original is None else original, bar)
        right = piece.right + (behind or -_halo(picture, bar, ground) or over or further)
        if bars and right - bars[-1].right <= _BORDER:
            continue
        exactly = _edge(picture if original is None else original, bar, right, ground)
        bars.append(Bar(bar.left, bar.top, right, bar.bottom, bar.colour, exactly))
    return Lane(tuple(bars))


def _is_fragment(piece: _Piece, words: Sequence[Box]) -> bool:
    """Whether a piece is what is seen of a bar between the letters of a word in it."""
    middle = (piece.top + piece.bottom) / 2
    return piece.right - piece.left < 2 * piece.height and any(
        left - _LINE <= piece.left and piece.right <= right + _BORDER and top < middle < bottom
        for left, top, right, bottom in words
    )


def _by_end(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces that end at the same place, by where that is."""
    found: list[_Piece] = []
    for piece in sorted(set(pieces), key=lambda one: (one.right, -one.area)):
        if found and piece.right - found[0].right > _BORDER:
            yield found
            found = []
        found.append(piece)
    if found:
        yield found


def _behind_number(picture: Pixels, bar: Bar, words: Sequence[Box]) -> int:
    """Pixels by which a bar goes on around and behind the number at its end, whose letters cut it off; 0 where it does not.

    Each row of pixels is compared with itself further left, as a bar may be lighter at its top.
    """
    rows = picture[bar.top + 1 : bar.bottom - 1].astype(np.int32)
    over = [
        right for left, top, right, bottom in words if left - _HALO < bar.right < right and top < bar.middle < bottom
    ]
    if not over or max(over) <= bar.right + _LINE or len(rows) < 8 or bar.right - bar.left < 4 * _BLOCK:
        return 0
    last = round(max(over)) + 2 * bar.height
    if last + _BLOCK >= picture.shape[1]:
        return 0
    own = np.median(rows[:, bar.right - 3 * _BLOCK : bar.right - _HALO], axis=1)
    # In a row that goes through letters nothing tells the bar from what is behind it.
    is_seen = np.abs(own - np.median(rows[:, last : last + _BLOCK], axis=1)).max(axis=1) > _ALIKE
    rows, own = rows[is_seen, :last], own[is_seen]
    if len(rows) < bar.height / 3:
        return 0
    is_own = (np.abs(rows[:, bar.right :] - own[:, None]).max(axis=2) <= _ALIKE).mean(axis=0) >= _AROUND_LETTERS
    end = next((at for at in range(len(is_own)) if not is_own[at : at + _LINE + 1].any()), 0)
    return end if bar.right + end >= max(over) else 0


#: Share of a bar's rows that are seen above, below and between the letters in it.
_AROUND_LETTERS = 0.12


def _over_lines(picture: Pixels, bar: Bar, ground: NDArray[np.int32]) -> int:
    """Pixels by which a bar goes on behind a line of a grid that was drawn over it; 0 where it does not.

    That is seen where no letters stand: along its upper and its lower border.
    """
    if bar.height < 10 or bar.right - bar.left < _BLOCK:
        return 0
    rows = picture[[bar.top + 2, bar.top + 3, bar.bottom - 4, bar.bottom - 3]].astype(np.int32)
    own = np.median(rows[:, max(bar.left, bar.right - 3 * _BLOCK) : bar.right - 2].reshape(-1, 3), axis=0)
    if np.abs(own - ground).max() <= _ALIKE:
        return 0
    away = np.abs(rows[:, bar.right :] - own).max(axis=2)
    is_own = (away <= _ALIKE).mean(axis=0) >= 0.5
    # A line that is nearly of the bar's colour cuts it all the same.
    is_line = (away > _TOLERANCE).mean(axis=0) >= 0.5
    reached = 0
    for at, goes_on in enumerate(is_own):
        if goes_on:
            reached = at + 1
        elif at - reached >= _LINE:
            break
    lines = np.flatnonzero(is_line[:reached])
    # Behind it the bar goes on in all rows, which letters there do not.
    is_cut = bool(lines.size) and bool((away[:, lines[-1] + 1 : reached] <= _TOLERANCE).all(axis=0).any())
    return reached if (is_cut or reached > 3 * _BLOCK) and _LINE < reached < len(is_own) - 1 else 0


def _further(picture: Pixels, bar: Bar) -> int:
    """Pixels by which a bar goes on in a colour that is its own but for what JPEG does to the block in which it ends.

    0 where it does not, or where no end is found within a block.
    """
    rows = picture[bar.top + 2 : bar.bottom - 2, bar.right - _BLOCK : bar.right + _BLOCK + 2]
    if bar.right - bar.left < 2 * _BLOCK or rows.shape[0] < 2 or rows.shape[1] < 2 * _BLOCK + 2:
        return 0
    columns = np.median(rows, axis=0)
    own = np.median(columns[: _BLOCK - 2], axis=0)
    # Where bar and ground are alike, what is nearer to the ground is its halo.
    limit = min(_ALIKE, np.abs(np.median(columns[-_BORDER:], axis=0) - own).max() / 2)
    is_own = np.abs(columns[_BLOCK:] - own).max(axis=1) <= limit
    return 0 if is_own.all() else int(is_own.argmin())


def _goes_on(piece: _Piece, other: _Piece) -> bool:
    """Whether another bar is seen behind the end of a piece."""
    begins = abs(other.left - piece.right) <= _LINE and other.right > piece.right + _BORDER
    return begins and other.height >= 0.6 * piece.height and not _are_alike(piece, other)


def _are_alike(piece: _Piece, other: _Piece) -> bool:
    return max(abs(one - two) for one, two in zip(piece.colour, other.colour, strict=True)) <= _ALIKE


def _halo(picture: Pixels, bar: Bar, ground: NDArray[np.int32]) -> int:
    """Pixels by which a bar ends before its piece does: where bar and ground are alike, the halo that JPEG draws behind its
    end is nearly of its colour.
    """
    first, last = bar.right - _BLOCK, bar.right + _BLOCK
    rows = picture[bar.top + 2 : bar.bottom - 2, max(0, first) : last].astype(np.float64)
    if bar.right - bar.left < 2 * _BLOCK or rows.shape[0] < 4 or rows.shape[1] < 2 * _BLOCK:
        return 0
    columns = np.median(rows, axis=0)
    inside, behind = np.median(columns[: _BLOCK - _HALO], axis=0), rows[:, _BLOCK + 3 : _BLOCK + 8].reshape(-1, 3)
    # A number may begin there, and fill more of these columns than the ground does.
    is_ground = np.abs(behind - ground).max(axis=1) <= _TOLERANCE
    outside = np.median(behind[is_ground] if is_ground.mean() >= _SEEN else columns[_BLOCK + 3 : _BLOCK + 8], axis=0)
    step = outside - inside
    if (step**2).sum() < 30**2:
        return 0
    is_behind = ((columns - inside) @ step / (step**2).sum() > 0.5)[: _BLOCK + 3]
    end = int(is_behind.argmax())
    away = _BLOCK - end
    return away if 2 <= away <= _BORDER and bool(is_behind[end:].all()) else 0


#: Share of the pixels behind a bar that show the ground, where a number stands among them.
_SEEN = 0.2


def _same_bar(piece: _Piece, other: _Piece, words: Sequence[Box] = ()) -> bool:
    """Whether a piece is the beginning of another one, cut off by letters, or of another colour by JPEG."""
    # A blend of two colours is a frame around the bar, and is not that bar.
    is_longer = other.left <= piece.left + _LINE and other.area >= 0.5 * piece.area
    begins = is_longer or 0 < other.left - piece.right <= 2 * piece.height or _is_between(piece, other, words)
    return _are_alike(piece, other) and other.right > piece.right and begins


def _is_between(piece: _Piece, other: _Piece, words: Sequence[Box]) -> bool:
    """Whether one word stands in all of the gap between two pieces: the letters of a number as high as its bar."""
    low, high = max(piece.top, other.top), min(piece.bottom, other.bottom)
    is_beside = other.left > piece.right and piece.height >= 0.6 * other.height and high - low >= 0.8 * piece.height
    return is_beside and any(
        left <= piece.right + _WITHIN_WORD and right >= other.left - _WITHIN_WORD and top < (low + high) / 2 < bottom
        for left, top, right, bottom in words
    )


#: Pixels beside the box of a word up to which a bar's colour is lost in JPEG.
_WITHIN_WORD = 8


def _edge(picture: Pixels, bar: Bar, column: int, ground: NDArray[np.int32] | None = None) -> float:
    """Where the bar's colour changes near `column`, to a fraction of a pixel, by how much of each pixel it covers.

    Each row of pixels is asked, and the middle answer counts: letters and grid lines disturb only some of them. Where
    letters begin in most of them, those that show the `ground` are asked.
    """
    reach = 3
    low, high = max(0, column - reach), min(picture.shape[1], column + reach)
    rows = picture[bar.top + 1 : max(bar.bottom - 1, bar.top + 2), low:high].astype(np.float64)
    if rows.shape[1] < 2 * reach:
        return float(column)
    if ground is not None:
        is_ground = np.abs(rows[:, -1] - ground).max(axis=1) <= _TOLERANCE
        rows = rows[is_ground] if is_ground.mean() >= _SEEN else rows
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
    """What lies under the end of a bar where a grid line does, pixel by pixel: as the line goes on above or below the bar.

    `ends` are the colours at both ends of these columns, in the bar and behind it. None where there is no line, or where
    something else lies above and below.
    """
    inside, outside = ends
    low, high = columns
    for start in (bar.top - _AWAY - 2, bar.bottom + _AWAY):
        if start < 0 or start + 2 > len(picture):
            continue
        strip = picture[start : start + 2, low:high].astype(np.float64).mean(axis=0)
        is_ground = np.abs(strip[-1] - outside).max() <= _SAME and np.abs(strip - inside).max(axis=1).min() > _TOLERANCE
        if is_ground and np.abs(strip - strip[-1]).max() > _SAME:
            return np.asarray(strip, dtype=np.float64)
    return None


#: Rows of pixels between a bar and what is taken for the ground beside it, and how far one ground may differ from itself.
_AWAY = 2
_SAME = 20
