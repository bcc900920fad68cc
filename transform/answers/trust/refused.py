"""Which rows of built tables did a run remove, because a contract refuses them?"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.queries import rows_of
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of ops.refused_row. The comments of that table explain each column."""

    model: str
    row_key: str
    reason: str


def refused(data: DataDir, run_id: str) -> list[RefusedRow]:
    """The rows that a run removed from the tables that it built, in the order of table and key."""
    return rows_of(data, RefusedRow, "FROM ops.refused_row WHERE run_id = ? ORDER BY model, row_key", [run_id])
