"""Workloads, which benchmarks measure: those that come with the program, and those that a data directory adds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from gpuledger import records
from gpuledger.message import Mistake
from gpuledger.spelling import names_like

_PACKAGED = Path(__file__).parent / "seeds" / "workloads.toml"
#: Cards or iterations, as far as they are believed; the tables keep 32 bits.
_Count = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
_ID = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


class BadWorkload(Mistake):
    """A workload cannot be used; the message says why and how to correct it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One workload. `direction` is `more` if a larger figure is better and `less` if a smaller figure is better.

    `description` says what was run, and `gpu_count` is the number of cards that run it together. `output` is what the
    workload makes, `token` or `image`; one of them takes `iterations` of the unit. `model` is a model_id of the catalogue.
    """

    workload_id: str
    workload: str
    unit: str
    description: str
    direction: Literal["more", "less"] = "more"
    gpu_count: _Count = 1
    output: Literal["token", "served_token", "image"] | None = None
    iterations: _Count | None = None
    model: str | None = None
    precision: str | None = None
    resolution: str | None = None
    software: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.workload_id):
            raise BadWorkload(
                "the id {workload_id!r} must be small letters, digits, dots and hyphens, as in my-test-1",
                workload_id=self.workload_id,
            )
        for name in ("workload", "unit", "description"):
            if not getattr(self, name).strip():
                raise BadWorkload("{workload_id}: {name} is empty", workload_id=self.workload_id, name=name)


@cache
def packaged() -> Mapping[str, Workload]:
    """The workloads that come with the program, by id."""
    entries = tomllib.loads(_PACKAGED.read_text(encoding="utf-8"))
    return {name: records.typed(Workload)({"workload_id": name, **entry}) for name, entry in entries.items()}


def _read(entry: Mapping[str, Any]) -> Workload:
    workload = records.typed(Workload)(entry)
    if workload.workload_id in packaged():
        raise BadWorkload(
            "the program has a workload {workload_id!r}: give yours another name", workload_id=workload.workload_id
        )
    return workload


#: The workloads that a data directory adds.
WORKLOADS = records.Kind("workload", "workloads.toml", key=lambda one: one.workload_id, read=_read)


def known(root: Path) -> dict[str, Workload]:
    """All workloads of the data directory `root`: those of the program and its own."""
    return {**packaged(), **{workload.workload_id: workload for workload in WORKLOADS.usable(root)[0]}}


def save(root: Path, workload: Workload) -> Path:
    """Keep a workload in the data directory `root`. Raises BadWorkload if another workload has the id."""
    try:
        _read({name: value for name, value in asdict(workload).items() if value is not None})
    except msgspec.ValidationError as error:
        raise BadWorkload("{workload_id}: {reason}", workload_id=workload.workload_id, reason=str(error)) from None
    if known(root).get(workload.workload_id, workload) != workload:
        raise BadWorkload(
            "{path} has another workload of that name: take it out of the file, or give yours another name",
            path=WORKLOADS.file(root),
        )
    WORKLOADS.put(root, workload)
    return WORKLOADS.file(root)


def id_named(name: str, ids: Iterable[str]) -> str | None:
    """The id that a person means by `name`. Case does not matter, and spaces or underscores may replace hyphens."""
    slug = _slug(name)
    return next((workload_id for workload_id in ids if _slug(workload_id) == slug), None)


def nearest(name: str, ids: Iterable[str], in_words: Mapping[str, str] | None = None) -> list[str]:
    """At most three ids that are close to `name`, the closest first. `in_words` has the workloads' names by their ids."""
    by_words = {name_in_words: workload_id for workload_id, name_in_words in (in_words or {}).items()}
    close = [*names_like(name, ids), *(by_words[name_in_words] for name_in_words in names_like(name, by_words))]
    return list(dict.fromkeys(close))[:3]


def _slug(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())
