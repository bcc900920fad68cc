"""The exact number of floating-point operations of a forward pass, and the rule of thumb for comparison.

A multiplication and an addition are two operations. The count includes every matrix that a token passes, and the score and
value products of attention. It does not include norms, activations, softmax and rotations, which are less than a hundredth
of the total in the models that people use.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.architecture import count_parameters
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.memory import check_context
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer

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
        raise SizingError(Message("model.model_not_write_token_token", model_type=architecture.model_type))
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
        raise SizingError(Message("model.model_reads_sequence_writes_another", model_type=architecture.model_type))


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
