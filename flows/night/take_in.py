"""Take one source's batch into the warehouse: remove duplicates, check the contract, load, and record how it went."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import duckdb

from gpuledger.errors import ExtractError, NotFound
from gpuledger.expectations.check import Verdict, check_batch
from gpuledger.expectations.contract import source_contract
from gpuledger.expectations.filled import NIGHTS, Filled, emptied, filled
from gpuledger.extract import source as sources
from gpuledger.extract.collect import Collected
from gpuledger.extract.fetch import addresses
from gpuledger.flows.decisions import releases
from gpuledger.flows.night.context import Context
from gpuledger.items import CloudOffer, Issue, Item, Offer
from gpuledger.transform.gate import good_nights, loading
from gpuledger.transform.gate.good_nights import GoodNight
from gpuledger.warehouse import ledger
from gpuledger.warehouse.ledger import IssueOfPage, LastBatch, SourceOutcome, SourceStatus
from gpuledger.warehouse.load import offers, others
from gpuledger.warehouse.load.batch import Batch, Row, split_duplicates


@dataclass(frozen=True, slots=True)
class Before:
    """What the warehouse knows of all sources before a run: their last batches, and which of them are settled.

    Without either, no batch counts as a repetition.
    """

    batches: Mapping[str, LastBatch] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()

    def has(self, source: str, digest: str) -> bool:
        """Whether a batch with this fingerprint says nothing new."""
        return source in self.settled and source in self.batches and self.batches[source].digest == digest


def before(con: duckdb.DuckDBPyConnection) -> Before:
    """What is known before a run. Two statements for all sources: to plan one takes DuckDB a millisecond, however few rows
    it reads, and eight for each source were a tenth of a quiet night.
    """
    return Before(ledger.last_batches(con), loading.settled_sources(con))


@dataclass(frozen=True, slots=True)
class TakenIn:
    """The outcome of one source, the tables that its batch changed, and what `record` keeps of it.

    `night` is its good night, None if the source was not read well. `digest` is then the fingerprint of the batch, empty for
    one night of a file of many. `earlier` is the run that loaded the same batch, if there is one: what it quarantined is
    recorded again. `refused` are the rows that were not loaded, each with the reason, and `issues` what the check and the
    load found.
    """

    outcome: SourceOutcome
    tables: frozenset[str] = frozenset()
    night: GoodNight | None = None
    digest: str = ""
    earlier: str | None = None
    refused: Sequence[tuple[Row, str]] = ()
    issues: Sequence[IssueOfPage] = ()


def record(con: duckdb.DuckDBPyConnection, context: Context, taken_in: Sequence[TakenIn]) -> None:
    """Record the outcomes of a run's sources, all of them in one statement for each table."""
    good = {source.outcome.source: source for source in taken_in if source.night is not None}
    repeated = {name: source.earlier for name, source in good.items() if source.earlier}
    ledger.repeat_quarantined(con, context.run_id, repeated)
    ledger.set_digests(con, {name: source.digest for name, source in good.items() if source.digest})
    good_nights.note(con, {name: source.night for name, source in good.items() if source.night})
    attempts = [(outcome, sources.get(outcome.source).freshness_hours) for outcome in (one.outcome for one in taken_in)]
    ledger.set_states(con, context.as_of, attempts)


def take_in(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    collected: Collected,
    known: Before,
    verdict: Verdict | None = None,
) -> TakenIn:
    """Check one source's batch and load it as its contract says. Call `record` when all batches of the run are in.

    A batch that equals the one that was loaded last is neither checked nor loaded again, and keeps that outcome.

    The batch of one night of a file of many has `nights`, and a `verdict` if the rows of all were checked at once: that on
    its rows without repeats. Its caller records the refused rows, and what `loading.load_batch` leaves for after the last
    night.
    """
    started = time.perf_counter()
    source = collected.source
    is_one_of_many = collected.nights is not None
    digest = "" if collected.failure or is_one_of_many else _digest(collected, context.as_of.date())
    if collected.failure is not None:
        taken_in = TakenIn(failed(collected))
    elif known.has(source, digest):
        # The account of the last good batch, which this one equals.
        last = known.batches[source]
        taken_in = TakenIn(replace(last.counted, status="unchanged"), earlier=last.run_id)
    else:
        taken_in = _check_and_load(con, context, collected, verdict)
    outcome, tables, night = taken_in.outcome, taken_in.tables, None
    shares, empty = _filled(con, context, collected)
    if not outcome.is_failure:
        rows = outcome.loaded + outcome.quarantined
        usual = {column: round(now.share, 4) for column, now in shares.items() if column not in empty}
        night = GoodNight(context.as_of, rows, outcome.status in ("ok", "unchanged"), usual)
        tables |= {"core.source_night"}
    messages = [(Issue(code="column_empty", message=said, where=column), None) for column, said in empty.items()]
    issues = [*collected.issues, *taken_in.issues, *messages]
    ledger.add_issues(con, context.run_id, source, issues)
    if not is_one_of_many:
        ledger.add_quarantined(con, context.run_id, source, taken_in.refused)
    outcome = replace(
        outcome, pages=collected.pages, pages_unchanged=collected.pages_unchanged, size_bytes=collected.size_bytes,
        parsed=outcome.loaded + outcome.quarantined + outcome.duplicate, issues=len(issues),
        seconds=time.perf_counter() - started, emptied=tuple(empty.values()),
    )  # fmt: skip
    return replace(taken_in, outcome=outcome, tables=tables, night=night, digest=digest)


