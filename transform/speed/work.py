"""The work of a model of text, with the figures that the calibration needs."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.flops import decode_flops, prefill_flops
from gpuledger.transform.sizing.memory import kv_cache_bytes
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights, weights
from gpuledger.transform.speed.features import Work
from gpuledger.transform.speed.links import EXCHANGES_PER_LAYER, Link, exchange_seconds
from gpuledger.transform.speed.peaks import fastest_matrix_tflops, matrix_tflops
from gpuledger.transform.speed.served import ServedWork

#: From this number of bits on, programs multiply the weights directly instead of unpacking them first.
_UNPACKED_BITS = 15.5


@functools.cache
def work_of(model_id: str, precision: str, written_at: int, prompt_tokens: int) -> Work:
    """The work of a model of the catalogue (see `work`)."""
    return work(catalogue.architecture(model_id), precision, written_at, prompt_tokens)


def work(shape: Architecture, precision: str, written_at: int, prompt_tokens: int, *, kv_bits: float = 16) -> Work:
    """The work of one sequence: a token that is written after `written_at` others, and a prompt of `prompt_tokens`.

    Raises SizingError if the precision is not known, or if a length is longer than the model allows.
    """
    size = weights(shape, precision)
    cache = kv_cache_bytes(shape, written_at, 1, kv_bits)
    flops = None if shape.kind == "encoder_decoder" else prefill_flops(shape, prompt_tokens)
    attention = flops.scores + flops.values if flops else 0
    return Work(
        weight_bytes=size.read_bytes(1),
        cache_bytes=cache,
        layers=shape.layers,
        hidden=shape.hidden,
        is_mixture=shape.experts > 1,
        weights="f16" if size.bits_per_weight >= _UNPACKED_BITS else "packed",
        flops_a_token=(flops.total - attention) / prompt_tokens if flops else 0.0,
        attention_flops_a_token=attention / prompt_tokens,
        prompt_tokens=prompt_tokens,
        shape=name_of(shape, size),
    )


def name_of(shape: Architecture, size: Weights) -> str:
    """What identifies a measured model, whatever its name."""
    return f"{shape.layers}x{shape.hidden}x{shape.vocab} at {size.bits_per_weight:.1f} bits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Sequences that `count` cards serve at once: `users` of them, each holding `held` tokens after a prompt of `prompt`."""

    users: int
    held: int
    prompt: int
    count: int
    kv_bits: float = 16


def served_work(shape: Architecture, size: Weights, batch: Batch, gpu: Gpu, link: Link) -> ServedWork:
    """What each card of a batch does if every card holds a part of every layer (see ServedWork). Raises SizingError."""
    first, count = size.read_bytes(1), batch.count
    # Cards that are more than the heads of the cache hold copies of it.
    kv_heads = min((layer.kv_heads for layer in shape.attention_kinds if layer.cached), default=1)
    return ServedWork(
        weight_bytes=first / count,
        further_bytes=(size.read_bytes(batch.users) - first) / count,
        cache_bytes=batch.users * kv_cache_bytes(shape, batch.held, 1, batch.kv_bits) / min(count, kv_heads),
        flops=batch.users * decode_flops(shape, batch.held).total / count,
        prompt_flops=prefill_flops(shape, batch.prompt).total / count,
        exchange_s=exchange_seconds(shape, batch.users, count, link),
        prompt_exchange_s=exchange_seconds(shape, batch.prompt, count, link),
        exchanges=EXCHANGES_PER_LAYER * shape.layers if count > 1 else 0,
        layers=shape.layers,
        is_mixture=shape.experts > 1,
        tflops=matrix_tflops(gpu, 16),
        narrow_tflops=fastest_matrix_tflops(gpu, size.bits_per_weight),
        shape=name_of(shape, size),
    )
