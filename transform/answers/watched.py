"""What a watch looks at: the price, place, price history and fit of a card. A watch asks all of it over one connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import duckdb

from gpuledger.transform.answers import markets
from gpuledger.warehouse.errors import BadQuery

Row = Mapping[str, Any]


def street_price(con: duckdb.DuckDBPyConnection, gpu_id: str | None) -> Row | None:
    """The street price of a card, with the page of the offer. None if no offer counts."""
    return _one(
        con,
        """SELECT p.price_usd, p.price, p.currency, p.source, p.title, p.url, p.price_since, p.snapshot_sha256,
               core.last_seen_at(o.confirmed_until, s.last_success_at, p.price_since) AS last_seen_at
           FROM mart.gpu_price p JOIN ops.source_state s USING (source) JOIN core.price_open o USING (listing_id)
           WHERE p.gpu_id = ? AND p.price_usd IS NOT NULL""",
        [gpu_id],
    )


def place(con: duckdb.DuckDBPyConnection, workload: str | None, basis: str, gpu_id: str | None) -> Row | None:
    """The card's place by score per dollar, and the number of places (`of`). None if it has no score or no price."""
    return _one(
        con,
        """SELECT value_rank, score, unit, price_usd,
               (SELECT count(*) FROM mart.value WHERE workload_id = $workload AND price_basis = $basis) AS of
           FROM mart.value WHERE workload_id = $workload AND price_basis = $basis AND gpu_id = $gpu_id""",
        {"workload": workload, "basis": basis, "gpu_id": gpu_id},
    )


class Before(NamedTuple):
    """The last `days` days before the day of `now`, and the currency of their prices."""

    now: datetime
    days: int | None
    currency: str


def lowest_before(con: duckdb.DuckDBPyConnection, gpu_id: str | None, before: Before) -> Row | None:
    """The lowest street price in these days, each at the rate of its day, its day, and the number of days with a price."""
    return _one(
        con,
        f"""SELECT min(low) AS low, arg_min(day, (low, day)) AS low_on, count(*) AS days, min(day) AS since
           FROM {markets.DAILY_LOWS}
           WHERE gpu_id = $gpu_id AND suspect IS NOT TRUE AND low IS NOT NULL AND day < ($now AT TIME ZONE 'UTC')::DATE
               AND day >= ($now AT TIME ZONE 'UTC')::DATE - $days::INTEGER""",
        {"gpu_id": gpu_id, **before._asdict()},
    )


def rate(con: duckdb.DuckDBPyConnection, currency: str) -> tuple[float, date | None] | None:
    """Dollars for one unit of a currency, with the day of the rate. None if there is no rate now."""
    row = con.execute("SELECT usd_rate, fx_day FROM core.fx_usd WHERE currency = ?", [currency]).fetchone()
    return None if row is None or row[0] is None else (row[0], row[1])


def cheapest_fit(
    con: duckdb.DuckDBPyConnection,
    model: str | None,
    precision: str | None,
    context_tokens: int | None,
    gpu_id: str | None,
) -> Row | None:
    """The cheapest cards that hold a model, of all cards or only of `gpu_id`. Raises BadQuery if the question is invalid."""
    try:
        return _one(
            con,
            """SELECT gpu_count, gpu_id, gpu, total_price_usd, needed_gb, available_gb
               FROM cheapest_fit(?, ?, ?) WHERE ?::VARCHAR IS NULL OR gpu_id = ? ORDER BY rank LIMIT 1""",
            [model, precision, context_tokens, gpu_id, gpu_id],
        )
    except duckdb.Error as error:
        raise BadQuery(str(error).strip().splitlines()[0].removeprefix("Invalid Input Error: ")) from None


def _one(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | Sequence[object]) -> Row | None:
    result = con.execute(sql, parameters)
    names = [column[0] for column in result.description or []]
    row = result.fetchone()
    return None if row is None else dict(zip(names, row, strict=True))
