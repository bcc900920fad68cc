"""Take one source's batch into the warehouse: duplicates out, contract, load, and a line on how it went."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb

from gpuledger.expectations.check import Verdict, ask_batch
from gpuledger.expectations.contract import source_contract
from gpuledger.extract import source as sources
from gpuledger.extract.collect import Collected
from gpuledger.extract.items import CloudOffer, Issue, Item, Offer, to_json
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import SourceOutcome
from gpuledger.flows.setup import decisions
from gpuledger.transform.gate import clouds, good_nights, shops
from gpuledger.transform.gate.rules import Bounds
from gpuledger.warehouse.load import offers, others
from gpuledger.warehouse.load.batch import Batch, ChangeSet, Night, Row, split_duplicates
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True)
class News:
    """A batch that is not the one that was loaded last: its rows, those that repeat one, and what its contract says."""

    first: list[Row]
    repeats: list[Row]
    verdict: Callable[[], Verdict]


@dataclass(frozen=True, slots=True)
class Asked:
    """A batch whose verdict was asked for where there is one to ask: not of a failure, nor of what was loaded last."""

    collected: Collected
    digest: str = ""
    news: News | None = None


def ask(con: duckdb.DuckDBPyConnection, context: Context, collected: Collected) -> Asked:
    """Ask for the verdict on a batch, before its turn to be loaded: it may be found meanwhile."""
    if collected.failure is not None:
        return Asked(collected)
    digest = _digest(collected, context.as_of.date())
    if _last_digest(con, collected.source) == digest and _is_settled(con, collected.source):
        return Asked(collected, digest)
    rows = [Row(item, sha256) for item, sha256 in collected.rows]
    first, repeats = split_duplicates(rows, lambda item: others.key_of(collected.source, item))
    verdict = ask_batch(source_contract(collected.source), [row.item for row in first])
    return Asked(collected, digest, News(first, repeats, verdict))


def take_in(con: duckdb.DuckDBPyConnection, context: Context, asked: Asked, changed: set[str]) -> SourceOutcome:
    """Load one batch as its contract says; adds the tables that it changed to `changed`.

    A batch that is byte for byte the one that was loaded last is neither checked nor loaded again: its outcome stands.
    """
    started = time.perf_counter()
    collected = asked.collected
    outcome = SourceOutcome(
        collected.source, "ok", pages=collected.pages, pages_unchanged=collected.pages_unchanged,
        size_bytes=collected.size_bytes,
    )  # fmt: skip
    issues = list(collected.issues)
    if collected.failure is not None:
        failure = collected.failure
        outcome.status, outcome.reason = (
            "failed",
            f"{type(failure).__name__}: {failure.url}: {failure.seen}; {failure.action}",
        )
    else:
        if asked.news is None:
            _repeat(con, context, outcome)
        else:
            _check_and_load(con, context, collected, asked.news, outcome, issues, changed)
        if not outcome.is_failure:
            _remember(con, context, collected.source, asked.digest)
            rows = outcome.parsed - outcome.duplicate
            good_nights.note(
                con, collected.source, good_nights.GoodNight(context.as_of, rows, outcome.status != "partial")
            )
            changed.add("core.source_night")
    outcome.issues = len(issues)
    note_issues(con, context, collected.source, issues)
    set_state(con, context, outcome)
    outcome.seconds = time.perf_counter() - started
    return outcome


def note_issues(
    con: duckdb.DuckDBPyConnection, context: Context, source: str, issues: Sequence[tuple[Issue, str | None]]
) -> None:
    """Put issues of a source on record, each with the hash of the archived page that it speaks of, if it does."""
    rows = [(context.run_id, source, i.code, i.severity, i.message, i.where, i.text, i.url, sha) for i, sha in issues]
    append(con, "ops.issue", rows)


def _check_and_load(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    collected: Collected,
    news: News,
    outcome: SourceOutcome,
    issues: list[tuple[Issue, str | None]],
    changed: set[str],
) -> None:
    first, repeats = news.first, news.repeats
    issues += _conflicts(collected.source, first, repeats)
    verdict = news.verdict()
    outcome.parsed, outcome.duplicate = len(first) + len(repeats), len(repeats)
    issues += [(Issue(code="contract_warning", message=warning), None) for warning in verdict.warnings]
    held = {position: first[position] for position in verdict.quarantined}
    if verdict.refusal is not None:
        outcome.status, outcome.reason = "refused", verdict.refusal
        # Nothing of the batch is used, so that is what its account says.
        outcome.quarantined, outcome.loaded = len(first), 0
        held = dict(enumerate(first))
    else:
        expired = {
            p: row for p, row in enumerate(first) if p not in held and _has_expired(row.item, context.as_of.date())
        }
        outcome.quarantined = len(held) + len(expired)
        outcome.loaded = len(first) - outcome.quarantined
        accepted = [row for position, row in enumerate(first) if position not in held and position not in expired]
        batch = Batch(collected.source, context.as_of, accepted, collected.is_complete, tuple(held.values()))
        loaded = load_batch(
            con, batch, context.settings.gate_bounds(), decisions.releases(context.data, context.started_at)
        )
        changed.update(loaded.changes.changed)
        issues += [(issue, None) for _, issue in loaded.changes.issues]
        outcome.changed = loaded.changes.total
        outcome.quarantined += loaded.held
        outcome.loaded -= loaded.held
        if loaded.held:
            _quarantine_held(con, context, collected.source, first)
        if not loaded.is_complete:
            outcome.status = "partial"
            outcome.reason = (
                "fewer rows than usual: absent listings are kept until the next run says so again"
                if collected.is_complete
                else "some pages could not be read; see ops.issue"
            )
        # An expired offer has ended, unlike one that a contract refused, but it is on record like that one.
        held |= expired
    whole = f"whole batch refused: {outcome.reason}"
    expiry = "the offer was valid until {} only"
    append(
        con,
        "ops.quarantine",
        [
            (context.run_id, collected.source, row.item.KIND,
             verdict.quarantined.get(position) or (
                 whole if outcome.is_failure else expiry.format(getattr(row.item, "valid_until", None))
             ),
             json.dumps(to_json(row.item), ensure_ascii=False), row.snapshot_sha256)
            for position, row in held.items()
        ],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a checked batch: what changed, how many prices the gate held, and whether absence means the end."""

    changes: ChangeSet
    held: int
    is_complete: bool


