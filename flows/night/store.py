"""The writing half of a run: check, load, identify, build, audit, publish, export. A reader sees all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import duckdb

from gpuledger.expectations.errors import ExpectationsError
from gpuledger.extract import local_files, shops
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import Unforeseen, described
from gpuledger.extract.items import FxRate, Issue
from gpuledger.flows.decisions import decisions, identities
from gpuledger.flows.night import iceberg, run_log, sharing, take_in
from gpuledger.flows.night.audit import Audit
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.summary import Summary, failures, published_status
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.flows.showing import exports
from gpuledger.transform import freshness, last_run, workloads
from gpuledger.transform.build import graph, listing_versions, price_days
from gpuledger.transform.build import run as builder
from gpuledger.transform.build.run import Build
from gpuledger.transform.gate import loading
from gpuledger.transform.identity import assign
from gpuledger.transform.identity import own as own_gpus
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.sizing import own as own_models
from gpuledger.warehouse import integrity, ledger, publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load.offers import MissingRate
from gpuledger.warehouse.outputs import iceberg_tables


class OutOfOrder(WarehouseError):
    """The run's time lies before nights that the warehouse already holds."""


class DoubtfulClock(WarehouseError):
    """The run's time lies so far from that of other runs that the clock is more likely wrong than right."""


class _NotStored(Exception):
    """One source's batch could not be taken in, for a reason that concerns this source alone."""

    def __init__(self, source: str, error: Exception) -> None:
        self.source = source
        self.failure = Unforeseen(source, f"what it gave could not be stored: {described(error)}")
        super().__init__(source)


def store(context: Context, collected: Sequence[Collected], *, export: bool = True) -> Summary:
    """Take in the collected batches, publish them, and write the CSV files.

    A night does this after it fetched, archived and parsed. Raises ExpectationsError or WarehouseError; then nothing is
    published.
    """
    damaged = publish.heal(context.data)
    run_log.heal(context.data)
    with publish.workspace(context.data, context.run_id, memory_limit=context.settings.memory_limit) as (con, work):
        con.begin()
        starts = ledger.run_starts(con)
        newest = max(starts.values(), default=None)
        # A replay that left runs out is newer than these, and what it left out was meant.
        if lost := [run for run in run_log.lost(context.data, starts) if newest is None or run.started_at > newest]:
            damaged.append(f"published nights are lost: {run_log.named(lost)}; {publish.REPLAY}")
        _refuse_doubtful_clock(con, context)
        night = load(con, context, collected)  # check, load
        _note_damage(con, context, damaged)
        summary = finish(
            con, context, work, night, run_log.record_of(context, collected)
        )  # identify, build, audit, publish
        if damaged:
            summary = replace(summary, reason="; ".join(damaged))
        return write_exports(context, summary, con) if export else summary


@dataclass(frozen=True, slots=True)
class Night:
    """What was loaded: the outcome of each source, the tables that changed, and since when they changed, if that is known.

    `unrated` are the prices of a bulk load that have no exchange rate.
    """

    sources: tuple[SourceOutcome, ...]
    tables: frozenset[str]
    since: price_days.Since | None = None
    unrated: tuple[MissingRate, ...] = ()


