"""What a watch looks at: the price of a card and its history. A watch asks all of it over one connection."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

import duckdb

from gpuledger.transform.answers import markets

Row = Mapping[str, Any]


def street_price(con: duckdb.DuckDBPyConnection, gpu_id: str) -> Row | None:
    """The street price of a card, with the page of the offer. None if no offer counts."""
    return _one(
        con,
        """SELECT p.price_usd, p.price, p.currency, p.source, p.title, p.url, p.price_since, p.snapshot_sha256,
               core.last_seen_at(o.confirmed_until, s.last_success_at, p.price_since) AS last_seen_at
           FROM mart.gpu_price p JOIN ops.source_state s USING (source) JOIN core.price_open o USING (listing_id)
           WHERE p.gpu_id = $gpu_id AND p.price_usd IS NOT NULL""",
        {"gpu_id": gpu_id},
    )


class Before(NamedTuple):
    """The last `days` days before the day of `now`, and the currency of their prices."""

    now: datetime
    days: int | None
    currency: str


def lowest_before(con: duckdb.DuckDBPyConnection, gpu_id: str, before: Before) -> Row:
    """The lowest street price in these days, each at the rate of its day, its day, and the number of days with a price."""
    lowest = _one(
        con,
        f"""SELECT min(low) AS low, arg_min(day, (low, day)) AS low_on, count(*) AS days, min(day) AS since
           FROM {markets.DAILY_LOWS}
           WHERE gpu_id = $gpu_id AND suspect IS NOT TRUE AND low IS NOT NULL AND day < ($now AT TIME ZONE 'UTC')::DATE
               AND day >= ($now AT TIME ZONE 'UTC')::DATE - $days::INTEGER""",
        {"gpu_id": gpu_id, **before._asdict()},
    )
    assert lowest is not None, "a sum has a row"
    return lowest


def rate(con: duckdb.DuckDBPyConnection, currency: str) -> tuple[float, date | None] | None:
    """Dollars for one unit of a currency, with the day of the rate. None if there is no rate now."""
    row = con.execute("SELECT usd_rate, fx_day FROM core.fx_usd WHERE currency = ?", [currency]).fetchone()
    return None if row is None or row[0] is None else (row[0], row[1])


def _one(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object]) -> Row | None:
    result = con.execute(sql, parameters)
    names = [column[0] for column in result.description or []]
    row = result.fetchone()
    return None if row is None else dict(zip(names, row, strict=True))
