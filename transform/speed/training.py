"""How long a fine-tune takes: its operations over the part of the matrix rate that training was measured at."""

from __future__ import annotations

import functools
import math
import statistics
import tomllib
from pathlib import Path

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.tuning import Way, tuning
from gpuledger.transform.speed.cards import matrix_tflops
from gpuledger.transform.speed.rules import Rate

FILE = Path(__file__).with_name("training.toml")

#: What was measured: the model, and the sequences of one card.
_MODEL, _TOKENS, _BATCH = "llama-3.1-8b", 2048, 2
#: The standard deviation of the logarithm for another card or model, and what each doubling of the cards adds. Own choice,
#: wide on purpose: one card was measured.
_SPREAD, _EACH_DOUBLING = 0.4, 0.1


def rate(gpu: Gpu, count: int, way: Way, flops_a_token: float) -> Rate | None:
    """Tokens a second in training on `count` equal cards, None if their matrix rate is not known."""
    tflops = matrix_tflops(gpu, 16)
    if not tflops:
        return None
    bound = count * tflops * 1e12 / flops_a_token
    expected = bound * shares()[way]
    return Rate.around(expected, math.hypot(_SPREAD, _EACH_DOUBLING * math.log2(count)), bound, "estimated")


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
            "estimated from the share of the matrix rate that pytorch/torchtune's README of Llama 3.1 8B on an RTX "
            "4090 shows"
        ),
    )


@functools.cache
def shares() -> dict[str, float]:
    """The part of the 16-bit matrix rate that each way of training reaches, by what was measured of it."""
    found: dict[str, list[float]] = {}
    shape = catalogue.architecture(_MODEL)
    for row in tomllib.loads(FILE.read_text(encoding="utf-8"))["training"]:
        work = tuning(shape, row["way"], _TOKENS, _BATCH, Assumptions()).flops
        tflops = matrix_tflops(by_id()[row["gpu_id"]], 16)
        assert tflops, f"the matrix rate of {row['gpu_id']} is known"
        found.setdefault(row["way"], []).append(row["tokens_per_s"] * work / (tflops * 1e12))
    return {way: statistics.median(of_way) for way, of_way in found.items()}
