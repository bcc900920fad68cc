"""How fast a card can write at most, and what a measurement says beside it.

Writing text token by token reads every weight once a token, so memory bandwidth bounds it. Source: Williams, Waterman &
Patterson 2009, "Roofline"; Pope et al. 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.weights import Weights

Verdict = Literal["error in data or formula", "limited by software or CPU, not by the card", "limited by the card"]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """A measured speed against its bound: `share` is measured / bound, and what that says."""

    measured: float
    bound: float
    share: float
    verdict: Verdict


def decode_bound(weights: Weights, kv_bytes_per_sequence: int, bandwidth_gb_s: float, *, batch: int = 1) -> float:
    """Tokens a second at most, all `batch` sequences together, while writing.

    A step reads the weights that its tokens use and the key-value cache of every sequence (`kv_bytes_per_sequence` at
    the context reached).
    """
    bytes_moved = weights.read_bytes(batch) + batch * kv_bytes_per_sequence
    return batch * bandwidth_gb_s * 1e9 / bytes_moved


def utilisation(measured: float, bound: float, assumptions: Assumptions) -> Utilisation:
    """What a measured speed says beside its bound.

    Above 1 is impossible, so the data or the formula is wrong. Below `low_utilisation` the card was waiting for
    something else.
    """
    if measured < 0 or bound <= 0:
        raise ValueError(f"a speed must not be negative and its bound must be above zero, not {measured} and {bound}")
    share = measured / bound
    verdict: Verdict = "limited by the card"
    if share > 1:
        verdict = "error in data or formula"
    elif share < assumptions.low_utilisation:
        verdict = "limited by software or CPU, not by the card"
    return Utilisation(measured=measured, bound=bound, share=share, verdict=verdict)
