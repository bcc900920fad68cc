"""The writing half of a run: check, load, resolve, build, audit, publish. All of it, or nothing, reaches a reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import duckdb

from gpuledger.expectations import aside
from gpuledger.extract.collect import Collected
from gpuledger.extract.items import FxRate
from gpuledger.flows.night import run_log, take_in
from gpuledger.flows.night.audit import Audit
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.summary import PriceChange, SourceOutcome, Summary
from gpuledger.flows.setup import identities
from gpuledger.flows.setup.settings import SettingsError
from gpuledger.transform.build import graph, listing_versions, price_days
from gpuledger.transform.build import run as builder
from gpuledger.transform.build.graph import Model
from gpuledger.transform.identity import assign
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.sizing import own as own_models
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.load.stage import append
from gpuledger.warehouse.outputs import csv_files


class OutOfOrder(WarehouseError):
    """The run's time lies before what the warehouse already holds."""


def store(context: Context, collected: Sequence[Collected], summary: Summary, *, export: bool = True) -> None:
    """Take in what was collected, publish, and write the CSV files; fills `summary`.

    Raises ExpectationsError or WarehouseError; nothing is published then.
    """
    publish.heal(context.data)
    run_log.heal(context.data)
    with publish.workspace(context.data, context.run_id, memory_limit=context.settings.memory_limit) as (con, work):
        con.execute("BEGIN")
        is_newest = price_days.is_newest(con, context.as_of)
        asked = ask(con, context, collected)
        has_news = any(batch.news for batch in asked)
        if not has_news:
            aside.stop()
        # Before the first verdict is waited for.
        prepared = prepare(con, context)
        if has_news:
            builder.import_frames()
        changed = load_asked(con, context, asked, summary)
        since = price_days.since(con, context.as_of) if is_newest else None
        finish(con, context, summary, changed, work, run_log.record_of(context, collected), since, prepared)
    if export:
        write_exports(context, summary)


def write_exports(context: Context, summary: Summary) -> None:
    """Write the CSV files of what was published. A folder that cannot be written is a note: the warehouse is out already."""
    try:
        csv_files.after_run(context.data)
    except OSError as error:
        summary.reason = (
            f"the CSV files could not be written: {error.filename or context.data.exports}: {error.strerror}"
        )
    except WarehouseError as error:
        # An analyst who opened the new version for writing in this moment keeps every reader out of it.
        summary.reason = f"the CSV files could not be written: {error}"


def ask(con: duckdb.DuckDBPyConnection, context: Context, collected: Sequence[Collected]) -> list[take_in.Asked]:
    """Ask for the verdicts on the batches of one night, in the order of their loading. Raises OutOfOrder."""
    for batch in collected:
        _refuse_to_go_back(con, context, batch.source)
    # Exchange rates first: the prices of the same night are converted with them.
    ordered = sorted(collected, key=lambda c: (not any(isinstance(i, FxRate) for i, _ in c.rows), c.source))
    return [take_in.ask(con, context, batch) for batch in ordered]


def load(
    con: duckdb.DuckDBPyConnection, context: Context, collected: Sequence[Collected], summary: Summary
) -> set[str]:
    """Take in the batches of one night; the tables that they changed. Raises OutOfOrder."""
    return load_asked(con, context, ask(con, context, collected), summary)


def load_asked(
    con: duckdb.DuckDBPyConnection, context: Context, asked: Sequence[take_in.Asked], summary: Summary
) -> set[str]:
    """`load` of batches whose verdicts were asked for: each as its contract says."""
    changed: set[str] = set()
    for batch in asked:
        summary.sources.append(take_in.take_in(con, context, batch, changed))
    return changed


def finish(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    summary: Summary,
    changed: Collection[str],
    work: Path,
    record: run_log.RunRecord,
    since: price_days.Since | None = None,
    prepared: Prepared | None = None,
) -> None:
    """Build what the loaded tables named in `changed` reach, publish the work file, and put the run on record.

    `since` bounds what was loaded, where that is known; `prepared` is what was done already.
    """
    prepare_build(con, context, summary, changed, since=since, prepared=prepared)
    run_log.publishing(context.data, record)
    publish_build(con, context, summary, work)
    run_log.published(context.data, context.run_id)


