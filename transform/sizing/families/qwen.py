"""Qwen 2, 2.5 and 3, dense and mixtures of experts.

Qwen 2 has biases on query, key and value; Qwen 3 has none, and norms each head's query and key.
Source: Yang et al. 2024 (Qwen2, Qwen2.5), Yang et al. 2025 (Qwen3); Hugging Face transformers, models qwen2,
qwen2_moe, qwen3.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _shape(config: Config) -> decoder.Shape:
    layers = config.whole("num_hidden_layers")
    windows: tuple[int | None, ...] = ()
    if config.flag("use_sliding_window", default=False):
        # Layers below max_window_layers see everything, those above it only the window.
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


def _qwen3(config: Config) -> Architecture:
    bias = config.flag("attention_bias", default=False)
    return _dense(config, qkv_bias=bias, qk_norm=True, output_bias=bias)


def _qwen2_moe(config: Config) -> Architecture:
    shared = config.whole("shared_expert_intermediate_size")
    return _mixture(config, shared=shared, qkv_bias=True, qk_norm=False)


def _qwen3_moe(config: Config) -> Architecture:
    return _mixture(config, shared=None, qkv_bias=config.flag("attention_bias", default=False), qk_norm=True)


FAMILIES = {"qwen2": _qwen2, "qwen2_moe": _qwen2_moe, "qwen3": _qwen3, "qwen3_moe": _qwen3_moe}
