"""The work of a model of text, with the figures that the calibration needs."""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.running import decode_flops, kv_cache_bytes, prefill_flops
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights, weights
from gpuledger.transform.speed.cards import fastest_matrix_tflops, matrix_tflops
from gpuledger.transform.speed.links import EXCHANGES_PER_LAYER, Link, exchange_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of one sequence.

    To write a token, `weight_bytes` and `cache_bytes` (what the layers hold of the tokens before it) are read. To read a
    token of the prompt, `flops_a_token` operations are done with weights, and `attention_flops_a_token` with the tokens
    before it, and `piece_bytes` is its share of the weights that its piece reads. `hidden` is the width. `is_mixture`
    is true for a mixture of experts, and `kind` says what kind of model it is (see kind_of). `weights` is `f16` for 16 bits
    and more, else `packed`. `shape` identifies a measured model, whatever its name.
    """

    weight_bytes: float
    cache_bytes: float
    layers: int
    hidden: int
    is_mixture: bool
    weights: str
    flops_a_token: float
    attention_flops_a_token: float
    prompt_tokens: int
    piece_bytes: float = 0.0
    kind: str = "dense"
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedWork:
    """What one of the cards does in a step, and to read the prompt of one user.

    Bytes are read in a step: `weight_bytes` by any token, `further_bytes` of experts by the other users' tokens, and
    `cache_bytes` of all users. `flops` are the operations of a step, `prompt_flops` those of a prompt, and `prompt_bytes`
    the weights that its pieces of _SERVED_PIECE tokens read. `is_packed` is true of 4-bit whole numbers. `exchange_s` and
    `prompt_exchange_s` are the seconds of their exchanges at the rate of the link, and `exchanges` counts those of a step.
    Of the `layers` as many as `state_layers` keep a state, and `latent_layers` a compressed cache.
    `tflops` is the matrix rate at 16 bits, None if not known, and `narrow_tflops` the fastest for weights so narrow.
    """

    weight_bytes: float
    further_bytes: float
    cache_bytes: float
    flops: float
    prompt_flops: float
    prompt_bytes: float
    exchange_s: float
    prompt_exchange_s: float
    exchanges: int
    layers: int
    state_layers: int
    latent_layers: int
    prompt_tokens: int
    is_mixture: bool
    is_packed: bool
    tflops: float | None
    narrow_tflops: float | None
    kind: str
    shape: str


#: In how many tokens at once llama.cpp reads a prompt by default (--ubatch-size).
PIECE_TOKENS = 512
#: The same of vLLM (--max-num-batched-tokens).
_SERVED_PIECE = 2048
#: Experts that are published at 4 bits. Their models have programs and measurements of their own.
_PACKED_EXPERTS = ("mxfp4", "MXFP4_MOE")
#: From this number of bits on, programs multiply the weights directly instead of unpacking them first.
_UNPACKED_BITS = 15.5


def work(shape: Architecture, precision: str, written_at: int, prompt_tokens: int, *, kv_bits: float = 16) -> Work:
    """The work of one sequence: a token that is written after `written_at` others, and a prompt of `prompt_tokens`.

    Raises SizingError if the precision is not known, or if a length is longer than the model allows.
    """
    size = weights(shape, precision)
    cache = kv_cache_bytes(shape, written_at, 1, kv_bits)
    flops = None if shape.kind == "encoder_decoder" else prefill_flops(shape, prompt_tokens)
    attention = flops.scores + flops.values if flops else 0
    piece = min(PIECE_TOKENS, prompt_tokens)
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
        piece_bytes=size.read_bytes(piece) / piece,
        kind=kind_of(shape, size.precision),
        shape=name_of(shape, size),
    )


#: What `kind_of` says of a model whose shape is understood.
KINDS = ("dense", "mixture", "packed mixture", "linear dense", "linear mixture")


def kind_of(shape: Architecture, precision: str) -> str:
    """What kind of model it is to a program: `dense` or `mixture`, after `packed` if its experts are published at 4 bits,
    and after `linear` if layers keep a state in place of a cache. `not understood` if a part of its shape is only estimated.
    """
    if shape.estimated or shape.bound:
        return "not understood"
    if shape.experts > 1 and precision in _PACKED_EXPERTS:
        return "packed mixture"
    linear = "linear " if shape.state_layers else ""
    return linear + ("mixture" if shape.experts > 1 else "dense")


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
    # Pieces are filled with the prompts of several users.
    pieces = batch.prompt / min(_SERVED_PIECE, batch.users * batch.prompt)
    return ServedWork(
        weight_bytes=first / count,
        further_bytes=(size.read_bytes(batch.users) - first) / count,
        cache_bytes=batch.users * kv_cache_bytes(shape, batch.held, 1, batch.kv_bits) / min(count, kv_heads),
        flops=batch.users * decode_flops(shape, batch.held).total / count,
        prompt_flops=prefill_flops(shape, batch.prompt).total / count,
        prompt_bytes=pieces * size.read_bytes(min(_SERVED_PIECE, batch.prompt)) / count,
        exchange_s=exchange_seconds(shape, batch.users, count, link),
        prompt_exchange_s=exchange_seconds(shape, batch.prompt, count, link),
        exchanges=EXCHANGES_PER_LAYER * shape.layers if count > 1 else 0,
        layers=shape.layers,
        state_layers=shape.state_layers,
        latent_layers=sum(n for layer, n in shape.attention_kinds.items() if layer.decode_key_dim),
        prompt_tokens=batch.prompt,
        is_mixture=shape.experts > 1,
        is_packed=size.precision.startswith(("awq", "gptq-int4")),
        tflops=matrix_tflops(gpu, 16),
        narrow_tflops=fastest_matrix_tflops(gpu, size.bits_per_weight),
        kind=kind_of(shape, size.precision),
        shape=name_of(shape, size),
    )
