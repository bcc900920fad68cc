"""What does not fit on the cards stays with the processor, as llama.cpp does it: experts first, or whole layers.

Of a mixture `--n-cpu-moe` leaves the experts of some layers in the memory of the machine, of any model `-ngl` whole
layers with their share of the cache. The processor reads them there, a token at a time.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights
from gpuledger.transform.speed.engines import Engine

Offload = Literal["none", "experts", "layers"]
OFFLOADS: tuple[str, ...] = get_args(Offload)

#: Programs that can leave weights with the processor and compute there.
PROGRAMS = ("llama.cpp", "ollama")
#: Part of the machine's memory that a model may take. Own choice: a tenth is the system's.
_MEMORY_SHARE = 0.9


class HostMemory(NamedTuple):
    """Memory of the machine around the cards: GB, GB/s of one processor, and where both are from."""

    gb: float
    gb_s: float
    source: str


class Moved(NamedTuple):
    """What stays with the processor: `layers` of `of_layers`, their bytes, and those that a token of one sequence reads."""

    what: Offload
    layers: int
    of_layers: int
    size: int
    bytes_a_token: float


def check_offload(offload: Offload, engine: Engine, shape: Architecture) -> Offload:
    """`offload`, where that program can do it with that model. Raises SizingError otherwise."""
    if offload == "none":
        return offload
    if engine.name not in PROGRAMS:
        raise SizingError(f"{engine.name} leaves no weights with the processor; {' and '.join(PROGRAMS)} do")
    if offload == "experts" and shape.experts == 1:
        raise SizingError("this model has no experts; --offload layers leaves whole layers with the processor")
    return offload


class Held(NamedTuple):
    """What is to be held: the weights of a model, the cache of all users, and what a sequence holds while it writes."""

    shape: Architecture
    size: Weights
    cache: int
    cache_written: int


def moved(held: Held, offload: Offload, excess: int, host: HostMemory | None) -> Moved | None:
    """The fewest layers whose removal takes `excess` bytes off the cards; None where that is not asked for or not
    possible: a model without experts has none to move, and the machine has to have room.
    """
    if offload == "none" or host is None:
        return None
    of_layers, each, read = _of_experts(held) if offload == "experts" else _of_layers(held)
    if not of_layers or not each:
        return None
    layers = math.ceil(excess / each)
    embedding = held.size.total - held.size.on_cards
    if layers > of_layers or layers * each + embedding > host.gb * 1e9 * _MEMORY_SHARE:
        return None
    return Moved(offload, layers, of_layers, round(layers * each), layers * read)


def _of_experts(held: Held) -> tuple[int, float, float]:
    """Layers with experts, the bytes of the experts of one, and those that a token reads of them."""
    layers = len({tensor.layer for tensor in held.shape.tensors if tensor.experts > 1})
    if not layers:
        return 0, 0.0, 0.0
    return layers, held.size.expert / layers, (held.size.read_bytes(1) - held.size.always_read) / layers


def _of_layers(held: Held) -> tuple[int, float, float]:
    """The same of whole layers with their cache: the output matrix counts as one more, as for `-ngl`, and all as alike."""
    layers = held.shape.layers
    read = held.size.read_bytes(1) + held.cache_written
    return layers, (held.size.on_cards + held.cache) / (layers + 1), read / (layers + 1)
