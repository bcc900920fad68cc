"""Write the figures of `status` in Prometheus' text format, in one step, so that a collector never reads half a file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from gpuledger.transform.answers.runs import RunHealth
from gpuledger.transform.answers.trust.sources import SourceHealth


def write(path: Path, sources: Sequence[SourceHealth], runs: Sequence[RunHealth], now: datetime) -> None:
    """Write the state of sources and runs at the time `now` to `path`.

    An age that is not known is left out, because 0 would mean fresh.
    """
    registry = CollectorRegistry()
    written = Gauge("gpuledger_figures_timestamp_seconds", "When these figures were written", registry=registry)
    written.set(now.timestamp())
    failing = _of_source(registry, "gpuledger_source_failing", "1 where the last attempt gave nothing usable")
    degraded = _of_source(registry, "gpuledger_source_degraded", "1 where it shows far fewer rows than usual")
    overdue = _of_source(registry, "gpuledger_source_overdue", "1 where the data are older than they may be")
    age = _of_source(registry, "gpuledger_source_age_seconds", "Age of the last good batch")
    limit = _of_source(registry, "gpuledger_source_age_limit_seconds", "Age beyond which prices are no longer used")
    rows = _of_source(registry, "gpuledger_source_rows", "Rows of the last good batch")
    normal = _of_source(registry, "gpuledger_source_normal_rows", "Median rows of the good batches before it")
    issues = _of_source(registry, "gpuledger_source_open_issues", "Issues of the newest run that tried the source")
    for source in sources:
        failing.labels(source.source).set(source.is_failing)
        degraded.labels(source.source).set(source.is_degraded)
        overdue.labels(source.source).set(source.is_overdue)
        limit.labels(source.source).set(source.limit_hours * 3600)
        rows.labels(source.source).set(source.rows)
        issues.labels(source.source).set(source.open_issues)
        if source.age_hours is not None:
            age.labels(source.source).set(round(source.age_hours * 3600))
        if source.normal_rows is not None:
            normal.labels(source.source).set(source.normal_rows)
    ended = next((run for run in runs if run.status != "running"), None)
    success = Gauge("gpuledger_last_run_published", "1 where the newest run that ended published", registry=registry)
    success.set(ended is not None and ended.status.startswith("published"))
    published = next((run for run in runs if run.status.startswith("published")), None)
    if published is not None:
        stamp = Gauge(
            "gpuledger_last_published_timestamp_seconds", "Start of the newest run that published", registry=registry
        )
        stamp.set(published.started_at.timestamp())
        if published.seconds is not None:
            took = Gauge("gpuledger_last_published_duration_seconds", "Time that it took", registry=registry)
            took.set(published.seconds)
    running = Gauge("gpuledger_run_in_progress", "1 while a run writes", registry=registry)
    running.set(any(run.status == "running" for run in runs))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_to_textfile(str(path), registry)


def _of_source(registry: CollectorRegistry, name: str, meaning: str) -> Gauge:
    return Gauge(name, meaning, ["source"], registry=registry)
