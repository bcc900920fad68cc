"""Which card gives the most speed for its price?"""

from __future__ import annotations

from datetime import date
from typing import Literal, NamedTuple

from gpuledger.transform.answers.asking import Rows, select_of
from gpuledger.transform.answers.price import market_parameters, street_prices
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The price of a card in this table: the lowest price of a shop, or its launch price.
Basis = Literal["street", "msrp"]


class Scope(NamedTuple):
    """The time and the market of an answer: now, or as known at the end of `day`, in `market` or in the home market."""

    day: date | None = None
    market: str | None = None


def value(data: DataDir, workload: str, basis: Basis, scope: Scope, *, short: bool) -> Rows:
    """Cards by score per dollar, the best first. `short` gives only the columns for people."""
    day, market = scope
    prices = street_prices(day, market)
    sql = f"""SELECT * FROM {values(day, market)} WHERE workload_id = $workload AND price_basis = $basis
        ORDER BY value_rank, gpu_id"""
    is_street = basis == "street"
    if short:
        shop = """, p.offered_in AS market, p.source AS shop, p.price_since::DATE AS price_since,
            p.last_seen_at::DATE AS last_seen_at"""
        sql = f"""
            SELECT v.value_rank, v.gpu, v.score, v.unit, v.price_usd, round(v.score_per_usd * 1000, 2) AS score_per_1000_usd,
                round(v.score_ratio, 2) AS score_ratio, round(v.price_ratio, 2) AS price_ratio,
                CASE WHEN v.on_pareto_frontier THEN '●' ELSE '' END AS frontier{shop if is_street else ""}
            FROM ({sql}) v {f"LEFT JOIN {prices} p USING (gpu_id)" if is_street else ""} ORDER BY v.value_rank, v.gpu_id"""
    needs_market = market is not None or (day is not None and short and is_street)
    parameters = market_parameters(day, market)
    if not needs_market:
        parameters.pop("market", None)
    return query(data, sql, {"workload": workload, "basis": basis, **parameters})


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
