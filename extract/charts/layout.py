"""Says what each word of a chart is: labels beside the rows, values along the bars, numbers of the axis, title and unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from gpuledger.extract.charts.bars import Bars, Lane
from gpuledger.extract.charts.outcome import Box
from gpuledger.extract.charts.words import Word


@dataclass(frozen=True, slots=True)
class Row:
    """One label with its lanes from top to bottom: one lane, or several side by side. The label is empty if it is unsure.

    `words` are the words of the label, in reading order.
    """

    label: str
    lanes: tuple[Lane, ...]
    words: tuple[Word, ...]


def plain(text: str, comma: str = "thousands") -> str:
    """A printed number with a decimal point and no other sign.

    `comma` says what a comma means in this chart: `thousands` or `decimal`.
    """
    return text.replace(",", "" if comma == "thousands" or "." in text else ".")


def number(text: str, comma: str = "thousands") -> float:
    """The value of a printed number. `comma` is as in `plain`."""
    return float(plain(text, comma))


def meaning_of_comma(texts: Sequence[str], along: Sequence[str] = ()) -> str:
    """The meaning of a comma in a chart: `decimal` if most numbers with a comma allow nothing else, otherwise `thousands`.

    If numbers `along` the axis have a comma, only these decide. A single number with both a comma and a point means
    `thousands`. A majority decides, because the reading of a single number may lack a digit or have one too many.
    """
    if any("," in text and "." in text for text in (*texts, *along)):
        return "thousands"
    axis = [_is_odd(text) for text in along if "," in text]
    odd = [_is_odd(text) for text in texts if "," in text]
    if axis:
        return "decimal" if sum(axis) > len(axis) / 2 else "thousands"
    return "decimal" if sum(odd) > len(odd) / 2 else "thousands"


def _is_odd(text: str) -> bool:
    """Whether the number of digits after the comma is not three, so that the comma cannot separate thousands."""
    return len(text.rpartition(",")[2]) != 3


def form(text: str) -> Literal["either", "decimals", "told", "zero"]:
    """What a number says about the meaning of a point or comma.

    `either`: three digits follow it, which may be decimals or the end of thousands. `decimals`: another number of digits
    follows it. `told`: there is no point or comma, or its meaning is clear. `zero`: the number is zero.
    """
    if not text.strip("0.,"):
        return "zero"
    if _EITHER.fullmatch(text):
        return "either"
    is_one = text.count(".") + text.count(",") == 1
    return "decimals" if is_one and not text.startswith("0") and len(re.split("[.,]", text)[1]) != 3 else "told"


_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


def parted(word: Word, zero: float) -> list[Word]:
    """Split a label and the number in its bar, which were read as one word, at the line where bars begin."""
    left, top, right, bottom = word.box
    match = _LABEL_AND_NUMBER.match(word.text.strip())
    if match is None or word.slanted or not left + 20 < zero < right - 20:
        return [word]
    label = replace(word, text=match["label"], box=(left, top, zero - 1, bottom))
    return [label, replace(word, text=match["number"], box=(zero + 1, top, right, bottom))]


_LABEL_AND_NUMBER = re.compile(r"(?P<label>.*[^\s\-–—_|])(?:\s+|\s*[-–—_|]\s*)(?P<number>\d[\d.,]*)$")


def without_tick(word: Word, zero: float) -> Word:
    """A word without a tick of the axis that was read as a dash, after a label or before the number in a bar."""
    left, top, right, bottom = word.box
    if left < zero + 4 and word.middle[0] > zero and word.text[:1] in "-–—_|":
        return replace(word, text=word.text.lstrip("-–—_| "), box=(max(left, zero + 1), top, right, bottom))
    if zero - 16 < right < zero + 8 and word.text.rstrip()[-1:] in "-–—_|":
        return replace(word, text=word.text.rstrip("-–—_| "), box=(left, top, min(right, zero - 1), bottom))
    return word


#: Wrong readings of names in which a capital I looks like a small l, or a T is close to an i. No card has such a name.
_RESPELT = ((re.compile(r"\bPCle\b"), "PCIe"), (re.compile(r"\bTl\b"), "Ti"), (re.compile(r"[πτ]i?(?!\w)"), "Ti"))


def respelt(text: str) -> str:
    """A text with these wrong readings corrected."""
    for pattern, name in _RESPELT:
        text = pattern.sub(name, text)
    return text


def without_legend(bars: Bars, words: Sequence[Word]) -> Bars:
    """The bars without first or last lanes that begin at the same line but are not bars.

    Patches of a legend are hardly longer than high, and a word follows directly, not a number. Strokes of letters are
    narrower. Artefacts of JPEG or WebP around the first number of an axis are in one line with the other numbers.
    """
    lanes = list(bars.lanes)
    usual = float(np.median([lane.bottom - lane.top for lane in lanes]))
    while lanes and _is_patch(lanes[0], words, usual):
        lanes = lanes[1:]
    while lanes and _is_patch(lanes[-1], words, usual):
        lanes = lanes[:-1]
    return replace(bars, lanes=tuple(lanes))


def _is_patch(lane: Lane, words: Sequence[Word], usual: float) -> bool:
    bar = lane.bars[-1]
    if lane.bottom - lane.top < 0.6 * usual and bar.right - bar.left < bar.height:
        return True  # a stroke of a number of the axis
    if _is_along_axis(lane, words):
        return True
    if bar.right - bar.left > 2.5 * bar.height:
        return False
    within = [word for word in words if lane.top <= word.middle[1] <= lane.bottom]
    overlapping = [word for word in within if bar.left - 4 <= word.box[0] < bar.right - 2 and word.number is None]
    if any(word.box[2] > bar.right + bar.height for word in overlapping):
        return True  # the word after a patch reaches over it, or was read together with it
    behind = [word for word in within if word.box[0] >= bar.right - 2]
    first = min(behind, key=lambda word: word.box[0], default=None)
    return first is not None and first.number is None and first.box[0] - bar.right <= 1.5 * first.height


def _is_along_axis(lane: Lane, words: Sequence[Word]) -> bool:
    """Whether a lane has more numbers after its bars than bars, and the numbers grow in equal steps."""
    within = [
        word for word in words if lane.top <= word.middle[1] <= lane.bottom and word.box[0] >= lane.bars[-1].right - 2
    ]
    numbers = [number(word.number) for word in sorted(within, key=lambda word: word.box[0]) if word.number is not None]
    steps = [after - before for before, after in pairwise(numbers)]
    return len(steps) >= 3 and len(numbers) > len(lane.bars) + 2 and min(steps) > 0 and max(steps) <= 1.01 * min(steps)


def without_captions(words: Sequence[Word], bars: Bars, turned: bool) -> tuple[Word, ...]:
    """The words without those below the labels of vertical bars: a legend, or the name of the axis."""
    labels = sorted(
        (word for word in words if turned and not word.slanted and word.box[2] <= bars.zero + 4),
        key=lambda word: -word.box[2],
    )
    for before, word in pairwise(labels):
        gap = min(label.box[0] for label in labels[: labels.index(before) + 1]) - word.box[2]
        if gap > 0.6 * (before.box[2] - before.box[0]):
            below = labels[labels.index(word) :]
            return tuple(each for each in words if each not in below)
    return tuple(words)


def lane_of(word: Word, bars: Bars) -> int | None:
    """The index of the lane that contains the middle of a word. None if the word is between two lanes."""
    middle = word.middle[1]
    nearest = min(range(len(bars.lanes)), key=lambda index: abs(bars.lanes[index].middle - middle))
    lane = bars.lanes[nearest]
    slack = 0.1 * (lane.bottom - lane.top) + 1
    return nearest if lane.top - slack <= middle <= lane.bottom + slack else None


def column(bars: Bars, words: Sequence[Word]) -> frozenset[Box]:
    """The boxes of numbers in a column between labels and bars, if the chart has hardly any numbers along its bars.

    The gap between a label and its number is wider than between two words of a label, because a label may also end with a
    number.
    """
    lanes = bars.lanes
    if any(len(lane.bars) > 1 for lane in lanes) or len(values(bars, words)) > _STRAY * len(lanes):
        return frozenset()
    beside: dict[int, list[Word]] = {}
    for word in words:
        if not word.slanted and word.box[2] <= bars.zero + 4 and (index := lane_of(word, bars)) is not None:
            beside.setdefault(index, []).append(word)
    last = []
    for line in beside.values():
        *label, word = sorted(line, key=lambda word: word.box[2])
        if word.number is not None and label and word.box[0] - label[-1].box[2] > word.height:
            last.append(word)
    if len(last) < _LABELLED * len(lanes):
        return frozenset()
    ends = [word.box[2] for word in last]
    tall = float(np.median([word.height for word in last]))
    return frozenset(word.box for word in last if abs(word.box[2] - float(np.median(ends))) <= 0.5 * tall)


#: At most this share of the lanes may have a text beside it that was wrongly read as a number.
_STRAY = 0.2


def values(bars: Bars, words: Sequence[Word], beside: Set[Box] = frozenset()) -> dict[int, list[Word]]:
    """The numbers along each lane, from left to right. Numbers whose boxes are in `beside` are left of their bars."""
    by_lane: dict[int, list[Word]] = {}
    for word in words:
        if word.number is None or word.slanted or (word.middle[0] <= bars.zero) != (word.box in beside):
            continue
        if (index := lane_of(word, bars)) is not None:
            by_lane.setdefault(index, []).append(word)
    return {index: sorted(line, key=lambda word: word.box[0]) for index, line in by_lane.items()}


def marks(bars: Bars, words: Sequence[Word]) -> list[Word]:
    """The numbers along the axis: the most numbers that are in one line above or below all bars."""
    top, bottom = bars.lanes[0].top, bars.lanes[-1].bottom
    outside = [
        word
        for word in words
        if word.number is not None and not top <= word.middle[1] <= bottom and word.middle[0] >= bars.zero - 40
    ]
    best: list[Word] = []
    for word in outside:
        line = [other for other in outside if _in_line(word, other, 0.5 * _thickness(outside))]
        if len(line) > len(best):
            best = line
    return best


def _in_line(first_word: Word, second_word: Word, slack: float) -> bool:
    """Whether two numbers of an axis are in one line.

    They are beside each other, or, if the bars are vertical, aligned below each other at one end.
    """
    ends = (
        (first_word.middle[1], second_word.middle[1]),
        (first_word.box[1], second_word.box[1]),
        (first_word.box[3], second_word.box[3]),
    )
    return any(abs(first - second) <= slack for first, second in ends)


def _thickness(words: Sequence[Word]) -> float:
    return float(np.median([min(word.height, word.box[2] - word.box[0]) for word in words]))


def rows(bars: Bars, words: Sequence[Word], turned: bool, numbers: Set[Box] = frozenset()) -> list[Row]:
    """The rows of a chart, which together have every lane.

    `turned` if the bars are vertical, so that the words of a label run across the lanes. Words whose boxes are in
    `numbers` belong to no label.
    """
    words = [word for word in words if word.box not in numbers]
    lanes = bars.lanes
    pitch = min(after.middle - before.middle for before, after in pairwise(lanes))
    top, bottom = lanes[0].top - 0.6 * pitch, lanes[-1].bottom + 0.6 * pitch
    beside = [word for word in words if word.box[2] <= bars.zero + 4 and top <= word.middle[1] <= bottom]
    upright = [word for word in beside if not word.slanted]
    lines = _lines(upright, turned)
    single = _one_each(lanes, lines, pitch)
    if single is not None:
        return list(_rows_of_lines(lanes, single, turned))
    if turned and (below := _below_groups(lanes, lines)) is not None:
        return [_row(group, line, turned) for group, line in below]
    grouped = None if turned else _beside_groups(lanes, lines)
    if grouped is None:
        grouped = _groups(lanes, _blocks(lines, turned))
    if grouped is not None:
        return [_row(group, block, turned) for group, block in grouped]
    inside = [[word for word in words if _inside(word, lane, bars)] for lane in lanes]
    return [_row((lane,), block, turned) for lane, block in zip(lanes, inside, strict=True)]


def _rows_of_lines(lanes: Sequence[Lane], single: list[list[Word]], turned: bool) -> Iterator[Row]:
    """The rows of a chart in which each lane has a line of text beside it: its own label, or a line of a taller label.

    Lanes of several colours in turn are the series of one row. If no gap says which lanes belong together, no row has a
    label.
    """
    lines = dict(zip(lanes, single, strict=True))
    groups = neighbours(lanes)
    size, count = Counter(map(len, groups)).most_common(1)[0]
    is_grouped = size > 1 and count >= max(2, 0.7 * len(groups))
    if is_grouped and any(_differ(one, other) for group in groups for one, other in pairwise(group)):
        for group in groups:
            yield _row(group, [word for lane in group for word in lines[lane]], turned)
        return
    if _are_pairs(lanes, single):
        for at in range(0, len(lanes), 2):
            yield _row((lanes[at], lanes[at + 1]), [*single[at], *single[at + 1]], turned)
        return
    are_parts = _are_in_turn(lanes) or sum(_names_nothing(block) for block in single) > _NAMELESS * len(lanes)
    for lane in lanes:
        yield _row((lane,), [] if are_parts else lines[lane], turned)


def _are_pairs(lanes: Sequence[Lane], single: Sequence[list[Word]]) -> bool:
    """Whether every two lanes are one row, although no gap says so.

    The lanes have two colours in turn. The lines of text beside them alternate too: one names no model (a maker's name, for
    example), and the next names a model and is closer to it than to the following line.
    """
    if len(lanes) < 6 or len(lanes) % 2 or not all(single) or not _are_in_turn(lanes):
        return False
    in_turn = all(_names_nothing(words) == (at % 2 == 0) for at, words in enumerate(single))
    distances = [_middle(after) - _middle(before) for before, after in pairwise(single)]
    # One row may be highlighted by its colour.
    differ = sum(_differ(lanes[at], lanes[at + 1]) for at in range(0, len(lanes), 2))
    return in_turn and max(distances[::2]) < min(distances[1::2]) and differ >= 0.4 * len(lanes)


def _are_in_turn(lanes: Sequence[Lane]) -> bool:
    """Whether two or three colours of bars alternate, except in a highlighted row."""
    changes = [_differ(one, other) for one, other in pairwise(lanes)]
    gaps = [after.top - before.bottom for before, after in pairwise(lanes)]
    # Bars with gaps between them and a model beside each are cards of two makers.
    if len(lanes) < 4 or sum(changes) < 0.8 * len(changes) or min(gaps) > 0.15 * (lanes[0].bottom - lanes[0].top):
        return False
    for period in (2, 3):
        again = [not _differ(one, other) for one, other in zip(lanes, lanes[period:], strict=False)]
        if again and sum(again) >= 0.7 * len(again):
            return True
    return False


def _names_nothing(words: Sequence[Word]) -> bool:
    """Whether a line of text has no digit. The name of a model has one, but a maker's name does not."""
    return bool(words) and not any(sign.isdigit() for word in words for sign in word.text)


