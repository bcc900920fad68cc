"""The models that people run, as data: `models/*.toml`, with one file for each family.

The shapes are facts from the published configs. A published parameter count stands beside a shape, with its source, so that
our own count can be checked. Nothing that follows from a shape (parameters, bytes, operations) is stored.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from gpuledger.message import Message
from gpuledger.transform.sizing.errors import UnknownModel
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import precision_named

#: A size as people write it ("13b"), and the size in an id. The size of a mixture is that of all its weights.
_SIZE = re.compile(r"(\d+(?:\.\d+)?)b")
_SIZE_IN_NAME = re.compile(r"-(\d+(?:\.\d+)?)b\b")
#: How many names an answer to an unknown name lists, and how many models of the next sizes.
_MOST_LISTED, _NEXT = 12, 4
_TUNED = frozenset({"instruct", "chat", "it", "hf", "base", "gguf", "meta", "thinking", "reasoning", "unsloth", "qat"})

#: Words of the way in which weights are packed, which say nothing about their precision.
_CARRIERS = frozenset(
    {"exp", "gguf", "mlx", "bnb", "dynamic", "autoround", "quantized", "ud", "i1", "latest", "preview", "kv"}
)
#: A day as repositories write it (`-0528`, `-2507`), and the address of a page.
_DAY = re.compile(r"-\d{4}\b")
#: The size of a mixture that one token uses, which people leave out: `-a3b`.
_ACTIVE = re.compile(r"-a\d+(?:\.\d+)?b\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^/]+/(?:library/)?([\w.-]+(?:/[\w.-]+)?(?::[\w.-]+)?)")

MODELS = Path(__file__).parent / "models"
#: The files whose models make pictures or clips (see diffusion.py).
OF_DIFFUSION = ("diffusion", "video")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. `family` is the name of its file, `ollama` the tags under which Ollama offers it, and `also` the names of
    later models of the same shape.

    `published_parameters` is an exact count that somebody else published, and `published_source` says where. Both are None
    if we found no such count. `shape_source` names the publication that the config was compared with, None if we compared it
    with none. `licence` is as the hub names it. `yarn` is the context to which its makers document that YaRN extends it.
    """

    model_id: str
    family: str
    repository: str
    config: Mapping[str, object]
    ollama: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    published_parameters: int | None = None
    published_source: str | None = None
    shape_source: str | None = None
    licence: str | None = None
    yarn: int | None = None


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
                also=tuple(entry.get("also", ())),
                published_parameters=entry.get("parameters"),
                published_source=entry.get("parameters_source"),
                shape_source=entry.get("shape_source"),
                licence=entry.get("licence"),
                yarn=entry.get("yarn"),
            )
            if model.model_id in by_id:
                raise ValueError(f"{path.name}: the id {model.model_id!r} stands twice")
            by_id[model.model_id] = model
    return MappingProxyType(by_id)


def get(model_id: str) -> Model:
    """The model called `model_id`. Raises UnknownModel, with the known ids, if there is none."""
    known = models()
    if model_id not in known:
        raise unknown(model_id, known)
    return known[model_id]


def canonical(name: str) -> str | None:
    """The id of the model that `name` means, None if the catalogue does not have it.

    `name` may be an id, a repository (`meta-llama/Llama-3.1-8B-Instruct`) or an Ollama tag. A model that was tuned to follow
    instructions has the same shape as one that was not.
    """
    return name if name in models() else meant(name, _by_written_name())


def meant(name: str, known: Mapping[str, str]) -> str | None:
    """Which of `known`, by the names of `untuned`, a name means: with or without how it is packed, how it was tuned, and
    its day, whatever of these says most.
    """
    bare = without_address(name)
    packed = _unpacked(bare)
    forms = (untuned(form, tuned) for same in ((bare, packed), (_DAY.sub("", packed),))
             for tuned in (frozenset[str](), _TUNED) for form in same)  # fmt: skip
    return next((known[form] for form in forms if form in known), None)