def load_batch(
    con: duckdb.DuckDBPyConnection, batch: Batch, bounds: Bounds, released: Sequence[tuple[str, Decimal]]
) -> Loaded:
    """Load a checked batch: exchange rates, offers and cloud rates through the price gate, then the rest."""
    past = good_nights.past(con, batch.source, batch.seen_at, bounds)
    changes = others.load_rates(con, batch)
    held, is_complete = 0, batch.is_complete
    is_shop = any(isinstance(row.item, Offer) for row in (*batch.rows, *batch.held))
    if is_shop or "offer" in sources.get(batch.source).kinds:
        offers.stage_batch(con, batch)
        loaded = load_staged(con, batch.night, bounds, past, released)
        changes.merge(loaded.changes)
        day = batch.seen_at.astimezone(UTC).date()
        seen = f"""(SELECT currency, DATE '{day}' AS day, count(*) AS prices
                    FROM incoming_offer WHERE price IS NOT NULL GROUP BY ALL)"""
        changes.issues += [(batch.source, issue) for issue in offers.missing_rates(con, seen)]
        held, is_complete = loaded.held, loaded.is_complete
        if "core.price_open" in loaded.changes.changed:
            changes.add("core.price_change", offers.record_changes(con, batch.source, batch.seen_at))
    is_cloud = any(isinstance(row.item, CloudOffer) for row in (*batch.rows, *batch.held))
    if is_cloud or "cloud_offer" in sources.get(batch.source).kinds:
        others.stage_cloud(con, batch)
        verdict = clouds.hold(con, batch.night, bounds, past, released)
        changes.add("core.held_price", max(len(verdict.held), verdict.held_before))
        held, is_complete = held + len(verdict.held), is_complete and verdict.is_long
        ids = {found.compared.listing_id for found in verdict.held}
        batch = replace(others.hold_cloud(batch, ids), is_complete=is_complete)
    changes.merge(others.load(con, batch, past[0].seen_at if past else None))
    return Loaded(changes, held, is_complete)


