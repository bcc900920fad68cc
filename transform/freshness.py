"""Which sources are fresh enough for their prices to count: a table that rarely changes, so that quiet nights stay quiet."""

from __future__ import annotations

from datetime import datetime

import duckdb


def keep(con: duckdb.DuckDBPyConnection, now: datetime) -> list[str]:
    """Write core.source_freshness anew where a source passed its freshness limit by `now`; the tables that changed."""
    con.execute(
        """CREATE OR REPLACE TEMP TABLE freshness AS
           SELECT source, coalesce(date_diff('minute', last_success_at, $now) <= freshness_hours * 60, false) AS is_usable
           FROM ops.source_state""",
        {"now": now},
    )
    differs = con.execute(
        """SELECT count(*) FROM (
               (FROM freshness EXCEPT FROM core.source_freshness)
               UNION ALL (FROM core.source_freshness EXCEPT FROM freshness)
           )"""
    ).fetchone()
    if not differs or not differs[0]:
        return []
    con.execute("DELETE FROM core.source_freshness")
    con.execute("INSERT INTO core.source_freshness FROM freshness")
    return ["core.source_freshness"]
