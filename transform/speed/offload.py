"""Leaves the part of a model that does not fit on the cards with the processor, as llama.cpp does.

llama.cpp's `--n-cpu-moe` leaves the experts of some layers of a mixture in the memory of the machine. Its `-ngl` leaves
whole layers of any model there, with their share of the cache. The processor reads them there for each token.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights
from gpuledger.transform.speed.engines import Engine
from gpuledger.transform.speed.links import Slot

Offload = Literal["none", "experts", "layers"]
OFFLOADS: tuple[str, ...] = get_args(Offload)

#: Programs that can leave weights with the processor and compute with them there.
PROGRAMS = ("llama.cpp", "ollama")
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
    if engine.name not in PROGRAMS:
        raise SizingError(Message("model.leaves_no_weights_processor", engine=engine.name, programs=tuple(PROGRAMS)))
    if offload == "experts" and shape.experts == 1:
        raise SizingError(Message("model.model_no_experts"))
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
