"""Load historical prices: the nights of price tables, each as the night that it was, many of them in one publish.

Every night takes the steps of any other night (stage, gate, load). What is left out between two of them is what no later
night reads: the copy of the file, the build and the publish.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import duckdb

from gpuledger.expectations.check import check_rows
from gpuledger.expectations.contract import source_contract
from gpuledger.expectations.errors import ExpectationsError
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.items import Offer
from gpuledger.extract.pages import LocalFile, archive_file
from gpuledger.extract.source import get
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.flows.night import run_log, store, take_in
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.setup import decisions, identities
from gpuledger.transform.build import listing_versions, price_days
from gpuledger.transform.gate import good_nights, loading
from gpuledger.transform.identity import assign
from gpuledger.warehouse import history, ledger, publish
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import Night, Row
from gpuledger.warehouse.lock import writer_lock

SOURCE = "danawa_daily"
#: Nights in one publish: what a kill costs at most. A publish takes about as long as a hundred nights.
PUBLISH_EVERY = 250

Crawl = tuple[datetime, list[tuple[Offer, str]]]
#: Called with the number of nights that are loaded.
Progress = Callable[[int], None]


def read(context: Context, files: Sequence[Path]) -> list[Crawl]:
    """Archive the files and read their nights, in order of time. Raises ExtractError for a file that is no such table."""
    archive = Archive(context.data.snapshots)
    source = get(SOURCE)
    local = [LocalFile(path, "text/csv") for path in files]
    snapshots = [archive_file(source, file, archive, context.started_at, context.run_id) for file in local]
    return nights(archive.page(snapshot) for snapshot in snapshots)


def pending(context: Context, found: Sequence[Crawl]) -> list[Crawl]:
    """The nights after the last that is published: a backfill that was stopped goes on where it was."""
    last = history.last_night(context.data, SOURCE)
    return [night for night in found if last is None or night[0] > last]


def backfill(
    context: Context, found: Sequence[Crawl], progress: Progress, publish_every: int = PUBLISH_EVERY
) -> Summary:
    """Load nights and publish after every `publish_every` of them. Returns the summary of the last ones."""
    summary = Summary(context.run_id)
    if not found:
        return summary
    run = context
    with writer_lock(context.data.lock):
        publish.heal(context.data)
        run_log.heal(context.data)
        for first in range(0, len(found), publish_every):
            part = found[first : first + publish_every]
            run = replace(
                context, run_id=new_run_id() if first else context.run_id, as_of=part[-1][0], started_at=utc_now()
            )
            summary = _publish(run, part, context.run_id, partial(_after, first, progress))
        return store.write_exports(run, summary)


def _after(before: int, progress: Progress, number: int) -> None:
    progress(before + number)


def _publish(run: Context, found: Sequence[Crawl], archived_by: str, progress: Progress) -> Summary:
    """Load and publish some nights as one run; the caller holds the writer's lock."""
    run_log.start(run)
    with publish.workspace(run.data, run.run_id, memory_limit=run.settings.memory_limit) as (con, work):
        con.begin()
        is_newest = price_days.is_newest(con, found[0][0])
        night = load(con, run, found, progress)
        since = price_days.since(con, found[0][0]) if is_newest else None
        record = run_log.record_of(run, [_collected(found, archived_by)])
        summary = store.finish(con, run, work, replace(night, since=since), record)
    run_log.finish(run, summary.status, summary.reason)
    return summary


def _collected(found: Sequence[Crawl], archived_by: str) -> Collected:
    """What a replay needs of the nights: which they are, and the run that has their files in the archive."""
    files = {sha256 for _, rows in found for _, sha256 in rows}
    return Collected(SOURCE, fetched=len(files), nights=(found[0][0], found[-1][0]), fetched_by=archived_by)


