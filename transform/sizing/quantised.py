"""What a `quantization_config` says: the precision of the weights, and which of them it leaves at 16 bits.

Sources: the quantization configs of transformers 5.24.0 (utils/quantization_config.py) and of compressed-tensors; MLX writes
`quantization` instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.tensors import Architecture, Tensor, tensors_of
from gpuledger.transform.sizing.weights import grouped, packed_bits

#: Where a part of the model is named in lists of what stays as it is.
_NAMES = {
    "attn": ("self_attn", "attention"), "ssm": ("linear_attn", "mamba", "mixer"),
    "shexp": ("shared_expert",), "exps": (".experts",), "ffn": ("mlp", "feed_forward"),
}  # fmt: skip
_LAYER = re.compile(r"layers\\?\.(\d+)\b")


@dataclass(frozen=True, slots=True)
class Packing:
    """One way of packing: its precision, its bits, those of a weight with its group, and the parts left alone.

    `in_group` is None where the format has groups of its own, or none. `experts` is the precision of the experts where that
    is another, and `layers` the precision of each matrix by its name, where all that are packed are listed.
    """

    precision: str
    bits: int
    in_group: Callable[[Tensor], Fraction] | None
    left: tuple[str, ...]
    experts: str = ""
    layers: Mapping[str, str] = field(default_factory=dict)


def packing(config: Mapping[str, object]) -> Packing | None:
    """What the config says of its weights, None where they are not quantised.

    Raises BadConfig for a method that is not known: at 16 bits its size would be wrong.
    """
    text = config.get("text_config")
    stated: Any = config.get("quantization_config") or config.get("quantization")
    if not stated and isinstance(text, Mapping):
        stated = text.get("quantization_config")
    if not isinstance(stated, Mapping) or not stated:
        return None
    method = str(stated.get("quant_method") or ("mlx" if "group_size" in stated and "bits" in stated else ""))
    left = tuple(str(name) for key in ("modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers")
                 for name in stated.get(key) or ())  # fmt: skip
    groups = stated.get("config_groups")
    first: Any = next(iter(groups.values())) if isinstance(groups, Mapping) and groups else {}
    weights = (first.get("weights") or {}) if isinstance(first, Mapping) else {}
    bits = int(weights.get("num_bits") or stated.get("bits") or stated.get("w_bit") or 4)
    group = weights.get("group_size") or stated.get("group_size") or stated.get("q_group_size")
    name = _precision(method, stated, weights, bits, group)
    listed = stated.get("quantized_layers")
    if isinstance(listed, Mapping) and listed:  # what ModelOpt packs in several ways at once
        layers = {str(part): _of_algorithm(how) for part, how in listed.items()}
        widest = max(layers.values(), key=lambda precision: 8 if precision in ("fp8", "int8") else 4)
        return Packing(widest, bits, None, left, layers=layers)
    if name is None:
        raise BadConfig(
            "the quantization_config has quant_method {method!r}, whose size is not known: give the folder with its "
            "safetensors files", method=method,
        )  # fmt: skip
    experts = config.get("expert_dtype") or (text.get("expert_dtype") if isinstance(text, Mapping) else None)
    if str(experts) in ("fp4", "mxfp4"):
        return Packing(name, bits, None, left, experts="mxfp4")
    in_group = None
    if name.startswith(("gptq", "awq")) and isinstance(group, int) and group > 0:
        is_compressed = method == "compressed-tensors"  # which keeps no index, and a zero point only where it needs one
        zeros = not is_compressed or weights.get("symmetric") is False
        in_group = grouped(bits, group, index=name.startswith("gptq") and not is_compressed, zeros=zeros)
    if name == "nf4" and not stated.get("bnb_4bit_use_double_quant"):  # whose blocks of 64 have a scale of 32 bits each
        return Packing(name, bits, lambda _: Fraction(9, 2), left)
    return Packing(name, bits, in_group, left)


def _of_algorithm(how: Any) -> str:
    """The precision that ModelOpt's name of an algorithm means (`FP8`, `W4A16_NVFP4`, `W4A8_AWQ`). Raises BadConfig."""
    algorithm = str(how.get("quant_algo") if isinstance(how, Mapping) else how).upper()
    words = {"NVFP4": "nvfp4", "MXFP4": "mxfp4", "AWQ": "awq-int4-g128", "FP8": "fp8", "INT8": "int8", "W8A8": "int8"}
    name = next((precision for word, precision in words.items() if word in algorithm), None)
    if name is None:
        raise BadConfig(
            "the quantization_config has quant_method {method!r}, whose size is not known: give the folder with its "
            "safetensors files", method=algorithm,
        )  # fmt: skip
    return name


