"""What does a card cost, where, and is it time to buy?"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import NamedTuple

from gpuledger.transform.answers.columns import columns
from gpuledger.transform.buying import stock as stocks
from gpuledger.transform.buying.market import CONDITIONS, OfferFilter
from gpuledger.transform.buying.stock import Stock
from gpuledger.transform.queries import KNOWN, MARK, select_of
from gpuledger.warehouse.outputs.answer import Answer
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
    return _with_last_seen("mart.market_price" if market else "mart.gpu_price", market)


def last_prices(market: str | None) -> str:
    """The same now, with the last known price of a card whose sources are all too old."""
    best = f"""FROM core.market_offer WHERE {KNOWN} QUALIFY row_number() OVER (
        PARTITION BY in_market, gpu_id, condition = 'new'
        ORDER BY exclusion IS NOT NULL, price_usd, valid_from, listing_id) = 1"""
    prices = select_of("mart.market_price").replace("FROM core.market_best_offer", best)
    is_there = "$market" if market else "(SELECT market FROM core.home_market)"
    return _with_last_seen(f"(SELECT * EXCLUDE (market), market FROM ({prices}) WHERE market = {is_there})", market)


def _with_last_seen(table: str, market: str | None) -> str:
    where = " WHERE p.market = $market" if market else ""
    mark = MARK.format(is_fresh="a.listing_id IS NULL", source="p.source", fx_day="p.fx_day")
    return f"""(SELECT p.*, core.last_seen_at(s.confirmed_until, st.last_success_at, p.price_since) AS last_seen_at,
            {mark} AS price_mark
        FROM {table} p LEFT JOIN core.price_open s ON s.listing_id = p.listing_id
        LEFT JOIN core.aged_out a ON a.listing_id = p.listing_id
        LEFT JOIN ops.source_state st ON st.source = p.source{where})"""


def market_parameters(day: date | None, market: str | None) -> dict[str, date | str | None]:
    """The parameters that `street_prices` needs."""
    if day:
        return {"day": day, "market": market}
    return {"market": market} if market else {}


#: What people see of it.
SHOWN = columns(
    "gpu", "price_usd", "price_mark", "median_usd", "offers", "msrp_usd", "premium_over_msrp", "used_price_usd",
    "offered_in", "channel", "source", "price_since", "last_seen_at", "hint", "hint_was_right",
    "excluded",
)  # fmt: skip
#: The mark of a price `p` of a past day: `stale` if the last run of that day could not read its source.
MARK_OF_A_DAY = """nullif(concat_ws(', ',
    CASE WHEN (SELECT arg_max(s.status, r.as_of) FROM ops.source_run s JOIN ops.run r USING (run_id)
        WHERE s.source = p.source AND r.status LIKE 'published%' AND r.as_of < core.end_of_day($day)
    ) IN ('failed', 'refused') THEN 'stale' END,
    CASE WHEN contains(core.price_mark(p.source), 'invented') THEN 'invented' END), '')"""
#: The same for a past day, of which less is known.
SHOWN_OF_A_DAY = columns(
    "gpu", "price_usd", "price_mark", "median_usd", "offers", "offered_in", "channel", "source", "price_since",
    "last_seen_at", "url",
)  # fmt: skip


def price(data: DataDir, cards: Cards, day: date | None, market: str | None = None) -> Answer:
    """Street prices of `cards` in the market or the home market, now or as known at the end of `day`.

    Only the home market has a hint whether to buy.
    """
    if day:
        prices = street_prices(day, market)
        sql = f"SELECT g.gpu, p.*, {MARK_OF_A_DAY} AS price_mark FROM {prices} p JOIN core.gpu g USING (gpu_id)"
    else:
        # DuckDB 1.5 does not accept a subquery in the condition of an outer join.
        sql = f"""SELECT p.*, t.change_30d, t.percentile_1y, t.hint, t.reason AS hint_reason, t.hint_given,
                t.hint_was_right, t.hint_right_on_any
            FROM {last_prices(market)} p CROSS JOIN core.home_market home
            LEFT JOIN mart.price_trend t ON t.gpu_id = p.gpu_id AND p.market = home.market"""
    # All words are one parameter, because a condition for each word of a long text took gigabytes of memory to plan.
    card_parameters: dict[str, object] = {"words": [f"%{word}%" for word in cards.name.split()]}
    is_chosen = "NOT EXISTS (FROM unnest($words::VARCHAR[]) said(word) WHERE gpu NOT ILIKE word)"
    if cards.gpu_ids:
        card_parameters = {"cards": list(cards.gpu_ids)}
        is_chosen = "gpu IN (SELECT gpu FROM core.gpu WHERE list_contains($cards, gpu_id))"
    found = query(
        data,
        f"SELECT * FROM ({sql}) WHERE {is_chosen} ORDER BY gpu",
        {**card_parameters, **market_parameters(day, market)},
    )
    return Answer.of_query(*found, SHOWN_OF_A_DAY if day else SHOWN)


def brought(stock: Stock, name: str, gpu_ids: Collection[str]) -> Answer:
    """Prices that the program brings for the market of a packaged `stock`: of cards with `gpu_ids`, or whose name contains
    every word of `name`.
    """
    words = name.lower().split()
    cards = stocks.brought(OfferFilter(conditions=CONDITIONS["any"]), stock.place, stock.now.date())
    names = "gpu", "condition", "price_usd", "price_mark", "offered_in", "source", "price_since", "url"
    rows = [
        (
            card.gpu, card.condition, round(card.price_usd, 2), one.mark, one.market, one.source, one.price_since, one.url,
        )
        for card in sorted(cards, key=lambda card: (card.gpu, card.condition))
        if (one := card.evidence)
        and (card.gpu_id in gpu_ids if gpu_ids else all(word in card.gpu.lower() for word in words))
    ]  # fmt: skip
    return Answer.of_query(names, rows, columns(*names))
