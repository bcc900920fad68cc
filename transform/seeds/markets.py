"""The markets: countries and regions with their tax on goods, from `markets.toml` and `tax_rates.csv`."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).with_name("markets.toml")
_RATES = Path(__file__).with_name("tax_rates.csv")


class Market(NamedTuple):
    """A row of core.market. `tax_rate` is None if it is not known. `region` is the region to which the country belongs."""

    market: str
    market_name: str
    region: str | None
    tax_name: str
    tax_rate: Decimal | None
    prices_include_tax: bool
    origin: str


class TaxRate(NamedTuple):
    """A row of core.tax_rate. The rate is valid from `taxed_from` to the day before `taxed_until`, None if still valid."""

    market: str
    taxed_from: date
    taxed_until: date | None
    tax_rate: Decimal
    origin: str


@cache
def markets(day: date) -> tuple[Market, ...]:
    """All markets, in the order of their codes, with the tax rate of a day."""
    raw = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    members = raw.pop("eu_members")
    countries = {code: (None, entry) for code, entry in raw.items()}
    countries |= {
        code: ("eu", {"name": name, "tax": "VAT", "included": True}) for code, name in members["name"].items()
    }
    on_day = {rate.market: rate for rate in tax_rates() if rate.taxed_from <= day < (rate.taxed_until or date.max)}
    return tuple(_market(code, *countries[code], on_day.get(code)) for code in sorted(countries))


def _market(code: str, region: str | None, entry: Mapping[str, Any], rate: TaxRate | None) -> Market:
    amount, origin = (rate.tax_rate, rate.origin) if rate else (None, entry.get("origin", ""))
    return Market(code, entry["name"], region, entry["tax"], amount, entry["included"], origin)


@cache
def tax_rates() -> Sequence[TaxRate]:
    """The rates of all markets, in the order of market and first day. Each rate is valid until the next one."""
    with _RATES.open(encoding="utf-8", newline="") as file:
        rows = [(row["market"], date.fromisoformat(row["from"]), row) for row in csv.DictReader(file)]
    rates = []
    for market, group in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[0]):
        of_market = list(group)
        ends = [first for _, first, _ in of_market[1:]]
        for (_, first, row), until in zip(of_market, [*ends, None], strict=True):
            checked = f"; checked against {row['checked']}" if row["checked"] else "; not checked elsewhere"
            rates.append(TaxRate(market, first, until, Decimal(row["rate"]), row["origin"] + checked))
    return tuple(rates)
