"""The parts beside the model of text: towers that see pictures or hear, and what leads from them into the text.

A tower is a transformer without a cache. Where `meaning.toml` has its kind the count is exact, else it is counted in the
form that its keys describe (with biases, two matrices a feed-forward), and the weights of the model are estimated.
Sources: Zhai et al. 2023 (SigLIP), Bai et al. 2025 (Qwen2.5-VL), Meta 2025 (Llama 4), and the models' code in transformers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families.meaning import Meaning, table
from gpuledger.transform.sizing.tensors import Tensor


def of_parts(config: Config, text_hidden: int, text: Meaning) -> Iterator[Tensor]:
    """The tensors of every tower that the config describes. What is not understood goes into the notes of `text`."""
    for kind in ("vision", "audio"):
        for name in table()["parts"][kind]:
            part = config.values.get(name)
            if isinstance(part, Mapping) and part:
                yield from _tower(config, name, text_hidden, text)


def _tower(whole: Config, name: str, text_hidden: int, text: Meaning) -> Iterator[Tensor]:
    part = whole.part(name) or whole
    towers: Mapping[str, Any] = table()["tower"]
    model_type = str(part.values.get("model_type") or whole.model_type)
    form = next((entry for entry in towers.values() if model_type in entry["types"]), None)
    tower = Meaning(part, form or {})
    hidden, layers = tower.maybe("hidden"), tower.maybe("layers") or part.optional_whole("depth")
    if form is None or part.values.get("vision_use_head"):
        text.weights_note = text.weights_note or f"{name}.model_type"
        form = form or {"ffn": "plain", "bias": True, "norm_bias": True}
    if hidden is None or layers is None:
        return
    v = "v" if name in table()["parts"]["vision"] else "a"
    heads = tower.maybe("heads") or part.optional_whole("encoder_attention_heads") or 1
    inner = tower.maybe("inner") or part.optional_whole("encoder_ffn_dim") or 4 * hidden
    bias, norm_bias = form.get("bias", False), form.get("norm_bias", False)
    attention = blocks.Attention(
        hidden=hidden, heads=heads, kv_heads=heads, head_dim=hidden // heads, qkv_bias=bias,
        output_bias=form.get("output_bias", bias), fused=form.get("fused", False),
    )  # fmt: skip
    yield from _ends(part, v, hidden, form)
    for layer in range(layers):
        for norm in form.get("layer_norms", ("ln1", "ln2")):
            yield from blocks.norm(f"{v}.{norm}", layer, hidden, bias=norm_bias)
        for norm in form.get("head_norms", ()):
            yield blocks.vector(f"{v}.{norm}", layer, hidden // heads)
        yield from blocks.grouped_attention(layer, attention)
        if form.get("ffn") == "gated":
            yield from blocks.gated_ffn(layer, hidden, inner, bias=form.get("ffn_bias", bias))
        else:
            yield from blocks.plain_ffn(layer, hidden, inner, bias=form.get("ffn_bias", bias))
    yield from _bridge(part, whole, (hidden, inner, text_hidden), form)


def _ends(part: Config, v: str, hidden: int, form: Mapping[str, Any]) -> Iterator[Tensor]:
    """What turns a picture into patches, and the norms around the layers."""
    patch, norm_bias = part.values.get("patch_size"), form.get("norm_bias", False)
    if isinstance(patch, int):
        frames = part.whole("temporal_patch_size", default=2) if form.get("frames") else 1
        channels = part.whole("in_channels", "num_channels", "in_chans", default=3)
        yield from blocks.matrix(
            f"{v}.patch_embd", None, hidden, channels * frames * patch * patch, bias=form.get("patch_bias", norm_bias)
        )
        rows = _positions(part, patch, form)
        if rows:
            yield blocks.embedding(f"{v}.position_embd", rows, hidden)
    if form.get("class"):
        yield blocks.vector(f"{v}.class_embd", None, hidden)
    for norm in form.get("norms", ("post_ln",)):
        yield from blocks.norm(f"{v}.{norm}", None, hidden, bias=norm_bias)


def _positions(part: Config, patch: int, form: Mapping[str, Any]) -> int:
    kind = form.get("positions", 0)
    if isinstance(kind, list):
        return int(form.get("tables", 1)) * math.prod(part.whole(name) for name in kind)
    size = part.values.get("image_size")
    side = (size if isinstance(size, int) else 0) // patch
    return side * side + kind if kind >= 0 and side else 0


def _bridge(part: Config, whole: Config, widths: tuple[int, int, int], form: Mapping[str, Any]) -> Iterator[Tensor]:
    """What leads from a tower into the model of text."""
    hidden, inner, text_hidden = widths
    kind = form.get("bridge", "two matrices")
    if kind == "one matrix":  # Gemma's
        yield from blocks.matrix("mm.input_projection", None, text_hidden, hidden)
        if form.get("bridge_norm", True):
            yield from blocks.norm("mm.soft_emb_norm", None, hidden)
    elif kind == "merged":  # Qwen's: patches become one of the text model's width
        merged = hidden * part.whole("spatial_merge_size", default=2) ** 2
        mergers = 1 + len(part.sequence("deepstack_visual_indexes") or ())
        for number in range(mergers):
            if form.get("merger_norm"):
                yield from blocks.norm("mm.norm", None, merged if number else hidden, bias=form.get("norm_bias", False))
            yield from blocks.matrix("mm.0", None, merged, merged, bias=True)
            yield from blocks.matrix(
                "mm.2", None, part.whole("out_hidden_size", default=text_hidden), merged, bias=True
            )
    elif kind == "pixel shuffle":  # Llama 4's: four patches become one
        yield from blocks.matrix("mm.model.fc1", None, part.whole("projector_input_dim"), inner)
        yield from blocks.matrix(
            "mm.model.fc2", None, part.whole("projector_output_dim"), part.whole("projector_input_dim")
        )
        yield from blocks.matrix("mm.input_projection", None, text_hidden, part.whole("vision_output_dim"))
    elif kind == "patch merger":  # Mistral's
        merge = whole.whole("spatial_merge_size", default=2)
        yield from blocks.norm("mm.norm", None, hidden)
        yield from blocks.matrix("mm.patch_merger", None, hidden, hidden * merge * merge)
        yield from blocks.matrix("mm.1", None, text_hidden, hidden)
        yield from blocks.matrix("mm.2", None, text_hidden, text_hidden)
    else:
        yield from blocks.matrix("mm.1", None, text_hidden, hidden, bias=True)
        yield from blocks.matrix("mm.2", None, text_hidden, text_hidden, bias=True)
