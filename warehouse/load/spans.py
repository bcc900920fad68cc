"""Versioned rows: a state is written once with `valid_from`, and closed with `valid_to` when another state is seen.

Nothing that was known on a day is ever rewritten later, so a question as of that day keeps its answer: also the doubt about
a row that a batch did not confirm is a version of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How one table keeps its versions.

    `key` identifies a thing, `state` are the columns whose change makes a new version, `extra` are written with a new
    version but make none. `scope` is an SQL condition on the table `o`: the rows that this batch speaks of. `has_doubt`
    tables have the column `confirmed_until`; a version that begins after it is one that its batch did not confirm.
    Where `history` names a table, that one holds all versions, and `table` the open ones alone: a night then reads what is
    open, however long the history is, and appends to the history. `history_key` is the column that it has in place of the
    key, and the table that has both.
    """

    table: str
    key: Sequence[str]
    state: Sequence[str]
    extra: Sequence[str]
    scope: str
    has_doubt: bool = False
    history: str | None = None
    history_key: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Moved:
    """How many rows were written or closed, and how many things ended; with a history, they stand in the table `leaving`."""

    rows: int
    ended: int


def merge(
    con: duckdb.DuckDBPyConnection,
    spans: Spans,
    incoming: str,
    held: str,
    seen_at: datetime,
    *,
    is_complete: bool,
    previous_success: datetime | None,
) -> Moved:
    """Bring the open rows of `spans` in line with the staged table `incoming`.

    What is absent from a complete batch ends. What is absent from an incomplete one, and what stands in the staged table
    `held`, goes on as a version in doubt: nobody saw it end, and nobody confirmed it. A run that is repeated at the same
    `seen_at` replaces the versions that it wrote itself, so it leaves none of length zero.
    """
    table = spans.table
    times = {"seen_at": seen_at}
    doubt = "o.confirmed_until IS NOT NULL" if spans.has_doubt else "false"
    same_key = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.key)
    same_state = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.state)
    is_held = f"EXISTS (SELECT 1 FROM {held} i WHERE {same_key})"
    # `replaced`: another state is seen; `ended`: it is gone; `doubted`: it may be there, and was not seen; NULL: as it was.
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE verdict AS
            WITH o AS (
                SELECT rowid AS id, {", ".join(spans.key)}, {", ".join(spans.state)}, valid_from, {doubt} AS is_doubted
                FROM {table} o WHERE {spans.scope} {"" if spans.history else "AND valid_to IS NULL"}
            ),
            i AS (SELECT rowid AS seen_id, {", ".join(spans.key)}, {", ".join(spans.state)} FROM {incoming})
            SELECT o.id, i.seen_id, {", ".join(f"coalesce(o.{c}, i.{c}) AS {c}" for c in spans.key)},
                o.valid_from = $seen_at AS is_same_run,
                CASE WHEN o.id IS NULL THEN 'new'
                    WHEN i.seen_id IS NOT NULL THEN CASE WHEN o.is_doubted OR NOT ({same_state}) THEN 'replaced' END
                    WHEN {is_held if is_complete else "true"} THEN
                        CASE WHEN {str(spans.has_doubt).lower()} AND NOT o.is_doubted AND o.valid_from < $seen_at
                            THEN 'doubted' END
                    ELSE 'ended'
                END AS why
            FROM o FULL JOIN i ON {same_key}""",
        times,
    )
    counted = con.execute(
        """SELECT count(*) FILTER (why IN ('new', 'replaced')), count(*) FILTER (why = 'doubted'),
               count(*) FILTER (why <> 'new'), count(*) FILTER (why <> 'new' AND is_same_run),
               count(*) FILTER (why = 'ended') FROM verdict"""
    ).fetchone()
    assert counted is not None
    seen, doubted, closed, again, ended = counted
    ending = {**times, **({"previous": previous_success} if spans.has_doubt else {})}
    if spans.history:
        return Moved(_move(con, spans, incoming, ending, seen=seen, doubted=doubted, closed=closed), ended)
    changed = 0
    if seen:
        changed += _insert_seen(con, spans, incoming, times)
    if doubted:
        changed += _insert_doubted(
            con, spans, f"{table} o WHERE rowid IN (SELECT id FROM verdict WHERE why = 'doubted')", ending
        )
    if again:
        con.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM verdict WHERE why <> 'new' AND is_same_run)")
    if closed > again:
        confirmed = f", confirmed_until = {_CONFIRMED}" if spans.has_doubt else ""
        changed += _count(
            con,
            f"""UPDATE {table} o SET valid_to = $seen_at {confirmed}
                WHERE rowid IN (SELECT id FROM verdict WHERE why <> 'new' AND NOT is_same_run)""",
            ending,
        )
    return Moved(changed, ended)


_CONFIRMED = "coalesce(o.confirmed_until, $previous, o.valid_from)"

Times = Mapping[str, datetime | None]


def _move(
    con: duckdb.DuckDBPyConnection, spans: Spans, incoming: str, ending: Times, *, seen: int, doubted: int, closed: int
) -> int:
    """Write the verdict where the history has a table of its own: a version that ends is written anew, at its end.

    So the history stays in order of time, and no old part of it is rewritten. Rows are found by key, not by row id: DuckDB
    2.0 crashes when it looks up row ids in a table of which some rows were written, and some deleted, by the open
    transaction.
    """
    (key,) = spans.key
    number, source = spans.history_key
    columns = (*spans.state, *spans.extra, "valid_from")
    listed, chosen = ", ".join(columns), ", ".join(f"o.{column}" for column in columns)
    changed = 0
    if closed:
        con.execute(
            f"""CREATE OR REPLACE TEMP TABLE leaving AS
                SELECT o.*, v.why, v.is_same_run, k.{number} FROM {spans.table} o
                JOIN verdict v USING ({key}) JOIN {source} k USING ({key}) WHERE v.why <> 'new'"""
        )
        con.execute(f"DELETE FROM {spans.table} WHERE {key} IN (SELECT {key} FROM leaving)")
        con.execute(
            f"DELETE FROM {spans.history} WHERE valid_to IS NULL AND {number} IN (SELECT {number} FROM leaving)"
        )
        changed += _count(
            con,
            f"""INSERT INTO {spans.history} ({number}, {listed}, confirmed_until, valid_to)
                SELECT o.{number}, {chosen}, {_CONFIRMED}, $seen_at FROM leaving o
                WHERE NOT o.is_same_run ORDER BY o.{number}""",
            ending,
        )
    begun = 0
    if seen:
        begun += _insert_seen(con, spans, incoming, {"seen_at": ending["seen_at"]})
    if doubted:
        begun += _insert_doubted(con, spans, "leaving o WHERE why = 'doubted'", ending)
    if begun:
        con.execute(
            f"""INSERT INTO {spans.history} ({number}, {listed}, confirmed_until)
                SELECT k.{number}, {chosen}, o.confirmed_until FROM {spans.table} o JOIN {source} k USING ({key})
                SEMI JOIN (SELECT {key} FROM verdict WHERE why IN ('new', 'replaced', 'doubted')) v USING ({key})
                ORDER BY k.{number}"""
        )
    return changed + begun


def _insert_seen(con: duckdb.DuckDBPyConnection, spans: Spans, incoming: str, times: Times) -> int:
    columns = ", ".join((*spans.key, *spans.state, *spans.extra))
    return _count(
        con,
        f"""INSERT INTO {spans.table} ({columns}, valid_from) SELECT {columns}, $seen_at FROM {incoming}
            WHERE rowid IN (SELECT seen_id FROM verdict WHERE why IN ('new', 'replaced'))""",
        times,
    )


def _insert_doubted(con: duckdb.DuckDBPyConnection, spans: Spans, relation: str, ending: Times) -> int:
    columns = ", ".join((*spans.key, *spans.state, *spans.extra))
    return _count(
        con,
        f"""INSERT INTO {spans.table} ({columns}, valid_from, confirmed_until)
            SELECT {columns}, $seen_at, coalesce($previous, o.valid_from) FROM {relation}""",
        ending,
    )


def _count(con: duckdb.DuckDBPyConnection, statement: str, parameters: Times) -> int:
    """Run an INSERT or UPDATE and return how many rows it touched."""
    row = con.execute(statement, parameters).fetchone()
    return int(row[0]) if row else 0
