"""Load historical prices: night by night, each as a run of its own time, or in bulk with a publish for many nights.

Both take the same steps in the same order over the same nights, so the tables are the same, row for row. What bulk leaves
out between two nights is what no later night reads: the copy, the build and the publish.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from gpuledger.expectations.check import check_rows
from gpuledger.expectations.contract import source_contract
from gpuledger.expectations.errors import ExpectationsError
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.items import Item, Offer
from gpuledger.extract.pages import LocalFile, archive_file
from gpuledger.extract.source import get
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.flows.history.walk import Event, Taken, Walk
from gpuledger.flows.night import journal, loaded, take_in
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.store import finish, store, write_exports
from gpuledger.flows.night.summary import SourceOutcome, Summary
from gpuledger.flows.setup import decisions, identities
from gpuledger.transform.build import listing_versions, price_days
from gpuledger.transform.gate import good_nights, shops, tables
from gpuledger.transform.identity import assign
from gpuledger.warehouse import publish
from gpuledger.warehouse.load import offers, prices
from gpuledger.warehouse.load.batch import Batch, ChangeSet, Row
from gpuledger.warehouse.load.stage import stage
from gpuledger.warehouse.lock import writer_lock

SOURCE = "danawa_daily"
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
    from gpuledger.warehouse.errors import NoWarehouse
    from gpuledger.warehouse.read import query

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
        changed = load(con, run, found, refused(found), summary, progress)
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
    broken: Container[int],
    summary: Summary,
    progress: Callable[[int], None],
) -> set[str]:
    """Take in all nights inside the open transaction; the tables that they changed. `broken` is what `refused` tells."""
    contract = source_contract(SOURCE)
    changes = ChangeSet()
    outcome = SourceOutcome(SOURCE, "ok")
    titles = identities.of(context.data)
    released = decisions.releases(context.data, context.started_at)
    walk = Walk(con, SOURCE, found[0][0], context.settings.gate_bounds(), released)
    events: list[Event] = []
    taken: list[Taken] = []
    priced: Counter[tuple[str | None, date]] = Counter()
    for number, (seen_at, offers_seen) in enumerate(found):
        cells: dict[str, tuple[Offer, str]] = {}
        for offer, sha256 in offers_seen:
            cells.setdefault(offer.key, (offer, sha256))
        for currency, count in Counter(offer.currency for offer, _ in cells.values()).items():
            priced[currency, seen_at.astimezone(UTC).date()] += count
        held = sum(id(offer) in broken for offer, _ in cells.values())
        outcome.parsed, outcome.duplicate = len(offers_seen), len(offers_seen) - len(cells)
        if len(cells) >= contract.min_rows and held <= len(cells) * contract.max_quarantined_share:
            taken.append(walk.take(seen_at, cells, broken))
            if taken[-1].listings:
                # The gate asks what the peers of a listing cost, so each night must know the cards of those before it.
                _write(con, events, changes)
                events = []
                _take_listings(con, seen_at, taken[-1].listings, titles, changes)
                walk.recall_cards(con)
            events += taken[-1].events
            outcome.quarantined = held + len(taken[-1].held)
            outcome.loaded = len(cells) - outcome.quarantined
            outcome.status, outcome.reason = "ok", None
        else:
            outcome.status, outcome.quarantined, outcome.loaded = "refused", len(cells), 0
            outcome.reason = f"{held} of {len(cells)} rows of {seen_at:%Y-%m-%d} break the contract"
        progress(number + 1)
    _write(con, events, changes)
    outcome.issues = _note_missing_rates(con, context, priced)
    if taken:
        before = tables.write_held(con, SOURCE, shops.KIND, taken[-1].held)
        changes.add("core.held_price", max(len(taken[-1].held), before))
    changed = {*changes.changed}
    good_nights.note(con, SOURCE, [each.night for each in taken])
    changed.add("core.source_night")
    if offers.record_changes(con, SOURCE, found[0][0]):
        changed.add("core.price_change")
    if taken:
        last = replace(context, as_of=taken[-1].night.seen_at)
        take_in.set_state(con, last, replace(outcome, status="ok", reason=None))
    if outcome.is_failure:
        take_in.set_state(con, context, outcome)
    summary.sources.append(outcome)
    return changed


def _write(con: duckdb.DuckDBPyConnection, events: Sequence[Event], changes: ChangeSet) -> None:
    if events:
        prices.stage_events(con, [event.values(SOURCE) for event in events])
        offers.write_prices(con, changes)


def _take_listings(
    con: duckdb.DuckDBPyConnection,
    seen_at: datetime,
    found: Sequence[tuple[Offer, str]],
    titles: identities.Identities,
    changes: ChangeSet,
) -> None:
    """Load listings that are new or say something else, and give them their cards."""
    offers.stage_batch(con, Batch(SOURCE, seen_at, [Row(offer, sha256) for offer, sha256 in found]))
    changes.add("core.listing", offers.merge_listings(con, seen_at))
    for table in assign.assign(con, titles.resolver, titles.version, ("core.listing",)):
        changes.add(table, 1)
    if listing_versions.keep(con, seen_at):
        changes.add("core.listing_history", 1)


def _note_missing_rates(
    con: duckdb.DuckDBPyConnection, context: Context, priced: Counter[tuple[str | None, date]]
) -> int:
    rows = [(currency, day, count) for (currency, day), count in priced.items() if currency]
    stage(con, "priced", ("currency", "day", "prices"), rows, {"prices": "BIGINT"})
    issues = offers.missing_rates(con, "priced")
    take_in.note_issues(con, context, SOURCE, [(issue, None) for issue in issues])
    return len(issues)


def refused(found: Sequence[Crawl]) -> set[int]:
    """Identities of the Offer objects that break the contract.

    Raises ExpectationsError where they break a rule that refuses a batch whole: many nights at once are no batch.
    """
    distinct = list({id(offer): offer for _, rows in found for offer, _ in rows}.values())
    verdict = check_rows(source_contract(SOURCE), distinct)
    if verdict.refusal is not None:
        raise ExpectationsError(f"{SOURCE}: {verdict.refusal}, and their nights are refused: load with --by-night")
    return {id(distinct[position]) for position in verdict.quarantined}
