"""Versioned rows: a state is written once with `valid_from`, and closed with `valid_to` when another state is seen.

What was known on a day is never rewritten later, so a question about that day keeps its answer. A row that is absent from
an incomplete batch goes on, and states until when it was confirmed. A row that was seen but is held goes on as a version of
its own, which no batch ever confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from gpuledger.warehouse.load.stage import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How one table keeps its versions.

    `key` identifies a thing, and `state` are the columns whose change makes a new version. `extra` columns are written with
    a new version, but a change of them makes none. `has_doubt` tables have the column `confirmed_until`: it is empty if the
    newest batch confirms the row, and before `valid_from` if a batch showed something else that was held.
    """

    table: str
    key: Sequence[str]
    state: Sequence[str]
    extra: Sequence[str]
    has_doubt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A batch in temporary tables: `incoming` has the accepted rows, `held` the rows that are not believed yet."""

    incoming: str
    held: str
    #: The open rows that this batch is about: an SQL condition on their table `o`.
    scope: str
    #: The run's time.
    seen_at: datetime
    #: Whether absent rows have really ended.
    is_complete: bool
    #: Rows that have ended although the batch is incomplete: values of the first column of the key.
    gone: Sequence[str] = ()
    #: Rows that were confirmed since this time have counted without a break, even if not seen. None if it is not known.
    fresh_since: datetime | None = None


def fresh_since(con: duckdb.DuckDBPyConnection, source: str, seen_at: datetime) -> datetime | None:
    """The time since which a source's rows must have been confirmed to count at `seen_at`; None before its first good
    night.
    """
    row = con.execute(
        "SELECT $seen_at - to_hours(freshness_hours) FROM ops.source_state WHERE source = $source",
        {"seen_at": seen_at, "source": source},
    ).fetchone()
    return row[0] if row else None


def judge(con: duckdb.DuckDBPyConnection, spans: Spans, staged: Staged) -> None:
    """Write the temporary table `verdict`: what the staged tables mean for each open row of `spans`, and what is new.

    `id` and `seen_id` are the row ids of the open row and of the incoming one. `why` is one of these:

    - `new`: there is no open row;
    - `replaced`: another state is seen, or the same state after it had ceased to count;
    - `ended`: the row is gone;
    - `doubted`: something is seen that is held;
    - `unseen`: the row is absent, but may still be there;
    - `confirmed`: the row is seen again and had counted without a break;
    - NULL: nothing has changed.
    """
    confirmed = "o.confirmed_until" if spans.has_doubt else "NULL::TIMESTAMPTZ"
    same_key = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.key)
    same_state = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.state)
    is_there = f"NOT list_contains($gone::VARCHAR[], o.{spans.key[0]})" if staged.gone else "true"
    gone = {} if staged.is_complete or not staged.gone else {"gone": [*staged.gone]}
    has_doubt = str(spans.has_doubt).lower()
    is_held = f"EXISTS (SELECT 1 FROM {staged.held} i WHERE {same_key})"
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE verdict AS
            WITH o AS (
                SELECT rowid AS id, {", ".join(spans.key)}, {", ".join(spans.state)}, valid_from,
                    {confirmed} AS confirmed_until
                FROM {spans.table} o WHERE {staged.scope}
            ),
            i AS (SELECT rowid AS seen_id, {", ".join(spans.key)}, {", ".join(spans.state)} FROM {staged.incoming})
            SELECT o.id, i.seen_id, {", ".join(f"coalesce(o.{c}, i.{c}) AS {c}" for c in spans.key)},
                o.valid_from = $seen_at AS is_same_run,
                CASE WHEN o.id IS NULL THEN 'new'
                    WHEN i.seen_id IS NOT NULL THEN CASE
                        WHEN NOT ({same_state}) THEN 'replaced'
                        WHEN o.confirmed_until IS NULL THEN NULL
                        WHEN o.confirmed_until >= greatest(o.valid_from, $fresh_since) THEN 'confirmed'
                        ELSE 'replaced' END
                    WHEN {is_held} THEN CASE
                        WHEN {has_doubt} AND o.valid_from < $seen_at
                            AND (o.confirmed_until IS NULL OR o.confirmed_until >= o.valid_from) THEN 'doubted' END
                    WHEN {"false" if staged.is_complete else is_there} THEN CASE
                        WHEN {has_doubt} AND o.valid_from < $seen_at AND o.confirmed_until IS NULL THEN 'unseen' END
                    ELSE 'ended'
                END AS why
            FROM o FULL JOIN i ON {same_key}""",
        {"seen_at": staged.seen_at, "fresh_since": staged.fresh_since or staged.seen_at, **gone},
    )


def merge(con: duckdb.DuckDBPyConnection, spans: Spans, staged: Staged, previous_success: datetime | None) -> int:
    """Bring the open rows of `spans` in line with the staged rows. Returns how many rows were written or closed.

    A row that is absent from a complete batch ends. A row that is absent from an incomplete batch goes on, with the time
    until which it was confirmed, and a held row goes on as a version in doubt. `previous_success` is the time of the last
    confirmation. A run that is repeated at the same time replaces the versions that it wrote itself, so that none has
    length zero.
    """
    table = spans.table
    times: dict[str, datetime | None] = {"seen_at": staged.seen_at}
    judge(con, spans, staged)
    columns = ", ".join((*spans.key, *spans.state, *spans.extra))
    changed = count(
        con,
        f"""INSERT INTO {table} ({columns}, valid_from) SELECT {columns}, $seen_at FROM {staged.incoming}
            WHERE rowid IN (SELECT seen_id FROM verdict WHERE why IN ('new', 'replaced'))""",
        times,
    )
    confirmed = ""
    if spans.has_doubt:
        times["previous"] = previous_success
        confirmed = ", confirmed_until = coalesce(o.confirmed_until, $previous, o.valid_from)"
        changed += count(
            con,
            f"""UPDATE {table} o SET confirmed_until = CASE v.why WHEN 'unseen' THEN greatest($previous, o.valid_from) END
                FROM verdict v WHERE v.why IN ('unseen', 'confirmed') AND o.rowid = v.id""",
            {"previous": previous_success},
        )
        changed += count(
            con,
            f"""INSERT INTO {table} ({columns}, valid_from, confirmed_until)
                SELECT {columns}, $seen_at, coalesce(o.confirmed_until, $previous, o.valid_from) FROM {table} o
                WHERE rowid IN (SELECT id FROM verdict WHERE why = 'doubted')""",
            times,
        )
    con.execute(
        f"""DELETE FROM {table} WHERE rowid IN (
                SELECT id FROM verdict WHERE why IN ('replaced', 'doubted', 'ended') AND is_same_run)"""
    )
    return changed + count(
        con,
        f"""UPDATE {table} o SET valid_to = $seen_at {confirmed}
            WHERE rowid IN (SELECT id FROM verdict WHERE why IN ('replaced', 'doubted', 'ended') AND NOT is_same_run)""",
        times,
    )
