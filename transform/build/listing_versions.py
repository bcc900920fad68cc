"""Keeps the versions of each listing: its title, its address, and the card that its title was resolved to.

A question about a past day is answered with the card of the version of that day. Shops edit titles and people pin them, but
a report about last month must stay the same.
"""

from __future__ import annotations

from datetime import datetime

import duckdb

_STATE = ("title", "url", "gpu_id", "gpu_count", "match_status")


def keep(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> bool:
    """Update core.listing_history to the state of core.listing at `seen_at`; returns whether anything changed.

    The titles in core.listing must be resolved. A run that is repeated for the same time replaces its own versions.
    """
    differs = " OR ".join(f"l.{column} IS DISTINCT FROM h.{column}" for column in _STATE)
    row = con.execute(
        f"""CREATE OR REPLACE TEMP TABLE other_listing AS
            SELECT l.rowid AS id, h.rowid AS old_id, h.valid_from >= $seen_at AS is_same_run
            FROM core.listing l
            LEFT JOIN (SELECT rowid, * FROM core.listing_history WHERE valid_to IS NULL) h USING (listing_no)
            WHERE h.listing_no IS NULL OR {differs}""",
        {"seen_at": seen_at},
    ).fetchone()
    if not row or not row[0]:
        return False
    con.execute("DELETE FROM core.listing_history WHERE rowid IN (SELECT old_id FROM other_listing WHERE is_same_run)")
    con.execute(
        """UPDATE core.listing_history SET valid_to = $seen_at
           WHERE rowid IN (SELECT old_id FROM other_listing WHERE NOT is_same_run)""",
        {"seen_at": seen_at},
    )
    columns = ", ".join(("listing_no", *_STATE))
    con.execute(
        f"""INSERT INTO core.listing_history ({columns}, valid_from)
            SELECT {columns}, $seen_at FROM core.listing
            WHERE rowid IN (SELECT id FROM other_listing) ORDER BY listing_no""",
        {"seen_at": seen_at},
    )
    return True
