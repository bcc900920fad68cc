"""Which rows of built tables did a run remove, because a contract refuses them?"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.queries import columns_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of ops.refused_row. The comments of that table explain each column."""

    model: str
    row_key: str
    reason: str


def refused(data: DataDir, run_id: str) -> list[RefusedRow]:
    """The rows that a run removed from the tables that it built, in the order of table and key."""
    sql = f"SELECT {columns_of(RefusedRow)} FROM ops.refused_row WHERE run_id = ? ORDER BY model, row_key"
    return [RefusedRow(*row) for row in query(data, sql, [run_id])[1]]
