"""Which figures do the source documents publish, and what does recomputing them give?"""

from __future__ import annotations

from collections.abc import Sequence

from gpuledger.transform.queries import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def documents(data: DataDir) -> list[str]:
    """The names of the documents."""
    return [name for (name,) in query(data, "SELECT DISTINCT document FROM mart.claim_audit ORDER BY 1")[1]]


def figures(data: DataDir, chosen: Sequence[str], *, short: bool) -> Rows:
    """Every figure of the chosen documents, as published and as recomputed. `short` gives only the columns for people."""
    columns = (
        """document, statement, published, recomputed::DECIMAL(38, 6) AS recomputed, coalesce(unit, '') AS unit, verdict,
           coalesce(erratum, '') AS reason"""
        if short
        else "*"
    )
    return query(
        data,
        f"SELECT {columns} FROM mart.claim_audit WHERE list_contains($documents, document) ORDER BY document, claim_id",
        {"documents": [*chosen]},
    )


def verdicts(data: DataDir, chosen: Sequence[str]) -> dict[str, str]:
    """How many figures of each document have which verdict, in words."""
    _, rows = query(
        data,
        """SELECT document, string_agg(n || ' ' || verdict, ', ' ORDER BY verdict) FROM (
               SELECT document, verdict, count(*) AS n FROM mart.claim_audit
               WHERE list_contains($documents, document) GROUP BY ALL
           ) GROUP BY document ORDER BY document""",
        {"documents": [*chosen]},
    )
    return dict(rows)
