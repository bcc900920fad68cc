"""The word lists of `data/vocabulary.toml` as sets."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from gpuledger.transform.identity.naming import DATA


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One set of words for each thing that a word can tell. The comments of the data file explain them."""

    maker: dict[str, str]
    graphics: frozenset[str]
    spelling: dict[str, str]
    lines_behind: dict[str, frozenset[str]]
    mobile: frozenset[str]
    plain: frozenset[str]
    accessory: frozenset[str]
    accessory_unless_card: frozenset[str]
    common_on_cards: frozenset[str]
    accessory_maker: frozenset[str]
    laptop: frozenset[str]
    laptop_series: dict[str, frozenset[str]]
    computer: frozenset[str]
    computer_on_cards: frozenset[str]
    processor: frozenset[str]
    computer_after: frozenset[str]
    computer_before: frozenset[str]
    machine_lines: frozenset[str]
    taken_out: frozenset[str]
    enclosure: frozenset[str]
    enclosure_phrases: tuple[str, ...]
    enclosure_boxes: tuple[str, ...]
    other: frozenset[str]
    purpose: frozenset[str]
    broken: frozenset[str]
    broken_triggers: frozenset[str]
    broken_phrases: tuple[str, ...]
    modified: frozenset[str]
    modified_always: frozenset[str]
    board_maker: frozenset[str]
    before_count: frozenset[str]
    several: frozenset[str]
    units: frozenset[str]
    fans_behind_name: frozenset[str]
    fans: frozenset[str]
    fan_counts: frozenset[str]
    purpose_behind: frozenset[str]
    machines: tuple[str, ...]
    service: frozenset[str]
    service_triggers: frozenset[str]
    service_phrases: tuple[str, ...]

    @property
    def numbered(self) -> frozenset[str]:
        """The words that begin with a digit (`144hz`, `15.6`, `1tb`). Without this set they would be read as numbers."""
        return frozenset(word for word in self.marks if word[0].isdigit())

    @property
    def marks(self) -> frozenset[str]:
        """All words of all lists: the words that a reader has to note."""
        sets = [value for field in fields(self) if isinstance(value := getattr(self, field.name), frozenset)]
        behind = frozenset().union(*self.lines_behind.values())
        series = frozenset().union(*self.laptop_series.values())
        return frozenset().union(*sets, self.maker, self.laptop_series, behind, series)


@cache
def load() -> Vocabulary:
    """The word lists, read once."""
    with (DATA / "vocabulary.toml").open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    kind = raw["kind"]
    return Vocabulary(
        maker={word: maker for maker, words in raw["maker"].items() for word in words},
        graphics=frozenset(raw["graphics"]["words"]),
        spelling=raw["spelling"],
        lines_behind={suffix: frozenset(words) for suffix, words in raw["lines_behind"].items()},
        mobile=frozenset(raw["mobile"]["words"]),
        plain=frozenset(raw["plain"]["words"]),
        accessory=frozenset(kind["accessory"]["always"]),
        accessory_unless_card=frozenset(kind["accessory"]["unless_card"]),
        common_on_cards=frozenset(kind["accessory"]["common_on_cards"]),
        accessory_maker=frozenset(kind["accessory"]["makers"]),
        laptop=frozenset(kind["laptop"]["words"]),
        laptop_series={maker: frozenset(words) for maker, words in kind["laptop"]["series"].items()},
        computer=frozenset(kind["computer"]["always"]),
        computer_on_cards=frozenset(kind["computer"]["on_cards"]),
        processor=frozenset(kind["computer"]["processor"]),
        computer_after=frozenset(kind["computer"]["after"]),
        computer_before=frozenset(kind["computer"]["before"]),
        machine_lines=frozenset(kind["parts"]["lines"]),
        taken_out=frozenset(kind["parts"]["taken_out"]),
        enclosure=frozenset(kind["enclosure"]["words"]),
        enclosure_phrases=tuple(kind["enclosure"]["phrases"]),
        enclosure_boxes=tuple(kind["enclosure"]["boxes"]),
        other=frozenset(kind["other"]["words"]),
        purpose=frozenset((*raw["for"]["words"], *raw["for"]["behind"])),
        broken=frozenset(raw["broken"]["words"]),
        broken_triggers=frozenset(raw["broken"]["triggers"]),
        broken_phrases=tuple(raw["broken"]["phrases"]),
        modified=frozenset(raw["modified"]["words"]),
        modified_always=frozenset(raw["modified"]["always"]),
        board_maker=frozenset(raw["board_maker"]["words"]),
        before_count=frozenset(raw["several"]["before_count"]),
        several=frozenset(raw["several"]["words"]),
        units=frozenset(raw["several"]["units"]),
        fans_behind_name=frozenset(raw["several"]["fans_behind_name"]),
        fans=frozenset(raw["several"]["fans"]),
        fan_counts=frozenset(raw["several"]["fan_counts"]),
        purpose_behind=frozenset(raw["for"]["behind"]),
        machines=tuple(raw["for"]["machines"]),
        service=frozenset(kind["service"]["words"]),
        service_triggers=frozenset(kind["service"]["triggers"]),
        service_phrases=tuple(kind["service"]["phrases"]),
    )
