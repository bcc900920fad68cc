"""What is known of a card that a speed depends on: its peak operations, its memory, and its other traits.

Peak operations are the published figures of the catalogue, else units × clock × operations in a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpuledger.transform.identity.gpu import MACHINE, Gpu

#: Multiply-adds of one tensor core in one cycle on dense 16-bit matrices, with 16-bit accumulation, which is the faster
#: kind. Source: NVIDIA's architecture white papers (Volta to Blackwell). GA100 and GA10B differ from the other Ampere
#: chips.
TENSOR_MULTIPLY_ADDS = {
    "Volta": 64,
    "Turing": 64,
    "Ampere": 128,
    "Ada Lovelace": 128,
    "Hopper": 512,
    "Blackwell 2.0": 128,
}
_CHIP_MULTIPLY_ADDS = {"GA100": 256, "GA10B": 256}

#: The rates of tensor cores on 8 and on 4 bits, in multiples of the 16-bit rate. There is no entry for a type that the
#: architecture does not have. Source: the same white papers. Volta multiplies only 16 bits, and Hopper dropped 4-bit
#: integers.
_NARROW_RATES = {
    "Turing": {8: 2, 4: 4},
    "Ampere": {8: 2, 4: 4},
    "Ada Lovelace": {8: 2, 4: 4},
    "Hopper": {8: 2},
    "Blackwell 2.0": {8: 2, 4: 4},
}

#: Architectures without matrix units (of Turing only the GTX 16 cards, of Apple the chips before the M5), and RDNA 3, whose
#: matrix units run at the shader rate that the catalogue states.
_SHADER_MATRIX = frozenset(
    {"Fermi", "Fermi 2.0", "Kepler", "Kepler 2.0", "Maxwell", "Maxwell 2.0", "Pascal", "Turing"}
    | {"Apple M1", "Apple M2", "Apple M3", "Apple M4"}
    | {"GCN 1.0", "GCN 2.0", "GCN 3.0", "GCN 4.0", "GCN 5.0", "GCN 5.1", "RDNA 1.0", "RDNA 2.0", "RDNA 3.0"}
)

#: The rates of these architectures on 8 and on 4 bits, in multiples of the 16-bit rate.
_NARROW_SHADER_RATES = {
    # Source: AMD's product page of the RX 7900 XTX.
    "RDNA 3.0": {8: 1, 4: 2},
    # Dot products of four 8-bit integers or eight 4-bit integers.
    # Source: AMD's instruction sets of RDNA 2 and Vega 7nm.
    "RDNA 2.0": {8: 2, 4: 4},
    "GCN 5.1": {8: 2, 4: 4},
    # Dot products of four 8-bit integers on the GTX 16 cards. Source: NVIDIA, Turing white paper.
    "Turing": {8: 2},
    # These shaders multiply only wide numbers.
    "Apple M1": {8: 1, 4: 1}, "Apple M2": {8: 1, 4: 1}, "Apple M3": {8: 1, 4: 1}, "Apple M4": {8: 1, 4: 1},
}  # fmt: skip
#: Intel's graphics with matrix engines (XMX). Their 16-bit rate is half of the published 8-bit rate.
#: Source: Intel, Xe-HPG architecture white paper (1,024 and 2,048 operations of a core in each clock).
_XMX = ("Xe-HPG", "Xe2-HPG")
#: Weights of 8 bits have scales, or embeddings of 16 bits beside them, so their average is a little above 8.
_WITH_SCALES = 9
#: Chips whose shaders multiply four 8-bit integers in the time of one wide number.
#: Source: NVIDIA Tesla P40 data sheet, 12 TFLOPS and 47 TOPS.
_DOT_PRODUCT_CHIPS = {"GP102": 4, "GP104": 4, "GP106": 4, "GP107": 4, "GP108": 4}

#: Widths at which an architecture is no faster than at its wider ones, or has no matrix rate. A missing rate at such a width
#: does not hide a faster one.
_NO_NARROWER = {
    "Volta": (8, 4), "Hopper": (4,), "CDNA 3.0": (4,), "Pascal": (8, 4), "Turing": (4,),
    "Maxwell": (8, 4), "Maxwell 2.0": (8, 4), "Kepler": (8, 4), "Kepler 2.0": (8, 4), "Fermi": (8, 4), "Fermi 2.0": (8, 4),
}  # fmt: skip


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
    per_core = _CHIP_MULTIPLY_ADDS.get(chip or "", TENSOR_MULTIPLY_ADDS.get(architecture))
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
    if bits not in published:
        raise ValueError(f"matrix rates are known for {', '.join(map(str, published))} bits, not {bits}")
    if published[bits] is not None:
        return published[bits]
    if gpu.tensor_cores and gpu.boost_clock_mhz and gpu.architecture:
        half = published[16] or tensor_tflops(gpu.tensor_cores, gpu.boost_clock_mhz, gpu.architecture, gpu.chip)
        factor = 1 if bits == 16 else _NARROW_RATES.get(gpu.architecture, {}).get(bits)
        return half * factor if half and factor else None
    if bits == 16 and published[8] is not None and gpu.architecture in _XMX:
        return published[8] / 2
    if gpu.architecture in _SHADER_MATRIX and not gpu.tensor_cores:
        narrow = _NARROW_SHADER_RATES.get(gpu.architecture, {}).get(bits)
        if bits == 8 and gpu.chip in _DOT_PRODUCT_CHIPS:
            narrow = _DOT_PRODUCT_CHIPS[gpu.chip]
        factor = 1 if bits == 16 else narrow
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
        if rate is None and bits not in _NO_NARROWER.get(gpu.architecture or "", ()):
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
