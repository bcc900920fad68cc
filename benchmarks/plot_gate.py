"""Draw docs/images/gate.png: what a bound on one listing's move costs in real prices held, and what it catches."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.bench_gate import crawls
from gpuledger.items import Offer
from gpuledger.transform.gate import Bounds

OUT = Path(__file__).parents[1] / "docs" / "images" / "gate.png"
FACTORS = [1.1 + 0.05 * step for step in range(59)]
#: What `make bench` measures of the whole gate, per 1,000 listing-nights.
MEASURED = 0.55


def main() -> None:
    """Moves that stayed at the next sighting were real; the curve is how many of those a bound would hold."""
    real: list[float] = []
    listing_nights = 0
    series: dict[str, list[float]] = {}
    for _, rows in crawls(35):
        listing_nights += len(rows)
        for row in rows:
            if isinstance(row.item, Offer) and row.item.price is not None:
                series.setdefault(row.item.key, []).append(float(row.item.price))
    for prices in series.values():
        for before, now, after in zip(prices, prices[1:], prices[2:], strict=False):
            if before != now and abs(after / now - 1) <= 0.05:
                real.append(abs(math.log(now / before)))
    held = [1000 * sum(move > math.log(factor) for move in real) / listing_nights for factor in FACTORS]
    figure, axis = plt.subplots(figsize=(8, 4.2), dpi=120)
    axis.plot(FACTORS, held, color="#2563eb", label="by the bound alone")
    axis.axhline(1, color="#999999", linewidth=0.8, linestyle="--")
    axis.plot(
        [1 + Bounds().max_move],
        [MEASURED],
        "o",
        color="#dc2626",
        label="the gate, which also asks the listing's past and its peers",
    )
    axis.set_yscale("log")
    axis.set_xlabel("factor up or down beyond which one listing's price is held")
    axis.set_ylabel("real prices held\nper 1,000 listing-nights")
    axis.annotate(
        "×10, ÷1000, another currency, placeholders:\nheld at every bound shown",
        (0.98, 0.55),
        xycoords="axes fraction",
        ha="right",
        fontsize=8,
    )
    axis.legend(frameon=False, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT)


if __name__ == "__main__":
    main()
