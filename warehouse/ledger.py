"""The records of runs in the schema `ops`: each run and its sources, issues, refused rows, and the batch loaded last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

import duckdb
import msgspec

from gpuledger.items import Issue, to_json
from gpuledger.warehouse import table_content
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

    `emptied` has a sentence for each column that went empty.
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
    emptied: Sequence[str] = ()

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


#: A time of a record, which always has its zone.
Time = Annotated[datetime, msgspec.Meta(tz=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run from its start to its end. While it runs, or if it was killed, `finished_at` is None and `status` is
    `interrupted`. `ops.run` keeps it, but for the last two: `tick` is the scheduled time that the run stands for, if any.
    `is_published` if it took in sources and was published, so that a replay repeats it.
    """

    run_id: str
    started_at: Time
    finished_at: Time | None = None
    as_of: Time
    engine: str
    status: str = "interrupted"
    reason: str | None = None
    sample_night: int | None
    tick: Time | None = None
    is_published: bool = False


_TOTALS = ("parsed", "loaded", "quarantined", "duplicate", "changed", "issues")


def add_run(
    con: duckdb.DuckDBPyConnection, run: Run, sources: Sequence[SourceOutcome], *, rebuilt: int, kept: int
) -> None:
    """Write the row of a run that ended, and a row for each of its sources. `rebuilt` and `kept` count its models."""
    assert run.finished_at is not None
    totals = [sum(getattr(source, name) for source in sources) for name in _TOTALS]
    failed = sum(source.is_failure for source in sources)
    seconds = (run.finished_at - run.started_at).total_seconds()
    append(con, "ops.run", [[*astuple(run)[:-2], *totals, failed, rebuilt, kept, seconds]])
    # The columns of the table are the fields of an outcome but for the last, what went empty.
    rows = [astuple(replace(source, seconds=round(source.seconds, 3)))[:-1] for source in sources]
    append(con, "ops.source_run", [(run.run_id, *row) for row in rows])


def run_starts(con: duckdb.DuckDBPyConnection) -> dict[str, datetime]:
    """When each run of the warehouse started, by its id."""
    return dict(con.execute("SELECT run_id, started_at FROM ops.run WHERE started_at IS NOT NULL").fetchall())


def add_earlier_runs(con: duckdb.DuckDBPyConnection, runs: Iterable[Run]) -> None:
    """Write the rows of runs that could not write their own. Skips runs that are recorded already."""
    known = {run_id for (run_id,) in con.execute("SELECT run_id FROM ops.run").fetchall()}
    nothing_counted = [None] * (len(_TOTALS) + 4)
    append(con, "ops.run", [[*astuple(run)[:-2], *nothing_counted] for run in runs if run.run_id not in known])


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


@dataclass(frozen=True, slots=True)
class LastBatch:
    """The batch that a source gave last: the run that loaded it, what it counted, and its fingerprint, if that is kept."""

    run_id: str
    counted: SourceOutcome
    digest: str | None


def last_batches(con: duckdb.DuckDBPyConnection) -> dict[str, LastBatch]:
    """The last good batch of each source, by source."""
    rows = con.execute(
        f"""SELECT b.source, b.batch.run_id, b.batch.parsed, b.batch.loaded, b.batch.quarantined, b.batch.duplicate,
                c.content
            FROM (
                SELECT source, max_by(
                    {{run_id: run_id, parsed: parsed, loaded: loaded, quarantined: quarantined, duplicate: duplicate}}, rowid
                ) AS batch
                FROM ops.source_run WHERE {_GOOD} GROUP BY source
            ) b LEFT JOIN ops.table_content c ON c.table_id = 'batch:' || b.source"""
    ).fetchall()
    return {
        source: LastBatch(
            run_id,
            SourceOutcome(
                source, "ok", parsed=parsed, loaded=loaded, quarantined=quarantined, duplicate=duplicate
            ),
            digest,
        )
        for source, run_id, parsed, loaded, quarantined, duplicate, digest in rows
    }  # fmt: skip


def repeat_quarantined(con: duckdb.DuckDBPyConnection, run_id: str, earlier: Mapping[str, str]) -> None:
    """Put the rows that an earlier run did not load on record for `run_id` too; `earlier` is that run, by source."""
    if earlier:
        con.execute(
            """INSERT INTO ops.quarantine SELECT ?, q.source, q.kind, q.reason, q.item, q.snapshot_sha256
               FROM ops.quarantine q JOIN (SELECT unnest(?) AS source, unnest(?) AS run_id) e
                   ON q.source = e.source AND q.run_id = e.run_id""",
            [run_id, [*earlier], [*earlier.values()]],
        )


def set_states(
    con: duckdb.DuckDBPyConnection, attempted_at: datetime, attempts: Sequence[tuple[SourceOutcome, int]]
) -> None:
    """Write the sources' rows of ops.source_state: a failed attempt leaves the last success and its rows where they are.

    Beside each outcome stands for how many hours its rows count as fresh.
    """
    before: dict[str, tuple[datetime | None, int]] = {}
    if any(outcome.is_failure for outcome, _ in attempts):
        rows = con.execute("SELECT source, last_success_at, rows FROM ops.source_state").fetchall()
        before = {source: (succeeded_at, count) for source, succeeded_at, count in rows}
    states = []
    for outcome, freshness_hours in attempts:
        succeeded_at, loaded = (
            before.get(outcome.source, (None, 0)) if outcome.is_failure else (attempted_at, outcome.loaded)
        )
        states.append(
            (outcome.source, outcome.status, outcome.reason, attempted_at, succeeded_at, freshness_hours, loaded)
        )
    sources = [outcome.source for outcome, _ in attempts]
    con.execute("DELETE FROM ops.source_state WHERE list_contains(?, source)", [sources])
    append(con, "ops.source_state", states)


def set_digests(con: duckdb.DuckDBPyConnection, digests: Mapping[str, str]) -> None:
    """Remember the fingerprints of the batches that the sources gave last, by source."""
    table_content.put(con, {f"batch:{source}": digest for source, digest in digests.items()})
