"""How did the last runs go, and which days do the published runs cover?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from gpuledger.transform.queries import rows_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class RunHealth:
    """One recorded run. `status` is `running` if it has not ended."""

    run_id: str
    started_at: datetime
    as_of: datetime
    engine: str
    status: str
    reason: str | None
    sources_failed: int | None = None
    models_rebuilt: int | None = None
    changed: int | None = None
    seconds: float | None = None


def first_day(data: DataDir) -> date | None:
    """The first day (UTC) on which anything was read."""
    rows = query(data, "SELECT (min(seen_at) AT TIME ZONE 'UTC')::DATE FROM core.source_night")[1]
    first: date | None = rows[0][0]
    return first


def newest(data: DataDir, most: int) -> list[RunHealth]:
    """The runs that wrote their row, failed runs too. The run that started last comes first."""
    return rows_of(data, RunHealth, "FROM ops.run ORDER BY started_at DESC, rowid DESC LIMIT ?", [most])
