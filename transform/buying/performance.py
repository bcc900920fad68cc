"""How fast a card can be at most: the roofline, and what a measurement says beside it.

Writing text token by token reads every weight once a token, so memory bandwidth bounds it; reading a prompt multiplies
each weight with many tokens, so arithmetic bounds it. Source: Williams, Waterman & Patterson 2009, "Roofline"; Pope et
al. 2022.
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


def arithmetic_intensity_at_balance(tflops: float, bandwidth_gb_s: float) -> float:
    """Operations a byte at which arithmetic and memory bind equally; below it, memory does."""
    return tflops * 1e12 / (bandwidth_gb_s * 1e9)


def roofline_seconds(operations: float, bytes_moved: float, tflops: float | None, bandwidth_gb_s: float) -> float:
    """The least time that work can take: the longer of its arithmetic and its memory traffic.

    Without `tflops` (unknown) the memory alone. Raises ValueError where a rate is not above zero.
    """
    if bandwidth_gb_s <= 0 or (tflops is not None and tflops <= 0):
        raise ValueError(f"rates must be above zero, not {tflops} TFLOPS and {bandwidth_gb_s} GB/s")
    memory = bytes_moved / (bandwidth_gb_s * 1e9)
    return max(memory, operations / (tflops * 1e12)) if tflops is not None else memory


def decode_bound(
    weights: Weights,
    kv_bytes_per_sequence: int,
    bandwidth_gb_s: float,
    *,
    batch: int = 1,
    flops_per_step: float = 0,
    tflops: float | None = None,
) -> float:
    """Tokens a second at most, all `batch` sequences together, while writing.

    A step reads the weights that its tokens use and the key-value cache of every sequence (`kv_bytes_per_sequence` at
    the context reached), and computes `flops_per_step` operations where given.
    """
    bytes_moved = weights.read_bytes(batch) + batch * kv_bytes_per_sequence
    return batch / roofline_seconds(flops_per_step, bytes_moved, tflops, bandwidth_gb_s)


def prefill_bound(flops: float, tokens: int, tflops: float) -> float:
    """Prompt tokens a second at most: `flops` for `tokens` tokens at `tflops` of the precision that multiplies."""
    if tflops <= 0:
        raise ValueError(f"a rate must be above zero, not {tflops} TFLOPS")
    return tokens / (flops / (tflops * 1e12))


def expected_tokens_per_s(bound: float, assumptions: Assumptions) -> float:
    """What a well-fed card probably reaches where nothing was measured: the bound × `expected_utilisation`. An estimate."""
    return bound * assumptions.expected_utilisation


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