#: If the texts of more than this share of the lanes name no model, the texts are lines of longer labels.
_NAMELESS = 0.2


def _differ(one: Lane, other: Lane) -> bool:
    """Whether the longest bars of two lanes differ in colour."""
    colours = zip(one.bars[-1].colour, other.bars[-1].colour, strict=True)
    return max(abs(first - second) for first, second in colours) > _OTHER_COLOUR


#: Bars whose colours differ by more in a channel belong to two series. JPEG changes a colour by less.
_OTHER_COLOUR = 40


def neighbours(lanes: Sequence[Lane]) -> list[tuple[Lane, ...]]:
    """Groups of lanes that are close together and share a label, if there are two kinds of gaps. Otherwise single lanes."""
    # With JPEG a bar may reach far into the bar below that touches it.
    gaps = [max(after.top - before.bottom, _TOUCHING) for before, after in pairwise(lanes)]
    narrow, wide = min(gaps), max(gaps)
    if wide - narrow <= max(4, 0.5 * wide):
        return [(lane,) for lane in lanes]
    # Some gaps look wider than others of their kind, because the lighter top of a bar was taken for background.
    usual = float(np.median([gap for gap in gaps if gap > narrow + 4]))
    groups = [[lanes[0]]]
    for lane, gap in zip(lanes[1:], gaps, strict=True):
        if gap > (narrow + usual) / 2:
            groups.append([lane])
        else:
            groups[-1].append(lane)
    return [tuple(group) for group in groups]


