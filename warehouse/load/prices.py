"""Prices of listings as versions: core.price_span has all of them, core.price_open those that have not ended.

A night, or many nights of a bulk load, come as events: a listing is seen in another state, goes on in doubt, or ends. What
is open is read for its few events alone, however long the history is, and a version that ends is written anew at its end:
so the history stays in order of time, and no old part of it is rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import duckdb

from gpuledger.warehouse.load.batch import Night
from gpuledger.warehouse.load.spans import Spans, judge
from gpuledger.warehouse.load.stage import Value, stage

STATE = ("price", "currency", "price_kind", "list_price", "availability")
#: Attributes that decide whether an offer counts: they are part of each version too, so that the past keeps its answer.
TERMS = ("condition", "seller", "seller_kind")
#: Written with a new version; a change of them makes none.
EVIDENCE = ("price_text", "snapshot_sha256")
COLUMNS = (*STATE, *TERMS, *EVIDENCE)


def note_night(con: duckdb.DuckDBPyConnection, night: Night, previous_success: datetime | None) -> int:
    """Write the events of one night from its staged offers (`incoming_offer`, `held_offer`) as the table `event`; how many.

    What is absent from a complete night has ended. What is absent from an incomplete one, and what the contract or the gate
    holds, goes on as a version in doubt.
    """
    spans = Spans(
        table="core.price_open",
        key=("listing_id",),
        state=(*STATE, *TERMS),
        extra=EVIDENCE,
        scope=f"starts_with(o.listing_id, '{night.source}:')",
        has_doubt=True,
    )
    judge(con, spans, "incoming_offer", "held_offer", night.seen_at, is_complete=night.is_complete)
    return _count(
        con,
        f"""CREATE OR REPLACE TEMP TABLE event AS
            SELECT v.listing_id, $seen_at AS seen_at, v.why, $previous::TIMESTAMPTZ AS previous,
                {", ".join(f"i.{column}" for column in COLUMNS)}
            FROM verdict v LEFT JOIN incoming_offer i ON i.listing_id = v.listing_id AND v.why <> 'doubted'
            WHERE v.why IS NOT NULL""",
        {"seen_at": night.seen_at, "previous": previous_success},
    )


def stage_events(con: duckdb.DuckDBPyConnection, rows: Sequence[Sequence[Value]]) -> None:
    """Stage the events of nights as the table `event`: listing_id, seen_at, why, previous, COLUMNS (see `write`)."""
    types = {"why": "VARCHAR", "previous": "TIMESTAMPTZ"}
    stage(con, "event", ("listing_id", "seen_at", "why", "previous", *COLUMNS), rows, types)


def write(con: duckdb.DuckDBPyConnection) -> int:
    """Write the versions that the table `event` makes; how many were begun or closed.

    `event` has a row per listing and time (`seen_at`): `why` is `new`, `replaced`, `doubted` or `ended`, `previous` the time
    of the night before, and COLUMNS, which only count where the listing was seen. Its listings are in core.listing. A night
    that is repeated at the same time replaces the versions that it wrote itself. Rows are found by key, not by row id:
    DuckDB 2.0 crashes when it looks up row ids in a table of which some rows were written, and some deleted, by the open
    transaction.
    """
    listed = ", ".join(COLUMNS)
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE version AS
            WITH told AS (
                SELECT listing_id, valid_from, 'open' AS why, NULL AS previous, confirmed_until, {listed}, 0 AS turn
                FROM core.price_open SEMI JOIN event USING (listing_id)
                UNION ALL
                SELECT listing_id, seen_at, why, previous, NULL, {listed}, 1 FROM event
            ),
            lasting AS (
                SELECT listing_id, why, valid_from, lead(valid_from) OVER w AS valid_to, lead(previous) OVER w AS last_seen,
                    if(why = 'doubted', coalesce(previous, lag(valid_from) OVER w), confirmed_until) AS doubt,
                    {", ".join(f"CASE why WHEN 'doubted' THEN lag({c}) OVER w ELSE {c} END AS {c}" for c in COLUMNS)}
                FROM told WINDOW w AS (PARTITION BY listing_id ORDER BY valid_from, turn)
            )
            SELECT listing_no, v.* EXCLUDE (last_seen, doubt),
                if(valid_to IS NULL, doubt, coalesce(doubt, last_seen, valid_from)) AS confirmed_until
            FROM lasting v JOIN (SELECT listing_id, listing_no FROM core.listing) USING (listing_id)
            WHERE why <> 'ended' AND valid_from IS DISTINCT FROM valid_to"""
    )
    con.execute("DELETE FROM core.price_open WHERE listing_id IN (SELECT listing_id FROM event)")
    con.execute(
        """DELETE FROM core.price_span WHERE valid_to IS NULL
           AND listing_no IN (SELECT listing_no FROM core.listing SEMI JOIN event USING (listing_id))"""
    )
    con.execute(
        f"""INSERT INTO core.price_span (listing_no, {listed}, valid_from, valid_to, confirmed_until)
            SELECT listing_no, {listed}, valid_from, valid_to, confirmed_until FROM version
            ORDER BY coalesce(valid_to, valid_from), valid_to IS NULL, listing_no"""
    )
    con.execute(
        f"""INSERT INTO core.price_open (listing_id, {listed}, valid_from, confirmed_until)
            SELECT listing_id, {listed}, valid_from, confirmed_until FROM version
            WHERE valid_to IS NULL ORDER BY valid_from, listing_no"""
    )
    return _count(con, "SELECT count(valid_to) + count(*) FILTER (why <> 'open') FROM version", {})


def _count(con: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, datetime | None]) -> int:
    row = con.execute(statement, parameters).fetchone()
    return int(row[0]) if row else 0
