"""How is each source doing?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: Good runs whose median number of rows counts as normal.
NORMAL_RUNS = 30


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """One source. `age_hours` is of its last good batch, None where it never gave one; `normal_rows` the median of its
    last good batches before the newest."""

    source: str
    status: str
    reason: str | None
    last_success_at: datetime | None
    age_hours: float | None
    limit_hours: int
    rows: int
    normal_rows: float | None
    open_issues: int

    @property
    def is_overdue(self) -> bool:
        """Its data are older than they may be."""
        return self.age_hours is None or self.age_hours > self.limit_hours

    @property
    def is_degraded(self) -> bool:
        """It shows far fewer rows than usual."""
        return self.status == "degraded"

    @property
    def is_failing(self) -> bool:
        """Its last attempt gave nothing that could be used."""
        return self.status in ("failed", "refused")


def sources(data: DataDir, now: datetime) -> list[SourceHealth]:
    """Every source that was ever read, by name. No age is below zero: setting the clock back makes nothing newer."""
    _, rows = query(
        data,
        f"""WITH good AS (
                SELECT source, loaded, row_number() OVER (PARTITION BY source ORDER BY rowid DESC) AS back
                FROM ops.source_run WHERE status IN ('ok', 'unchanged', 'partial')
            ),
            normal AS (
                SELECT source, median(loaded) AS rows FROM good WHERE back BETWEEN 2 AND {NORMAL_RUNS + 1} GROUP BY source
            ),
            newest AS (SELECT source, arg_max(run_id, rowid) AS run_id FROM ops.source_run GROUP BY source),
            open AS (
                SELECT source, count(*) AS issues FROM ops.issue SEMI JOIN newest USING (source, run_id) GROUP BY source
            )
            SELECT s.source, s.status, s.reason, s.last_success_at,
                greatest(0, date_diff('second', s.last_success_at, ?::TIMESTAMPTZ)) / 3600.0, s.freshness_hours, s.rows,
                n.rows, coalesce(o.issues, 0)
            FROM ops.source_state s LEFT JOIN normal n USING (source) LEFT JOIN open o USING (source) ORDER BY source""",
        [now],
    )
    return [SourceHealth(*row) for row in rows]
