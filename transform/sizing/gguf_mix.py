"""Which block type each tensor gets in a GGUF file: the mixtures of llama.cpp's quantizer.

A file called Q4_K_M is not 4 bits a weight: tensors that hurt most when rounded get more bits, by role and by layer.
The rules are those of llama.cpp (`src/llama-quant.cpp`, 2025, without an importance matrix), stated here as tables and
conditions. Files made before 2024 follow older rules; their Q2_K is about a tenth larger.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.sizing.tensors import Tensor

#: File type to the block type that tensors have unless a rule says otherwise.
BASE = {
    "F32": "F32",
    "F16": "F16",
    "BF16": "BF16",
    "Q8_0": "Q8_0",
    "Q6_K": "Q6_K",
    "Q5_K_M": "Q5_K",
    "Q5_K_S": "Q5_K",
    "Q5_1": "Q5_1",
    "Q5_0": "Q5_0",
    "Q4_K_M": "Q4_K",
    "Q4_K_S": "Q4_K",
    "Q4_1": "Q4_1",
    "Q4_0": "Q4_0",
    "IQ4_NL": "IQ4_NL",
    "IQ4_XS": "IQ4_XS",
    "Q3_K_L": "Q3_K",
    "Q3_K_M": "Q3_K",
    "Q3_K_S": "Q3_K",
    "Q2_K": "Q2_K",
    "MXFP4_MOE": "MXFP4",
}

_ATTENTION_OUTPUT = {"Q2_K": "Q3_K", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K"}
_FUSED_ATTENTION = {"Q3_K_M": "Q4_K", "Q3_K_L": "Q4_K", "Q4_K_M": "Q5_K", "Q5_K_M": "Q6_K"}
#: Of eight experts only two run, so the small tensors that always run may cost more.
_EIGHT_EXPERTS_OUTPUT = {"Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "IQ4_NL", "IQ4_XS"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the rules ask about the model: its layers, experts, queries a key-value head, and whether it is a Falcon.

    `own_output` says that the output projection is a tensor of its own, not the token embedding.
    """

    layers: int
    experts: int
    queries_per_kv: int
    falcon: bool
    own_output: bool


def block_type(file_type: str, tensor: Tensor, around: Surroundings) -> str:
    """The block type of one tensor in a file of `file_type` (a key of BASE), before its width is looked at."""
    base = BASE[file_type]
    if base in ("F32", "F16", "BF16"):
        return base
    if file_type == "MXFP4_MOE":
        # Only experts are packed to 4 bits; the rest of such a file has 8.
        return base if tensor.experts > 1 else "Q8_0"
    role, layer = tensor.role, tensor.layer or 0
    if role == "output" or (role == "token_embd" and not around.own_output):
        return "Q8_0" if base == "Q8_0" or around.falcon else "Q6_K"
    if role == "attn_v":
        return _value_type(file_type, base, layer, around)
    if role == "attn_k":
        return "Q8_0" if around.experts == 8 else base
    if role == "attn_output":
        return _attention_output_type(file_type, base, around)
    if role == "attn_qkv":
        return _FUSED_ATTENTION.get(file_type, base)
    if role.startswith("ffn_down"):
        return _down_type(file_type, base, layer, around)
    return base


def depends_on_layer(role: str) -> bool:
    """Whether `block_type` looks at the layer of such a tensor."""
    return role == "attn_v" or role.startswith("ffn_down")


def _more_bits(layer: int, layers: int) -> bool:
    """The first and last eighth of the layers and every third between them are worth more bits."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def _value_type(file_type: str, base: str, layer: int, around: Surroundings) -> str:
    if around.experts == 8:
        return "Q8_0"
    chosen = base
    wide = around.queries_per_kv >= 4
    if file_type == "Q2_K":
        chosen = "Q4_K" if wide else "Q3_K"
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


def _attention_output_type(file_type: str, base: str, around: Surroundings) -> str:
    if around.falcon:
        return "Q4_K" if file_type == "Q3_K_L" else base
    if around.experts == 8:
        return "Q5_K" if file_type in _EIGHT_EXPERTS_OUTPUT else base
    return _ATTENTION_OUTPUT.get(file_type, base)


def _down_type(file_type: str, base: str, layer: int, around: Surroundings) -> str:
    layers, falcon = around.layers, around.falcon
    more = _more_bits(layer, layers)
    first_eighth = layer < layers // 8
    if file_type == "Q2_K":
        return "Q3_K"
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
