"""Cleans the names of the specification catalogue and makes slugs from them.

The catalogue lists one card several times if the product was built on another die or in another revision
(`GeForce RTX 3060 12 GB GA104`, `GeForce GTX 660 Rev. 2`). Buyers cannot choose between such variants, and shops and
benchmarks do not name them, so this project treats them as one card. `data/names.toml` gives the reason for each decision.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"

_MEMORY_IN_NAME = re.compile(r"\s(\d+(?:\.\d+)?) ?(GB|MB)\b")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class NameRules:
    """The decisions of `data/names.toml`, compiled."""

    dropped: tuple[re.Pattern[str], ...]
    renamed: dict[str, str]
    #: Names whose boards differ from the other boards that are sold under the same name.
    mixed: frozenset[str]
    excluded: tuple[re.Pattern[str], ...]


@cache
def rules() -> NameRules:
    """The rules of `data/names.toml`."""
    with (DATA / "names.toml").open("rb") as file:
        raw = tomllib.load(file)
    return NameRules(
        dropped=tuple(re.compile(rule["pattern"]) for rule in raw["drop"]),
        renamed={rule["from"]: rule["to"] for rule in raw["rename"]},
        mixed=frozenset(rule["from"] for rule in raw["rename"] if rule.get("mixed")),
        excluded=tuple(re.compile(rule["pattern"]) for rule in raw["exclude"]),
    )


def is_excluded(name: str) -> bool:
    """Whether a catalogue row is left out because it cannot have a price or a score (profiles, samples, fakes)."""
    return any(pattern.search(name) for pattern in rules().excluded)


def clean(name: str) -> str:
    """The trade name without memory size, die and revision: `GeForce RTX 3060 12 GB GA104` gives `GeForce RTX 3060`."""
    name = rules().renamed.get(name, name)
    for pattern in rules().dropped:
        name = pattern.sub("", name)
    name = _MEMORY_IN_NAME.sub(" ", name)
    return " ".join(name.split())


def without_memory(name: str) -> str:
    """The name without its memory size and otherwise unchanged."""
    return " ".join(_MEMORY_IN_NAME.sub(" ", name).split())


def memory_gib(catalogue_gb: float) -> float | None:
    """GiB from the catalogue's figure, which writes 512 MB as 0.5 but 896 MB as 0.896. None for 0, a shared memory."""
    if not catalogue_gb:
        return None
    thousandths = round(catalogue_gb * 1000, 3)
    return catalogue_gb if thousandths % 250 == 0 else thousandths / 1024


def memory_text(gib: float) -> str:
    """A memory size as shops write it: `12GB`, `512MB`, `1.5GB`."""
    if gib >= 1 and gib * 4 == int(gib * 4):
        return f"{gib:g}GB"
    return f"{gib * 1024:g}MB"


def slug(text: str) -> str:
    """The text in lower case with hyphens between words: `Radeon RX 580 2048SP` gives `radeon-rx-580-2048sp`."""
    text = text.lower().replace("+", " plus ")
    return _NOT_SLUG.sub("-", text).strip("-")
