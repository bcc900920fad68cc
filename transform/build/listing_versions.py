"""Versions of what a listing said it was: its title, its address, and the card that they mean.

A question about a past day is answered with the card that the listing was taken for on that day. Shops edit titles and
people pin them, and neither may change what a report of last month said.
"""

from __future__ import annotations

from datetime import datetime

import duckdb

_STATE = ("title", "url", "gpu_id", "gpu_count", "match_status")


def keep(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> bool:
    """Bring core.listing_history in line with core.listing, which was resolved, as of `seen_at`; whether anything changed.

    A run that is repeated at the same time replaces the versions that it wrote itself.
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