#: Pixels between two bars that touch. It is negative, as they share one or two rows of pixels.
_TOUCHING = -2


def _inside(word: Word, lane: Lane, bars: Bars) -> bool:
    """Whether a word is a label that is written into its bar."""
    return word.number is None and word.box[0] >= bars.zero - 4 and lane.top <= word.middle[1] <= lane.bottom


def _lines(words: Sequence[Word], turned: bool) -> list[list[Word]]:
    """The words grouped into lines of text. If the bars are vertical, the words of a group are below each other."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.middle[1]):
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
    """The words of each lane's label, if every lane has its own line of text, or several lines around its middle."""
    words_of_lanes: list[list[Word]] = [[] for _ in lanes]
    for line in lines:
        nearest = min(range(len(lanes)), key=lambda index: abs(lanes[index].middle - _middle(line)))
        if abs(lanes[nearest].middle - _middle(line)) <= 0.5 * pitch:
            words_of_lanes[nearest] += line
    # A label that was not read only loses its own row. If many are missing, the rows rather have several lanes.
    if sum(map(bool, words_of_lanes)) < _LABELLED * len(lanes):
        return None
    both = [(lane, block) for lane, block in zip(lanes, words_of_lanes, strict=True) if block]
    return words_of_lanes if all(abs(_middle(block) - lane.middle) <= 0.3 * pitch for lane, block in both) else None


