"""A model from whatever files somebody has of it: a folder, a config.json, safetensors, their index, or GGUF files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuledger.extract.hub.weight_types import MOST_PARTS, TOO_MANY_PARTS
from gpuledger.transform.sizing.config import read_json
from gpuledger.transform.sizing.errors import BadModelFile, of_a_stranger
from gpuledger.transform.sizing.files.gguf_file import config_of, is_gguf
from gpuledger.transform.sizing.files.pipeline import INDEX, of_pipeline
from gpuledger.transform.sizing.files.safetensors import head_of, rows
from gpuledger.transform.sizing.quantised import packing

_INDEX = "model.safetensors.index.json"


def described(path: Path) -> dict[str, Any]:
    """The model in `path` as a config that `read_config` reads, with its tensors where the files list them.

    Raises SizingError, which says which file is missing.
    """
    path = path.expanduser()
    with of_a_stranger(path):
        return _described(path)


def _described(path: Path) -> dict[str, Any]:
    if path.is_dir():
        return _of_folder(path)
    if is_gguf(path) or path.suffix == ".gguf":
        return config_of(path)
    if path.suffix == ".safetensors" or path.name in (_INDEX, INDEX):
        return _of_folder(path.parent)
    return _of_config(path) if path.name == "config.json" else dict(read_json(path))


def _of_folder(folder: Path) -> dict[str, Any]:
    config = folder / "config.json"
    if (folder / INDEX).is_file():
        return of_pipeline(folder)
    if config.is_file():
        return _of_config(config)
    parts = sorted(part for part in folder.glob("*.gguf") if not part.name.startswith("mmproj"))
    if not parts:
        raise BadModelFile(
            "{path} has no config.json, model_index.json or GGUF file: fetch that of the model into it", path=folder
        )
    return config_of(parts[0])


def _of_config(path: Path) -> dict[str, Any]:
    """A config.json with what the files beside it say. ModelOpt once stated the quantisation in a file of its own."""
    config, beside = dict(read_json(path)), path.with_name("hf_quant_config.json")
    stated = read_json(beside).get("quantization") if beside.is_file() else None
    if isinstance(stated, dict) and not config.get("quantization_config"):
        config["quantization_config"] = {"quant_method": "modelopt", **stated}
    return _with_tensors(config, path.parent)


def _with_tensors(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The config with the tensors of the safetensors files beside it, or with their size as the index states it."""
    index = folder / _INDEX
    stated: Mapping[str, Any] = read_json(index) if index.is_file() else {}
    weight_map = stated.get("weight_map")
    names = sorted({str(name) for name in weight_map.values()}) if isinstance(weight_map, dict) else []
    files = [folder / Path(name).name for name in names] or sorted(folder.glob("*.safetensors"))
    present = [file for file in files if file.exists()]
    if len(files) > MOST_PARTS:
        raise BadModelFile(TOO_MANY_PARTS, what=folder, count=len(files), most=MOST_PARTS)
    if present and len(present) < len(files):
        missing = next(file.name for file in files if not file.exists())
        raise BadModelFile(
            "{path} has {count} of {parts} safetensors files, and {missing} is not among them", path=folder,
            count=len(present), parts=len(files), missing=missing,
        )  # fmt: skip
    if present:
        return with_heads(config, [head_of(file) for file in present])
    metadata = stated.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return config | {"total_bytes": int(total)} if isinstance(total, int | float) and total > 0 else config


def with_heads(config: dict[str, Any], heads: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The config with the tensors that the heads of its safetensors files list."""
    packed = packing(config)
    text = next(
        (
            part
            for key, part in config.items()
            if key.endswith(("text_config", "llm_config")) and isinstance(part, dict)
        ),
        config,
    )
    stated = text.get("num_hidden_layers") or text.get("n_layer")
    layers = stated if isinstance(stated, int) else 10_000
    tensors = rows(heads, packed.bits if packed else 16, layers)
    bits = sum(row[6] for row in tensors) / max(1, sum(row[2] * row[3] * row[4] for row in tensors))
    name = packed.precision if packed else "fp32" if bits > 24 else "bf16" if bits > 12 else "fp8"
    return config | {"tensors": tensors, "stored_as": name}
