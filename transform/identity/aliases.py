"""Names that mean one card in one source, or everywhere: `data/aliases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.naming import DATA

Context = Literal["shop", "benchmark", "cloud"]

#: Words that an alias' key leaves out, since sources write them or not.
_LEFT_OUT = frozenset(("nvidia", "geforce", "amd", "radeon", "intel", "gpu", "graphics", "card"))


class AliasError(ValueError):
    """`aliases.toml` contradicts itself or the catalogue; the message names the alias and the way out."""


@dataclass(frozen=True, slots=True)
class Alias:
    """What a name means, and why."""

    gpu_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Aliases:
    """Aliases by source and key (source "" is everywhere), and what kind of titles a source has."""

    by_key: Mapping[tuple[str, str], Alias]
    contexts: Mapping[str, Context]
    #: Letters of the longest key.
    _longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_longest", max((len(name) for _, name in self.by_key), default=0))

    def find(self, title: str, source: str | None) -> Alias | None:
        """The alias of `title` in `source`, else the one that is true everywhere."""
        name = key(title, self._longest)
        return self.by_key.get((source or "", name)) or self.by_key.get(("", name))

    def check(self, meant_by: Callable[[str], set[str]]) -> None:
        """Raise AliasError where an alias means no card, or one that its own words exclude.

        `meant_by` gives the gpu_ids that a name can mean without aliases; none where its words name no card.
        """
        for (source, name), alias in self.by_key.items():
            where = f"aliases.toml: {name!r} of {source or 'no source'}"
            if alias.gpu_id not in catalogue.by_id():
                raise AliasError(f"{where} means {alias.gpu_id!r}, which is not in the catalogue; correct it")
            meant = meant_by(name)
            if meant and alias.gpu_id not in meant:
                raise AliasError(f"{where} means {alias.gpu_id}, but its words say {sorted(meant)}; correct it")

    def context(self, source: str | None) -> Context | None:
        """What titles of `source` are; None without one. An unknown source is read like a shop: the strictest reading."""
        return None if source is None else self.contexts.get(source, "shop")


def key(title: str, longest: int | None = None) -> str:
    """Pieces of a name without spaces, brand words and marks: `GeForce RTX 3080` and `RTX3080` are the same.

    With `longest`, no more words than make it longer than that: a shop's title is rarely as short as an alias.
    """
    found = ""
    for word in text.split_words(text.normalise(title)):
        for piece in text.pieces(word):
            if piece not in _LEFT_OUT:
                found += piece
        if longest is not None and len(found) > longest:
            break
    return found


@cache
def load() -> Aliases:
    """The aliases of the data file. Raises AliasError where one key of one source stands for two cards."""
    with (DATA / "aliases.toml").open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    by_key: dict[tuple[str, str], Alias] = {}
    for group in raw["alias"]:
        for name, gpu_id in group["names"]:
            for source in group["sources"] or [""]:
                place = (source, key(name))
                if place in by_key:
                    where = f"source {source!r}" if source else "no source"
                    raise AliasError(
                        f"aliases.toml: {name!r} means {by_key[place].gpu_id} and {gpu_id} for {where}; keep one"
                    )
                by_key[place] = Alias(gpu_id, group["reason"])
    return Aliases(by_key, raw["sources"])