def served_as(name: str) -> str | None:
    """The weights that an interface serves under `name`, at whatever precision. None for a name that comes to mean others.

    Here the versions of one shape are several: of other days, or trained to think.
    """
    is_moving = not _CARRIERS.isdisjoint(word.lower() for word in _pieces(without_address(name)))
    return None if is_moving else _weights(name)


def served_names(name: str) -> tuple[Set[str], Set[str]]:
    """What `served_as` gives for the weights that `name` means, and for those of which it is an Ollama tag: these count
    where nobody serves the first, as a tag may be of a later model of the same shape.
    """
    model = models().get(canonical(name) or "")
    known = {_weights(one) for one in (model.model_id, model.repository)} if model else set()
    is_tag = model is not None and untuned(name) in map(untuned, model.ollama)
    return (known, set()) if _weights(name) in known else ({_weights(name)}, known if is_tag else set())


def _weights(name: str) -> str:
    return untuned(_unpacked(without_address(name)), _TUNED - {"thinking", "reasoning"})


def without_address(name: str) -> str:
    """`org/name` of an address of a model's page; any other name as it is."""
    address = _ADDRESS.match(name.strip())
    return address[1] if address else name.strip()


def slug(name: str) -> str:
    """A name as the id under which a model is kept: `Qwen/Qwen3-8B` becomes qwen-qwen3-8b."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-._")


def precision_in(name: str) -> str | None:
    """The precision that a name says: Q4_K_M of `org/name:Q4_K_M`, awq-int4-g128 of `Qwen3-32B-AWQ`. None without one."""
    words = _pieces(without_address(name))
    of_mlx = [f"mlx-{word}" for word in words if "mlx-community/" in name]  # its `4bit` is a format of MLX
    # Two words first: `AWQ-INT4` is another format than `INT4`.
    for said in [*of_mlx, *map("-".join, pairwise(words)), *reversed(words)]:
        if not said.isdigit() and said.lower() not in _CARRIERS and (found := precision_named(said.lower())):
            return found
    return None


def _pieces(name: str) -> list[str]:
    return re.split(r"[-:]|(?<=quantized)\.", name.rpartition("/")[2])


def _unpacked(name: str) -> str:
    """A name without the words that say how its weights are packed."""
    kept = [
        word for word in _pieces(name)
        if word.lower() not in _CARRIERS
        and (word.isdigit() or word.lower() in ("16", "32") or precision_named(word.lower()) is None)
    ]  # fmt: skip
    return "-".join(kept)


@functools.cache
def _by_written_name() -> Mapping[str, str]:
    """Model ids by the names under which people know them: as written, else without how a model was tuned, else without
    its active size; without the names that two models share.
    """
    written: dict[str, set[str]] = {}
    base: dict[str, set[str]] = {}
    shorter: dict[str, set[str]] = {}
    for model in models().values():
        for name in (model.model_id, model.repository, *model.ollama, *model.also):
            written.setdefault(untuned(name, frozenset()), set()).add(model.model_id)
            base.setdefault(untuned(name), set()).add(model.model_id)
            shorter.setdefault(untuned(_ACTIVE.sub("", name)), set()).add(model.model_id)
    ids_by_name = shorter | base | written
    return MappingProxyType({name: ids.pop() for name, ids in ids_by_name.items() if len(ids) == 1})


def untuned(name: str, tuned: Set[str] = _TUNED) -> str:
    """A name without its owner, its punctuation, and the words that say how the model was tuned."""
    words = re.split("[-:_ ]", name.rpartition("/")[2].lower())
    return "".join(plain(word) for word in words if word not in tuned)


def unknown(name: str, known: Iterable[str]) -> UnknownModel:
    """The error for a name that no model of `known` has. It suggests models with a similar id, repository or Ollama tag."""
    ids_by_name = {plain(model_id): model_id for model_id in known}
    for model in models().values():
        if model.model_id in ids_by_name.values():
            ids_by_name |= {plain(alias): model.model_id for alias in (model.repository, *model.ollama)}
    words, newest = re.findall(r"[^\W_]+", name.lower()), sorted(set(ids_by_name.values()), reverse=True)
    holding = [
        model for model in sorted(newest, key=lambda model: model.count("-"))
        if len(words) > 1 and all(any(part.startswith(word) for part in model.split("-")) for word in words)
    ]  # fmt: skip
    close = difflib.get_close_matches(plain(name), ids_by_name, n=5, cutoff=0.7)
    similar = tuple(dict.fromkeys([*holding, *(ids_by_name[one] for one in close)]))[:3]
    meant = _of_size(name, ids_by_name.values()) or _of_line(name, ids_by_name.values())
    if meant is None and similar:
        meant = Message("did you mean {close: or }?", close=similar)
    by_name = (
        Message(
            "Fetch its config.json, and its safetensors or GGUF files if you have them, into a folder, and give the "
            "folder: `gpuledger size ./FOLDER`, or `gpuledger model add ./FOLDER` to keep it"
        )
        if "/" in name
        else Message(
            "`gpuledger model list` lists all. For any other, give its name on the model hub (`gpuledger size "
            "OWNER/NAME`), or a folder into which you fetched its config.json (`gpuledger size ./FOLDER`)"
        )
    )
    fetch = Message(
        "Fetch its GGUF file, and give the file: `gpuledger size ./FILE.gguf`, or `gpuledger model add ./FILE.gguf` "
        "to keep it",
    ) if ":" in name and "/" not in name else by_name  # fmt: skip
    if meant is None:
        return UnknownModel("no model is called {name!r}. {fetch}", name=name, fetch=fetch)
    return UnknownModel("no model is called {name!r}; {meant} {fetch}", name=name, meant=meant, fetch=fetch)


def _of_size(name: str, known: Iterable[str]) -> Message | None:
    """The models that a size alone (`13b`) may mean, else those of the next sizes. None if `name` is no size."""
    size_match = _SIZE.fullmatch(name.strip().lower())
    if size_match is None:
        return None
    sizes = {model_id: float(match[1]) for model_id in sorted(set(known)) if (match := _SIZE_IN_NAME.search(model_id))}
    same_size = [model_id for model_id, size in sizes.items() if size == float(size_match[1])]
    if same_size:
        return Message("of that size are {listed}.", listed=_listed(same_size))
    by_distance = sorted(sizes, key=lambda model_id: (abs(sizes[model_id] - float(size_match[1])), model_id))
    return Message("none has that size, the next ones are {listed}.", listed=_listed(by_distance[:_NEXT]))


def _of_line(name: str, known: Iterable[str]) -> Message | None:
    """The models whose names begin with `name` (`qwen`) or have it as a word. None if there are none."""
    plain_name = plain(name)
    first = [model for model in sorted(set(known)) if plain(model).startswith(plain_name)]
    listed = [*first, *(model for model in sorted(set(known)) if model not in first and plain_name in model.split("-"))]
    return Message("names that have it are {listed}.", listed=_listed(listed)) if plain_name and listed else None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def plain(name: str) -> str:
    """The letters and digits of a name without its owner: `meta-llama/Llama-2-7b-hf` becomes llama27bhf."""
    return "".join(letter for letter in name.rpartition("/")[2].lower() if letter.isalnum())


@functools.cache
def architecture(model_id: str) -> Architecture:
    """The model called `model_id` as weight tensors, with what takes a longer context. Raises UnknownModel."""
    model = get(model_id)
    shape, same = read_config(model.config), {**model.config, "max_position_embeddings": None}
    longer = [
        Message("{model} ({tokens:,} tokens)", model=other.model_id, tokens=tokens)
        for other in models().values()
        if {**other.config, "max_position_embeddings": None} == same
        and isinstance(tokens := other.config.get("max_position_embeddings"), int) and tokens > shape.context
    ]  # fmt: skip
    if model.yarn:
        longer.append(Message(
            "its config.json with {tokens} as max_position_embeddings, to which its makers extend it by YaRN",
            tokens=model.yarn,
        ))  # fmt: skip
    return replace(shape, longer=tuple(longer))
