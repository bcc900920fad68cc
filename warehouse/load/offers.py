"""Load offers: listings with their newest attributes, their prices as spans, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import duckdb

from extract.items import Issue, Offer
from warehouse.load.batch import Batch, ChangeSet, Night, Row
from warehouse.load.spans import Spans, merge
from warehouse.load.stage import Value, stage

#: What may change on a listing without being another listing.
ATTRIBUTES = ("title", "url", "brand", "sku", "mpn", "gtin", "condition", "seller", "seller_kind", "specs")
#: Attributes that the identity of the GPU is read from: a change asks for the resolver again.
EVIDENCE = ("title", "brand", "mpn", "specs")
STATE = ("price", "currency", "price_kind", "list_price", "availability")
#: Attributes that decide whether an offer counts: they are part of each span too, so that the past keeps its answer.
TERMS = ("condition", "seller", "seller_kind")
COLUMNS = ("listing_id", "source", "listing_key", *ATTRIBUTES, *STATE, "price_text", "snapshot_sha256")


#: Dollars for one unit of a currency, by day. The base itself has no row in the file: one euro is one euro.
_USD_RATES = """
    known AS (
        SELECT day, currency, arg_max(rate, loaded_at) AS rate FROM core.fx_rate WHERE base = 'EUR' GROUP BY ALL
    ),
    usd AS (SELECT day, rate FROM known WHERE currency = 'USD'),
    rates AS (
        SELECT r.day, r.currency, usd.rate / r.rate AS usd_rate
        FROM known r JOIN usd USING (day)
        UNION ALL SELECT day, 'EUR', rate FROM usd
    )"""


def listing_id(source: str, offer: Offer) -> str:
    """Identity of a listing over time: the source and the shop's own key."""
    return f"{source}:{offer.key}"


def stage_batch(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Stage the offers of `batch` as `incoming_offer`, and those that its contract refused as `held_offer`."""
    for name, rows in (("incoming_offer", batch.rows), ("held_offer", batch.held)):
        stage(con, name, COLUMNS, [staged_values(batch.source, row) for row in rows if isinstance(row.item, Offer)])


def load(
    con: duckdb.DuckDBPyConnection, night: Night, previous_success: datetime | None, *, is_converted: bool = False
) -> ChangeSet:
    """Load what is staged of `night`; `record_changes` comes after. Returns what changed; keys must be unique.

    `is_converted` says that `incoming_offer` has the columns of `converted` already.
    """
    changes = ChangeSet()
    changes.add("core.listing", _merge_listings(con, night))
    if not is_converted:
        _convert(con, night, changes)
    spans = Spans(
        table="core.price_span",
        key=("listing_id",),
        state=(*STATE, *TERMS),
        extra=("price_text", "price_usd", "fx_day", "snapshot_sha256", "loaded_at"),
        scope=f"starts_with(o.listing_id, '{night.source}:')",
        has_doubt=True,
    )
    moved = merge(
        con, spans, "incoming_offer" if is_converted else "incoming_price", "held_offer", night.seen_at,
        is_complete=night.is_complete, previous_success=previous_success,
    )  # fmt: skip
    changes.add("core.price_span", moved)
    return changes


def staged_values(source: str, row: Row) -> Sequence[Value]:
    """One offer as the staged columns have it."""
    offer = row.item
    assert isinstance(offer, Offer)
    attributes = [getattr(offer, name) for name in (*ATTRIBUTES, *STATE)]
    return (listing_id(source, offer), source, offer.key, *attributes, offer.price_text, row.snapshot_sha256)


def _merge_listings(con: duckdb.DuckDBPyConnection, night: Night) -> int:
    """Insert new listings, bring changed ones up to date, open those that returned and end those that vanished."""
    seen = {"seen_at": night.seen_at}
    differs = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in ATTRIBUTES)
    evidence = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in EVIDENCE)
    row = con.execute(
        f"""CREATE OR REPLACE TEMP TABLE listing_verdict AS
            SELECT l.rowid AS id, i.rowid AS seen_id, {evidence} AS is_other
            FROM incoming_offer i LEFT JOIN core.listing l ON l.listing_id = i.listing_id
            WHERE l.listing_id IS NULL OR l.ended_at IS NOT NULL OR {differs}"""
    ).fetchone()
    touched = int(row[0]) if row else 0
    if touched:
        con.execute(
            f"""UPDATE core.listing l SET
                    {", ".join(f"{c} = i.{c}" for c in ATTRIBUTES)}, snapshot_sha256 = i.snapshot_sha256, ended_at = NULL,
                    match_version = CASE WHEN v.is_other THEN NULL ELSE l.match_version END
                FROM listing_verdict v JOIN incoming_offer i ON i.rowid = v.seen_id WHERE l.rowid = v.id"""
        )
        columns = ", ".join(("listing_id", "source", "listing_key", *ATTRIBUTES, "snapshot_sha256"))
        con.execute(
            f"""INSERT INTO core.listing ({columns}, first_seen_at) SELECT {columns}, $seen_at FROM incoming_offer
                WHERE rowid IN (SELECT seen_id FROM listing_verdict WHERE id IS NULL)""",
            seen,
        )
    ended = None
    if night.is_complete:
        ended = con.execute(
            """UPDATE core.listing SET ended_at = $seen_at WHERE source = $source AND ended_at IS NULL
               AND listing_id NOT IN (SELECT listing_id FROM incoming_offer)
               AND listing_id NOT IN (SELECT listing_id FROM held_offer)""",
            {**seen, "source": night.source},
        ).fetchone()
    return touched + (int(ended[0]) if ended else 0)


def _convert(con: duckdb.DuckDBPyConnection, night: Night, changes: ChangeSet) -> None:
    """Stage `incoming_price`: the offers with the price in USD at the newest reference rate up to the day of the night."""
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE incoming_price AS
            {converted("(SELECT *, $seen_at::TIMESTAMPTZ AS seen_at FROM incoming_offer)")}""",
        {"seen_at": night.seen_at},
    )
    changes.issues += [(night.source, issue) for issue in missing_rates(con, "incoming_price", night.seen_at)]


