"""Bar charts in the shapes of publishers, drawn for measuring their reader: what `chart_pictures.py` draws is plainer.

Labels over two lines, legends, marks of water, shaded rows, thin and rounded bars, notes in the bars, three bars a row, axes
on top; and a few in which a length proves no number: stacked bars, axes that are cut off or logarithmic. Everything is drawn
larger and brought to its width, so that bars end between two pixels and letters are soft.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from tests.support.chart_pictures import CARDS, Drawn, Printed, found_fonts

#: What else benchmarks run on, beside the cards of the plainer charts.
OTHERS = ("L40S", "H100 PCIe", "A100 PCIe 80GB", "RTX 4080 Super", "RTX 4060 Ti 16GB", "RTX 4060 Ti 8GB", "RTX A5000")
FONTS = (
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "cmss10.ttf",
    "DejaVuSerif.ttf",
    "STIXGeneralBol.ttf",
    "DejaVuSansMono.ttf",
)
#: Kinds of rows, and how often each is drawn.
KINDS = {"single": 8, "nested": 4, "beside": 4, "three": 2, "stacked": 1, "cut": 1, "logarithmic": 1}
#: Kinds of which nothing may be accepted that the picture does not print, and little can be.
ODD = ("stacked", "cut", "logarithmic")
PALETTES = (
    ("#76b900", "#3d5a00", "#b7dd6f"), ("#c4161c", "#5a5a5a", "#e58a8d"), ("#2e75b6", "#1f3864", "#9dc3e6"),
    ("#4472c4", "#ed7d31", "#a5a5a5"), ("#5b9bd5", "#264478", "#70ad47"), ("#8e44ad", "#2c3e50", "#c39bd3"),
    ("#0071c5", "#00285a", "#7fb8e2"), ("#b0c4de", "#6b8cae", "#d9e2ec"), ("#e69f00", "#56b4e9", "#009e73"),
)  # fmt: skip
GROUNDS = (
    ("white", "#111111", "#d0d0d0"),
    ("#f7f7f7", "#333333", "#cccccc"),
    ("#16181d", "#f0f0f0", "#3a3d44"),
    ("#262626", "white", "#4a4a4a"),
)
SERIES = (
    ("Average FPS", "1% Low", "0.1% Low"),
    ("FP16", "INT8", "FP8"),
    ("Batch 1", "Batch 8", "Batch 32"),
    ("TensorRT", "PyTorch", "xformers"),
)
#: What else publishers draw, from the seed on that is named: bars with a shadow or round ends, numbers at the beginning of
#: their bars or in a column of their own left of them, and shares behind them.
EXTRAS = ("shadow", "pill", "start", "column", "percent")
FIRST_WITH_EXTRAS = 8_300
TITLES = (
    ("Cyberpunk 2077 - 4K Ultra", "Frames per second, higher is better", " fps"),
    ("Llama 3.1 8B Q4 text generation (tokens/s)", "llama.cpp, batch 1, context 512", " t/s"),
    ("Stable Diffusion XL 1024x1024", "Images per minute, 50 steps", " img/min"),
    ("Blender 4.2 Classroom", "Seconds, fewer is better", " s"),
    ("Procyon AI Image Generation Score", "Tested in October 2025 at stock settings", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """All that differs between two charts."""

    kind: str
    standing: bool
    rows: int
    width: int
    letter: int
    times: float
    thick: float
    largest: float
    decimals: int
    value_at: str  # end, outside or start
    suffix: bool
    separator: bool
    label: str  # plain, maker, memory or two
    note: bool
    stripes: bool
    grid: str  # none, behind, over or dashed
    axis: str  # none, bottom or top
    frame: bool
    legend: str  # none, top, bottom or inside
    water: bool
    rounded: bool
    whiskers: bool
    gradient: bool
    marked: bool
    ground: tuple[str, str, str]
    colours: tuple[str, str, str]
    title: int
    series: int
    form: str
    quality: int
    font: int
    extra: str = "none"

    @property
    def lanes(self) -> int:
        """Bars of a row that lie beside each other."""
        return {"beside": 2, "three": 3}.get(self.kind, 1)

    def words(self) -> str:
        """In short."""
        extras = [
            name
            for name in ("note", "stripes", "frame", "water", "rounded", "whiskers", "gradient", "marked", "suffix")
            if getattr(self, name)
        ]
        way = "standing" if self.standing else "lying"
        return (
            f"{way} {self.kind}, {self.rows} rows, {self.width} px ×{self.times} {self.form} {self.quality}, letters "
            f"{self.letter} px, thick {self.thick:.2f}, at {self.value_at}, label {self.label}, grid {self.grid}, "
            f"axis {self.axis}, legend {self.legend} {' '.join(extras)}{'' if self.extra == 'none' else f' {self.extra}'}"
        )


def shape_of(seed: int) -> Shape:
    """The shape that a seed stands for."""
    chance = random.Random(seed)
    kind = chance.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    standing = kind in ("single", "beside", "three", "cut") and chance.random() < 0.15
    lanes = {"beside": 2, "three": 3}.get(kind, 1)
    several = kind not in ("single", "cut", "logarithmic")
    largest = chance.choice((8.0, 40.0, 130.0, 240.0, 900.0, 4_500.0, 25_000.0))
    return Shape(
        kind=kind,
        standing=standing,
        rows=chance.randint(4, 8) if standing else chance.randint(7, 24) // lanes + 3,
        width=chance.choice((1_000, 1_100, 1_200, 1_280, 1_440, 1_600, 1_920, 1_920, 2_400)), letter=chance.randint(14, 26),
        times=chance.choice((1.0, 1.0, 1.5, 2.0, 1.37, 0.9)),
        thick=chance.choice((0.35, 0.55, 0.7, 0.8, 0.9, 0.97)), largest=largest, decimals=_decimals(largest, chance),
        value_at=chance.choice(("end", "outside", "outside")),
        suffix=chance.random() < 0.12, separator=chance.random() < 0.4,
        label=chance.choice(("plain", "maker", "maker", "memory", "two")),
        note=chance.random() < 0.12, stripes=chance.random() < 0.15,
        grid=chance.choice(("none", "behind", "behind", "over", "dashed")),
        axis=chance.choice(("none", "bottom", "bottom", "top")),
        frame=chance.random() < 0.3,
        legend=chance.choice(("top", "bottom", "inside") if several else ("none", "none", "bottom")),
        water=chance.random() < 0.15, rounded=chance.random() < 0.08,
        whiskers=kind == "single" and chance.random() < 0.1,
        gradient=chance.random() < 0.06, marked=chance.random() < 0.4,
        ground=chance.choice(GROUNDS), colours=chance.choice(PALETTES),
        title=chance.randrange(len(TITLES)), series=chance.randrange(len(SERIES)),
        form=chance.choices(("png", "jpeg", "webp"), (6, 4, 2))[0],
        quality=chance.choice((55, 70, 80, 90, 95)), font=chance.randrange(1_000),
        extra=chance.choice(EXTRAS) if seed >= FIRST_WITH_EXTRAS and not standing else "none",
    )  # fmt: skip


def _decimals(largest: float, chance: random.Random) -> int:
    """Digits behind the point: so many that a number is not coarser than its bar."""
    if largest >= 1_000:
        return chance.choice((0, 0, 1))
    return max(chance.choice((0, 1, 1, 2, 3)), 2 if largest < 10 else 1 if largest < 300 else 0)


def draw(seed: int, fonts: Sequence[Path] = ()) -> Drawn:
    """The chart of a seed; `fonts` instead of those that matplotlib brings."""
    shape, chance = shape_of(seed), random.Random(seed * 11 + 5)
    every = tuple(fonts) or tuple(found_fonts()[0].parent / name for name in FONTS)
    rows = _rows(shape, chance)
    pen = Pen(shape, every[shape.font % len(every)])
    picture = _standing(pen, rows) if shape.standing else _lying(pen, rows)
    kept: dict[str, Any] = {} if shape.form == "png" else {"quality": shape.quality}
    out = io.BytesIO()
    picture.save(out, shape.form.upper(), **kept)
    printed = tuple(
        Printed(" ".join(label), series, text) for label, cells in rows for series, (_, text) in enumerate(cells)
    )
    return Drawn(out.getvalue(), printed, f"seed {seed}: {shape.words()} {every[shape.font % len(every)].name}")


_Rows = list[tuple[tuple[str, ...], list[tuple[float, str]]]]


def _rows(shape: Shape, chance: random.Random) -> _Rows:
    """Lines of the label and cells of each row, a cell being its number and how it is printed."""
    labels = chance.sample((*CARDS, *OTHERS), shape.rows)
    least = 0.3 if shape.kind in ("nested", "stacked") else 0.05
    shares = sorted((chance.uniform(least, 1) for _ in labels), reverse=shape.title != 3)
    rows: _Rows = []
    for label, share in zip(labels, shares, strict=True):
        top = shape.largest * share
        values = {
            "nested": [top * chance.uniform(0.5, 0.85), top],
            "stacked": [top * chance.uniform(0.3, 0.6), top * chance.uniform(0.2, 0.4)],
            "beside": [top, top * chance.uniform(0.4, 0.95)],
            "three": [top, top * chance.uniform(0.6, 0.9), top * chance.uniform(0.3, 0.6)],
        }.get(shape.kind, [top])  # fmt: skip
        cells = []
        for value in values:
            rounded = round(value, shape.decimals)
            cells.append(
                (rounded, f"{rounded:,.{shape.decimals}f}" if shape.separator else f"{rounded:.{shape.decimals}f}")
            )
        rows.append((_label(shape, label), cells))
    return rows


def _label(shape: Shape, label: str) -> tuple[str, ...]:
    maker = "AMD Radeon" if label.startswith("RX") else "Intel" if label.startswith("Arc") else "NVIDIA"
    is_gaming = label.startswith("RTX") and label not in ("RTX 6000 Ada", "RTX A6000", "RTX A5000")
    full = f"{maker}{' GeForce' if is_gaming else ''} {label}"
    if shape.label == "plain":
        return (label,)
    if shape.label == "two" or shape.standing:
        return full.removesuffix(label).strip(), label
    if shape.label == "memory" and is_gaming and "GB" not in label:
        return (f"{label} Founders Edition",)
    return (full,)


class Sketch(Protocol):
    """What a pen asks of the chart that it draws."""

    @property
    def width(self) -> int:
        """Pixels of the finished picture."""

    @property
    def times(self) -> float:
        """What it is enlarged by while it is drawn."""

    @property
    def ground(self) -> tuple[str, str, str]:
        """Ground, ink, and the colour of lines."""

    @property
    def gradient(self) -> bool:
        """Whether bars are lighter at their top."""

    @property
    def extra(self) -> str:
        """What else is drawn; `pill` gives bars round ends."""


_Drawing = TypeVar("_Drawing", bound=Sketch)


class Pen(Generic[_Drawing]):
    """Draws in pixels of the finished picture, whatever it is enlarged by meanwhile; `bold` is a second font."""

    def __init__(self, shape: _Drawing, font: Path, bold: Path | None = None) -> None:
        from PIL import Image, ImageDraw, ImageFont

        self.shape, self.times = shape, shape.times
        self._image, self._draw, self._font = Image, ImageDraw, ImageFont
        self._path, self._bold = str(font), str(bold or font)

    def begin(self, height: float) -> None:
        """An empty picture of this height."""
        size = round(self.shape.width * self.times), round(height * self.times)
        self.picture = self._image.new("RGB", size, self.shape.ground[0])
        self.draw = self._draw.Draw(self.picture)

    def finished(self) -> Any:
        """The picture at its width."""
        width, height = self.picture.size
        small = self.shape.width, round(height * self.shape.width / width)
        return self.picture if self.times == 1 else self.picture.resize(small, self._image.Resampling.LANCZOS)

    def font(self, size: float, bold: bool = False) -> Any:
        """The font of the chart, so many pixels high."""
        return self._font.truetype(self._bold if bold else self._path, max(6, round(size * self.times)))

    def wide(self, text: str, size: float, bold: bool = False) -> float:
        """How wide a text is."""
        return float(self.font(size, bold).getlength(text)) / self.times

    def text(
        self, at: tuple[float, float], text: str, size: float, ink: str, anchor: str = "lm", bold: bool = False
    ) -> None:
        """One line of text."""
        place = at[0] * self.times, at[1] * self.times
        self.draw.text(place, text, fill=ink, font=self.font(size, bold), anchor=anchor)

    def box(self, box: tuple[float, float, float, float], colour: str, rounded: bool = False) -> None:
        """A box from its left and top to right and bottom, which are outside it."""
        left, top, right, bottom = (round(side * self.times) for side in box)
        if right <= left or bottom <= top:
            return
        sides = left, top, right - 1, bottom - 1
        if rounded:
            most = float("inf") if self.shape.extra == "pill" else 6 * self.times
            self.draw.rounded_rectangle(sides, radius=min(most, (right - left) / 2, (bottom - top) / 2), fill=colour)
        elif self.shape.gradient:
            for row in range(top, bottom):
                light = 1.25 - 0.5 * (row - top) / max(1, bottom - top)
                self.draw.line((left, row, right - 1, row), fill=shaded(colour, light))
        else:
            self.draw.rectangle(sides, fill=colour)

    def line(self, ends: tuple[float, float, float, float], colour: str, dashed: bool = False, wide: float = 1) -> None:
        """A straight line, lying or standing."""
        left, top, right, bottom = (end * self.times for end in ends)
        width = max(1, round(wide * self.times))
        if not dashed:
            self.draw.line((left, top, right, bottom), fill=colour, width=width)
            return
        length = max(right - left, bottom - top)
        for at in range(0, round(length), 10):
            one, two = at / length, min(1, (at + 5) / length)
            wide, high = right - left, bottom - top
            part = left + wide * one, top + high * one, left + wide * two, top + high * two
            self.draw.line(part, fill=colour, width=width)


def shaded(colour: str, light: float) -> tuple[int, int, int]:
    """A colour made lighter or darker."""
    colour = {"white": "#ffffff", "black": "#000000"}.get(colour, colour)
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return min(255, round(red * light)), min(255, round(green * light)), min(255, round(blue * light))


def _water(pen: Pen[Shape]) -> None:
    """A faint name across the picture, below bars and letters."""
    shape = pen.shape
    at = shape.width * 0.6, pen.picture.height / pen.times * 0.6
    pen.text(at, "bench lab", shape.letter * 4, shape.ground[2], "mm")


def _heading(pen: Pen[Shape]) -> float:
    """Title and subtitle; the row at which they end."""
    shape = pen.shape
    title, subtitle, _ = TITLES[shape.title]
    centred = shape.font % 2
    at, anchor = (shape.width / 2, "ma") if centred else (20, "la")
    pen.text((at, 16), title, shape.letter * 1.6, shape.ground[1], anchor)
    pen.text((at, 22 + shape.letter * 2), subtitle, shape.letter * 0.95, shape.ground[1], anchor)
    return 30 + shape.letter * 3.4


def _legend(pen: Pen[Shape], left: float, y: float) -> None:
    shape = pen.shape
    for at, name in enumerate(
        SERIES[shape.series][: 3 if shape.kind == "three" else 2 if shape.kind != "single" else 1]
    ):
        pen.box((left, y - shape.letter * 0.4, left + shape.letter * 0.8, y + shape.letter * 0.4), shape.colours[at])
        pen.text((left + shape.letter * 1.1, y), name, shape.letter * 0.85, shape.ground[1])
        left += shape.letter * 2.4 + pen.wide(name, shape.letter * 0.85)


def _step(span: float) -> float:
    """A round distance of marks: four to nine of them."""
    power = 10.0 ** math.floor(math.log10(span))
    return next(power * times for times in (0.1, 0.2, 0.5, 1.0, 2.0) if span / (power * times) <= 9)


def marks_up_to(most: float) -> tuple[float, list[float]]:
    """The end of an axis that begins at zero, and its marks."""
    step = _step(most)
    return most * 1.02, [step * at for at in range(int(most / step) + 1)]


def _marks(shape: Shape, rows: _Rows) -> tuple[float, float, list[float]]:
    """Begin and end of the axis, and its marks."""
    most = max(
        sum(value for value, _ in cells) if shape.kind == "stacked" else max(value for value, _ in cells)
        for _, cells in rows
    )
    begin = (
        round(0.8 * min(value for _, cells in rows for value, _ in cells), shape.decimals)
        if shape.kind == "cut"
        else 0.0
    )
    if shape.kind == "logarithmic":
        low = 10.0 ** math.floor(math.log10(min(value for _, cells in rows for value, _ in cells)) - 0.01)
        return low, most * 1.2, [low * 10**at for at in range(1 + int(math.log10(most / low)))]
    step = _step(most - begin)
    return begin, most * 1.02, [begin + step * at for at in range(int((most - begin) / step) + 1)]


def _along(shape: Shape, axis: tuple[float, float], span: float, value: float) -> float:
    """How long the bar of a value is, where the axis is `span` pixels long."""
    begin, end = axis
    if shape.kind == "logarithmic":
        return span * math.log10(value / begin) / math.log10(end / begin)
    return span * (value - begin) / (end - begin)


def _grid(pen: Pen[Shape], ends: tuple[float, float, float, float]) -> None:
    colour = pen.shape.ground[2]
    pen.line(ends, colour, dashed=pen.shape.grid == "dashed")


def _lying(pen: Pen[Shape], rows: _Rows) -> Any:
    shape = pen.shape
    size, ink = shape.letter, shape.ground[1]
    lines = max(len(label) for label, _ in rows)
    pitch = round(max(size * 1.25 * max(lines, shape.lanes), size * 1.7))
    beside = max(pen.wide(line, size) for label, _ in rows for line in label)
    begin, most, marks = _marks(shape, rows)
    aside = size * 6 if shape.extra == "column" and shape.kind == "single" else 0
    left, right = round(beside + aside) + 36, shape.width - round(size * (10 if shape.extra == "percent" else 6))
    height = 30 + size * 3.4 + (size * 2 if shape.legend == "top" else 0) + (size * 2 if shape.axis == "top" else 0)
    pen.begin(height + pitch * len(rows) + size * 7)
    if shape.water:
        _water(pen)
    top = _heading(pen)
    if shape.legend == "top":
        _legend(pen, left, top + size * 0.6)
        top += size * 2
    if shape.axis == "top":
        top += size * 2
    bottom = top + pitch * len(rows)

    def column(value: float) -> float:
        return left + _along(shape, (begin, most), right - left, value)

    if shape.stripes:
        shade = shaded(shape.ground[0], 1.3 if shape.ground[1] == "white" else 0.94)
        for row in range(0, len(rows), 2):
            pen.box(
                (0, top + pitch * row, shape.width, top + pitch * (row + 1)),
                "#{:02x}{:02x}{:02x}".format(*shade),
            )
    for mark in marks:
        if shape.grid in ("behind", "dashed"):
            _grid(pen, (column(mark), top - 4, column(mark), bottom + 4))
        if shape.axis != "none":
            y = bottom + size if shape.axis == "bottom" else top - size
            pen.text((column(mark), y), f"{mark:,.6g}" if shape.separator else f"{mark:.6g}", size * 0.9, ink, "mm")
    if shape.axis != "none":
        pen.line((left - 1, top - 4, left - 1, bottom + 4), ink)
    drawn = []
    for row, (label, cells) in enumerate(rows):
        middle = top + pitch * (row + 0.5)
        for at, line in enumerate(label):
            pen.text((left - 12 - aside, middle + (at - (len(label) - 1) / 2) * size * 1.15), line, size, ink, "rm")
        tall = pitch * shape.thick / shape.lanes if shape.lanes == 1 else pitch * max(0.8, shape.thick) / shape.lanes
        if shape.kind in ("nested", "stacked"):
            tall = max(tall, size * 1.2)
        start: float = left
        ends: list[tuple[float, float, float, float]] = []
        for series in range(len(cells)):
            value, _ = cells[series]
            y = middle + (series - (shape.lanes - 1) / 2) * tall if shape.lanes > 1 else middle
            ends.append((start, start + column(value) - left, y, tall))
            start = ends[-1][1] if shape.kind == "stacked" else left
        drawn.append((ends, [text for _, text in cells]))
        for series, (start, end, y, _) in reversed(list(enumerate(ends))):
            inset = tall * 0.1 if shape.kind == "nested" and series == 0 else 0
            is_marked = shape.marked and row == shape.font % len(rows) and series == 0
            colour = "#d35400" if is_marked else shape.colours[series]
            if shape.extra == "shadow" and series == 0 and shape.kind == "single":
                shadow = "#{:02x}{:02x}{:02x}".format(*shaded(shape.ground[0], 0.75))
                pen.box((start, y - tall / 2 + 3, end + 3, y + tall / 2 + 3), shadow)
            is_round = shape.rounded or shape.extra == "pill"
            pen.box((start, y - tall / 2 + inset, end, y + tall / 2 - inset), colour, is_round)
            if shape.whiskers:
                pen.line((end - 9, y, end + 9, y), ink)
                pen.line((end + 9, y - tall / 4, end + 9, y + tall / 4), ink)
    if shape.grid == "over":
        for mark in marks:
            _grid(pen, (column(mark), top - 4, column(mark), bottom + 4))
    for ends, texts in drawn:
        for series, (bar, text) in enumerate(zip(ends, texts, strict=True)):
            _value(pen, bar, text, series, room=pen.wide(texts[0], size) if shape.kind == "nested" and series else 0)
    if shape.frame:
        pen.line((left - 1, top - 5, shape.width - 12, top - 5), ink)
        pen.line((shape.width - 12, top - 5, shape.width - 12, bottom + 5), ink)
        pen.line((left - 1, bottom + 5, shape.width - 12, bottom + 5), ink)
    if shape.axis == "bottom":
        pen.text(((left + right) / 2, bottom + size * 2.6), TITLES[shape.title][1].split(",")[0], size, ink, "mm")
    if shape.legend == "bottom":
        _legend(pen, left, bottom + size * 4.2)
    elif shape.legend == "inside" and shape.title != 3:
        _legend(pen, shape.width - size * 22, bottom - size * 0.9)
    return pen.finished()


def _value(pen: Pen[Shape], bar: tuple[float, float, float, float], text: str, series: int, room: float) -> None:
    """A number in its bar, or behind it; `room` is what another number takes at the bar's beginning."""
    shape = pen.shape
    start, end, y, tall = bar
    is_within = shape.kind in ("nested", "stacked")
    size = min(shape.letter, tall * 0.95) if shape.lanes > 1 or is_within else shape.letter
    shown = text + (TITLES[shape.title][2] if shape.suffix else "")
    inside = "white" if shape.colours[0] != "#b0c4de" else "#111111"
    wide = pen.wide(shown, size)
    if shape.extra == "column" and shape.kind == "single":
        pen.text((start - 12, y), shown, size, shape.ground[1], "rm")
    elif (is_within and series == 0) or (
        # Two numbers of a nest at its start would be written over each other.
        shape.extra == "start" and shape.kind != "nested" and wide + 20 < end - start and tall >= size * 0.9
    ):
        pen.text((start + 6, y), shown, size, inside, "lm")
    elif (shape.value_at == "end" or is_within) and wide + 2 * room + 20 < end - start and tall >= size * 0.9:
        pen.text((end - 6, y), shown, size, inside, "rm")
        note = "SE +/- 0.12, N = 3"
        if shape.note and shape.kind == "single" and wide + pen.wide(note, size * 0.6) + 40 < end - start:
            pen.text((start + 8, y), note, size * 0.6, inside, "lm")
    else:
        share = f" ({round(100 * (end - start) / shape.width)}%)" if shape.extra == "percent" else ""
        pen.text((end + (14 if shape.whiskers else 7), y), shown + share, size, shape.ground[1], "lm")


