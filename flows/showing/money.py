"""The currency in which answers are shown, with its texts for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import click

from gpuledger.extract.message import Sum
from gpuledger.flows.showing import chosen
from gpuledger.flows.words import naming
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.answers import rates
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True)
class Money(Currency):
    """The currency in which answers are shown. One unit is worth `usd` dollars, by the rate of `rate_day`."""

    @property
    def words(self) -> str:
        """The rate as a heading states it; empty for dollars."""
        if self.rate_day is None:
            return ""
        return gettext("1 {currency} = {rate} USD, {day}").format(
            currency=self.code, rate=f"{self.usd:.6g}", day=f"{self.rate_day:%Y-%m-%d}"
        )

    def title(self, title: str) -> str:
        """`title` with the rate behind it."""
        return f"{title} · {self.words}" if self.words else title

    def headings(self, columns: Sequence[str], headings: Mapping[str, str]) -> dict[str, str]:
        """Headings for people, by the names of the columns in this currency; `columns` are the names in dollars.

        They have the order of `headings`, in which a narrow screen keeps columns. Columns without a heading come last.
        """
        ordered = [*(name for name in headings if name in columns), *(name for name in columns if name not in headings)]
        return {self.name(column): self.heading(headings.get(column, column)) for column in ordered}

    def heading(self, dollar_heading: str) -> str:
        """One heading for people."""
        if not self.rate_day:
            return dollar_heading
        return re.sub(r"\bUSD\b", self.code, gettext(dollar_heading).replace("1000 USD", f"{self.thousand} USD"))

    def sum(self, amount: Sum) -> Sum:
        """A sum of dollars in a sentence, in this currency."""
        return amount if self.rate_day is None else Sum(Decimal(self.of(amount.amount)), self.code)


DOLLARS = Money("USD", 1.0, None)


def money(data: DataDir, day: date | None = None) -> Money:
    """The currency of --currency, at the newest rate or at the rate known at the end of `day`.

    Raises click.UsageError if there is no rate.
    """
    code = chosen.currency()
    if code is None:
        return DOLLARS
    rate = rates.rate(data, code, day)
    if rate is None:
        message = gettext("there is no exchange rate for {currency}").format(currency=code)
        raise click.UsageError(naming.unknown(message, code, rates.known(data, day)))
    return Money(code, rate.usd, rate.day)
