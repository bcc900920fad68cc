"""Falcon: multi-query (7B) or grouped (40B, 180B) attention parallel to the feed-forward, one or two norms, tied embeddings.

Source: Almazrouei et al. 2023, The Falcon Series of Open Language Models; Hugging Face transformers, model falcon.
"""

from __future__ import annotations

import dataclasses

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture


def _falcon(config: Config) -> Architecture:
    new = config.flag("new_decoder_architecture", default=False)
    heads = config.whole("num_attention_heads", "n_head")
    hidden = config.whole("hidden_size")
    layers = config.whole("num_hidden_layers", "n_layer")
    if new:
        kv_heads = config.whole("num_kv_heads", "n_head_kv", default=heads)
    else:
        kv_heads = 1 if config.flag("multi_query", default=True) else heads
    shape = decoder.Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=config.head_dim(hidden, heads),
        vocab=config.whole("vocab_size"),
        context=config.whole("max_position_embeddings", default=2048),
        tied=config.flag("tie_word_embeddings", default=True),
        windows=(None,) * layers,
    )
    bias = config.flag("bias", default=False)
    two_norms = new or not config.flag("parallel_attn", default=True)
    inner = config.whole("ffn_hidden_size", default=4 * hidden)
    architecture = decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, hidden, inner, bias=bias),
        style=decoder.Style(
            qkv_bias=bias,
            output_bias=bias,
            fused_qkv=True,
            norms=("attn_norm", "attn_norm_2") if two_norms else ("attn_norm",),
            norm_bias=True,
        ),
    )
    return dataclasses.replace(architecture, model_type="falcon")


FAMILIES = {"falcon": _falcon, "RefinedWeb": _falcon, "RefinedWebModel": _falcon}