#: Each row is one lane only if at least this share of the lanes has its own line of text.
_LABELLED = 0.8


def _blocks(lines: list[list[Word]], turned: bool) -> list[list[Word]]:
    """The labels: lines close below each other, or, if the bars are vertical, words close beside each other."""
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


def _below_groups(lanes: Sequence[Lane], lines: list[list[Word]]) -> list[tuple[tuple[Lane, ...], list[Word]]] | None:
    """The lanes of each label, if vertical bars are in groups with gaps between them and a label is centred below each."""
    groups = neighbours(lanes)
    if len(groups) < 2 or len(groups) == len(lanes) or len(lines) > len(groups):
        return None
    middles = [(group[0].top + group[-1].bottom) / 2 for group in groups]
    pitch = min(after - before for before, after in pairwise(middles))
    labels: list[list[Word]] = [[] for _ in groups]
    for line in lines:
        nearest = min(range(len(groups)), key=lambda index: abs(middles[index] - _middle(line)))
        if labels[nearest] or abs(middles[nearest] - _middle(line)) > 0.15 * pitch:
            return None
        labels[nearest] = line
    return list(zip(groups, labels, strict=True))


def _groups(lanes: Sequence[Lane], blocks: list[list[Word]]) -> list[tuple[tuple[Lane, ...], list[Word]]] | None:
    """The lanes of each label, if several lanes share a label. Each lane goes to the nearest label.

    None if the lanes are not evenly around their labels.
    """
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