def prepare_build(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    summary: Summary,
    changed: Collection[str],
    *,
    full: bool = False,
    since: price_days.Since | None = None,
    prepared: Prepared | None = None,
) -> None:
    """Resolve titles, build and audit, inside the open transaction. Raises AuditFailed."""
    prepared = prepared or prepare(con, context)
    touched = {*changed, *_follow(con, context)}
    builder.refresh_contents(con, touched)
    touched |= prepared.seeded
    audit = Audit(con, prepared.models)
    summary.builds = builder.build(
        con, prepared.models, context.run_id, force=full, defined=prepared.defined, on_step=audit.ask
    )
    first_day = price_days.keep(con, touched, since, force=full)
    audit.close(summary.builds, first_day)
    aside.stop()


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a build needs and no batch changes: the models in their order, which tables of the seeds are other ones, and
    which models are there already since they follow from their text alone.
    """

    models: Sequence[Model]
    seeded: Set[str]
    defined: Set[str]


def prepare(con: duckdb.DuckDBPyConnection, context: Context) -> Prepared:
    """Bring the seeds up to date and read the models."""
    seeded = _seed(con, context)
    builder.refresh_contents(con, seeded)
    models = graph.load(con)
    builder.drop_retired(con, models)
    return Prepared(models, seeded, builder.define(con, models))


def settle(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """What goes with the load of a night, before a build: seeds, freshness and identities. The tables that changed."""
    return {*_seed(con, context), *_follow(con, context)}


def _follow(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    return {*take_in.settle(con, context), *_identify(con, context)}


def publish_build(con: duckdb.DuckDBPyConnection, context: Context, summary: Summary, work: Path) -> None:
    """Write the run, commit, and publish the work file."""
    summary.changes = _price_changes(con, context)
    take_over_log(con, context)
    write_run(con, context, summary)
    con.execute("COMMIT")
    summary.published = publish.publish(con, context.data, work, context.run_id, context.settings.keep_versions)


def _refuse_to_go_back(con: duckdb.DuckDBPyConnection, context: Context, source: str) -> None:
    row = con.execute("SELECT max(seen_at) FROM core.source_night WHERE source = ?", [source]).fetchone()
    if row and row[0] and row[0] > context.as_of:
        raise OutOfOrder(
            f"this run counts as {context.as_of:%Y-%m-%d %H:%M} UTC, and {context.data.root} already holds {source} of "
            f"{row[0]:%Y-%m-%d %H:%M} UTC: history is written forwards; use another --data-dir"
        )


def _seed(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Bring the seeded tables up to date; those that changed. Raises SettingsError for a baseline that is no card."""
    known = identities.of(context.data)
    own, wrong = own_models.load(context.data.models)
    append(
        con,
        "ops.issue",
        [(context.run_id, "models", "bad_model", "error", str(error), None, None, None, None) for error in wrong],
    )
    settings = context.settings
    changed = set(seeds.load(con, known.resolver, settings.for_warehouse(), known.version, settings.assumptions, own))
    baseline = settings.baseline_gpu_id
    if not con.execute("SELECT 1 FROM core.gpu WHERE gpu_id = ?", [baseline]).fetchall():
        raise SettingsError(
            f"baseline_gpu_id: no GPU is called {baseline!r}; `gpuledger resolve TITLE` finds the id of a card"
        )
    return changed


def _identify(con: duckdb.DuckDBPyConnection, context: Context) -> set[str]:
    """Bring the titles' identities up to date; the tables that changed."""
    known = identities.of(context.data)
    changed = set(assign.assign(con, known.resolver, known.version))
    if listing_versions.keep(con, context.as_of):
        changed.add("core.listing_history")
    return changed


def _price_changes(con: duckdb.DuckDBPyConnection, context: Context) -> list[PriceChange]:
    rows = con.execute(
        """SELECT c.source, l.title, c.change, coalesce(c.old_price::VARCHAR, ''), coalesce(c.new_price::VARCHAR, ''),
               coalesce(c.currency, '')
           FROM core.price_change c JOIN core.listing l USING (listing_id)
           WHERE c.changed_at = ? ORDER BY c.source, c.change, l.title, c.listing_id""",
        [context.as_of],
    ).fetchall()
    return [PriceChange(*row) for row in rows]


def take_over_log(con: duckdb.DuckDBPyConnection, context: Context) -> None:
    """Write the rows of earlier runs that could not write their own."""
    known = {run_id for (run_id,) in con.execute("SELECT run_id FROM ops.run").fetchall()}
    earlier = [e for e in run_log.entries(context.data) if e.run_id not in known and e.run_id != context.run_id]
    empty = [None] * 8
    append(
        con,
        "ops.run",
        [
            (
                e.run_id,
                e.started_at,
                e.finished_at,
                e.as_of,
                e.engine,
                e.status,
                e.reason,
                e.sample_night,
                *empty,
                None,
                None,
            )
            for e in earlier
        ],
    )


def write_run(con: duckdb.DuckDBPyConnection, context: Context, summary: Summary) -> None:
    """Write this run's row, and one for each of its sources."""
    finished = utc_now()
    status = "published_with_failures" if summary.failed_sources else "published"
    reason = "; ".join(f"{s.source}: {s.reason}" for s in summary.failed_sources) or None
    totals = [sum(getattr(s, name) for s in summary.sources) for name in _TOTALS]
    rebuilt = sum(build.action == "rebuilt" for build in summary.builds)
    append(
        con,
        "ops.run",
        [
            (context.run_id, context.started_at, finished, context.as_of, context.engine, status, reason,
             context.sample_night, *totals, len(summary.failed_sources), rebuilt, len(summary.builds) - rebuilt,
             (finished - context.started_at).total_seconds())
        ],
    )  # fmt: skip
    append(con, "ops.source_run", [_source_row(context, outcome) for outcome in summary.sources])


_TOTALS = ("parsed", "loaded", "quarantined", "duplicate", "changed", "issues")


def _source_row(context: Context, s: SourceOutcome) -> list[str | int | float | None]:
    return [
        context.run_id, s.source, s.status, s.reason, s.pages, s.pages_unchanged, s.size_bytes, s.parsed, s.loaded,
        s.quarantined, s.duplicate, s.changed, s.issues, round(s.seconds, 3),
    ]  # fmt: skip
