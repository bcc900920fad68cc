"""Load historical prices: night by night, each as a run of its own time, or in bulk with a publish for many nights.

Both take the same steps in the same order over the same nights, so the tables are the same, row for row. What bulk leaves
out between two nights is what no later night reads: the copy, the build and the publish.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from expectations.check import check_rows
from expectations.contract import source_contract
from extract.collect import Collected
from extract.danawa_nights import nights
from extract.items import Item, Offer
from extract.pages import LocalFile, archive_file
from extract.snapshots import Archive
from extract.source import get
from flows import decisions, identities, journal, loaded, take_in
from flows.context import Context, new_run_id, utc_now
from flows.store import finish, store, write_exports
from flows.summary import SourceOutcome, Summary
from transform import assign, gate, listing_versions, price_days
from warehouse import publish
from warehouse.load import offers
from warehouse.load.batch import Night, Row
from warehouse.load.stage import Value, append, stage
from warehouse.lock import writer_lock

SOURCE = "danawa_daily"
#: Nights in one transaction: a longer one keeps every overwritten version in memory.
_COMMIT_EVERY = 50
#: Nights in one publish of a bulk load: what a kill costs at most. A publish takes about as long as twenty nights.
PUBLISH_EVERY = 250

Crawl = tuple[datetime, list[tuple[Offer, str]]]


def read(context: Context, files: Sequence[Path]) -> list[Crawl]:
    """Archive the files and read their nights, in order of time. Raises ExtractError for a file that is no such table."""
    archive = Archive(context.data.snapshots)
    source = get(SOURCE)
    local = [LocalFile(path, "text/csv") for path in files]
    snapshots = [archive_file(source, file, archive, context.started_at, context.run_id) for file in local]
    return nights(archive.page(snapshot) for snapshot in snapshots)


def pending(context: Context, found: Sequence[Crawl]) -> list[Crawl]:
    """The nights after the last that is published: a backfill that was stopped goes on where it was."""
    from warehouse.errors import NoWarehouse
    from warehouse.read import query

    try:
        _, rows = query(context.data, "SELECT max(seen_at) FROM core.source_night WHERE source = ?", [SOURCE])
    except NoWarehouse:
        return list(found)
    last = rows[0][0]
    return [night for night in found if last is None or night[0] > last]


def by_night(context: Context, found: Sequence[Crawl], progress: Callable[[int], None]) -> Summary:
    """Each night as a run of its own: checked, loaded, built, audited, published. Returns the last night's summary."""
    summary = Summary(context.run_id)
    with writer_lock(context.data.lock):
        for number, (seen_at, rows) in enumerate(found, start=1):
            run = replace(context, run_id=new_run_id(), as_of=seen_at, started_at=utc_now())
            summary = Summary(run.run_id)
            journal.start(run.data.journal, journal.Entry(run.run_id, run.started_at, seen_at, run.engine, None))
            store(run, [_collected(context, [(seen_at, rows)])], summary, export=number == len(found))
            journal.finish(run.data.journal, run.run_id, summary.status, None)
            progress(number)
    return summary


def in_bulk(
    context: Context, found: Sequence[Crawl], progress: Callable[[int], None], publish_every: int = PUBLISH_EVERY
) -> Summary:
    """Many nights in one work file, published together. Returns the summary of the last nights.

    The rows are checked in one go: a row's verdict knows no night.
    """
    summary = Summary(context.run_id)
    if not found:
        return summary
    # A quarter of a million offers stay until the end: Python would look through them again and again for garbage.
    gc.freeze()
    with writer_lock(context.data.lock):
        publish.heal(context.data)
        loaded.heal(context.data)
        for first in range(0, len(found), publish_every):
            part = found[first : first + publish_every]

            def on_night(number: int, before: int = first) -> None:
                progress(before + number)

            run = replace(
                context, run_id=new_run_id() if first else context.run_id, as_of=part[-1][0], started_at=utc_now()
            )
            summary = _publish(run, part, [_collected(context, part)], on_night)
        write_exports(run, summary)
    gc.unfreeze()
    return summary


def _publish(
    run: Context, found: Sequence[Crawl], batches: Sequence[Collected], progress: Callable[[int], None]
) -> Summary:
    """Load and publish some nights as one run; the caller holds the writer's lock."""
    summary = Summary(run.run_id)
    journal.start(run.data.journal, journal.Entry(run.run_id, run.started_at, run.as_of, run.engine, None))
    with publish.workspace(run.data, run.run_id, memory_limit=run.settings.memory_limit) as (con, work):
        con.execute("BEGIN")
        is_newest = price_days.is_newest(con, found[0][0])
        changed = load(con, run, found, summary, progress)
        since = price_days.since(con, found[0][0]) if is_newest else None
        finish(con, run, summary, changed, work, loaded.of(run, batches), since)
    journal.finish(run.data.journal, run.run_id, summary.status, summary.reason)
    return summary


def _collected(fetched_by: Context, found: Sequence[Crawl]) -> Collected:
    """The nights as a source's batch: with the rows where it is one night, and always with what a replay needs."""
    files = {sha256 for _, rows in found for _, sha256 in rows}
    rows: list[tuple[Item, str]] = [*found[0][1]] if len(found) == 1 else []
    return Collected(
        SOURCE, rows=rows, fetched=len(files), nights=(found[0][0], found[-1][0]), fetched_by=fetched_by.run_id
    )


