"""Reads the shape of a model from the head of a GGUF file: each tensor, as the file names it.

Source: ggml's description of the format (docs/gguf.md), versions 2 and 3.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.gguf import BLOCKS

_MAGIC = b"GGUF"
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
_LAYER = re.compile(r"blk\.(\d+)\.(.+)")
#: The struct format of each value type.
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
#: Block types by their numbers in ggml. Source: ggml_type in ggml.h.
_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K",
    13: "Q5_K", 14: "Q6_K", 20: "IQ4_NL", 23: "IQ4_XS", 30: "BF16", 39: "MXFP4",
}  # fmt: skip
#: The most values or tensors, and the longest text, that are read. No real file has more; without these limits a damaged
#: file could fill the memory.
_MOST_ENTRIES, _MOST_TEXT = 1_000_000, 64_000_000
#: Arrays up to this length are read. Of longer arrays (the tokenizer's words) only the length is kept.
_SHORT_ARRAY = 4096
#: In these families one of so many layers reaches over the whole context, and the others reach over the window. A file does
#: not list these layers. Source: llama.cpp, set_swa_pattern in llama-model.cpp.
_EVERY = {"gemma2": 2, "gemma3": 6, "cohere2": 4, "gpt-oss": 2}
_TABLES = ("token_embd", "position_embd", "token_types", "per_layer_token_embd")


class BadGguf(SizingError):
    """A GGUF file cannot be read. The message names the file and says what to do."""


@dataclass(slots=True)
class Head:
    """The part of a file before the weights: `values` by key, and the name, dimensions and type of each tensor."""

    values: dict[str, Any] = field(default_factory=dict)
    tensors: list[tuple[str, tuple[int, ...], int]] = field(default_factory=list)


def is_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do. False for a pipe or a device, without reading from it."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(4) == _MAGIC
    except OSError:
        return False


def config_of(path: Path) -> dict[str, Any]:
    """The model in a GGUF file, as a config that `read_config` reads (model_type `gguf`).

    If the file has several parts, `path` may be any of them. Raises BadGguf if the file is damaged, if a part is missing, or
    if it holds no language model that can be counted.
    """
    heads = [_head_of(part) for part in _parts(path)]
    values = heads[0].values
    kind = values.get("general.architecture")
    if not isinstance(kind, str):
        raise BadGguf(Message("model.not_say_holds", path=path))
    tensors = [tensor for head in heads for tensor in head.tensors]
    if kind == "clip" or not any(name == "token_embd.weight" for name, *_ in tensors):
        raise BadGguf(Message("model.holds_no_language_model", path=path, kind=kind))
    rows = [_tensor(name, dims) for name, dims, _ in tensors]
    if recurrent := next((row[0] for row in rows if str(row[0]).startswith(("ssm_", "time_mix"))), None):
        raise BadGguf(Message("model.layers_state_their_own_not", path=path, recurrent=recurrent))
    name = values.get("general.name") or _PART.sub("", path.name).removesuffix(".gguf")
    return {
        "model_type": "gguf",
        "_name_or_path": str(name),
        "architecture": kind,
        "num_hidden_layers": _whole(values, f"{kind}.block_count", path),
        "hidden_size": _whole(values, f"{kind}.embedding_length", path),
        "max_position_embeddings": _whole(values, f"{kind}.context_length", path),
        "heads": _whole(values, f"{kind}.attention.head_count", path),
        "kv_heads": values.get(f"{kind}.attention.head_count_kv"),
        "key_length": values.get(f"{kind}.attention.key_length"),
        "value_length": values.get(f"{kind}.attention.value_length"),
        "latent": values.get(f"{kind}.attention.kv_lora_rank"),
        "rotary": values.get(f"{kind}.rope.dimension_count"),
        "window": values.get(f"{kind}.attention.sliding_window") if kind in _EVERY else None,
        "every": _EVERY.get(kind),
        "experts_used": values.get(f"{kind}.expert_used_count"),
        "tensors": rows,
    }


def file_bytes(path: Path) -> int | None:
    """Bytes of all tensors in a file and its other parts. None if we do not know the size of a tensor's type."""
    total = 0
    for part in _parts(path):
        for _, dims, kind in _head_of(part).tensors:
            if kind not in _TYPES:
                return None
            weights, size = BLOCKS[_TYPES[kind]]
            count = 1
            for length in dims:
                count *= length
            total += count // weights * size
    return total


