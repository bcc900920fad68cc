"""What of a card, and of a model's work, a speed depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.peaks import matrix_tflops

#: The clock that is taken where the catalogue has none: the middle of the cards that can run a language model.
MEDIAN_CLOCK_GHZ = 1.7
#: The same of the power limit.
MEDIAN_WATTS = 300

#: Cards that leave the factory with error correction on, which for GDDR memory costs bandwidth: NVIDIA's data-center line.
_ECC_SEGMENT = "data_center"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTraits:
    """What is known of one GPU of a card. Bandwidth in GB/s, clock in GHz, `tflops` dense at 16 bits, None if not known,
    `watts` the power limit of one GPU.

    `memory` is `hbm`, `gddr` or `shared` (with the processor); `ecc` says that GDDR memory corrects errors by default.
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
    """What one sequence asks of the cards: bytes that a written token reads, layers, hidden width, whether it is a mixture
    of experts, the kind of its weights (`f16` for 16 bits and more, else `packed`), operations of a token that is read,
    tokens of the prompt, and the `shape` by which a measured model is known again whatever it is called.
    """

    bytes_a_token: float
    layers: int
    hidden: int
    is_mixture: bool
    weights: str
    flops_a_token: float
    prompt_tokens: int
    shape: str = ""


def memory_kind(gpu: Gpu) -> str:
    """`hbm`, `gddr`, or `shared` where processor and graphics share LPDDR."""
    name = (gpu.memory_type or "").upper()
    return "hbm" if "HBM" in name else "shared" if "LPDDR" in name or "SYSTEM" in name else "gddr"


def has_ecc_on(gpu: Gpu) -> bool:
    """Whether GDDR memory gives a sixteenth away for error correction unless somebody switches it off.

    NVIDIA's data-center cards from Pascal on do; workstation cards are shipped with it off.
    """
    return gpu.vendor == "NVIDIA" and gpu.segment == _ECC_SEGMENT and memory_kind(gpu) == "gddr"


# Asked several times of each card for each count of it.
@lru_cache(maxsize=4096)
def traits(gpu: Gpu) -> CardTraits | None:
    """What the calibration asks of a card; None where its bandwidth is not known, from which everything else follows."""
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
    """How many times faster a prompt passes `count` cards that each hold a share of the layers than one card with all.

    The prompt goes in c pieces of `chunk_tokens`; c pieces pass n stations in c + n − 1 steps of 1/n of the time:
    c·n / (c + n − 1).
    Source: Huang et al. 2019, GPipe, section 2.3 (the bubble of a pipeline).
    """
    pieces = max(1, -(-prompt_tokens // chunk_tokens))
    return pieces * count / (pieces + count - 1)