def converted(relation: str) -> str:
    """A SELECT of offers with `loaded_at`, `price_usd` and `fx_day`: at the newest reference rate up to their `seen_at`."""
    return f"""
        WITH {_USD_RATES}
        SELECT i.* EXCLUDE (seen_at, seen_on), i.seen_at AS loaded_at,
            -- Weekends and holidays have no rate; a currency that left the file has none either.
            CASE WHEN i.currency = 'USD' THEN i.price
                 WHEN r.day >= seen_on - 10 THEN (i.price::DOUBLE * r.usd_rate)::DECIMAL(18,4) END AS price_usd,
            CASE WHEN i.currency <> 'USD' AND i.price IS NOT NULL AND r.day >= seen_on - 10 THEN r.day END AS fx_day
        FROM (SELECT *, (seen_at AT TIME ZONE 'UTC')::DATE AS seen_on FROM {relation}) i
        ASOF LEFT JOIN rates r ON r.currency = i.currency AND r.day <= seen_on"""


def missing_rates(con: duckdb.DuckDBPyConnection, relation: str, until: datetime) -> list[Issue]:
    """An issue for each currency of the converted offers in `relation` that had no rate up to the day of `until`."""
    missing = con.execute(
        f"""SELECT currency, count(*) FROM {relation} WHERE price IS NOT NULL AND price_usd IS NULL
            GROUP BY currency ORDER BY currency"""
    ).fetchall()
    issues = []
    for currency, count in missing:
        message = (
            f"no reference rate for {currency} up to {until:%Y-%m-%d}: {count} prices stay without a USD amount "
            "and out of every comparison; load an exchange-rate file that has it"
        )
        issues.append(Issue(code="missing_rate", message=message, severity="warning", text=currency))
    return issues


def fill_missing_usd(con: duckdb.DuckDBPyConnection) -> int:
    """Convert prices that were loaded before a rate of their day was; returns how many."""
    row = con.execute(
        f"""UPDATE core.price_span SET price_usd = found.price_usd, fx_day = found.day FROM (
                WITH {_USD_RATES}
                SELECT s.rowid AS id, r.day, (s.price::DOUBLE * r.usd_rate)::DECIMAL(18,4) AS price_usd
                FROM core.price_span s ASOF JOIN rates r
                    ON s.currency = r.currency AND (s.valid_from AT TIME ZONE 'UTC')::DATE >= r.day
                WHERE s.price_usd IS NULL AND s.price IS NOT NULL
                    AND r.day >= (s.valid_from AT TIME ZONE 'UTC')::DATE - 10
            ) found WHERE core.price_span.rowid = found.id"""
    ).fetchone()
    return int(row[0]) if row else 0


def record_changes(con: duckdb.DuckDBPyConnection, source: str, since: datetime) -> int:
    """Write core.price_change for the source's nights from `since` on; returns the number of rows.

    From the spans alone, so a repeated run writes the same rows, and many nights cost what one does.
    """
    parameters = {"since": since, "source": source}
    con.execute("DELETE FROM core.price_change WHERE changed_at >= $since AND source = $source", parameters)
    row = con.execute(
        f"""INSERT INTO core.price_change
           WITH touched AS (
               SELECT DISTINCT listing_id FROM core.price_span
               WHERE (valid_from >= $since OR valid_to >= $since) AND starts_with(listing_id, '{source}:')
           ),
           ordered AS (
               SELECT listing_id, price, currency, availability, valid_from, valid_to, snapshot_sha256,
                   lag(valid_from) OVER w IS NOT NULL AS was_there, lag(valid_to) OVER w AS ended_before,
                   lag(price) OVER w AS old_price, lag(currency) OVER w AS old_currency,
                   lag(availability) OVER w AS old_availability, lead(valid_from) OVER w AS next_from
               FROM core.price_span SEMI JOIN touched USING (listing_id)
               WINDOW w AS (PARTITION BY listing_id ORDER BY valid_from)
           ),
           began AS (
               SELECT listing_id, valid_from AS changed_at,
                   CASE WHEN NOT was_there THEN 'appeared' WHEN ended_before < valid_from THEN 'returned'
                       WHEN old_price IS DISTINCT FROM price THEN 'price'
                       WHEN old_currency IS DISTINCT FROM currency THEN 'price'
                       WHEN old_availability IS DISTINCT FROM availability THEN 'availability' END AS change,
                   old_price, price AS new_price, coalesce(currency, old_currency) AS currency,
                   old_currency IS NOT DISTINCT FROM currency AS same_currency,
                   old_availability, availability AS new_availability, snapshot_sha256
               FROM ordered WHERE valid_from >= $since
           ),
           ended AS (
               SELECT listing_id, valid_to, 'ended', price, NULL, currency, false, availability, NULL, snapshot_sha256
               FROM ordered WHERE valid_to >= $since AND (next_from IS NULL OR next_from > valid_to)
           )
           SELECT listing_id, $source, changed_at, change, old_price, new_price, currency,
               CASE WHEN same_currency THEN new_price::DOUBLE / nullif(old_price::DOUBLE, 0) - 1 END,
               old_availability, new_availability, snapshot_sha256
           FROM (FROM began UNION ALL FROM ended) WHERE change IS NOT NULL""",
        parameters,
    ).fetchone()
    return int(row[0]) if row else 0
