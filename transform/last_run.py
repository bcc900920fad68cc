"""The newest published run: whose prices these are, and of which time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import duckdb

from gpuledger.transform.asking import columns_of, view
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
