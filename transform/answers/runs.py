"""How did the last runs go, and which days do the published runs cover?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

import duckdb

from gpuledger.transform.answers.asking import columns_of, view
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class LastRun:
    """The row of ops.last_run. The comments of that table explain each column."""

    run_id: str
    status: str
    reason: str | None
    started_at: datetime
    as_of: datetime
    live_as_of: datetime | None
    sample_as_of: datetime | None
    sample_night: int | None
    is_sample: bool


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


def last(data: DataDir) -> LastRun | None:
    """The newest published run, None if every run failed. Raises NoWarehouse if there is no published file."""
    rows = query(data, _last())[1]
    return LastRun(*rows[0]) if rows else None


def last_in(con: duckdb.DuckDBPyConnection) -> LastRun | None:
    """The newest published run of an open warehouse, None if every run failed."""
    row = con.execute(_last()).fetchone()
    return LastRun(*row) if row else None


def _last() -> str:
    return f"SELECT {columns_of(LastRun)} FROM {view('ops.last_run')}"


def first_day(data: DataDir) -> date | None:
    """The first day (UTC) on which anything was read."""
    rows = query(data, "SELECT (min(seen_at) AT TIME ZONE 'UTC')::DATE FROM core.source_night")[1]
    first: date | None = rows[0][0]
    return first


def newest(data: DataDir, most: int) -> list[RunHealth]:
    """The runs that wrote their row, failed runs too. The run that started last comes first."""
    _, rows = query(
        data, f"SELECT {columns_of(RunHealth)} FROM ops.run ORDER BY started_at DESC, rowid DESC LIMIT ?", [most]
    )
    return [RunHealth(*row) for row in rows]


def sample_clock(data: DataDir) -> datetime | None:
    """The `as_of` of the newest run if that run read the sample site, whose nights are long past. Else None."""
    _, rows = query(data, "SELECT sample_night, as_of FROM ops.run ORDER BY rowid DESC LIMIT 1")
    if not rows or rows[0][0] is None:
        return None
    as_of = rows[0][1]
    assert isinstance(as_of, datetime)
    return as_of
