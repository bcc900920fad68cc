"""Models that a user added, in decisions/models.toml, each with its `config.json` and the day on which it was added."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpuledger import local_files, records
from gpuledger.message import Message
from gpuledger.transform.sizing.errors import BadModelFile, of_a_stranger

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
#: The models that are used most, with their configs by repository, in a data directory: every night writes it.
MOST_USED = Path("models", "most-used", "models.json")


@dataclass(frozen=True, slots=True)
class OwnModel:
    """One added model. Raises BadModelFile for an id that is none, or one of the catalogue."""

    model_id: str
    added_on: date
    config: dict[str, Any]

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.model_id):
            raise BadModelFile(
                "the id {model_id!r} must be small letters, digits, dots and dashes, as in qwen3-8b",
                model_id=self.model_id,
            )
        if _is_in_catalogue(self.model_id):
            raise BadModelFile(
                "the catalogue already has a model {model_id!r}: give yours another name with --id",
                model_id=self.model_id,
            )


def suggest_id(config: Mapping[str, object], path: Path) -> str | None:
    """An id made from the name in the config, else from the name of its folder. None if neither gives one."""
    for name in (config.get("_name_or_path"), path.resolve().parent.name):
        slug = re.sub(r"[^a-z0-9._-]+", "-", str(name or "").split("/")[-1].lower()).strip("-._")
        if slug:
            return slug
    return None


def save(root: Path, model: OwnModel) -> None:
    """Keep a model in the data directory `root`.

    Raises BadModelFile if another model has its id. Raises what `check` raises if the config cannot be counted.
    """
    check(model)
    known = next((one for one in MODELS.usable(root)[0] if one.model_id == model.model_id), model)
    if known.config != model.config:
        raise BadModelFile(
            "{path} has another model of that name: take it out of the file, or give yours another with --id",
            path=MODELS.file(root),
        )
    MODELS.put(root, model)


# The shapes of models are imported only here: every night looks for added models, and most data directories have none.


def _is_in_catalogue(model_id: str) -> bool:
    from gpuledger.transform.sizing import catalogue
    from gpuledger.transform.sizing.diffusion import diffusion_models

    return model_id in catalogue.models() or model_id in diffusion_models()


def check(model: OwnModel) -> None:
    """Raises SizingError if the model cannot be counted from its config, or its weights not at every precision."""
    from gpuledger.transform.sizing.diffusion import shape_in
    from gpuledger.transform.sizing.tensors import Architecture
    from gpuledger.transform.sizing.weights import known_precisions, weights_at

    shape = shape_in(model.config)
    if isinstance(shape, Architecture):
        with of_a_stranger(shape.model_type):
            weights_at(shape, known_precisions())


def _read(entry: Mapping[str, Any]) -> OwnModel:
    try:
        config = local_files.loads(str(entry.get("config")))
    except ValueError as error:
        raise ValueError(Message("its config is not JSON ({error})", error=error)) from None
    return records.typed(OwnModel)({**entry, "config": config})


def _write(model: OwnModel) -> Mapping[str, object]:
    # TOML has no null, so the config stands there as the text of its JSON.
    return {**asdict(model), "config": json.dumps(model.config, ensure_ascii=False, indent=1)}


MODELS = records.Kind("model", "models.toml", key=lambda model: model.model_id, read=_read, write=_write)
