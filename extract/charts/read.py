"""One picture to its values: what is printed beside each bar, and whether the bar, its digits and its label agree.

A value is accepted only where all of it was checked; "could not be checked" is quarantine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import cv2
import numpy as np

from gpuledger.extract.charts import bars as bar_finding
from gpuledger.extract.charts import glyphs, heading, layout, scale
from gpuledger.extract.charts.bars import Bar, Bars
from gpuledger.extract.charts.frame import Frame
from gpuledger.extract.charts.layout import Row
from gpuledger.extract.charts.limits import LEAST_WIDTH
from gpuledger.extract.charts.outcome import Box, ChartReading, Value
from gpuledger.extract.charts.picture import Pixels
from gpuledger.extract.charts.words import Reader, Word, crop_of, stacked


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its words and bars, all as if bars ran from left to right."""

    frame: Frame
    words: tuple[Word, ...]
    bars: Bars

    @property
    def numbers(self) -> dict[int, list[Word]]:
        """The numbers along each lane."""
        return layout.values(self.bars, self.words)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A bar with its place in the chart, and the number that belongs to it where the counts agree."""

    row: Row
    series: int
    bar: Bar
    word: Word | None
    reason: str = ""


def read(picture: Pixels, reader: Reader) -> ChartReading:
    """All values of a picture, accepted or with the reason why not."""
    words = reader.words(picture)
    chart = _chart(picture, words, reader)
    if chart is None:
        return _nothing(
            picture, words, "no bars that begin at one line were found beside numbers: this is no bar chart"
        )
    entries = list(_entries(chart))
    comma = layout.meaning_of_comma([entry.word.number or "" for entry in entries if entry.word])
    pairs = [
        (layout.number(entry.word.number, comma), entry.bar.end)
        for entry in entries
        if entry.word is not None and entry.word.number
    ]
    fitted = scale.fit(pairs, chart.bars.zero)
    along = layout.marks(chart.bars, chart.words)
    agree = None
    if fitted is not None:
        agree = scale.marks_agree(
            fitted, [(layout.number(word.number, comma), word.middle[0]) for word in along if word.number]
        )
    top = min(chart.frame.back(_box(lane.bars[0]))[1] for lane in chart.bars.lanes)
    title, subtitle = heading.title_and_subtitle(words, top)
    unit = heading.unit([*(entry.word for entry in entries if entry.word), *words], (title, subtitle))
    shapes = _shapes(chart, [*(entry.word for entry in entries if entry.word is not None), *along])
    doubtful = _doubtful_labels(chart, [entry.row for entry in entries], reader)
    letters = _letter_shapes(chart, [entry.row for entry in entries if entry.row.label not in doubtful])
    checked = _Checked(chart, fitted, comma, unit, shapes, letters)
    values = tuple(checked.value(entry, reader, doubtful.get(entry.row.label, "")) for entry in entries)
    problem = ""
    if picture.shape[1] < LEAST_WIDTH:
        problem = f"the picture is {picture.shape[1]} pixels wide; from {LEAST_WIDTH:,} on a bar proves its number"
    elif fitted is None:
        problem = "no scale fits at least three bars and seven in ten of them: bars and numbers do not belong together"
    elif agree is False:
        problem = "the numbers along the axis contradict the scale that the bars have"
    if problem:
        values = tuple(value.refused(problem) for value in values)
    return ChartReading(
        width=picture.shape[1], height=picture.shape[0], title=title, subtitle=subtitle, unit=unit,
        px_per_unit=round(fitted.px_per_unit, 6) if fitted else None, values=_once_each(values), problem=problem,
    )  # fmt: skip


def _nothing(picture: Pixels, words: Sequence[Word], problem: str) -> ChartReading:
    title, subtitle = heading.title_and_subtitle(words, picture.shape[0] / 3)
    return ChartReading(picture.shape[1], picture.shape[0], title, subtitle, None, None, (), problem)


def _chart(picture: Pixels, words: Sequence[Word], reader: Reader) -> Chart | None:
    """The picture lying or turned, whichever way more bars have a number beside them."""
    found: list[tuple[int, int, Chart]] = []
    for turned in (False, True):
        frame = Frame(picture, turned)
        placed = tuple(frame.into(word) for word in words)
        lanes = bar_finding.find(frame.pixels(), [word.box for word in placed])
        if lanes is None:
            continue
        apart = [part for word in placed for part in _parted(word, lanes.zero, frame, reader)]
        chart = Chart(frame, tuple(layout.without_tick(word, lanes.zero) for word in apart), lanes)
        found.append((len(chart.numbers), len(lanes.lanes), chart))
    if not found:
        return None
    beside, count, best = max(found, key=lambda one: one[:2])
    if beside < 2 and count < 3:
        return None
    # The model may have overlooked all numbers of a large picture: they are looked for at the ends of its bars.
    completed = _completed(best, reader)
    return completed if len(completed.numbers) >= 2 else None


def _parted(word: Word, zero: float, frame: Frame, reader: Reader) -> list[Word]:
    """A label and the number in its bar that were read as one word, each read by itself; a title lies over the line too."""
    left, top, right, bottom = word.box
    is_title = frame.turned or word.slanted or not any(sign.isdigit() for sign in word.text)
    if is_title or not left + 2 * word.height < zero < right - word.height:
        return layout.parted(word, zero)
    boxes = (left, top, zero - 1, bottom), (zero + 2, top, right, bottom)
    (label, _), (text, score) = reader.read([_enlarged(crop_of(frame.picture, box)) for box in boxes])
    number = replace(word, text=text.strip(), box=boxes[1], score=score)
    if not label.strip() or number.number is None:
        return layout.parted(word, zero)
    return [replace(word, text=label.strip(), box=boxes[0]), number]


def _completed(chart: Chart, reader: Reader) -> Chart:
    """The same with the words read again in lanes whose numbers and bars differ in count: these lanes alone, and larger."""
    numbers, lanes = chart.numbers, chart.bars.lanes
    open_lanes = [index for index, lane in enumerate(lanes) if len(numbers.get(index, [])) != len(lane.bars)]
    if not open_lanes:
        return chart
    if chart.frame.turned:
        return _completed_standing(chart, reader, open_lanes)
    left = max(0, int(chart.bars.zero))
    tops = {index: max(0, lanes[index].top - 3) for index in open_lanes}
    strips = [chart.frame.picture[tops[index] : lanes[index].bottom + 3, left:] for index in open_lanes]
    canvas, starts = stacked(strips)
    found: dict[int, list[Word]] = {index: [] for index in open_lanes}
    for word in reader.words(canvas, times=1.5):
        at = bisect_right(starts, word.middle[1]) - 1
        index = open_lanes[at]
        down = tops[index] - starts[at]
        box = (word.box[0] + left, word.box[1] + down, word.box[2] + left, word.box[3] + down)
        found[index].append(replace(word, box=box))
    words = list(chart.words)
    for index, again in found.items():
        if sum(word.number is not None for word in again) == len(lanes[index].bars):
            words = [
                word for word in words if word.middle[0] <= chart.bars.zero or layout.lane_of(word, chart.bars) != index
            ]
            words += again
    return replace(chart, words=tuple(words))


def _completed_standing(chart: Chart, reader: Reader, open_lanes: Sequence[int]) -> Chart:
    """The same of standing bars: what stands around the ends of those bars, below each other. Small numbers far apart in a
    large picture are what the model overlooks.
    """
    lanes, picture = chart.bars.lanes, chart.frame.picture
    height = picture.shape[0]
    reach = round(_AROUND * float(np.median([word.box[2] - word.box[0] for word in chart.words])))
    bottom = height - max(0, int(chart.bars.zero))
    corners = {}
    for index in open_lanes:
        ends = [height - bar.end for bar in lanes[index].bars]
        corners[index] = max(0, round(min(ends)) - reach), max(0, lanes[index].top - _BESIDE)
    wide = max(lanes[index].bottom - lanes[index].top for index in open_lanes) + 2 * _BESIDE
    strips = []
    for index, (top, left) in corners.items():
        low = min(bottom, round(max(height - bar.end for bar in lanes[index].bars)) + reach)
        strip = picture[top : max(low, top + reach), left : lanes[index].bottom + _BESIDE]
        strips.append(np.pad(strip, ((0, 0), (0, max(0, wide - strip.shape[1])), (0, 0)), mode="edge"))
    canvas, starts = stacked(strips)
    found: dict[int, list[Word]] = {index: [] for index in open_lanes}
    for word in reader.words(canvas, times=1.5):
        at = bisect_right(starts, word.middle[1]) - 1
        index = open_lanes[at]
        top, left = corners[index]
        down = top - starts[at]
        box = (word.box[0] + left, word.box[1] + down, word.box[2] + left, word.box[3] + down)
        found[index].append(chart.frame.into(replace(word, box=box)))
    words = list(chart.words)
    for index, again in found.items():
        inside = [word for word in again if word.number is not None and layout.lane_of(word, chart.bars) == index]
        if len(inside) == len(lanes[index].bars):
            words = [
                word for word in words if word.middle[0] <= chart.bars.zero or layout.lane_of(word, chart.bars) != index
            ]
            words += inside
    return replace(chart, words=tuple(words))


#: Pixels beside a lane's bars that belong to it, and heights of letters around a bar's end in which its number stands.
_BESIDE = 14
_AROUND = 3.5


def _entries(chart: Chart) -> Iterator[_Entry]:
    """Every bar of the chart, row by row. The numbers of a lane and its bars are paired in the order of their ends."""
    numbers = chart.numbers
    rows = layout.rows(chart.bars, chart.words, chart.frame.turned)
    most = max(len(row.lanes) for row in rows)
    usual = Counter(len(lane.bars) for row in rows for lane in row.lanes).most_common(1)[0][0]
    for row in rows:
        series = count()
        # A bar too many in one lane, or one too few, gives the bars of the others another place in the row.
        is_sure = len(row.lanes) == 1 or all(len(lane.bars) == usual for lane in row.lanes)
        for lane in row.lanes:
            along = numbers.get(chart.bars.lanes.index(lane), [])
            reason = ""
            if len(along) != len(lane.bars):
                reason = f"{len(lane.bars)} bar ends and {len(along)} numbers"
            elif len(row.lanes) != most:
                reason = "the row has fewer bars than others: which one is missing cannot be told"
            elif not is_sure:
                reason = (
                    "another lane of the row has more bars, or fewer, than is usual: which one this is cannot be told"
                )
            words: Sequence[Word | None] = along if len(along) == len(lane.bars) else [None] * len(lane.bars)
            for bar, word in zip(lane.bars, words, strict=True):
                yield _Entry(row, next(series), bar, word, reason)


def _doubtful_labels(chart: Chart, rows: Sequence[Row], reader: Reader) -> dict[str, str]:
    """Labels that a second reading gives otherwise, with what it gave: a word that was missed makes another card of one."""
    beside = [word for row in rows for word in row.words if word.box[2] <= chart.bars.zero + 4]
    left, right = min((word.box[0] for word in beside), default=0), max((word.box[2] for word in beside), default=0)
    found = {}
    for row in {row.label: row for row in rows if row.label}.values():
        crops = []
        for word in row.words:
            box = word.box
            if not chart.frame.turned and word.box[2] <= chart.bars.zero + 4 and len(row.words) == 1:
                # All of the column of labels, lest the first reading left out a part of this one.
                box = (left, word.box[1], right, word.box[3])
            crops.append(crop_of(chart.frame.picture, chart.frame.back(box), 2))
        again = "".join(text for text, _ in reader.read([_enlarged(crop) for crop in crops]))
        if _letters(again) != _letters(row.label):
            found[row.label] = again
    return found


def _letters(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum()).casefold()


def _enlarged(crop: Pixels) -> Pixels:
    """A crop of one line with a border of its own ground, as large as the model reads best."""
    ground = tuple(float(one) for one in np.median(np.concatenate([crop[0], crop[-1]]), axis=0))
    times = max(1.0, 64 / crop.shape[0])
    enlarged = cv2.resize(crop, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.copyMakeBorder(enlarged, 12, 12, 20, 20, cv2.BORDER_CONSTANT, value=ground), dtype=np.uint8)


def _shapes(chart: Chart, words: Sequence[Word]) -> dict[Box, list[glyphs.Glyph] | None]:
    """The marks of each number, by the place of its word."""
    found: dict[Box, list[glyphs.Glyph] | None] = {}
    for word in words:
        crops = (_crop(chart, word), _crop_of_lane(chart, word))
        told = (glyphs.glyphs(crop, word.number or "", word.unit is not None) for crop in crops)
        found[word.box] = next(filter(None, told), None)
    return found


def _letter_shapes(chart: Chart, rows: Sequence[Row]) -> list[glyphs.Glyph]:
    """The marks of the labels that two readings agree on."""
    found: list[glyphs.Glyph] = []
    for word in {word.box: word for row in rows for word in row.words}.values():
        text = word.text.replace(" ", "")
        if any(sign.isdigit() for sign in text):
            marks = glyphs.glyphs(crop_of(chart.frame.picture, chart.frame.back(word.box)), text)
            found += [mark for mark in marks or () if mark.text.isdigit()]
    return found


def _crop_of_lane(chart: Chart, word: Word) -> Pixels:
    """A number's pixels, no higher than the longest bar of its lane: for one that stands across the bars of a nest."""
    left, top, right, bottom = word.box
    index = layout.lane_of(word, chart.bars)
    if index is not None:
        lane = chart.bars.lanes[index]
        end = lane.bars[-1].end
        if chart.bars.zero < word.middle[0] < end:
            top, bottom, right = max(top, lane.top + 1), min(bottom, lane.bottom - 1), min(right, end - 1)
    return crop_of(chart.frame.picture, chart.frame.back((left, top, right, bottom)))


