"""How each source and the last runs are doing, measured now: for `status`, for monitoring, and for telling people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from gpuledger.extract import local_files
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import utc_now
from gpuledger.transform.answers import runs as recorded
from gpuledger.transform.answers import sources as measured
from gpuledger.transform.answers.runs import RunHealth
from gpuledger.transform.answers.sources import Record, SourceHealth
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir

T = TypeVar("T")


def clock(data: DataDir) -> datetime:
    """The time that ages are measured at: now, or, where the newest run was on the sample, that run's own time."""
    return _published(lambda: recorded.sample_clock(data)) or utc_now()


def sources(data: DataDir, now: datetime) -> list[SourceHealth]:
    """Every source that was ever read; none where nothing was ever published."""
    return _published(lambda: measured.sources(data, now)) or []


def records(data: DataDir) -> dict[str, Record]:
    """How often each source failed, and what its robots.txt says; none where nothing was ever published."""
    return _published(lambda: measured.records(data)) or {}


def _published(ask: Callable[[], T]) -> T | None:
    """What the published file answers, None where there is none: whoever watches the first night wants an answer."""
    try:
        return ask()
    except NoWarehouse:
        return None


def runs(data: DataDir, limit: int = 10) -> list[RunHealth]:
    """The newest runs, those of the log that could not write their own row included."""
    newest = _published(lambda: recorded.newest(data, limit)) or []
    known = {run.run_id for run in newest}
    at_work = writer(data) is not None
    entries = run_log.entries(data)
    for entry in entries[-limit:]:
        if entry.run_id not in known:
            is_last = at_work and entry is entries[-1] and entry.finished_at is None
            status = "running" if is_last else entry.status
            newest.append(RunHealth(entry.run_id, entry.started_at, entry.as_of, entry.engine, status, entry.reason))
    return sorted(newest, key=lambda run: (run.started_at, run.run_id), reverse=True)[:limit]


def writer(data: DataDir) -> dict[str, Any] | None:
    """The note of the process that writes now (`pid`, `since`), None where nobody writes.

    From the note and the process alone. Trying the lock would be surer, and would now and then turn a refresh away that
    starts in that moment.
    """
    import psutil

    try:
        note = local_files.loads(data.lock.with_suffix(".json").read_text())
        started = psutil.Process(int(note["pid"])).create_time()
        # A process that is younger than the note has only inherited the number.
        is_holder = started <= datetime.fromisoformat(note["since"]).timestamp() + 1
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None
    return dict(note) if is_holder else None


def exit_status(sources: Sequence[SourceHealth], newest: RunHealth | None) -> int:
    """For monitoring: 0 all well, 1 the newest run that ended published nothing, or nothing was ever published, 3 a source
    fails, is degraded or is overdue.
    """
    if newest is None or not newest.status.startswith("published"):
        return 1
    return 3 if any(source.is_failing or source.is_degraded or source.is_overdue for source in sources) else 0
