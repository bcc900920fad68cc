"""Bytes of a model's weights by precision or file format, and how many of these bytes one step of decoding must read.

There are three kinds of precision. In a uniform one every weight has the same number of bits (`fp32`, `bf16`, `int4`, or
just `16`). GGUF file types have mixtures (`Q4_K_M`, see gguf.py). Other formats pack only the matrices inside the layers
(fp8 and int8, GPTQ, AWQ, NF4, MXFP4, NVFP4).
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gpuledger.message import Message
from gpuledger.spelling import names_like
from gpuledger.transform.sizing import gguf
from gpuledger.transform.sizing.errors import UnknownPrecision
from gpuledger.transform.sizing.gguf import depends_on_layer
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: Bits of each weight in formats that store all weights alike. Of `fp8` and `int8` this is so for image models and for
#: programs that narrow 16 bits themselves; a checkpoint of a text model is packed (see _PACKED). `8` and `4` are the
#: 8-bit and 4-bit of the source documents.
UNIFORM_BITS = {
    "fp32": 32,
    "fp16": 16,
    "bf16": 16,
    "fp8": 8,
    "int8": 8,
    "int4": 4,
    "32": 32,
    "16": 16,
    "8": 8,
    "4": 4,
}

_ROUTER = ("ffn_gate_inp", "ffn_gate_inp_shexp")


def grouped(bits: int, group: int, *, index: bool, zeros: bool = True) -> Callable[[Tensor], Fraction]:
    """Bits of each weight in rows that are packed in groups. Each group has an fp16 scale and, with `zeros`, a zero point.

    `index` adds the int32 that GPTQ keeps for each input column, shared by all rows. Source: the QuantLinear layers of
    AutoGPTQ and AutoAWQ, and the compressors of compressed-tensors.
    """

    def bits_of(tensor: Tensor) -> Fraction:
        groups = -(-tensor.cols // group)
        per_row = tensor.cols * bits + groups * (16 + bits * zeros)
        shared = 32 * tensor.cols if index else 0
        return Fraction(tensor.rows * per_row + shared, tensor.rows * tensor.cols)

    return bits_of


def _eight(_: Tensor) -> Fraction:
    # A scale for each row of the matrix or each 128 × 128 of it is less than a hundredth. Source: fp8 and int8 configs of
    # compressed-tensors and of DeepSeek-V3; vLLM loads 15.34 GiB for RedHatAI/Qwen3-14B-FP8-dynamic.
    return Fraction(8)


#: Formats that pack only the matrices of layers. Router, embedding, output and norms stay at 16 bits.
_PACKED: dict[str, Callable[[Tensor], Fraction]] = {
    "fp8": _eight,
    "int8": _eight,
    "gptq-int4-g128": grouped(4, 128, index=True),
    "gptq-int8-g128": grouped(8, 128, index=True),
    "awq-int4-g128": grouped(4, 128, index=False),
    # Blocks of 64 weights share an 8-bit scale, and blocks of 256 scales share an fp32 scale. Source: Dettmers et al.,
    # QLoRA, 2023, section 3.
    "nf4": lambda _: 4 + Fraction(8, 64) + Fraction(32, 64 * 256),
    # Blocks of 32 four-bit values share one 8-bit scale. Only experts are packed. Source: OCP Microscaling Formats 1.0.
    "mxfp4": lambda tensor: Fraction(17 * 8, 32) if tensor.experts > 1 else Fraction(16),
    # Blocks of 16 four-bit values share one 8-bit scale. Source: NVIDIA, "Introducing NVFP4", 2025.
    "nvfp4": lambda _: Fraction(9, 2),
}

#: Formats with the number of bits in their name: `exl2-4.25bpw` of ExLlamaV2, `mlx-4bit` of MLX.
_EXL2 = re.compile(r"(?:exl2[-_ ]?(?P<bits>\d(?:\.\d{1,2})?)(?: ?bpw)?|(?P<before>\d(?:\.\d{1,2})?) ?bpw[-_ ]exl2)")
_MLX = re.compile(r"mlx[-_ ]?(?P<bits>[234568])[-_ ]?bits?")
#: The least and the most bits for each weight that the converter of ExLlamaV2 accepts, and the bits that it gives the output
#: by default. Source: turboderp/exllamav2, doc/convert.md (--bits, --head_bits).
_EXL2_LEAST, _EXL2_MOST, _EXL2_HEAD = 2, 8, 6
#: Groups of 64 weights have a scale and a bias of 16 bits each. Source: ml-explore/mlx-lm, convert (--q-group-size).
_MLX_GROUP = Fraction(2 * 16, 64)

#: Other names that model hubs and programs use for these formats.
_ALSO = {
    "awq": "awq-int4-g128", "awq-int4": "awq-int4-g128", "awq-4bit": "awq-int4-g128",
    "gptq": "gptq-int4-g128", "gptq-int4": "gptq-int4-g128", "gptq-4bit": "gptq-int4-g128", "w4a16": "gptq-int4-g128",
    "gptq-int8": "gptq-int8-g128", "gptq-8bit": "gptq-int8-g128", "w8a16": "gptq-int8-g128", "w8a8": "int8",
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "fp8_e4m3": "fp8", "fp8-e4m3": "fp8",
    "4bit": "int4", "4-bit": "int4", "8bit": "int8", "8-bit": "int8",
    "bnb-4bit": "nf4", "bnb-nf4": "nf4", "w4a4-nvfp4": "nvfp4", "fp4": "nvfp4",
    "int4-autoround": "gptq-int4-g128",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes of all weights at one precision.

    Every decoding step reads the `always_read` bytes. The `expert` bytes belong to `experts` experts, and a token reads
    `used_experts` of them. The embedding table is in memory, but a token reads only one row of it: the rest of the table
    belongs to neither, unless the table is the output projection too.
    """

    precision: str
    total: int
    parameters: int
    always_read: int
    expert: int
    experts: int
    used_experts: int

    @property
    def bits_per_weight(self) -> float:
        """The average number of bits over all weights."""
        return self.total * 8 / self.parameters

    @property
    def on_cards(self) -> int:
        """Bytes without an embedding table that serves for lookups only. Programs may leave that with the processor."""
        return self.always_read + self.expert

    def read_bytes(self, batch: int = 1) -> float:
        """Bytes read from memory in one decoding step of `batch` sequences.

        Weights are read once for the whole batch, but each sequence chooses its own experts. If all experts are equally
        likely, the expected number of different experts is E·(1 − (1 − k/E)^batch).
        """
        if self.experts == 1:
            return float(self.always_read)
        reached = 1 - (1 - self.used_experts / self.experts) ** batch
        return self.always_read + self.expert * reached


