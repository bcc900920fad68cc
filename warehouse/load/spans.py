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
    """

    table: str
    key: Sequence[str]
    state: Sequence[str]
    extra: Sequence[str]
    scope: str
    has_doubt: bool = False


def merge(
    con: duckdb.DuckDBPyConnection,
    spans: Spans,
    incoming: str,
    held: str,
    seen_at: datetime,
    *,
    is_complete: bool,
    previous_success: datetime | None,
) -> int:
    """Bring the open rows of `spans` in line with the staged table `incoming`; return how many rows were written or closed.

    What is absent from a complete batch ends. What is absent from an incomplete one, and what stands in the staged table
    `held`, goes on as a version in doubt: nobody saw it end, and nobody confirmed it. A run that is repeated at the same
    `seen_at` replaces the versions that it wrote itself, so it leaves none of length zero.
    """
    table = spans.table
    keys = ", ".join(spans.key)
    times = {"seen_at": seen_at}
    doubt = "o.confirmed_until IS NOT NULL" if spans.has_doubt else "false"
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE open_span AS
            SELECT o.rowid AS id, {keys}, {", ".join(spans.state)}, o.valid_from, {doubt} AS is_doubted
            FROM {table} o WHERE o.valid_to IS NULL AND {spans.scope}"""
    )
    same_key = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.key)
    same_state = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.state)
    absent = f"NOT EXISTS (SELECT 1 FROM {incoming} i WHERE {same_key})"
    is_held = f"EXISTS (SELECT 1 FROM {held} i WHERE {same_key})"
    ends = f"({absent} AND NOT {is_held})" if is_complete else "false"
    doubted = f"({absent} AND ({is_held} OR {not is_complete}))" if spans.has_doubt else "false"
    # `replaced`: another state is seen; `ended`: it is gone; `doubted`: it may be there, and was not seen.
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE closing AS
            SELECT o.id, o.valid_from = $seen_at AS is_same_run, 'replaced' AS why
            FROM open_span o JOIN {incoming} i ON {same_key} WHERE o.is_doubted OR NOT ({same_state})
            UNION ALL SELECT o.id, o.valid_from = $seen_at, 'ended' FROM open_span o WHERE {ends}
            UNION ALL SELECT o.id, o.valid_from = $seen_at, 'doubted' FROM open_span o
                WHERE NOT o.is_doubted AND o.valid_from < $seen_at AND {doubted}""",
        times,
    )
    counted = con.execute("SELECT count(*) FILTER (why = 'doubted'), count(*) FROM closing").fetchone()
    assert counted is not None
    columns = [*spans.key, *spans.state, *spans.extra]
    changed = _count(
        con,
        f"""INSERT INTO {table} ({", ".join(columns)}, valid_from)
            SELECT {", ".join(f"i.{c}" for c in columns)}, $seen_at FROM {incoming} i
            WHERE NOT EXISTS (SELECT 1 FROM open_span o ANTI JOIN closing USING (id) WHERE {same_key})""",
        times,
    )
    if counted[0]:
        changed += _count(
            con,
            f"""INSERT INTO {table} ({", ".join(columns)}, valid_from, confirmed_until)
                SELECT {", ".join(f"o.{c}" for c in columns)}, $seen_at, coalesce($previous, o.valid_from)
                FROM {table} o WHERE o.rowid IN (SELECT id FROM closing WHERE why = 'doubted')""",
            {**times, "previous": previous_success},
        )
    if counted[1]:
        con.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM closing WHERE is_same_run)")
        confirmed = ", confirmed_until = coalesce(confirmed_until, $previous, valid_from)" if spans.has_doubt else ""
        changed += _count(
            con,
            f"""UPDATE {table} SET valid_to = $seen_at {confirmed}
                WHERE rowid IN (SELECT id FROM closing WHERE NOT is_same_run)""",
            {**times, **({"previous": previous_success} if confirmed else {})},
        )
    return changed


def _count(con: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, datetime | None]) -> int:
    """Run an INSERT or UPDATE and return how many rows it touched."""
    row = con.execute(statement, parameters).fetchone()
    return int(row[0]) if row else 0
