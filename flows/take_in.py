"""Take one source's batch into the warehouse: duplicates out, contract, load, and a line on how it went."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import datetime

import duckdb

from expectations.check import check_batch
from expectations.contract import source_contract
from extract import source as sources
from extract.collect import Collected
from extract.items import Issue, Item, Offer, to_json
from flows.context import Context
from flows.summary import SourceOutcome
from warehouse.load import offers, others
from warehouse.load.batch import Batch, ChangeSet, Row, split_duplicates
from warehouse.load.stage import append


def take_in(con: duckdb.DuckDBPyConnection, context: Context, collected: Collected, changed: set[str]) -> SourceOutcome:
    """Check and load one batch; adds the tables that it changed to `changed`.

    A batch that is byte for byte the one that was loaded last is neither checked nor loaded again: its outcome stands.
    """
    started = time.perf_counter()
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
        digest = _digest(collected)
        if _last_digest(con, collected.source) == digest:
            _repeat(con, context, outcome)
        else:
            _check_and_load(con, context, collected, outcome, issues, changed)
        if not outcome.is_failure:
            _remember(con, context, collected.source, digest)
    outcome.issues = len(issues)
    append(
        con,
        "ops.issue",
        [
            (context.run_id, collected.source, i.code, i.severity, i.message, i.where, i.text, i.url, sha256)
            for i, sha256 in issues
        ],
    )
    _set_state(con, context, outcome)
    outcome.seconds = time.perf_counter() - started
    return outcome


def _check_and_load(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    collected: Collected,
    outcome: SourceOutcome,
    issues: list[tuple[Issue, str | None]],
    changed: set[str],
) -> None:
    contract = source_contract(collected.source)
    rows = [Row(item, sha256) for item, sha256 in collected.rows]
    first, repeats = split_duplicates(rows, lambda item: others.key_of(collected.source, item))
    issues += _conflicts(collected.source, first, repeats)
    verdict = check_batch(contract, [row.item for row in first])
    outcome.parsed, outcome.duplicate = len(rows), len(repeats)
    issues += [(Issue(code="contract_warning", message=warning), None) for warning in verdict.warnings]
    held = {position: first[position] for position in verdict.quarantined}
    if verdict.refusal is not None:
        outcome.status, outcome.reason = "refused", verdict.refusal
        # Nothing of the batch is used, so that is what its account says.
        outcome.quarantined, outcome.loaded = len(first), 0
        held = dict(enumerate(first))
    else:
        outcome.quarantined = len(held)
        outcome.loaded = len(first) - len(held)
        accepted = [row for position, row in enumerate(first) if position not in held]
        batch = Batch(collected.source, context.as_of, accepted, collected.is_complete, tuple(held.values()))
        changes = _load(con, batch)
        changed.update(changes.changed)
        issues += [(issue, None) for _, issue in changes.issues]
        outcome.changed = changes.total
        if not collected.is_complete:
            outcome.status, outcome.reason = "partial", "some pages could not be read; see ops.issue"
    whole = f"whole batch refused: {outcome.reason}"
    append(
        con,
        "ops.quarantine",
        [
            (context.run_id, collected.source, row.item.KIND, verdict.quarantined.get(position, whole),
             json.dumps(to_json(row.item), ensure_ascii=False), row.snapshot_sha256)
            for position, row in held.items()
        ],
    )  # fmt: skip


def _load(con: duckdb.DuckDBPyConnection, batch: Batch) -> ChangeSet:
    previous = _last_success(con, batch.source)
    changes = others.load_rates(con, batch)
    if "core.fx_rate" in changes.changed:
        changes.add("core.price_span", offers.fill_missing_usd(con))
    is_shop = any(isinstance(row.item, Offer) for row in (*batch.rows, *batch.held))
    if is_shop or "offer" in sources.get(batch.source).kinds:
        changes.merge(offers.load(con, batch, previous))
    changes.merge(others.load(con, batch, previous))
    return changes


def _conflicts(source: str, first: list[Row], repeats: list[Row]) -> list[tuple[Issue, str | None]]:
    """An issue for each repeat that states another price than the row that counts."""
    kept: dict[object, Item] = {others.key_of(source, row.item): row.item for row in first}
    issues: list[tuple[Issue, str | None]] = []
    for row in repeats:
        one = kept[others.key_of(source, row.item)]
        if isinstance(row.item, Offer) and isinstance(one, Offer) and row.item.price != one.price:
            message = f"{row.item.title!r} is on the page twice, for {one.price} and {row.item.price}; the first counts"
            issues.append((Issue(code="conflicting_duplicate", message=message, url=row.item.url), row.snapshot_sha256))
    return issues


def _digest(collected: Collected) -> str:
    """Fingerprint of a batch: its rows, issues and contract. Equal means that loading it again would change nothing."""
    digest = hashlib.sha256(f"{source_contract(collected.source)!r}{collected.is_complete}".encode())
    for item, sha256 in collected.rows:
        digest.update(f"{item!r}{sha256}".encode())
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


def _set_state(con: duckdb.DuckDBPyConnection, context: Context, outcome: SourceOutcome) -> None:
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


def settle(con: duckdb.DuckDBPyConnection, context: Context) -> list[str]:
    """Write core.source_freshness anew where a source passed its freshness limit; the tables that changed."""
    con.execute(
        """CREATE OR REPLACE TEMP TABLE freshness AS
           SELECT source, coalesce(date_diff('minute', last_success_at, $now) <= freshness_hours * 60, false) AS is_usable
           FROM ops.source_state""",
        {"now": context.as_of},
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
