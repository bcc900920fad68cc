"""Workloads, which benchmarks measure: those that come with the program, and those that a data directory adds."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.message import Mistake
from gpuledger.extract.spelling import names_like

_PACKAGED = Path(__file__).parent / "seeds" / "workloads.toml"
#: The most cards or iterations that are believed; the tables keep 32 bits.
_MOST = 10**6
_ID = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


class BadWorkload(Mistake):
    """A workload cannot be used; the message names its file and how to correct it."""


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
    direction: str = "more"
    gpu_count: int = 1
    output: str | None = None
    iterations: int | None = None
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
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise BadWorkload("{workload_id}: {name} is empty", workload_id=self.workload_id, name=name)
        if self.direction not in ("more", "less"):
            raise BadWorkload(
                "{workload_id}: direction is more or less, not {direction!r}", workload_id=self.workload_id,
                direction=self.direction,
            )  # fmt: skip
        for name in ("model", "precision", "resolution", "software", "source"):
            if not isinstance(getattr(self, name), str | None):
                raise BadWorkload("{workload_id}: {name} must be a text", workload_id=self.workload_id, name=name)
        if not (self.iterations is None or (type(self.iterations) is int and 1 <= self.iterations <= _MOST)):
            raise BadWorkload(
                "{workload_id}: iterations must be a whole number from 1 to 1,000,000, not {iterations!r}",
                workload_id=self.workload_id, iterations=self.iterations,
            )  # fmt: skip
        if type(self.gpu_count) is not int or not 1 <= self.gpu_count <= _MOST:
            raise BadWorkload(
                "{workload_id}: gpu_count must be a whole number from 1 to 1,000,000, not {gpu_count!r}",
                workload_id=self.workload_id, gpu_count=self.gpu_count,
            )  # fmt: skip
        if self.output not in (None, "token", "served_token", "image"):
            raise BadWorkload(
                "{workload_id}: output is token or image, not {output!r}", workload_id=self.workload_id,
                output=self.output,
            )  # fmt: skip


def packaged() -> dict[str, Workload]:
    """The workloads that come with the program, by id."""
    return {
        name: _workload(name, entry) for name, entry in tomllib.loads(_PACKAGED.read_text(encoding="utf-8")).items()
    }


def added(
    folder: Path, check: Callable[[Workload], None] | None = None
) -> tuple[dict[str, Workload], list[BadWorkload]]:
    """The workloads of a data directory, and an error for each file that cannot be used, or for which `check` raises
    anything. One bad file does not stop the others.
    """
    workloads: dict[str, Workload] = {}
    errors: list[BadWorkload] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            if path.stem in packaged():
                raise BadWorkload("the program has a workload of this name; give the file another")
            workload = _workload(path.stem, local_files.read_toml(path))
            if check is not None:
                check(workload)
            workloads[path.stem] = workload
        except Exception as error:  # noqa: BLE001  no error in one file may stop the others
            reason = local_files.why(error) if isinstance(error, OSError) else error
            errors.append(BadWorkload(
                "{path}: {reason}; correct it, or remove it and use `gpuledger workload add`", path=path, reason=reason,
            ))  # fmt: skip
    return workloads, errors


def known(folder: Path) -> dict[str, Workload]:
    """All workloads of a data directory: those of the program and its own, which are in `folder`."""
    return {**packaged(), **added(folder)[0]}


def save(folder: Path, workload: Workload) -> Path:
    """Write a workload to <folder>/<id>.toml. Raises BadWorkload if another workload has the id."""
    if workload.workload_id in packaged():
        raise BadWorkload(
            "the program has a workload {workload_id!r}: give yours another name", workload_id=workload.workload_id
        )
    path = folder / f"{workload.workload_id}.toml"
    text = _toml(workload)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise BadWorkload(
            "{path} is another workload of that name: remove the file, or give yours another name", path=path
        )
    local_files.write_text(path, text)
    return path


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


def _workload(workload_id: str, entry: Mapping[str, Any]) -> Workload:
    allowed = {field.name for field in fields(Workload)} - {"workload_id"}
    if unknown := sorted(entry.keys() - allowed):
        raise BadWorkload(
            "{workload_id}: {unknown} is not known; a workload has {allowed}", workload_id=workload_id,
            unknown=tuple(unknown), allowed=tuple(sorted(allowed)),
        )  # fmt: skip
    missing = [name for name in ("workload", "unit", "description") if name not in entry]
    if missing:
        raise BadWorkload("{workload_id}: {missing} is missing", workload_id=workload_id, missing=tuple(missing))
    return Workload(workload_id=workload_id, **entry)


def _toml(workload: Workload) -> str:
    """The keys with a value, as TOML. Texts are written as JSON strings, which are also TOML's basic strings."""
    values = {name: value for name, value in asdict(workload).items() if name != "workload_id" and value is not None}
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())
