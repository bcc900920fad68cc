"""How many dollars is a currency worth, now or on a past day?"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


class Rate(NamedTuple):
    """Dollars for one unit of a currency, at the reference rate of `day`."""

    usd: float
    day: date


def rate(data: DataDir, currency: str, day: date | None) -> Rate | None:
    """The newest rate of a currency, or the rate known at the end of `day`. None if no rate may be used."""
    _, rows = query(
        data, f"SELECT usd_rate, fx_day FROM {_table(day)} WHERE currency = $currency AND usd_rate IS NOT NULL",
        {"currency": currency, **({"day": day} if day else {})},
    )  # fmt: skip
    return Rate(*rows[0]) if rows and rows[0][1] is not None else None


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
    return [currency for (currency,) in rows]


def _table(day: date | None) -> str:
    return "fx_usd_as_of($day)" if day else "core.fx_usd"