def _crop(chart: Chart, word: Word) -> Pixels:
    """A number's pixels; where it is written into a bar, no more than that bar's, and nothing of the axis beside it."""
    left, top, right, bottom = word.box
    index = layout.lane_of(word, chart.bars)
    if index is not None:
        inside = [bar for bar in chart.bars.lanes[index].bars if chart.bars.zero < word.middle[0] < bar.end]
        if inside:
            left, right = max(left, chart.bars.zero + 2), min(right, inside[0].end - 1)
            # Letters that are taller than the shorter bar of a nest stand out of it, into the longer one.
            tall = [bar for bar in inside if bar.height >= 0.7 * word.height] or [inside[-1]]
            top, bottom = max(top, tall[0].top + 1), min(bottom, tall[0].bottom - 1)
        else:
            left = max(left, chart.bars.lanes[index].bars[-1].end + 1)
    return crop_of(chart.frame.picture, chart.frame.back((left, top, right, bottom)))


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the checks of one value need of the whole chart."""

    chart: Chart
    scale: scale.Scale | None
    comma: str
    unit: str | None
    marks: dict[Box, list[glyphs.Glyph] | None]
    letters: Sequence[glyphs.Glyph]

    def value(self, entry: _Entry, reader: Reader, other_label: str) -> Value:
        """The value of one bar, accepted or with the first reason why not.

        `other_label` is what a second reading made of its label, where that differs.
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
        """The number as read from its enlarged crop alone, cut in the ways that border of bars and neighbours allow."""
        found: str | None = None
        picture, box = self.chart.frame.picture, self.chart.frame.back(word.box)
        for crop in (_crop(self.chart, word), crop_of(picture, box), crop_of(picture, box, 0.2 * word.height)):
            if min(crop.shape[:2]) < 4:
                continue
            [(text, _)] = reader.read([_enlarged(crop)])
            again = Word(text.strip(), word.box, 1.0).number
            if again is not None and self._same(again, word.number or ""):
                return again
            found = found or again
        return found

    def _same(self, one: str, other: str) -> bool:
        """Whether two readings are one number: a comma between thousands says nothing."""
        return layout.plain(one, self.comma) == layout.plain(other, self.comma)

    def _doubt(self, word: Word, text: str, second: str | None, residual: float | None) -> str:
        """Why a number that was read is not accepted; empty where it is."""
        if residual is None or self.scale is None:
            return "the chart has no scale to hold the number against"
        if abs(residual) > scale.WITHIN:
            return (
                f"the bar is {abs(residual):.1f} pixels {'longer' if residual > 0 else 'shorter'} than the number says"
            )
        if second is None or not self._same(second, text):
            return f"the second reading gives {second or 'no number'}"
        own = self.marks[word.box]
        if own is None:
            return "the digits could not be told apart to compare them"
        others = [glyph for box, marks in self.marks.items() if box != word.box and marks for glyph in marks]
        verdicts = glyphs.compare(own, others)
        if "alone" in verdicts:
            # Labels are mostly set in the same font: where they are, they say what the few numbers of a chart do not.
            beside = glyphs.compare(own, [*others, *self.letters])
            verdicts = [
                "same" if one == "alone" and two == "same" else one for one, two in zip(verdicts, beside, strict=True)
            ]
        for place, verdict in zip(_places(text), verdicts, strict=True):
            if verdict == "other":
                return "a digit looks like another digit of the picture"
            if verdict == "alone" and place * self.scale.px_per_unit <= 2 * scale.WITHIN:
                return "a digit is nowhere else in the picture, and too small a part of the bar to be checked by it"
        return ""


def _places(text: str) -> list[float]:
    """What one more in each digit adds to a number; 0 for the signs between them."""
    whole, point, rest = text.replace(",", " ").partition(".")
    digits = sum(one.isdigit() for one in whole)
    places: list[float] = []
    for sign in whole:
        if sign.isdigit():
            digits -= 1
            places.append(10.0**digits)
        else:
            places.append(0.0)
    return [*places, *([0.0] if point else []), *(10.0 ** -(at + 1) for at in range(len(rest)))]


def _once_each(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """A label that stands twice in its series names none of its bars."""
    seen = Counter((value.label, value.series) for value in values)
    return tuple(
        value.refused("the label stands more than once in its series") if seen[value.label, value.series] > 1 else value
        for value in values
    )


def _box(bar: Bar) -> Box:
    return bar.left, bar.top, bar.right, bar.bottom


def _rounded(box: Box) -> Box:
    left, top, right, bottom = (round(float(side), 1) for side in box)
    return left, top, right, bottom
