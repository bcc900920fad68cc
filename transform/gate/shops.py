"""The price gate for the offers of shops."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from gpuledger.transform.gate import Bounds
from gpuledger.transform.gate.tables import Market, Verdict, judge, times
from gpuledger.warehouse.load.batch import Batch
from gpuledger.warehouse.load.offers import COLUMNS

KIND = "offer"


def hold(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]] = (),
) -> Verdict:
    """Hold the staged prices of `incoming_offer` that must not be believed yet.

    Moves them from `incoming_offer` to `held_offer` and updates core.held_price. `released` are listings with the price that
    a person let pass.
    """
    # Each price with the newest believed price of its listing within the reference time. One that comes back after a listing
    # had none is compared with the newest price that the listing had.
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE compared AS
            WITH shown AS (
                SELECT listing_id, price, currency FROM core.price_open
                WHERE price IS NOT NULL AND valid_from < $seen_at AND starts_with(listing_id, '{batch.source}:')
            ),
            missing AS (
                SELECT l.listing_id, l.listing_no FROM core.listing l
                SEMI JOIN incoming_offer i ON i.listing_id = l.listing_id AND i.price IS NOT NULL
                ANTI JOIN shown s ON s.listing_id = l.listing_id
            ),
            past AS (
                SELECT m.listing_id, arg_max(c.price, c.valid_from) AS price, arg_max(c.currency, c.valid_from) AS currency
                FROM core.price_span c JOIN missing m USING (listing_no)
                WHERE c.valid_to > $since AND c.valid_from < $seen_at AND c.price IS NOT NULL
                GROUP BY m.listing_id
            )
            SELECT i.listing_id, i.price, i.currency,
                coalesce(s.price, if(i.price IS NULL, NULL, p.price)) AS reference_price,
                coalesce(s.currency, if(i.price IS NULL, NULL, p.currency)) AS reference_currency,
                s.listing_id IS NOT NULL AS had_price, i.snapshot_sha256, i.condition, true AS is_steady, '' AS label,
                CASE WHEN i.currency = reference_currency
                    THEN i.price::DOUBLE / reference_price::DOUBLE - 1 END AS move
            FROM incoming_offer i LEFT JOIN shown s USING (listing_id) LEFT JOIN past p USING (listing_id)""",
        {name: value for name, value in times(batch, bounds).items() if name != "source"},
    )
    verdict = judge(con, batch, bounds, released, _MARKET)
    if verdict.held:
        ids = {"ids": [held.compared.listing_id for held in verdict.held]}
        columns, are_held = ", ".join(COLUMNS), "listing_id IN (SELECT unnest($ids))"
        con.execute(f"INSERT INTO held_offer ({columns}) SELECT {columns} FROM incoming_offer WHERE {are_held}", ids)
        con.execute(f"DELETE FROM incoming_offer WHERE {are_held}", ids)
    return verdict


_MARKET = Market(
    kind=KIND,
    open="core.price_open",
    earlier_prices="""SELECT l.listing_id, o.price, o.currency FROM core.price_span o JOIN core.listing l USING (listing_no)
             WHERE l.source = $source AND l.listing_id IN (SELECT unnest($ids)) AND o.price IS NOT NULL
                 AND o.valid_to > $since AND o.valid_from < $seen_at""",
    peers="""SELECT l.listing_id, o.price
             FROM core.listing l JOIN compared s USING (listing_id)
             JOIN core.listing m ON m.gpu_id = l.gpu_id AND m.source = l.source AND m.condition = s.condition
                 AND m.listing_id <> l.listing_id
             JOIN core.price_open o ON o.listing_id = m.listing_id AND o.currency = s.currency
             WHERE l.source = $source AND l.listing_id IN (SELECT unnest($ids)) AND o.price > 0""",
    titles="SELECT listing_id, title FROM incoming_offer WHERE listing_id IN (SELECT unnest($ids))",
)
