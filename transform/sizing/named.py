"""The model that a person means: a file, a folder, an id, `org/name[:QUANT]`, an Ollama tag, or an address of a page."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from gpuledger.message import Message
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.added_models import MODELS, MOST_USED, check
from gpuledger.transform.sizing.config import read_json
from gpuledger.transform.sizing.diffusion import DiffusionModel, diffusion_models, meant, shape_in
from gpuledger.transform.sizing.tensors import Architecture, count_parameters


def is_path(name: str) -> bool:
    """Whether a name of a model is meant as a file or folder, and not as `org/name` or an Ollama tag."""
    is_file = name.endswith((".json", ".gguf", ".safetensors")) and "://" not in name
    return is_file or name.startswith((".", "/", "~")) or ("/" in name and os.path.isdir(name))  # noqa: PTH112  of any length


def parameters_of(shape: Architecture | DiffusionModel) -> int:
    """The number of its weights."""
    return shape.parameters if isinstance(shape, DiffusionModel) else count_parameters(shape).total


#: What the names of models say that read texts and write none: their configs are those of models that write.
_READ_ONLY = ("embed", "rerank")


def shape_of(name: str, own: Path) -> Architecture | DiffusionModel:
    """The model that `name` means: in a file, among the models added in the data directory `own`, or in the catalogue.

    Raises UnknownModel, with names like it and the way to any other model, if there is none.
    """
    _, shape = _named(name, own)
    reads_only = any(word in Path(name).name.lower() for word in _READ_ONLY)
    if reads_only and isinstance(shape, Architecture) and shape.kind == "decoder":
        return replace(shape, kind="encoder")
    return shape


def id_of(name: str, own: Path) -> str:
    """The id of the model that `name` means, as `shape_of` finds it; a path is its own. Raises UnknownModel."""
    return name if is_path(name) else _named(name, own)[0]


def _named(name: str, own: Path) -> tuple[str, Architecture | DiffusionModel]:
    if is_path(name):
        from gpuledger.transform.sizing.files.source import described  # most models are named and no file is read

        return name, shape_in(described(Path(name)))
    if name in catalogue.models():
        return name, catalogue.architecture(name)
    plain = catalogue.without_address(name)
    added = {model.model_id: model for model in MODELS.usable(own)[0]}
    mine = added.get(plain) or added.get(catalogue.slug(plain))
    if mine is not None:
        return mine.model_id, shape_in(mine.config)
    pictures, known_id = meant(plain), catalogue.canonical(plain)
    if pictures is not None:
        return pictures, diffusion_models()[pictures]
    if known_id is not None:
        return known_id, catalogue.architecture(known_id)
    listed = read_json(own / MOST_USED, follow=False) if (own / MOST_USED).is_file() else {}
    repository = catalogue.meant(plain, {catalogue.untuned(name): name for name in listed})
    if repository is not None:
        return repository, shape_in(dict(listed[repository]))  # type: ignore[call-overload]
    raise catalogue.unknown(name, names(own))


def names(own: Path) -> list[str]:
    """The ids of the models of the catalogue and of those that were added in the data directory `own`."""
    return [*catalogue.models(), *diffusion_models(), *(model.model_id for model in MODELS.usable(own, check)[0])]


#: What licences do not allow, by their names: commercial use, use in some countries, and use without a fee beyond a revenue.
#: As their texts say (of MiniMax and Tencent: pages read on 2026-11-28).
_NOT_COMMERCIAL = frozenset(
    ("cc-by-nc-4.0", "mrl", "mnpl-0.1", "exaone", "minimax-non-commercial", "qwen-research", "flux-dev-non-commercial",
     "sai-nc-community", "llama1-research", "opt-research")
)  # fmt: skip
_NOT_EVERYWHERE = frozenset(("tencent-hunyuan-community", "tencent-hunyuan-a13b"))
_FREE_BELOW_USD = {"stability-ai-community": 1_000_000, "lfm1.0": 10_000_000, "ltx-2-community": 10_000_000}


def limit_of_licence(model_id: str) -> Message | None:
    """What the licence of a model of the catalogue does not allow a buyer, None for the others."""
    model = catalogue.models().get(model_id) or diffusion_models().get(model_id)
    licence = (model and model.licence) or ""
    if licence in _NOT_COMMERCIAL:
        return Message("Its licence ({licence}) allows no commercial use without its makers' consent.", licence=licence)
    if licence in _NOT_EVERYWHERE:
        return Message(
            "Its licence ({licence}) does not hold in the European Union, the United Kingdom and South Korea.",
            licence=licence,
        )
    if usd := _FREE_BELOW_USD.get(licence):
        return Message(
            "Its licence ({licence}) is free for who earns less than {usd:,} USD a year.", licence=licence, usd=usd
        )
    return None


#: The files that most people run where a model is published at 16 bits: of llama.cpp, and of servers for many users.
USUAL_FILE, SERVED_FILE = "Q4_K_M", "awq-int4-g128"
#: Users at once for whom a server of files is enough: own choice, two seldom ask in the same moment.
FEW_USERS = 2


def usual_precision(shape: Architecture | DiffusionModel, name: str, *, is_served: bool = False) -> str:
    """The precision where none is asked for: that of the name, else that of the model's files, else the usual one: of
    servers if it `is_served`.
    """
    if isinstance(shape, DiffusionModel):
        return "fp16"
    named = None if is_path(name) else catalogue.precision_in(name)
    if shape.is_of_speech or shape.kind == "encoder":
        usual = "fp16"  # what faster-whisper and sentence-transformers load on a card
    else:
        usual = SERVED_FILE if is_served and shape.kind == "decoder" else USUAL_FILE
    return named or shape.stored_as or usual
