"""The main job: read every source, then write and publish. Plain functions; `prefect_engine` wraps the same ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from gpuledger.extract.collect import Collected
from gpuledger.flows.night import gather, run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import Reader, Reading
from gpuledger.flows.night.summary import SourceOutcome, Summary
from gpuledger.warehouse.lock import writer_lock

#: Called when a source starts a page (source, url) and when it is done (source, None).
Progress = Callable[[str, str | None], None]


def no_progress(source: str, url: str | None) -> None:
    """Say nothing."""


def run(
    context: Context,
    read_all: Callable[[Reader, list[Reading], Progress], list[Collected]],
    progress: Progress = no_progress,
) -> Summary:
    """One refresh under the writer's lock; see `run_locked`. Raises Locked, at once, where another run writes."""
    with writer_lock(context.data.lock):
        return run_locked(context, read_all, progress)


def run_locked(
    context: Context,
    read_all: Callable[[Reader, list[Reading], Progress], list[Collected]],
    progress: Progress = no_progress,
) -> Summary:
    """One refresh by a caller that holds the writer's lock. `read_all` is the engine: how the sources are read side by side.

    Returns the summary, also of a run in which every source failed. Raises what `store` raises; either way the log
    says how the run ended.
    """
    started = time.perf_counter()
    readings = gather.readings(context)
    summary = Summary(context.run_id)
    run_log.start(context)
    try:
        _run(context, read_all, progress, readings, summary)
    except BaseException as error:
        # A signal is nobody's failure: the run was interrupted, as by a kill that leaves no time to say so.
        status = "failed" if isinstance(error, Exception) else "interrupted"
        run_log.finish(context, status, f"{type(error).__name__}: {error}")
        raise
    run_log.finish(context, summary.status, summary.why)
    summary.seconds = time.perf_counter() - started
    return summary


def _run(
    context: Context,
    read_all: Callable[[Reader, list[Reading], Progress], list[Collected]],
    progress: Progress,
    readings: list[Reading],
    summary: Summary,
) -> None:
    with gather.reader(context) as reader:
        collected = read_all(reader, readings, progress)
    # A batch of nothing (an empty inbox) is no source that could be read.
    if all(batch.failure is not None for batch in collected if batch.failure is not None or batch.pages):
        summary.sources = [_failed(batch) for batch in collected]
        summary.reason = "no source could be read" if collected else "no source is configured"
        return
    from gpuledger.flows.night.store import store

    store(context, collected, summary)


def _failed(batch: Collected) -> SourceOutcome:
    failure = batch.failure
    assert failure is not None
    return SourceOutcome(
        batch.source, "failed", f"{type(failure).__name__}: {failure.url}: {failure.seen}; {failure.action}"
    )


def read_plain(reader: Reader, readings: list[Reading], progress: Progress) -> list[Collected]:
    """The plain engine: a thread a source. In the order of `readings`, whichever ends first."""

    def read(reading: Reading) -> Collected:
        collected = reader.read(reading, lambda url: progress(reading.source.name, url))
        progress(reading.source.name, None)
        return collected

    with ThreadPoolExecutor(reader.context.settings.parallel_sources) as threads:
        return list(threads.map(read, readings))