def _precision(
    method: str, stated: Mapping[str, Any], weights: Mapping[str, Any], bits: int, group: object
) -> str | None:
    algorithm = str(stated.get("quant_algo") or stated.get("format") or "").upper()
    is_float = str(weights.get("type")) == "float"
    if method == "mlx":
        return f"mlx-{bits}bit"
    if method in ("mxfp4", "quark") and (method == "mxfp4" or "FP4" in str(stated).upper()):
        return "mxfp4"
    if method == "bitsandbytes":
        return "int8" if stated.get("load_in_8bit") else "nf4"
    if method in ("fp8", "fbgemm_fp8") or (method == "modelopt" and "FP8" in algorithm) or (is_float and bits == 8):
        return "fp8"
    if method in ("modelopt", "modelopt_fp4", "nvfp4") or (is_float and bits == 4):
        return "mxfp4" if group == 32 else "nvfp4"
    if method in ("awq", "auto-awq"):
        return "awq-int4-g128"
    if method in ("gptq", "auto-round", "intel/auto-round", "compressed-tensors", "auto_gptq"):
        if weights.get("group_size") is None and bits == 8 and method == "compressed-tensors":
            return "int8"
        return f"gptq-int{bits}-g128" if bits in (4, 8) else None
    return None


def of_files(architecture: Architecture, config: Mapping[str, object]) -> Architecture:
    """The architecture with its weights as the model's own files have them, as far as the config says.

    That is the list of tensors of the files; else the quantization that the config states, brought to the size that the
    index of the files states.
    """
    if isinstance(config.get("tensors"), list):
        used = max((tensor.used_experts for tensor in architecture.tensors), default=1)
        listed = tensors_of(Config(config, architecture.model_type), used)
        own = tuple(tensor for tensor in listed if not tensor.role.startswith("v."))
        tied = architecture.tied or not any(tensor.role == "output" for tensor in own)
        towers = tuple(tensor for tensor in listed if tensor.role.startswith("v."))
        stored_as = str(config.get("stored_as", ""))
        return replace(architecture, tensors=own, extra=towers, tied=tied, estimated="", stored_as=stored_as)
    packed, total = packing(config), config.get("total_bytes")
    if packed is None and not isinstance(total, int):
        return architecture
    name = packed.precision if packed else "bf16"
    tensors = [replace(t, stored_bits=_bits(t, packed) if packed else 16 * t.parameters) for t in architecture.tensors]
    extra = [replace(t, stored_bits=16 * t.parameters) for t in architecture.extra]
    if isinstance(total, int):
        counted = sum(tensor.stored_bits for tensor in tensors + extra)
        tensors = [replace(t, stored_bits=t.stored_bits * 8 * total // counted) for t in tensors]
        extra = [replace(t, stored_bits=t.stored_bits * 8 * total // counted) for t in extra]
    return replace(architecture, tensors=tuple(tensors), extra=tuple(extra), stored_as=name)


def _bits(tensor: Tensor, packed: Packing) -> int:
    if packed.layers:
        listed = next((precision for name, precision in packed.layers.items() if _names(name, tensor)), None)
        return math.ceil(packed_bits(tensor, listed)) if listed else 16 * tensor.parameters
    if packed.experts and tensor.experts > 1:
        return math.ceil(packed_bits(tensor, packed.experts))
    if tensor.kind != "matrix" or _is_left(tensor, packed.left):
        return 16 * tensor.parameters
    if packed.in_group is not None:
        return math.ceil(packed.in_group(tensor) * tensor.parameters)
    return math.ceil(packed_bits(tensor, packed.precision))


def _is_left(tensor: Tensor, left: tuple[str, ...]) -> bool:
    """Whether a list of what stays as it is names this tensor's part of every layer."""
    if tensor.role == "output":
        return not left or any("lm_head" in name for name in left)
    return tensor.role.startswith("ffn_gate_inp") or any(_names(name, tensor) for name in left)


def _names(name: str, tensor: Tensor) -> bool:
    """Whether a name of a list means this tensor: its part of the layer, of its own layer if the name has a number."""
    if tensor.kind != "matrix" or tensor.layer is None:
        return tensor.role == "output" and "lm_head" in name
    number = _LAYER.search(name)
    if (number and int(number[1]) != tensor.layer) or name.startswith("mtp"):
        return False
    words = next((words for part, words in _NAMES.items() if part in tensor.role), ())
    return any(word in name.replace("\\", "") for word in words)
