"""Qwen3-Next: three of four layers are linear (Gated DeltaNet), and one has attention. All layers are mixtures of experts.

Whatever the length of the sequence, a linear layer keeps a matrix of key width × value width for each head, and the last
inputs of its short convolution. An extra layer predicts a second token. Ordinary use does not load it, and it is not
counted.
Source: Yang, Kautz & Hatamizadeh 2024 (Gated Delta Networks); transformers, model qwen3_next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor

#: Programs keep the state at 32 bits, because every token adds to it, and the convolution's inputs at 16 bits.
_STATE_BYTES, _CONVOLUTION_BYTES = 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linear:
    """The heads of a linear layer. Several heads of values share a head of keys."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int

    @property
    def mixed(self) -> int:
        """The width of query, key and value together."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    def tensors(self, layer: int, hidden: int) -> Iterator[Tensor]:
        """Query, key, value and gate in one matrix, decay and strength of each head, a convolution, a norm, the output."""
        values = self.value_heads * self.value_dim
        yield from blocks.matrix("ssm_in", layer, self.mixed + values, hidden)
        yield from blocks.matrix("ssm_ba", layer, 2 * self.value_heads, hidden)
        yield Tensor("ssm_conv1d", layer, self.mixed, self.kernel, "vector")
        yield blocks.vector("ssm_a", layer, self.value_heads)
        yield blocks.vector("ssm_dt_bias", layer, self.value_heads)
        yield blocks.vector("ssm_norm", layer, self.value_dim)
        yield from blocks.matrix("ssm_out", layer, hidden, values)

    def state(self) -> AttentionLayer:
        """The state that the layer keeps. A token updates and reads it, with two multiplications for each element."""
        size = self.key_dim * self.value_dim
        return AttentionLayer(
            heads=self.value_heads, key_dim=size, value_dim=size, cached=0, window=1,
            state_bytes=_STATE_BYTES * self.value_heads * size + _CONVOLUTION_BYTES * self.mixed * (self.kernel - 1),
        )  # fmt: skip


def _qwen3_next(config: Config) -> Architecture:
    shape = decoder.read_shape(config, tied=False)
    every = config.whole("full_attention_interval", default=4)
    inner, shared = config.whole("moe_intermediate_size"), config.whole("shared_expert_intermediate_size")
    experts, used = config.whole("num_experts"), config.whole("num_experts_per_tok")
    linear = _Linear(
        key_heads=config.whole("linear_num_key_heads"), value_heads=config.whole("linear_num_value_heads"),
        key_dim=config.whole("linear_key_head_dim"), value_dim=config.whole("linear_value_head_dim"),
        kernel=config.whole("linear_conv_kernel_dim"),
    )  # fmt: skip
    attends = [(layer + 1) % every == 0 for layer in range(shape.layers)]
    heads, width = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", shape.vocab, shape.hidden)
        for layer, is_full in enumerate(attends):
            yield from blocks.norm("attn_norm", layer, shape.hidden)
            if is_full:
                # The query matrix also holds a gate for the result of the attention.
                yield from blocks.matrix("attn_q", layer, 2 * heads, shape.hidden)
                yield from blocks.matrix("attn_k", layer, width, shape.hidden)
                yield from blocks.matrix("attn_v", layer, width, shape.hidden)
                yield from blocks.matrix("attn_output", layer, shape.hidden, heads)
                yield blocks.vector("attn_q_norm", layer, shape.head_dim)
                yield blocks.vector("attn_k_norm", layer, shape.head_dim)
            else:
                yield from linear.tensors(layer, shape.hidden)
            yield from blocks.norm("post_attention_norm", layer, shape.hidden)
            yield from blocks.routed_experts(layer, shape.hidden, inner, experts, used)
            yield from blocks.gated_ffn(layer, shape.hidden, shared, suffix="_shexp")
            yield from blocks.matrix("ffn_gate_inp_shexp", layer, 1, shape.hidden)
        yield from blocks.norm("output_norm", None, shape.hidden)
        if not shape.tied:
            yield from blocks.matrix("output", None, shape.vocab, shape.hidden)

    full = AttentionLayer(heads=shape.heads, key_dim=shape.head_dim, value_dim=shape.head_dim, cached=2 * width)
    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=shape.hidden,
        layers=shape.layers,
        vocab=shape.vocab,
        context=shape.context,
        tied=shape.tied,
        ffn=max(used * inner + shared, linear.mixed // 2),
        tensors=tuple(tensors()),
        attention=tuple(full if is_full else linear.state() for is_full in attends),
    )


FAMILIES = {"qwen3_next": _qwen3_next}
