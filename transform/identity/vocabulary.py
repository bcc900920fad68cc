"""The word lists of `data/vocabulary.toml` as sets."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from transform.identity.naming import DATA


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Word sets by what they tell; see the comments of the data file."""

    vendor: dict[str, str]
    mobile: frozenset[str]
    plain: frozenset[str]
    accessory: frozenset[str]
    accessory_unless_card: frozenset[str]
    accessory_maker: frozenset[str]
    laptop: frozenset[str]
    computer: frozenset[str]
    processor: frozenset[str]
    computer_beside: frozenset[str]
    enclosure: frozenset[str]
    other: frozenset[str]
    purpose: frozenset[str]
    including: frozenset[str]
    broken: frozenset[str]
    broken_phrases: tuple[str, ...]
    board_maker: frozenset[str]
    before_count: frozenset[str]
    several: frozenset[str]
    fans_behind_name: frozenset[str]


@cache
def load() -> Vocabulary:
    """The word lists, read once."""
    with (DATA / "vocabulary.toml").open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    kind = raw["kind"]
    return Vocabulary(
        vendor={word: vendor for vendor, words in raw["vendor"].items() for word in words},
        mobile=frozenset(raw["mobile"]["words"]),
        plain=frozenset(raw["plain"]["words"]),
        accessory=frozenset(kind["accessory"]["always"]),
        accessory_unless_card=frozenset(kind["accessory"]["unless_card"]),
        accessory_maker=frozenset(kind["accessory"]["makers"]),
        laptop=frozenset(kind["laptop"]["words"]),
        computer=frozenset(kind["computer"]["always"]),
        processor=frozenset(kind["computer"]["processor"]),
        computer_beside=frozenset(kind["computer"]["beside"]),
        enclosure=frozenset(kind["enclosure"]["words"]),
        other=frozenset(kind["other"]["words"]),
        purpose=frozenset(raw["for"]["words"]),
        including=frozenset(raw["including"]["words"]),
        broken=frozenset(raw["broken"]["words"]),
        broken_phrases=tuple(raw["broken"]["phrases"]),
        board_maker=frozenset(raw["board_maker"]["words"]),
        before_count=frozenset(raw["several"]["before_count"]),
        several=frozenset(raw["several"]["words"]),
        fans_behind_name=frozenset(raw["several"]["fans_behind_name"]),
    )
