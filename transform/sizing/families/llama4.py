"""Llama 4: a shared expert and routed experts, and a vision tower. Three of four layers attend within a chunk only.

Source: Meta 2025, Llama 4 model cards and configs; Hugging Face transformers, model llama4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: Every fourth layer has no positions and attends to the whole context.
_FULL_EVERY = 4


def _llama4_text(config: Config) -> Architecture:
    layers = config.whole("num_hidden_layers")
    chunk = config.optional_whole("attention_chunk_size")
    windows = tuple(None if (layer + 1) % _FULL_EVERY == 0 else chunk for layer in range(layers))
    shape = decoder.read_shape(config, tied=False, windows=windows)
    inner, dense = config.whole("intermediate_size"), config.whole("intermediate_size_mlp")
    experts, used = config.whole("num_local_experts"), config.whole("num_experts_per_tok", default=1)
    step = config.whole("interleave_moe_layer_step", default=1)

    def ffn_tensors(layer: int) -> Iterator[Tensor]:
        if (layer + 1) % step:
            yield from blocks.gated_ffn(layer, shape.hidden, dense)
            return
        yield from blocks.routed_experts(layer, shape.hidden, inner, experts, used)
        yield from blocks.gated_ffn(layer, shape.hidden, inner, suffix="_shexp")

    widest = max((used + 1) * inner, dense if step > 1 else 0)
    return decoder.build(config, shape, ffn=widest, ffn_tensors=ffn_tensors)


def _llama4(config: Config) -> Architecture:
    """The multimodal form. The weights of the vision tower count as parameters too."""
    text, vision = config.part("text_config"), config.part("vision_config")
    architecture = _llama4_text(text or config)
    if vision is None:
        return architecture
    return dataclasses.replace(architecture, extra=tuple(_vision_tower(vision, architecture.hidden)))


def _vision_tower(config: Config, text_hidden: int) -> Iterator[Tensor]:
    """A transformer with biases everywhere. It merges four patches into one and projects them into the text model."""
    hidden, inner = config.whole("hidden_size"), config.whole("intermediate_size")
    heads, patch = config.whole("num_attention_heads"), config.whole("patch_size")
    side = config.whole("image_size") // patch
    projected, output = config.whole("projector_input_dim"), config.whole("projector_output_dim")
    yield from blocks.matrix("v.patch_embd", None, hidden, 3 * patch * patch)
    yield blocks.vector("v.class_embd", None, hidden)
    yield blocks.embedding("v.position_embd", side * side + 1, hidden)
    yield from blocks.norm("v.pre_ln", None, hidden, bias=True)
    attention = blocks.Attention(
        hidden=hidden, heads=heads, kv_heads=heads, head_dim=config.head_dim(hidden, heads), qkv_bias=True, output_bias=True
    )  # fmt: skip
    for layer in range(config.whole("num_hidden_layers")):
        yield from blocks.norm("v.ln1", layer, hidden, bias=True)
        yield from blocks.grouped_attention(layer, attention)
        yield from blocks.norm("v.ln2", layer, hidden, bias=True)
        yield from blocks.plain_ffn(layer, hidden, inner, bias=True)
    yield from blocks.norm("v.post_ln", None, hidden, bias=True)
    yield from blocks.matrix("mm.model.fc1", None, projected, inner)
    yield from blocks.matrix("mm.model.fc2", None, output, projected)
    yield from blocks.matrix("mm.input_projection", None, text_hidden, config.whole("vision_output_dim"))


FAMILIES = {"llama4": _llama4}
