"""Prices of listings as versions: core.price_span has all versions, core.price_open those that have not ended.

On most nights few listings change: a listing is seen in another state, goes on in doubt, or ends. A load reads the open
version only of these, however long the history is. It writes a version that ends at the end of the history, so the history
stays in order of time, and no old part of it is rewritten.
"""

from __future__ import annotations

from datetime import datetime

import duckdb

from gpuledger.warehouse.load.batch import Night
from gpuledger.warehouse.load.spans import Spans, Staged, fresh_since, judge

STATE = ("price", "currency", "price_kind", "list_price", "availability")
#: Attributes that decide whether an offer counts. They are part of each version too, so that answers about the past stay.
TERMS = ("condition", "seller", "seller_kind")
#: Columns that are written with a new version. A change of them makes no new version.
EVIDENCE = ("price_text", "snapshot_sha256")
COLUMNS = (*STATE, *TERMS, *EVIDENCE)


def write(con: duckdb.DuckDBPyConnection, night: Night, previous_success: datetime | None) -> tuple[int, int]:
    """Write the versions that a night makes from its staged offers (`incoming_offer`, `held_offer`) and the open versions.

    A listing ends if it is absent from a complete night, or if its own page is gone. A listing that is absent from an
    incomplete night goes on, with the time until which it was confirmed. A listing that the contract or the gate holds goes
    on as a version in doubt. A night that is repeated at the same time replaces the versions that it wrote itself.

    The listings must be in core.listing already. Returns how many versions were begun, closed or marked, and how many
    listings ended.
    """
    spans = Spans(
        table="core.price_open",
        key=("listing_id",),
        state=(*STATE, *TERMS),
        extra=EVIDENCE,
        has_doubt=True,
    )
    staged = Staged(
        incoming="incoming_offer", held="held_offer", seen_at=night.seen_at, is_complete=night.is_complete,
        scope=f"starts_with(o.listing_id, '{night.source}:')", gone=night.gone,
        fresh_since=fresh_since(con, night.source, night.seen_at),
    )  # fmt: skip
    judge(con, spans, staged)
    counted = dict(con.execute("SELECT why, count(*) FROM verdict WHERE why IS NOT NULL GROUP BY why").fetchall())
    if not counted:
        return 0, 0
    columns = ", ".join(COLUMNS)
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE version AS
            WITH stood AS (
                SELECT listing_id, why, {columns}, valid_from, confirmed_until
                FROM core.price_open JOIN (SELECT listing_id, why FROM verdict WHERE why IS NOT NULL) USING (listing_id)
            )
            SELECT listing_no, v.* FROM (
                SELECT listing_id, {columns}, valid_from, $seen_at AS valid_to,
                    coalesce(confirmed_until, $previous, valid_from) AS confirmed_until
                FROM stood WHERE valid_from <> $seen_at AND why NOT IN ('unseen', 'confirmed')
                UNION ALL
                SELECT listing_id, {columns}, valid_from, NULL,
                    CASE why WHEN 'unseen' THEN greatest($previous, valid_from) END
                FROM stood WHERE why IN ('unseen', 'confirmed')
                UNION ALL
                SELECT listing_id, {columns}, $seen_at, NULL, coalesce(confirmed_until, $previous, valid_from)
                FROM stood WHERE why = 'doubted'
                UNION ALL
                SELECT listing_id, {columns}, $seen_at, NULL, NULL
                FROM incoming_offer SEMI JOIN (FROM verdict WHERE why IN ('new', 'replaced')) USING (listing_id)
            ) v
            JOIN (SELECT listing_id, listing_no FROM core.listing) USING (listing_id)""",
        {"seen_at": night.seen_at, "previous": previous_success},
    )
    # Rows are found by key and not by row id: DuckDB 2.0 crashes when it looks up row ids in a table in which the open
    # transaction has written some rows and deleted others.
    con.execute(
        "DELETE FROM core.price_open WHERE listing_id IN (SELECT listing_id FROM verdict WHERE why IS NOT NULL)"
    )
    con.execute(
        """DELETE FROM core.price_span WHERE valid_to IS NULL AND listing_no IN (
               SELECT listing_no FROM core.listing SEMI JOIN (FROM verdict WHERE why IS NOT NULL) USING (listing_id))"""
    )
    row = con.execute(
        f"""INSERT INTO core.price_span (listing_no, {columns}, valid_from, valid_to, confirmed_until)
            SELECT listing_no, {columns}, valid_from, valid_to, confirmed_until FROM version
            ORDER BY coalesce(valid_to, valid_from), valid_to IS NULL, listing_no"""
    ).fetchone()
    con.execute(
        f"""INSERT INTO core.price_open (listing_id, {columns}, valid_from, confirmed_until)
            SELECT listing_id, {columns}, valid_from, confirmed_until FROM version
            WHERE valid_to IS NULL ORDER BY valid_from, listing_no"""
    )
    return int(row[0]) if row else 0, int(counted.get("ended", 0))
