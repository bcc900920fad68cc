"""The price gate for cloud rates. It applies the same rules as for shops to the history of cloud offers.

A decision to rent may depend on a single row, so one rate that a parser read wrongly would mislead at once. There are two
differences from shops. The peers of an offer have the same GPU, number of GPUs and pricing model, and spot rates normally
move every day.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from gpuledger.transform.gate import Bounds
from gpuledger.transform.gate.tables import Market, Verdict, judge, times
from gpuledger.warehouse.load.batch import Batch

#: The condition for the version that was valid when the night began. A repeated run thus does not see its own rows.
_STOOD = "o.source = $source AND o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to >= $seen_at)"
#: The currency of an offer, which counts only if it has a price.
_CURRENCY = "if({0}.price IS NULL, NULL, {0}.currency)"


def hold(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]] = (),
) -> Verdict:
    """Find the staged rates of `incoming_cloud` that must not be believed yet; see `transform.gate.shops.hold`.

    The held rates are written to core.held_price, with the id of the offer as `listing_id`. The caller loads the others.
    """
    # Each rate with the newest believed rate of the same offer within the reference time.
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
        times(batch, bounds),
    )
    return judge(con, batch, bounds, released, _MARKET)


_MARKET = Market(
    kind="cloud_offer",
    open=f"""(SELECT offer_id AS listing_id, price, {_CURRENCY.format("c")} AS currency, valid_from, confirmed_until
              FROM core.cloud_offer_history c WHERE source = $source AND valid_to IS NULL)""",
    earlier_prices="""SELECT o.offer_id AS listing_id, o.price, o.currency FROM core.cloud_offer_history o
             WHERE o.source = $source AND o.offer_id IN (SELECT unnest($ids)) AND o.price > 0
                 AND o.valid_from < $seen_at AND (o.valid_to IS NULL OR o.valid_to > $since)""",
    peers=f"""SELECT s.listing_id, o.price FROM compared s
              JOIN core.cloud_offer_history o USING (gpu_name, gpu_count, pricing_model, currency)
              WHERE {_STOOD} AND s.listing_id IN (SELECT unnest($ids)) AND o.offer_id <> s.listing_id AND o.price > 0""",
)
