"""How long a fine-tune takes: its operations over the part of the matrix rate that training was measured at."""

from __future__ import annotations

import functools
import math
import statistics
import tomllib
from pathlib import Path
from typing import Any

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.tuning import Way, tuning
from gpuledger.transform.speed.cards import matrix_tflops
from gpuledger.transform.speed.rules import Rate

FILE = Path(__file__).with_name("training.toml")

#: The least standard deviation of the logarithm for another card or model, and what each doubling of the cards adds. Own
#: choice: three or four cards of a way were measured.
_SPREAD, _EACH_DOUBLING = 0.4, 0.1


def rate(gpu: Gpu, count: int, way: Way, flops_a_token: float) -> Rate | None:
    """Tokens a second in training on `count` equal cards, None if their matrix rate is not known."""
    tflops = matrix_tflops(gpu, 16)
    if not tflops:
        return None
    bound = count * tflops * 1e12 / flops_a_token
    of_cards = shares()[way]
    spread = max(_SPREAD, statistics.pstdev(map(math.log, of_cards)))
    deviation = math.hypot(spread, _EACH_DOUBLING * math.log2(count))
    return Rate.around(bound * statistics.median(of_cards), deviation, bound, "estimated")


def said(rate: Rate, tokens: int | None = None) -> Message:
    """A speed of training, and the hours of so many tokens, of a million if that is None."""
    tokens = tokens or 1_000_000
    hours = {name: tokens / 3600 / tokens_s for name, tokens_s in rate._asdict().items() if isinstance(tokens_s, float)}
    return Message(
        "Trains about {speed:,.0f} tokens/s ({low:,.0f}–{high:,.0f}): {tokens:,} tokens take {hours:.2f} h "
        "({least:.2f}–{most:.2f}); {more}.",
        tokens=tokens,
        speed=rate.expected,
        low=rate.low,
        high=rate.high,
        hours=hours["expected"],
        least=hours["high"],
        most=hours["low"],
        more=Message(
            "estimated from the share of the matrix rate that {runs} published runs on {cards} cards reached; few runs of "
            "small batches are published, and one reached a quarter",
            runs=len(runs()),
            cards=len({row["gpu_id"] for row in runs()}),
        ),
    )


@functools.cache
def shares() -> dict[str, list[float]]:
    """The part of the 16-bit matrix rate that each way of training reaches, one figure for each card that was measured."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in runs():
        work = tuning(
            catalogue.architecture(row["model"]), row["way"], row["tokens"], row["batch"], Assumptions()
        ).flops
        tflops = matrix_tflops(by_id()[row["gpu_id"]], 16)
        assert tflops, f"the matrix rate of {row['gpu_id']} is known"
        found.setdefault(row["way"], {}).setdefault(row["gpu_id"], []).append(
            row["tokens_per_s"] * work / (tflops * 1e12)
        )
    return {way: [statistics.median(of_card) for of_card in cards.values()] for way, cards in found.items()}


@functools.cache
def runs() -> list[dict[str, Any]]:
    """The published runs."""
    rows: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["training"]
    return rows
