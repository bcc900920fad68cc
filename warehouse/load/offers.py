"""Load offers: listings with their newest attributes, their prices as spans, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import duckdb

from extract.items import Issue, Offer
from warehouse.load.batch import Batch, ChangeSet, Row
from warehouse.load.spans import Spans, merge
from warehouse.load.stage import Value, stage

#: What may change on a listing without being another listing.
ATTRIBUTES = ("title", "url", "brand", "sku", "mpn", "gtin", "condition", "seller", "seller_kind", "specs")
#: Attributes that the identity of the GPU is read from: a change asks for the resolver again.
EVIDENCE = ("title", "brand", "mpn", "specs")
STATE = ("price", "currency", "price_kind", "list_price", "availability")
_COLUMNS = ("listing_id", "source", "listing_key", *ATTRIBUTES, *STATE, "price_text", "snapshot_sha256")


#: Dollars for one unit of a currency, by day. The base itself has no row in the file: one euro is one euro.
_USD_RATES = """
    usd AS (SELECT day, rate FROM core.fx_rate WHERE currency = 'USD' AND base = 'EUR'),
    rates AS (
        SELECT r.day, r.currency, usd.rate / r.rate AS usd_rate
        FROM core.fx_rate r JOIN usd USING (day) WHERE r.base = 'EUR'
        UNION ALL SELECT day, 'EUR', rate FROM usd
    )"""


def listing_id(source: str, offer: Offer) -> str:
    """Identity of a listing over time: the source and the shop's own key."""
    return f"{source}:{offer.key}"


def stage_batch(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Stage the offers of `batch` as `incoming_offer`, and those that its contract refused as `held_offer`."""
    for name, rows in (("incoming_offer", batch.rows), ("held_offer", batch.held)):
        stage(con, name, _COLUMNS, [_values(batch.source, row) for row in rows if isinstance(row.item, Offer)])


def load(con: duckdb.DuckDBPyConnection, batch: Batch, previous_success: datetime | None) -> ChangeSet:
    """Load what is staged of `batch`. Returns what changed; the batch's keys must be unique."""
    changes = ChangeSet()
    changes.add("core.listing", _merge_listings(con, batch))
    _convert(con, batch, changes)
    spans = Spans(
        table="core.price_span",
        key=("listing_id",),
        state=STATE,
        extra=("price_text", "price_usd", "fx_day", "snapshot_sha256", "loaded_at"),
        scope=f"starts_with(o.listing_id, '{batch.source}:')",
        has_doubt=True,
    )
    moved = merge(
        con, spans, "incoming_price", "held_offer", batch.seen_at,
        is_complete=batch.is_complete, previous_success=previous_success,
    )  # fmt: skip
    changes.add("core.price_span", moved)
    if moved:
        changes.add("core.price_change", _record_changes(con, batch))
    return changes


def _values(source: str, row: Row) -> Sequence[Value]:
    offer = row.item
    assert isinstance(offer, Offer)
    attributes = [getattr(offer, name) for name in (*ATTRIBUTES, *STATE)]
    return (listing_id(source, offer), source, offer.key, *attributes, offer.price_text, row.snapshot_sha256)


def _merge_listings(con: duckdb.DuckDBPyConnection, batch: Batch) -> int:
    """Insert new listings, bring changed ones up to date, open those that returned and end those that vanished."""
    seen = {"seen_at": batch.seen_at}
    new = ", ".join(("listing_id", "source", "listing_key", *ATTRIBUTES, "snapshot_sha256"))
    differs = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in ATTRIBUTES)
    evidence = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in EVIDENCE)
    updated = con.execute(
        f"""UPDATE core.listing l SET
                {", ".join(f"{c} = i.{c}" for c in ATTRIBUTES)}, snapshot_sha256 = i.snapshot_sha256, ended_at = NULL,
                match_version = CASE WHEN {evidence} THEN NULL ELSE l.match_version END
            FROM incoming_offer i WHERE l.listing_id = i.listing_id AND ({differs} OR l.ended_at IS NOT NULL)"""
    ).fetchone()
    inserted = con.execute(
        f"""INSERT INTO core.listing ({new}, first_seen_at) SELECT {new}, $seen_at FROM incoming_offer
            WHERE listing_id NOT IN (SELECT listing_id FROM core.listing)""",
        seen,
    ).fetchone()
    ended = (0,)
    if batch.is_complete:
        ended = con.execute(
            """UPDATE core.listing SET ended_at = $seen_at WHERE source = $source AND ended_at IS NULL
               AND listing_id NOT IN (SELECT listing_id FROM incoming_offer)
               AND listing_id NOT IN (SELECT listing_id FROM held_offer)""",
            {**seen, "source": batch.source},
        ).fetchone() or (0,)
    return int((updated or (0,))[0]) + int((inserted or (0,))[0]) + int(ended[0])