def _beside_groups(lanes: Sequence[Lane], lines: list[list[Word]]) -> list[tuple[tuple[Lane, ...], list[Word]]] | None:
    """The lanes of each label, if bars of different colours are in groups of equal size with gaps between them.

    The lines of text beside a group must be evenly around its middle. They may be as close to the lines of the next label as
    to each other. A group with an unusual number of lines has no label, because a line was not read or is elsewhere.
    """
    groups = neighbours(lanes)
    size = len(groups[0])
    if size < 2 or len(groups) < 2 or any(len(group) != size for group in groups):
        return None
    in_turn = sum(all(_differ(one, other) for one, other in pairwise(group)) for group in groups)
    if in_turn < _GROUPED * len(groups):
        return None
    middles = [(group[0].top + group[-1].bottom) / 2 for group in groups]
    lines_of_groups: list[list[list[Word]]] = [[] for _ in groups]
    for line in lines:
        lines_of_groups[min(range(len(groups)), key=lambda index: abs(middles[index] - _middle(line)))].append(line)
    usual = Counter(map(len, lines_of_groups)).most_common(1)[0][0]
    pitch = min(after - before for before, after in pairwise(middles))
    labels = [
        words if len(block) == usual and usual and abs(_middle(words) - middle) <= 0.15 * pitch else []
        for block, middle in zip(lines_of_groups, middles, strict=True)
        for words in ([word for line in block for word in line],)
    ]
    return list(zip(groups, labels, strict=True)) if sum(map(bool, labels)) >= _GROUPED * len(groups) else None


