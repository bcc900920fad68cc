"""The currency and the market of an answer, in words: whose prices they are, and whether they include tax."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import click

from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import current, gettext, knows
from gpuledger.flows.words.say import label
from gpuledger.transform import queries
from gpuledger.transform.answers import markets
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.buying.stock import Taxed


@dataclass(frozen=True, slots=True)
class Money(Currency):
    """The currency in which answers are shown. One unit is worth `usd` dollars, by the rate of `rate_day`."""

    @property
    def words(self) -> str:
        """The rate as a heading states it; empty for dollars."""
        if self.rate_day is None:
            return ""
        day = f"{self.rate_day:%Y-%m-%d}"
        if self.usd < 0.01:  # money that is counted in thousands: nobody reads 0.000748914
            return f"1 USD = {1 / self.usd:,.0f} {self._named}, {day}"
        return gettext("1 {currency} = {rate} USD, {day}").format(currency=self.code, rate=f"{self.usd:.6g}", day=day)

    @property
    def _named(self) -> str:
        return "원" if current() == "ko" and self.code == "KRW" else self.code

    def title(self, title: str) -> str:
        """`title` with the rate behind it."""
        return f"{title} · {self.words}" if self.words else title

    def heading(self, dollar_heading: str) -> str:
        """One heading for people."""
        if not self.rate_day:
            return dollar_heading
        return re.sub(r"\bUSD\b", self._named, gettext(dollar_heading).replace("1000 USD", f"{self.thousand} USD"))


DOLLARS = Money("USD", 1.0, None)


def money(data: DataDir, day: date | None = None) -> Money:
    """The currency of --currency; see `money_in`."""
    return money_in(data, chosen.currency(), day)


def money_in(data: DataDir, code: str | None, day: date | None = None) -> Money:
    """A currency (None: dollars), at the newest rate or at the rate known at the end of `day`.

    Raises click.UsageError if there is no rate.
    """
    if code in (None, "USD"):
        return DOLLARS
    assert code is not None
    rate = markets.rate(data, code, day)
    if rate is None:
        message = gettext("there is no exchange rate for {currency}").format(currency=code)
        raise click.UsageError(wrong_use.unknown(message, code, markets.known(data, day)))
    return Money(code, rate.usd, rate.day)


def price_heading(data: DataDir, day: date | None = None) -> str:
    """The heading of a column of prices. If the answer compares several markets, it says that tax is not included."""
    return "USD, net of tax" if markets.market(data, chosen.market(), day).is_net else "USD"


def prices_heading(data: DataDir, day: date | None = None) -> str:
    """Whose prices of when: `market us, before sales tax · prices as of 2026-11-26 03:00 UTC`; `market kr, with 10 % VAT`,
    `all markets, net of tax`. Raises BadQuery as `markets.market` does.
    """
    if day is not None:
        when = gettext("as known at the end of {day} UTC").format(day=day)
    else:
        last = queries.last(data)
        assert last is not None, "what is published, a run published"
        when = prices_as_of(f"{last.prices_as_of:%Y-%m-%d %H:%M} UTC")
    market = markets.market(data, chosen.market(), day)
    if market.market == markets.ALL:
        return f"{gettext('all markets, net of tax')} · {when}"
    return f"{market_named(market.market)}, {tax_heading(market)} · {when}"


def prices_as_of(time: str) -> str:
    """The time of the newest prices, in words."""
    return gettext("prices as of {time}").format(time=time)


def market_named(code: str) -> str:
    """`market kr`; in another language by the name of the country, where the catalogue has it."""
    return label(f"market {code}")


def tax_heading(market: Taxed) -> str:
    """`before sales tax`, `with 10 % VAT`; `net of tax` for a table of several markets."""
    if market.market in markets.OF_SEVERAL:
        return gettext("net of tax")
    # A market that a user defined may name its tax in any way.
    tax = gettext(market.tax_name) if market.tax_name and knows(market.tax_name) else market.tax_name
    if not market.prices_include_tax:
        return gettext("before {tax}").format(tax=tax)
    if market.tax_rate is None:
        return gettext("with {tax}").format(tax=tax)
    return gettext("with {rate} {tax}").format(rate=f"{float(market.tax_rate) * 100:g} %", tax=tax)
