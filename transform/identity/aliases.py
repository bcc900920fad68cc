"""Other names of cards: aliases in one source or everywhere (`data/aliases.toml`), and makers' part numbers
(`data/part_numbers.toml`), which name a chip in the maker's own way and are translated into words that the reader knows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

from gpuledger.message import Mistake
from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.catalogue import DATA

Context = Literal["shop", "benchmark", "cloud"]

#: Words that are left out of the key of an alias, because not all titles have them.
_LEFT_OUT = frozenset(("nvidia", "geforce", "amd", "radeon", "intel", "gpu", "graphics", "card", *"(),/|"))


class AliasError(Mistake):
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

    def find(self, pieces: Iterable[str], source: str | None) -> Alias | None:
        """The alias of a title of these pieces in `source`, or else the one that holds everywhere; None if there is none."""
        name = _joined(pieces, self._longest)
        return self.by_key.get((source or "", name)) or self.by_key.get(("", name))

    def check(self, meant_by: Callable[[str], set[str]]) -> None:
        """Raise AliasError if an alias means no card of the catalogue, or a card that its own words exclude.

        `meant_by` gives the gpu_ids that a name can mean without aliases; the set is empty if the words name no card.
        """
        for (source, name), alias in self.by_key.items():
            where = f"aliases.toml: {name!r} of {source or 'no source'}"
            if alias.gpu_id not in catalogue.by_id():
                raise AliasError(
                    "{where} means {gpu_id!r}, which is not in the catalogue; correct it", where=where,
                    gpu_id=alias.gpu_id,
                )  # fmt: skip
            meant = meant_by(name)
            if meant and alias.gpu_id not in meant:
                raise AliasError(
                    "{where} means {gpu_id}, but its words say {meant}; correct it", where=where, gpu_id=alias.gpu_id,
                    meant=sorted(meant),
                )  # fmt: skip

    def context(self, source: str | None) -> Context | None:
        """The kind of titles of `source`; None without a source. An unknown source counts as a shop, the strictest kind."""
        return None if source is None else self.contexts.get(source, "shop")


def key(name: str) -> str:
    """The pieces of a name without spaces, brand words and signs: `GeForce RTX 3080` and `RTX3080` have the same key."""
    words = text.split_words(text.normalise(name))
    return _joined((piece for word in words for piece in text.pieces(word)), len(name))


def _joined(pieces: Iterable[str], longest: int) -> str:
    """The key of these pieces up to the one that makes it longer than any alias: titles of shops are rarely as short."""
    joined_pieces = ""
    for piece in pieces:
        if piece not in _LEFT_OUT:
            joined_pieces += piece
            if len(joined_pieces) > longest:
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
                        "aliases.toml: {name!r} means {gpu_id} and {gpu_id2} for {where}; keep one", name=name,
                        gpu_id=by_key[place].gpu_id, gpu_id2=gpu_id, where=where,
                    )  # fmt: skip
                by_key[place] = Alias(gpu_id, group["reason"])
    return Aliases(by_key, raw["sources"])


# ── makers' part numbers ────────────────────────────────────────────────────────────────────────────────────────────

_SUFFIX = {"t": "ti", "s": "super", "ts": "ti super", "": "", "0": "", "1": "ti", "2": "super", "3": "ti super"}


@dataclass(frozen=True)
class Code:
    """One pattern of `data/part_numbers.toml`."""

    maker: str
    pattern: re.Pattern[str]
    words: str
    example: str
    says: str
    #: The code is so reliable that it may contradict a chip that the title names in words.
    checks: bool = False

    @cached_property
    def beginning(self) -> str:
        """The letters with which the code begins: they are looked for first. Empty if it can begin in several ways."""
        return _BEGINNING.match(self.pattern.pattern)[1]  # type: ignore[index]  # it matches any text


_BEGINNING = re.compile(r"(?:\\b)?((?:[a-z\d -](?![?*{]))*)")


@cache
def codes() -> tuple[Code, ...]:
    """The patterns, in the order of the file."""
    with (DATA / "part_numbers.toml").open("rb") as file:
        raw = tomllib.load(file)["code"]
    return tuple(Code(**row | {"pattern": re.compile(row["pattern"])}) for row in raw)


#: Fast first checks: a title without any of the first has no code, without any of the second none with `checks`.
_ANY = re.compile(r"\d{3}|gv-|vc|tcs|-4q")
_CHECKED = re.compile(r"gv-[nr]\d\d|vcg|-4q")


def to_check(title: str) -> bool:
    """Whether the title may have a part number that is reliable enough to contradict it."""
    return _CHECKED.search(title.lower()) is not None


def readings(title: str, *, checks: bool = False) -> Iterator[tuple[str, str]]:
    """The readings of the part numbers in `title`, most likely first, each with the maker of the code.

    The caller takes the first reading that is a card: `VCGGT7102XPB` is no GeForce 7102, but a GT 710 with 2 GB. With
    `checks`, only reliable codes are read.
    """
    spelled = text.normalise(title)
    if not _ANY.search(spelled):
        return
    for code in codes():
        if code.beginning not in spelled or (checks and not code.checks):
            continue
        if match := code.pattern.search(spelled):
            groups = {name: value or "" for name, value in match.groupdict().items()}
            for letter in ("s", "z"):
                if letter in groups:
                    groups[letter] = _SUFFIX[groups[letter]]
            if groups.get("m"):
                groups["m"] = f"{int(groups['m'])}gb"
            if not code.words:
                return
            for words in code.words.format(**groups).split("|"):
                yield " ".join(words.split()), code.maker
