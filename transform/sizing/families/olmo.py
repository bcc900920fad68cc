"""OLMo 2: the shape of Llama, but with the norm after each part, and with norms of query and key over all heads together.

Source: OLMo Team 2025, 2 OLMo 2 Furious; Hugging Face transformers, model olmo2.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _olmo2(config: Config) -> Architecture:
    shape, inner = decoder.read_shape(config, tied=False), config.whole("intermediate_size")
    bias = config.flag("attention_bias", default=False)

    def vectors(layer: int) -> Iterator[Tensor]:
        yield blocks.vector("attn_q_norm", layer, shape.heads * shape.head_dim)
        yield blocks.vector("attn_k_norm", layer, shape.kv_heads * shape.head_dim)

    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner),
        style=decoder.Style(
            qkv_bias=bias, output_bias=bias, norms=("post_attention_norm", "post_ffw_norm"), extra_vectors=vectors
        ),
    )


FAMILIES = {"olmo2": _olmo2}
