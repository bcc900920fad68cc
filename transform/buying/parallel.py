"""Several cards for one model: how memory adds up, and how much faster it gets."""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.memory import InferenceMemory
from gpuledger.transform.sizing.tensors import Architecture

#: A card sold as 24 GB holds 24 × 2^30 bytes.
BYTES_PER_CARD_GB = 2**30

#: All-reduces of the hidden state in one layer under tensor parallelism: one after attention, one after the
#: feed-forward. Source: Shoeybi et al. 2019, Megatron-LM, section 3.
EXCHANGES_PER_LAYER = 2


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a model fits: bytes `needed` and `available`, and whether the first is within the second."""

    needed: int
    available: int

    @property
    def fits(self) -> bool:
        """Needed at most what is available."""
        return self.needed <= self.available


def usable_bytes(memory_gb: float, count: int, assumptions: Assumptions) -> int:
    """Bytes for a model on `count` cards of `memory_gb` each: their sum less the overhead of each, never below zero."""
    if count < 1:
        raise ValueError(f"there must be at least 1 card, not {count}")
    each = memory_gb * BYTES_PER_CARD_GB - assumptions.device_overhead_gb * 1e9
    return max(0, round(each * count))


def fit(needed: InferenceMemory, memory_gb: float, count: int, assumptions: Assumptions) -> Fit:
    """Whether `needed` fits on `count` cards of `memory_gb` each."""
    return Fit(needed=needed.total, available=usable_bytes(memory_gb, count, assumptions))


def amdahl_speedup(parallel_fraction: float, count: int, communication: float = 0) -> float:
    """How many times faster `count` workers are than one.

    1 / ((1 − p) + p / n + c): p is the part that divides, c the time of communication in units of one worker's whole
    time. Amdahl 1967; the communication term because language models exchange data in every layer.
    """
    if not 0 <= parallel_fraction <= 1:
        raise ValueError(f"a parallel fraction must be between 0 and 1, not {parallel_fraction}")
    if count < 1 or communication < 0:
        raise ValueError(
            f"there must be at least 1 worker and no negative communication, not {count} and {communication}"
        )
    return 1 / ((1 - parallel_fraction) + parallel_fraction / count + communication)


def exchange_seconds(architecture: Architecture, tokens: int, count: int, assumptions: Assumptions) -> float:
    """Time that `count` cards spend exchanging the hidden state of `tokens` tokens in one forward pass (16 bits).

    A ring all-reduce moves 2 × (n − 1) / n of the data over each link, after one latency.
    Source: Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce".
    """
    if count == 1:
        return 0.0
    exchanges = EXCHANGES_PER_LAYER * architecture.layers
    bytes_each = 2 * architecture.hidden * tokens
    over_link = 2 * (count - 1) / count * bytes_each / (assumptions.link_gb_s * 1e9)
    return exchanges * (assumptions.link_latency_us * 1e-6 + over_link)


def parallel_tokens_per_s(
    one_card_tokens_per_s: float, architecture: Architecture, count: int, assumptions: Assumptions, *, batch: int = 1
) -> float:
    """Tokens a second of `count` equal cards, from what one would reach (measured or bound) were its memory large
    enough.

    `one_card_tokens_per_s` is of all `batch` sequences together.
    """
    step = batch / one_card_tokens_per_s
    communication = exchange_seconds(architecture, batch, count, assumptions) / step
    return one_card_tokens_per_s * amdahl_speedup(assumptions.parallel_fraction, count, communication)
