"""What a question is answered from before there is a warehouse: launch prices, models, speeds and rates in the program.

Launch prices are of the day on which a card came out, so the answer says that day and how to get the prices of today.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.costs import electricity_prices
from gpuledger.transform.buying.market import Card, Evidence
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Market
from gpuledger.transform.buying.stock import Place
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.features import memory_kind
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency

LAUNCH_PRICE = "launch price"
#: Cards that came out longer before the newest one are no longer sold new, so their launch price says nothing.
_YEARS_ON_SALE = 4
_SOLD = ("consumer", "workstation", "integrated", "data_center")


@functools.cache
def _rates() -> tuple[date, Mapping[str, float]]:
    """The day of the reference rates that the program brings, and the dollars for one unit of each currency."""
    content = tomllib.loads(Path(__file__).with_name("exchange_rates.toml").read_text(encoding="utf-8"))
    euros: dict[str, float] = content["units_for_a_euro"]
    dollars = euros["USD"]
    return content["day"], {"EUR": dollars, **{code: dollars / units for code, units in euros.items()}}


def currency(code: str) -> Currency:
    """A currency at the rate that the program brings. Raises LookupError, with the known currencies, for another one."""
    day, rates = _rates()
    if code == "USD":
        return DOLLARS
    if code not in rates:
        raise LookupError(Message("headline.no_rate", currency=code, known=tuple(sorted(rates))))
    return Currency(code, rates[code], day)


def electricity_usd(country: str) -> Decimal:
    """Dollars for a kilowatt-hour. Raises LookupError, with the known countries, for an unknown country."""
    prices = electricity_prices()
    if country.upper() not in prices:
        raise LookupError(Message("headline.no_electricity", country=country, known=tuple(prices)))
    price = prices[country.upper()]
    return round(price.price * Decimal(str(currency(price.currency).usd)), 6)


@dataclass(slots=True, kw_only=True)
class Wheel:
    """The stock (see stock.Stock) of a program without a warehouse."""

    assumptions: Assumptions
    currency: Currency
    now: datetime
    market: str
    country: str | None
    machine_tax: Decimal
    tax_missing: str | None
    learned: Learned = NOTHING_LEARNED
    is_sample: bool = False
    from_wheel: bool = True

    def offered(self, need: Need, conditions: Sequence[str], owned: Sequence[str]) -> Market:
        """See stock.Stock. The price of a card is its launch price, with the tax of the market."""
        gpus = _gpus() if "new" in conditions else []
        cards = [_card(gpu, 1 + self.machine_tax) for gpu in gpus]
        chips = {gpu.gpu_id: gpu for gpu in gpus} | {name: catalogue.by_id()[name] for name in owned}
        return Market(cards=cards, instances=[], measured={}, chips=chips)

    def known(self) -> Sequence[Gpu]:
        """See stock.Stock."""
        cards = [g for g in catalogue.gpus() if g.memory_gb and g.segment in ("consumer", "workstation", "data_center")]
        return sorted(cards, key=lambda gpu: (gpu.memory_gb or 0, -(gpu.released_on or date.min).toordinal()))


def wheel(assumptions: Assumptions, place: Place, country: str | None, clock: datetime) -> Wheel:
    """The stock of the program alone. Raises LookupError for a `country` without an electricity price."""
    asked = country
    if asked is None and place.market.upper() in electricity_prices():
        country = place.market
    if country is not None and assumptions.electricity_usd_per_kwh == Assumptions().electricity_usd_per_kwh:
        assumptions = replace(assumptions, electricity_usd_per_kwh=electricity_usd(country))
    return Wheel(
        assumptions=assumptions, currency=place.currency, now=clock, market=place.market,
        country=asked or place.market, machine_tax=place.machine_tax, tax_missing=place.tax_missing,
    )  # fmt: skip


def _gpus() -> list[Gpu]:
    """The cards and machines whose launch price may still be near to what they cost."""
    gpus = [gpu for gpu in catalogue.gpus() if gpu.msrp_usd is not None and gpu.released_on and gpu.segment in _SOLD]
    newest = max(gpu.released_on.year for gpu in gpus if gpu.released_on)
    return [
        gpu
        for gpu in gpus
        if gpu.released_on
        and newest - gpu.released_on.year <= _YEARS_ON_SALE
        and (gpu.segment != "integrated" or memory_kind(gpu) == "shared")
    ]


def _card(gpu: Gpu, with_tax: Decimal) -> Card:
    assert gpu.msrp_usd is not None
    assert gpu.released_on is not None
    day = datetime.combine(gpu.released_on, time(), UTC)
    return Card(
        gpu_id=gpu.gpu_id, gpu=gpu.display_name, condition="new", price_usd=gpu.msrp_usd * with_tax, memory_gb=gpu.memory_gb,
        bandwidth_gb_s=gpu.memory_bandwidth_gb_s, tdp_w=gpu.tdp_w, gpus_on_board=gpu.gpus_on_board, value_kept=None,
        history_years=None, evidence=Evidence(LAUNCH_PRICE, day, day, None, "", market=None),
    )  # fmt: skip
