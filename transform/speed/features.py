"""The traits of a card, and of a model's work, on which a speed depends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpuledger.transform.identity.gpu import MACHINE, Gpu
from gpuledger.transform.speed.peaks import matrix_tflops

#: The clock of a card for which the catalogue has none: the median of the cards that can run a language model.
MEDIAN_CLOCK_GHZ = 1.7
#: The power limit of a card for which the catalogue has none, likewise.
MEDIAN_WATTS = 300

#: The segment whose cards are shipped with error correction switched on: NVIDIA's data-center line. With GDDR memory this
#: costs bandwidth.
_ECC_SEGMENT = "data_center"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTraits:
    """What is known about one GPU of a card.

    `tflops` is the dense rate at 16 bits, None if not known. `watts` is the power limit of one GPU. `memory` is `hbm`,
    `gddr` or `shared` (with the processor). `ecc` is true if the card has GDDR memory that corrects errors by default.
    """

    gpu_id: str
    vendor: str
    architecture: str
    chip: str
    memory: str
    ecc: bool
    bandwidth_gb_s: float
    clock_ghz: float
    tflops: float | None
    watts: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of one sequence.

    To write a token, `weight_bytes` and `cache_bytes` (what the layers hold of the tokens before it) are read. To read a
    token of the prompt, `flops_a_token` operations are done with weights, and `attention_flops_a_token` with the tokens
    before it. `hidden` is the hidden width. `is_mixture` is true for a mixture of experts. `weights` is `f16` for 16 bits
    and more, else `packed`. `shape` identifies a measured model, whatever its name.
    """

    weight_bytes: float
    cache_bytes: float
    layers: int
    hidden: int
    is_mixture: bool
    weights: str
    flops_a_token: float
    attention_flops_a_token: float
    prompt_tokens: int
    shape: str = ""


def memory_kind(gpu: Gpu) -> str:
    """`hbm`, `gddr`, or `shared` if processor and graphics share the memory."""
    name = (gpu.memory_type or "").upper()
    shared = "LPDDR" in name or "SYSTEM" in name or gpu.form_factor == MACHINE
    return "hbm" if "HBM" in name else "shared" if shared else "gddr"


def has_ecc_on(gpu: Gpu) -> bool:
    """Whether the card has GDDR memory that uses a sixteenth for error correction by default.

    NVIDIA's data-center cards from Pascal on do so. Workstation cards are shipped with error correction off.
    """
    return gpu.vendor == "NVIDIA" and gpu.segment == _ECC_SEGMENT and memory_kind(gpu) == "gddr"


# Cached, because this is called several times for each card and each number of cards.
@lru_cache(maxsize=4096)
def traits(gpu: Gpu) -> CardTraits | None:
    """The traits of a card that the calibration needs, None without its bandwidth, on which everything else depends."""
    if not gpu.memory_bandwidth_gb_s:
        return None
    return CardTraits(
        gpu_id=gpu.gpu_id,
        vendor=gpu.vendor,
        architecture=gpu.architecture or "",
        chip=gpu.chip or "",
        memory=memory_kind(gpu),
        ecc=has_ecc_on(gpu),
        bandwidth_gb_s=gpu.memory_bandwidth_gb_s,
        clock_ghz=(gpu.boost_clock_mhz or 0) / 1e3 or MEDIAN_CLOCK_GHZ,
        tflops=matrix_tflops(gpu, 16),
        watts=(gpu.tdp_w or MEDIAN_WATTS * gpu.gpus_on_board) / gpu.gpus_on_board,
    )


def pipeline_speedup(prompt_tokens: int, count: int, chunk_tokens: int) -> float:
    """How many times faster a prompt passes `count` cards that share the layers than one card that holds all layers.

    The prompt is divided into c pieces of `chunk_tokens`. The c pieces pass n cards in c + n − 1 steps, and each step takes
    1/n of the time of one card. So the speedup is c·n / (c + n − 1).
    Source: Huang et al. 2019, GPipe, section 2.3 (the bubble of a pipeline).
    """
    pieces = max(1, -(-prompt_tokens // chunk_tokens))
    return pieces * count / (pieces + count - 1)
