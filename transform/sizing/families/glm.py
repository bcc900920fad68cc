"""GLM-4.5: grouped attention with biases on query, key and value. Dense first layers, then shared and routed experts.

An extra layer predicts a second token. Ordinary use does not load it, and it is not counted.
Source: GLM-4.5 Team 2025; Hugging Face transformers, model glm4_moe.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _glm4_moe(config: Config) -> Architecture:
    shape = decoder.read_shape(config, tied=False)
    inner, expert_inner = config.whole("intermediate_size"), config.whole("moe_intermediate_size")
    experts, used = config.whole("n_routed_experts"), config.whole("num_experts_per_tok")
    shared = config.whole("n_shared_experts", default=1) * expert_inner
    dense = config.whole("first_k_dense_replace")

    def ffn_tensors(layer: int) -> Iterator[Tensor]:
        if layer < dense:
            yield from blocks.gated_ffn(layer, shape.hidden, inner)
            return
        yield from blocks.routed_experts(layer, shape.hidden, expert_inner, experts, used)
        yield from blocks.gated_ffn(layer, shape.hidden, shared, suffix="_shexp")
        yield blocks.vector("exp_probs_b", layer, experts)

    return decoder.build(
        config,
        shape,
        ffn=max(inner, used * expert_inner + shared),
        ffn_tensors=ffn_tensors,
        style=decoder.Style(
            qkv_bias=config.flag("attention_bias", default=False),
            qk_norm=config.flag("use_qk_norm", default=False),
            norms=("attn_norm", "post_attention_norm"),
        ),
    )


FAMILIES = {"glm4_moe": _glm4_moe}
