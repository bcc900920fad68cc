"""What is on offer to a question, read from the warehouse, or from what the program brings if there is no warehouse yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Protocol

import duckdb

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import market
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Market
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.last_run import last_in
from gpuledger.transform.speed.learned import Learned
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency


class Stock(Protocol):
    """What a question is answered from.

    `now` is the time from which ages of prices are counted. `market` is the code of the market whose prices these are, and
    `currency` is what money is shown in. `country` decides the outlet. `machine_tax` is the tax on a machine as a share,
    where the market's prices include tax, and `tax_missing` the name of a tax that they do not include. `is_sample` says
    that prices of shops are invented, and `from_wheel` that they are launch prices.
    """

    assumptions: Assumptions
    learned: Learned
    now: datetime
    market: str
    currency: Currency
    country: str | None
    machine_tax: Decimal
    tax_missing: str | None
    is_sample: bool
    from_wheel: bool

    def offered(self, need: Need, conditions: Sequence[str], owned: Sequence[str]) -> Market:
        """What is on offer in these conditions, with the figures of the cards in `owned`."""

    def known(self) -> Sequence[Gpu]:
        """Every card, the smallest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where is bought: a market with its tax, and whether prices there include it. Money is shown in `currency`."""

    market: str
    currency: Currency = DOLLARS
    tax_name: str | None = None
    tax_rate: Decimal | None = None
    prices_include_tax: bool = False

    @property
    def machine_tax(self) -> Decimal:
        """The tax on a machine that nobody's price includes."""
        return self.tax_rate if self.prices_include_tax and self.tax_rate is not None else Decimal(0)

    @property
    def tax_missing(self) -> str | None:
        """The name of the tax that the prices do not include."""
        return None if self.prices_include_tax else self.tax_name or "tax"


@dataclass(slots=True, kw_only=True)
class Warehouse:
    """The published tables (see Stock). What was read for a question is kept for the next one."""

    con: duckdb.DuckDBPyConnection
    assumptions: Assumptions
    learned: Learned
    now: datetime
    market: str
    currency: Currency
    country: str | None
    machine_tax: Decimal
    tax_missing: str | None
    is_sample: bool
    from_wheel: bool = False
    _markets: dict[tuple[str, ...], Market]

    def offered(self, need: Need, conditions: Sequence[str], owned: Sequence[str]) -> Market:
        """See Stock."""
        key = (*conditions, "", *owned)
        if key not in self._markets:
            self._markets[key] = self._read(conditions, owned)
        measured = market.measurements(self.con, need.model_id, need.precision)
        pictures = {} if need.splits else market.pictures(self.con, need.model_id, need.precision)
        return replace(self._markets[key], measured=measured, pictures=pictures)

    def _read(self, conditions: Sequence[str], owned: Sequence[str]) -> Market:
        cards = market.cards(self.con, conditions, self.market)
        nodes = market.nodes(self.con, conditions, self.market)
        rented = market.instances(self.con)
        sold = [*(card.gpu_id for card in cards), *(node.gpu_id for node in nodes)]
        chips = market.chips(self.con, [*sold, *owned, *(instance.gpu_id or "" for instance in rented)])
        machines = market.machines(self.con, sold)
        return Market(cards=cards, instances=rented, measured={}, chips=chips, nodes=nodes, machines=machines)

    def known(self) -> Sequence[Gpu]:
        """See Stock."""
        return market.known(self.con)


def warehouse(
    con: duckdb.DuckDBPyConnection, assumptions: Assumptions, place: Place, country: str | None, clock: datetime
) -> Warehouse:
    """The stock of an open warehouse. Electricity costs what it costs in the country, unless the assumptions say otherwise.

    Raises LookupError for a `country` without an electricity price.
    """
    asked = country
    if asked is None and assumptions.electricity_usd_per_kwh == Assumptions().electricity_usd_per_kwh:
        country = market.country_of(con, place.market)
    if country is not None:
        assumptions = replace(assumptions, electricity_usd_per_kwh=market.electricity_usd(con, country))
    last = last_in(con)
    return Warehouse(
        con=con, assumptions=assumptions, learned=market.learned(con), now=market.now(con, clock),
        market=place.market, currency=place.currency, country=asked or place.market, machine_tax=place.machine_tax,
        tax_missing=place.tax_missing, is_sample=last is not None and last.is_sample, _markets={},
    )  # fmt: skip
