"""Judges cards for the report: what to do about each, and which other card does as much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

#: The advice about a card, the best first.
#: `buy`: no other card is at least as fast for no more money in some workload, and its past prices are no reason to wait.
#: `unjudged`: the same, but too few days of its price are known (mart.price_trend) to say whether it is low.
#: `wait`: the same, and it is falling. `other`: another card does as much for no more money.
#: `unmeasured`: it has a price, and no figure. `no_price`: no offer of it counts.
Advice = Literal["buy", "unjudged", "wait", "other", "unmeasured", "no_price"]
#: What core.card_fit was computed for: one card, four bits a weight as llama.cpp packs them, 8192 tokens, one user.
PRECISION, CONTEXT_TOKENS = "Q4_K_M", 8192


def advice(price: Decimal | None, fronts: Sequence[bool], hint: str | None) -> Advice:
    """What to do about a card. `fronts` says for each workload that it was measured in whether it is on its front,
    and `hint` what its past prices say, None where they are not followed.
    """
    if price is None:
        return "no_price"
    if not fronts:
        return "unmeasured"
    if not any(fronts):
        return "other"
    if hint in (None, "unknown"):
        return "unjudged"
    return "wait" if hint == "wait" else "buy"


def beaten_by(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The cheapest of the `rows` of one workload that is at least as fast as `row` for no more money."""
    better = [
        other
        for other in rows
        if other["gpu_id"] != row["gpu_id"]
        and other["score"] >= row["score"]
        and other["price_usd"] <= row["price_usd"]
    ]
    return min(better, key=lambda one: (one["price_usd"], one["gpu_id"]), default=None)
