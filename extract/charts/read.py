"""Reads the values of one picture: the number printed beside each bar, and whether bar, digits and label agree.

A value is accepted only if all of it was checked. A value that could not be checked is quarantined.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

import cv2
import numpy as np

from gpuledger.extract.charts import bars as bar_finding
from gpuledger.extract.charts import glyphs, layout, scale
from gpuledger.extract.charts.bars import Bar, Bars
from gpuledger.extract.charts.layout import Row
from gpuledger.extract.charts.outcome import LEAST_WIDTH, Box, ChartReading, Value
from gpuledger.extract.charts.picture import Pixels
from gpuledger.extract.charts.words import Frame, Reader, Word, crop_of, inked_columns, stacked


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its words and bars, turned so that bars run from left to right.

    `column` has the boxes of the numbers that are left of their bars.
    """

    frame: Frame
    words: tuple[Word, ...]
    bars: Bars
    column: frozenset[Box] = frozenset()

    @property
    def numbers(self) -> dict[int, list[Word]]:
        """The numbers along each lane."""
        return layout.values(self.bars, self.words, self.column)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A bar with its row and its place in the row, and its number if the lane has as many numbers as bars."""

    row: Row
    series: int
    bar: Bar
    word: Word | None
    reason: str = ""


def read_chart(picture: Pixels, reader: Reader) -> ChartReading:
    """All values of a picture, each accepted or with the reason why it is not."""
    words = [replace(word, text=layout.respelt(word.text)) for word in reader.read_words(picture)]
    chart = _chart(picture, words, reader)
    if chart is None:
        return _nothing(
            picture, words, "no bars that begin at one line were found beside numbers: this is no bar chart"
        )
    entries, comma, fitted = _fitted(chart)
    if fitted is None:
        # The end of a bar may have been read as the first digit of the number after it.
        chart = _cut_free(chart, entries, reader)
        entries, comma, fitted = _fitted(chart)
    if fitted is not None and (doubted := _contradicted(chart, entries, fitted, comma)):
        # If a bar contradicts its number, often only a part of the number was read, because a grid line goes through it.
        chart = _completed(chart, reader, doubted)
        entries, comma, fitted = _fitted(chart)
    along = layout.marks(chart.bars, chart.words)
    agree = None
    if fitted is not None:
        agree = scale.marks_agree(
            fitted, [(layout.number(word.number, comma), word.middle[0]) for word in along if word.number]
        )
    top = min(chart.frame.back(_box(lane.bars[0]))[1] for lane in chart.bars.lanes)
    title, subtitle = layout.title_and_subtitle(words, top)
    unit = layout.unit([*(entry.word for entry in entries if entry.word), *words], (title, subtitle))
    beside = [entry.word for entry in entries if entry.word is not None]
    shapes = _shapes(chart, beside, along)
    second_labels = _labels_again(chart, [entry.row for entry in entries], reader)
    doubtful = {
        label: second_label
        for label, second_label in second_labels.items()
        if _letters(second_label) != _letters(label)
    }
    letters = _letter_shapes(chart, [entry.row for entry in entries if entry.row.label not in doubtful])
    entries = [replace(entry, row=_spaced(entry.row, second_labels)) for entry in entries]
    checked = _Checked(chart, fitted, comma, unit, beside, shapes, letters)
    values = tuple(checked.value(entry, reader, doubtful.get(entry.row.label, "")) for entry in entries)
    problem = ""
    if picture.shape[1] < LEAST_WIDTH:
        problem = f"the picture is {picture.shape[1]} pixels wide; from {LEAST_WIDTH:,} on a bar proves its number"
    elif fitted is None:
        problem = "no scale fits at least three bars and seven in ten of them: bars and numbers do not belong together"
    elif agree is False:
        problem = "the numbers along the axis contradict the scale that the bars have"
    elif _may_be_thousands_or_decimals(entries, along, fitted, comma):
        problem = (
            "what stands before three digits in each number may part thousands or begin decimals: nothing says which"
        )
    if problem:
        values = tuple(value.refused(problem) for value in values)
    return ChartReading(
        width=picture.shape[1], height=picture.shape[0], title=title, subtitle=subtitle, unit=unit,
        px_per_unit=round(fitted.px_per_unit, 6) if fitted else None, values=_once_each(values), problem=problem,
    )  # fmt: skip


def _fitted(chart: Chart) -> tuple[list[_Entry], str, scale.Scale | None]:
    """The bars with their numbers, the meaning of a comma in the numbers, and the scale of the chart."""
    entries = list(_entries(chart))
    comma = layout.meaning_of_comma(
        [entry.word.number or "" for entry in entries if entry.word],
        [word.number or "" for word in layout.marks(chart.bars, chart.words)],
    )
    pairs = [
        (layout.number(entry.word.number, comma), entry.bar.end)
        for entry in entries
        if entry.word is not None and entry.word.number
    ]
    return entries, comma, scale.fit(pairs, chart.bars.zero)


def _may_be_thousands_or_decimals(
    entries: Sequence[_Entry], along: Sequence[Word], fitted: scale.Scale, comma: str
) -> bool:
    """Whether a point or comma in the numbers has two possible meanings: `1.699` is near two, or in German 1,699.

    The bars do not decide this, as all would have the same length. A number of another form, or one without such a sign,
    decides it if it agrees with its bar or with its place on the axis.
    """
    beside = [(entry.word, entry.bar.end, scale.WITHIN) for entry in entries if entry.word is not None]
    marked = [(word, word.middle[0], scale.MARK) for word in along]
    numbers = [
        (word.number, word in along)
        for word, end, within in [*beside, *marked]
        if word.number and abs(fitted.residual(layout.number(word.number, comma), end)) <= within
    ]
    forms = Counter(layout.form(text) for text, _ in numbers)
    along_axis = Counter(layout.form(text) for text, is_mark in numbers if is_mark)
    # A digit may have been left out of one number along its bar, but not out of most of them or of two along the axis.
    are_decimals = along_axis["decimals"] > 1 or forms["decimals"] >= forms["either"]
    if not forms["either"] or forms["told"] or are_decimals:
        return False
    marks = [text for text, is_mark in numbers if is_mark and layout.form(text) == "either"]
    # No axis has only zeros after its point.
    are_round = len(marks) > 1 and all(text.endswith("00") for text in marks)
    return not (are_round and comma == "thousands" and all("," in text for text in marks))


def _cut_free(chart: Chart, entries: Sequence[_Entry], reader: Reader) -> Chart:
    """The chart with those numbers read again whose box begins before their bar ends, now without the bar."""
    words = {word.box: word for word in chart.words}
    for entry in entries:
        word = entry.word
        if chart.frame.turned or word is None or not word.box[0] < entry.bar.end - 1 < word.middle[0]:
            continue
        again = _again(word, (entry.bar.end + 2, *word.box[1:]), chart.frame.picture, reader)
        if again.number is not None:
            words[word.box] = again
    return replace(chart, words=tuple(words.values()))


def _contradicted(chart: Chart, entries: Sequence[_Entry], fitted: scale.Scale, comma: str) -> list[int]:
    """The lanes in which a number disagrees with the length of its bar."""
    return sorted(
        {
            index
            for entry in entries
            if entry.word is not None and entry.word.number
            and abs(fitted.residual(layout.number(entry.word.number, comma), entry.bar.end)) > scale.WITHIN
            and (index := layout.lane_of(entry.word, chart.bars)) is not None
        }
    )  # fmt: skip


def _nothing(picture: Pixels, words: Sequence[Word], problem: str) -> ChartReading:
    title, subtitle = layout.title_and_subtitle(words, picture.shape[0] / 3)
    return ChartReading(picture.shape[1], picture.shape[0], title, subtitle, None, None, (), problem)


def _chart(picture: Pixels, words: Sequence[Word], reader: Reader) -> Chart | None:
    """The picture as a chart, as it is or turned, depending on which way more bars have a number beside them."""
    charts: list[tuple[int, int, Chart]] = []
    for turned in (False, True):
        frame = Frame(picture, turned)
        placed = tuple(frame.into(word) for word in words)
        lanes = bar_finding.find(frame.pixels(), [word.box for word in placed])
        if lanes is None:
            continue
        lanes = layout.without_legend(lanes, placed)
        if len(lanes.lanes) < 2:
            continue
        placed = layout.without_captions(placed, lanes, turned)
        separate_words = [
            _freed(part, lanes, frame, reader) for word in placed for part in _parted(word, lanes.zero, frame, reader)
        ]
        ready = tuple(layout.without_tick(word, lanes.zero) for word in separate_words)
        chart = Chart(frame, ready, lanes, frozenset() if turned else layout.column(lanes, ready))
        charts.append((len(chart.numbers), len(lanes.lanes), chart))
    if not charts:
        return None
    beside, count, best = max(charts, key=lambda candidate: candidate[:2])
    if beside < 2 and count < 3:
        return None
    # The model may have overlooked all numbers of a large picture, so they are searched for at the ends of the bars.
    completed = _completed(best, reader)
    return _labelled(completed, reader) if len(completed.numbers) >= 2 else None


def _parted(word: Word, zero: float, frame: Frame, reader: Reader) -> list[Word]:
    """Split a label and the number in its bar, which were read as one word, and read each again.

    A title also crosses the line where bars begin, and stays one word.
    """
    left, top, right, bottom = word.box
    is_title = frame.turned or word.slanted or not any(sign.isdigit() for sign in word.text)
    if is_title or not left + 2 * word.height < zero < right - word.height:
        return layout.parted(word, zero)
    boxes = (left, top, zero - 1, bottom), (zero + 2, top, right, bottom)
    (label, _), (text, score) = reader.read_lines([_enlarged(crop_of(frame.picture, box)) for box in boxes])
    number = replace(word, text=text.strip(), box=boxes[1], score=score)
    if not label.strip() or number.number is None:
        return layout.parted(word, zero)
    return [replace(word, text=label.strip(), box=boxes[0]), number]


def _freed(word: Word, lanes: Bars, frame: Frame, reader: Reader) -> Word:
    """A number that was read together with a line at the end of its bar, such as an error bar, read again without it."""
    index = layout.lane_of(word, lanes)
    has_digits = any(sign.isdigit() for sign in word.text)
    if index is None or frame.turned or word.slanted or not has_digits:
        return word
    end = min((bar.end for bar in lanes.lanes[index].bars), key=lambda column: abs(column - word.box[0]))
    # If the line is in the box of a number, the digits cannot be separated, and the line may have been read as a digit.
    if abs(end - word.box[0]) > word.height or (word.number is not None and word.box[0] >= end):
        return word
    _, top, right, bottom = word.box
    crop = crop_of(frame.picture, (end + 2, top, right, bottom))
    if min(crop.shape[:2]) < word.height / 2:
        return word
    is_inked = inked_columns(crop)
    clean = np.flatnonzero(~is_inked)
    if not is_inked[0] or not clean.size or clean[0] > word.height:
        return word
    again = _again(word, (end + 2 + float(clean[0]), top, right, bottom), frame.picture, reader)
    return again if again.number is not None and (word.number or again.number).endswith(again.number) else word


def _again(word: Word, box: Box, picture: Pixels, reader: Reader) -> Word:
    """The word as it is read from another box."""
    [(text, score)] = reader.read_lines([_enlarged(crop_of(picture, box))])
    return replace(word, text=text.strip(), box=box, score=score)


def _labelled(chart: Chart, reader: Reader) -> Chart:
    """The chart with labels searched for beside bars that have none.

    In a large picture the model overlooks small letters that are far apart.
    """
    if any(word.slanted and word.box[2] <= chart.bars.zero + 4 for word in chart.words):
        return chart
    lanes, end = chart.bars.lanes, float(len(chart.frame.pixels()))
    groups = layout.neighbours(lanes)
    borders = [(before[-1].bottom + after[0].top) / 2 for before, after in pairwise(groups)]
    half = max(group[-1].bottom - group[0].top for group in groups) / 2 + _BESIDE
    cells = list(
        zip(
            [max(0.0, groups[0][0].top - half), *borders], [*borders, min(end, groups[-1][-1].bottom + half)], strict=True
        )
    )  # fmt: skip
    # Labels that nearly touch were read as one word, which is the label of no bar.
    lost = [word for word in chart.words if chart.frame.turned and _is_of_several(word, cells, chart.bars.zero)]
    chart = replace(chart, words=tuple(word for word in chart.words if word not in lost))
    known = [[word for word in chart.words if _is_label(word, cell, chart.bars.zero)] for cell in cells]
    is_open = [
        not words or any(word.box[1] < bottom and top < word.box[3] for word in lost)
        for (top, bottom), words in zip(cells, known, strict=True)
    ]
    if not any(is_open):
        return chart
    # If one label was overlooked, a part of another label may have been overlooked too.
    boxes = [chart.frame.back((0.0, top, chart.bars.zero - 2, bottom)) for top, bottom in cells]
    again = _words_of(chart, reader, boxes)
    words = list(chart.words)
    for cell, before, words_again, is_missing in zip(cells, known, again, is_open, strict=True):
        words_again = [word for word in words_again if _is_label(word, cell, chart.bars.zero)]
        # If the border of the cell goes through a letter, more letters may be cut off.
        is_cut = any(word.box[1] <= cell[0] + 1 or word.box[3] >= cell[1] - 1 for word in words_again)
        if not is_cut and sum(len(word.text) for word in words_again) > sum(len(word.text) for word in before):
            words = [word for word in words if word not in before] + words_again
        elif is_missing:
            # A part of this label was lost, and the remaining part may be the name of another card.
            words = [word for word in words if word not in before]
    return replace(chart, words=tuple(words))


def _is_label(word: Word, cell: tuple[float, float], zero: float) -> bool:
    """Whether a word may belong to the label beside the lanes of a cell."""
    return not word.slanted and word.box[2] <= zero + 4 and cell[0] <= word.middle[1] < cell[1]


def _is_of_several(word: Word, cells: Sequence[tuple[float, float]], zero: float) -> bool:
    """Whether a word covers the middle of more than one cell."""
    middles = ((top + bottom) / 2 for top, bottom in cells)
    return word.box[2] <= zero + 4 and sum(word.box[1] < middle < word.box[3] for middle in middles) > 1


def _words_of(chart: Chart, reader: Reader, boxes: Sequence[Box], wide: int = 0) -> list[list[Word]]:
    """The words in each of these parts of the picture. The parts are put below each other and enlarged to read them.

    All are made as wide as the widest, and at least `wide` pixels.
    """
    parts = [crop_of(chart.frame.picture, box) for box in boxes]
    wide = max(wide, *(part.shape[1] for part in parts))
    canvas, starts = stacked([np.pad(part, ((0, 0), (0, wide - part.shape[1]), (0, 0)), mode="edge") for part in parts])
    words_by_part: list[list[Word]] = [[] for _ in boxes]
    for word in reader.read_words(canvas, times=1.5):
        at = bisect_right(starts, word.middle[1]) - 1
        right, down = int(max(0, boxes[at][0])), int(max(0, boxes[at][1])) - starts[at]
        box = (word.box[0] + right, word.box[1] + down, word.box[2] + right, word.box[3] + down)
        words_by_part[at].append(chart.frame.into(replace(word, box=box)))
    return words_by_part


def _completed(chart: Chart, reader: Reader, doubted: Sequence[int] = ()) -> Chart:
    """The chart with the words of some lanes read again, from an enlarged picture of these lanes alone.

    These are the `doubted` lanes, or, if there are none, the lanes that do not have as many numbers as bars.
    """
    numbers, lanes = chart.numbers, chart.bars.lanes
    open_lanes = [
        index
        for index, lane in enumerate(lanes)
        if (index in doubted if doubted else len(numbers.get(index, [])) != len(lane.bars))
    ]
    if not open_lanes or not chart.words:
        return chart
    left, width = float(max(0, int(chart.bars.zero))), float(chart.frame.picture.shape[1])
    boxes, wide = [(left, float(max(0, lanes[at].top - 3)), width, float(lanes[at].bottom + 3)) for at in open_lanes], 0
    if chart.frame.turned:
        boxes, wide = _around_ends(chart, open_lanes)
    words = list(chart.words)
    for index, again in zip(open_lanes, _words_of(chart, reader, boxes, wide), strict=True):
        if chart.frame.turned:
            again = [word for word in again if word.number is not None and layout.lane_of(word, chart.bars) == index]
        if sum(word.number is not None for word in again) == len(lanes[index].bars):
            words = [
                word for word in words if word.middle[0] <= chart.bars.zero or layout.lane_of(word, chart.bars) != index
            ]
            words += again
    return replace(chart, words=tuple(words))


def _around_ends(chart: Chart, open_lanes: Sequence[int]) -> tuple[list[Box], int]:
    """The areas around the ends of vertical bars, and how wide each is if no border of the picture cuts it.

    In a large picture the model overlooks small numbers that are far apart.
    """
    lanes, height = chart.bars.lanes, chart.frame.picture.shape[0]
    reach = round(_AROUND * float(np.median([word.box[2] - word.box[0] for word in chart.words])))
    bottom = height - max(0, int(chart.bars.zero))
    boxes = []
    for lane in (lanes[index] for index in open_lanes):
        ends = [height - bar.end for bar in lane.bars]
        top = max(0, round(min(ends)) - reach)
        low = min(bottom, round(max(ends)) + reach)
        boxes.append(
            (float(max(0, lane.top - _BESIDE)), float(top), float(lane.bottom + _BESIDE), float(max(low, top + reach)))
        )
    return boxes, max(lanes[index].bottom - lanes[index].top for index in open_lanes) + 2 * _BESIDE


#: Pixels beside a lane's bars that belong to the lane, and the area around a bar's end that has its number, in heights of
#: letters.
_BESIDE = 14
_AROUND = 3.5


def _entries(chart: Chart) -> Iterator[_Entry]:
    """Every bar of the chart, row by row. Numbers and bars of a lane are paired in order, from left to right."""
    numbers = chart.numbers
    rows = layout.rows(chart.bars, chart.words, chart.frame.turned, chart.column)
    most = _bars_of_a_row(chart, rows)
    usual = Counter(len(lane.bars) for row in rows for lane in row.lanes).most_common(1)[0][0]
    for row in rows:
        series = count()
        # If a lane has a bar too many or too few, the bars of the other lanes get a wrong place in the row.
        is_sure = len(row.lanes) == 1 or all(len(lane.bars) == usual for lane in row.lanes)
        for lane in row.lanes:
            along = numbers.get(chart.bars.lanes.index(lane), [])
            reason = ""
            if len(along) != len(lane.bars):
                reason = f"{len(lane.bars)} bar ends and {len(along)} numbers"
            elif len(row.lanes) < most:
                reason = "the row has fewer bars than others: which one is missing cannot be told"
            elif len(row.lanes) > most:
                reason = "the row has more bars than others: which one is none cannot be told"
            elif not is_sure:
                reason = (
                    "another lane of the row has more bars, or fewer, than is usual: which one this is cannot be told"
                )
            words: Sequence[Word | None] = along if len(along) == len(lane.bars) else [None] * len(lane.bars)
            for bar, word in zip(lane.bars, words, strict=True):
                yield _Entry(row, next(series), bar, word, reason)


def _bars_of_a_row(chart: Chart, rows: Sequence[Row]) -> int:
    """The largest number of lanes in a row. Only lanes with a number count, because a lane without one may not be a bar."""
    numbers, lanes = chart.numbers, chart.bars.lanes
    return max(sum(lanes.index(lane) in numbers for lane in row.lanes) for row in rows)


def _labels_again(chart: Chart, rows: Sequence[Row], reader: Reader) -> dict[str, str]:
    """A second reading of each label, because a word that the first reading missed may make it another card."""
    beside = [word for row in rows for word in row.words if word.box[2] <= chart.bars.zero + 4]
    left, right = min((word.box[0] for word in beside), default=0), max((word.box[2] for word in beside), default=0)
    labels = {}
    for row in {row.label: row for row in rows if row.label}.values():
        crops = []
        for word in row.words:
            box = word.box
            if not chart.frame.turned and word.box[2] <= chart.bars.zero + 4 and len(row.words) == 1:
                # The whole width of the labels, because the first reading may have left out a part of this label.
                box = (left, word.box[1], min(right, _before_tick(chart, word)), word.box[3])
            crops.append(crop_of(chart.frame.picture, chart.frame.back(box), 2))
        texts = [layout.respelt(text.strip()) for text, _ in reader.read_lines([_enlarged(crop) for crop in crops])]
        if len(texts) > 1:
            texts = [_caption_again(chart, word, text, reader) for word, text in zip(row.words, texts, strict=True)]
        labels[row.label] = " ".join(texts)
    return labels


def _caption_again(chart: Chart, word: Word, text: str, reader: Reader) -> str:
    """The second reading of a word of a label. If it differs from the first, other crops of the word are read too.

    This is for small print below a label. A word with a digit names the card, so it gets no further reading.
    """
    if any(sign.isdigit() for sign in word.text + text) or _letters(text) == _letters(word.text):
        return text
    box = chart.frame.back(word.box)
    tight, plain = crop_of(chart.frame.picture, box), crop_of(chart.frame.picture, box, 2)
    for crop in (_enlarged(tight), cv2.resize(plain, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)):
        [(again, _)] = reader.read_lines([np.asarray(crop, dtype=np.uint8)])
        if _letters(again) == _letters(word.text):
            return again.strip()
    return text


def _before_tick(chart: Chart, word: Word) -> float:
    """The column where the tick beside a label begins, as it would be read as a letter. The axis if there is no tick."""
    zero = int(chart.bars.zero) - 1
    crop = crop_of(chart.frame.picture, (0, word.box[1], zero, word.box[3]))
    if not crop.size:
        return float(zero)
    is_inked = inked_columns(crop)[::-1]
    clean = np.flatnonzero(~is_inked)
    if not clean.size or clean[0] > word.height or is_inked[clean[0] : clean[0] + 2].any():
        return float(zero)
    return float(max(zero - clean[0], 1))


def _letters(text: str) -> str:
    """The letters in which two readings of a label must agree. e counts as c, because small print does not tell them apart.

    No two cards differ only by these two letters.
    """
    return "".join(sign for sign in text if sign.isalnum()).casefold().replace("e", "c")


def _spaced(row: Row, second_labels: Mapping[str, str]) -> Row:
    """The row with the label from the reading that has more spaces. The first may have none in `3080 12GB`."""
    second_label = second_labels.get(row.label, "").rstrip("-–—_| ")
    is_better = _letters(second_label) == _letters(row.label) and second_label.count(" ") > row.label.count(" ")
    return replace(row, label=second_label) if is_better else row


def _enlarged(crop: Pixels) -> Pixels:
    """A crop of one line with a border in its background colour, in the size that the model reads best."""
    background = tuple(float(channel) for channel in np.median(np.concatenate([crop[0], crop[-1]]), axis=0))
    times = max(1.0, 64 / crop.shape[0])
    enlarged = cv2.resize(crop, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    return np.asarray(
        cv2.copyMakeBorder(enlarged, 12, 12, 20, 20, cv2.BORDER_CONSTANT, value=background), dtype=np.uint8
    )


def _shapes(chart: Chart, numbers: Sequence[Word], along: Sequence[Word]) -> dict[Box, glyphs.Marks | None]:
    """The marks of each number beside a bar and along the axis, by the box of its word."""
    # The boxes are widened by one digit, because the box of a number may leave out its last digit.
    unit = Counter(word.unit for word in numbers if word.unit).most_common(1)
    wide = {word.box: _longer(chart, word, unit[0][0] if unit else "") for word in numbers}
    wide |= {word.box: word for word in along}
    marks_by_box = {box: _marks_of(chart, word) for box, word in wide.items()}
    known = glyphs.usual([(marked, wide[box].unit is not None) for box, marked in marks_by_box.items() if marked])
    return {
        # If few numbers have a unit, its length is unknown, and a digit before it may have been left out.
        box: _marks_of(chart, word, known) if known else None if word.unit is not None else marks_by_box[box]
        for box, word in wide.items()
    }


def _marks_of(chart: Chart, word: Word, known: glyphs.Usual | None = None) -> glyphs.Marks | None:
    """The marks of one number, from the first kind of crop in which they can be separated."""
    ways = (_crop, _crop_of_lane, _crop_of_box, _crop_on_one_background, _crop_before_end, _crop_behind_line)
    crops = (crop(chart, word) for crop in ways)
    candidates = (glyphs.marks(crop, word.number or "", word.unit is not None, known) for crop in crops)
    return next(filter(None, candidates), None)


def _crop_of_box(chart: Chart, word: Word) -> Pixels:
    """All pixels of a word, for a word that is wider than its bar."""
    return crop_of(chart.frame.picture, chart.frame.back(word.box))


def _longer(chart: Chart, word: Word, unit: str) -> Word:
    """The word with a box that has room for one more digit at its end, up to the next word.

    If only the beginning of the chart's `unit` was read, there is also room for the rest of the unit.
    """
    left, top, right, bottom = chart.frame.back(word.box)
    tall = bottom - top
    missing = len(unit) - len(word.unit) if word.unit and unit.startswith(word.unit) else 0
    end = right + (1 + missing) * _DIGIT * tall
    for neighbour in chart.words:
        start, above, last, below = chart.frame.back(neighbour.box)
        # The boxes of two words beside each other may overlap a little.
        is_next = start >= max(right - _OVERLAP * tall, (left + right) / 2) and last > right
        if neighbour is not word and above < bottom and top < below and is_next:
            end = min(end, start)
    return chart.frame.into(replace(word, box=(left, top, end, bottom)))


#: The boxes of two words may overlap by this share of their height.
_OVERLAP = 0.25
#: The width of a digit as a share of the height of its word's box.
_DIGIT = 0.6


def _letter_shapes(chart: Chart, rows: Sequence[Row]) -> list[glyphs.Glyph]:
    """The digits in the labels of these rows, with their shapes."""
    digits: list[glyphs.Glyph] = []
    for word in {word.box: word for row in rows for word in row.words}.values():
        text = word.text.replace(" ", "")
        if any(sign.isdigit() for sign in text):
            marked = glyphs.marks(crop_of(chart.frame.picture, chart.frame.back(word.box)), text)
            digits += [mark for mark in (marked.glyphs if marked else ()) if mark.text.isdigit()]
    return digits


def _crop_of_lane(chart: Chart, word: Word) -> Pixels:
    """A number's pixels, no higher than the longest bar of its lane, for a number that lies across nested bars."""
    left, top, right, bottom = word.box
    index = layout.lane_of(word, chart.bars)
    if index is not None:
        lane = chart.bars.lanes[index]
        end = lane.bars[-1].end
        if chart.bars.zero < word.middle[0] < end:
            top, bottom, right = max(top, lane.top + 1), min(bottom, lane.bottom - 1), min(right, end - 1)
    return crop_of(chart.frame.picture, chart.frame.back((left, top, right, bottom)))


