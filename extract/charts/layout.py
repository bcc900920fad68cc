"""Which words belong to which bar: labels beside the rows, values along the bars, numbers along the axis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpuledger.extract.charts.bars import Bars, Lane
from gpuledger.extract.charts.words import Word


@dataclass(frozen=True, slots=True)
class Row:
    """One label with its lanes from top to bottom: one, or several that stand side by side. No label where none is sure.

    `words` are those of the label, as they are read.
    """

    label: str
    lanes: tuple[Lane, ...]
    words: tuple[Word, ...]


def plain(text: str, comma: str = "thousands") -> str:
    """A number as printed with a decimal point and no other sign; `comma` says what one stands for in this chart:
    `thousands` or `decimal`.
    """
    return text.replace(",", "" if comma == "thousands" or "." in text else ".")


def number(text: str, comma: str = "thousands") -> float:
    """The value of a number as printed; `comma` as for `plain`."""
    return float(plain(text, comma))


def meaning_of_comma(texts: Sequence[str]) -> str:
    """`decimal` where some number of the chart cannot be meant otherwise, and `thousands` else: a number with a comma and a
    point outweighs one of which a digit was left out.
    """
    if any("," in text and "." in text for text in texts):
        return "thousands"
    odd = (text for text in texts if "," in text and len(text.rpartition(",")[2]) != 3 and "." not in text)
    return "decimal" if any(odd) else "thousands"


def parted(word: Word, zero: float) -> list[Word]:
    """A label and the number in its bar that were read as one word are two, on both sides of the line where bars begin."""
    left, top, right, bottom = word.box
    found = _LABEL_AND_NUMBER.match(word.text.strip())
    if found is None or word.slanted or not left + 20 < zero < right - 20:
        return [word]
    label = replace(word, text=found["label"], box=(left, top, zero - 1, bottom))
    return [label, replace(word, text=found["number"], box=(zero + 1, top, right, bottom))]


_LABEL_AND_NUMBER = re.compile(r"(?P<label>.*[^\s\-–—_|])(?:\s+|\s*[-–—_|]\s*)(?P<number>\d[\d.,]*)$")


def without_tick(word: Word, zero: float) -> Word:
    """A word without the mark of the axis that was read as its dash: behind a label, or before the number in a bar."""
    left, top, right, bottom = word.box
    if left < zero + 4 and word.middle[0] > zero and word.text[:1] in "-–—_|":
        return replace(word, text=word.text.lstrip("-–—_| "), box=(max(left, zero + 1), top, right, bottom))
    if zero - 16 < right < zero + 8 and word.text.rstrip()[-1:] in "-–—_|":
        return replace(word, text=word.text.rstrip("-–—_| "), box=(left, top, min(right, zero - 1), bottom))
    return word


def lane_of(word: Word, bars: Bars) -> int | None:
    """The lane that a word stands in, by the middle of its height; None between two lanes."""
    middle = word.middle[1]
    nearest = min(range(len(bars.lanes)), key=lambda index: abs(bars.lanes[index].middle - middle))
    lane = bars.lanes[nearest]
    slack = 0.1 * (lane.bottom - lane.top) + 1
    return nearest if lane.top - slack <= middle <= lane.bottom + slack else None


def values(bars: Bars, words: Sequence[Word]) -> dict[int, list[Word]]:
    """The numbers along each lane, from left to right."""
    found: dict[int, list[Word]] = {}
    for word in words:
        if word.number is None or word.slanted or word.middle[0] <= bars.zero:
            continue
        if (index := lane_of(word, bars)) is not None:
            found.setdefault(index, []).append(word)
    return {index: sorted(line, key=lambda word: word.box[0]) for index, line in found.items()}


def marks(bars: Bars, words: Sequence[Word]) -> list[Word]:
    """The numbers along the axis: those that stand in one line above or below all bars."""
    top, bottom = bars.lanes[0].top, bars.lanes[-1].bottom
    outside = [
        word
        for word in words
        if word.number is not None and not top <= word.middle[1] <= bottom and word.middle[0] >= bars.zero - 40
    ]
    best: list[Word] = []
    for one in outside:
        line = [other for other in outside if _in_line(one, other, 0.5 * _thickness(outside))]
        if len(line) > len(best):
            best = line
    return best


def _in_line(one: Word, other: Word, slack: float) -> bool:
    """Whether two numbers of an axis stand in one line: beside each other, or where the bars stand with one end below each
    other, as they are set flush.
    """
    ends = ((one.middle[1], other.middle[1]), (one.box[1], other.box[1]), (one.box[3], other.box[3]))
    return any(abs(first - second) <= slack for first, second in ends)


def _thickness(words: Sequence[Word]) -> float:
    return float(np.median([min(word.height, word.box[2] - word.box[0]) for word in words]))


def rows(bars: Bars, words: Sequence[Word], turned: bool) -> list[Row]:
    """Every lane in its row. `turned` where the bars stand, and a label's words run across the lanes."""
    lanes = bars.lanes
    pitch = min(after.middle - before.middle for before, after in pairwise(lanes))
    top, bottom = lanes[0].top - 0.6 * pitch, lanes[-1].bottom + 0.6 * pitch
    beside = [word for word in words if word.box[2] <= bars.zero + 4 and top <= word.middle[1] <= bottom]
    upright = [word for word in beside if not word.slanted]
    lines = _lines(upright, turned)
    single = _one_each(lanes, lines, pitch)
    if single is not None:
        return [_row((lane,), block, turned) for lane, block in zip(lanes, single, strict=True)]
    if (grouped := _groups(lanes, _blocks(lines, turned))) is not None:
        return [_row(group, block, turned) for group, block in grouped]
    inside = [[word for word in words if _inside(word, lane, bars)] for lane in lanes]
    return [_row((lane,), block, turned) for lane, block in zip(lanes, inside, strict=True)]


