"""A model as the heads of its safetensors files list it: names, types and shapes, before the weights themselves.

Source: huggingface/safetensors, README ("Format"): eight bytes with the length of the head, then the head as JSON.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gpuledger import local_files
from gpuledger.extract.hub.weight_types import WEIGHT_BITS
from gpuledger.transform.sizing.errors import SizingError

#: The longest head that is read. That of the largest model published has a tenth of it.
_LONGEST_HEAD = 100_000_000
#: Endings of what belongs to a packed matrix, and of the matrix itself.
_BESIDE = re.compile(
    r"[._](qzeros|scales|g_idx|scales_and_zeros|weight_scale|weight_scale_2|weight_scale_inv|weight_global_scale|input_scale"
    r"|input_global_scale|weight_zero_point|weight_shape|weight_g_idx|SCB|[kv]_scale|activation_scale|biases)$|\.weight\.\w.*$"
)
_PACKED = re.compile(r"[._](qweight|weight_packed|blocks)$")
_LAYER = re.compile(r"(?:layers|h|blocks|block|layer)\.(\d+)\.")
_EXPERT = re.compile(r"experts\.(\d+)\.")
_TOWERS = (
    "visual", "vision", "audio", "multi_modal", "mm_projector", "image_newline", "connector", "aligner", "talker",
    "code2wav", "token2wav",
)  # fmt: skip
#: llama.cpp's names of what the last words of a tensor's name mean.
_ROLES = {
    "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output", "out_proj": "attn_output",
    "qkv_proj": "attn_qkv", "query_key_value": "attn_qkv", "c_attn": "attn_qkv", "Wqkv": "attn_qkv", "dense": "attn_output",
    "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down", "gate_up_proj": "ffn_up", "w1": "ffn_gate",
    "w3": "ffn_up", "w2": "ffn_down", "c_fc": "ffn_up", "fc1": "ffn_up", "fc2": "ffn_down", "embed_tokens": "token_embd",
    "wte": "token_embd", "word_embeddings": "token_embd", "tok_embeddings": "token_embd", "embeddings": "token_embd",
    "lm_head": "output", "embed_out": "output", "q_a_proj": "attn_q_a", "q_b_proj": "attn_q_b", "kv_b_proj": "attn_kv_b",
    "kv_a_proj_with_mqa": "attn_kv_a_mqa", "wpe": "position_embd", "embed_tokens_per_layer": "per_layer_token_embd",
}  # fmt: skip


class _Entry(msgspec.Struct):
    """What a head says of one tensor."""

    dtype: str
    shape: Annotated[list[Annotated[int, msgspec.Meta(ge=0, lt=10**12)]], msgspec.Meta(max_length=8)]
    data_offsets: tuple[int, int] | None = None


class BadSafetensors(SizingError):
    """A safetensors file cannot be read. The message names the file and says what to do."""


def head_of(path: Path) -> Mapping[str, Any]:
    """The head of one file: type and shape by name. Raises BadSafetensors."""
    try:
        with local_files.opened(path, follow=True) as file:
            (length,) = struct.unpack("<Q", file.read(8))
            content = file.read(min(length, _LONGEST_HEAD + 1))
        if len(content) != length:
            raise ValueError
        head = json.loads(content)
    except OSError as error:
        raise BadSafetensors("{path} cannot be read ({why})", path=path, why=local_files.why(error)) from None
    except (struct.error, ValueError, RecursionError):
        raise BadSafetensors(
            "{path} is no safetensors file, or was not downloaded to the end of its head", path=path
        ) from None
    if not isinstance(head, dict):
        raise BadSafetensors("{path} is no safetensors file, or was not downloaded to the end of its head", path=path)
    return {name: entry for name, entry in head.items() if name != "__metadata__"}


def counted(head: Mapping[str, Any]) -> int:
    """The number of weights that a head lists, packed or not."""
    return sum(math.prod(_entry(name, entry)[1]) for name, entry in head.items() if not _BESIDE.search(name))


def rows(heads: Iterable[Mapping[str, Any]], bits: int, layers: int) -> list[list[Any]]:
    """Every tensor as role, layer, rows, columns, experts, kind and bits, the experts of a layer together.

    `bits` are those of a packed weight. Layers from number `layers` on predict further tokens; ordinary use does not load
    them.
    """
    beside: dict[str, int] = {}
    mains: list[tuple[str, str, list[int], int]] = []
    for head in heads:
        for name, entry in head.items():
            kind, shape, size = _entry(name, entry)
            if _BESIDE.search(name):
                base = _BESIDE.sub("", name)
                beside[base] = beside.get(base, 0) + size
            else:
                mains.append((name, kind, shape, size))
    grouped: dict[tuple[Any, ...], list[int]] = {}
    for name, kind, shape, size in mains:
        layer_match = _LAYER.search(name)
        layer = int(layer_match[1]) if layer_match else None
        if name.startswith("mtp.") or ".mtp" in name or (layer is not None and layer >= layers and not _is_tower(name)):
            continue
        base = _PACKED.sub("", name).removesuffix(".weight")
        shape = _unpacked(name, kind, shape, bits)
        key, experts = _role(name, base, shape, layer)
        count = grouped.setdefault(key, [0, 0])
        count[0] += experts
        count[1] += size + beside.pop(base, 0)
    return [[role, layer, rows, cols, experts, kind, size]
            for (role, layer, rows, cols, kind), (experts, size) in grouped.items()]  # fmt: skip


def _entry(name: str, entry: Any) -> tuple[str, list[int], int]:
    """Type, shape and bits of a tensor. Raises BadSafetensors, also where its place in the file has another size."""
    try:
        stated = msgspec.convert(entry, _Entry)
        bits = math.prod(stated.shape) * WEIGHT_BITS[stated.dtype]
        if stated.data_offsets is None or stated.data_offsets[1] - stated.data_offsets[0] == -(-bits // 8):
            return stated.dtype, stated.shape, bits
    except (msgspec.ValidationError, KeyError):
        pass
    kind, shape = (entry.get("dtype"), entry.get("shape")) if isinstance(entry, dict) else (None, None)
    raise BadSafetensors(
        "the tensor {name!r} has the type {kind} and the shape {shape}, which is not understood", name=name[:80],
        kind=str(kind)[:20], shape=str(shape)[:80],
    )  # fmt: skip


def _unpacked(name: str, kind: str, shape: list[int], bits: int) -> list[int]:
    """The shape of the weights that a packed tensor holds."""
    per = WEIGHT_BITS[kind] // bits if kind in ("I32", "U8", "U32", "I8") and bits < WEIGHT_BITS[kind] else 1
    if per == 1 or not (_PACKED.search(name) or name.endswith((".weight", "_proj"))):
        return shape
    if name.endswith("qweight") and len(shape) == 2:  # stored with the inputs first; AWQ and GPTQ pack different sides
        return [shape[1] * per, shape[0]]
    return [*shape[:-1], shape[-1] * per] if shape else shape


def _is_tower(name: str) -> bool:
    return any(word in name for word in _TOWERS)


def _role(name: str, base: str, shape: list[int], layer: int | None) -> tuple[tuple[Any, ...], int]:
    """The key under which equal tensors are counted together, and how many experts one of them holds."""
    leaf = base.rpartition(".")[2]
    sizes = [size for size in shape if size != 1] or [1]
    experts, in_experts = 1, "experts" in name and "shared" not in name
    if in_experts and len(sizes) > 2 and not _EXPERT.search(name):
        experts, sizes = sizes[0], sizes[1:]
    rows, cols = (math.prod(sizes[:-1]), sizes[-1]) if len(sizes) > 1 else (1, sizes[0])
    role = _ROLES.get(leaf, leaf)
    kind = (
        "matrix"
        if len(sizes) > 1 and "norm" not in leaf and "conv" not in leaf and not name.endswith("bias")
        else "vector"
    )
    if _is_tower(name):
        return ("v." + role, layer, rows * experts, cols, "matrix" if kind == "matrix" else "vector"), 1
    if name.endswith((".bias", "_bias")):
        role, kind = f"{_ROLES.get(leaf.removesuffix('_bias'), leaf)}_bias", "vector"
    elif in_experts:
        role = f"{role}_exps"
    elif "shared_expert" in name:
        role = f"{role}_shexp"
    elif leaf in ("gate", "router") and kind == "matrix":
        role = "ffn_gate_inp"
    if role.endswith("token_embd") or role == "position_embd":
        kind = "embedding"
    return (role, layer, rows, cols, kind), experts