def _crop(chart: Chart, word: Word) -> Pixels:
    """A number's pixels. If the number is written into a bar, only pixels of this bar, and none of the axis beside it."""
    left, top, right, bottom = word.box
    index = layout.lane_of(word, chart.bars)
    if word.middle[0] < chart.bars.zero:
        right = min(right, chart.bars.zero - 2)
    elif index is not None:
        inside = [bar for bar in chart.bars.lanes[index].bars if chart.bars.zero < word.middle[0] < bar.end]
        if inside:
            left, right = max(left, chart.bars.zero + 2), min(right, inside[0].end - 1)
            # Letters that are taller than the shorter of two nested bars reach into the longer bar.
            tall = [bar for bar in inside if bar.height >= 0.75 * word.height] or [inside[-1]]
            top, bottom = max(top, tall[0].top + 1), min(bottom, tall[0].bottom - 1)
        else:
            left = max(left, chart.bars.lanes[index].bars[-1].end + 1)
    for bar in (bar for lane in chart.bars.lanes for bar in lane.bars if bar.left < right and left < bar.end):
        # The box of a word may reach into the bar of the next lane.
        if bar.bottom <= word.middle[1]:
            top = max(top, bar.bottom + 1)
        elif bar.top >= word.middle[1]:
            bottom = min(bottom, bar.top - 1)
    return crop_of(chart.frame.picture, chart.frame.back((left, top, right, bottom)))