def known_precisions() -> list[str]:
    """The names of all precisions that `weights` accepts, except those with any number of bits in their name."""
    return list(dict.fromkeys((*UNIFORM_BITS, *_PACKED, *gguf.TYPES)))


def precision_named(text: str) -> str | None:
    """The precision that a text names, as this module writes it; upper and lower case are alike. None if it names none."""
    # `fp16` and `bf16` are names of both a uniform precision and, in capitals, a GGUF type that keeps norms at 32 bits.
    if text.strip() in known_precisions():
        return text.strip()
    lower_name = text.strip().lower()
    return _by_lower_name().get(lower_name) or _named_by_bits(lower_name)


@functools.cache
def _by_lower_name() -> Mapping[str, str]:
    # Others that list Unsloth's files leave their mark away (`Q4_K_XL`); a name that both have is llama.cpp's.
    dynamic = {text.lower(): name for name in gguf.dynamic_types() for text in (name, name.removeprefix("UD-"))}
    return {**_ALSO, **dynamic, **{name.lower(): name for name in reversed(known_precisions())}}


def normalise_precision(precision: str) -> str:
    """The name as this module writes it (see precision_named). Raises UnknownPrecision with the known names."""
    name = precision_named(precision)
    if name is None:
        known = known_precisions()
        close = names_like(precision, known)
        meant = Message("did you mean {close: or }? Known", close=tuple(close)) if close else Message("known")
        raise UnknownPrecision(
            "precision {precision!r} is not known; {meant} are {known}; UD- before a GGUF type; exl2-4.25bpw and mlx-4bit "
            "with any bits",
            precision=precision, meant=meant, known=tuple(known),
        )  # fmt: skip
    return name


def _named_by_bits(text: str) -> str | None:
    """The name of a format with its bits in its name, None for any other text."""
    if match := _EXL2.fullmatch(text):
        bits = Fraction(match["bits"] or match["before"])
        return f"exl2-{float(bits):g}bpw" if _EXL2_LEAST <= bits <= _EXL2_MOST else None
    match = _MLX.fullmatch(text)
    return f"mlx-{match['bits']}bit" if match else None


