"""The records of runs in the schema `ops`: each run and its sources, issues, refused rows, and the batch loaded last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import duckdb

from gpuledger.extract.items import Issue, to_json
from gpuledger.warehouse.load.batch import Row
from gpuledger.warehouse.load.stage import append

SourceStatus = Literal["ok", "unchanged", "partial", "degraded", "failed", "refused"]
#: The batch was loaded. This includes degraded sources, as the rows that they showed are good.
_GOOD = "status IN ('ok', 'unchanged', 'partial', 'degraded')"

#: The runs of ops.run that made a file for readers. The view ops.last_run has the same condition; a test compares the two.
IS_PUBLISHED = "status LIKE 'published%'"

#: An issue, with the hash of the archived page that it is about, if any.
IssueOfPage = tuple[Issue, str | None]


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """One source of one run. parsed = loaded + quarantined + duplicate, and a failed source has loaded nothing.

    `drift` has a sentence for each trait of its pages that is no longer usual.
    """

    source: str
    status: SourceStatus
    reason: str | None = None
    pages: int = 0
    pages_unchanged: int = 0
    size_bytes: int = 0
    parsed: int = 0
    loaded: int = 0
    quarantined: int = 0
    duplicate: int = 0
    changed: int = 0
    issues: int = 0
    seconds: float = 0.0
    drift: Sequence[str] = ()

    @property
    def is_failure(self) -> bool:
        """Whether nothing of the source was loaded, so that its last good data stay."""
        return self.status in ("failed", "refused")

    @property
    def needs_somebody(self) -> bool:
        """Whether a person should look at it, as it failed or shows far fewer rows than usual."""
        return self.is_failure or self.status == "degraded"


@dataclass(frozen=True, slots=True)
class PriceChange:
    """One change of a listing, as core.price_change has it."""

    source: str
    title: str
    change: str
    old_price: str
    new_price: str
    currency: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run as `ops.run` keeps it, without its counts."""

    run_id: str
    started_at: datetime
    finished_at: datetime | None
    as_of: datetime
    engine: str
    status: str
    reason: str | None
    sample_night: int | None


_TOTALS = ("parsed", "loaded", "quarantined", "duplicate", "changed", "issues")


def add_run(
    con: duckdb.DuckDBPyConnection, run: Run, sources: Sequence[SourceOutcome], *, rebuilt: int, kept: int
) -> None:
    """Write the row of a run that ended, and a row for each of its sources. `rebuilt` and `kept` count its models."""
    assert run.finished_at is not None
    totals = [sum(getattr(source, name) for source in sources) for name in _TOTALS]
    failed = sum(source.is_failure for source in sources)
    seconds = (run.finished_at - run.started_at).total_seconds()
    append(con, "ops.run", [[*_values(run), *totals, failed, rebuilt, kept, seconds]])
    append(con, "ops.source_run", [
        [run.run_id, s.source, s.status, s.reason, s.pages, s.pages_unchanged, s.size_bytes, s.parsed, s.loaded,
         s.quarantined, s.duplicate, s.changed, s.issues, round(s.seconds, 3)]
        for s in sources
    ])  # fmt: skip


def add_earlier_runs(con: duckdb.DuckDBPyConnection, runs: Iterable[Run]) -> None:
    """Write the rows of runs that could not write their own. Skips runs that are recorded already."""
    known = {run_id for (run_id,) in con.execute("SELECT run_id FROM ops.run").fetchall()}
    nothing_counted = [None] * (len(_TOTALS) + 4)
    append(con, "ops.run", [[*_values(run), *nothing_counted] for run in runs if run.run_id not in known])


def _values(run: Run) -> list[Any]:
    return [
        run.run_id, run.started_at, run.finished_at, run.as_of, run.engine, run.status, run.reason, run.sample_night,
    ]  # fmt: skip


