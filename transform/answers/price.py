"""What does a card cost, where, and is it time to buy?"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


class Cards(NamedTuple):
    """Which cards: those with the `gpu_ids`, or without any `gpu_ids` those whose name contains every word of `name`."""

    name: str = ""
    gpu_ids: tuple[str, ...] = ()


def street_prices(day: date | None, market: str | None) -> str:
    """The SQL of a relation with a row for each card that has a street price, now or at the end of `day`.

    Without a `market` it is for the home market. It needs the parameters of `market_parameters`. `last_seen_at` is the time
    when the source last confirmed the price.
    """
    if day:
        return "price_as_of($day, in_market := $market)"
    table = "mart.market_price" if market else "mart.gpu_price"
    where = " WHERE p.market = $market" if market else ""
    return f"""(SELECT p.*, core.last_seen_at(s.confirmed_until, st.last_success_at, p.price_since) AS last_seen_at
        FROM {table} p LEFT JOIN core.price_open s ON s.listing_id = p.listing_id
        LEFT JOIN ops.source_state st ON st.source = p.source{where})"""


def market_parameters(day: date | None, market: str | None) -> dict[str, date | str | None]:
    """The parameters that `street_prices` needs."""
    if day:
        return {"day": day, "market": market}
    return {"market": market} if market else {}


def price(data: DataDir, cards: Cards, day: date | None, market: str | None = None, *, short: bool) -> Rows:
    """Street prices of `cards` in the market or the home market, now or as known at the end of `day`.

    `short` gives only the columns for people. Only the home market has a hint whether to buy.
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
        # DuckDB 1.5 does not accept a subquery in the condition of an outer join.
        trend = "t.gpu_id = p.gpu_id AND p.market = home.market"
        sql = f"""SELECT {columns} FROM {prices} p CROSS JOIN core.home_market home
            LEFT JOIN mart.price_trend t ON {trend}"""
    # All words are one parameter, because a condition for each word of a long text took gigabytes of memory to plan.
    card_parameters: dict[str, object] = {"words": [f"%{word}%" for word in cards.name.split()]}
    is_chosen = "NOT EXISTS (FROM unnest($words::VARCHAR[]) said(word) WHERE gpu NOT ILIKE word)"
    if cards.gpu_ids:
        card_parameters = {"cards": list(cards.gpu_ids)}
        is_chosen = "gpu IN (SELECT gpu FROM core.gpu WHERE list_contains($cards, gpu_id))"
    return query(
        data,
        f"SELECT * FROM ({sql}) WHERE {is_chosen} ORDER BY gpu",
        {**card_parameters, **market_parameters(day, market)},
    )