def load_staged(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    past: Sequence[good_nights.GoodNight],
    released: Sequence[tuple[str, Decimal]],
) -> Loaded:
    """Load staged offers through the price gate; see `shops.hold` and `offers.load`."""
    verdict = shops.hold(con, night, bounds, past, released)
    is_complete = night.is_complete and verdict.is_long
    previous = past[0].seen_at if past else None
    changes = offers.load(con, replace(night, is_complete=is_complete), previous)
    # Also where the last of them was let go.
    changes.add("core.held_price", max(len(verdict.held), verdict.held_before))
    return Loaded(changes, len(verdict.held), is_complete)


def _quarantine_held(con: duckdb.DuckDBPyConnection, context: Context, source: str, rows: Sequence[Row]) -> None:
    """Put the rows whose price the gate held on record, with its reason."""
    found = con.execute("SELECT listing_id, reason FROM core.held_price WHERE source = ?", [source]).fetchall()
    reasons = dict(found)
    ids = [(offers.listing_id(source, row.item), row) for row in rows if isinstance(row.item, Offer)]
    ids += [(others.offer_id(source, row.item), row) for row in rows if isinstance(row.item, CloudOffer)]
    append(
        con,
        "ops.quarantine",
        [
            (context.run_id, source, row.item.KIND, f"price held: {reasons[listing]}",
             json.dumps(to_json(row.item), ensure_ascii=False), row.snapshot_sha256)
            for listing, row in ids
            if listing in reasons
        ],
    )  # fmt: skip


def _is_settled(con: duckdb.DuckDBPyConnection, source: str) -> bool:
    """Nothing of the source waits to be seen again: no held price, no doubtful end."""
    row = con.execute(
        """SELECT (SELECT count(*) FROM core.held_price WHERE source = $source) = 0
               AND coalesce((SELECT arg_max(is_complete, seen_at) FROM core.source_night WHERE source = $source), false)""",
        {"source": source},
    ).fetchone()
    return bool(row and row[0])


def _conflicts(source: str, first: list[Row], repeats: list[Row]) -> list[tuple[Issue, str | None]]:
    """An issue for each repeat that states another price, score or rate than the row that counts."""
    if not repeats:
        return []
    kept: dict[object, Item] = {others.key_of(source, row.item): row.item for row in first}
    issues: list[tuple[Issue, str | None]] = []
    for row in repeats:
        one = kept[others.key_of(source, row.item)]
        said, says = ([getattr(item, name, None) for name in ("price", "score", "rate")] for item in (one, row.item))
        if said != says:
            what = getattr(row.item, "title", None) or getattr(row.item, "gpu_name", None) or row.item.KIND
            was, now = (
                next((str(figure) for figure in figures if figure is not None), "none") for figures in (said, says)
            )
            message = f"{what!r} is there twice, with {was} and {now}; the first counts"
            url = getattr(row.item, "url", None)
            issues.append((Issue(code="conflicting_duplicate", message=message, url=url), row.snapshot_sha256))
    return issues


def _has_expired(item: Item, day: date) -> bool:
    """A quote that was valid until an earlier day can be had no more."""
    return isinstance(item, Offer) and item.valid_until is not None and item.valid_until < day


def _digest(collected: Collected, day: date) -> str:
    """Fingerprint of a batch: its rows, contract and which of them have expired. Equal means that loading it again would
    change nothing.
    """
    digest = hashlib.sha256(f"{source_contract(collected.source)!r}{collected.is_complete}".encode())
    for item, sha256 in collected.rows:
        digest.update(f"{item!r}{sha256}{_has_expired(item, day)}".encode())
    return digest.hexdigest()