def price_changes(con: duckdb.DuckDBPyConnection, changed_at: datetime) -> list[PriceChange]:
    """The price changes of a run, by source and title."""
    rows = con.execute(
        """SELECT c.source, l.title, c.change, coalesce(c.old_price::VARCHAR, ''), coalesce(c.new_price::VARCHAR, ''),
               coalesce(c.currency, '')
           FROM core.price_change c JOIN core.listing l USING (listing_id)
           WHERE c.changed_at = ? ORDER BY c.source, c.change, l.title, c.listing_id""",
        [changed_at],
    ).fetchall()
    return [PriceChange(*row) for row in rows]


def add_issues(con: duckdb.DuckDBPyConnection, run_id: str, source: str, issues: Sequence[IssueOfPage]) -> None:
    """Record issues of a source."""
    rows = [(run_id, source, i.code, i.severity, i.message, i.where, i.text, i.url, sha) for i, sha in issues]
    append(con, "ops.issue", rows)


def add_quarantined(
    con: duckdb.DuckDBPyConnection, run_id: str, source: str, refused: Sequence[tuple[Row, str]]
) -> None:
    """Record rows that were not loaded, each with the reason."""
    append(con, "ops.quarantine", [
        (run_id, source, row.item.KIND, reason, json.dumps(to_json(row.item), ensure_ascii=False), row.snapshot_sha256)
        for row, reason in refused
    ])  # fmt: skip


def last_good(con: duckdb.DuckDBPyConnection, source: str) -> tuple[str, SourceOutcome]:
    """The run that loaded the source last, and its counts."""
    row = con.execute(
        f"""SELECT run_id, parsed, loaded, quarantined, duplicate FROM ops.source_run
            WHERE source = ? AND {_GOOD} ORDER BY rowid DESC LIMIT 1""",
        [source],
    ).fetchone()
    assert row is not None
    run_id, parsed, loaded, quarantined, duplicate = row
    counted = SourceOutcome(
        source, "ok", parsed=parsed, loaded=loaded, quarantined=quarantined, duplicate=duplicate
    )  # fmt: skip
    return run_id, counted


def repeat_quarantined(con: duckdb.DuckDBPyConnection, run_id: str, source: str, earlier: str) -> None:
    """Record for `run_id` too the rows of a source that the run `earlier` did not load."""
    con.execute(
        """INSERT INTO ops.quarantine SELECT ?, source, kind, reason, item, snapshot_sha256
           FROM ops.quarantine WHERE run_id = ? AND source = ?""",
        [run_id, earlier, source],
    )


def set_state(
    con: duckdb.DuckDBPyConnection, outcome: SourceOutcome, attempted_at: datetime, freshness_hours: int
) -> None:
    """Write the source's row of ops.source_state. A failed attempt keeps the last success and its number of rows."""
    last = "SELECT last_success_at, rows FROM ops.source_state WHERE source = ?"
    succeeded_at, rows = attempted_at, outcome.loaded
    if outcome.is_failure:
        succeeded_at, rows = con.execute(last, [outcome.source]).fetchone() or (None, 0)
    con.execute("DELETE FROM ops.source_state WHERE source = ?", [outcome.source])
    state = (outcome.source, outcome.status, outcome.reason, attempted_at, succeeded_at, freshness_hours, rows)
    append(con, "ops.source_state", [state])


def last_digest(con: duckdb.DuckDBPyConnection, source: str) -> str | None:
    """The fingerprint of the source's last batch."""
    row = con.execute("SELECT content FROM ops.table_content WHERE table_id = ?", [f"batch:{source}"]).fetchone()
    return str(row[0]) if row else None


def set_digest(con: duckdb.DuckDBPyConnection, source: str, digest: str) -> None:
    """Remember the fingerprint of the source's last batch."""
    con.execute("DELETE FROM ops.table_content WHERE table_id = ?", [f"batch:{source}"])
    con.execute("INSERT INTO ops.table_content VALUES (?, ?)", [f"batch:{source}", digest])
