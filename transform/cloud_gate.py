"""The price gate for cloud rates: the same rules as for shops, over the history of cloud offers.

A rate that a parser got wrong would make renting look like a gift or a robbery at once, and a decision rests on one row.
What differs from shops: the peers of an offer are those of the same GPU, number of GPUs and pricing model, and spot rates
move every day by their nature.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import duckdb

from transform.gate import Bounds, GoodNight, Market, Verdict, judge
from warehouse.load.batch import Night

#: The version that was in force when the night began: a repeated run does not see what it wrote itself.
_STOOD = "o.source = $source AND o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to >= $seen_at)"
#: An offer may name a currency where it has no price.
_CURRENCY = "if({0}.price IS NULL, NULL, {0}.currency)"


def hold(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    past: Sequence[GoodNight],
    released: Sequence[tuple[str, Decimal]] = (),
) -> Verdict:
    """Find the staged rates of `incoming_cloud` that are not to be believed yet; see `transform.gate.hold`.

    They stand in the temporary table `held_now` and in core.held_price, with the offer's id as `listing_id`; the caller
    loads the others.
    """
    _compare(con, night, bounds)
    return judge(con, night, bounds, past, released, _market(night.source, bounds))


def _market(source: str, bounds: Bounds) -> Market:
    return Market(
        kind="cloud_offer",
        open=f"""(SELECT offer_id AS listing_id, price, {_CURRENCY.format("c")} AS currency, valid_from, confirmed_until
                  FROM core.cloud_offer_history c WHERE source = '{source}' AND valid_to IS NULL)""",
        clear=_clear,
        steady="pricing_model <> 'spot'",
        # A spot rate that moved far and stays there still wanders: it would be held for ever.
        same_price=f"if(s.pricing_model = 'spot', {bounds.crowd_move}, {bounds.same_price})",
        prefix="concat_ws(' ', j.provider, j.region, j.instance, j.gpu_count || '×', j.gpu_name, j.pricing_model)"
        " || ': ' ||",
    )


def _compare(con: duckdb.DuckDBPyConnection, night: Night, bounds: Bounds) -> None:
    """Stage `compared`: each rate beside the newest one that was believed, within the reference time."""
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE compared AS
            WITH known AS (
                SELECT o.offer_id, arg_max(o.price, o.valid_from) AS price, arg_max(o.currency, o.valid_from) AS currency,
                    bool_or({_STOOD}) AS had_price
                FROM core.cloud_offer_history o
                WHERE o.source = $source AND o.price > 0 AND o.valid_from < $seen_at
                    AND (o.valid_to IS NULL OR o.valid_to > $since)
                GROUP BY o.offer_id
            )
            SELECT i.offer_id AS listing_id, i.price, {_CURRENCY.format("i")} AS currency, i.snapshot_sha256,
                k.price AS reference_price, k.currency AS reference_currency, coalesce(k.had_price, false) AS had_price,
                CASE WHEN i.currency = k.currency THEN i.price::DOUBLE / k.price::DOUBLE - 1 END AS move,
                i.provider, i.region, i.instance, i.gpu_count, i.gpu_name, i.pricing_model
            FROM incoming_cloud i LEFT JOIN known k USING (offer_id)""",
        _times(night, bounds),
    )


def _clear(con: duckdb.DuckDBPyConnection, night: Night, bounds: Bounds) -> None:
    """Take from `suspect` the single moves to a rate that was asked before, or that the peers ask."""
    con.execute(
        f"""DELETE FROM suspect WHERE hold = 'move' AND (
                listing_id IN (
                    SELECT s.listing_id FROM suspect s
                    JOIN core.cloud_offer_history o ON o.offer_id = s.listing_id AND o.currency = s.currency
                    WHERE o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to > $since) AND o.price > 0
                    GROUP BY s.listing_id, s.price
                    HAVING s.price::DOUBLE BETWEEN min(o.price)::DOUBLE * (1 - $same) AND max(o.price)::DOUBLE * (1 + $same)
                )
                OR listing_id IN (
                    SELECT s.listing_id FROM suspect s JOIN (
                        SELECT o.gpu_name, o.gpu_count, o.pricing_model, o.currency,
                            median(o.price::DOUBLE) AS price, count(*) AS peers
                        FROM core.cloud_offer_history o WHERE {_STOOD} AND o.price > 0 GROUP BY ALL
                    ) m USING (gpu_name, gpu_count, pricing_model, currency)
                    -- The offer itself may be one of them.
                    WHERE m.peers > $min_peers AND abs(ln(s.price::DOUBLE / m.price)) <= ln(1 + $max_move)
                )
            )""",
        {
            **_times(night, bounds),
            "same": bounds.same_price, "max_move": bounds.max_move, "min_peers": bounds.min_peers,
        },
    )  # fmt: skip


def _times(night: Night, bounds: Bounds) -> dict[str, str | datetime]:
    return {
        "source": night.source, "seen_at": night.seen_at, "since": night.seen_at - timedelta(days=bounds.reference_days),
    }  # fmt: skip