#: Share of the groups in which neighbouring bars must differ in colour, as one group may be highlighted. The same share of
#: the groups must have a label.
_GROUPED = 0.7


def _row(lanes: tuple[Lane, ...], words: Sequence[Word], turned: bool) -> Row:
    """The row with its words in reading order."""
    if turned:  # the top of the picture is on the right here
        ordered = sorted(words, key=lambda word: (-round(word.middle[0] / 8), word.box[1]))
    else:
        ordered = [word for line in _lines(words, turned) for word in sorted(line, key=lambda word: word.box[0])]
    return Row(" ".join(word.text.strip() for word in ordered), lanes, tuple(ordered))


#: Units of benchmarks, as charts print them.
_UNIT = re.compile(
    r"(?i)(?:\b(?:images?|tokens?|iterations?|it|frames?|samples?|steps?|tok|points?|score)\s?(?:/|per)\s?"
    r"(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|s|h|m|watt|w|\$|dollar)\b"
    r"|\b(?:it/s|t/s|tok/s|tps|fps|ms|watts?|gb/s|tflops|gflops|tops|usd|seconds?|sec|minutes?|points?)\b"
    r"|(?<=\()s(?=\))|%)"
)


def title_and_subtitle(words: Sequence[Word], below: float) -> tuple[str | None, str | None]:
    """The largest line of text above the row `below`, and the next line under it."""
    candidates = [
        word
        for word in words
        if not word.slanted and word.box[3] <= below and len(word.text) > 3 and word.number is None
    ]
    if not candidates:
        return None, None
    # A publisher's logo has taller letters than the title, but fewer of them.
    title = max(candidates, key=lambda word: word.height * min(len(word.text), 30))
    lower_lines = [word for word in candidates if word.middle[1] > title.middle[1] and word.box[0] < title.box[2]]
    subtitle = min(lower_lines, key=lambda word: (round(word.middle[1] - title.middle[1]), word.box[0]), default=None)
    return title.text, subtitle.text if subtitle else None


def unit(words: Sequence[Word], titles: Sequence[str | None]) -> str | None:
    """The unit as printed: the unit of most values, or else the unit that the axis, the subtitle or the title names."""
    units = [word.unit for word in words if word.number is not None and word.unit]
    if units:
        return max(sorted(set(units)), key=units.count)
    title_texts = {text for text in titles if text}
    texts = [word.text for word in words if word.text not in title_texts and len(word.text) <= 60]
    for text in [*texts, *(title for title in reversed(titles) if title)]:
        if match := _UNIT.search(text):
            return match[0]
    return None
