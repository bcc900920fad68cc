"""Which card gives the most speed for its price, and which is fastest?"""

from __future__ import annotations

from datetime import date
from typing import Literal, NamedTuple

from gpuledger.transform.answers.columns import columns
from gpuledger.transform.answers.price import MARK_OF_A_DAY, market_parameters, street_prices
from gpuledger.transform.queries import Rows, select_of
from gpuledger.warehouse.outputs.answer import Answer, Column
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The price of a card in this table: the lowest price of a shop, or its launch price.
Basis = Literal["street", "msrp"]


class Scope(NamedTuple):
    """The time and the market of an answer: now, or as known at the end of `day`, in `market` or in the home market."""

    day: date | None = None
    market: str | None = None


#: What people see of it.
_VALUED = columns(
    "value_rank", "gpu", "score", "unit", "price_usd", "price_mark", "score_per_usd", "score_ratio", "price_ratio",
    "on_pareto_frontier", "offered_in", "shop", "price_since", "last_seen_at",
)  # fmt: skip


def value(data: DataDir, workload: str, basis: Basis, scope: Scope) -> Answer:
    """Cards by score per dollar, the best first, a street price with its shop."""
    day, market = scope
    sql = f"SELECT * FROM {values(day, market)} WHERE workload_id = $workload AND price_basis = $basis"
    parameters = market_parameters(day, market)
    if basis == "street":
        mark = MARK_OF_A_DAY if day else "p.price_mark"
        sql = f"""SELECT v.*, p.offered_in, p.source AS shop, p.url, p.price_since, p.last_seen_at, {mark} AS price_mark
            FROM ({sql}) v LEFT JOIN {street_prices(day, market)} p USING (gpu_id)"""
    elif market is None:
        parameters.pop("market", None)
    sql = f"FROM ({sql}) ORDER BY value_rank, gpu_id"
    return Answer.of_query(*query(data, sql, {"workload": workload, "basis": basis, **parameters}), _VALUED)


def values(day: date | None, market: str | None) -> str:
    """The SQL of mart.value for a market and a day.

    For another market than the home market it is the SQL of mart.value over the prices of that market. It needs the
    parameters of `market_parameters`.
    """
    if market is None:
        return "value_as_of($day)" if day else "mart.value"
    prices = f"{street_prices(day, market)}"
    ranking = "ranking_as_of($day)" if day else "mart.ranking"
    return f"({select_of('mart.value').replace('mart.gpu_price', prices).replace('mart.ranking', ranking)})"


def best(data: DataDir, most: int) -> Rows:
    """The `most` best cards of every workload at street price, with the shop of the price."""
    return query(
        data,
        """SELECT v.workload_id AS workload, v.value_rank AS rank, v.gpu, v.score, v.unit, v.price_usd, v.score_per_usd,
               p.source AS shop, p.url
           FROM mart.value v LEFT JOIN mart.gpu_price p USING (gpu_id)
           WHERE v.price_basis = 'street' AND v.value_rank <= ? ORDER BY v.workload_id, v.value_rank, v.gpu_id""",
        [most],
    )


#: What people see of it.
_RANKED = columns(
    "rank", "gpu", "score", "unit", "relative_to_baseline", "claim", Column("source", "source"), "published_on",
)  # fmt: skip


def ranking(data: DataDir, workload: str, day: date | None) -> Answer:
    """Cards by score, the fastest first, now or as known at the end of `day`."""
    table = "ranking_as_of($day)" if day else "mart.ranking"
    sql = f"SELECT * FROM {table} WHERE workload_id = $workload ORDER BY rank, gpu_id"
    return Answer.of_query(*query(data, sql, {"workload": workload, **({"day": day} if day else {})}), _RANKED)


def published_after(data: DataDir, workload: str, day: date) -> date | None:
    """The latest publication among the figures for the end of `day`, if it is later than `day`.

    A backfill uses the figures of today for past days, because a card was not slower before somebody measured it.
    """
    sql = "SELECT max(published_on) FROM ranking_as_of($day) WHERE workload_id = $workload AND published_on > $day"
    published_on: date | None = query(data, sql, {"workload": workload, "day": day})[1][0][0]
    return published_on