def load(con: duckdb.DuckDBPyConnection, context: Context, found: Sequence[Crawl], progress: Progress) -> store.Night:
    """Load nights one after the other, and say of them all what is said of one: how the last went, and what changed.

    A transaction is open before and after it; between the nights it is committed. Raises ExpectationsError where the rows
    of many nights break a rule that refuses a batch whole.
    """
    contract = source_contract(SOURCE)
    staged = _stage(con, found)
    titles = identities.of(context.data)
    bounds, released = context.settings.gate_bounds(), decisions.releases(context.data, context.started_at)
    past = good_nights.past(con, SOURCE, found[0][0], bounds)
    changed: set[str] = set()
    outcome = SourceOutcome(SOURCE, "ok")
    last_good: tuple[datetime, SourceOutcome] | None = None
    for number, (seen_at, offers_seen) in enumerate(found, start=1):
        rows = staged.nights[number - 1]
        accepted = [row for row in rows if row not in staged.broken]
        broken = len(rows) - len(accepted)
        outcome = SourceOutcome(SOURCE, "ok", parsed=len(offers_seen), duplicate=len(offers_seen) - len(rows))
        if staged.refusal or len(rows) < contract.min_rows or broken > len(rows) * contract.max_quarantined_share:
            reason = staged.refusal or f"{broken} of {len(rows)} rows of {seen_at:%Y-%m-%d} break the contract"
            outcome = replace(outcome, status="refused", quarantined=len(rows), reason=reason)
        else:
            offers.stage_night(con, accepted, [row for row in rows if row in staged.broken])
            night = Night(SOURCE, seen_at, len(rows), is_complete=True)
            done = loading.load_staged(con, night, bounds, past, released)
            good = good_nights.GoodNight(seen_at, len(rows), done.is_complete)
            good_nights.note(con, SOURCE, good)
            past = [good, *past[: bounds.row_nights - 1]]
            changed |= {*done.changes.changed, "core.source_night"}
            if "core.listing" in done.changes.changed:
                # The gate compares a price with those of the same card: each night must know the cards of those before.
                changed |= _identify(con, titles, seen_at)
            held = broken + done.held
            outcome = replace(outcome, quarantined=held, loaded=len(rows) - held)
            last_good = seen_at, outcome
        # A longer transaction keeps every overwritten version in memory.
        con.commit()
        con.begin()
        progress(number)
    outcome = replace(outcome, issues=_note_missing_rates(con, context, staged.priced))
    if offers.record_changes(con, SOURCE, found[0][0]):
        changed.add("core.price_change")
    if last_good:
        take_in.set_state(con, replace(context, as_of=last_good[0]), last_good[1])
    if outcome.is_failure:
        take_in.set_state(con, context, outcome)
    return store.Night((outcome,), frozenset(changed))


def _identify(con: duckdb.DuckDBPyConnection, titles: identities.Identities, seen_at: datetime) -> set[str]:
    """Give listings that are new or say something else their cards; the tables that changed."""
    changed = set(assign.assign(con, titles.resolver, titles.version, ("core.listing",)))
    if listing_versions.keep(con, seen_at):
        changed.add("core.listing_history")
    return changed


@dataclass(frozen=True, slots=True)
class _Staged:
    """Nights whose rows are staged: each night's rows by their numbers, without repeats, and those that break the contract.

    `refusal` says why all of them are refused. `priced` counts the prices of each currency and day.
    """

    nights: Sequence[Sequence[int]]
    broken: Set[int]
    refusal: str | None
    priced: Counter[tuple[str | None, date]]


def _stage(con: duckdb.DuckDBPyConnection, found: Sequence[Crawl]) -> _Staged:
    """Stage the rows of all nights and hold them against the contract, in one go: a row's verdict knows no night, and
    Great Expectations takes nearly as long for one night as for a year of them.

    A cell that says the same as the night before is the same object, so that one staged row stands for all of them.
    """
    numbers: dict[tuple[int, str], int] = {}
    rows: list[Row] = []
    nights: list[list[int]] = []
    priced: Counter[tuple[str | None, date]] = Counter()
    for seen_at, offers_seen in found:
        first: dict[str, int] = {}
        for offer, sha256 in offers_seen:
            if offer.key in first:
                continue
            number = numbers.setdefault((id(offer), sha256), len(rows))
            if number == len(rows):
                rows.append(Row(offer, sha256))
            first[offer.key] = number
        nights.append([*first.values()])
        day = seen_at.astimezone(UTC).date()
        priced.update((item.currency, day) for number in nights[-1] if isinstance(item := rows[number].item, Offer))
    verdict = check_rows(source_contract(SOURCE), [row.item for row in rows])
    if verdict.refusal is not None and len(found) > 1:
        raise ExpectationsError(f"{SOURCE}: {verdict.refusal}, and their nights are refused: load with --by-night")
    offers.stage_nights(con, SOURCE, rows)
    return _Staged(nights, {*verdict.quarantined}, verdict.refusal, priced)


def _note_missing_rates(
    con: duckdb.DuckDBPyConnection, context: Context, priced: Counter[tuple[str | None, date]]
) -> int:
    rows = [(currency, day, count) for (currency, day), count in priced.items() if currency]
    issues = offers.missing_rates_of(con, rows)
    ledger.add_issues(con, context.run_id, SOURCE, [(issue, None) for issue in issues])
    return len(issues)
