"""Models of code: StarCoder (GPT-2's shape with one key-value head), StarCoder 2 (grouped attention, sliding window).

Source: Li et al. 2023 (StarCoder), Lozhkov et al. 2024 (StarCoder 2); Hugging Face transformers, models gpt_bigcode and
starcoder2.
"""

from __future__ import annotations

import dataclasses

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture


def _gpt_bigcode(config: Config) -> Architecture:
    hidden, layers, heads = config.whole("n_embd"), config.whole("n_layer"), config.whole("n_head")
    shape = decoder.Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=1 if config.flag("multi_query", default=True) else heads,
        head_dim=config.head_dim(hidden, heads),
        vocab=config.whole("vocab_size"),
        context=config.whole("n_positions", default=1024),
        tied=config.flag("tie_word_embeddings", default=True),
        windows=(None,) * layers,
    )
    inner = config.whole("n_inner", default=4 * hidden)
    architecture = decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, hidden, inner, bias=True),
        style=decoder.Style(qkv_bias=True, output_bias=True, fused_qkv=True, norm_bias=True),
    )
    positions = blocks.embedding("position_embd", shape.context, hidden)
    return dataclasses.replace(architecture, tensors=(positions, *architecture.tensors))


def _starcoder2(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    shape = decoder.read_shape(config, tied=True, windows=(window,) * config.whole("num_hidden_layers"))
    inner, bias = config.whole("intermediate_size"), config.flag("use_bias", default=True)
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, shape.hidden, inner, bias=bias),
        style=decoder.Style(qkv_bias=bias, output_bias=bias, norm_bias=True),
    )


FAMILIES = {"gpt_bigcode": _gpt_bigcode, "starcoder2": _starcoder2}
