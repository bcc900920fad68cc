"""Reads the signs of a wall from `block_signals.toml`, which lists and explains them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

WallKind = Literal["consent", "captcha", "challenge", "blocked", "soft_404"]
Place = Literal["header", "url", "title", "heading", "mark", "text"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of a wall. `note` says in a few words what the sign shows."""

    kind: WallKind
    note: str
    pattern: re.Pattern[str]


@cache
def signals(place: Place) -> tuple[Signal, ...]:
    """The signs that count in one place, in the order of the file. Compiled on first use, as most pages need few places."""
    listed = "title" if place == "heading" else place
    return tuple(
        Signal(entry["kind"], entry["note"], _compile(entry["patterns"]))
        for entry in _file()["signal"]
        if entry["place"] == listed and (place != "heading" or entry["kind"] == "soft_404")
    )


@cache
def content_marks() -> re.Pattern[str]:
    """Matches in the HTML source of pages that show goods, figures or an article."""
    return _compile(_file()["content"]["marks"])


@cache
def price() -> re.Pattern[str]:
    """Matches a price among visible words."""
    return _compile([_file()["content"]["price"]])


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(
        resources.files("gpuledger.extract.fetch").joinpath("block_signals.toml").read_text(encoding="utf-8")
    )


def _compile(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.DOTALL)