def _last_digest(con: duckdb.DuckDBPyConnection, source: str) -> str | None:
    row = con.execute("SELECT content FROM ops.table_content WHERE table_id = ?", [f"batch:{source}"]).fetchone()
    return str(row[0]) if row else None


def _remember(con: duckdb.DuckDBPyConnection, context: Context, source: str, digest: str) -> None:
    con.execute("DELETE FROM ops.table_content WHERE table_id = ?", [f"batch:{source}"])
    con.execute("INSERT INTO ops.table_content VALUES (?, ?)", [f"batch:{source}", digest])


def _repeat(con: duckdb.DuckDBPyConnection, context: Context, outcome: SourceOutcome) -> None:
    """The account of the last good batch, which this one equals; its quarantined rows are on record again."""
    row = con.execute(
        """SELECT run_id, parsed, loaded, quarantined, duplicate FROM ops.source_run
           WHERE source = ? AND status IN ('ok', 'unchanged', 'partial') ORDER BY rowid DESC LIMIT 1""",
        [outcome.source],
    ).fetchone()
    assert row is not None
    run_id, outcome.parsed, outcome.loaded, outcome.quarantined, outcome.duplicate = row
    outcome.status = "unchanged"
    con.execute(
        """INSERT INTO ops.quarantine SELECT ?, source, kind, reason, item, snapshot_sha256
           FROM ops.quarantine WHERE run_id = ? AND source = ?""",
        [context.run_id, run_id, outcome.source],
    )


def _last_success(con: duckdb.DuckDBPyConnection, source: str) -> datetime | None:
    row = con.execute("SELECT last_success_at FROM ops.source_state WHERE source = ?", [source]).fetchone()
    return row[0] if row else None


def set_state(con: duckdb.DuckDBPyConnection, context: Context, outcome: SourceOutcome) -> None:
    """Write the source's row of ops.source_state: a failed attempt leaves the last success where it is."""
    last = _last_success(con, outcome.source)
    rows = con.execute("SELECT rows FROM ops.source_state WHERE source = ?", [outcome.source]).fetchone()
    success, count = (last, rows[0] if rows else 0) if outcome.is_failure else (context.as_of, outcome.loaded)
    con.execute("DELETE FROM ops.source_state WHERE source = ?", [outcome.source])
    hours = sources.get(outcome.source).freshness_hours
    append(
        con,
        "ops.source_state",
        [(outcome.source, outcome.status, outcome.reason, context.as_of, success, hours, count)],
    )


def _newest(con: duckdb.DuckDBPyConnection, context: Context) -> datetime:
    """Time of the newest run: a backfill of old nights makes no other source older or younger."""
    row = con.execute("SELECT max(as_of) FROM ops.run WHERE status LIKE 'published%'").fetchone()
    return max(context.as_of, row[0]) if row and row[0] else context.as_of


def settle(con: duckdb.DuckDBPyConnection, context: Context) -> list[str]:
    """Write core.source_freshness anew where a source passed its freshness limit; the tables that changed."""
    con.execute(
        """CREATE OR REPLACE TEMP TABLE freshness AS
           SELECT source, coalesce(date_diff('minute', last_success_at, $now) <= freshness_hours * 60, false) AS is_usable
           FROM ops.source_state""",
        {"now": _newest(con, context)},
    )
    differs = con.execute(
        """SELECT count(*) FROM (
               (FROM freshness EXCEPT FROM core.source_freshness)
               UNION ALL (FROM core.source_freshness EXCEPT FROM freshness)
           )"""
    ).fetchone()
    if not differs or not differs[0]:
        return []
    con.execute("DELETE FROM core.source_freshness")
    con.execute("INSERT INTO core.source_freshness FROM freshness")
    return ["core.source_freshness"]
