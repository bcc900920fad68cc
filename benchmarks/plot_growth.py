"""Draws how a night grows: `docs/images/growth.svg`, from the figures that were measured and stand in `growth.json`.

`python -m benchmarks.plot_growth` draws them; with the word `measure` it measures anew what COPIES and DEPTH say (see
`bench_growth`), and writes the figures down first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import matplotlib as mpl

from benchmarks.bench_growth import Cost, Measure, Point, exponent, listings, points, prices

FIGURES = Path(__file__).with_name("growth.json")
IMAGE = Path(__file__).parents[1] / "docs/images/growth.svg"
_NIGHT, _ANEW = ("a night with 1% changed", "#0072B2"), ("all tables built anew", "#D55E00")
Lines = Sequence[tuple[tuple[str, str], Measure]]
_TIME: tuple[str, Lines] = (
    "processor time, s",
    ((_NIGHT, lambda one: one.night.processor_s), (_ANEW, lambda one: one.anew.processor_s)),
)
_MEMORY: tuple[str, Lines] = (
    "memory, MB",
    ((_NIGHT, lambda one: one.night.memory_mb), (_ANEW, lambda one: one.anew.memory_mb)),
)
_FILE: tuple[str, Lines] = ("file, MB", ((_NIGHT, lambda one: one.file_mb),))


def read(path: Path = FIGURES) -> tuple[list[Point], list[Point]]:
    """The points that were measured: by listings, and by the prices behind one of these."""
    by_listings, by_prices = (
        [Point(**{**one, "anew": Cost(**one["anew"]), "night": Cost(**one["night"])}) for one in found]
        for found in json.loads(path.read_text()).values()
    )
    return by_listings, by_prices


def write(by_listings: Sequence[Point], by_prices: Sequence[Point], path: Path = FIGURES) -> None:
    """Keep what was measured."""
    found = {"by_listings": [*map(asdict, by_listings)], "by_prices": [*map(asdict, by_prices)]}
    path.write_text(json.dumps(found, indent=1) + "\n")


def draw(by_listings: Sequence[Point], by_prices: Sequence[Point], path: Path) -> None:
    """Write the plot: processor time, memory and file by listings above, by price rows below, on logarithmic axes."""
    mpl.use("Agg")
    # Letters as letters, and the same bytes for the same figures.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "growth"}
    from matplotlib import pyplot  # the backend must be chosen first

    figure, panels = pyplot.subplots(2, 3, figsize=(11, 7), layout="constrained")
    # Behind more prices the night before takes the ended listings in, and builds not all: it is no line of its own there.
    for row, found, by, lines_shown, size in (
        (panels[0], by_listings, listings, 2, "listings in the night, three years of prices behind each"),
        (
            panels[1],
            by_prices,
            _millions,
            1,
            f"million price rows behind a night of {by_prices[0].listings:,} listings",
        ),
    ):
        for axes, (label, lines) in zip(row, (_TIME, _MEMORY, _FILE), strict=True):
            for (name, color), measure in lines[:lines_shown]:
                axes.plot(
                    [by(one) for one in found], [measure(one) for one in found], color=color, marker="o",
                    label=f"{name}: exponent {exponent(found, measure, by):.2f}",
                )  # fmt: skip
            axes.set(xscale="log", yscale="log", xlabel=size, ylabel=label)
            _label(axes)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _millions(one: Point) -> float:
    return prices(one) / 1e6


def _label(axes: mpl.axes.Axes) -> None:
    """Numbers as people write them, and a grid to read them by."""
    from matplotlib import ticker

    axes.legend(fontsize=8, loc="upper left")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.25)  # room for the legend
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axis.set_minor_formatter(ticker.NullFormatter())
    axes.yaxis.set_minor_locator(ticker.LogLocator(subs=(2, 5)))
    axes.yaxis.set_minor_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.label.set_fontsize(8)
    axes.tick_params(which="both", labelsize=8)
    axes.grid(visible=True, which="both", linewidth=0.3)


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        write(*points())
    draw(*read(), IMAGE)
