"""What benchmarks measure: the workloads that come with the program, and those that a data directory adds."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.near import near
from gpuledger.transform import seeds

_PACKAGED = Path(seeds.__file__).with_name("workloads.toml")
_ID = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


class BadWorkload(ValueError):
    """A workload cannot be used; the message names its file and the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One workload. `direction` is `more` where a larger figure is better and `less` where a smaller one is.

    `description` says what was run; `gpu_count` cards run it together. `output` is what is made, `token` or `image`, one
    piece in `iterations` counts of the unit; `model` is a model_id of the catalogue.
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
                f"the id {self.workload_id!r} must be small letters, digits, dots and hyphens, as in my-test-1"
            )
        for name in ("workload", "unit", "description"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise BadWorkload(f"{self.workload_id}: {name} is empty")
        if self.direction not in ("more", "less"):
            raise BadWorkload(f"{self.workload_id}: direction is more or less, not {self.direction!r}")
        if not isinstance(self.gpu_count, int) or self.gpu_count < 1:
            raise BadWorkload(f"{self.workload_id}: gpu_count must be a whole number from 1 on, not {self.gpu_count!r}")
        if self.output not in (None, "token", "image"):
            raise BadWorkload(f"{self.workload_id}: output is token or image, not {self.output!r}")


def packaged() -> dict[str, Workload]:
    """The workloads that come with the program, by id."""
    return {
        name: _workload(name, words) for name, words in tomllib.loads(_PACKAGED.read_text(encoding="utf-8")).items()
    }


def own(folder: Path) -> tuple[dict[str, Workload], list[BadWorkload]]:
    """The workloads of a data directory, and what is wrong with those that cannot be used: one bad file stops no other."""
    found: dict[str, Workload] = {}
    wrong: list[BadWorkload] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            if path.stem in packaged():
                raise BadWorkload("the program has a workload of this name; give the file another")
            found[path.stem] = _workload(path.stem, local_files.read_toml(path))
        except (ValueError, OSError) as error:
            said = local_files.why(error) if isinstance(error, OSError) else error
            wrong.append(BadWorkload(f"{path}: {said}; correct it, or remove it and use `gpuledger workload add`"))
    return found, wrong


def known(folder: Path) -> dict[str, Workload]:
    """All workloads that can be used with a data directory whose own are in `folder`."""
    return {**packaged(), **own(folder)[0]}


def save(folder: Path, workload: Workload) -> Path:
    """Keep a workload as <folder>/<id>.toml. Raises BadWorkload where the id is taken by another one."""
    if workload.workload_id in packaged():
        raise BadWorkload(f"the program has a workload {workload.workload_id!r}: give yours another name")
    path = folder / f"{workload.workload_id}.toml"
    text = _toml(workload)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise BadWorkload(f"{path} is another workload of that name: remove the file, or give yours another name")
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path


def named(name: str, ids: Iterable[str]) -> str | None:
    """The id that a person means by `name`: the same letters in any case, with spaces or underscores for hyphens."""
    slug = _slug(name)
    return next((one for one in ids if _slug(one) == slug), None)


def nearest(name: str, ids: Iterable[str], in_words: Mapping[str, str] | None = None) -> list[str]:
    """At most three ids that are close to what was typed, the closest first. `in_words` names workloads by their ids."""
    by_words = {words: one for one, words in (in_words or {}).items()}
    meant = [*near(name, ids), *(by_words[words] for words in near(name, by_words))]
    return list(dict.fromkeys(meant))[:3]


def _slug(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def _workload(workload_id: str, words: Mapping[str, Any]) -> Workload:
    allowed = {field.name for field in fields(Workload)} - {"workload_id"}
    if unknown := sorted(words.keys() - allowed):
        raise BadWorkload(
            f"{workload_id}: {', '.join(unknown)} is not known; a workload has {', '.join(sorted(allowed))}"
        )
    missing = [name for name in ("workload", "unit", "description") if name not in words]
    if missing:
        raise BadWorkload(f"{workload_id}: {', '.join(missing)} is missing")
    return Workload(workload_id=workload_id, **words)


def _toml(workload: Workload) -> str:
    """The keys that say something; text as TOML's basic strings, which are JSON's."""
    kept = {name: value for name, value in asdict(workload).items() if name != "workload_id" and value is not None}
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in kept.items())
