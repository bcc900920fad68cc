"""The night, in the order of its steps: fetch, archive, parse, check, load, identify, build, audit, publish, export.

These are plain functions, and `prefect_.engine` wraps them. A reader sees all of a night or nothing. `backfill` and `replay`
load many nights, and take the steps from `publish_loaded` or `build` on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from gpuledger.extract import shops
from gpuledger.extract.collect import Collected
from gpuledger.flows.decisions import identities
from gpuledger.flows.night import building, exporting, gather, left_out, run_log, take_in
from gpuledger.flows.night import store as storing
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import ReadAll
from gpuledger.flows.night.run_log import RunRecord
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.store import Night
from gpuledger.flows.night.summary import Summary
from gpuledger.transform import freshness, queries
from gpuledger.transform.build import price_days
from gpuledger.transform.build.run import Build
from gpuledger.warehouse import ledger, publish
from gpuledger.warehouse.ledger import SourceOutcome

#: Checks and loads batches in an open transaction. Gives what was loaded, and the record that a replay needs of it.
Load = Callable[[duckdb.DuckDBPyConnection], tuple[Night, RunRecord]]


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
    gather.clean_up(context)
    run_log.start(context)
    try:
        collected = gather.read(context, readings, read_all)  # fetch, archive, parse
        summary = store(context, collected) if gather.is_any_read(context, collected) else _nothing(context, collected)
    except BaseException as error:
        # A signal is no failure of the run: it counts as interrupted, like a run that was killed without time to say so.
        status = "failed" if isinstance(error, Exception) else "interrupted"
        run_log.finish(context, status, f"{type(error).__name__}: {error}")
        raise
    run_log.finish(context, summary.status, summary.why)
    return replace(summary, seconds=time.perf_counter() - started, left_out=out)


def store(context: Context, collected: Sequence[Collected], *, export: bool = True) -> Summary:
    """Take in the collected batches, publish them, and write the CSV files.

    Raises ExpectationsError or WarehouseError; then nothing is published.
    """
    damaged = publish.heal(context.data)
    run_log.heal(context.data)

    def load(con: duckdb.DuckDBPyConnection) -> tuple[Night, RunRecord]:
        damaged.extend(storing.lost_nights(con, context.data))
        storing.refuse_doubtful_clock(con, context)
        night = storing.load(con, context, collected)
        storing.note_damage(con, context, damaged)
        return night, run_log.record_of(context, collected)

    summary = publish_loaded(context, load, export=export)
    reasons = [*damaged, *filter(None, [summary.reason])]
    return replace(summary, reason="; ".join(reasons) or None)


def publish_loaded(context: Context, load: Load, *, export: bool = False) -> Summary:
    """Load into a copy of the base with `load`, which checks and loads one night or many, and publish the copy."""
    with publish.workspace(context.data, context.run_id, memory_limit=context.settings.memory_limit) as (con, work):
        con.begin()
        night, record = load(con)  # check, load
        builds = build(con, context, night.tables, since=night.since)  # identify, build, audit
        run_log.publishing(context.data, record)
        summary = publish_build(con, context, work, night.sources, builds)  # publish
        run_log.published(context.data, context.run_id)
    summary = replace(summary, unrated=night.unrated)
    return exporting.write(context, summary) if export else summary  # export


def build(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    changed: Collection[str],
    *,
    full: bool = False,
    since: price_days.Since | None = None,
) -> list[Build]:
    """Identify titles, build and audit the tables that depend on those in `changed`, all in the open transaction.

    `changed` are the tables that the load and `seed` changed. `since` says from when on the load changed them, if that is
    known. Raises AuditFailed.
    """
    context.progress.step("identify")
    touched = {*changed, *identify(con, context)}  # identify
    built = building.build(con, context, touched, full=full, since=since)  # build
    return building.audit(con, context, built)  # audit


def identify(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Update freshness and identities after the load of a night and before a build. Returns the tables that changed."""
    last = queries.last_in(con)
    # A backfill of old nights must not change how old the other sources are.
    now = max(context.as_of, last.as_of) if last else context.as_of
    return {
        *freshness.keep(con, now),
        *storing.identify(con, identities.identities_of(context.data), context.as_of),
    }


def publish_build(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    work: Path,
    sources: Sequence[SourceOutcome],
    builds: Sequence[Build],
) -> Summary:
    """Write the run, commit, and publish the work file."""
    context.progress.step("publish")
    changes = ledger.price_changes(con, context.as_of)
    # The rows of earlier runs that could not write their own. One that was published and has no row is lost.
    earlier = [run for run in run_log.entries(context.data) if run.run_id != context.run_id]
    ledger.add_earlier_runs(con, [replace(run, status="lost") if run.is_published else run for run in earlier])
    storing.write_run(con, context, sources, builds)
    asked, answered = building.answer(con, context)
    if asked.action == "rebuilt" or not any(one.model == asked.model for one in builds):
        builds = [*builds, asked]
    con.commit()
    version = publish.publish(con, context.data, work, context.run_id, context.settings.keep_versions)
    return Summary(context.run_id, sources, builds, changes, version, answered=answered)


def _nothing(context: Context, collected: Sequence[Collected]) -> Summary:
    """The summary of a run that publishes nothing."""
    failed = [take_in.failed(batch) for batch in shops.joined(collected) if batch.failure is not None]
    is_any_read = any(batch.failure is None for batch in collected)
    reason = "no shop, cloud or exchange rate answered" if is_any_read else "no source could be read"
    if not collected:
        names = context.only or context.settings.sources
        reasons = [f"{name}: {gather.nothing_to_read(name, context)}" for name in names]
        reason = "; ".join(["no source is configured", *reasons])
    return Summary(context.run_id, failed, reason=reason)
