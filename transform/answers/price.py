"""What does a card cost, where, and is it time to buy?"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


class Cards(NamedTuple):
    """Which cards: those `gpu_ids`, or where none is given those whose name holds every word of `name`."""

    name: str = ""
    gpu_ids: tuple[str, ...] = ()


def street_prices(day: date | None, market: str | None) -> str:
    """The relation with a row for each card that has a street price, now or at the end of `day`; NULL `market` for the home
    market. It asks for the parameters of `asked`. `last_seen_at` is when its source last confirmed the price.
    """
    if day:
        return "price_as_of($day, in_market := $market)"
    table = "mart.market_price" if market else "mart.gpu_price"
    where = " WHERE p.market = $market" if market else ""
    return f"""(SELECT p.*, core.last_seen_at(s.confirmed_until, st.last_success_at, p.price_since) AS last_seen_at
        FROM {table} p LEFT JOIN core.price_open s ON s.listing_id = p.listing_id
        LEFT JOIN ops.source_state st ON st.source = p.source{where})"""


def asked(day: date | None, market: str | None) -> dict[str, date | str | None]:
    """The parameters that `street_prices` asks for."""
    if day:
        return {"day": day, "market": market}
    return {"market": market} if market else {}


def price(data: DataDir, cards: Cards, day: date | None, market: str | None = None, *, short: bool) -> Rows:
    """Street prices of `cards`, now or as known at the end of `day`, of the market or the home market.

    `short` leaves the columns for people. A hint whether to buy is there for the home market alone.
    """
    prices = street_prices(day, market)
    if day:
        columns = "g.gpu, " + (
            """p.price_usd, p.median_usd, p.offers, p.offered_in AS market, p.channel, p.source,
               p.price_since::DATE AS price_since, p.last_seen_at::DATE AS last_seen_at, p.url"""
            if short
            else "p.*"
        )
        sql = f"SELECT {columns} FROM {prices} p JOIN core.gpu g USING (gpu_id)"
    else:
        columns = (
            """p.gpu, p.price_usd, p.median_usd, p.offers, p.msrp_usd, p.premium_over_msrp, p.used_price_usd,
               p.offered_in AS market, p.channel, p.source, p.price_since::DATE AS price_since,
               p.last_seen_at::DATE AS last_seen_at, t.hint, p.excluded"""
            if short
            else "p.*, t.change_30d, t.percentile_1y, t.hint, t.reason AS hint_reason"
        )
        # DuckDB 1.5 takes no subquery where an outer join is asked what it joins on.
        trend = "t.gpu_id = p.gpu_id AND p.market = home.market"
        sql = f"""SELECT {columns} FROM {prices} p CROSS JOIN core.home_market home
            LEFT JOIN mart.price_trend t ON {trend}"""
    # One parameter: a condition for each word of a long text took gigabytes of memory to plan.
    words: dict[str, object] = {"words": [f"%{word}%" for word in cards.name.split()]}
    named = "NOT EXISTS (FROM unnest($words::VARCHAR[]) said(word) WHERE gpu NOT ILIKE word)"
    if cards.gpu_ids:
        words = {"cards": list(cards.gpu_ids)}
        named = "gpu IN (SELECT gpu FROM core.gpu WHERE list_contains($cards, gpu_id))"
    return query(data, f"SELECT * FROM ({sql}) WHERE {named} ORDER BY gpu", {**words, **asked(day, market)})
