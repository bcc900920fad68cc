"""Write when-is-a-3060-enough.md from the sample's first night: `python docs/when_is_a_3060_enough.py`.

Every figure on that page is asked of the warehouse here, and every sentence that compares two of them is asserted, so that
the page cannot go on claiming what the figures no longer say. `--check` compares instead of writing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "when-is-a-3060-enough.md"
SMALL, LARGE, MIDDLE = "nvidia-geforce-rtx-3060-12gb", "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-4070-ti"
IMAGES, RESOLUTION, TEXT = "sd-512-image-generation", "sd-2048-image-resolution", "llama-13b-int4-text-generation"
WORKLOADS = {IMAGES: "images of 512×512", RESOLUTION: "raising resolution", TEXT: "LLaMA-13B at 4 bits"}
BASES = {
    "msrp": "dollar of launch price",
    "street": "dollar of street price",
    "watt": "watt",
    "total": "dollar of total cost over three years",
}

#: For every workload and basis, what each card costs in it: dollars, watts, or dollars over the horizon.
_CARDS = """
    WITH cost AS (
        SELECT workload_id, gpu_id, price_basis AS basis, price_usd::DOUBLE AS cost FROM mart.value
        UNION ALL SELECT r.workload_id, r.gpu_id, 'watt', g.tdp_w FROM mart.ranking r JOIN core.gpu g USING (gpu_id)
        UNION ALL SELECT workload_id, gpu_id, 'total', total_usd FROM mart.output_cost WHERE way = 'buy'
    )
    SELECT c.basis, c.workload_id, c.gpu_id, replace(g.name, 'GeForce ', '') AS name, r.score::DOUBLE AS score, c.cost,
        rank() OVER (PARTITION BY c.basis, c.workload_id ORDER BY r.score / c.cost DESC) AS place,
        count(*) OVER (PARTITION BY c.basis, c.workload_id) AS cards
    FROM cost c
    JOIN mart.ranking r USING (workload_id, gpu_id)
    JOIN core.gpu g USING (gpu_id)
    WHERE c.cost > 0
"""
_FITS = f"""
    SELECT model_id, precision, max(context_tokens), min(needed_gb) FROM mart.model_fit
    WHERE gpu_id = '{SMALL}' AND gpu_count = 1 AND fits GROUP BY ALL
"""
_AUDIT = """
    SELECT claim_id, recomputed FROM mart.claim_audit
    WHERE document = 'ours' AND (claim_id LIKE 'bound/%' OR claim_id LIKE 'utilisation/%')
"""
_BREAK_EVEN = f"""
    SELECT pricing_model, min(break_even_hours) FROM mart.rent_vs_buy
    WHERE gpu_id = '{SMALL}' AND comparability = 'does as much' GROUP BY pricing_model
"""

TEMPLATE = """\
# When is an RTX 3060 enough?

<!-- written by docs/when_is_a_3060_enough.py from the sample's first night: change that, not this -->

A survey of November 2023 compared thirteen consumer cards at their launch prices and concluded: for Stable Diffusion
performance rises more than price, so an RTX 4090 can be worth it; for LLaMA-13B at 4 bits an RTX 3060 is enough. Here is the
same question by four kinds of cost. Scores, launch prices and power are real; street prices are those of the sample.

What an RTX 4090 has of an RTX 3060, and whether its performance rises more than its cost (in brackets, one over the other):

{rises}

Who gives the most score, and the place of the RTX 3060:

{best}

## When it is

**An RTX 3060 is enough for a language model that fits in its 12 GB, where {small_score:.1f} tokens a second do.** Of the
nine measured cards it gives the most text for launch price, for street price, for a watt and for total cost: an RTX 4090 is
{times:.2f} times as fast, for {msrp:.1f} times the launch price, {street:.1f} times the street price, {watt:.1f} times the
power and {total:.1f} times the total cost. But that benchmark measured software and CPU rather than cards: it reached
{small_share:.0f}% of what the memory of the RTX 3060 allows, and {large_share:.0f}% of what that of the RTX 4090 does.

## When it is not

- **Many images.** The machine around the card costs the same beside either one, so by total cost the faster card
  wins: the RTX 3060 is {images_place} of {images_cards} for images of 512×512 and {resolution_place} of
  {resolution_cards} for raising resolution. By launch price the survey's conclusion is half right: for {msrp:.2f} times
  the price the RTX 4090 raises resolution {resolution:.2f} times as fast, but makes images of 512×512 only {images:.2f}
  times as fast; there the RTX 4070 Ti is the one whose performance rises more than its price ({middle:.2f} times for
  {middle_price:.2f}).
- **Software that uses the card.** Where memory bandwidth is the limit, as in current runtimes, an RTX 4090 writes
  {speed:.1f} times as fast. That is still less than {msrp:.1f} times the launch price, but more than {total:.1f} times the
  total cost: whoever keeps the card busy for three years pays less for a token on the larger one.
- **Larger models.** At 4 bits a 13B model fits with at least {context:,} tokens of context, a 30B model not at all; at 8
  bits no 13B model does. Stable Diffusion XL fits at 16 bits ({sdxl:.1f} GB), FLUX.1 only at 4 ({flux:.1f} GB).
- **Few hours.** Beside an instance that does as much, owning the RTX 3060 has cost less after {on_demand:,.0f} hours of
  use where that is rented on demand, after {spot:,.0f} where it is taken at the spot price (`mart.rent_vs_buy`).