def _standing(pen: Pen[Shape], rows: _Rows) -> Any:
    shape = pen.shape
    size, ink = shape.letter, shape.ground[1]
    pen.begin(shape.width * 0.6)
    if shape.water:
        _water(pen)
    top = _heading(pen) + size * 2
    if shape.legend == "top":
        _legend(pen, 60, top - size)
        top += size
    bottom, left, right = shape.width * 0.6 - size * 5, 110.0, shape.width - 20.0
    begin, most, marks = _marks(shape, rows)
    pitch = (right - left) / len(rows)

    def height(value: float) -> float:
        return bottom - _along(shape, (begin, most), bottom - top - size, value)

    for mark in marks:
        if shape.grid != "none":
            _grid(pen, (left - 8, height(mark), right, height(mark)))
        if shape.axis != "none":
            pen.text(
                (left - 14, height(mark)), f"{mark:,.6g}" if shape.separator else f"{mark:.6g}", size * 0.8, ink, "rm"
            )
    pen.line((left - 8, bottom, right, bottom), ink)
    for row, (label, cells) in enumerate(rows):
        middle = left + pitch * (row + 0.5)
        small = min(size * 0.85, *(size * 0.92 * pitch / pen.wide(line, size) for line in label))
        for at, line in enumerate(label):
            pen.text((middle, bottom + 8 + at * small * 1.2), line, small, ink, "ma")
        wide = pitch * min(0.85, max(0.5, shape.thick)) / shape.lanes
        for series, (value, text) in enumerate(cells):
            x = middle + (series - (shape.lanes - 1) / 2) * wide
            pen.box((x - wide / 2, height(value), x + wide / 2, bottom), shape.colours[series], shape.rounded)
            letters = min(float(size), size * 0.95 * wide / pen.wide(text, size))
            pen.text((x, height(value) - 4), text, letters, ink, "ms")
    if shape.legend == "bottom":
        _legend(pen, left, shape.width * 0.6 - size * 1.2)
    return pen.finished()