def load(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    found: Sequence[Crawl],
    summary: Summary,
    progress: Callable[[int], None],
) -> set[str]:
    """Take in all nights inside the open transaction, which is committed now and then; the tables that they changed."""
    contract = source_contract(SOURCE)
    bounds, released = context.settings.gate_bounds(), decisions.releases(context.data, context.started_at)
    changed: set[str] = set()
    outcome = SourceOutcome(SOURCE, "ok")
    titles = identities.of(context.data)
    past = gate.past_nights(con, SOURCE, found[0][0], bounds)
    noted: list[gate.GoodNight] = []
    _stage(con, found, _refused([offer for _, rows in found for offer, _ in rows]))
    issues = offers.missing_rates(con, "night_offer")
    rows = [(context.run_id, SOURCE, i.code, i.severity, i.message, i.where, i.text, i.url, None) for i in issues]
    append(con, "ops.issue", rows)
    outcome.issues = len(issues)
    # Small tables: a second thread would only wait for the first.
    con.execute("SET threads = 1")
    for number, (seen_at, offers_seen) in enumerate(found):
        night, held = _take_night(con, number, seen_at)
        outcome.parsed, outcome.duplicate = len(offers_seen), len(offers_seen) - night.rows
        if night.rows >= contract.min_rows and held <= night.rows * contract.max_quarantined_share:
            taken = take_in.load_staged(con, night, bounds, past, released)
            changed |= taken.changes.changed.keys()
            if "core.listing" in taken.changes.changed:
                # The gate asks what the peers of a listing cost, so each night must know the cards of those before it.
                changed |= set(assign.assign(con, titles.resolver, titles.version, ("core.listing",)))
                if listing_versions.keep(con, seen_at):
                    changed.add("core.listing_history")
            outcome.quarantined = held + taken.held
            outcome.loaded = night.rows - outcome.quarantined
            noted.append(gate.GoodNight(seen_at, night.rows, taken.is_complete))
            past = [noted[-1], *past[: bounds.row_nights - 1]]
            outcome.status, outcome.reason = "ok", None
        else:
            outcome.status, outcome.quarantined, outcome.loaded = "refused", night.rows, 0
            outcome.reason = f"{held} of {night.rows} rows of {seen_at:%Y-%m-%d} break the contract"
        if number % _COMMIT_EVERY == _COMMIT_EVERY - 1:
            con.execute("COMMIT; BEGIN")
        progress(number + 1)
    con.execute("RESET threads")
    gate.note_nights(con, SOURCE, noted)
    changed.add("core.source_night")
    if offers.record_changes(con, SOURCE, found[0][0]):
        changed.add("core.price_change")
    if noted:
        take_in.set_state(con, replace(context, as_of=noted[-1].seen_at), replace(outcome, status="ok", reason=None))
    if outcome.is_failure:
        take_in.set_state(con, context, outcome)
    summary.sources.append(outcome)
    return changed


def _stage(con: duckdb.DuckDBPyConnection, found: Sequence[Crawl], refused: set[int]) -> None:
    """Stage the first offer of each product of every night as `night_offer`, in order of the nights.

    An Offer object that stands for many cells is turned into values once, and joined to its cells in the database.
    """
    numbers: dict[int, int] = {}
    distinct: list[Sequence[Value]] = []
    cells: list[Sequence[Value]] = []
    for night, (_, offers_seen) in enumerate(found):
        keys: set[str] = set()
        for offer, sha256 in offers_seen:
            if offer.key in keys:
                continue
            keys.add(offer.key)
            if id(offer) not in numbers:
                numbers[id(offer)] = len(distinct)
                values = offers.staged_values(SOURCE, Row(offer, ""))[:-1]
                distinct.append((*values, len(distinct), id(offer) in refused))
            cells.append((night, numbers[id(offer)], sha256))
    types = {"number": "INTEGER", "night": "INTEGER", "is_refused": "BOOLEAN"}
    stage(con, "distinct_offer", (*offers.COLUMNS[:-1], "number", "is_refused"), distinct, types)
    stage(con, "cell", ("night", "number", "snapshot_sha256"), cells, types)
    stage(con, "night", ("night", "seen_at"), [(night, seen_at) for night, (seen_at, _) in enumerate(found)], types)
    con.execute(
        """CREATE OR REPLACE TEMP TABLE night_offer AS
           SELECT * FROM cell JOIN distinct_offer USING (number) JOIN night USING (night) ORDER BY night"""
    )


def _take_night(con: duckdb.DuckDBPyConnection, number: int, seen_at: datetime) -> tuple[Night, int]:
    """Make the staged offers of one night those that a load takes; how many of them the contract refused."""
    counts = []
    for name, columns, condition in (
        ("incoming_offer", ", ".join(offers.COLUMNS), "NOT is_refused"),
        ("held_offer", ", ".join(offers.COLUMNS), "is_refused"),
    ):
        row = con.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {columns} FROM night_offer WHERE night = ? AND {condition}",
            [number],
        ).fetchone()
        counts.append(int(row[0]) if row else 0)
    return Night(SOURCE, seen_at, sum(counts), True), counts[1]


def _refused(offers: Sequence[Offer]) -> set[int]:
    """Identities of the Offer objects that the contract refuses."""
    distinct = list({id(offer): offer for offer in offers}.values())
    return {id(distinct[position]) for position in check_rows(source_contract(SOURCE), distinct).quarantined}
