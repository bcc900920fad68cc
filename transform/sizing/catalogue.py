"""The models that people run, as data: `models/*.toml`, one file a family.

Shapes are facts of the published configs; a published parameter count stands beside them with its source, so that the
count made here can be checked. Nothing that follows from a shape (parameters, bytes, operations) is stored.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gpuledger.transform.sizing.architecture import read_config
from gpuledger.transform.sizing.errors import UnknownModel
from gpuledger.transform.sizing.tensors import Architecture

#: A size as people write it, and where an id states one: of a mixture that of all its weights.
_SIZE = re.compile(r"(\d+(?:\.\d+)?)b")
_SIZE_IN_NAME = re.compile(r"-(\d+(?:\.\d+)?)b\b")
#: Names in an answer to a name that none has, and models of the next sizes.
_MOST_LISTED, _NEXT = 12, 4
_TUNED = frozenset({"instruct", "chat", "it", "hf", "base", "gguf"})

MODELS = Path(__file__).parent / "models"
#: The files whose models make pictures or clips (see diffusion.py).
OF_DIFFUSION = ("diffusion", "video")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. `family` is the file it stands in, `ollama` the tags under which Ollama offers it.

    `published_parameters` is somebody else's exact count, with where it stands; both are None where none was found.
    `shape_source` is where its config was compared with another's, None where nobody here did.
    """

    model_id: str
    family: str
    repository: str
    config: Mapping[str, object]
    ollama: tuple[str, ...] = ()
    published_parameters: int | None = None
    published_source: str | None = None
    shape_source: str | None = None


@functools.cache
def models() -> Mapping[str, Model]:
    """All models by id, in the order of the files."""
    by_id: dict[str, Model] = {}
    for path in sorted(MODELS.glob("*.toml")):
        if path.stem in OF_DIFFUSION:
            continue
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["model"]:
            model = Model(
                model_id=entry["id"],
                family=path.stem,
                repository=entry["repository"],
                config=MappingProxyType(entry["config"]),
                ollama=tuple(entry.get("ollama", ())),
                published_parameters=entry.get("parameters"),
                published_source=entry.get("parameters_source"),
                shape_source=entry.get("shape_source"),
            )
            if model.model_id in by_id:
                raise ValueError(f"{path.name}: the id {model.model_id!r} stands twice")
            by_id[model.model_id] = model
    return MappingProxyType(by_id)


def get(model_id: str) -> Model:
    """The model called `model_id`. Raises UnknownModel, with the known ids, where there is none."""
    known = models()
    if model_id not in known:
        raise unknown(model_id, known)
    return known[model_id]


def canonical(name: str) -> str | None:
    """The id of the model that `name` means: its id, its repository (`meta-llama/Llama-3.1-8B-Instruct`) or its Ollama tag;
    None where it is none of the catalogue's. Tuned to follow instructions or not, a model has the same shape.
    """
    if name in models():
        return name
    return _by_written_name().get(_untuned(name))


@functools.cache
def _by_written_name() -> Mapping[str, str]:
    """Model ids by the names under which people know them; a name that two models have is left out."""
    found: dict[str, set[str]] = {}
    for model in models().values():
        for written in (model.model_id, model.repository, *model.ollama):
            found.setdefault(_untuned(written), set()).add(model.model_id)
    return MappingProxyType({written: ids.pop() for written, ids in found.items() if len(ids) == 1})


def _untuned(name: str) -> str:
    """A name without its owner, its punctuation, and the words that say how the same shape was tuned."""
    words = name.rpartition("/")[2].lower().replace(":", "-").replace("_", "-").split("-")
    return "".join(_plain(word) for word in words if word not in _TUNED)


def unknown(name: str, known: Iterable[str]) -> UnknownModel:
    """The error for a name that no model of `known` has: those that look like it first, by id, repository and Ollama tag."""
    written = {_plain(model_id): model_id for model_id in known}
    for model in models().values():
        if model.model_id in written.values():
            written |= {_plain(other): model.model_id for other in (model.repository, *model.ollama)}
    if meant := _of_size(name, written.values()) or _of_line(name, written.values()):
        return UnknownModel(f"no model is called {name!r}; {meant}. `gpuledger model list` lists all")
    similar = dict.fromkeys(written[near] for near in difflib.get_close_matches(_plain(name), written, n=5, cutoff=0.7))
    if similar:
        meant = " or ".join(list(similar)[:3])
        return UnknownModel(f"no model is called {name!r}; did you mean {meant}? `gpuledger model list` lists all")
    return UnknownModel(f"no model is called {name!r}; known are {', '.join(sorted(set(written.values())))}")


def _of_size(name: str, known: Iterable[str]) -> str:
    """What a size alone (`13b`) may mean: the models of that size by name, else those of the next ones; or empty."""
    asked = _SIZE.fullmatch(name.strip().lower())
    if asked is None:
        return ""
    sizes = {model_id: float(found[1]) for model_id in sorted(set(known)) if (found := _SIZE_IN_NAME.search(model_id))}
    same = [model_id for model_id, size in sizes.items() if size == float(asked[1])]
    if same:
        return f"of that size are {_listed(same)}"
    near = sorted(sizes, key=lambda model_id: (abs(sizes[model_id] - float(asked[1])), model_id))
    return f"none has that size, the next ones are {_listed(near[:_NEXT])}"


def _of_line(name: str, known: Iterable[str]) -> str:
    """The models whose names begin with a name (`qwen`), or have it as a word; empty where there are none."""
    asked = _plain(name)
    begin = [one for one in sorted(set(known)) if _plain(one).startswith(asked)]
    found = [*begin, *(one for one in sorted(set(known)) if one not in begin and asked in one.split("-"))]
    return f"names that have it are {_listed(found)}" if asked and found else ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def _plain(name: str) -> str:
    """Letters and digits of a name without its owner: `meta-llama/Llama-2-7b-hf` is llama27bhf."""
    return "".join(letter for letter in name.rpartition("/")[2].lower() if letter.isalnum())


@functools.cache
def architecture(model_id: str) -> Architecture:
    """The model called `model_id` as weight tensors. Raises UnknownModel."""
    return read_config(get(model_id).config)
