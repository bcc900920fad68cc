"""What does a card cost, where, and is it time to buy?"""

from __future__ import annotations

from datetime import date

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def price(data: DataDir, name: str, day: date | None, *, short: bool) -> Rows:
    """Street prices of the cards whose name holds every word of `name`, now or as known at the end of `day`.

    `short` leaves the columns for people.
    """
    if day:
        columns = "g.gpu, " + (
            "p.price_usd, p.median_usd, p.offers, p.source, p.price_since, p.url" if short else "p.*"
        )
        sql = f"SELECT {columns} FROM price_as_of($day) p JOIN core.gpu g USING (gpu_id)"
    else:
        columns = (
            """p.gpu, p.price_usd, p.median_usd, p.offers, p.msrp_usd, p.premium_over_msrp, p.used_price_usd, p.source,
               p.price_since::DATE AS price_since, t.hint, p.excluded"""
            if short
            else "p.*, t.change_30d, t.percentile_1y, t.hint, t.reason AS hint_reason"
        )
        sql = f"SELECT {columns} FROM mart.gpu_price p LEFT JOIN mart.price_trend t USING (gpu_id)"
    words = {f"word{n}": f"%{word}%" for n, word in enumerate(name.split())}
    named = " AND ".join(f"gpu ILIKE ${word}" for word in words) or "true"
    return query(data, f"SELECT * FROM ({sql}) WHERE {named} ORDER BY gpu", {**words, **({"day": day} if day else {})})
