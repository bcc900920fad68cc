"""Bar charts as single publishers draw them, for measuring their reader: what stands in their pictures beside the bars.

Drawn from how the charts of six publishers look, in other fonts than those that the other drawn charts have: headers with a
logo or in a band, rows with one bar among rows with two, the marks of an axis between rows, frames around bars, rows that
are told apart by lines, tracks behind bars, the tested card's row in a colour of its own, a second line below a label,
decimal commas, a ground that goes over into another colour, and bands of text below.
"""

from __future__ import annotations

import importlib.util
import io
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.chart_shapes import Pen, marks_up_to, shaded
from tests.support.chart_pictures import CARDS, Drawn, Printed, found_fonts

#: The first seed of these charts.
FIRST = 9_000
#: Colours of a card's bars by its maker, those of the other series behind the first.
_MAKERS = {
    "RTX": ("#76b900", "#3f6212", "#a3d65c"), "RX": ("#e2231a", "#8c1510", "#f08a84"),
    "Arc": ("#0071c5", "#003c71", "#7fb8e2"),
}  # fmt: skip
_LIGHT, _DARK = ("#ffffff", "#111111", "#d4d4d4"), ("#1c1d21", "#f2f2f2", "#3b3d44")
_MEMORY = {
    "RTX 4090": "24GB", "RTX 4080": "16GB", "RTX 4070 Ti": "12GB", "RTX 4070": "12GB", "RX 7900 XTX": "24GB",
    "RX 7900 XT": "20GB", "RTX 3090": "24GB", "RTX 3070": "8GB", "RTX 5090": "32GB", "RTX 5080": "16GB",
}  # fmt: skip


@dataclass(frozen=True)
class House:
    """What is the same in all charts of a publisher; the rest differs by seed."""

    name: str
    kinds: tuple[str, ...]  # single, beside, three, nested, or mixed: some rows nested, the others one bar
    ground: tuple[str, str, str]
    header: str  # plain, band or logo
    value_at: str  # end or outside
    label: str  # plain, maker, memory or below: with a small second line
    rows_by: str = ""  # line, track or tick: what tells rows apart
    grid: str = "none"  # none, plain or dashed
    axis: bool = True
    frame: bool = False
    border: bool = False
    by_maker: bool = False
    note: bool = False
    comma: str = "thousands"
    unit: str = ""
    footer: str = ""
    fades: bool = False
    bold: bool = False


