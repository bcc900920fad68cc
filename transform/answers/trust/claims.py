"""Which figures do the source documents publish, and what does recomputing them give?"""

from __future__ import annotations

from gpuledger.transform.queries import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def figures(data: DataDir, *, short: bool) -> Rows:
    """Every figure of the documents, as published and as recomputed. `short` gives only the columns for people."""
    columns = (
        """document, statement, published, recomputed::DECIMAL(38, 6) AS recomputed, coalesce(unit, '') AS unit, verdict,
           coalesce(erratum, '') AS reason"""
        if short
        else "*"
    )
    return query(data, f"SELECT {columns} FROM mart.claim_audit ORDER BY document, claim_id")


def verdicts(data: DataDir) -> dict[str, str]:
    """How many figures of each document have which verdict, in words."""
    _, rows = query(
        data,
        """SELECT document, string_agg(n || ' ' || verdict, ', ' ORDER BY verdict) FROM (
               SELECT document, verdict, count(*) AS n FROM mart.claim_audit GROUP BY ALL
           ) GROUP BY document ORDER BY document""",
    )
    return dict(rows)
