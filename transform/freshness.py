"""Keeps everything that depends on the current time in three small tables: which sources are fresh enough for their prices
to count, which of their rows were not seen for too long, and the day of each currency's rate.

The tables rarely change, so on a quiet night nothing that is built from them has to be rebuilt.
"""

from __future__ import annotations

from datetime import datetime

import duckdb


def keep(con: duckdb.DuckDBPyConnection, now: datetime) -> list[str]:
    """Update core.source_freshness, core.aged_out and core.current_rate to the time `now`; returns the changed tables."""
    freshness = """SELECT source,
                       coalesce(core.is_fresh(last_success_at, $now::TIMESTAMPTZ, freshness_hours), false) AS is_usable
                   FROM ops.source_state"""
    # After a backfill there are also rates of later days, which must not count for the days of the backfill. The newest
    # known rates stay however old they are, each with its day; only a currency that left the bank's file before has none.
    rates = """WITH euro AS (
                   FROM core.fx_rate r
                   SEMI JOIN (FROM core.fx_rate WHERE base = 'EUR' AND currency = 'USD') d ON d.day = r.day
                   WHERE r.base = 'EUR' AND r.day <= $now::DATE
               )
               SELECT if(currency = 'USD', 'EUR', currency) AS currency, max(day) AS fx_day
               FROM euro WHERE day >= (SELECT max(day) FROM euro) - 10 GROUP BY ALL"""
    aged = """SELECT o.listing_id FROM (
                  SELECT listing_id, split_part(listing_id, ':', 1) AS source, confirmed_until FROM core.price_open
                  WHERE confirmed_until >= valid_from
                  UNION ALL
                  SELECT offer_id, source, confirmed_until FROM core.cloud_offer_history
                  WHERE valid_to IS NULL AND confirmed_until >= valid_from
              ) o LEFT JOIN ops.source_state st USING (source)
              WHERE core.is_fresh(o.confirmed_until, $now::TIMESTAMPTZ, st.freshness_hours) IS NOT TRUE"""
    queries = {"core.source_freshness": freshness, "core.aged_out": aged, "core.current_rate": rates}
    return [table for table, query in queries.items() if _replace(con, table, query, now)]


def _replace(con: duckdb.DuckDBPyConnection, table: str, query: str, now: datetime) -> bool:
    """Replace the rows of a table by those of a query at the time `now`; returns whether they differ from the old rows."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE counted AS {query}", {"now": now})
    differs = con.execute(
        f"SELECT count(*) FROM ((FROM counted EXCEPT FROM {table}) UNION ALL (FROM {table} EXCEPT FROM counted))"
    ).fetchone()
    if not differs or not differs[0]:
        return False
    con.execute(f"DELETE FROM {table}")
    con.execute(f"INSERT INTO {table} FROM counted")
    return True