HOUSES = (
    House(
        "logo right", ("mixed", "mixed", "nested", "single"), _LIGHT, "logo", "end", "plain", "tick", frame=True,
        by_maker=True, bold=True,
    ),
    House(
        "band above", ("single",), ("#eef1f5", "#202428", "#c8ced6"), "band", "end", "plain", "line", border=True,
        unit=" FPS",
    ),
    House(
        "notes in bars", ("single",), ("#ffffff", "#000000", "#bfbfbf"), "plain", "end", "maker", grid="dashed", frame=True,
        note=True, by_maker=True, footer="1. (CXX) g++ options: -O3 -march=native -fopenmp",
    ),
    House(
        "band below", ("single", "beside"), _LIGHT, "logo", "end", "memory", grid="plain", footer="Tested in October 2025",
        bold=True,
    ),
    House("dark", ("three", "beside", "single"), _DARK, "plain", "outside", "below", "line", grid="plain", fades=True),
    House("tracks", ("single", "beside"), _LIGHT, "plain", "outside", "maker", "track", axis=False, comma="decimal"),
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """All that differs between two charts of a publisher."""

    house: House
    kind: str
    rows: int
    width: int
    times: float
    letter: int
    thick: float
    largest: float
    decimals: int
    separator: bool
    marked: bool
    form: str
    quality: int
    font: int
    standing: bool = False
    gradient: bool = False
    extra: str = "none"

    @property
    def ground(self) -> tuple[str, str, str]:
        """Ground, ink, and the colour of lines."""
        return self.house.ground

    @property
    def lanes(self) -> int:
        """Bars of a row that lie beside each other."""
        return {"beside": 2, "three": 3}.get(self.kind, 1)

    def words(self) -> str:
        """In short."""
        return (
            f"house {self.house.name}, lying {self.kind}, {self.rows} rows, {self.width} px ×{self.times} {self.form} "
            f"{self.quality}, letters {self.letter} px, thick {self.thick:.2f}, up to {self.largest:g}, "
            f"{self.decimals} decimals{' marked' if self.marked else ''}"
        )


def plan_of(seed: int) -> Plan:
    """The plan that a seed stands for."""
    chance, house = random.Random(seed), HOUSES[seed % len(HOUSES)]
    kind = chance.choice(house.kinds)
    lanes = {"beside": 2, "three": 3}.get(kind, 1)
    largest = chance.choice(
        (30.0, 95.0, 180.0, 240.0, 900.0) + (() if house.comma == "decimal" else (4_500.0, 25_000.0))
    )
    return Plan(
        house=house, kind=kind, rows=chance.randint(9, 26) // lanes + 3,
        width=chance.choice((1_000, 1_200, 1_280, 1_600, 1_920, 1_920)), times=chance.choice((1.0, 1.5, 2.0)),
        letter=chance.randint(15, 24), thick=chance.choice((0.55, 0.62, 0.7, 0.8)), largest=largest,
        decimals=_decimals(largest, chance),
        separator=house.comma == "thousands" and chance.random() < 0.5, marked=chance.random() < 0.5,
        form=chance.choices(("png", "jpeg", "webp"), (6, 4, 2))[0], quality=chance.choice((70, 80, 85, 90, 95)),
        font=chance.randrange(1_000),
    )  # fmt: skip


def _decimals(largest: float, chance: random.Random) -> int:
    """Digits behind the point, as publishers print them."""
    usual = ((50, (1, 2, 3)), (300, (1, 1, 2)), (1_000, (0, 1)))
    return chance.choice(next((digits for limit, digits in usual if largest < limit), (0,)))


def draw(seed: int) -> Drawn:
    """The chart of a seed."""
    plan, chance = plan_of(seed), random.Random(seed * 13 + 3)
    fonts = _fonts()
    regular, bold = fonts[plan.font % len(fonts)]
    rows = _rows(plan, chance)
    picture = _picture(Pen(plan, bold if plan.house.bold else regular, bold), rows)
    kept: dict[str, Any] = {} if plan.form == "png" else {"quality": plan.quality}
    out = io.BytesIO()
    picture.save(out, plan.form.upper(), **kept)
    printed = tuple(
        Printed(label, series, text, plan.house.comma)
        for label, cells in rows
        for series, (_, text) in enumerate(cells)
    )
    return Drawn(out.getvalue(), printed, f"seed {seed}: {plan.words()} {regular.name}")


def _fonts() -> tuple[tuple[Path, Path], ...]:
    """Pairs of a font and a bolder one; the first two of a family that comes with Great Expectations."""
    found = importlib.util.find_spec("great_expectations")
    assert found is not None
    assert found.origin is not None
    grotesk = Path(found.origin).parent / "render/view/static/fonts/HKGrotesk"
    plain = found_fonts()[0].parent
    return (
        (grotesk / "HKGrotesk-Regular.otf", grotesk / "HKGrotesk-Bold.otf"),
        (grotesk / "HKGrotesk-SemiBold.otf", grotesk / "HKGrotesk-Bold.otf"),
        (plain / "DejaVuSans.ttf", plain / "DejaVuSans-Bold.ttf"),
    )


_Cells = list[tuple[float, str]]


def _rows(plan: Plan, chance: random.Random) -> list[tuple[str, _Cells]]:
    """Label and cells of each row, the fastest first."""
    cards = chance.sample(CARDS, plan.rows)
    least = 0.35 if plan.kind in ("nested", "mixed") else 0.08
    rows = []
    for card, share in zip(cards, sorted((chance.uniform(least, 1) for _ in cards), reverse=True), strict=True):
        top = plan.largest * share
        is_nested = plan.kind == "nested" or (plan.kind == "mixed" and card.startswith("RTX"))
        values = {
            "beside": [top, top * chance.uniform(0.5, 0.9)],
            "three": [top, top * chance.uniform(0.65, 0.85), top * chance.uniform(0.4, 0.6)],
        }.get(plan.kind, [top * chance.uniform(0.55, 0.8), top] if is_nested else [top])  # fmt: skip
        rows.append((_label(plan, card), [_printed(plan, value) for value in values]))
    return rows


def _printed(plan: Plan, value: float) -> tuple[float, str]:
    rounded = round(value, plan.decimals)
    text = f"{rounded:{',' if plan.separator else ''}.{plan.decimals}f}"
    return rounded, text.replace(".", ",") if plan.house.comma == "decimal" else text


def _label(plan: Plan, card: str) -> str:
    maker = "AMD Radeon" if card.startswith("RX") else "Intel" if card.startswith("Arc") else "GeForce"
    full = card if card in ("RTX 6000 Ada", "RTX A6000") else f"{maker} {card}"
    if plan.house.label == "memory":
        return f"{full} {_MEMORY[card]}" if card in _MEMORY else full
    return full if plan.house.label == "maker" else card


def _picture(pen: Pen[Plan], rows: list[tuple[str, _Cells]]) -> Any:
    plan, house = pen.shape, pen.shape.house
    size, ink = plan.letter, house.ground[1]
    pitch = round(max(size * 1.35 * plan.lanes + size * 0.6, size * (2.3 if house.label == "below" else 1.7)))
    beside = max(pen.wide(label, size) for label, _ in rows)
    left, right = round(beside) + 40, plan.width - round(size * (6 if house.value_at == "outside" else 3))
    head = size * (4.6 if house.header == "band" else 5.2) + (size * 2 if plan.kind != "single" else 0)
    foot = size * ((4.2 if house.axis else 1.2) + (3.4 if house.footer else 0))
    height = head + pitch * len(rows) + foot + 12
    pen.begin(height)
    if house.fades:
        for row in range(pen.picture.height):
            light = 0.8 + 0.5 * row / pen.picture.height
            pen.draw.line((0, row, pen.picture.width, row), fill=shaded(house.ground[0], light))
    _head(pen, left, head, plan)
    top, bottom = head, head + pitch * len(rows)
    most, marks = marks_up_to(max(value for _, cells in rows for value, _ in cells))

    def column(value: float) -> float:
        return left + (right - left) * value / most

    if house.frame:
        for ends in ((left - 1, top, right, top), (right, top, right, bottom), (left - 1, bottom, right, bottom)):
            pen.line(ends, "#808080")
    for mark in marks:
        if house.grid != "none":
            pen.line((column(mark), top, column(mark), bottom), house.ground[2], dashed=house.grid == "dashed")
        if house.axis:
            shown = f"{mark:,.1f}" if plan.decimals and plan.largest < 1_000 else f"{mark:,.6g}"
            pen.text((column(mark), bottom + size * 0.9), shown, size * 0.95, ink, "mm")
    pen.line((left - 1, top, left - 1, bottom), "#808080")
    marked = plan.font % len(rows) if plan.marked else -1
    for at, (label, cells) in enumerate(rows):
        y = top + pitch * at
        if at == marked and house.rows_by == "line":
            pen.box((0, y, plan.width, y + pitch), "#{:02x}{:02x}{:02x}".format(*shaded(house.ground[0], 0.9)))
        if house.rows_by == "line":
            pen.line((10, y, plan.width - 10, y), house.ground[2])
        elif house.rows_by == "tick":
            pen.line((left - 6, y, left - 1, y), "#808080")
        small = house.label == "below"
        pen.text((left - 14, y + pitch / 2 - (size * 0.45 if small else 0)), label, size, ink, "rm", at == marked)
        if small:
            pen.text((left - 14, y + pitch / 2 + size * 0.6), "Stock, Resizable BAR on", size * 0.6, "#8a8d94", "rm")
        _bars(pen, cells, (left, y, right, y + pitch), column, _colours(plan, label, at == marked))
    if house.footer:
        _foot(pen, height)
    return pen.finished()


def _colours(plan: Plan, label: str, is_marked: bool) -> tuple[str, str, str]:
    """Of the first series, the second and the third."""
    if plan.kind in ("nested", "mixed"):
        outer = next(colours[0] for word, colours in _MAKERS.items() if word in label)
        return ("#1d1d1d" if plan.font % 2 else "#595959"), outer, ""
    if plan.house.by_maker:
        return next(colours for word, colours in _MAKERS.items() if word in label)
    if is_marked:
        return "#3f9c35", "#2a6b24", "#8fcf88"
    return (("#c4161c", "#7c7c7c", "#a9a9a9"), ("#1f4e79", "#5b9bd5", "#bdd7ee"), ("#2f6fb7", "#90b4dc", "#c9d9ee"))[
        plan.font % 3
    ]


def _head(pen: Pen[Plan], left: float, head: float, plan: Plan) -> None:
    house, size, ink = plan.house, plan.letter, plan.house.ground[1]
    if house.header == "band":
        pen.box((0, 0, plan.width, size * 3.6), "#24405f")
        pen.text((20, size * 1.2), "Cyberpunk 2077", size * 1.4, "white", "lm", True)
        pen.text((20, size * 2.7), "3840x2160, Ultra", size, "white", "lm")
        pen.text((plan.width - 20, size * 2.7), "Higher is Better", size, "white", "rm")
    else:
        pen.text((16, size * 1.5), "Stable Diffusion XL Images per Minute", size * 1.7, ink, "lm", True)
        pen.text((18, size * 3.1), "Tested at 1024x1024, 50 steps, average of 10 runs", size, ink, "lm")
    if house.header == "logo" and plan.width > 1_300:
        pen.box((plan.width - size * 9, size * 0.6, plan.width - size, size * 2.6), "#d2232a")
        pen.text((plan.width - size * 5, size * 1.6), "BENCH LAB", size * 1.2, "white", "mm", True)
    if house.note:
        pen.text((plan.width - 20, head - size * 0.8), "Images Per Minute, More Is Better", size * 0.8, ink, "rm")
    names = {"three": ("AVG", "1% LOW", "0.1% LOW"), "beside": ("FP16", "FP8")}.get(plan.kind, ("xformers", "TensorRT"))
    if plan.kind != "single":
        at, colours = left, _colours(plan, "RTX", False)
        for name, colour in zip(names, colours, strict=False):
            pen.box((at, head - size * 1.3, at + size * 0.8, head - size * 0.5), colour)
            pen.text((at + size * 1.1, head - size * 0.9), name, size * 0.8, ink)
            at += size * 2.4 + pen.wide(name, size * 0.8)


def _bars(
    pen: Pen[Plan], cells: _Cells, row: tuple[float, float, float, float], column: Any, colours: tuple[str, str, str]
) -> None:
    """The bars of one row with their numbers; `row` is its box from the axis on."""
    plan, house = pen.shape, pen.shape.house
    left, top, right, bottom = row
    tall, middle, size = (bottom - top) * plan.thick / plan.lanes, (top + bottom) / 2, plan.letter
    if plan.lanes > 1:
        tall = (bottom - top) * 0.86 / plan.lanes
    is_nested = plan.lanes == 1 and len(cells) == 2
    if not is_nested and len(cells) == 1 and plan.kind in ("nested", "mixed"):
        colours = (colours[1], colours[1], "")
    for series in range(len(cells) - 1, -1, -1) if is_nested else range(len(cells)):
        value, text = cells[series]
        y, inset = middle + (series - (plan.lanes - 1) / 2) * tall * (not is_nested), 0.0
        if is_nested and series == 0:
            inset = tall * 0.1
        end, sides = column(value), (y - tall / 2 + inset, y + tall / 2 - inset)
        if house.rows_by == "track":
            pen.box((left, sides[0], right, sides[1]), "#f0f0f0")
        pen.box((left, sides[0], end, sides[1]), colours[series])
        if house.border:
            dark = "#{:02x}{:02x}{:02x}".format(*shaded(colours[series], 0.6))
            for ends in (
                (left, sides[0], end, sides[0]),
                (left, sides[1], end, sides[1]),
                (end, sides[0], end, sides[1]),
            ):
                pen.line(ends, dark)
        shown, letters = text + house.unit, min(size, tall * 0.98)
        wide = pen.wide(shown, letters, house.bold)
        if is_nested and series == 0:
            pen.text((left + 7, y), shown, letters, "white", "lm", house.bold)
        elif (house.value_at == "end" or is_nested) and end - left > wide + 20:
            pen.text((end - 7, y), shown, letters, "white", "rm", house.bold)
            if house.note and end - left > wide + size * 9:
                pen.text((left + 6, y), "SE +/- 0.12, N = 3", letters * 0.6, "white", "lm")
        else:
            pen.text((end + 7, y), shown, letters, house.ground[1], "lm", house.bold)


def _foot(pen: Pen[Plan], height: float) -> None:
    plan = pen.shape
    size, house = plan.letter, plan.house
    if house.header == "logo":
        pen.box((0, height - size * 2.4, plan.width, height), "#1b2a3d")
        pen.text((20, height - size * 1.2), house.footer, size * 0.9, "white", "lm")
        pen.text((plan.width - 20, height - size * 1.2), "Ryzen 9 9950X, 64GB DDR5-5600", size * 0.9, "white", "rm")
    else:
        pen.text((20, height - size * 1.2), house.footer, size * 0.8, house.ground[1], "lm")
