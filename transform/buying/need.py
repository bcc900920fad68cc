"""What a model asks of cards: memory by their number, and how fast one of them can be."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.parallel import parallel_tokens_per_s
from gpuledger.transform.buying.performance import decode_bound, roofline_seconds
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.architecture import read_config
from gpuledger.transform.sizing.diffusion import DiffusionModel, diffusion_models, image_memory
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.flops import prefill_flops
from gpuledger.transform.sizing.memory import check_context, inference_memory, kv_cache_bytes
from gpuledger.transform.sizing.own import load
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import UNIFORM_BITS, normalise_precision, weights

#: Context where none is asked for, at most the model's own.
DEFAULT_CONTEXT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A model at one precision and context.

    `memory` gives the bytes needed on so many GPUs together. `bound` gives the tokens a second of one GPU of so many GB/s
    at most, `bound_of_empty_cache` the same before anything was written; both are None where nothing is written token by
    token. `several` gives the speed of so many GPUs from that of one. `splits` says that the model may be spread over them:
    an image model is not, each card makes its own pictures.
    """

    model_id: str
    precision: str
    context_tokens: int | None
    memory: Callable[[int], int]
    bound: Callable[[float], float] | None
    bound_of_empty_cache: Callable[[float], float] | None
    several: Callable[[float, int], float]
    splits: bool
    #: Bits of a weight on average; 0 where nothing is read token by token.
    weight_bits: float = 0
    #: Prompt tokens a second at most of so many GPUs, from the tera-operations and GB a second of one of them.
    prefill: Callable[[float, float, int], float] | None = None


def shape_of(model_id: str, own: Path) -> Architecture | DiffusionModel:
    """The model of that name, of the catalogue or added in the folder `own`. Raises UnknownModel with the known names."""
    if model_id in catalogue.models():
        return catalogue.architecture(model_id)
    if model_id in diffusion_models():
        return diffusion_models()[model_id]
    added = {one.model_id: one for one in load(own)[0]}
    if model_id in added:
        return read_config(added[model_id].config)
    raise catalogue.unknown(model_id, [*catalogue.models(), *diffusion_models(), *added])


def need_of(
    model_id: str, shape: Architecture | DiffusionModel, precision: str, context: int | None, assumptions: Assumptions
) -> Need:
    """What the model needs. Raises SizingError where the precision is not known or the context cannot be."""
    if isinstance(shape, DiffusionModel):
        if context is not None:
            raise SizingError("an image model has no context; leave it out")
        resident, activations = image_memory(shape, precision, 1, assumptions)
        return Need(
            model_id=model_id,
            precision=precision.lower(),
            context_tokens=None,
            memory=lambda count: resident + activations,
            bound=None,
            bound_of_empty_cache=None,
            several=lambda one, count: one * count,
            splits=False,
        )
    name = normalise_precision(precision)
    if name.isdigit():  # `4` says the same as `int4`, which is what the tables call it
        name = next(other for other, bits in UNIFORM_BITS.items() if not other.isdigit() and bits == int(name))
    tokens = min(DEFAULT_CONTEXT, shape.context) if context is None else context
    check_context(shape, tokens)
    size = weights(shape, name)
    cache = kv_cache_bytes(shape, tokens, 1, assumptions.kv_cache_bits)
    writes = shape.kind == "decoder"
    # An encoder-decoder reads one text and writes another: its prefill is none of a single prompt.
    flops = None if shape.kind == "encoder_decoder" else prefill_flops(shape, tokens).total

    def prefill(tflops: float, bandwidth: float, gpus: int) -> float:
        one = tokens / roofline_seconds(flops or 0, size.read_bytes(tokens), tflops, bandwidth)
        return parallel_tokens_per_s(one, shape, gpus, assumptions, batch=tokens)

    return Need(
        model_id=model_id,
        precision=name,
        context_tokens=tokens,
        # Asked for every card, and the same for all of them.
        memory=functools.cache(lambda gpus: inference_memory(shape, name, tokens, 1, assumptions, devices=gpus).total),
        bound=(lambda bandwidth: decode_bound(size, cache, bandwidth)) if writes else None,
        bound_of_empty_cache=(lambda bandwidth: decode_bound(size, 0, bandwidth)) if writes else None,
        several=lambda one, count: parallel_tokens_per_s(one, shape, count, assumptions),
        splits=True,
        weight_bits=size.bits_per_weight,
        prefill=None if flops is None else prefill,
    )
