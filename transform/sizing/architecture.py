"""From a Hugging Face style `config.json` to the exact number of parameters.

`read_config` turns the config into the list of weight tensors, and `count_parameters` sums them. What the keys mean, and how
families differ, is in `families/meaning.toml`. What is no decoder alone (BERT, T5, Whisper) has a module in `families/`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import decoder
from gpuledger.transform.sizing.files.quantised import of_files
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: The module in `families/` of what is no decoder alone, by `model_type`. Only the one that is asked for is loaded.
_FAMILIES = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "distilbert", "clip_text_model"), "bert"),
    "t5": "t5", "mt5": "t5", "whisper": "whisper", "gguf": "gguf",
}  # fmt: skip
#: Families whose makers do not count the embedding table among the active parameters, since a token uses only one row of it.
#: Source: OpenAI 2025, gpt-oss-120b & gpt-oss-20b model card, table 1 (5.13B and 3.61B active).
_WITHOUT_EMBEDDING = ("gpt_oss",)


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """Numbers of weights. `embedding`, `attention`, `feed_forward`, `output` and `other` add up to `total`.

    `active` counts the weights that one token uses: all except the experts that were not chosen. It includes the whole
    embedding table, as most model cards do. `multiplied` counts the weights that a token is multiplied with: all matrices,
    of experts only the chosen ones, and the output projection even if it is the embedding table itself. The other weights
    are looked up or added.
    """

    total: int
    active: int
    multiplied: int
    embedding: int
    attention: int
    feed_forward: int
    output: int
    other: int


def read_config(config: Mapping[str, object]) -> Architecture:
    """The architecture that a `config.json` describes.

    A `model_type` that is not in `meaning.toml` is read by the meaning of its keys, and the result says what is estimated.
    Raises BadConfig if a number is missing or contradicts another.
    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise BadConfig(Message("model.config_no_model_type"))
    family = _FAMILIES.get(model_type)
    reader = import_module(f"gpuledger.transform.sizing.families.{family}") if family else decoder
    architecture: Architecture = reader.read(Config(config, model_type))
    return architecture if model_type == "gguf" else of_files(architecture, config)


# Cached, because this is called for every precision and load of a model.
@functools.lru_cache(maxsize=256)
def count_parameters(architecture: Architecture) -> ParameterCount:
    """The exact number of weights, and its parts (see ParameterCount). A weight that is used twice counts once."""
    tensors = architecture.tensors + architecture.extra
    multiplied = sum(tensor.active_parameters for tensor in tensors if tensor.kind == "matrix")
    if architecture.tied:
        multiplied += architecture.vocab * architecture.hidden
    parts = {"embedding": 0, "attention": 0, "feed_forward": 0, "output": 0, "other": 0}
    for tensor in architecture.tensors:
        parts[_part(tensor)] += tensor.parameters
    parts["other"] += sum(tensor.parameters for tensor in architecture.extra)
    active = sum(tensor.active_parameters for tensor in tensors)
    if architecture.model_type in _WITHOUT_EMBEDDING:
        active -= parts["embedding"]
    return ParameterCount(
        total=sum(tensor.parameters for tensor in tensors),
        active=active,
        multiplied=multiplied,
        **parts,
    )


def _part(tensor: Tensor) -> str:
    role = tensor.role.removeprefix("enc.").removeprefix("dec.")
    if tensor.kind == "embedding":
        return "embedding"
    if "norm" in role:
        return "other"
    if role.startswith(("attn", "cross_attn", "ssm")):
        return "attention"
    if role.startswith(("ffn", "exp_probs")):
        return "feed_forward"
    return "output" if role.startswith("output") else "other"
