"""The state of each source and of the last runs, measured now, for `status`, for monitoring and for notifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from gpuledger import local_files
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import utc_now
from gpuledger.transform import queries
from gpuledger.transform.answers import runs as recorded
from gpuledger.transform.answers.runs import RunHealth
from gpuledger.transform.answers.trust import sources as measured
from gpuledger.transform.answers.trust.sources import Record, SourceHealth
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir

T = TypeVar("T")


def clock(data: DataDir) -> datetime:
    """The time from which ages are counted: now, or the time of the newest run if that run read the sample."""
    last = queries.last(data)
    return last.as_of if last is not None and last.as_of == last.sample_as_of else utc_now()


def sources(data: DataDir, now: datetime) -> list[SourceHealth]:
    """Every source that was ever read. Empty if nothing was ever published."""
    return _published(lambda: measured.sources(data, now)) or []


def records(data: DataDir) -> dict[str, Record]:
    """How often each source failed, and what its robots.txt says. Empty if nothing was ever published."""
    return _published(lambda: measured.records(data)) or {}


def _published(ask: Callable[[], T]) -> T | None:
    """The answer of the published file, None if nothing is published yet.

    No error then, because `status` and monitoring want an answer during the first night too.
    """
    try:
        return ask()
    except NoWarehouse:
        return None


def runs(data: DataDir, limit: int = 10) -> list[RunHealth]:
    """The newest runs, including those that are only in the log because they could not write a row of their own."""
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
    """The note of the process that writes now (`pid`, `since`), None if no process writes.

    Only the note and the process are looked at. Trying to take the lock would be surer, but would now and then turn away a
    refresh that starts at that moment.
    """
    import psutil

    try:
        note = local_files.loads(data.lock.with_suffix(".json").read_text())
        started = psutil.Process(int(note["pid"])).create_time()
        # A process that is younger than the note is another process, which got the same number later.
        is_holder = started <= datetime.fromisoformat(note["since"]).timestamp() + 1
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None
    return dict(note) if is_holder else None


def exit_status(sources: Sequence[SourceHealth], newest: RunHealth | None) -> int:
    """The exit status for monitoring.

    0: all is well. 1: the newest run that ended published nothing, or nothing was ever published. 3: a source fails, is
    degraded or is overdue.
    """
    if newest is None or not newest.status.startswith("published"):
        return 1
    return 3 if any(source.is_failing or source.is_degraded or source.is_overdue for source in sources) else 0