def _crop_on_one_background(chart: Chart, word: Word) -> Pixels:
    """A number's pixels without rows at top and bottom that have another background colour, such as a frame around a bar."""
    crop = _crop(chart, word)
    height, width = crop.shape[:2]
    if height < 12 or width < height:
        return crop
    beside = np.concatenate([crop[:, :2], crop[:, -max(2, height // 4) :]], axis=1)
    backgrounds = np.median(beside, axis=1)
    own = np.median(backgrounds[height // 4 : height - height // 4], axis=0)
    is_other = np.abs(backgrounds - own).max(axis=1) > _OTHER
    top = next((at for at, is_other_row in enumerate(is_other[: height // 4]) if not is_other_row), 0)
    bottom = next((at for at, is_other_row in enumerate(is_other[::-1][: height // 4]) if not is_other_row), 0)
    return crop[top : height - bottom]


#: Background colours that differ by more in a channel are different.
_OTHER = 24


def _crop_before_end(chart: Chart, word: Word) -> Pixels:
    """A number's pixels in its bar without the last pixels of the bar, which are soft, rounded or a border.

    There is no room for a digit in these last pixels.
    """
    index = layout.lane_of(word, chart.bars)
    ends = [bar.end for bar in chart.bars.lanes[index].bars if word.middle[0] < bar.end] if index is not None else []
    left, top, right, bottom = word.box
    before = min([right, *(end - _SOFT for end in ends)])
    return _crop(chart, replace(word, box=(left, top, before, bottom))) if before > left else _crop(chart, word)


#: Pixels at the end of a bar that may have another colour than the rest of the bar.
_SOFT = 4


def _crop_behind_line(chart: Chart, word: Word) -> Pixels:
    """A number's pixels without the end of a line that comes from its bar, such as an error bar.

    If this end were a digit, the bar would be longer than the remaining number says.
    """
    crop = _crop(chart, word)
    if chart.frame.turned or not crop.size:
        return crop
    is_inked = inked_columns(crop)
    clean = np.flatnonzero(~is_inked)
    is_line = is_inked[0] and clean.size and clean[0] <= word.height / 2
    return crop[:, clean[0] :] if is_line else crop


@dataclass(frozen=True, slots=True)
class _Checked:
    """The parts of the whole chart that the checks of one value need."""

    chart: Chart
    scale: scale.Scale | None
    comma: str
    unit: str | None
    beside: Sequence[Word]
    marks: dict[Box, glyphs.Marks | None]
    letters: Sequence[glyphs.Glyph]

    def value(self, entry: _Entry, reader: Reader, other_label: str) -> Value:
        """The value of one bar, accepted or with the first reason why it is not.

        `other_label` is the second reading of its label, if it differs from the first. Otherwise it is empty.
        """
        bar, word = entry.bar, entry.word
        text = word.number if word else None
        second, residual = None, None
        reason = entry.reason
        if word is not None and text is not None:
            second = self._again(word, reader)
            if self.scale is not None:
                residual = round(self.scale.residual(layout.number(text, self.comma), bar.end), 2)
            reason = reason or self._doubt(word, text, second, residual)
        elif not reason:
            reason = "no number was found beside the bar"
        if not reason and not entry.row.label:
            reason = "no label was found beside the bar"
        if not reason and other_label:
            reason = f"the second reading of the label gives {other_label}"
        return Value(
            label=entry.row.label, series=entry.series, text=text,
            number=layout.plain(text, self.comma) if text else None, second_text=second,
            unit=(word.unit if word else None) or self.unit,
            box=_rounded(self.chart.frame.back(word.box)) if word else None,
            bar=_rounded(self.chart.frame.back(_box(bar))), bar_px=round(bar.end - self.chart.bars.zero, 2),
            residual_px=residual, status="quarantined" if reason else "accepted", reason=reason,
        )  # fmt: skip

    def _again(self, word: Word, reader: Reader) -> str | None:
        """The number as read again from an enlarged crop. Tries several crops, because bars and neighbours may disturb."""
        number: str | None = None
        picture, box = self.chart.frame.picture, self.chart.frame.back(word.box)
        for crop in (_crop(self.chart, word), crop_of(picture, box), crop_of(picture, box, 0.2 * word.height)):
            if min(crop.shape[:2]) < 4:
                continue
            [(text, _)] = reader.read_lines([_enlarged(crop)])
            again = Word(text.strip(), word.box, 1.0).number
            if again is not None and self._same(again, word.number or ""):
                return again
            number = number or again
        return number

    def _same(self, first: str, second: str) -> bool:
        """Whether two readings are the same number. A comma between thousands does not matter."""
        return layout.plain(first, self.comma) == layout.plain(second, self.comma)

    def _doubt(self, word: Word, text: str, second: str | None, residual: float | None) -> str:
        """The reason why a number is not accepted. Empty if it is accepted."""
        if residual is None or self.scale is None:
            return "the chart has no scale to hold the number against"
        if abs(residual) > scale.WITHIN:
            return (
                f"the bar is {abs(residual):.1f} pixels {'longer' if residual > 0 else 'shorter'} than the number says"
            )
        if second is not None and not self._same(second, text) and self._fits(second, residual, text):
            return f"the second reading gives {second}"
        may_be = self._open(text, residual)
        if may_be[-1] and not self._is_usual(word):
            return "hardly another number has as many digits behind its point: one may be left out, or none"
        own = self.marks[word.box]
        if own is None:
            # The bar allows no other digit, and both readings agree. But the bar does not show whether a digit at the end
            # was left out.
            is_proved = second == text and not any(may_be) and self._is_as_long(text)
            return "" if is_proved else "the digits could not be told apart to compare them"
        others = [glyph for box, marked in self.marks.items() if box != word.box and marked for glyph in marked.glyphs]
        verdicts = glyphs.compare(own.glyphs, others, may_be)
        is_read_twice = second is not None and self._same(second, text)
        if "alone" in verdicts and is_read_twice:
            # Labels mostly have the same font. Then their digits can replace digits that the numbers of the chart lack.
            beside = glyphs.compare(own.glyphs, [*others, *self.letters], may_be)
            verdicts = [
                "same" if verdict == "alone" and second_verdict == "same" else verdict
                for verdict, second_verdict in zip(verdicts, beside, strict=True)
            ]
        if set(verdicts) == {"same"}:
            return ""
        if not is_read_twice:
            return f"the second reading gives {second or 'no number'}"
        if "other" in verdicts:
            return "a digit looks like another digit of the picture"
        return "a digit is nowhere else in the picture, and too small a part of the bar to be checked by it"

    def _is_usual(self, word: Word) -> bool:
        """Whether a good part of the other numbers have as many digits after their point as this number."""
        places = [_behind_point(number.number or "") for number in self.beside if number is not word]
        return places.count(_behind_point(word.number or "")) >= _GOOD_PART * len(places)

    def _is_as_long(self, text: str) -> bool:
        """Whether a number has as many digits after its point as the numbers of the chart whose digits were separated."""
        if "," in text and self.comma == "decimal":
            return False
        separated = [number for number in self.beside if self.marks[number.box]]
        alike = sum(_behind_point(number.number or "") == _behind_point(text) for number in separated)
        return alike >= max(_ENOUGH, 0.9 * len(separated))

    def _fits(self, second: str, residual: float, text: str) -> bool:
        """Whether the bar also agrees with the second reading of its number. Otherwise the second reading is ignored."""
        assert self.scale is not None
        difference = layout.number(second, self.comma) - layout.number(text, self.comma)
        return abs(residual - difference * self.scale.px_per_unit) <= scale.WITHIN

    def _open(self, text: str, residual: float) -> list[str]:
        """For each sign of a number, the other digits that would also agree with the bar."""
        assert self.scale is not None
        open_digits = []
        for sign, place in zip(text, _places(text), strict=True):
            step = place * self.scale.px_per_unit
            may_be = "0123456789" if sign.isdigit() else ""
            differences = (abs(residual - (int(digit) - int(sign)) * step) for digit in may_be)
            open_digits.append(
                "".join(
                    digit
                    for digit, off in zip(may_be, differences, strict=True)
                    if digit != sign and off <= scale.WITHIN
                )
            )
        return open_digits


def _behind_point(text: str) -> int:
    return len(text.partition(".")[2])


#: If the bar does not prove the last digit of a number, at least this share of the chart's numbers must have as many digits
#: after the point.
_GOOD_PART = 0.3
#: At least this many numbers must agree in the number of digits after the point, so that it holds for all.
_ENOUGH = 4


def _places(text: str) -> list[float]:
    """For each sign of a number, how much the number grows if this digit grows by one. 0 for signs that are not digits."""
    whole, point, decimals = text.replace(",", " ").partition(".")
    digits = sum(sign.isdigit() for sign in whole)
    places: list[float] = []
    for sign in whole:
        if sign.isdigit():
            digits -= 1
            places.append(10.0**digits)
        else:
            places.append(0.0)
    return [*places, *([0.0] if point else []), *(10.0 ** -(at + 1) for at in range(len(decimals)))]


def _once_each(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values, with those refused whose label is beside two rows. This holds even if one row has more bars."""
    seen = Counter((value.label, value.series) for value in values)
    twice = {label for (label, _), times in seen.items() if times > 1}
    return tuple(
        value.refused("the label stands beside more than one row") if value.label in twice else value
        for value in values
    )


def _box(bar: Bar) -> Box:
    return bar.left, bar.top, bar.right, bar.bottom


def _rounded(box: Box) -> Box:
    left, top, right, bottom = (round(float(side), 1) for side in box)
    return left, top, right, bottom
