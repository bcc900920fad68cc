"""Memory of cards as the driver shows it, what an engine leaves of it for a model, and whether the model fits."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.engines import Engine
from gpuledger.transform.speed.features import has_ecc_on, memory_kind

Verdict = Literal["fits", "tight", "no"]

#: Room left over, of what is usable, below which a fit is called tight: the next driver or a longer prompt takes it.
TIGHT_SHARE = 0.05

#: Part of GDDR memory that error correction takes.
#: Source: a 16 GB T4 shows 15,360 of 16,384 MiB, a 48 GB L40S 46,068 of 49,152.
_ECC_SHARE = 1 / 16
#: Part that the driver keeps otherwise. Source: an RTX 4090 shows 24,564 of 24,576 MiB, an RTX 5090 32,607 of 32,768.
_DRIVER_SHARE = 0.002
#: Part of a memory shared with the processor that graphics may take unless somebody raises it.
#: Source: Metal's recommendedMaxWorkingSetSize, as llama.cpp prints it: 48 of 64 GiB and 144 of 192, but 21.3 of 32 (also
#: stencel.io: 96 of 128 on an M1 Ultra, and 21 to 24 of 32); AMD gives up to 96 of the 128 GB of a Ryzen AI Max+ 395
#: (computerbase.de, September 2024). Linux lets graphics take about 108 of them where somebody raises it (modelfit.io).
_SHARED_SHARE = 0.75
_SMALL_APPLE_SHARE, _SMALL_APPLE_GIB = 2 / 3, 32


@dataclass(frozen=True, slots=True)
class DriverMemory:
    """Bytes that the driver reports for one GPU, and where the figure is from."""

    size: int
    source: str


@functools.cache
def _table() -> Mapping[str, DriverMemory]:
    words = tomllib.loads((Path(__file__).parent / "driver_memory.toml").read_text(encoding="utf-8"))
    return {
        gpu_id: DriverMemory(mib * 2**20, one["source"]) for one in words.values() for gpu_id, mib in one["mib"].items()
    }


# Asked of each card for each model and count of it.
@functools.lru_cache(maxsize=4096)
def driver_memory(gpu: Gpu) -> DriverMemory | None:
    """What the driver shows of one GPU's memory; None where not even its size is known."""
    listed = _table().get(gpu.gpu_id)
    if listed is not None:
        return listed
    if not gpu.memory_gb:
        return None
    sold = gpu.memory_gb * 2**30
    if memory_kind(gpu) == "shared":
        if gpu.vendor == "Apple" and gpu.memory_gb <= _SMALL_APPLE_GIB:
            return DriverMemory(
                round(sold * _SMALL_APPLE_SHARE), "two thirds of a memory shared with the processor (Metal)"
            )
        return DriverMemory(round(sold * _SHARED_SHARE), "three quarters of a memory shared with the processor")
    if has_ecc_on(gpu):
        return DriverMemory(round(sold * (1 - _ECC_SHARE)), "its size less the sixteenth that error correction takes")
    # Odd sizes of HBM are sold in decimal gigabytes (141 GB), round ones hold as many binary ones (80 GB).
    if memory_kind(gpu) == "hbm" and gpu.memory_gb % 8:
        return DriverMemory(round(gpu.memory_gb * 1e9), "its size in decimal gigabytes")
    return DriverMemory(round(sold * (1 - _DRIVER_SHARE)), "its size less what drivers keep")


def usable_bytes(per_gpu: float, count: int, engine: Engine, assumptions: Assumptions) -> int:
    """Bytes for weights, cache and activations on `count` GPUs of which the driver shows `per_gpu` bytes each, never below
    zero. llama.cpp's overhead is the assumption `device_overhead_gb`; the servers' is their own.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 card, not {count}")
    overhead = overhead_gb(engine, count, assumptions)
    return max(0, round((per_gpu * engine.memory_share - overhead * 1e9) * count))


def overhead_gb(engine: Engine, count: int, assumptions: Assumptions) -> float:
    """GB that the engine takes on each of `count` cards beside the model."""
    extra = engine.overhead_gb - 0.8  # what the engine takes more than a bare context and its buffers
    return assumptions.device_overhead_gb + extra + (engine.shared_overhead_gb if count > 1 else 0.0)


def verdict(needed: float, usable: float) -> Verdict:
    """`fits`, `tight` where less than 5% of what is usable is left over, or `no`."""
    if needed > usable:
        return "no"
    return "tight" if needed > usable * (1 - TIGHT_SHARE) else "fits"
