"""Check and load the batches of a night, and write what is on record of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import duckdb

from gpuledger import records
from gpuledger.errors import Unforeseen, described
from gpuledger.expectations.errors import ExpectationsError
from gpuledger.extract import shops
from gpuledger.extract.collect import Collected
from gpuledger.flows.decisions import corrections, identities
from gpuledger.flows.decisions.releases import RELEASES
from gpuledger.flows.night import run_log, take_in
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.summary import failures, published_status
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.items import FxRate, Issue
from gpuledger.transform import queries
from gpuledger.transform.build import listing_versions, price_days
from gpuledger.transform.build.run import Build
from gpuledger.transform.gate import loading
from gpuledger.transform.identity import assign
from gpuledger.transform.identity.added_cards import GPUS
from gpuledger.transform.report.questions import QUESTIONS
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.sizing.added_models import MODELS
from gpuledger.transform.workloads import WORKLOADS
from gpuledger.warehouse import integrity, ledger, publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.offers import MissingRate
from gpuledger.warehouse.paths import DataDir


class DoubtfulClock(WarehouseError):
    """The run's time lies so far from that of other runs that the clock is more likely wrong than right."""


class _NotStored(Exception):
    """One source's batch could not be taken in, for a reason that concerns this source alone."""

    def __init__(self, source: str, error: Exception) -> None:
        self.source = source
        self.failure = Unforeseen(source, f"what it gave could not be stored: {described(error)}")
        super().__init__(source)


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
    known = identities.identities_of(context.data)
    settings = context.settings
    added = (_added(con, context, kind) for kind in (MODELS, WORKLOADS, GPUS))
    user = seeds.OfUser(settings.for_warehouse(), settings.assumptions, *added)
    changed = set(seeds.load(con, known.resolver, known.version, user, context.as_of.date()))
    baseline = settings.baseline_gpu_id
    if not assign.is_card(con, baseline):
        raise SettingsError(
            f"baseline_gpu_id: no GPU is called {baseline!r}; `gpuledger resolve TITLE` finds the id of a card"
        )
    return changed


def _added(con: duckdb.DuckDBPyConnection, context: Context, kind: records.Kind[Any]) -> list[Any]:
    """What a person added of a kind and tables can hold. The rest is on record."""
    usable, bad = kind.usable(context.data.root, seeds.try_rows)
    issues = [(Issue(code=f"bad_{kind.entry}", message=str(error), severity="error"), None) for error in bad]
    ledger.add_issues(con, context.run_id, f"{kind.entry}s", issues)
    return usable


def load(con: duckdb.DuckDBPyConnection, context: Context, collected: Sequence[Collected]) -> Night:
    """Seed, then check and load the batches of one night, each as its contract says. Raises WarehouseError.

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
    sources = [batch.source for batch in collected]
    last_nights = loading.last_nights(con)
    for source in sources:
        last = last_nights.get(source)
        if last is not None and last > context.as_of:
            raise WarehouseError(
                f"this run counts as {context.as_of:%Y-%m-%d %H:%M} UTC, and {context.data.root} already holds {source} of "
                f"{last:%Y-%m-%d %H:%M} UTC: history is written forwards; use another --data-dir"
            )
    known = take_in.before(con)
    # Exchange rates first: the prices of the same night are converted with them.
    ordered = sorted(collected, key=lambda c: (not any(isinstance(i, FxRate) for i, _ in c.rows), c.source))
    context.progress.step("load", len(ordered))
    taken_in = [take_in_one(con, context, batch, known) for batch in context.progress.each(ordered)]
    take_in.record(con, context, taken_in)
    return Night(
        sources=tuple(source.outcome for source in taken_in),
        tables=frozenset[str]().union(*(source.tables for source in taken_in)),
        since=price_days.since(con, context.as_of) if is_newest else None,
    )


def take_in_one(
    con: duckdb.DuckDBPyConnection, context: Context, batch: Collected, known: take_in.Before
) -> take_in.TakenIn:
    """Take in one batch with its corrections put in. Raises _NotStored if the fault is the batch's own."""
    try:
        batch, seen = corrections.put_in(context.data, batch, context.started_at)
        if batch.failure is None:
            corrected.keep(con, batch.source, context.as_of, seen)
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


def identify(
    con: duckdb.DuckDBPyConnection,
    known: identities.Identities,
    seen_at: datetime,
    tables: Collection[str] = assign.TABLES,
) -> set[str]:
    """Give the new and changed titles of `tables` their cards. Returns the tables that changed."""
    changed = set(assign.assign(con, known.resolver, known.version, tables))
    if listing_versions.keep(con, seen_at):
        changed.add("core.listing_history")
    return changed


def write_run(
    con: duckdb.DuckDBPyConnection, context: Context, sources: Sequence[SourceOutcome], builds: Sequence[Build] = ()
) -> None:
    """Write this run's row, and one for each of its sources."""
    run = ledger.Run(
        run_id=context.run_id, started_at=context.started_at, finished_at=utc_now(), as_of=context.as_of,
        engine=context.engine, status=published_status(sources), reason=failures(sources) or None,
        sample_night=context.sample_night,
    )  # fmt: skip
    rebuilt = sum(build.action == "rebuilt" for build in builds)
    ledger.add_run(con, run, sources, rebuilt=rebuilt, kept=len(builds) - rebuilt)


def lost_nights(con: duckdb.DuckDBPyConnection, data: DataDir) -> list[str]:
    """A sentence about published nights that the warehouse lacks, if there are any."""
    starts = ledger.run_starts(con)
    newest = max(starts.values(), default=None)
    # A replay that left runs out is newer than these, and what it left out was meant.
    lost = [run for run in run_log.lost(data, starts) if newest is None or run.started_at > newest]
    return [f"published nights are lost: {run_log.named(lost)}; {publish.REPLAY}"] if lost else []


def refuse_doubtful_clock(con: duckdb.DuckDBPyConnection, context: Context) -> None:
    """Refuse a run whose time is far from that of other runs.

    History is written forwards, so a run too far ahead would shut out all later runs, and no replay could take the runs in
    order.
    """
    most = context.settings.max_gap_days
    remedy = "mend the clock (or --as-of), or raise max_gap_days in the settings if the time is right"
    if context.as_of > context.started_at + timedelta(days=most):
        raise DoubtfulClock(
            f"this run counts as {context.as_of:%Y-%m-%d %H:%M} UTC, and this machine's clock says "
            f"{context.started_at:%Y-%m-%d %H:%M}: {remedy}"
        )
    last = queries.last_in(con)
    if last is not None and abs(context.started_at - last.started_at) > timedelta(days=most):
        raise DoubtfulClock(
            f"this machine's clock says {context.started_at:%Y-%m-%d %H:%M} UTC, and when the last run was published it "
            f"said {last.started_at:%Y-%m-%d %H:%M}, more than {most:g} days away: {remedy}; a run that was published "
            "under a wrong clock is left out by `gpuledger replay --until`"
        )


def note_damage(con: duckdb.DuckDBPyConnection, context: Context, damaged: Sequence[str]) -> None:
    """Record what was damaged, and which older records cannot be trusted. Damage stops no run; a replay refuses it."""
    data = context.data
    reasons = [*damaged, *run_log.damage(data), *integrity.damage(data), *map(str, RELEASES.usable(data.root)[1])]
    reasons += map(str, QUESTIONS.usable(data.root)[1])
    issues = [(Issue(code="damaged_record", message=message, severity="error"), None) for message in reasons]
    ledger.add_issues(con, context.run_id, "records", issues)
