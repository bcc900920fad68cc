"""Recomputes the figures of the fourth source document: prices of clouds, and data of cards from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu


def recompute(inputs: Mapping[str, Any]) -> dict[str, Fraction | None]:
    """The recomputed value of every claim, by claim id. None if nothing is published from which it could be computed."""
    cards = {name: catalogue.by_id()[gpu_id] for name, gpu_id in inputs["cards"].items()}
    azure, gcp, t4 = inputs["azure"], inputs["gcp"], cards["t4"]
    t4_fp32 = _peak_tera(t4.shading_units, t4, operations=2)
    t4_int8 = _peak_tera(t4.tensor_cores, t4, operations=2 * inputs["t4"]["int8_multiply_adds"])
    return {
        "aws-v100-discount": _discount_percent(inputs["aws"]["p3-v100"]),
        "aws-k80-discount": _discount_percent(inputs["aws"]["p2-k80"]),
        "aws-m60-discount": _discount_percent(inputs["aws"]["g3-m60"]),
        "azure-hour": Fraction(azure["total_krw"], azure["gpus"] * azure["hours"]),
        "gcp-k80-month": _discounted_month(gcp, gcp["k80_hour_usd"]),
        "gcp-k80-month-explained": _discounted_month(gcp, gcp["k80_hour_usd_that_explains"]),
        **{f"{name}-cores": _board(cards[name].shading_units, cards[name]) for name in _CORES},
        **{f"{name}-memory": _board(cards[name].memory_gb, cards[name]) for name in ("m60", "m6")},
        "t4-fp32": t4_fp32,
        "t4-int8": t4_int8,
        "t4-int8-ratio": t4_int8 / t4_fp32,
        "t4-bert-int8": None,
        "t4-bert-gelu10": None,
    }


_CORES = ("m60", "m6", "k40", "k80", "p40", "p4", "p100")


def _discount_percent(prices: Mapping[str, Any]) -> Fraction:
    return (1 - Fraction(prices["reserved_3y"]) / Fraction(prices["on_demand"])) * 100


def _discounted_month(gcp: Mapping[str, Any], hour_usd: Any) -> Fraction:
    return Fraction(hour_usd) * int(gcp["hours_a_month"]) * (1 - Fraction(gcp["sustained_use_discount"]))


def _board(per_processor: float | None, card: Gpu) -> Fraction:
    """The figure of the whole board, from the figure of one processor."""
    if per_processor is None:
        raise ValueError(
            f"the specification catalogue does not know a figure of {card.gpu_id} that a claim is checked against"
        )
    return Fraction(per_processor) * card.gpus_on_board


def _peak_tera(units: int | None, card: Gpu, operations: int) -> Fraction:
    if units is None or card.boost_clock_mhz is None:
        raise ValueError(f"the specification catalogue does not know the units or the clock of {card.gpu_id}")
    return units * operations * Fraction(card.boost_clock_mhz) * 10**6 / 10**12