def _parts(path: Path) -> list[Path]:
    match = _PART.search(path.name)
    if match is None:
        return [path]
    parts = [
        path.with_name(f"{path.name[: match.start()]}-{n:05}-of-{match[2]}.gguf") for n in range(1, int(match[2]) + 1)
    ]
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise BadGguf(Message("model.parts_not_beside", path=path, count=len(parts), missing=tuple(missing[:3])))
    return parts


def _whole(values: Mapping[str, Any], key: str, path: Path) -> int:
    """A whole number above zero. If the value is an array with a number for each layer, the largest of these."""
    value = values.get(key)
    if isinstance(value, list) and value:
        value = max(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise BadGguf(Message("model.whole_number_above_0_not", path=path, key=key, value=value))
    return value


def _tensor(name: str, dims: Sequence[int]) -> list[Any]:
    """Role, layer, rows, columns, experts and kind, as in tensors.py. The file lists the innermost dimension first."""
    match = _LAYER.fullmatch(name)
    layer, short_name = (int(match[1]), match[2]) if match else (None, name)
    role, _, kind = short_name.rpartition(".")
    if kind != "weight":
        role = f"{role}_{kind}" if role else kind
    cols, rows, experts = (*dims, 1, 1)[:3]
    if kind == "weight" and role in _TABLES:
        return [role, layer, rows, cols, 1, "embedding"]
    if kind == "weight" and len(dims) > 1:
        return [role, layer, rows, cols, experts, "matrix"]
    if role.endswith("_exps_bias"):
        return [role, layer, 1, cols, rows, "vector"]
    return [role, layer, rows * experts, cols, 1, "vector"]


def _head_of(path: Path) -> Head:
    try:
        with path.open("rb") as file:
            return _read_head(file, path)
    except OSError as error:
        raise BadGguf(Message("model.cannot_read", path=path, strerror=error.strerror)) from None
    except (struct.error, UnicodeDecodeError, OverflowError, MemoryError):
        raise BadGguf(Message("model.damaged_not_downloaded_end", path=path)) from None


def _read_head(file: BinaryIO, path: Path) -> Head:
    if file.read(4) != _MAGIC:
        raise BadGguf(Message("model.no_gguf_file", path=path))
    (version,) = struct.unpack("<I", file.read(4))
    if version not in (2, 3):
        raise BadGguf(Message("model.gguf_version_2_3_read", path=path, version=version))
    tensors, values = struct.unpack("<QQ", file.read(16))
    if max(tensors, values) > _MOST_ENTRIES:
        raise BadGguf(Message("model.damaged_states_tensors_values", path=path, tensors=tensors, values=values))
    head = Head()
    for _ in range(values):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        head.values[key] = _value(file, kind, path)
    for _ in range(tensors):
        name = _text(file)
        (count,) = struct.unpack("<I", file.read(4))
        if not 1 <= count <= 4:
            raise BadGguf(Message("model.damaged_dimensions", path=path, name=name, count=count))
        dims = struct.unpack(f"<{count}Q", file.read(8 * count))
        kind, _ = struct.unpack("<IQ", file.read(12))
        head.tensors.append((name, dims, kind))
    return head


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _MOST_TEXT:
        raise OverflowError
    content = file.read(length)
    if len(content) < length:
        raise OverflowError
    return content.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int, path: Path) -> Any:
    if kind in _NUMBERS:
        form = _NUMBERS[kind]
        return struct.unpack(form, file.read(struct.calcsize(form)))[0]
    if kind == _STRING:
        return _text(file)
    if kind != _ARRAY:
        raise BadGguf(Message("model.damaged_value_unknown_type", path=path, kind=kind))
    inner, length = struct.unpack("<IQ", file.read(12))
    if inner in _NUMBERS and length > _SHORT_ARRAY:
        file.seek(length * struct.calcsize(_NUMBERS[inner]), 1)
        return length
    if inner in _NUMBERS or length <= _SHORT_ARRAY:
        return [_value(file, inner, path) for _ in range(length)]
    for _ in range(length):
        _value(file, inner, path)
    return length
