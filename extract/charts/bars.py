"""The bars of a chart, found by their colours: pieces of one colour that begin at a common line.

Everything here is as if bars ran from left to right; a chart with standing bars is turned first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

    def same_line(self, other: _Piece) -> bool:
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return shared >= 0.6 * min(self.height, other.height)


def find(picture: Pixels, words: Sequence[Box]) -> Bars | None:
    """The bars of a picture whose words stand in `words`; None where fewer than two begin at one line."""
    pieces: list[_Piece] = []
    for colour in _colours(picture):
        of_colour = list(_pieces(picture, colour))
        if any(_ground(piece, picture) for piece in of_colour):
            continue
        pieces += [piece for piece in of_colour if piece.height < len(picture) / 2.5 and not _letter(piece, words)]
    start = _common_left(pieces)
    if start is None:
        return None
    begun = [piece for piece in pieces if abs(piece.left - start) <= _LINE and piece.right > start + _LINE]
    usual = float(np.median([piece.height for piece in begun]))
    grown = [
        _grow(piece, pieces) for piece in begun if 0.4 * usual <= piece.height <= 2.5 * usual and piece.height >= 5
    ]
    ground = _commonest(np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]]))
    behind = [piece for piece in _continuing(grown, pieces) if not _is_halo(piece, ground)]
    tracked = _without_tracks([*grown, *behind])
    lanes = [_lane(picture, lane) for lane in _lanes(tracked)]
    if len(lanes) < 2:
        return None
    zero = float(np.median([_edge(picture, lane.bars[0], start) for lane in lanes]))
    return Bars(zero=zero, lanes=tuple(lanes))


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
    return piece.right - piece.left < _BLOCK and bool(np.abs(np.array(piece.colour) - ground).max() <= _ALIKE)


def _pieces(picture: Pixels, colour: tuple[int, int, int]) -> Iterator[_Piece]:
    """What is connected and of this colour, and rather a box than a letter or a line."""
    low = np.clip(np.array(colour) - _TOLERANCE, 0, 255).astype(np.uint8)
    high = np.clip(np.array(colour) + _TOLERANCE, 0, 255).astype(np.uint8)
    mask = cv2.inRange(picture, low, high)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    for number, (left, top, width, height, area) in enumerate(stats[1:count].tolist(), start=1):
        if width < 2 or height < 4 or area < 12:
            continue
        # The longer bar of a nest may be no more than a frame around the shorter one, and then has a full end; the blend of
        # two colours along their border has none.
        is_full = area >= 0.6 * width * height
        end = numbered[top + 1 : top + height - 1, max(left, left + width - 4) : left + width - 1]
        if is_full or (
            area >= (0.35 if width < 3 * height else 0.06) * width * height and _share(end == number) >= 0.6
        ):
            yield _Piece(left, top, left + width, top + height, area, colour)


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if which.size else 0.0


def _ground(piece: _Piece, picture: Pixels) -> bool:
    """Whether a piece is what the bars lie on: it is higher than any bar, and wider than a line."""
    height, width = picture.shape[:2]
    return bool(piece.height > 0.5 * height and piece.right - piece.left > 0.02 * width)


def _letter(piece: _Piece, words: Sequence[Box]) -> bool:
    """Whether a piece lies within a word, as the strokes of its letters and the holes in them do."""
    for left, top, right, bottom in words:
        across = min(piece.right, right) - max(piece.left, left)
        down = min(piece.bottom, bottom) - max(piece.top, top)
        if across >= 0.85 * (piece.right - piece.left) and down >= 0.85 * piece.height:
            return True
    return False


def _common_left(pieces: list[_Piece]) -> int | None:
    """The column at which most pieces that lie below each other begin."""
    best, most = None, 1
    for left in sorted({piece.left for piece in pieces}):
        tops = sorted(
            (piece.top, piece.bottom)
            for piece in pieces
            if abs(piece.left - left) <= 1 and piece.height >= 5 and piece.right - piece.left > _HALO
        )
        count, reached = 0, -1
        for top, bottom in tops:
            if top >= reached:
                count, reached = count + 1, bottom - 1
        if count > most:
            best, most = left, count
    return best


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
            near = abs(piece.left - bar.right) <= _LINE
            if near and piece.colour != bar.colour and piece.same_line(bar) and piece.height >= 0.6 * bar.height:
                yield _grow(piece, pieces)


def _without_tracks(pieces: list[_Piece]) -> list[_Piece]:
    """Without what ends at one column in most lines: the shading of rows, or the track in which a bar runs."""
    kept = []
    for piece in pieces:
        alike = [other for other in pieces if other.colour == piece.colour]
        ends = [other for other in alike if abs(other.right - piece.right) <= 1]
        if len(ends) < 3 or len(ends) < 0.6 * len(alike) or len(alike) < 0.3 * len(pieces):
            kept.append(piece)
    return kept


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


def _lane(picture: Pixels, pieces: list[_Piece]) -> Lane:
    """One bar an end: two pieces that end at the same place are one bar and its border."""
    bars: list[Bar] = []
    for piece in sorted(pieces, key=lambda one: (one.right, -one.area)):
        if bars and piece.right - bars[-1].right <= _BORDER:
            continue
        if any(_same_bar(piece, other) for other in pieces):
            continue
        bar = Bar(piece.left, piece.top, piece.right, piece.bottom, piece.colour, float(piece.right))
        bars.append(Bar(*_box(bar), bar.colour, _edge(picture, bar, piece.right)))
    return Lane(tuple(bars))


def _same_bar(piece: _Piece, other: _Piece) -> bool:
    """Whether a piece is the beginning of another one, which JPEG has given a slightly other colour there."""
    alike = max(abs(one - two) for one, two in zip(piece.colour, other.colour, strict=True)) <= _ALIKE
    return alike and other.right > piece.right and other.left <= piece.left + _LINE


def _box(bar: Bar) -> tuple[int, int, int, int]:
    return bar.left, bar.top, bar.right, bar.bottom


def _edge(picture: Pixels, bar: Bar, column: int) -> float:
    """Where the bar's colour changes near `column`, to a fraction of a pixel, by how much of each pixel it covers.

    Each row of pixels is asked, and the middle answer counts: letters and grid lines disturb only some of them.
    """
    reach = 3
    low, high = max(0, column - reach), min(picture.shape[1], column + reach)
    rows = picture[bar.top + 1 : max(bar.bottom - 1, bar.top + 2), low:high].astype(np.float64)
    if rows.shape[1] < 2 * reach:
        return float(column)
    first, last = rows[:, 0], rows[:, -1]
    beside = _beside(picture, bar, (low, high), (np.median(first, axis=0), np.median(last, axis=0)))
    ground = last[:, None] if beside is None else beside[None]
    step = ground - first[:, None]
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
