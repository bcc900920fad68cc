"""The main job: read every source, then write and publish. These are plain functions, and `prefect_.engine` wraps them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from gpuledger.expectations import library
from gpuledger.extract import shops
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.collect import Collected, Reading
from gpuledger.flows.night import gather, left_out, run_log, take_in
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.store import store
from gpuledger.flows.night.summary import Summary

#: An engine: it reads the sources side by side.
ReadAll = Callable[[Reader, list[Reading]], list[Collected]]


def run(context: Context, read_all: ReadAll) -> Summary:
    """One refresh under the writer's lock; see `run_locked`. Raises Locked at once if another run writes."""
    with writing(context.data):
        return run_locked(context, read_all)


def run_locked(context: Context, read_all: ReadAll) -> Summary:
    """One refresh by a caller that holds the writer's lock; `read_all` is the engine.

    Returns the summary, also if every source failed. Raises what `store` raises. In each case the log says how the run
    ended.
    """
    started = time.perf_counter()
    out = left_out.of_night(context)
    readings = [part for reading in gather.readings(context, out) for part in shops.apart(reading)]
    if run_log.has_ended_badly(context.data):
        # Only after a kill or a full disk: an archive of many years has very many files to look through.
        archive_files.remove_leftovers(context.data.snapshots, younger_too=True)
        archive_files.remove_leftovers(context.data.exports, younger_too=True)
    for page in gather.passing_over(context.data, context.started_at):
        page.unlink(missing_ok=True)
    run_log.start(context)
    context.progress.step("read", len(readings))
    try:
        if not context.data.base.exists():
            # A first night checks every batch, so the library for checks is imported while pages are fetched and parsed.
            library.begin()
        with gather.reader(context) as reader:
            collected = read_all(reader, readings)  # fetch, archive, parse
        summary = store(context, collected) if _is_any_read(collected) else _nothing(context, collected)
    except BaseException as error:
        # A signal is no failure of the run: it counts as interrupted, like a run that was killed without time to say so.
        status = "failed" if isinstance(error, Exception) else "interrupted"
        run_log.finish(context, status, f"{type(error).__name__}: {error}")
        raise
    run_log.finish(context, summary.status, summary.why)
    return replace(summary, seconds=time.perf_counter() - started, left_out=out)


def _is_any_read(collected: Sequence[Collected]) -> bool:
    """Whether any source gave a page. An empty batch, as of an empty inbox, does not count."""
    return any(batch.pages for batch in collected if batch.failure is None)


def _nothing(context: Context, collected: Sequence[Collected]) -> Summary:
    """The summary of a run that publishes nothing."""
    failed = [take_in.failed(batch) for batch in shops.joined(collected) if batch.failure is not None]
    reason = "no source could be read"
    if not collected:
        chosen_names = context.only or context.settings.sources
        reasons = [f"{name}: {gather.nothing_to_read(name, context)}" for name in chosen_names]
        reason = "; ".join(["no source is configured", *reasons])
    return Summary(context.run_id, failed, reason=reason)


def read_plain(reader: Reader, readings: list[Reading]) -> list[Collected]:
    """The plain engine: a thread for each source, or for each shop of a source. Keeps the order of `readings`."""
    with ThreadPoolExecutor(reader.context.settings.parallel_sources) as threads:
        return list(threads.map(reader.read_source, readings))
