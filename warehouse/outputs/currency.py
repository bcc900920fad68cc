"""Tables with their dollar amounts shown in another currency, at the reference rate of their day."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb

from gpuledger.message import Sum
from gpuledger.warehouse.schema import quote

#: Columns of money such as `price_usd` and `usd_per_million_tokens`. `score_per_usd` is for a unit of money, so it is
#: multiplied by the rate instead of divided.
_MONEY = re.compile(r"(?:^|_)usd(?:_|$)")
#: Currencies that are not counted in hundredths. Source: ISO 4217; for forint and rupiah common use.
_WITHOUT_CENTS = frozenset(("KRW", "JPY", "VND", "CLP", "ISK", "HUF", "IDR"))
_FOR_MONEY = re.compile(r"_per_(?:\d+_)?usd$")
#: Columns with amounts of a past day, by table, each with the column of that day. Their rate is that day's and not today's.
_DATED: Mapping[str, Mapping[str, str]] = {
    "mart.price_daily": dict.fromkeys(
        ("low_usd", "median_usd", "high_usd", "second_low_usd", "second_high_usd"), "day"
    ),
    "mart.price_trend": {"price_usd": "day", "all_time_low_usd": "all_time_low_on"},
}


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency. One unit is worth `usd` dollars, by the rate of `rate_day`, which is None for the dollar itself."""

    code: str
    usd: float
    rate_day: date | None

    def name(self, column: str) -> str:
        """A column's name in this currency: `price_eur`."""
        if not (self.rate_day and is_money(column)):
            return column
        return column.replace("per_1000_", f"per_{self.thousand}_").replace("usd", self.code.lower())

    def meaning(self, text: str) -> str:
        """A column's meaning in this currency: a unit USD becomes the currency's code."""
        return re.sub(r"\bUSD\b", self.code, text) if self.rate_day else text

    def amount(self, column: str, value: Any) -> Any:
        """A value of a column in this currency. A value that is no money stays as it is."""
        if self.rate_day is None or value is None or not isinstance(value, int | float | Decimal):
            return value
        if not is_money(column):
            return value
        if _FOR_MONEY.search(column):
            # A score per 1000 won would be near 0.02 for every card, so in won it is per million.
            worth = float(value) * self.usd * (self.thousand / 1000 if "per_1000_" in column else 1)
            return round(Decimal(worth), 2) if isinstance(value, Decimal) and value.as_tuple().exponent == -2 else worth
        return self.of(float(value))

    @property
    def has_hundredths(self) -> bool:
        """Whether people count this currency in hundredths."""
        return self.code not in _WITHOUT_CENTS

    @property
    def thousand(self) -> int:
        """The units of this currency to which a score refers if it refers to a thousand dollars in dollars."""
        return 1000 if self.has_hundredths else 1_000_000

    def of(self, usd: Decimal | float) -> Decimal:
        """Dollars in this currency, rounded to the digits that are certain, and to two at least: 0.13 USD are 170 won."""
        amount = Decimal(float(usd) / self.usd)
        return round(amount, max(self.places, min(0, 1 - amount.adjusted())))

    def sum(self, amount: Sum) -> Sum:
        """A sum of dollars in a sentence, in this currency."""
        if self.rate_day is None:
            return amount
        return replace(self.as_paid(self.of(amount.amount)), exact=amount.exact and self.has_hundredths)

    def as_paid(self, amount: Decimal) -> Sum:
        """An amount of this currency in a sentence, with its hundredths if it has any."""
        return Sum(Decimal(amount), self.code, self.has_hundredths)

    def text(self, amount: Decimal | float) -> str:
        """An amount in this currency as people write it, with two decimals or none."""
        return f"{amount:,.2f}" if self.has_hundredths else f"{round(amount, self.places):,.0f}"

    @property
    def places(self) -> int:
        """The number of decimals of an amount; below zero if its last digits would be made up."""
        # Dollars are kept to the cent, and a cent is 13 won: digits below that would be made up (1,049,004 for 1,049,000).
        return 2 if self.has_hundredths else -max(0, math.ceil(math.log10(0.01 / self.usd)))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows in this currency."""
        converted_rows = [
            [self.amount(column, value) for column, value in zip(columns, row, strict=True)] for row in rows
        ]
        return [self.name(column) for column in columns], converted_rows

    def select(self, con: duckdb.DuckDBPyConnection, table: str, rows: str = "") -> str:
        """The statement that gives all of `table` in this currency, or only the part of it that the statement `rows` gives.

        A dated amount has the rate of its day, and is empty if no rate of the ten days before is known.
        """
        source = f"({rows})" if rows else table
        if self.rate_day is None:
            return f"SELECT * FROM {source}"
        described = con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        dated = _DATED.get(table, {})
        columns = ", ".join(
            f'{self._expression(name, kind, dated.get(name))} AS "{self.name(name)}"' for name, kind, *_ in described
        )
        days = sorted({dated[name] for name, *_ in described if name in dated})
        rates = f"(SELECT fx_day, usd_rate FROM core.fx_usd_daily WHERE currency = {quote(self.code)})"
        joins = " ".join(f'ASOF LEFT JOIN {rates} of_{day} ON t."{day}" >= of_{day}.fx_day' for day in days)
        return f"SELECT {columns} FROM {source} t {joins}"

    def _expression(self, name: str, kind: str, day: str | None) -> str:
        """A column of the table `t` in this currency, as SQL. Decimals keep the places that are certain."""
        if not is_money(name):
            return f't."{name}"'
        if _FOR_MONEY.search(name):
            worth = self.usd * (self.thousand / 1000 if "per_1000_" in name else 1)
            return f'(t."{name}"::DOUBLE * {worth!r})::{kind}'
        rate = (
            f'core.usd_rate_on({quote(self.code)}, of_{day}.usd_rate, of_{day}.fx_day, t."{day}")'
            if day
            else repr(self.usd)
        )
        amount = f't."{name}"::DOUBLE / {rate}'
        if not kind.startswith("DECIMAL"):
            return amount
        width, _, scale = kind.removeprefix("DECIMAL(").rstrip(")").partition(",")
        places = int(scale) + self.places - 2
        return f"round({amount}, {places})::DECIMAL({int(width)}, {max(places, 0)})"


def is_money(column: str) -> bool:
    """Whether a column holds dollars, or a figure per dollar, by its name."""
    return bool(_MONEY.search(column))


DOLLARS = Currency("USD", 1.0, None)
