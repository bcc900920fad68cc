"""The markets: countries and regions with the tax on goods there, from `markets.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).with_name("markets.toml")


class Market(NamedTuple):
    """A row of core.market. `tax_rate` is None where it is not known, `region` the region that the country belongs to."""

    market: str
    market_name: str
    region: str | None
    tax_name: str
    tax_rate: Decimal | None
    prices_include_tax: bool
    origin: str


@cache
def markets() -> tuple[Market, ...]:
    """All markets, by their code."""
    raw = tomllib.loads(_FILE.read_text(encoding="utf-8"), parse_float=Decimal)
    members = raw.pop("eu_members")
    return tuple(sorted([*_countries(raw), *_members(members)]))


def _countries(raw: Mapping[str, Mapping[str, Any]]) -> Iterator[Market]:
    for code, words in raw.items():
        rate = None if "rate" not in words else Decimal(words["rate"])
        yield Market(code, words["name"], None, words["tax"], rate, words["included"], words["origin"])


def _members(words: Mapping[str, Any]) -> Iterator[Market]:
    for code, name in words["name"].items():
        yield Market(code, name, "eu", "VAT", words["rate"][code], True, words["origin"])
