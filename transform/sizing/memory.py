"""Memory that a model needs on the card to answer: weights, key-value cache and activations.

All amounts are in bytes. Results that are shown use 1 GB = 10^9 bytes, as cards are sold; the 24 GB of a card are a little
more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError
from gpuledger.transform.sizing.tensors import Architecture
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

    def on_cards(self, count: int) -> InferenceMemory:
        """The memory on `count` cards together. Each card holds activations of its own."""
        return replace(self, activations=self.activations * count)


def check_context(architecture: Architecture, context: int) -> None:
    """Raises ContextTooLong if the model was trained for fewer than `context` tokens, SizingError if that is below 1."""
    if context < 1:
        raise SizingError(Message("model.context_least_1_token_not", context=context))
    if context > architecture.context:
        raise ContextTooLong(
            Message(
                "model.context_tokens_beyond_model_trained",
                context=context,
                context2=architecture.context,
                model_type=architecture.model_type,
            )
        )


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


def activation_bytes(architecture: Architecture, tokens: int, batch: int = 1, bits: int = 16) -> int:
    """An estimate of the largest temporary tensors while `tokens` tokens of each of `batch` sequences pass one layer.

    It adds up the tensors that exist at the same time: the residual stream and its normed copy (2 × hidden), the widest of
    the projections (query, key and value, or gate and up of the feed-forward), and the 32-bit scores over the vocabulary for
    the last token of each sequence. Attention scores are not stored (FlashAttention; Dao et al. 2022). Runtimes differ, so
    this is an estimate and not a bound.
    """
    layers = [layer for layer in architecture.attention if not layer.state_bytes]
    attention = max((layer.heads * (layer.key_dim + layer.value_dim) for layer in layers), default=0)
    widest = max(2 * architecture.ffn, attention + max((layer.cached for layer in layers), default=0))
    stream = batch * tokens * (2 * architecture.hidden + widest) * bits // 8
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
