"""The work of a model of text, with the figures that the calibration needs."""

from __future__ import annotations

import functools

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.flops import prefill_flops
from gpuledger.transform.sizing.memory import kv_cache_bytes
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import weights
from gpuledger.transform.speed.features import Work

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
    flops = 0.0 if shape.kind == "encoder_decoder" else prefill_flops(shape, prompt_tokens).total / prompt_tokens
    return Work(
        bytes_a_token=size.read_bytes(1) + cache,
        layers=shape.layers,
        hidden=shape.hidden,
        is_mixture=shape.experts > 1,
        weights="f16" if size.bits_per_weight >= _UNPACKED_BITS else "packed",
        flops_a_token=flops,
        prompt_tokens=prompt_tokens,
        shape=f"{shape.layers}x{shape.hidden}x{shape.vocab} at {size.bits_per_weight:.1f} bits",
    )
