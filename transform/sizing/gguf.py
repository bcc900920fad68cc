"""Bytes of a model in a GGUF file, tensor by tensor.

Source of the block sizes: ggml's block structures (`ggml-common.h`), as the constants of the gguf Python package list them.
"""

from __future__ import annotations

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.errors import UnknownPrecision
from gpuledger.transform.sizing.gguf_mix import BASE, Surroundings, block_type
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: Weights and bytes of one block, by block type. A row is packed in whole blocks.
BLOCKS = {
    "F32": (1, 4), "F16": (1, 2), "BF16": (1, 2), "Q8_0": (32, 34), "Q6_K": (256, 210), "Q5_K": (256, 176),
    "Q5_1": (32, 24), "Q5_0": (32, 22), "Q4_K": (256, 144), "Q4_1": (32, 20), "Q4_0": (32, 18), "IQ4_NL": (32, 18),
    "IQ4_XS": (256, 136), "Q3_K": (256, 110), "IQ3_S": (256, 110), "IQ3_XXS": (256, 98), "Q2_K": (256, 84),
    "IQ2_S": (256, 82), "IQ2_XS": (256, 74), "IQ2_XXS": (256, 66), "IQ1_M": (256, 56), "IQ1_S": (256, 50),
    "TQ1_0": (256, 54), "TQ2_0": (256, 66), "MXFP4": (32, 17), "NVFP4": (64, 36), "Q1_0": (128, 18), "Q8_1": (32, 40),
    "Q8_K": (256, 292), "I8": (1, 1), "I16": (1, 2), "I32": (1, 4), "I64": (1, 8), "F64": (1, 8),
}  # fmt: skip

#: The types with blocks of 32 that the quantizer uses if a row is not a whole number of blocks of 256 weights.
_NARROW = {
    **dict.fromkeys(
        ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "Q2_K", "IQ3_XXS", "IQ3_S", "Q3_K", "IQ4_XS"), "IQ4_NL"
    ),
    "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0",
}  # fmt: skip

#: Matrices that the quantizer never packs: the router decides which experts run, and the position tables are small.
_NEVER_PACKED = ("ffn_gate_inp", "ffn_gate_inp_shexp", "position_embd", "token_types", "attn_rel_b")

#: The file also holds the tokenizer, which takes 23 bytes (Llama 2) to 61 bytes (Llama 3, with its merges) for each token
#: of the vocabulary in published files.
TOKENIZER_BYTES_PER_TOKEN = 45


def gguf_types() -> list[str]:
    """The file types whose sizes are known, largest first."""
    return list(BASE)


def tensor_bytes(architecture: Architecture, file_type: str) -> list[int]:
    """Bytes of each tensor of the language model, in the order of `architecture.tensors`.

    Raises UnknownPrecision for a file type that is not known.
    """
    around = surroundings(architecture)
    return [bytes_of(tensor, file_type, around) for tensor in architecture.tensors]


def file_bytes(architecture: Architecture, file_type: str) -> int:
    """Bytes of the whole file: its tensors, and an estimate of its tokenizer. A vision tower is in another file."""
    tokenizer = architecture.vocab * TOKENIZER_BYTES_PER_TOKEN
    return sum(tensor_bytes(architecture, file_type)) + tokenizer


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
    if file_type not in BASE:
        raise UnknownPrecision(Message("model.gguf_type_not_known", file_type=file_type, base=tuple(BASE)))
    packed = tensor.kind != "vector" and tensor.role not in _NEVER_PACKED
    chosen = block_type(file_type, tensor, around) if packed else "F32"
    if tensor.cols % BLOCKS[chosen][0]:
        chosen = _NARROW.get(chosen, "F16")
        if tensor.cols % BLOCKS[chosen][0]:
            chosen = "F16"
    weights, size = BLOCKS[chosen]
    return tensor.rows * tensor.experts * (tensor.cols // weights) * size
