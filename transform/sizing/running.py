"""What it takes to run a model: the memory on the card (weights, key-value cache, activations), and the operations.

All amounts of memory are in bytes. Results that are shown use 1 GB = 10^9 bytes, as cards are sold; the 24 GB of a card are
a little more.

A multiplication and an addition are two operations. The count includes every matrix that a token passes, and the score and
value products of attention. It does not include norms, activations, softmax and rotations, which are less than a hundredth
of the total in the models that people use.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, count_parameters
from gpuledger.transform.sizing.weights import weights


@dataclass(frozen=True, slots=True)
class InferenceMemory:
    """Bytes by purpose. `total` is their sum. The memory that driver and runtime take is not in it (see speed/memory.py)."""

    weights: int
    kv_cache: int
    activations: int

    @property
    def total(self) -> int:
        """Bytes needed in all."""
        return self.weights + self.kv_cache + self.activations


def check_context(architecture: Architecture, context: int) -> None:
    """Raises ContextTooLong if the model was trained for fewer than `context` tokens, SizingError if that is below 1."""
    if context < 1:
        raise SizingError("a context must have at least 1 token, not {context}", context=context)
    if context > architecture.context:
        raise ContextTooLong(
            "a context of {context} tokens is beyond the {context2} that this {model_type} model was trained for; "
            "ask for {context2} or fewer, or take {longer: or }", context=context, context2=architecture.context,
            model_type=architecture.model_type, longer=architecture.longer or (Message("a model with a longer context"),),
        )  # fmt: skip


def kv_bytes_per_token(architecture: Architecture, bits: float = 16) -> int:
    """Bytes that one token adds to the cache as long as no window is full.

    Σ over layers of 2 × kv_heads × head_dim × bits / 8 (keys and values), or (kv_lora_rank + rope_dim) × bits / 8 for
    latent attention. Source: Pope et al. 2022, "Efficiently Scaling Transformer Inference"; DeepSeek-AI 2024,
    DeepSeek-V2, table 1. Encoders keep nothing, so theirs are 0.
    """
    return int(sum(layer.cached for layer in architecture.attention) * bits // 8)


def state_bytes(architecture: Architecture) -> int:
    """Bytes of state that each sequence keeps, whatever its length, at the precision that programs use for it."""
    return sum(layer.state_bytes * count for layer, count in architecture.attention_kinds.items())


def kv_cache_bytes(
    architecture: Architecture, context: int, batch: int = 1, bits: float = 16, *, piece: int = 0
) -> int:
    """Bytes of the cache for `batch` sequences of `context` tokens.

    A layer with a sliding window keeps only the window, and a layer with a state keeps only the state. A program that reads
    prompts in pieces of `piece` tokens keeps the piece beside the window. Raises ContextTooLong.
    """
    check_context(architecture, context)
    elements = 0
    for layer, count in architecture.attention_kinds.items():
        tokens_kept = min(context, layer.window + piece) if layer.window else context
        elements += layer.cached * tokens_kept * count
    return int(elements * batch * bits // 8) + batch * state_bytes(architecture)


def activation_bytes(architecture: Architecture, tokens: int, batch: int = 1) -> int:
    """An estimate of the largest temporary tensors while `tokens` tokens of each of `batch` sequences pass one layer.

    It adds up the tensors that exist at the same time: the residual stream and its normed copy (2 × hidden), the widest of
    the projections (query, key and value, or gate and up of the feed-forward), and the 32-bit scores over the vocabulary for
    the last token of each sequence. Attention scores are not stored (FlashAttention; Dao et al. 2022). Runtimes differ, so
    this is an estimate and not a bound.
    """
    layers = [layer for layer in architecture.attention_kinds if not layer.state_bytes]
    attention = max((layer.heads * (layer.key_dim + layer.value_dim) for layer in layers), default=0)
    widest = max(2 * architecture.ffn, attention + max((layer.cached for layer in layers), default=0))
    stream = batch * tokens * (2 * architecture.hidden + widest) * 2
    logits = batch * architecture.vocab * 4 if architecture.kind != "encoder" else 0
    return stream + logits


def inference_memory(
    architecture: Architecture, precision: str, context: int, batch: int, assumptions: Assumptions
) -> InferenceMemory:
    """The memory that a card needs to run `batch` sequences of `context` tokens.

    The prompt is read in pieces of `prefill_chunk_tokens`, so the activations stop growing with the context at that length.
    Raises ContextTooLong, UnknownPrecision.
    """
    chunk = min(context, assumptions.prefill_chunk_tokens)
    return InferenceMemory(
        weights=weights(architecture, precision).total,
        kv_cache=kv_cache_bytes(architecture, context, batch, assumptions.kv_cache_bits),
        activations=activation_bytes(architecture, chunk, batch),
    )


Logits = Literal["all", "last"]


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """Operations by purpose. `total` is their sum, and `rule_of_thumb` is 2 × active parameters × tokens, for comparison."""

    projections: int
    scores: int
    values: int
    output: int
    rule_of_thumb: int

    @property
    def total(self) -> int:
        """All operations counted."""
        return self.projections + self.scores + self.values + self.output


def prefill_flops(
    architecture: Architecture, tokens: int, batch: int = 1, *, causal: bool = True, logits: Logits = "last"
) -> ForwardFlops:
    """Operations of a forward pass over `batch` prompts of `tokens` tokens.

    A query is multiplied with the keys up to its own position, within the window: Σ min(t, window). If `causal` is False,
    a query is multiplied with all keys: encoders always do so, and so do kernels that mask pairs instead of skipping them.
    `logits` says whether the output projection runs on the `last` token only, as in answering, or on `all` tokens, as in
    training. Raises ContextTooLong.
    """
    _check_one_sequence(architecture)
    check_context(architecture, tokens)
    causal = causal and architecture.kind == "decoder"
    scores = values = 0
    for layer, count in architecture.attention_kinds.items():
        pairs = count * _pairs(tokens, layer, causal=causal)
        scores += 2 * layer.heads * layer.key_dim * pairs
        values += 2 * layer.heads * layer.value_dim * pairs
    output = _output_weights(architecture)
    rows = tokens if logits == "all" else 1
    body = _body_weights(architecture)
    return ForwardFlops(
        projections=2 * body * tokens * batch,
        scores=scores * batch,
        values=values * batch,
        output=2 * output * rows * batch,
        rule_of_thumb=2 * count_parameters(architecture).active * tokens * batch,
    )


def decode_flops(architecture: Architecture, context: int, batch: int = 1) -> ForwardFlops:
    """Operations of one new token for each of `batch` sequences. `context` is their length with the new token.

    Latent attention counts in its compressed form, as inference engines compute it. Raises ContextTooLong.
    """
    _check_one_sequence(architecture)
    check_context(architecture, context)
    if architecture.kind != "decoder":
        raise SizingError(
            "a {model_type} model does not write token by token; ask for its prefill",
            model_type=architecture.model_type,
        )
    scores = values = 0
    for layer, count in architecture.attention_kinds.items():
        reach = count * (min(context, layer.window) if layer.window else context)
        scores += 2 * layer.heads * (layer.decode_key_dim or layer.key_dim) * reach
        values += 2 * layer.heads * (layer.decode_value_dim or layer.value_dim) * reach
    return ForwardFlops(
        projections=2 * _body_weights(architecture) * batch,
        scores=scores * batch,
        values=values * batch,
        output=2 * _output_weights(architecture) * batch,
        rule_of_thumb=2 * count_parameters(architecture).active * batch,
    )


def _check_one_sequence(architecture: Architecture) -> None:
    if architecture.kind == "encoder_decoder":
        raise SizingError(
            "a {model_type} model reads one sequence and writes another, so one length does not give its operations; "
            "ask for its encoder or its decoder alone", model_type=architecture.model_type,
        )  # fmt: skip


def _pairs(tokens: int, layer: AttentionLayer, *, causal: bool) -> int:
    """How many query-key pairs each head multiplies. A layer with a state multiplies one pair for each token."""
    if not causal and not layer.state_bytes:
        return tokens * tokens
    window = min(layer.window or tokens, tokens)
    return window * (window + 1) // 2 + (tokens - window) * window


@functools.lru_cache(maxsize=256)
def _output_weights(architecture: Architecture) -> int:
    if architecture.tied:
        return architecture.vocab * architecture.hidden
    return sum(tensor.parameters for tensor in architecture.tensors if tensor.role == "output")


@functools.lru_cache(maxsize=256)
def _body_weights(architecture: Architecture) -> int:
    """Weights of the matrices inside the layers that a token is multiplied with."""
    return sum(
        tensor.active_parameters
        for tensor in architecture.tensors
        if tensor.kind == "matrix" and tensor.role not in ("output", "pooler", "text_projection")
    )
