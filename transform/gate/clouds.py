"""The price gate for cloud rates: the same rules as for shops, over the history of cloud offers.

A rate that a parser got wrong would make renting look like a gift or a robbery at once, and a decision rests on one row.
What differs from shops: the peers of an offer are those of the same GPU, number of GPUs and pricing model, and spot rates
move every day by their nature.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from gpuledger.transform.gate.rules import Bounds
from gpuledger.transform.gate.tables import Market, Verdict, judge, times
from gpuledger.warehouse.load.batch import Night

#: The version that was in force when the night began: a repeated run does not see what it wrote itself.
_STOOD = "o.source = $source AND o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to >= $seen_at)"
#: An offer may name a currency where it has no price.
_CURRENCY = "if({0}.price IS NULL, NULL, {0}.currency)"


def hold(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]] = (),
) -> Verdict:
    """Find the staged rates of `incoming_cloud` that are not to be believed yet; see `transform.gate.shops.hold`.

    They stand in core.held_price with the offer's id as `listing_id`; the caller loads the others.
    """
    _compare(con, night, bounds)
    return judge(con, night, bounds, released, _MARKET)


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
                NULL AS condition, i.pricing_model <> 'spot' AS is_steady,
                concat_ws(' ', i.provider, i.region, i.instance, i.gpu_count || '×', i.gpu_name, i.pricing_model) AS label,
                i.gpu_count, i.gpu_name, i.pricing_model
            FROM incoming_cloud i LEFT JOIN known k USING (offer_id)""",
        times(night, bounds),
    )


_MARKET = Market(
    kind="cloud_offer",
    open=f"""(SELECT offer_id AS listing_id, price, {_CURRENCY.format("c")} AS currency, valid_from, confirmed_until
              FROM core.cloud_offer_history c WHERE source = $source AND valid_to IS NULL)""",
    asked_before="""SELECT o.offer_id AS listing_id, o.price, o.currency FROM core.cloud_offer_history o
             WHERE o.source = $source AND o.offer_id IN (SELECT unnest($ids)) AND o.price > 0
                 AND o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to > $since)""",
    peers=f"""SELECT s.listing_id, o.price FROM compared s
              JOIN core.cloud_offer_history o USING (gpu_name, gpu_count, pricing_model, currency)
              WHERE {_STOOD} AND s.listing_id IN (SELECT unnest($ids)) AND o.offer_id <> s.listing_id AND o.price > 0""",
)
