"""Gemma 1 to 3: tied embeddings, heads wider than hidden / heads, and GeGLU.

From Gemma 2 on each part has a norm before and after it. Gemma 2 alternates local and full attention. Gemma 3 has five local
layers for each full one, and norms of query and key.
Source: Gemma Team 2024 (Gemma, Gemma 2), 2025 (Gemma 3); Hugging Face transformers, models gemma, gemma2, gemma3,
siglip.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor

_FOUR_NORMS = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")


def _build(config: Config, shape: decoder.Shape, *, norms: tuple[str, ...], qk_norm: bool) -> Architecture:
    inner, bias = config.whole("intermediate_size"), config.flag("attention_bias", default=False)
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner),
        style=decoder.Style(qkv_bias=bias, output_bias=bias, qk_norm=qk_norm, norms=norms),
    )


def _gemma(config: Config) -> Architecture:
    return _build(config, decoder.read_shape(config, tied=True), norms=("attn_norm", "ffn_norm"), qk_norm=False)


def _gemma2(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    windows = decoder.layer_windows(config, config.whole("num_hidden_layers"), window, lambda layer: layer % 2 == 0)
    return _build(config, decoder.read_shape(config, tied=True, windows=windows), norms=_FOUR_NORMS, qk_norm=False)


def _gemma3_text(config: Config) -> Architecture:
    period = config.whole("sliding_window_pattern", "_sliding_window_pattern", default=6)
    window = config.optional_whole("sliding_window")
    windows = decoder.layer_windows(
        config, config.whole("num_hidden_layers"), window, lambda layer: (layer + 1) % period != 0
    )
    # Only the 1B and smaller models state their length in every published copy. The others were trained on up to 131,072.
    shape = decoder.read_shape(config, tied=True, context=131_072, windows=windows)
    return _build(config, shape, norms=_FOUR_NORMS, qk_norm=True)


def _gemma3(config: Config) -> Architecture:
    """The multimodal form: a text model and a SigLIP vision tower, whose weights count as parameters too."""
    text = config.part("text_config")
    vision = config.part("vision_config")
    if text is None:
        return _gemma3_text(config)
    architecture = _gemma3_text(text)
    if vision is None:
        return architecture
    return dataclasses.replace(architecture, extra=tuple(_vision_tower(vision, architecture.hidden)))


def _vision_tower(config: Config, text_hidden: int) -> Iterator[Tensor]:
    """SigLIP with biases everywhere, a final norm, and Gemma's projection into the text model. Source: Zhai et al. 2023."""
    hidden, inner = config.whole("hidden_size"), config.whole("intermediate_size")
    heads, patch = config.whole("num_attention_heads"), config.whole("patch_size")
    side = config.whole("image_size") // patch
    yield from blocks.matrix("v.patch_embd", None, hidden, 3 * patch * patch, bias=True)
    yield blocks.embedding("v.position_embd", side * side, hidden)
    for layer in range(config.whole("num_hidden_layers")):
        yield from blocks.norm("v.ln1", layer, hidden, bias=True)
        yield from blocks.grouped_attention(
            layer,
            blocks.Attention(
                hidden=hidden,
                heads=heads,
                kv_heads=heads,
                head_dim=config.head_dim(hidden, heads),
                qkv_bias=True,
                output_bias=True,
            ),
        )
        yield from blocks.norm("v.ln2", layer, hidden, bias=True)
        yield from blocks.plain_ffn(layer, hidden, inner, bias=True)
    yield from blocks.norm("v.post_ln", None, hidden, bias=True)
    yield from blocks.matrix("mm.input_projection", None, text_hidden, hidden)
    yield from blocks.norm("mm.soft_emb_norm", None, hidden)


FAMILIES = {"gemma": _gemma, "gemma2": _gemma2, "gemma3_text": _gemma3_text, "gemma3": _gemma3}