def seed(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Bring the seeded tables up to date; returns the changed ones. Raises SettingsError for a baseline that is no card."""
    known = identities.of(context.data)
    own, wrong = own_models.load(context.data.models)
    issues = [(Issue(code="bad_model", message=str(error), severity="error"), None) for error in wrong]
    ledger.add_issues(con, context.run_id, "models", issues)
    cards, unread = own_gpus.load(context.data.gpus)
    issues = [(Issue(code="bad_gpu", message=str(error), severity="error"), None) for error in unread]
    ledger.add_issues(con, context.run_id, "gpus", issues)
    added, unusable = workloads.own(context.data.workloads)
    issues = [(Issue(code="bad_workload", message=str(error), severity="error"), None) for error in unusable]
    ledger.add_issues(con, context.run_id, "workloads", issues)
    settings = context.settings
    user = seeds.OfUser(settings.for_warehouse(), settings.assumptions, own, tuple(added.values()), cards)
    changed = set(seeds.load(con, known.resolver, known.version, user, context.as_of.date()))
    baseline = settings.baseline_gpu_id
    if not assign.is_card(con, baseline):
        raise SettingsError(
            f"baseline_gpu_id: no GPU is called {baseline!r}; `gpuledger resolve TITLE` finds the id of a card"
        )
    return changed


def load(con: duckdb.DuckDBPyConnection, context: Context, collected: Sequence[Collected]) -> Night:
    """Seed, then check and load the batches of one night, each as its contract says. Raises OutOfOrder.

    Seeds come first since they need no check: on a first night the library for checks is still being imported. If a batch
    cannot be taken in, only its source fails: everything is rolled back (DuckDB has no savepoints) and done again without
    that batch. So the open transaction may hold nothing but these batches.
    """
    batches = shops.joined(collected)
    while True:
        try:
            seeded = seed(con, context)
            night = _load(con, context, batches)
            return replace(night, tables=night.tables | seeded)
        except _NotStored as error:
            con.rollback()
            con.begin()
            batches = [
                Collected(batch.source, failure=error.failure, is_complete=False, issues=batch.issues)
                if batch.source == error.source
                else batch
                for batch in batches
            ]


def _load(con: duckdb.DuckDBPyConnection, context: Context, collected: Sequence[Collected]) -> Night:
    is_newest = price_days.is_newest(con, context.as_of)
    _refuse_to_go_back(con, context, [batch.source for batch in collected])
    known = take_in.before(con)
    # Exchange rates first: the prices of the same night are converted with them.
    ordered = sorted(collected, key=lambda c: (not any(isinstance(i, FxRate) for i, _ in c.rows), c.source))
    context.progress.step("load", len(ordered))
    taken_in = [_take_in(con, context, batch, known) for batch in context.progress.each(ordered)]
    take_in.record(con, context, taken_in)
    return Night(
        sources=tuple(source.outcome for source in taken_in),
        tables=frozenset[str]().union(*(source.tables for source in taken_in)),
        since=price_days.since(con, context.as_of) if is_newest else None,
    )


def _take_in(
    con: duckdb.DuckDBPyConnection, context: Context, batch: Collected, known: take_in.Before
) -> take_in.TakenIn:
    try:
        return take_in.take_in(con, context, batch, known)
    except _NOBODYS:
        raise
    except Exception as error:
        if batch.failure is not None:
            raise  # not even the failure could be written down, so the batch is not at fault
        raise _NotStored(batch.source, error) from error


#: Errors that are no source's fault: a full disk, too little memory, a damaged file, a wrong check or setting.
_NOBODYS = (
    WarehouseError, ExpectationsError, SettingsError, OSError, MemoryError, duckdb.IOException, duckdb.OutOfMemoryException,
    duckdb.FatalException, duckdb.InternalException, duckdb.InterruptException,
)  # fmt: skip


def finish(
    con: duckdb.DuckDBPyConnection, context: Context, work: Path, night: Night, record: run_log.RunRecord
) -> Summary:
    """Build the tables that depend on the loaded ones, publish the work file, and record the run."""
    builds = prepare_build(con, context, night.tables, since=night.since)
    run_log.publishing(context.data, record)
    summary = publish_build(con, context, work, night.sources, builds)
    run_log.published(context.data, context.run_id)
    return replace(summary, unrated=night.unrated)


def prepare_build(
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
    touched = {*changed, *settle(con, context)}
    builder.refresh_contents(con, touched)
    models = graph.load(con)
    builder.drop_retired(con, models)
    audit = Audit(con, context.run_id)
    context.progress.step("build", len(models))
    place = {model.name: number for number, model in enumerate(models, start=1)}

    def built(model: graph.Model) -> None:
        context.progress.at(place[model.name], model.name)
        audit.refuse(model)

    builds = builder.build(con, models, context.run_id, force=full, refuse=built)
    context.progress.at(len(models))
    context.progress.step("audit")
    audit.finish(builds, price_days.keep(con, touched, since, force=full))
    return builds


def settle(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Update freshness and identities after the load of a night and before a build. Returns the tables that changed."""
    last = last_run.last_in(con)
    # A backfill of old nights must not change how old the other sources are.
    now = max(context.as_of, last.as_of) if last else context.as_of
    return {*freshness.keep(con, now), *_identify(con, context)}


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
    _take_over_log(con, context)
    write_run(con, context, sources, builds)
    con.commit()
    sharing.send_archive(context.data)
    version = publish.publish(con, context.data, work, context.run_id, context.settings.keep_versions)
    return Summary(context.run_id, sources, builds, changes, version)


def write_exports(context: Context, summary: Summary, con: duckdb.DuckDBPyConnection | None = None) -> Summary:
    """Write the CSV files of the published version, and the Iceberg tables if the settings have them.

    `con` is the connection that published, if it is still open.
    A file that cannot be written is only a note in the summary, as the warehouse is published already.
    """
    context.progress.step("export")
    try:
        exports.after_run(context.data, con)
    except OSError as error:
        folder = error.filename or context.data.exports
        return replace(summary, reason=f"the CSV files could not be written: {folder}: {local_files.why(error)}")
    except WarehouseError as error:
        # An analyst who opens the new version for writing at this moment locks every reader out of it.
        return replace(summary, reason=f"the CSV files could not be written: {error}")
    if context.settings.iceberg:
        try:
            iceberg_tables.publish(context.data, iceberg.target(context.settings, context.data))
        except (WarehouseError, OSError) as error:
            return replace(summary, reason=str(error))
    return summary


def write_run(
    con: duckdb.DuckDBPyConnection, context: Context, sources: Sequence[SourceOutcome], builds: Sequence[Build] = ()
) -> None:
    """Write this run's row, and one for each of its sources."""
    run = ledger.Run(
        context.run_id, context.started_at, utc_now(), context.as_of, context.engine, published_status(sources),
        failures(sources) or None, context.sample_night,
    )  # fmt: skip
    rebuilt = sum(build.action == "rebuilt" for build in builds)
    ledger.add_run(con, run, sources, rebuilt=rebuilt, kept=len(builds) - rebuilt)


def _take_over_log(con: duckdb.DuckDBPyConnection, context: Context) -> None:
    """Write the rows of earlier runs that could not write their own. One that was published and has no row is lost."""
    ledger.add_earlier_runs(con, [
        ledger.Run(
            e.run_id, e.started_at, e.finished_at, e.as_of, e.engine, "lost" if e.is_published else e.status, e.reason,
            e.sample_night,
        )
        for e in run_log.entries(context.data) if e.run_id != context.run_id
    ])  # fmt: skip


def _refuse_to_go_back(con: duckdb.DuckDBPyConnection, context: Context, sources: Sequence[str]) -> None:
    last_nights = loading.last_nights(con)
    for source in sources:
        last = last_nights.get(source)
        if last is not None and last > context.as_of:
            raise OutOfOrder(
                f"this run counts as {context.as_of:%Y-%m-%d %H:%M} UTC, and {context.data.root} already holds {source} of "
                f"{last:%Y-%m-%d %H:%M} UTC: history is written forwards; use another --data-dir"
            )


def _refuse_doubtful_clock(con: duckdb.DuckDBPyConnection, context: Context) -> None:
    """Refuse a run whose time is far from that of other runs.

    History is written forwards, so a run too far ahead would shut out all later runs, and no replay could take the runs in
    order.
    """
    most = context.settings.max_gap_days
    way_out = "mend the clock (or --as-of), or raise max_gap_days in the settings if the time is right"
    if context.as_of > context.started_at + timedelta(days=most):
        raise DoubtfulClock(
            f"this run counts as {context.as_of:%Y-%m-%d %H:%M} UTC, and this machine's clock says "
            f"{context.started_at:%Y-%m-%d %H:%M}: {way_out}"
        )
    last = last_run.last_in(con)
    if last is not None and abs(context.started_at - last.started_at) > timedelta(days=most):
        raise DoubtfulClock(
            f"this machine's clock says {context.started_at:%Y-%m-%d %H:%M} UTC, and when the last run was published it "
            f"said {last.started_at:%Y-%m-%d %H:%M}, more than {most:g} days away: {way_out}; a run that was published "
            "under a wrong clock is left out by `gpuledger replay --until`"
        )


def _note_damage(con: duckdb.DuckDBPyConnection, context: Context, damaged: Sequence[str]) -> None:
    """Record what was damaged, and which older records cannot be trusted. Damage stops no run; a replay refuses it."""
    data = context.data
    reasons = [*damaged, *run_log.damage(data), *integrity.damage(data), *decisions.damage(data)]
    issues = [(Issue(code="damaged_record", message=message, severity="error"), None) for message in reasons]
    ledger.add_issues(con, context.run_id, "records", issues)


def _identify(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Bring the titles' identities up to date. Returns the tables that changed."""
    known = identities.of(context.data)
    changed = set(assign.assign(con, known.resolver, known.version))
    if listing_versions.keep(con, context.as_of):
        changed.add("core.listing_history")
    return changed
