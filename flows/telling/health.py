"""How each source and the last runs are doing, measured now: for `status`, for monitoring, and for telling people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpuledger.flows.night import journal
from gpuledger.flows.night.context import utc_now
from gpuledger.warehouse.errors import NoWarehouse
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
    def is_failing(self) -> bool:
        """Its last attempt gave nothing that could be used."""
        return self.status in ("failed", "refused")


@dataclass(frozen=True, slots=True)
class RunHealth:
    """One run, of the ledger or of the journal. `status` is `running` where the lock says so."""

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


def clock(data: DataDir) -> datetime:
    """The time that ages are measured at: now, or, where the newest run was on the sample, that run's own time."""
    rows = _query(data, "SELECT sample_night, as_of FROM ops.run ORDER BY rowid DESC LIMIT 1")
    if rows and rows[0][0] is not None:
        as_of = rows[0][1]
        assert isinstance(as_of, datetime)
        return as_of
    return utc_now()


def _query(data: DataDir, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Rows of the published file; none where nothing was ever published: whoever watches the first night wants an answer."""
    try:
        return query(data, sql, parameters)[1]
    except NoWarehouse:
        return []


def sources(data: DataDir, now: datetime) -> list[SourceHealth]:
    """Every source that was ever read, by name. An age is never below zero: a clock that went back makes nothing newer."""
    rows = _query(
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


def runs(data: DataDir, limit: int = 10) -> list[RunHealth]:
    """The newest runs, those of the journal that could not write their own row included."""
    rows = _query(
        data,
        """SELECT run_id, started_at, as_of, engine, status, reason, sources_failed, models_rebuilt, changed, seconds
           FROM ops.run ORDER BY started_at DESC, rowid DESC LIMIT ?""",
        [limit],
    )
    known = {row[0] for row in rows}
    at_work = writer(data) is not None
    entries = journal.read(data.journal)
    found = [RunHealth(*row) for row in rows]
    for entry in entries[-limit:]:
        if entry.run_id not in known:
            is_last = at_work and entry is entries[-1] and entry.finished_at is None
            status = "running" if is_last else entry.status
            found.append(RunHealth(entry.run_id, entry.started_at, entry.as_of, entry.engine, status, entry.reason))
    return sorted(found, key=lambda run: (run.started_at, run.run_id), reverse=True)[:limit]


def writer(data: DataDir) -> dict[str, Any] | None:
    """The note of the process that writes now (`pid`, `since`), None where nobody writes.

    From the note and the process alone. Trying the lock would be surer, and would now and then turn a refresh away that
    starts in that moment.
    """
    import psutil

    try:
        note = json.loads(data.lock.with_suffix(".json").read_text())
        started = psutil.Process(int(note["pid"])).create_time()
        # A process that is younger than the note has only inherited the number.
        is_holder = started <= datetime.fromisoformat(note["since"]).timestamp() + 1
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None
    return dict(note) if is_holder else None


def exit_status(found: Sequence[SourceHealth], newest: RunHealth | None) -> int:
    """For monitoring: 0 all well, 1 the newest run that ended published nothing, or nothing was ever published, 3 a source
    fails or is overdue.
    """
    if newest is None or not newest.status.startswith("published"):
        return 1
    return 3 if any(source.is_failing or source.is_overdue for source in found) else 0
