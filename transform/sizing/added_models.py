"""Models that a user added. Each has a file with its `config.json` and the day on which the user added it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.transform.sizing.config import read_json
from gpuledger.transform.sizing.errors import BadModelFile, of_a_stranger

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
#: The file of the models that are used most, with their configs by repository: every night writes it.
MOST_USED = Path("most-used", "models.json")


@dataclass(frozen=True, slots=True)
class OwnModel:
    """One added model."""

    model_id: str
    added_on: date
    config: Mapping[str, object]


def suggest_id(config: Mapping[str, object], path: Path) -> str | None:
    """An id made from the name in the config, else from the name of its folder. None if neither gives one."""
    for name in (config.get("_name_or_path"), path.resolve().parent.name):
        slug = re.sub(r"[^a-z0-9._-]+", "-", str(name or "").split("/")[-1].lower()).strip("-._")
        if slug:
            return slug
    return None


def save(folder: Path, model_id: str, config: Mapping[str, object], day: date) -> Path:
    """Saves `config` as the model `model_id` and returns its file.

    Raises BadModelFile if the id is not valid or belongs to another model. Raises what `shape_in` raises if the
    config cannot be counted.
    """
    if not _ID.fullmatch(model_id):
        raise BadModelFile(
            "the id {model_id!r} must be small letters, digits, dots and dashes, as in qwen3-8b", model_id=model_id
        )
    if _is_in_catalogue(model_id):
        raise BadModelFile(
            "the catalogue already has a model {model_id!r}: give yours another name with --id", model_id=model_id
        )
    _refuse_uncountable(config)
    path = folder / f"{model_id}.json"
    if path.exists() and _own_model_in(path).config != config:
        raise BadModelFile(
            "{path} is another model of that name: remove the file, or give yours another with --id", path=path
        )
    stored = {"model_id": model_id, "added_on": day.isoformat(), "config": dict(config)}
    local_files.write_text(path, json.dumps(stored, ensure_ascii=False, indent=1))
    return path


# The shapes of models are imported only here: every night looks for added models, and most data directories have none.


def _is_in_catalogue(model_id: str) -> bool:
    from gpuledger.transform.sizing import catalogue
    from gpuledger.transform.sizing.diffusion import diffusion_models

    return model_id in catalogue.models() or model_id in diffusion_models()


def _refuse_uncountable(config: Mapping[str, object]) -> None:
    """Raises SizingError if the model cannot be counted from `config`, or its weights not at every precision."""
    from gpuledger.transform.sizing.diffusion import shape_in
    from gpuledger.transform.sizing.tensors import Architecture
    from gpuledger.transform.sizing.weights import known_precisions, weights_at

    shape = shape_in(config)
    if isinstance(shape, Architecture):
        with of_a_stranger(shape.model_type):
            weights_at(shape, known_precisions())


def own_model(folder: Path, model_id: str) -> OwnModel | None:
    """The added model with that id, None if there is none. Raises BadModelFile if its file cannot be used."""
    path = folder / f"{model_id}.json"
    return _own_model_in(path) if _ID.fullmatch(model_id) and path.exists() else None


def load(folder: Path, check: Callable[[OwnModel], None] | None = None) -> tuple[list[OwnModel], list[BadModelFile]]:
    """The added models, and an error for each file that cannot be used, or for which `check` raises anything. A bad file
    does not stop the others.
    """
    own_models: list[OwnModel] = []
    wrong: list[BadModelFile] = []
    for path in sorted(folder.glob("*.json")):
        try:
            own_models.append(_own_model_in(path, check))
        except BadModelFile as error:
            wrong.append(error)
    return own_models, wrong


def _own_model_in(path: Path, check: Callable[[OwnModel], None] | None = None) -> OwnModel:
    stored = read_json(path, follow=False)
    config = stored.get("config")
    try:
        model = OwnModel(str(stored["model_id"]), date.fromisoformat(str(stored["added_on"])), dict(config))  # type: ignore[call-overload]
        if model.model_id != path.stem or _is_in_catalogue(model.model_id):
            raise BadModelFile(
                "{path}: its model_id must be {stem!r}, and none of the catalogue's", path=path, stem=path.stem
            )
        _refuse_uncountable(model.config)
        if check is not None:
            check(model)
    except BadModelFile:
        raise
    except Exception as error:  # noqa: BLE001  one bad file must not stop the others
        raise BadModelFile(
            "{path}: {error}: {error2}; remove the file and add the model with `gpuledger model add`", path=path,
            error=type(error).__name__, error2=error,
        ) from None  # fmt: skip
    return model