Ask again with your own prices and hours: `gpuledger buy --model llama-2-13b --hours-per-day 8`; what total cost assumes is
in `gpuledger describe assumptions`. `gpuledger audit --document survey-prose` holds each sentence of the survey against its
figures.
"""


@dataclass(frozen=True, slots=True)
class Card:
    """One card in one workload on one basis: the best has place 1 of `cards`."""

    name: str
    score: float
    cost: float
    place: int
    cards: int


class Cards:
    """All cards by basis, workload and id."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.known = {(basis, workload, gpu): Card(*words) for basis, workload, gpu, *words in rows}

    def score(self, workload: str, gpu: str = LARGE) -> float:
        """How many times the score of the small card."""
        return self.known["msrp", workload, gpu].score / self.known["msrp", workload, SMALL].score

    def cost(self, basis: str, gpu: str = LARGE) -> float:
        """How many times the cost of the small card; the same in every workload."""
        return self.known[basis, IMAGES, gpu].cost / self.known[basis, IMAGES, SMALL].cost

    def rises(self, basis: str, workload: str, gpu: str = LARGE) -> bool:
        """Performance rises more than cost."""
        return self.score(workload, gpu) > self.cost(basis, gpu)


def page(data: DataDir) -> str:
    """The page for the warehouse in `data`. Raises AssertionError where a sentence would not be true of it."""
    cards = Cards(_ask(data, _CARDS))
    fits = {(model, precision): words for model, precision, *words in _ask(data, _FITS)}
    audit, hours = dict(_ask(data, _AUDIT)), dict(_ask(data, _BREAK_EVEN))
    speed = float(audit["bound/rtx-4090"] / audit["bound/rtx-3060"])
    _check(cards, fits, speed)
    images, resolution = cards.known["total", IMAGES, SMALL], cards.known["total", RESOLUTION, SMALL]
    return TEMPLATE.format(
        rises=_rises(cards), best=_best(cards), small_score=cards.known["msrp", TEXT, SMALL].score,
        times=cards.score(TEXT), **{basis: cards.cost(basis) for basis in BASES},
        small_share=audit["utilisation/rtx-3060"], large_share=audit["utilisation/rtx-4090"], images_place=images.place,
        images_cards=images.cards, resolution_place=resolution.place, resolution_cards=resolution.cards,
        images=cards.score(IMAGES), resolution=cards.score(RESOLUTION), middle=cards.score(IMAGES, MIDDLE),
        middle_price=cards.cost("msrp", MIDDLE), speed=speed, context=fits["llama-2-13b", "int4"][0],
        sdxl=fits["stable-diffusion-xl", "fp16"][1], flux=fits["flux.1-dev", "int4"][1], on_demand=hours["on_demand"],
        spot=hours["spot"],
    )  # fmt: skip


def _check(cards: Cards, fits: dict[tuple[str, str], list[Any]], speed: float) -> None:
    """What the sentences of the page compare."""
    assert all(cards.known[basis, TEXT, SMALL].place == 1 for basis in BASES)
    assert not any(cards.rises(basis, TEXT) for basis in BASES)
    assert all(cards.rises(basis, RESOLUTION) for basis in BASES)
    assert cards.rises("total", IMAGES)
    assert not cards.rises("msrp", IMAGES)
    assert cards.rises("msrp", IMAGES, MIDDLE)
    assert cards.cost("total") < speed < cards.cost("msrp")
    assert {("llama-2-13b", "int4"), ("stable-diffusion-xl", "fp16"), ("flux.1-dev", "int4")} <= fits.keys()
    assert (
        not {("llama-30b", "int4"), ("llama-2-13b", "int8"), ("llama-13b", "int8"), ("flux.1-dev", "int8")}
        & fits.keys()
    )


def _rises(cards: Cards) -> str:
    heads = [f"{words}: {cards.score(workload):.2f} × the score" for workload, words in WORKLOADS.items()]
    rows = [["", "cost", *heads]]
    for basis, words in BASES.items():
        cells = [
            f"{'more' if cards.rises(basis, workload) else 'less'} ({cards.score(workload) / cards.cost(basis):.2f})"
            for workload in WORKLOADS
        ]
        rows.append([words.removeprefix("dollar of "), f"{cards.cost(basis):.2f} ×", *cells])
    return _markdown(rows)


def _best(cards: Cards) -> str:
    rows = [["most score for a", *WORKLOADS.values()]]
    for basis, words in BASES.items():
        cells = []
        for workload in WORKLOADS:
            winner = next(c for (b, w, _), c in cards.known.items() if (b, w, c.place) == (basis, workload, 1))
            small = cards.known[basis, workload, SMALL]
            place = "" if small is winner else f" (RTX 3060: {small.place} of {small.cards})"
            cells.append(f"{winner.name}{place}")
        rows.append([words, *cells])
    return _markdown(rows)


def _markdown(rows: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


def _ask(data: DataDir, sql: str) -> list[tuple[Any, ...]]:
    return query(data, sql)[1]


def main() -> int:
    """Write the page, or with `--check` compare; 1 where it is stale."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["refresh", "--sample", "--night", "1", "--engine", "plain", "--quiet", "--data-dir", folder]
        subprocess.run([sys.executable, "-m", "gpuledger.flows.cli", *words], cwd=ROOT, check=True)
        text = page(DataDir(Path(folder)))
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
