"""How fast a card can be at most: peak operations, the roofline, and what a measurement says beside it.

Writing text token by token reads every weight once a token, so memory bandwidth bounds it; reading a prompt multiplies
each weight with many tokens, so arithmetic bounds it. Source: Williams, Waterman & Patterson 2009, "Roofline"; Pope et
al. 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transform.assumptions import Assumptions
from transform.sizing.weights import Weights

Verdict = Literal["error in data or formula", "limited by software or CPU, not by the card", "limited by the card"]

#: Multiply-adds of one tensor core in one cycle on dense 16-bit matrices (16-bit accumulation, the faster kind).
#: Source: NVIDIA's architecture white papers (Volta to Blackwell). GA100 differs from the other Ampere chips.
TENSOR_MULTIPLY_ADDS = {
    "Volta": 64,
    "Turing": 64,
    "Ampere": 128,
    "Ada Lovelace": 128,
    "Hopper": 512,
    "Blackwell 2.0": 128,
}
_GA100_MULTIPLY_ADDS = 256

#: RDNA from 3 on issues two multiply-adds a cycle; Fermi's shading units run at twice the stated clock.
_TWICE_PER_CYCLE = ("RDNA 3.0", "RDNA 4.0", "Fermi", "Fermi 2.0")
_OWN_SHADER_CLOCK = ("Tesla", "Tesla 2.0")


@dataclass(frozen=True, slots=True)
class Utilisation:
    """A measured speed against its bound: `share` is measured / bound, and what that says."""

    measured: float
    bound: float
    share: float
    verdict: Verdict


def peak_flops(clock_hz: float, units: int, operations_per_cycle: float) -> float:
    """Peak floating-point operations a second: clock × units × operations of a unit in one cycle.

    A fused multiply-add is 2 operations. Source: the third source document; 1.3 GHz × 1 unit × 2 = 2.6 GFLOPS.
    """
    return clock_hz * units * operations_per_cycle


def shader_tflops(shading_units: int, boost_clock_mhz: float, architecture: str | None = None) -> float | None:
    """Peak 32-bit TFLOPS of a graphics card: one multiply-add a shading unit and cycle, two where the architecture has more.

    None for the Tesla architecture of 2006 to 2010, whose shading units run at a clock that no catalogue states.
    """
    if architecture in _OWN_SHADER_CLOCK:
        return None
    operations = 4 if architecture in _TWICE_PER_CYCLE else 2
    return peak_flops(boost_clock_mhz * 1e6, shading_units, operations) / 1e12


def tensor_tflops(
    tensor_cores: int, boost_clock_mhz: float, architecture: str, chip: str | None = None
) -> float | None:
    """Peak dense 16-bit TFLOPS of NVIDIA's tensor cores, None for an architecture whose rate is not written down here.

    RTX 4090: 512 × 2 × 128 × 2.52 GHz = 330; A100: 432 × 2 × 256 × 1.41 GHz = 312.
    """
    per_core = _GA100_MULTIPLY_ADDS if chip == "GA100" else TENSOR_MULTIPLY_ADDS.get(architecture)
    if per_core is None or not tensor_cores:
        return None
    return peak_flops(boost_clock_mhz * 1e6, tensor_cores, 2 * per_core) / 1e12


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
