"""Write the figures of `status` in Prometheus' text format, in one step, so that a collector never reads half a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from gpuledger.transform.answers.runs import RunHealth
from gpuledger.transform.answers.trust.sources import SourceHealth

#: The figures of each source: name, meaning, and how it is read off; None if it is not known.
_OF_SOURCES: tuple[tuple[str, str, Callable[[SourceHealth], float | None]], ...] = (
    ("gpuledger_source_failing", "1 where the last attempt gave nothing usable", lambda source: source.is_failing),
    ("gpuledger_source_degraded", "1 where it shows far fewer rows than usual", lambda source: source.is_degraded),
    ("gpuledger_source_overdue", "1 where the data are older than they may be", lambda source: source.is_overdue),
    ("gpuledger_source_age_seconds", "Age of the last good batch",
     lambda source: None if source.age_hours is None else round(source.age_hours * 3600)),
    ("gpuledger_source_age_limit_seconds", "Age beyond which prices are no longer used",
     lambda source: source.limit_hours * 3600),
    ("gpuledger_source_rows", "Rows of the last good batch", lambda source: source.rows),
    ("gpuledger_source_normal_rows", "Median rows of the good batches before it", lambda source: source.normal_rows),
    ("gpuledger_source_open_issues", "Issues of the newest run that tried the source", lambda source: source.open_issues),
)  # fmt: skip


def write(path: Path, sources: Sequence[SourceHealth], runs: Sequence[RunHealth], now: datetime) -> None:
    """Write the state of sources and runs at the time `now` to `path`.

    An age that is not known is left out, because 0 would mean fresh.
    """
    registry = CollectorRegistry()
    written = Gauge("gpuledger_figures_timestamp_seconds", "When these figures were written", registry=registry)
    written.set(now.timestamp())
    for name, meaning, value in _OF_SOURCES:
        gauge = Gauge(name, meaning, ["source"], registry=registry)
        for source in sources:
            if (figure := value(source)) is not None:
                gauge.labels(source.source).set(figure)
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
