"""Draws how a night grows with its listings: `docs/images/growth.png`, by `bench_growth`.

COPIES="1 3 10 30 100 300" python benchmarks/plot_growth.py [image]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from benchmarks.bench_growth import Point, exponent, points

IMAGE = Path(__file__).parents[1] / "docs/images/growth.png"


def draw(found: Sequence[Point], path: Path) -> None:
    """Write the plot: processor time, memory and file against listings, all on logarithmic axes."""
    mpl.use("Agg")
    from matplotlib import pyplot, ticker  # the backend must be chosen first

    figure, panels = pyplot.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    night, anew = ("a night with 1% changed", "#0072B2"), ("all tables built anew", "#D55E00")
    measures = (
        ("processor time, s", ((night, lambda one: one.night.processor_s), (anew, lambda one: one.anew.processor_s))),
        ("memory, MB", ((night, lambda one: one.night.memory_mb), (anew, lambda one: one.anew.memory_mb))),
        ("file, MB", ((night, lambda one: one.file_mb),)),
    )
    for axes, (label, lines) in zip(panels, measures, strict=True):
        for (name, color), measure in lines:
            axes.plot(
                [one.listings for one in found], [measure(one) for one in found], color=color, marker="o",
                label=f"{name}: exponent {exponent(found, measure):.2f}",
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="listings in the night", ylabel=label)
        axes.legend(fontsize=7)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axes.yaxis.set_minor_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axes.tick_params(which="both", labelsize=7)
        axes.grid(visible=True, which="both", linewidth=0.3)
    figure.suptitle("A night, check to publish, with three years of prices behind it")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    draw(points(), Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE)
