"""The largest speed at which a card can write, and what a measurement says in comparison.

To write text token by token, a card reads every weight once for each token, so memory bandwidth bounds the speed. Source:
Williams, Waterman & Patterson 2009, "Roofline"; Pope et al. 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.weights import Weights

Verdict = Literal["error in data or formula", "limited by software or CPU, not by the card", "limited by the card"]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """A measured speed, its bound, the `share` measured / bound, and what this share says."""

    measured: float
    bound: float
    share: float
    verdict: Verdict


def decode_bound(weights: Weights, kv_bytes_per_sequence: int, bandwidth_gb_s: float, *, batch: int = 1) -> float:
    """The most tokens a second in writing, for all `batch` sequences together.

    A step reads the weights that its tokens use, and the key-value cache of every sequence (`kv_bytes_per_sequence`, at its
    present length).
    """
    bytes_moved = weights.read_bytes(batch) + batch * kv_bytes_per_sequence
    return batch * bandwidth_gb_s * 1e9 / bytes_moved


def utilisation(measured: float, bound: float, assumptions: Assumptions) -> Utilisation:
    """What a measured speed says in comparison with its bound.

    A share above 1 is impossible, so the data or the formula is wrong. A share below `low_utilisation` means that the card
    was waiting for something else.
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
