"""Versioned rows: a state is written once with `valid_from`, and closed with `valid_to` when another state is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How one table keeps its versions.

    `key` identifies a thing, `state` are the columns whose change makes a new version, `extra` are written with a new
    version but make none. `scope` is an SQL condition on the table: the rows that this batch speaks of.
    """

    table: str
    key: Sequence[str]
    state: Sequence[str]
    extra: Sequence[str]
    scope: str = "true"
    has_unseen: bool = False


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

    A run that is repeated at the same `seen_at` replaces the version that it wrote itself, so it leaves no span of length
    zero. Where the batch is not complete, absent rows stay open and get `confirmed_until`: they were not seen, but nobody
    saw them end. So do rows whose key is in the staged table `held`.
    """
    table = spans.table
    same_key = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.key)
    same_state = " AND ".join(f"o.{c} IS NOT DISTINCT FROM i.{c}" for c in spans.state)
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE superseded AS
            SELECT o.rowid AS id, o.valid_from = $seen_at AS is_same_run
            FROM {table} o JOIN {incoming} i ON {same_key}
            WHERE o.valid_to IS NULL AND {spans.scope} AND NOT ({same_state})""",
        {"seen_at": seen_at},
    )
    closing = "valid_to = $seen_at"
    if spans.has_unseen and previous_success is not None:
        closing += f", confirmed_until = coalesce(confirmed_until, '{previous_success.isoformat()}'::TIMESTAMPTZ)"
    changed = _count(
        con,
        f"UPDATE {table} SET {closing} WHERE rowid IN (SELECT id FROM superseded WHERE NOT is_same_run)",
        seen_at,
    )
    con.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM superseded WHERE is_same_run)")
    absent = f"""o.valid_to IS NULL AND {spans.scope}
                 AND NOT EXISTS (SELECT 1 FROM {incoming} i WHERE {same_key})"""
    unconfirmed = absent
    if is_complete:
        is_held = f"EXISTS (SELECT 1 FROM {held} i WHERE {same_key})"
        absent, unconfirmed = f"{absent} AND NOT {is_held}", f"{absent} AND {is_held}"
    if is_complete:
        con.execute(f"DELETE FROM {table} o WHERE {absent} AND o.valid_from = $seen_at", {"seen_at": seen_at})
        changed += _count(con, f"UPDATE {table} o SET {closing} WHERE {absent}", seen_at)
    if spans.has_unseen and previous_success is not None:
        changed += _count(
            con,
            f"UPDATE {table} o SET confirmed_until = $seen_at WHERE o.confirmed_until IS NULL AND {unconfirmed}",
            previous_success,
        )
    if spans.has_unseen:
        seen_again = f"""o.confirmed_until IS NOT NULL AND o.valid_to IS NULL AND {spans.scope}
                         AND EXISTS (SELECT 1 FROM {incoming} i WHERE {same_key})"""
        changed += _count(con, f"UPDATE {table} o SET confirmed_until = NULL WHERE {seen_again}", None)
    columns = [*spans.key, *spans.state, *spans.extra]
    return changed + _count(
        con,
        f"""INSERT INTO {table} ({", ".join(columns)}, valid_from)
            SELECT {", ".join(f"i.{c}" for c in columns)}, $seen_at FROM {incoming} i
            WHERE NOT EXISTS (SELECT 1 FROM {table} o WHERE o.valid_to IS NULL AND {spans.scope} AND {same_key})""",
        seen_at,
    )


def _count(con: duckdb.DuckDBPyConnection, statement: str, seen_at: datetime | None) -> int:
    """Run an INSERT, UPDATE or DELETE and return how many rows it touched."""
    row = con.execute(statement, {"seen_at": seen_at} if "$seen_at" in statement else {}).fetchone()
    return int(row[0]) if row else 0