def _convert(con: duckdb.DuckDBPyConnection, batch: Batch, changes: ChangeSet) -> None:
    """Stage `incoming_price`: the offers with the price in USD at the newest reference rate up to the day of the batch."""
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE incoming_price AS
           WITH {_USD_RATES},
           newest AS (SELECT currency, max(day) AS day, arg_max(usd_rate, day) AS usd_rate FROM rates
                      WHERE day <= ($seen_at AT TIME ZONE 'UTC')::DATE GROUP BY currency)
           SELECT i.*, $seen_at::TIMESTAMPTZ AS loaded_at,
               CASE WHEN i.currency = 'USD' THEN i.price
                    ELSE (i.price::DOUBLE * newest.usd_rate)::DECIMAL(18,4) END AS price_usd,
               CASE WHEN i.currency <> 'USD' AND i.price IS NOT NULL THEN newest.day END AS fx_day
           FROM incoming_offer i LEFT JOIN newest USING (currency)""",
        {"seen_at": batch.seen_at},
    )
    missing = con.execute(
        """SELECT currency, count(*) FROM incoming_price WHERE price IS NOT NULL AND price_usd IS NULL
           GROUP BY currency ORDER BY currency"""
    ).fetchall()
    for currency, count in missing:
        message = (
            f"no reference rate for {currency} up to {batch.seen_at:%Y-%m-%d}: {count} prices stay without a USD amount "
            "and out of every comparison; load an exchange-rate file that has it"
        )
        changes.issues.append(
            (batch.source, Issue(code="missing_rate", message=message, severity="warning", text=currency))
        )


def fill_missing_usd(con: duckdb.DuckDBPyConnection) -> int:
    """Convert prices that were loaded before a rate of their day was; returns how many."""
    row = con.execute(
        f"""UPDATE core.price_span SET price_usd = found.price_usd, fx_day = found.day FROM (
                WITH {_USD_RATES}
                SELECT s.rowid AS id, r.day, (s.price::DOUBLE * r.usd_rate)::DECIMAL(18,4) AS price_usd
                FROM core.price_span s ASOF JOIN rates r
                    ON s.currency = r.currency AND (s.valid_from AT TIME ZONE 'UTC')::DATE >= r.day
                WHERE s.price_usd IS NULL AND s.price IS NOT NULL
            ) found WHERE core.price_span.rowid = found.id"""
    ).fetchone()
    return int(row[0]) if row else 0


def _record_changes(con: duckdb.DuckDBPyConnection, batch: Batch) -> int:
    """Write core.price_change for this batch's time, from the spans alone, so that a repeated run writes the same rows."""
    parameters = {"seen_at": batch.seen_at, "source": batch.source}
    con.execute("DELETE FROM core.price_change WHERE changed_at = $seen_at AND source = $source", parameters)
    row = con.execute(
        """INSERT INTO core.price_change
           WITH spans AS (
               SELECT s.* FROM core.price_span s JOIN core.listing l USING (listing_id) WHERE l.source = $source
               AND s.listing_id IN
                   (SELECT listing_id FROM core.price_span WHERE valid_from = $seen_at OR valid_to = $seen_at)
           ),
           began AS (SELECT * FROM spans WHERE valid_from = $seen_at),
           earlier AS (
               SELECT listing_id, max(valid_to) AS valid_to, arg_max(price, valid_from) AS price,
                   arg_max(currency, valid_from) AS currency, arg_max(availability, valid_from) AS availability
               FROM spans WHERE valid_from < $seen_at GROUP BY listing_id
           ),
           both_sides AS (
               SELECT coalesce(n.listing_id, o.listing_id) AS listing_id,
                   n.listing_id IS NOT NULL AS is_there, o.listing_id IS NOT NULL AS was_there,
                   o.valid_to = $seen_at AS is_contiguous,
                   o.price AS old_price, n.price AS new_price, coalesce(n.currency, o.currency) AS currency,
                   o.currency IS NOT DISTINCT FROM n.currency AS same_currency,
                   o.availability AS old_availability, n.availability AS new_availability, n.snapshot_sha256
               FROM began n FULL JOIN earlier o USING (listing_id)
               WHERE n.listing_id IS NOT NULL OR o.valid_to = $seen_at
           )
           SELECT listing_id, $source, $seen_at,
               CASE WHEN NOT is_there THEN 'ended' WHEN NOT was_there THEN 'appeared' WHEN NOT is_contiguous THEN 'returned'
                    WHEN old_price IS DISTINCT FROM new_price OR NOT same_currency THEN 'price'
                    WHEN old_availability IS DISTINCT FROM new_availability THEN 'availability' ELSE 'terms' END,
               old_price, new_price, currency,
               CASE WHEN same_currency THEN new_price::DOUBLE / nullif(old_price::DOUBLE, 0) - 1 END,
               old_availability, new_availability, snapshot_sha256
           FROM both_sides""",
        parameters,
    ).fetchone()
    return int(row[0]) if row else 0
