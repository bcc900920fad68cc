"""What is known of a card that a speed depends on: its peak operations, its memory, and its other traits.

Peak operations are the published figures of the catalogue, else units × clock × operations in a cycle."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpuledger.transform.identity.gpu import MACHINE, Gpu

#: The rates of matrix units and shaders, by architecture and chip.
_RATES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Intel's graphics with matrix engines (XMX). Their 16-bit rate is half of the published 8-bit rate.
#: Source: Intel, Xe-HPG architecture white paper (1,024 and 2,048 operations of a core in each clock).
_XMX = ("Xe-HPG", "Xe2-HPG")
#: Weights of 8 bits have scales, or embeddings of 16 bits beside them, so their average is a little above 8.
_WITH_SCALES = 9


def peak_flops(clock_hz: float, units: int, operations_per_cycle: float) -> float:
    """Peak floating-point operations a second: clock × units × operations of a unit in one cycle.

    A fused multiply-add counts as 2 operations. Source: the third source document; 1.3 GHz × 1 unit × 2 = 2.6 GFLOPS.
    """
    return clock_hz * units * operations_per_cycle


def tensor_tflops(
    tensor_cores: int, boost_clock_mhz: float, architecture: str, chip: str | None = None
) -> float | None:
    """Peak dense 16-bit TFLOPS of NVIDIA's tensor cores, None for an architecture whose rate is not in our table.

    RTX 4090: 512 × 2 × 128 × 2.52 GHz = 330; A100: 432 × 2 × 256 × 1.41 GHz = 312.
    """
    per_core = _RATES["tensor_of_chip"].get(chip or "") or _RATES["tensor"].get(architecture, {}).get("multiply_adds")
    if per_core is None or not tensor_cores:
        return None
    return peak_flops(boost_clock_mhz * 1e6, tensor_cores, 2 * per_core) / 1e12


# Cached, because this is called several times for each card and each number of cards.
@lru_cache(maxsize=8192)
def matrix_tflops(gpu: Gpu, bits: int) -> float | None:
    """Peak dense matrix operations of a card at 32, 16, 8 or 4 bits, in tera-operations a second. None if not known.

    It is the published figure of the catalogue, else tensor cores × clock, else, for cards without matrix units, the shader
    rate. A bound must not be too low. So if nobody published the rate of the matrix units, the shader rate does not replace
    it.
    """
    published = {
        32: gpu.fp32_tflops,
        16: _highest(gpu.tensor_fp16_tflops, gpu.tensor_bf16_tflops),
        8: _highest(gpu.tensor_int8_tops, gpu.tensor_fp8_tflops),
        4: _highest(gpu.tensor_fp4_tflops, gpu.tensor_int4_tops),
    }
    if published[bits] is not None:
        return published[bits]
    if gpu.tensor_cores and gpu.boost_clock_mhz and gpu.architecture:
        half = published[16] or tensor_tflops(gpu.tensor_cores, gpu.boost_clock_mhz, gpu.architecture, gpu.chip)
        factor = 1 if bits == 16 else _RATES["tensor"].get(gpu.architecture, {}).get(str(bits))
        return half * factor if half and factor else None
    if bits == 16 and published[8] is not None and gpu.architecture in _XMX:
        return published[8] / 2
    if gpu.architecture in _RATES["shader"] and not gpu.tensor_cores:
        of_chip = _RATES["shader_of_chip"].get(gpu.chip or "") if bits == 8 else None
        factor = 1 if bits == 16 else of_chip or _RATES["shader"][gpu.architecture].get(str(bits))
        half = _highest(gpu.fp16_tflops, gpu.fp32_tflops)
        return half * factor if half and factor else None
    return None


@lru_cache(maxsize=8192)
def fastest_matrix_tflops(gpu: Gpu, weight_bits: float) -> float | None:
    """The highest matrix rate of a card, in tera-operations a second, at any width that holds weights of `weight_bits` bits.

    Programs multiply narrow weights at their own width or at a wider one (5 bits at 8 or 16), so this bounds all programs.
    None if one of these rates is not known.
    """
    # A file of 16-bit matrices keeps a few vectors at 32 bits, so its average is slightly above 16.
    narrowest = round(weight_bits, 1)
    if narrowest > 16:
        return matrix_tflops(gpu, 32)
    rates = []
    for bits in (16, 8, 4):
        if narrowest > (bits if bits != 8 else _WITH_SCALES):
            break
        rate = matrix_tflops(gpu, bits)
        if rate is None and bits not in _RATES["no_narrower"].get(gpu.architecture or "", ()):
            return None
        rates.append(rate)
    return _highest(*rates)


def _highest(*rates: float | None) -> float | None:
    return max((rate for rate in rates if rate is not None), default=None)


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
