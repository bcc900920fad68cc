"""Bytes of a model in a GGUF file, tensor by tensor: the mixtures of llama.cpp's quantizer, and what their blocks take.

A file called Q4_K_M does not have 4 bits for every weight. Tensors whose rounding does most harm get more bits, depending on
their role and layer. The rules are those of llama.cpp (`src/llama-quant.cpp`, 2025), stated as tables (gguf.toml) and
conditions. They are the rules without an importance matrix, except for IQ3_XXS and the types of less than 3 bits, which need
such a matrix. Files made before 2024 follow older rules, under which Q2_K is about a tenth larger.

Source of the block sizes: ggml's block structures (`ggml-common.h`), as the constants of the gguf Python package list them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuledger.transform.sizing.errors import UnknownPrecision
from gpuledger.transform.sizing.tensors import Architecture, Tensor

_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: By file type the block type of its tensors (`base`), and of those whose role has another.
TYPES: Mapping[str, Mapping[str, str]] = _FILE["type"]
#: Weights and bytes of one block, by block type.
BLOCKS: Mapping[str, Sequence[int]] = _FILE["block"]
#: The types that the quantizer uses if a row is not a whole number of blocks.
_NARROW: Mapping[str, str] = _FILE["narrow"]
#: By the name of Unsloth's file the mixture that it is like, and how much larger it is.
_DYNAMIC: Mapping[str, tuple[str, float]] = {
    **{f"UD-{name}": (name, float(_FILE["dynamic"]["more"])) for name in TYPES if name.startswith(("Q", "IQ"))},
    **{name: (of["like"], of["more"]) for name, of in _FILE["dynamic"]["file"].items()},
}
#: File types that give more bits to the attention output of a mixture of eight experts. Only two of the experts run, so the
#: small tensors that always run may have more bits.
_EIGHT_EXPERTS_OUTPUT = {
    "Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "IQ4_NL", "IQ4_XS", "IQ3_XXS", "IQ3_XS", "IQ3_S", "IQ3_M",
}  # fmt: skip
#: File types of about 2 bits, and the larger ones among them.
_TWO_BITS = ("IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ1_M", "IQ1_S")
_LARGER_TWO_BITS = ("IQ2_M", "IQ2_S")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts about a model that the rules need. `queries_per_kv` is the number of query heads for each key-value head.

    `own_output` is true if the output projection is a tensor of its own, and not the token embedding.
    """

    layers: int
    experts: int
    queries_per_kv: int
    falcon: bool
    own_output: bool


def block_type(file_type: str, tensor: Tensor, around: Surroundings) -> str:
    """The block type of one tensor in a file of `file_type` (a key of TYPES), whatever the width of the tensor."""
    base = TYPES[file_type]["base"]
    if base in ("F32", "F16", "BF16"):
        return base
    if file_type == "MXFP4_MOE":
        # Only experts are packed to 4 bits; the rest of such a file has 8.
        return base if tensor.experts > 1 else "Q8_0"
    role, layer = tensor.role, tensor.layer or 0
    if role == "output" or (role == "token_embd" and not around.own_output):
        if base == "Q8_0" or around.falcon:
            return "Q8_0"
        return "Q5_K" if file_type in (*_TWO_BITS, "IQ3_XXS") else "Q6_K"
    if file_type in _TWO_BITS and role != "token_embd":
        return _two_bits_type(file_type, role, layer, around)
    if role == "attn_v":
        return _value_type(file_type, base, layer, around)
    if role == "attn_k" and around.experts == 8:
        return "Q8_0"
    if role == "attn_output" and around.falcon:
        return "Q4_K" if file_type == "Q3_K_L" else base
    if role == "attn_output" and around.experts == 8:
        return "Q5_K" if file_type in _EIGHT_EXPERTS_OUTPUT else base
    if role.startswith("ffn_down"):
        return _down_type(file_type, base, layer, around)
    is_middle = around.layers // 8 <= layer < 7 * around.layers // 8
    if file_type == "IQ3_XS" and role.startswith(("ffn_gate", "ffn_up")) and is_middle:
        return "IQ3_XXS"
    return TYPES[file_type].get(role, base)


def depends_on_layer(role: str) -> bool:
    """Whether `block_type` looks at the layer of a tensor with this role."""
    return role == "attn_v" or role.startswith(("ffn_down", "ffn_gate", "ffn_up"))


def _two_bits_type(file_type: str, role: str, layer: int, around: Surroundings) -> str:
    """The block type in a file of about 2 bits. Values, outputs and the first layers get more bits."""
    base, better = TYPES[file_type]["base"], "IQ3_S" if file_type in _LARGER_TWO_BITS else "Q2_K"
    if role == "attn_v":
        return "Q4_K" if around.queries_per_kv >= 4 or around.experts >= 4 else better
    if role == "attn_k" and around.experts == 8:
        return "Q4_K"
    if role.startswith("ffn_down") and layer < around.layers // 8:
        return better
    if role == "attn_output":
        if around.experts == 8:
            return "Q5_K"
        return "IQ3_S" if file_type in _LARGER_TWO_BITS else "IQ2_XXS" if file_type.startswith("IQ1") else base
    return base


