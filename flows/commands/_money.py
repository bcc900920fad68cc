"""Answers in another currency than dollars, at the reference rate of their day."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import click

from gpuledger.flows.setup import naming, showing
from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.answers import rates
from gpuledger.warehouse.paths import DataDir

#: `price_usd`, `usd_per_million_tokens`; `score_per_usd` is for a unit of money and goes the other way.
_MONEY = re.compile(r"(?:^|_)usd(?:_|$)")
_SUM = re.compile(r"\b(\d[\d,]*(?:\.\d+)?) USD\b")
#: Currencies that nobody counts in hundredths. Source: ISO 4217, and custom for forint and rupiah.
_WITHOUT_CENTS = frozenset(("KRW", "JPY", "VND", "CLP", "ISK", "HUF", "IDR"))
_FOR_MONEY = re.compile(r"_per_(?:\d+_)?usd$")


@dataclass(frozen=True, slots=True)
class Money:
    """The currency that answers are shown in. One unit of it is worth `usd` dollars, by the rate of `rate_day`."""

    code: str
    usd: float
    rate_day: date | None

    @property
    def words(self) -> str:
        """What a heading says of it; nothing for dollars."""
        if self.rate_day is None:
            return ""
        return gettext("1 {currency} = {rate} USD, {day}").format(
            currency=self.code, rate=f"{self.usd:.6g}", day=f"{self.rate_day:%Y-%m-%d}"
        )

    def title(self, title: str) -> str:
        """`title` with the rate behind it."""
        return f"{title} · {self.words}" if self.words else title

    def name(self, column: str) -> str:
        """A column's name in this currency: `price_eur`."""
        if not (self.rate_day and _MONEY.search(column)):
            return column
        return column.replace("per_1000_", f"per_{self._thousand}_").replace("usd", self.code.lower())

    def headings(self, columns: Sequence[str], headings: Mapping[str, str]) -> dict[str, str]:
        """Headings for people, by the names in this currency; `columns` are the names in dollars."""
        return {self.name(column): self.heading(headings.get(column, column)) for column in columns}

    def heading(self, words: str) -> str:
        """One heading for people."""
        if not self.rate_day:
            return words
        return re.sub(r"\bUSD\b", self.code, gettext(words).replace("1000 USD", f"{self._thousand} USD"))

    def amount(self, column: str, value: Any) -> Any:
        """A value of a column in this currency; what is no money stays as it is."""
        if self.rate_day is None or value is None or not isinstance(value, int | float | Decimal):
            return value
        if not _MONEY.search(column):
            return value
        if _FOR_MONEY.search(column):
            # A score for 1000 won would be 0.02 of every card: it is for a million there.
            worth = float(value) * self.usd * (self._thousand / 1000 if "per_1000_" in column else 1)
            return round(Decimal(worth), 2) if isinstance(value, Decimal) and value.as_tuple().exponent == -2 else worth
        return self._of(float(value))

    @property
    def _thousand(self) -> int:
        return 1_000_000 if self.code in _WITHOUT_CENTS else 1000

    def sentence(self, text: str) -> str:
        """A sentence with its sums in this currency: `costs 6,549 USD` as `costs 6,032 EUR`."""
        if self.rate_day is None:
            return text
        return _SUM.sub(lambda sum_: f"{self._of(float(sum_[1].replace(',', ''))):,.0f} {self.code}", text)

    def _of(self, usd: float) -> Decimal:
        # Dollars are kept to the cent, and a cent is 13 won: letters beyond that would be made up (1,049,004 of 1,049,000).
        places = -max(0, math.ceil(math.log10(0.01 / self.usd))) if self.code in _WITHOUT_CENTS else 2
        return round(Decimal(usd / self.usd), places)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows in this currency."""
        shown = [[self.amount(column, value) for column, value in zip(columns, row, strict=True)] for row in rows]
        return [self.name(column) for column in columns], shown


DOLLARS = Money("USD", 1.0, None)


def money(data: DataDir, day: date | None = None) -> Money:
    """The currency of --currency at the newest rate, or that known at the end of `day`. A usage error where it has none."""
    code = showing.currency()
    if code is None:
        return DOLLARS
    rate = rates.rate(data, code, day)
    if rate is None:
        message = gettext("there is no exchange rate for {currency}").format(currency=code)
        raise click.UsageError(naming.unknown(message, code, rates.known(data, day)))
    return Money(code, rate.usd, rate.day)
