"""From a Hugging Face style `config.json` to the list of weight tensors.

What the keys mean, and how families differ, is in `meaning.toml`. What is no decoder alone (BERT, T5, Whisper) has a module
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import decoder
from gpuledger.transform.sizing.quantised import of_files
from gpuledger.transform.sizing.tensors import Architecture

#: The module of what is no decoder alone, by `model_type`. Only the one that is asked for is loaded.
_FAMILIES = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "distilbert", "clip_text_model"), "bert"),
    "t5": "t5", "mt5": "t5", "whisper": "whisper", "gguf": "gguf",
}  # fmt: skip


def read_config(config: Mapping[str, object]) -> Architecture:
    """The architecture that a `config.json` describes.

    A `model_type` that is not in `meaning.toml` is read by the meaning of its keys, and the result says what is estimated.
    Raises BadConfig if a number is missing or contradicts another.
    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise BadConfig("the config has no model_type; use the config.json that stands beside the weights")
    family = _FAMILIES.get(model_type)
    reader = import_module(f"gpuledger.transform.sizing.families.{family}") if family else decoder
    architecture: Architecture = reader.read(Config(config, model_type))
    return architecture if model_type == "gguf" else of_files(architecture, config)
