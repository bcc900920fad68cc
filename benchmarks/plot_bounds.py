"""Draws measured tokens a second against the bound of the card: `docs/images/measured-vs-bound.png`.

    python benchmarks/plot_bounds.py [folder of Markdown tables] [image]

A point on the line would have moved its weights at the full bandwidth of its memory; none may lie above it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
from tools.measured import Residual, measure

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "../shared/data/benchmarks"
IMAGE = ROOT / "docs/images/measured-vs-bound.png"

#: One colour a model, readable with any colour vision (Okabe & Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw(residuals: Sequence[Residual], low: float, path: Path) -> None:
    """Write the plot of `residuals` to `path`; `low` is the share below which a card is not what limits."""
    mpl.use("Agg")
    from matplotlib import pyplot  # the backend must be chosen first

    figure, axes = pyplot.subplots(figsize=(8, 6), layout="constrained")
    ends = (min(r.result.bound for r in residuals) * 0.8, max(r.result.bound for r in residuals) * 1.25)
    axes.plot(ends, ends, color="black", linewidth=1, label="bound: memory bandwidth / bytes a token")
    axes.plot(ends, [end * low for end in ends], color="grey", linewidth=1, linestyle="--", label=f"{low:.0%} of it")
    for colour, model_id in zip(COLOURS, sorted({r.model_id for r in residuals}), strict=False):
        ours = [r for r in residuals if r.model_id == model_id]
        label = f"{model_id}, {ours[0].precision} ({len(ours)})"
        axes.scatter([r.result.bound for r in ours], [r.result.measured for r in ours], s=28, color=colour, label=label)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=ends,
        xlabel="bound, tokens/s",
        ylabel="measured, tokens/s",
        title="Text generation on one card: measured against the bound of its memory",
    )
    axes.grid(visible=True, which="both", linewidth=0.3)
    axes.legend(loc="upper left", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(arguments: Sequence[str]) -> None:
    """Draw, and print every residual and every exclusion."""
    tables = Path(arguments[0]) if arguments else TABLES
    image = Path(arguments[1]) if len(arguments) > 1 else IMAGE
    assumptions = Assumptions()
    residuals, excluded = measure(tables, Resolver.load(), assumptions)
    for item in sorted(residuals, key=lambda item: -item.result.share):
        result = item.result
        print(
            f"{result.share:6.3f} {result.measured:9.2f} of {result.bound:8.1f}  {item.model_id:30} {item.gpu.gpu_id:36} "
            f"{result.verdict}"
        )
    for row in excluded:
        print(f"excluded: {row.reason}: {row.row.model}: {row.row.system}")
    draw(residuals, assumptions.low_utilisation, image)
    print(f"{len(residuals)} measured, {len(excluded)} excluded; {image}")


if __name__ == "__main__":
    main(sys.argv[1:])
