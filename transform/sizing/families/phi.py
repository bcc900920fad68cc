"""Phi 1.5 and 2 (parallel blocks, biases everywhere), Phi 3 to 4 (the shape of Llama with fused matrices), Phi-3.5-MoE.

Source: Li et al. 2023 (phi-1.5), Abdin et al. 2024 (Phi-3, Phi-4); Hugging Face transformers, models phi, phi3 and phimoe.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _phi(config: Config) -> Architecture:
    # Attention and feed-forward read the same norm, so a layer has only one. The output projection has a bias.
    shape, inner = decoder.read_shape(config, tied=False), config.whole("intermediate_size")
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, shape.hidden, inner, bias=True),
        style=decoder.Style(qkv_bias=True, output_bias=True, norms=("attn_norm",), norm_bias=True, head_bias=True),
    )


def _phi3(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    shape = decoder.read_shape(config, tied=False, windows=(window,) * config.whole("num_hidden_layers"))
    inner = config.whole("intermediate_size")

    def ffn_tensors(layer: int) -> Iterator[Tensor]:
        # Gate and up are stored as one matrix, which llama.cpp calls ffn_up.
        yield from blocks.matrix("ffn_up", layer, 2 * inner, shape.hidden)
        yield from blocks.matrix("ffn_down", layer, shape.hidden, inner)

    return decoder.build(config, shape, ffn=inner, ffn_tensors=ffn_tensors, style=decoder.Style(fused_qkv=True))


def _phimoe(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    shape = decoder.read_shape(config, tied=False, windows=(window,) * config.whole("num_hidden_layers"))
    inner, bias = config.whole("intermediate_size"), config.flag("attention_bias", default=False)
    experts, used = config.whole("num_local_experts"), config.whole("num_experts_per_tok")
    return decoder.build(
        config,
        shape,
        ffn=used * inner,
        ffn_tensors=lambda layer: blocks.routed_experts(layer, shape.hidden, inner, experts, used),
        style=decoder.Style(
            qkv_bias=bias, output_bias=bias, norm_bias=True, head_bias=config.flag("lm_head_bias", default=False)
        ),
    )


FAMILIES = {"phi": _phi, "phi3": _phi3, "phimoe": _phimoe}
