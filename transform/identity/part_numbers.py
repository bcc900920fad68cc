"""Translates part numbers, which name a chip in the maker's own way, into words that the reader knows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gpuledger.transform.identity import text
from gpuledger.transform.identity.catalogue import DATA

_SUFFIX = {"t": "ti", "s": "super", "ts": "ti super", "": ""}


@dataclass(frozen=True, slots=True)
class Code:
    """One pattern of `data/part_numbers.toml`."""

    maker: str
    pattern: re.Pattern[str]
    spellings: str
    example: str
    says: str
    #: The code is so reliable that it may contradict a chip that the title names in words.
    checks: bool


@cache
def codes() -> tuple[Code, ...]:
    """The patterns, in the order of the file."""
    with (DATA / "part_numbers.toml").open("rb") as file:
        raw = tomllib.load(file)["code"]
    return tuple(
        Code(
            row["maker"],
            re.compile(row["pattern"]),
            row["words"],
            row["example"],
            row["says"],
            row.get("checks", False),
        )
        for row in raw
    )


#: A fast first check: a title without any of these has no code with `checks`.
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
    if not any(character.isdigit() for character in spelled):
        return
    for code in codes():
        if checks and not code.checks:
            continue
        match = code.pattern.search(spelled)
        if match:
            groups = {name: value or "" for name, value in match.groupdict().items()}
            for letter in ("s", "z"):
                if letter in groups:
                    groups[letter] = _SUFFIX[groups[letter]]
            if groups.get("m"):
                groups["m"] = f"{int(groups['m'])}gb"
            if not code.spellings:
                return
            for words in code.spellings.format(**groups).split("|"):
                yield " ".join(words.split()), code.maker
