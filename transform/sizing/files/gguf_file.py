"""Reads the shape of a model from the head of a GGUF file: each tensor, as the file names it.

Source: ggml's description of the format (docs/gguf.md), versions 2 and 3.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from gpuledger import local_files
from gpuledger.extract.hub.weight_types import MOST_PARTS, TOO_MANY_PARTS
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
#: Block types by their numbers in ggml, and names of file types by theirs. Source: the gguf package 0.19.0, constants
#: GGMLQuantizationType and LlamaFileType.
_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K",
    13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S",
    22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0",
    35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}  # fmt: skip
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE", 39: "NVFP4_GGUF", 40: "Q1_0",
}  # fmt: skip
#: The most values or tensors, and the longest text, that are read. No real file has more; without these limits a damaged
#: file could fill the memory.
_MOST_ENTRIES, _MOST_TEXT, _LONGEST_HEAD = 1_000_000, 64_000_000, 400_000_000
#: Arrays up to this length are read. Of longer arrays (the tokenizer's words) only the length is kept.
_SHORT_ARRAY = 4096
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
        raise BadGguf("{path} does not say what it holds (general.architecture)", path=path)
    tensors = [tensor for head in heads for tensor in head.tensors]
    if kind == "clip" or not any(name == "token_embd.weight" for name, *_ in tensors):
        raise BadGguf(
            "{path} holds no language model (general.architecture {kind!r}): use the file with token_embd.weight",
            path=path, kind=kind,
        )  # fmt: skip
    for key in ("block_count", "embedding_length", "context_length"):
        _whole(values, f"{kind}.{key}", path)
    name = values.get("general.name") or _PART.sub("", path.name).removesuffix(".gguf")
    return {
        "model_type": "gguf",
        "_name_or_path": str(name),
        "architecture": kind,
        "stored_as": _stored_as(values.get("general.file_type"), tensors),
        **{
            key.removeprefix(kind): value
            for key, value in values.items()
            if key.startswith(f"{kind}.") and not isinstance(value, float | str)
        },
        "tensors": [[*_tensor(name, dims), _bits(dims, kind)] for name, dims, kind in tensors],
    }


def _stored_as(file_type: object, tensors: Sequence[tuple[str, tuple[int, ...], int]]) -> str:
    """The name of the file's type: as the file says, else the block type that most of its weights have."""
    if isinstance(file_type, int) and file_type in _FILE_TYPES:
        return _FILE_TYPES[file_type]
    weights: Counter[str] = Counter()
    for _, dims, kind in tensors:
        weights[_TYPES.get(kind, "")] += math.prod(dims)
    most = weights.most_common(1)[0][0]
    return {
        "Q4_K": "Q4_K_M",
        "Q5_K": "Q5_K_M",
        "Q3_K": "Q3_K_M",
        "IQ2_S": "IQ2_M",
        "MXFP4": "MXFP4_MOE",
        "NVFP4": "NVFP4_GGUF",
    }.get(most, most)


def _bits(dims: Sequence[int], kind: int) -> int:
    """Bits of a tensor in the file, 0 if we do not know its type."""
    weights, size = BLOCKS[_TYPES[kind]] if kind in _TYPES else (1, 0)
    return math.prod(dims) // weights * size * 8


def _parts(path: Path) -> list[Path]:
    match = _PART.search(path.name)
    if match is None:
        return [path]
    if int(match[2]) > MOST_PARTS:
        raise BadGguf(TOO_MANY_PARTS, what=path, count=int(match[2]), most=MOST_PARTS)
    parts = [
        path.with_name(f"{path.name[: match.start()]}-{n:05}-of-{match[2]}.gguf") for n in range(1, int(match[2]) + 1)
    ]
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise BadGguf(
            "{path} is one of {count} parts, and {missing} is not beside it", path=path, count=len(parts),
            missing=tuple(missing[:3]),
        )  # fmt: skip
    return parts


def _whole(values: Mapping[str, Any], key: str, path: Path) -> int:
    """A whole number above zero. If the value is an array with a number for each layer, the largest of these."""
    value = values.get(key)
    if isinstance(value, list) and value:
        value = max(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise BadGguf("{path}: {key} must be a whole number above 0, not {value!r}", path=path, key=key, value=value)
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
        with local_files.opened(path, follow=True) as file:
            return _read_head(file, path)
    except OSError as error:
        raise BadGguf("{path} cannot be read ({strerror})", path=path, strerror=local_files.why(error)) from None
    except (struct.error, UnicodeDecodeError, OverflowError, MemoryError):
        raise BadGguf("{path} is damaged or was not downloaded to its end", path=path) from None


def _read_head(file: BinaryIO, path: Path) -> Head:
    if file.read(4) != _MAGIC:
        raise BadGguf("{path} is no GGUF file", path=path)
    (version,) = struct.unpack("<I", file.read(4))
    if version not in (2, 3):
        raise BadGguf(
            "{path} is GGUF of version {version}, and 2 and 3 are read: convert it anew", path=path, version=version
        )
    tensors, values = struct.unpack("<QQ", file.read(16))
    if max(tensors, values) > _MOST_ENTRIES:
        raise BadGguf(
            "{path} is damaged: it states {tensors:,} tensors and {values:,} values", path=path, tensors=tensors,
            values=values,
        )  # fmt: skip
    head = Head()
    for _ in range(values):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        head.values[key] = _value(file, kind, path)
    for _ in range(tensors):
        name = _text(file)
        (count,) = struct.unpack("<I", file.read(4))
        if not 1 <= count <= 4:
            raise BadGguf("{path} is damaged: {name!r} has {count} dimensions", path=path, name=name, count=count)
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
        raise BadGguf("{path} is damaged: it has a value of the unknown type {kind}", path=path, kind=kind)
    inner, length = struct.unpack("<IQ", file.read(12))
    # No program writes arrays of arrays, and a head that large would take minutes.
    if inner == _ARRAY or length > _MOST_ENTRIES * 4 or file.tell() > _LONGEST_HEAD:
        raise OverflowError
    if inner in _NUMBERS and length > _SHORT_ARRAY:
        file.seek(length * struct.calcsize(_NUMBERS[inner]), 1)
        return length
    if inner in _NUMBERS or length <= _SHORT_ARRAY:
        return [_value(file, inner, path) for _ in range(length)]
    for _ in range(length):
        _value(file, inner, path)
    return length
