"""Which prices are held, why, and because of which setting? Which sources show far fewer rows than usual, and which rows of
built tables did a run remove, because a contract refuses them?
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpuledger.transform.queries import rows_of, view
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class HeldPrice:
    """A row of core.held. The comments of that table explain each column."""

    listing_id: str
    source: str
    title: str
    url: str | None
    price: Decimal | None
    currency: str | None
    reference_price: Decimal | None
    hold: str
    bound: str | None
    reason: str
    held_at: datetime
    times_held: int


def held(data: DataDir) -> list[HeldPrice]:
    """Every price that is held now, in the order of source and listing."""
    return rows_of(data, HeldPrice, f"FROM {view('core.held')} ORDER BY source, listing_id")


@dataclass(frozen=True, slots=True)
class DegradedSource:
    """A source that shows far fewer rows than usual, or of which a column went empty.

    It has the number of rows on its last night, and the reason in words.
    """

    source: str
    rows: int
    last_night: datetime
    reason: str


def degraded(data: DataDir) -> list[DegradedSource]:
    """Every source that is degraded now, or of which a column went empty, in the order of the names."""
    _, rows = query(
        data,
        """WITH newest AS (SELECT source, arg_max(run_id, rowid) AS run_id FROM ops.source_run GROUP BY source),
           emptied AS (
               SELECT source, 'column empty: ' || string_agg(place, ', ' ORDER BY place) AS reason
               FROM ops.issue SEMI JOIN newest USING (source, run_id) WHERE code = 'column_empty' GROUP BY source
           )
           SELECT s.source, arg_max(n.rows, n.seen_at)::BIGINT, max(n.seen_at),
               concat_ws('; ', any_value(s.reason), any_value(e.reason))
           FROM ops.source_state s JOIN core.source_night n ON n.source = s.source
           LEFT JOIN emptied e ON e.source = s.source
           WHERE s.status = 'degraded' OR (e.source IS NOT NULL AND s.status NOT IN ('failed', 'refused'))
           GROUP BY s.source ORDER BY s.source""",
    )
    return [DegradedSource(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of ops.refused_row. The comments of that table explain each column."""

    model: str
    row_key: str
    reason: str


def refused(data: DataDir, run_id: str) -> list[RefusedRow]:
    """The rows that a run removed from the tables that it built, in the order of table and key."""
    return rows_of(data, RefusedRow, "FROM ops.refused_row WHERE run_id = ? ORDER BY model, row_key", [run_id])