def _filled(
    con: duckdb.DuckDBPyConnection, context: Context, collected: Collected
) -> tuple[dict[str, Filled], dict[str, str]]:
    """How far each column is filled, and the columns that went empty, each with a sentence.

    Files have no past to compare with, and where no page came beside them, they say nothing of the pages.
    """
    if not collected.starts or {page for _, page in collected.rows} <= {page for *_, page in collected.files}:
        return {}, {}
    source = collected.source
    shop_of = addresses.shop_of if sources.get(source).is_of_many_shops else None
    shares = filled([item for item, _ in collected.rows], shop_of)
    released = releases.releases(context.data, context.started_at)
    return shares, emptied(shares, good_nights.filled_before(con, source, context.as_of, NIGHTS, released))


def failed(collected: Collected) -> SourceOutcome:
    """The outcome of a source of which nothing could be read."""
    failure = collected.failure
    assert failure is not None
    return SourceOutcome(collected.source, "failed", _why(failure))


def _why(failure: ExtractError) -> str:
    return f"{type(failure).__name__}: {failure.url}: {failure.seen}; {failure.action}"


def _check_and_load(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    collected: Collected,
    verdict: Verdict | None,
) -> TakenIn:
    source = collected.source
    rows = [Row(item, sha256) for item, sha256 in collected.rows]
    first, repeats = split_duplicates(rows, lambda row: others.key_of(source, row.item))
    verdict = verdict or _checked(context, collected, first)
    issues = _conflicts(source, first, repeats)
    issues += [(Issue(code="contract_warning", message=warning), None) for warning in verdict.warnings]
    if verdict.refusal is not None:
        whole = f"whole batch refused: {verdict.refusal}"
        outcome = SourceOutcome(source, "refused", verdict.refusal, quarantined=len(first))
        taken_in = TakenIn(outcome, refused=[(row, whole) for row in first])
    else:
        taken_in = _load(con, context, collected, first, verdict)
    outcome = replace(taken_in.outcome, duplicate=len(repeats))
    return replace(taken_in, outcome=outcome, issues=[*issues, *taken_in.issues])


def _checked(context: Context, collected: Collected, first: Sequence[Row]) -> Verdict:
    """The verdict of the source's contract on the rows of its batch that do not repeat an earlier one."""
    context.progress.step("check")
    contract = source_contract(collected.source)
    if collected.unread:
        # A short list is no sign of a changed layout if the pages that lack are known; and it ends nothing.
        contract = replace(contract, min_rows=0)
    verdict = check_batch(contract, [row.item for row in first])
    context.progress.step("load")
    return verdict


def _load(
    con: duckdb.DuckDBPyConnection, context: Context, collected: Collected, first: Sequence[Row], verdict: Verdict
) -> TakenIn:
    """Load the accepted rows; `first` are all rows of the batch that do not repeat an earlier one."""
    source, today = collected.source, context.as_of.date()
    expired = {
        position: f"the offer was valid until {getattr(row.item, 'valid_until', None)} only"
        for position, row in enumerate(first)
        if position not in verdict.quarantined and _has_expired(row.item, today)
    }
    # An expired offer has ended, unlike one that a contract refused, but both are recorded in the same way.
    held = tuple(first[position] for position in verdict.quarantined)
    kept_out = {**verdict.quarantined, **expired}
    accepted = [row for position, row in enumerate(first) if position not in kept_out]
    loaded = loading.load_batch(
        con,
        Batch(
            source,
            context.as_of,
            accepted,
            collected.is_complete,
            held,
            _is_whole(collected),
            _gone(con, collected),
            is_one_of_many=collected.nights is not None,
        ),
        context.settings.gate_bounds(),
        releases.releases(context.data, context.started_at),
        sources.get(source).kinds,
    )
    status, reason = how_it_went(loaded, source, len(accepted) + len(held), collected.unread)
    by_gate = held_by_the_gate(first, source, loading.held_reasons(con, source)) if loaded.held else []
    outcome = SourceOutcome(
        source, status, reason, loaded=len(accepted) - loaded.held, quarantined=len(kept_out) + loaded.held,
        changed=loaded.changes.total,
    )  # fmt: skip
    return TakenIn(
        outcome,
        frozenset(loaded.changes.changed),
        issues=[(issue, None) for _, issue in loaded.changes.issues],
        refused=[*by_gate, *((first[position], why) for position, why in kept_out.items())],
    )


