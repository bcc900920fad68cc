"""Bar charts drawn for measuring their reader: other fonts, sizes, colours, layouts and JPEG qualities by every seed.

`draw(seed)` gives the bytes of a picture and what is printed in it. Half are drawn by matplotlib, with bars that end between
two pixels, and half by Pillow, with bars of whole pixels as spreadsheets draw them.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CARDS = (
    "RTX 4090", "RTX 4080", "RTX 4070 Ti", "RTX 4070", "RTX 4060", "RX 7900 XTX", "RX 7900 XT", "RX 7800 XT", "RX 7700 XT",
    "RX 7600", "RTX 3090 Ti", "RTX 3090", "RTX 3080 Ti", "RTX 3080 12GB", "RTX 3070 Ti", "RTX 3070", "RTX 3060 Ti",
    "RX 6950 XT", "RX 6900 XT", "RX 6800 XT", "RX 6800", "RX 6750 XT", "RX 6700 XT", "RX 6650 XT", "RX 6600 XT", "RX 6600",
    "Arc A770 16GB", "Arc A750", "Arc A380", "RTX 2080 Ti", "RTX 2080 Super", "RTX 2070 Super", "RTX 5090", "RTX 5080",
    "RTX 5070 Ti", "RTX 5070", "RX 9070 XT", "Arc B580", "RTX 6000 Ada", "RTX A6000",
)  # fmt: skip
UNITS = (
    ("it/s", "Iterations per second"),
    ("tokens/s", "Tokens per second"),
    ("fps", "Average fps"),
    ("ms", "Time in ms"),
)
GROUNDS = (("white", "black"), ("#f4f4f4", "#222222"), ("#1b1b1f", "#eeeeee"), ("#0d1117", "white"))
PALETTES = (
    ("#76b900", "#4c4c4c"), ("#c4161c", "#1f4e79"), ("#2f6fb7", "#f0902a"), ("#6a3d9a", "#b2df8a"), ("#00897b", "#ffb300"),
    ("#37474f", "#90a4ae"), ("#d81b60", "#1e88e5"),
)  # fmt: skip


@dataclass(frozen=True)
class Printed:
    """One value of a drawn chart: its label, its place in the row and its number as printed.

    `comma` is what a comma in the number means: `thousands` or `decimal`.
    """

    label: str
    series: int
    text: str
    comma: str = "thousands"

    @property
    def number(self) -> str:
        """With a decimal point and no other sign."""
        return self.text.replace(",", "." if self.comma == "decimal" else "")


@dataclass(frozen=True)
class Drawn:
    """A picture and its truth; `style` says how it was drawn."""

    content: bytes
    printed: tuple[Printed, ...]
    style: str


@dataclass(frozen=True)
class Style:
    """All that differs between two charts."""

    standing: bool
    kind: str  # single, nested or beside
    rows: int
    decimals: int
    largest: float
    ground: tuple[str, str]
    colours: tuple[str, str]
    by_vendor: bool
    width: int
    row_px: int
    letter_px: int
    value_at: str  # end or outside
    ticks: bool
    grid: bool
    frame: bool
    prefix: bool
    thousands: bool
    suffix: bool
    form: str  # png, jpeg or webp
    quality: int
    font: int

    def words(self) -> str:
        """In short."""
        way = "standing" if self.standing else "lying"
        picture = f"{self.width} px {self.form} {self.quality}"
        return f"{way} {self.kind}, {self.rows} rows, {picture}, letters {self.letter_px} px, at {self.value_at}"


def style_of(seed: int) -> Style:
    """The style that a seed stands for."""
    chance = random.Random(seed)
    standing = chance.random() < 0.12
    kind = chance.choices(("single", "nested", "beside"), (6, 2, 2))[0]
    if standing and kind == "nested":
        kind = "single"
    letter = chance.randint(13, 24)
    lanes = 2 if kind == "beside" else 1
    form = chance.choices(("png", "jpeg", "webp"), (5, 4, 1))[0]
    return Style(
        standing=standing,
        kind=kind,
        rows=chance.randint(5, 9) if standing else chance.randint(8, 26) // lanes + 3,
        decimals=chance.choice((0, 1, 2, 3)),
        largest=0.0,
        ground=chance.choice(GROUNDS),
        colours=chance.choice(PALETTES),
        by_vendor=chance.random() < 0.3,
        width=chance.randint(1_100, 2_200),
        row_px=round(letter * chance.uniform(1.5, 2.4)),
        letter_px=letter,
        value_at=chance.choice(("end", "outside", "outside")),
        ticks=chance.random() < 0.75,
        grid=chance.random() < 0.4,
        frame=chance.random() < 0.5,
        prefix=chance.random() < 0.3,
        thousands=chance.random() < 0.5,
        suffix=chance.random() < 0.15,
        form=form,
        quality=chance.choice((60, 75, 85, 92)),
        font=chance.randrange(1_000),
    )


def draw(seed: int, fonts: tuple[Path, ...] | None = None) -> Drawn:
    """The chart of a seed; `fonts` instead of those that matplotlib brings and the system has."""
    style = style_of(seed)
    chance = random.Random(seed * 7 + 1)
    font = (fonts or found_fonts())[style.font % len(fonts or found_fonts())]
    rows = _rows(style, chance)
    picture = (_by_pillow if seed % 2 else _by_matplotlib)(style, rows, font, chance)
    kept: dict[str, Any] = {} if style.form == "png" else {"quality": style.quality}
    out = io.BytesIO()
    picture.convert("RGB").save(out, style.form.upper(), **kept)
    printed = tuple(Printed(label, series, text) for label, cells in rows for series, (_, text) in enumerate(cells))
    return Drawn(
        out.getvalue(), printed, f"seed {seed}: {'Pillow' if seed % 2 else 'matplotlib'} {style.words()} {font.name}"
    )


def found_fonts() -> tuple[Path, ...]:
    """Fonts with digits that every machine with matplotlib has."""
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    names = (
        "DejaVuSans.ttf",
        "DejaVuSans-Bold.ttf",
        "DejaVuSerif.ttf",
        "DejaVuSerif-Bold.ttf",
        "DejaVuSansMono.ttf",
        "STIXGeneral.ttf",
        "STIXGeneralBol.ttf",
    )
    return tuple(folder / name for name in names)


def _rows(style: Style, chance: random.Random) -> list[tuple[str, list[tuple[float, str]]]]:
    """Label and cells of each row, a cell being its number and how it is printed; the largest first."""
    labels = chance.sample(CARDS, style.rows)
    if style.prefix:
        labels = [_with_maker(label) for label in labels]
    largest = chance.choice((9.5, 30.0, 95.0, 240.0, 900.0, 3_500.0, 18_000.0))
    decimals = min(style.decimals, 3 if largest < 100 else 2 if largest < 1_000 else 1)
    if largest < 500:
        decimals = max(decimals, 2 if largest < 50 else 1)
    rows = []
    # Two numbers do not fit into a short nest of bars, so nobody draws one.
    least = 0.3 if style.kind == "nested" else 0.06
    for share in sorted((chance.uniform(least, 1) for _ in labels), reverse=True):
        values = [largest * share]
        if style.kind == "nested":
            values = [largest * share * chance.uniform(0.55, 0.85), largest * share]
        elif style.kind == "beside":
            values = [largest * share, largest * share * chance.uniform(0.4, 0.95)]
        cells = []
        for value in values:
            rounded = round(value, decimals)
            text = f"{rounded:,.{decimals}f}" if style.thousands else f"{rounded:.{decimals}f}"
            cells.append((rounded, text))
        rows.append(cells)
    return list(zip(labels, rows, strict=True))


def _with_maker(label: str) -> str:
    if label.startswith("Arc"):
        return f"Intel {label}"
    if label.startswith("RX"):
        return f"Radeon {label}"
    return label if label in ("RTX 6000 Ada", "RTX A6000") else f"GeForce {label}"


def _colour(style: Style, label: str, series: int) -> str:
    vendor = "#1f4e79" if "Arc" in label else "#c4161c" if "RX" in label else "#5f8f1f"
    # Two bars of a nest in one colour show one end.
    is_told = style.kind != "nested" or vendor != style.colours[1]
    return vendor if style.by_vendor and series == 0 and is_told else style.colours[series]


def _suffix(style: Style) -> str:
    return " fps" if style.suffix else ""


def _by_matplotlib(
    style: Style, rows: list[tuple[str, list[tuple[float, str]]]], font: Path, chance: random.Random
) -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import font_manager, pyplot
    from PIL import Image

    ground, ink = style.ground
    lanes = 2 if style.kind == "beside" else 1
    height = 900 if style.standing else style.row_px * len(rows) * lanes + 260
    dpi = 100
    figure, axes = pyplot.subplots(figsize=(style.width / dpi, height / dpi), dpi=dpi)
    points = style.letter_px * 72 / dpi
    letters = font_manager.FontProperties(fname=str(font), size=points)
    figure.patch.set_facecolor(ground)
    axes.set_facecolor(ground)
    bar = axes.bar if style.standing else axes.barh
    thick = chance.uniform(0.6, 0.85) / lanes
    if style.letter_px > 0.95 * thick * style.row_px * lanes and style.value_at == "end":
        thick = min(0.92 / lanes, 1.1 * style.letter_px / (style.row_px * lanes))
    for row, (label, cells) in enumerate(rows):
        order = range(len(cells) - 1, -1, -1) if style.kind == "nested" else range(len(cells))
        for series in order:
            value, text = cells[series]
            place = row + (series - 0.5) * thick if style.kind == "beside" else row
            inner = style.kind == "nested" and series == 0
            bar(place, value, thick * (0.8 if inner else 1), color=_colour(style, label, series))
            if inner:
                continue
            _note(axes, style, letters, (place, value, text + _suffix(style)))
        if style.kind == "nested":
            value, text = cells[0]
            axes.annotate(
                text + _suffix(style),
                (0, row),
                (4, 0),
                textcoords="offset points",
                va="center",
                ha="left",
                color="white",
                fontproperties=letters,
            )
    labels = [label for label, _ in rows]
    if style.standing:
        axes.set_xticks(
            range(len(rows)), [_broken(label) for label in labels],
            fontproperties=font_manager.FontProperties(fname=str(font), size=points * 0.75),
        )  # fmt: skip
        axes.margins(y=0.12)
        ticks = axes.yaxis
    else:
        axes.set_yticks(range(len(rows)), labels, fontproperties=letters)
        axes.invert_yaxis()
        axes.margins(x=0.13, y=0.02)
        ticks = axes.xaxis
    axes.tick_params(colors=ink)
    for tick in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        tick.set_color(ink)
    for tick in ticks.get_ticklabels():
        tick.set_fontproperties(letters)
    if not style.ticks:
        ticks.set_visible(False)
    if style.grid:
        axes.set_axisbelow(True)
        axes.grid(axis="y" if style.standing else "x", color="#bbbbbb", linewidth=0.7)
    for side in axes.spines.values():
        side.set_visible(style.frame)
        side.set_color(ink)
    big = font_manager.FontProperties(fname=str(font), size=points * 1.6)
    axes.set_title("GPU benchmark results", color=ink, fontproperties=big, pad=20)
    figure.tight_layout()
    out = io.BytesIO()
    figure.savefig(out, format="png", facecolor=ground)
    pyplot.close(figure)
    return Image.open(out)


def _broken(label: str) -> str:
    """A label below a standing bar, in two lines where it is long: side by side, long ones would run into each other."""
    maker, _, rest = label.partition(" ")
    return f"{maker}\n{rest}" if maker in ("GeForce", "Radeon", "Intel") else label


def _note(axes: Any, style: Style, letters: Any, at: tuple[float, float, str]) -> None:
    place, value, text = at
    outside = style.value_at == "outside" or value < 0.3 * axes.dataLim.max.max()
    outside = style.kind != "nested" and outside
    colour = style.ground[1] if outside else "white"
    shift = 4 if outside else -4
    if style.standing:
        axes.annotate(
            text,
            (place, value),
            (0, shift),
            textcoords="offset points",
            ha="center",
            va="bottom" if outside else "top",
            color=colour,
            fontproperties=letters,
        )
    else:
        axes.annotate(
            text,
            (value, place),
            (shift, 0),
            textcoords="offset points",
            va="center",
            ha="left" if outside else "right",
            color=colour,
            fontproperties=letters,
        )


def _by_pillow(style: Style, rows: list[tuple[str, list[tuple[float, str]]]], font: Path, chance: random.Random) -> Any:
    from PIL import Image, ImageDraw, ImageFont

    ground, ink = style.ground
    letters = ImageFont.truetype(str(font), style.letter_px)
    big = ImageFont.truetype(str(font), round(style.letter_px * 1.7))
    lanes = 2 if style.kind == "beside" else 1
    beside = max(letters.getlength(label) for label, _ in rows)
    left, right = round(beside) + 30, style.width - 160
    top = 130
    pitch = style.row_px * lanes + (8 if lanes == 2 else 0)
    height = top + pitch * len(rows) + 110
    if style.standing:
        return _standing(style, rows, letters, big)
    picture = Image.new("RGB", (style.width, height), ground)
    pen = ImageDraw.Draw(picture)
    pen.text((24, 18), "Graphics card performance", fill=ink, font=big)
    pen.text((24, 74), "Higher is better, average of five runs", fill=ink, font=letters)
    most = max(value for _, cells in rows for value, _ in cells)
    unit = (right - left) / most
    step = _step(most)
    marks = [step * at for at in range(int(most / step) + 1)]
    bottom = top + pitch * len(rows)
    for mark in marks:
        x = left + round(mark * unit)
        if style.grid:
            pen.line((x, top - 6, x, bottom + 4), fill="#888888")
        if style.ticks:
            pen.text(
                (x, bottom + 12),
                f"{mark:,.6g}" if style.thousands else f"{mark:.6g}",
                fill=ink,
                font=letters,
                anchor="ma",
            )
    if style.ticks:
        pen.text(((left + right) / 2, bottom + 52), UNITS[style.font % 3][1], fill=ink, font=letters, anchor="ma")
    if style.frame:
        pen.line((left - 1, top - 6, left - 1, bottom + 4), fill=ink)
    thick = max(style.letter_px + 4, round(style.row_px * 0.8))
    for row, (label, cells) in enumerate(rows):
        middle = top + pitch * row + pitch // 2
        pen.text((left - 12, middle), label, fill=ink, font=letters, anchor="rm")
        order = [1, 0] if style.kind == "nested" else range(len(cells))
        written = []
        for series in order:
            value, text = cells[series]
            y = middle + (round((series - 0.5) * style.row_px) if style.kind == "beside" else 0)
            inner = style.kind == "nested" and series == 0
            tall = thick - 4 if inner else min(thick, style.row_px - 1)
            end = left + round(value * unit)
            pen.rectangle((left, y - tall // 2, end - 1, y - tall // 2 + tall - 1), fill=_colour(style, label, series))
            written.append((left, end, y, text + _suffix(style), inner))
        # After both bars of a nest: the shorter one would hide a number of the longer one.
        for place in written:
            _write(pen, style, letters, place)
    return picture


def _write(pen: Any, style: Style, letters: Any, at: tuple[int, int, int, str, bool]) -> None:
    left, end, y, text, inner = at
    if inner:
        pen.text((left + 6, y), text, fill="white", font=letters, anchor="lm")
    elif style.kind == "nested" or (style.value_at == "end" and letters.getlength(text) + 14 < end - left):
        pen.text((end - 6, y), text, fill="white", font=letters, anchor="rm")
    else:
        pen.text((end + 8, y), text, fill=style.ground[1], font=letters, anchor="lm")


def _standing(style: Style, rows: list[tuple[str, list[tuple[float, str]]]], letters: Any, big: Any) -> Any:
    from PIL import Image, ImageDraw

    ground, ink = style.ground
    lanes = 2 if style.kind == "beside" else 1
    widest = max(letters.getlength(label) for label, _ in rows)
    pitch = max(round(widest) + 24, (style.width - 160) // len(rows))
    picture = Image.new("RGB", (max(style.width, pitch * len(rows) + 160), 900), ground)
    pen = ImageDraw.Draw(picture)
    pen.text((24, 18), "Graphics card performance", fill=ink, font=big)
    most = max(value for _, cells in rows for value, _ in cells)
    unit, bottom, left = 620 / most, 820, 110
    step = _step(most)
    for at in range(int(most / step) + 1):
        y = bottom - round(step * at * unit)
        if style.grid:
            pen.line((left - 10, y, picture.width - 20, y), fill="#888888")
        if style.ticks:
            pen.text((left - 16, y), f"{step * at:.6g}", fill=ink, font=letters, anchor="rm")
    for row, (label, cells) in enumerate(rows):
        middle = left + pitch * row + pitch // 2
        pen.text((middle, bottom + 10), label, fill=ink, font=letters, anchor="ma")
        for series, (value, text) in enumerate(cells):
            wide = round(pitch * 0.8 / lanes)
            start = middle - wide * lanes // 2 + wide * series
            top = bottom - round(value * unit)
            pen.rectangle((start, top, start + wide - 1, bottom - 1), fill=_colour(style, label, series))
            pen.text((start + wide / 2, top - 6), text, fill=ink, font=letters, anchor="ms")
    return picture


def _step(most: float) -> float:
    """A round distance of marks: four to nine of them."""
    power = 10.0 ** (len(str(int(most))) - 1)
    return next(power * times for times in (0.1, 0.2, 0.5, 1.0, 2.0) if most / (power * times) <= 9)