def neighbours(lanes: Sequence[Lane]) -> list[tuple[Lane, ...]]:
    """Lanes that stand close together are of one label, where the gaps between them are of two kinds."""
    gaps = [after.top - before.bottom for before, after in pairwise(lanes)]
    narrow, wide = min(gaps), max(gaps)
    if wide - narrow <= max(4, 0.5 * wide):
        return [(lane,) for lane in lanes]
    groups = [[lanes[0]]]
    for lane, gap in zip(lanes[1:], gaps, strict=True):
        if gap > (narrow + wide) / 2:
            groups.append([lane])
        else:
            groups[-1].append(lane)
    return [tuple(group) for group in groups]


def _inside(word: Word, lane: Lane, bars: Bars) -> bool:
    """A label that is written into its bar."""
    return word.number is None and word.box[0] >= bars.zero - 4 and lane.top <= word.middle[1] <= lane.bottom


def _lines(words: Sequence[Word], turned: bool) -> list[list[Word]]:
    """Words of one line of text; where the bars stand, words below each other."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda one: one.middle[1]):
        if lines:
            low, high = _extent(lines[-1])
            shared = min(high, word.box[3]) - max(low, word.box[1])
            if shared > 0.5 * min(high - low, word.height):
                lines[-1].append(word)
                continue
        lines.append([word])
    return lines


def _extent(words: Sequence[Word]) -> tuple[float, float]:
    return min(word.box[1] for word in words), max(word.box[3] for word in words)


def _middle(words: Sequence[Word]) -> float:
    return sum(_extent(words)) / 2


def _one_each(lanes: Sequence[Lane], lines: list[list[Word]], pitch: float) -> list[list[Word]] | None:
    """The words of each lane's label where every lane has a line of its own, or several that lie around it."""
    found: list[list[Word]] = [[] for _ in lanes]
    for line in lines:
        nearest = min(range(len(lanes)), key=lambda index: abs(lanes[index].middle - _middle(line)))
        if abs(lanes[nearest].middle - _middle(line)) <= 0.5 * pitch:
            found[nearest] += line
    # A label that was not read costs its own row. More of them are rather rows of several lanes.
    if sum(map(bool, found)) < _LABELLED * len(lanes):
        return None
    both = [(lane, block) for lane, block in zip(lanes, found, strict=True) if block]
    return found if all(abs(_middle(block) - lane.middle) <= 0.3 * pitch for lane, block in both) else None


#: Share of the lanes that have a line of text of their own, where each row is one lane.
_LABELLED = 0.8


def _blocks(lines: list[list[Word]], turned: bool) -> list[list[Word]]:
    """Lines that lie close below each other are one label; where the bars stand, words that lie close beside each other."""
    if len(lines) < 2:
        return lines
    gaps = [_extent(after)[0] - _extent(before)[1] for before, after in pairwise(lines)]
    limit = 0.45 * float(np.median([_extent(line)[1] - _extent(line)[0] for line in lines]))
    if turned:
        limit = 0.8 * _thickness([word for line in lines for word in line])
    if all(gap <= limit for gap in gaps):
        return lines
    blocks = [lines[0]]
    for line, gap in zip(lines[1:], gaps, strict=True):
        if gap <= limit:
            blocks[-1] = [*blocks[-1], *line]
        else:
            blocks.append(line)
    return blocks


def _groups(lanes: Sequence[Lane], blocks: list[list[Word]]) -> list[tuple[tuple[Lane, ...], list[Word]]] | None:
    """The lanes of each label where several stand side by side: each lane to the nearest label, evenly around it."""
    if not blocks or len(blocks) >= len(lanes):
        return None
    groups: list[list[Lane]] = [[] for _ in blocks]
    for lane in lanes:
        nearest = min(range(len(blocks)), key=lambda index: abs(_middle(blocks[index]) - lane.middle))
        groups[nearest].append(lane)
    pitch = min((_middle(after) - _middle(before) for before, after in pairwise(blocks)), default=float("inf"))
    for group, block in zip(groups, blocks, strict=True):
        if group and abs((group[0].middle + group[-1].middle) / 2 - _middle(block)) > 0.2 * pitch:
            return None
    return [(tuple(group), block) for group, block in zip(groups, blocks, strict=True) if group]


def _row(lanes: tuple[Lane, ...], words: Sequence[Word], turned: bool) -> Row:
    """The row with its words in the order in which they are read."""
    if turned:  # up in the picture is right here
        ordered = sorted(words, key=lambda word: (-round(word.middle[0] / 8), word.box[1]))
    else:
        ordered = [word for line in _lines(words, turned) for word in sorted(line, key=lambda one: one.box[0])]
    return Row(" ".join(word.text.strip() for word in ordered), lanes, tuple(ordered))
