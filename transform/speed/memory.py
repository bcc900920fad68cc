"""The memory of cards: as the driver shows it, what an engine leaves of it for a model, and whether the model fits.

What does not fit stays with the processor, as llama.cpp does it: its `--n-cpu-moe` leaves the experts of some layers of a
mixture in the memory of the machine, and its `-ngl` whole layers of any model, with their share of the cache. The processor
reads them there for each token.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from gpuledger.message import Label, Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights
from gpuledger.transform.speed.cards import has_ecc_on, memory_kind
from gpuledger.transform.speed.engines import Engine
from gpuledger.transform.speed.links import Slot

Verdict = Literal["fits", "tight", "no"]

#: If less than this share of the usable memory stays free, a fit is called tight, because the next driver or a longer prompt
#: may need more.
TIGHT_SHARE = 0.05

#: The part of GDDR memory that error correction takes.
#: Source: a 16 GB T4 shows 15,360 of 16,384 MiB, a 48 GB L40S 46,068 of 49,152.
_ECC_SHARE = 1 / 16
#: The part that the driver keeps on other cards. Source: an RTX 4090 shows 24,564 of 24,576 MiB, an RTX 5090 32,607 of
#: 32,768.
_DRIVER_SHARE = 0.002
#: The part of a memory shared with the processor that the graphics may take by default.
#: Source: Metal's recommendedMaxWorkingSetSize, as llama.cpp prints it: 48 of 64 GiB and 144 of 192, but 21.3 of 32 (also
#: stencel.io: 96 of 128 on an M1 Ultra, and 21 to 24 of 32); AMD gives up to 96 of the 128 GB of a Ryzen AI Max+ 395
#: (computerbase.de, September 2024).
_SHARED_SHARE = 0.75
_SMALL_APPLE_SHARE, _SMALL_APPLE_GIB = 2 / 3, 32
#: To what share its owner can raise that limit and leave the system enough. Source: 112 of 128 GiB (ttm.pages_limit;
#: antirez/ds4#16), 56 of 64 on an M2 Max (iogpu.wired_limit_mb; jundot/omlx#1533). 120 of 128 ran out.
_RAISED_SHARE = 7 / 8


@dataclass(frozen=True, slots=True)
class DriverMemory:
    """Bytes that the driver reports for one GPU, where the figure comes from, and to how many its owner can raise them."""

    size: int
    source: Message | Label
    raised: int = 0


@functools.cache
def _table() -> Mapping[str, DriverMemory]:
    sections = tomllib.loads((Path(__file__).parent / "driver_memory.toml").read_text(encoding="utf-8"))
    return {
        gpu_id: DriverMemory(mib * 2**20, Label(section["source"]))
        for section in sections.values()
        for gpu_id, mib in section["mib"].items()
    }


# Cached, because this is called for each card with each model and each number of cards.
@functools.lru_cache(maxsize=4096)
def driver_memory(gpu: Gpu) -> DriverMemory | None:
    """The memory of one GPU as the driver shows it, None if not even its size is known."""
    listed = _table().get(gpu.gpu_id)
    if listed is not None:
        return listed
    if not gpu.memory_gb:
        return None
    sold = gpu.memory_gb * 2**30
    if memory_kind(gpu) == "shared":
        share, source = _SHARED_SHARE, Message("three quarters of a memory shared with the processor")
        if gpu.vendor == "Apple" and gpu.memory_gb <= _SMALL_APPLE_GIB:
            share, source = _SMALL_APPLE_SHARE, Message("two thirds of a memory shared with the processor (Metal)")
        return DriverMemory(round(sold * share), source, raised=round(sold * _RAISED_SHARE))
    if has_ecc_on(gpu):
        return DriverMemory(
            round(sold * (1 - _ECC_SHARE)), Message("its size less the sixteenth that error correction takes")
        )
    # HBM of odd sizes is sold in decimal gigabytes (141 GB). Round sizes (80 GB) are in binary gigabytes.
    if memory_kind(gpu) == "hbm" and gpu.memory_gb % 8:
        return DriverMemory(round(gpu.memory_gb * 1e9), Message("its size in decimal gigabytes"))
    return DriverMemory(round(sold * (1 - _DRIVER_SHARE)), Message("its size less what drivers keep"))


def usable_bytes(per_gpu: float, count: int, engine: Engine, assumptions: Assumptions) -> int:
    """Bytes for weights, cache and activations on `count` GPUs, if the driver shows `per_gpu` bytes for each. Never
    negative.

    The overhead of llama.cpp is the assumption `device_overhead_gb`. Servers have an overhead of their own.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 card, not {count}")
    overhead = overhead_gb(engine, count, assumptions)
    return max(0, round((per_gpu * share_of(engine, assumptions) - overhead * 1e9) * count))


