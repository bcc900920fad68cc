"""Of which market are the prices in an answer, and do they include tax?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from gpuledger.message import Message
from gpuledger.spelling import names_like
from gpuledger.transform import exchange_rates
from gpuledger.warehouse.errors import BadQuery
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The name for the table of all markets together, net of tax.
ALL = "all"
#: The tables of several markets, whose prices are compared without tax.
OF_SEVERAL = ("eu", ALL)


@dataclass(frozen=True, slots=True)
class Market:
    """A market with its tax. `is_net` is true for a region of several markets, whose prices are compared without tax."""

    market: str
    name: str
    tax_name: str | None
    tax_rate: Decimal | None
    prices_include_tax: bool | None
    is_net: bool


def market(data: DataDir, name: str | None, day: date | None = None) -> Market:
    """The market called `name`, or the home market if that is None, now or at the end of `day`.

    Raises BadQuery, with the known markets, if there is no market with this name.
    """
    if name is None:
        home = "home_market_as_of($day)" if day else "core.home_market"
        name = query(data, f"SELECT market FROM {home}", {"day": day} if day else {})[1][0][0]
    if name == ALL:
        return Market(ALL, "all markets", None, None, None, True)
    rate = "t.tax_rate" if day else "m.tax_rate"
    _, rows = query(
        data,
        f"""SELECT m.market, m.market_name, m.tax_name, {rate}, m.prices_include_tax, m.market = 'eu'
           FROM core.market m
           LEFT JOIN core.tax_rate t ON t.market = m.market AND $day::DATE >= t.taxed_from
               AND (t.taxed_until IS NULL OR $day::DATE < t.taxed_until)
           WHERE m.market = $market""",
        {"market": name, "day": day},
    )
    if not rows:
        known = dict(query(data, "SELECT market, market_name FROM core.market ORDER BY market")[1])
        by_name = {full_name: code for code, full_name in known.items()}
        code = next((by_name[full_name] for full_name in names_like(name, by_name, most=1)), None)
        if code is not None:
            raise BadQuery(Message(
                "no market is called {name!r}; did you mean {code} ({known})?", name=name, code=code, known=known[code],
            ))  # fmt: skip
        raise BadQuery(Message("no market is called {name!r}; known are {known}", name=name, known=(*known, ALL)))
    return Market(*rows[0])


def is_another(data: DataDir, name: str) -> bool:
    """Whether `name` is a known market, and not the home market with which the tables were built."""
    _, rows = query(
        data,
        """SELECT 1 FROM core.home_market
           WHERE market <> $name AND ($name = $all OR $name IN (SELECT market FROM core.market))""",
        {"name": name, "all": ALL},
    )
    return bool(rows)


class Rate(NamedTuple):
    """Dollars for one unit of a currency, at the reference rate of `day`."""

    usd: float
    day: date


def rate(data: DataDir, currency: str, day: date | None) -> Rate | None:
    """The newest rate of a currency, or the rate known at the end of `day`: of the warehouse, or else of the program.

    None if there is none, or if that of the program is newer than `day`.
    """
    _, rows = query(
        data, f"SELECT usd_rate, fx_day FROM {_table(day)} WHERE currency = $currency AND usd_rate IS NOT NULL",
        {"currency": currency, **({"day": day} if day else {})},
    )  # fmt: skip
    if rows and rows[0][1] is not None:
        return Rate(*rows[0])
    of_program, rates = exchange_rates.rates()
    return Rate(rates[currency], of_program) if currency in rates and (day is None or of_program <= day) else None


#: The lowest price of each card and day in the currency `$currency`, at the rate of that day. NULL without a known rate.
DAILY_LOWS = """(
    SELECT d.gpu_id, d.day, d.suspect,
        round(d.low_usd::DOUBLE / core.usd_rate_on($currency, r.usd_rate, r.fx_day, d.day), 2)::DECIMAL(18, 2) AS low
    FROM mart.price_daily d
    ASOF LEFT JOIN (SELECT fx_day, usd_rate FROM core.fx_usd_daily WHERE currency = $currency) r ON d.day >= r.fx_day
)"""


def known(data: DataDir, day: date | None) -> list[str]:
    """The currencies that have a rate."""
    parameters: dict[str, object] = {"day": day} if day else {}
    _, rows = query(data, f"SELECT currency FROM {_table(day)} WHERE usd_rate IS NOT NULL ORDER BY 1", parameters)
    of_program, rates = exchange_rates.rates()
    brought = rates if day is None or of_program <= day else {}
    return sorted({currency for (currency,) in rows} | brought.keys())


def _table(day: date | None) -> str:
    return "fx_usd_as_of($day)" if day else "core.fx_usd"
