"""A model of pictures or clips from its folder: `model_index.json` names the parts, and each has its weights in a folder.

Source: huggingface/diffusers 0.42.1, pipelines/pipeline_utils.py (the index) and pipelines/pipeline_loading_utils.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpuledger.transform.sizing.config import read_json
from gpuledger.transform.sizing.diffusion import MODEL_TYPE
from gpuledger.transform.sizing.errors import BadModelFile
from gpuledger.transform.sizing.files.safetensors import counted, head_of

INDEX = "model_index.json"
#: Weights that are loaded if nobody asks for a variant (`.fp16.`, `.non_ema.`), whole or in parts.
MAIN = re.compile(r"(?:diffusion_pytorch_model|model)(?:-\d{5}-of-\d{5})?\.safetensors")
#: What a part does by its name; every other part denoises. What has no weights, or is not needed for a picture.
_TEXT = ("text", "image_encoder", "connector", "prompt")
_VAE = ("vae", "audio_vae", "vocoder", "movq", "vqgan")
_NO_PART = re.compile(r"scheduler|tokenizer|feature_extractor|processor|safety_checker|guider")


def part_names(index: Mapping[str, Any]) -> list[str]:
    """The parts with weights that a `model_index.json` names."""
    return [name for name, of in index.items() if isinstance(of, list) and len(of) == 2 and all(of)
            and name.isidentifier() and not _NO_PART.search(name)]  # fmt: skip


def main_files(names: Iterable[str]) -> list[str]:
    """The files of a part's weights that are loaded: without a variant, or all where there are none such."""
    all_names = sorted(name for name in names if name.endswith(".safetensors"))
    return [name for name in all_names if MAIN.fullmatch(name)] or all_names


def of_pipeline(folder: Path) -> dict[str, Any]:
    """The parts as a config, with what the denoiser and the decoder say of themselves. Raises SizingError."""
    parts: list[list[Any]] = []
    configs: dict[str, Any] = {}
    for name in part_names(read_json(folder / INDEX)):
        role = "vae" if name.startswith(_VAE) else "text" if name.startswith(_TEXT) else "denoiser"
        parts.append([role, name, *_weights(folder / name)])
        path = folder / name / "config.json"
        if path.is_file() and role != "text":
            configs.setdefault(role, dict(read_json(path)))
    return {"model_type": MODEL_TYPE, "_name_or_path": folder.resolve().name, "parts": parts, **configs}


def _weights(folder: Path) -> tuple[int, str]:
    """The number of weights of a part, and where it is from."""
    files = [folder / name for name in main_files(path.name for path in folder.glob("*.safetensors"))]
    if files:
        return sum(counted(head_of(file)) for file in files), "counted from its files"
    for index in sorted(folder.glob("*.safetensors.index.json")):
        metadata = read_json(index).get("metadata")
        total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
        if isinstance(total, int) and total > 0:
            return total // 2, "size of its files, at 16 bits a weight"
    raise BadModelFile(
        "{path} has no safetensors files: fetch those of this part, or their index (….safetensors.index.json), into it",
        path=folder,
    )