def with_bits(name: str) -> str | None:
    """The format of a normalised precision that has its bits in its name: `exl2` (ExLlamaV2) or `mlx`."""
    return next((kind for kind in ("exl2", "mlx") if name.startswith(f"{kind}-")), None)


@functools.lru_cache(maxsize=128)
def weights(architecture: Architecture, precision: str) -> Weights:
    """Bytes of the weights of `architecture` at `precision` (see known_precisions).

    Raises UnknownPrecision. For GGUF the tokenizer in the file is not counted, since it is not loaded onto the card.
    """
    (size,) = weights_at(architecture, [precision])
    return size


def weights_at(architecture: Architecture, precisions: Iterable[str]) -> list[Weights]:
    """`weights` at each of `precisions`. Equal tensors of different layers are looked at only once, for all precisions."""
    counts = Counter(_of_any_layer(tensor) for tensor in architecture.tensors)
    # A vision tower is in another file than the GGUF of its model, and packed formats leave it at 16 bits.
    extra = Counter(architecture.extra)
    around = gguf.surroundings(architecture)
    sizes = []
    for precision in precisions:
        name = normalise_precision(precision)
        is_file = gguf.is_file_type(name)
        if name == architecture.stored_as:
            sized = [(tensor, count, tensor.stored_bits) for tensor, count in (counts + extra).items()]
        else:
            sized = [
                (tensor, count, 8 * gguf.bytes_of(tensor, name, around) if is_file else _bits(tensor, name))
                for tensor, count in counts.items()
            ]
            sized += [
                (tensor, count, _bits(tensor, name) if _is_uniform(name) else 16 * tensor.parameters)
                for tensor, count in extra.items()
            ]
        sizes.append(_added_up(architecture, name, sized))
    return sizes


def _of_any_layer(tensor: Tensor) -> Tensor:
    """The same tensor for all layers that no format tells apart. This leaves a tenth of the tensors."""
    return replace(tensor, layer=0) if tensor.layer and not depends_on_layer(tensor.role) else tensor


def _added_up(architecture: Architecture, name: str, sized: Sequence[tuple[Tensor, int, int]]) -> Weights:
    """The sums over tensors. Each comes with the number of such tensors and the bits of one of them.

    The sizes are in bits, because a tensor of odd length at 4 bits is not a whole number of bytes.
    """
    total = always = expert = 0
    for tensor, count, size in sized:
        total += count * size
        if tensor.experts > 1:
            expert += count * size
        elif tensor.kind != "embedding" or (tensor.role == "token_embd" and architecture.tied):
            always += count * size
        else:
            always += count * (size // tensor.rows)
    return Weights(
        precision=name,
        total=total // 8,
        parameters=sum(count * tensor.parameters for tensor, count, _ in sized),
        always_read=always // 8,
        expert=expert // 8,
        experts=architecture.experts,
        used_experts=max((tensor.used_experts for tensor, _, _ in sized if tensor.experts > 1), default=1),
    )


def packed_bits(tensor: Tensor, name: str) -> Fraction:
    """Bits of a matrix that is stored at the precision `name`."""
    if name in _PACKED:
        return _PACKED[name](tensor) * tensor.parameters
    return (UNIFORM_BITS[name] if name in UNIFORM_BITS else _bits_by_name(tensor, name)) * Fraction(tensor.parameters)


def _is_uniform(name: str) -> bool:
    return name in UNIFORM_BITS and name not in _PACKED


def _bits(tensor: Tensor, name: str) -> int:
    if _is_uniform(name):
        return UNIFORM_BITS[name] * tensor.parameters
    if with_bits(name):
        return math.ceil(_bits_by_name(tensor, name) * tensor.parameters)
    if tensor.kind == "matrix" and tensor.layer is not None and tensor.role not in _ROUTER:
        return math.ceil(_PACKED[name](tensor) * tensor.parameters)
    return 16 * tensor.parameters


def _bits_by_name(tensor: Tensor, name: str) -> Fraction:
    """Bits of each weight in a format with its bits in its name. MLX packs the embedding table too, ExLlamaV2 does not."""
    if tensor.kind == "vector" or tensor.role in _ROUTER:
        return Fraction(16)
    if with_bits(name) == "mlx":
        return Fraction(name.removeprefix("mlx-").removesuffix("bit")) + _MLX_GROUP
    if tensor.kind == "embedding":
        return Fraction(16)
    return Fraction(_EXL2_HEAD) if tensor.layer is None else Fraction(name.removeprefix("exl2-").removesuffix("bpw"))