def _more_bits(layer: int, layers: int) -> bool:
    """Whether a layer gets more bits: the first and the last eighth of the layers, and every third layer between them."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def _value_type(file_type: str, base: str, layer: int, around: Surroundings) -> str:
    if around.experts == 8:
        return "Q8_0"
    chosen = base
    wide = around.queries_per_kv >= 4
    if file_type == "Q2_K":
        chosen = "Q4_K" if wide else "Q3_K"
    elif file_type == "IQ3_M" or (wide and file_type in ("Q2_K_S", "IQ3_XXS", "IQ3_XS", "IQ3_S")):
        chosen = "Q4_K"
    elif file_type == "Q3_K_M":
        chosen = "Q5_K" if layer < 2 else "Q4_K"
    elif file_type == "Q3_K_L" or (file_type in ("IQ4_NL", "IQ4_XS") and wide):
        chosen = "Q5_K"
    elif file_type in ("Q4_K_M", "Q5_K_M") and _more_bits(layer, around.layers):
        chosen = "Q6_K"
    elif file_type == "Q4_K_S" and layer < 4:
        chosen = "Q5_K"
    # Eighty layers mark the 70B models, whose value matrices are so small that more bits cost next to nothing.
    if around.layers == 80 and wide and chosen in ("Q3_K", "Q4_K"):
        return "Q5_K"
    return chosen


def _down_type(file_type: str, base: str, layer: int, around: Surroundings) -> str:
    layers, falcon = around.layers, around.falcon
    more = _more_bits(layer, layers)
    first_eighth = layer < layers // 8
    if file_type == "Q2_K":
        return "Q3_K"
    if file_type in ("Q2_K_S", "IQ3_M") and first_eighth:
        return "Q4_K"
    if file_type == "Q3_K_M":
        if layer < layers // 16:
            return "Q5_K"
        return "Q4_K" if not falcon or more else "Q3_K"
    if file_type == "Q3_K_L":
        return "Q4_K" if falcon else "Q5_K"
    if file_type == "Q4_K_M" and falcon:
        return "Q6_K" if layer < layers // 16 else "Q5_K" if more else "Q4_K"
    if file_type in ("Q4_K_M", "Q5_K_M") and more:
        return "Q6_K"
    if (file_type == "Q4_K_S" and first_eighth and not falcon) or (file_type in ("IQ4_NL", "IQ4_XS") and first_eighth):
        return "Q5_K"
    return base


#: Matrices that the quantizer never packs: the router decides which experts run, and the position tables are small.
_NEVER_PACKED = ("ffn_gate_inp", "ffn_gate_inp_shexp", "position_embd", "token_types", "attn_rel_b")


def dynamic_types() -> list[str]:
    """The names of Unsloth's files, whose sizes are estimated."""
    return list(_DYNAMIC)


def is_file_type(name: str) -> bool:
    """Whether a precision is that of a GGUF file."""
    return name in TYPES or name in _DYNAMIC


def tensor_bytes(architecture: Architecture, file_type: str) -> list[int]:
    """Bytes of each tensor of the language model, in the order of `architecture.tensors`.

    Raises UnknownPrecision for a file type that is not known.
    """
    around = surroundings(architecture)
    return [bytes_of(tensor, file_type, around) for tensor in architecture.tensors]


def surroundings(architecture: Architecture) -> Surroundings:
    """The facts about the model that the rules of the mixtures need."""
    roles = {tensor.role for tensor in architecture.tensors}
    query = next((tensor.rows for tensor in architecture.tensors if tensor.role == "attn_q"), 1)
    value = next((tensor.rows for tensor in architecture.tensors if tensor.role == "attn_v"), query)
    return Surroundings(
        layers=architecture.layers,
        experts=architecture.experts,
        queries_per_kv=query // value,
        falcon=architecture.model_type == "falcon",
        own_output="output" in roles,
    )


def bytes_of(tensor: Tensor, file_type: str, around: Surroundings) -> int:
    """Bytes of one tensor in a file of `file_type`. Raises UnknownPrecision for a file type that is not known."""
    file_type, more = _DYNAMIC.get(file_type, (file_type, 1.0))
    if file_type not in TYPES:
        raise UnknownPrecision(
            "GGUF type {file_type!r} is not known; known are {base}", file_type=file_type, base=tuple(TYPES)
        )
    packed = tensor.kind != "vector" and tensor.role not in _NEVER_PACKED
    chosen = block_type(file_type, tensor, around) if packed else "F32"
    if tensor.cols % BLOCKS[chosen][0]:
        chosen = _NARROW.get(chosen, "F16")
        if tensor.cols % BLOCKS[chosen][0]:
            chosen = "F16"
    weights, size = BLOCKS[chosen]
    plain = tensor.rows * tensor.experts * (tensor.cols // weights) * size
    return round(plain * more) if packed else plain