def share_of(engine: Engine, assumptions: Assumptions) -> float:
    """The part of a card's memory that the engine takes: of servers an assumption, of the others all."""
    return assumptions.server_memory_share if engine.tried_tokens else 1.0


def overhead_gb(engine: Engine, count: int, assumptions: Assumptions) -> float:
    """GB that the engine takes on each of `count` cards in addition to the model."""
    extra = engine.overhead_gb - 0.8  # what the engine takes in addition to a bare context and its buffers
    return assumptions.device_overhead_gb + extra + (engine.shared_overhead_gb if count > 1 else 0.0)


def verdict(needed: float, usable: float) -> Verdict:
    """`fits`, `tight` if less than 5% of the usable memory stays free, or `no`."""
    if needed > usable:
        return "no"
    return "tight" if needed > usable * (1 - TIGHT_SHARE) else "fits"


Offload = Literal["none", "experts", "layers"]

#: Programs that can leave weights with the processor and compute with them there.
OFFLOADING_PROGRAMS = ("llama.cpp", "ollama")
#: The part of the machine's memory that a model may take. Own choice: the system needs a tenth.
_MEMORY_SHARE = 0.9


class HostMemory(NamedTuple):
    """The machine around the cards: its memory in GB, GB/s of one processor, where both figures come from, and its slots."""

    gb: float
    gb_s: float
    source: str
    slot: Slot | None = None


class Moved(NamedTuple):
    """The part of a model that stays with the processor: `layers` out of `of_layers`.

    `size` is the number of their bytes, and `bytes_a_token` how many of these a token of one sequence reads.
    """

    what: Offload
    layers: int
    of_layers: int
    size: int
    bytes_a_token: float


def check_offload(offload: Offload, engine: Engine, shape: Architecture) -> Offload:
    """Returns `offload` if the program can do it with the model, else raises SizingError."""
    if offload == "none":
        return offload
    if engine.name not in OFFLOADING_PROGRAMS:
        raise SizingError(
            "{engine} leaves no weights with the processor; {programs: and } do", engine=engine.name,
            programs=OFFLOADING_PROGRAMS,
        )  # fmt: skip
    if offload == "experts" and shape.experts == 1:
        raise SizingError("this model has no experts; --offload layers leaves whole layers with the processor")
    return offload


class Held(NamedTuple):
    """What cards and processor must hold: the weights of a model, and the cache of all users (`cache`).

    `cache_written` is the average cache of one sequence while it writes.
    """

    shape: Architecture
    size: Weights
    cache: int
    cache_written: int


def layers_to_move(held: Held, offload: Offload, excess: int, host: HostMemory | None) -> Moved | None:
    """The fewest layers that must move so that the cards hold `excess` bytes less.

    None if `offload` is `none`, if the model has no experts to move, or if the machine has no room for the layers.
    """
    if offload == "none" or host is None:
        return None
    of_layers, each, bytes_read = _of_experts(held) if offload == "experts" else _of_layers(held)
    if not of_layers or not each:
        return None
    layers = math.ceil(excess / each)
    embedding = held.size.total - held.size.on_cards
    if layers > of_layers or layers * each + embedding > host.gb * 1e9 * _MEMORY_SHARE:
        return None
    return Moved(offload, layers, of_layers, round(layers * each), layers * bytes_read)


def _of_experts(held: Held) -> tuple[int, float, float]:
    """The number of layers with experts, the bytes of one layer's experts, and how many of these a token reads."""
    layers = len({tensor.layer for tensor in held.shape.tensors if tensor.experts > 1})
    if not layers:
        return 0, 0.0, 0.0
    return layers, held.size.expert / layers, (held.size.read_bytes(1) - held.size.always_read) / layers


def _of_layers(held: Held) -> tuple[int, float, float]:
    """The number of layers, the bytes of one layer with its cache, and how many of these a token reads.

    All layers count as equal. The output matrix counts as one more layer, as it does for `-ngl`.
    """
    layers = held.shape.layers
    bytes_read = held.size.read_bytes(1) + held.cache_written
    return layers, (held.size.on_cards + held.cache) / (layers + 1), bytes_read / (layers + 1)
