"""Which card gives most for its money?"""

from __future__ import annotations

from datetime import date
from typing import Literal

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: What a card is counted at: the lowest price of a shop, or its launch price.
Basis = Literal["street", "msrp"]


def value(data: DataDir, workload: str, basis: Basis, day: date | None, *, short: bool) -> Rows:
    """Cards by score per dollar, the best first, now or as known at the end of `day`; `short` for people."""
    values, prices = ("value_as_of($day)", "price_as_of($day)") if day else ("mart.value", "mart.gpu_price")
    sql = f"SELECT * FROM {values} WHERE workload_id = $workload AND price_basis = $basis ORDER BY value_rank, gpu_id"
    if short:
        street = ", p.source AS shop, p.price_since::DATE AS price_since" if basis == "street" else ""
        sql = f"""
            SELECT v.value_rank, v.gpu, v.score, v.unit, v.price_usd, round(v.score_per_usd * 1000, 2) AS per_1000_usd,
                round(v.score_ratio, 2) AS score_ratio, round(v.price_ratio, 2) AS price_ratio,
                CASE WHEN v.on_pareto_frontier THEN '●' ELSE '' END AS frontier{street}
            FROM ({sql}) v LEFT JOIN {prices} p USING (gpu_id) ORDER BY v.value_rank, v.gpu_id"""
    return query(data, sql, {"workload": workload, "basis": basis, **({"day": day} if day else {})})


def best(data: DataDir, most: int) -> Rows:
    """The `most` best cards of every workload at street price, with the shop that the price is from."""
    return query(
        data,
        """SELECT v.workload_id AS workload, v.value_rank AS rank, v.gpu, v.score, v.unit, v.price_usd, v.score_per_usd,
               p.source AS shop, p.url
           FROM mart.value v LEFT JOIN mart.gpu_price p USING (gpu_id)
           WHERE v.price_basis = 'street' AND v.value_rank <= ? ORDER BY v.workload_id, v.value_rank, v.gpu_id""",
        [most],
    )
