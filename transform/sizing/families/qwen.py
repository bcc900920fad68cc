"""Qwen 2, 2.5 and 3, as dense models and as mixtures of experts, and Qwen2.5-VL, which sees pictures.

Qwen 2 has biases on query, key and value. Qwen 3 has no biases, but norms of the query and key of each head.
Source: Yang et al. 2024 (Qwen2, Qwen2.5), Bai et al. 2025 (Qwen2.5-VL), Yang et al. 2025 (Qwen3); Hugging Face transformers,
models qwen2, qwen2_moe, qwen2_5_vl, qwen3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _shape(config: Config) -> decoder.Shape:
    layers = config.whole("num_hidden_layers")
    windows: tuple[int | None, ...] = ()
    if config.flag("use_sliding_window", default=False):
        # Layers below max_window_layers reach over the whole context, the others only over the window.
        full = config.whole("max_window_layers", default=layers)
        window = config.optional_whole("sliding_window")
        windows = decoder.layer_windows(config, layers, window, lambda layer: layer >= full)
    return decoder.read_shape(config, tied=False, windows=windows)


def _dense(config: Config, *, qkv_bias: bool, qk_norm: bool, output_bias: bool = False) -> Architecture:
    shape, inner = _shape(config), config.whole("intermediate_size")
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner),
        style=decoder.Style(qkv_bias=qkv_bias, output_bias=output_bias, qk_norm=qk_norm),
    )


def _mixture(config: Config, *, shared: int | None, qkv_bias: bool, qk_norm: bool) -> Architecture:
    shape = _shape(config)
    dense_inner, inner = config.whole("intermediate_size"), config.whole("moe_intermediate_size")
    experts, used = config.whole("num_experts"), config.whole("num_experts_per_tok")
    step = config.whole("decoder_sparse_step", default=1)
    dense_layers = set(config.sequence("mlp_only_layers") or ())

    def ffn_tensors(layer: int) -> Iterator[Tensor]:
        if layer in dense_layers or (layer + 1) % step:
            yield from blocks.gated_ffn(layer, shape.hidden, dense_inner)
            return
        yield from blocks.routed_experts(layer, shape.hidden, inner, experts, used)
        if shared:
            yield from blocks.gated_ffn(layer, shape.hidden, shared, suffix="_shexp")
            yield from blocks.matrix("ffn_gate_inp_shexp", layer, 1, shape.hidden)

    return decoder.build(
        config,
        shape,
        ffn=used * inner + (shared or 0),
        ffn_tensors=ffn_tensors,
        style=decoder.Style(qkv_bias=qkv_bias, qk_norm=qk_norm),
    )


def _qwen2(config: Config) -> Architecture:
    return _dense(config, qkv_bias=True, qk_norm=False)


def _qwen2_5_vl(config: Config) -> Architecture:
    """The text model of Qwen 2.5 and a vision tower, whose weights count as parameters too."""
    architecture = _qwen2(config.part("text_config") or config)
    vision = config.part("vision_config")
    if vision is None:
        return architecture
    return dataclasses.replace(architecture, extra=tuple(_vision_tower(vision)))


def _vision_tower(config: Config) -> Iterator[Tensor]:
    """A patch covers two frames. Feed-forwards are gated, with biases. Four patches become one of the text model's width."""
    hidden, inner = config.whole("hidden_size"), config.whole("intermediate_size")
    heads, patch = config.whole("num_heads"), config.whole("patch_size")
    merged = hidden * config.whole("spatial_merge_size", default=2) ** 2
    frames = config.whole("temporal_patch_size", default=2)
    yield from blocks.matrix("v.patch_embd", None, hidden, 3 * frames * patch * patch)
    attention = blocks.Attention(
        hidden=hidden, heads=heads, kv_heads=heads, head_dim=hidden // heads, qkv_bias=True, output_bias=True, fused=True
    )  # fmt: skip
    for layer in range(config.whole("depth")):
        yield from blocks.norm("v.ln1", layer, hidden)
        yield from blocks.grouped_attention(layer, attention)
        yield from blocks.norm("v.ln2", layer, hidden)
        yield from blocks.gated_ffn(layer, hidden, inner, bias=True)
    yield from blocks.norm("v.post_ln", None, hidden)
    yield from blocks.matrix("mm.0", None, merged, merged, bias=True)
    yield from blocks.matrix("mm.2", None, config.whole("out_hidden_size"), merged, bias=True)


def _qwen3(config: Config) -> Architecture:
    bias = config.flag("attention_bias", default=False)
    return _dense(config, qkv_bias=bias, qk_norm=True, output_bias=bias)


def _qwen2_moe(config: Config) -> Architecture:
    shared = config.whole("shared_expert_intermediate_size")
    return _mixture(config, shared=shared, qkv_bias=True, qk_norm=False)


def _qwen3_moe(config: Config) -> Architecture:
    return _mixture(config, shared=None, qkv_bias=config.flag("attention_bias", default=False), qk_norm=True)


FAMILIES = {
    "qwen2": _qwen2,
    "qwen2_5_vl": _qwen2_5_vl,
    "qwen2_moe": _qwen2_moe,
    "qwen3": _qwen3,
    "qwen3_moe": _qwen3_moe,
}
