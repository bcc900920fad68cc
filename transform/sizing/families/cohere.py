"""Command R: attention and feed-forward read the same norm, which has only a gain, and the embeddings are tied.

Some of the models also have norms of query and key heads (`use_qk_norm`).

Source: Cohere 2024, model cards of Command R, R+ and R7B; Hugging Face transformers, models cohere and cohere2.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _build(config: Config, shape: decoder.Shape) -> Architecture:
    inner, bias = config.whole("intermediate_size"), config.flag("attention_bias", default=False)
    head_norms = config.flag("use_qk_norm", default=False)

    def vectors(layer: int) -> Iterator[Tensor]:
        if head_norms:  # each head has a gain of its own, heads do not share one
            yield blocks.vector("attn_q_norm", layer, shape.heads * shape.head_dim)
            yield blocks.vector("attn_k_norm", layer, shape.kv_heads * shape.head_dim)

    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner),
        style=decoder.Style(qkv_bias=bias, output_bias=bias, norms=("attn_norm",), extra_vectors=vectors),
    )


def _cohere(config: Config) -> Architecture:
    return _build(config, decoder.read_shape(config, tied=True))


def _cohere2(config: Config) -> Architecture:
    period = config.whole("sliding_window_pattern", "_sliding_window_pattern", default=4)
    layers, window = config.whole("num_hidden_layers"), config.optional_whole("sliding_window")
    windows = decoder.layer_windows(config, layers, window, lambda layer: (layer + 1) % period != 0)
    return _build(config, decoder.read_shape(config, tied=True, windows=windows))


FAMILIES = {"cohere": _cohere, "cohere2": _cohere2}
