"""Aliases: names that mean one card in one source or everywhere, from `data/aliases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from gpuledger.extract.message import Message
from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.catalogue import DATA

Context = Literal["shop", "benchmark", "cloud"]

#: Words that are left out of the key of an alias, because not all titles have them.
_LEFT_OUT = frozenset(("nvidia", "geforce", "amd", "radeon", "intel", "gpu", "graphics", "card"))


class AliasError(ValueError):
    """`aliases.toml` contradicts itself or the catalogue; the message names the alias and how to correct it."""


@dataclass(frozen=True, slots=True)
class Alias:
    """The card that a name means, and the reason."""

    gpu_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Aliases:
    """Aliases by source and key (the source "" means everywhere), and the kind of titles of each source."""

    by_key: Mapping[tuple[str, str], Alias]
    contexts: Mapping[str, Context]
    #: Number of letters of the longest key.
    _longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_longest", max((len(name) for _, name in self.by_key), default=0))

    def find(self, title: str, source: str | None) -> Alias | None:
        """The alias of `title` in `source`, or else the alias that holds everywhere; None if there is none."""
        name = key(title, self._longest)
        return self.by_key.get((source or "", name)) or self.by_key.get(("", name))

    def check(self, meant_by: Callable[[str], set[str]]) -> None:
        """Raise AliasError if an alias means no card of the catalogue, or a card that its own words exclude.

        `meant_by` gives the gpu_ids that a name can mean without aliases; the set is empty if the words name no card.
        """
        for (source, name), alias in self.by_key.items():
            where = f"aliases.toml: {name!r} of {source or 'no source'}"
            if alias.gpu_id not in catalogue.by_id():
                raise AliasError(Message("question.means_not_catalogue", where=where, gpu_id=alias.gpu_id))
            meant = meant_by(name)
            if meant and alias.gpu_id not in meant:
                raise AliasError(
                    Message("question.means_but_words_say", where=where, gpu_id=alias.gpu_id, meant=sorted(meant))
                )

    def context(self, source: str | None) -> Context | None:
        """The kind of titles of `source`; None without a source. An unknown source counts as a shop, the strictest kind."""
        return None if source is None else self.contexts.get(source, "shop")


def key(title: str, longest: int | None = None) -> str:
    """The pieces of a name without spaces, brand words and marks: `GeForce RTX 3080` and `RTX3080` have the same key.

    With `longest`, the key ends with the word that makes it longer than that. This saves time, because titles of shops are
    rarely as short as an alias.
    """
    joined_pieces = ""
    for word in text.split_words(text.normalise(title)):
        for piece in text.pieces(word):
            if piece not in _LEFT_OUT:
                joined_pieces += piece
        if longest is not None and len(joined_pieces) > longest:
            break
    return joined_pieces


@cache
def load() -> Aliases:
    """The aliases of the data file. Raises AliasError if one key means two cards in the same source."""
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
                        Message(
                            "question.aliases_toml", name=name, gpu_id=by_key[place].gpu_id, gpu_id2=gpu_id, where=where
                        )
                    )
                by_key[place] = Alias(gpu_id, group["reason"])
    return Aliases(by_key, raw["sources"])