def how_it_went(
    loaded: loading.Loaded, source: str, rows: int, unread: Sequence[ExtractError] = ()
) -> tuple[SourceStatus, str | None]:
    """Status and reason of a batch of so many rows that was loaded. `unread` are the failures of the pages that lack."""
    if unread:
        others = f"; and {len(unread) - 1} more pages" if len(unread) > 1 else ""
        return "degraded", f"{_why(unread[0])}{others}; the pages that came are loaded, and nothing ends by the others"
    if loaded.usual_rows is not None:
        return "degraded", (
            f"{rows} rows, and {loaded.usual_rows} are usual: what is missing has not ended, and counts for as long as it "
            f"is fresh; `gpuledger release --source {source}` if the source has no more than this"
        )
    if loaded.is_shuffled:
        return "partial", (
            "many prices moved far at once, up and down: the night is held whole until a later one agrees with it; "
            f"`gpuledger release --source {source}` if it is right"
        )
    return ("ok", None) if loaded.is_complete else ("partial", "some pages could not be read; see ops.issue")


def _is_whole(collected: Collected) -> bool:
    """Whether the batch certainly has all goods of the source.

    Either the crawl reached the number of goods that the list itself states, or no list can have broken off: the source
    reads files, or addresses that a person gave one by one. A night of a file of many is a crawl that may have broken off.
    """
    if collected.nights is not None:
        return False
    total = collected.stated_total
    is_all = total is not None and collected.is_complete and collected.listed >= total
    return is_all or not collected.starts or not sources.get(collected.source).has_lists


def _gone(con: duckdb.DuckDBPyConnection, collected: Collected) -> list[str]:
    """The listings whose own pages are gone (404): that is an answer of the shop, and no failure of the crawl."""
    missing = {address for address, failure in collected.missed if isinstance(failure, NotFound)}
    if not missing:
        return []
    return [listing for listing, url in offers.open_listings(con, collected.source) if addresses.redact(url) in missing]


def held_by_the_gate(rows: Sequence[Row], source: str, reasons: Mapping[str, str]) -> list[tuple[Row, str]]:
    """The rows whose price the gate holds, each with the reason to record. `reasons` is why it holds a price, by listing."""
    ids = [(offers.listing_id(source, row.item), row) for row in rows if isinstance(row.item, Offer)]
    ids += [(others.offer_id(source, row.item), row) for row in rows if isinstance(row.item, CloudOffer)]
    return [(row, f"price held: {reasons[listing]}") for listing, row in ids if listing in reasons]


def _conflicts(source: str, first: Sequence[Row], repeats: Sequence[Row]) -> list[IssueOfPage]:
    """An issue for each repeated row that states another price, score or rate than the row that counts."""
    if not repeats:
        return []
    first_items: dict[object, Item] = {others.key_of(source, row.item): row.item for row in first}
    issues: list[IssueOfPage] = []
    for row in repeats:
        first_item = first_items[others.key_of(source, row.item)]
        figures_before, figures_now = (
            [getattr(item, name, None) for name in ("price", "score", "rate")] for item in (first_item, row.item)
        )
        if figures_before != figures_now:
            what = getattr(row.item, "title", None) or getattr(row.item, "gpu_name", None) or row.item.KIND
            was, now = (
                next((str(figure) for figure in figures if figure is not None), "none")
                for figures in (figures_before, figures_now)
            )
            message = f"{what!r} is there twice, with {was} and {now}; the first counts"
            url = getattr(row.item, "url", None)
            issues.append((Issue(code="conflicting_duplicate", message=message, url=url), row.snapshot_sha256))
    return issues


def _has_expired(item: Item, day: date) -> bool:
    """Whether the item is an offer that was valid only until an earlier day."""
    return isinstance(item, Offer) and item.valid_until is not None and item.valid_until < day


def _digest(collected: Collected, day: date) -> str:
    """Fingerprint of a batch: its rows, its contract, and which rows have expired.

    If two fingerprints are equal, loading the batch again would change nothing.
    """
    digest = hashlib.sha256(f"{source_contract(collected.source)!r}{collected.is_complete}".encode())
    for item, sha256 in collected.rows:
        digest.update(f"{item!r}{sha256}{_has_expired(item, day)}".encode())
    return digest.hexdigest()
