"""Runs a statement that a user wrote within bounds of time and memory, in a process of its own that can be ended.

DuckDB bounds the resources of a running query, but not of the planning before it: `SELECT repeat('x', 2000000000)` took
8 GB and half a minute under a limit of 100 MB and half a second, and could not be interrupted (measured on DuckDB 2.0.0). So
the limits are those of a process, which answers one statement and ends. Starting it takes a tenth of a second.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from gpuledger.extract import child
from gpuledger.extract.message import Message
from gpuledger.warehouse.errors import BadQuery, WarehouseError
from gpuledger.warehouse.paths import DataDir

#: Columns and rows.
Table = tuple[list[str], list[tuple[Any, ...]]]

#: Seconds beyond a query's time for the process to start and for the query to end by itself, as a busy machine is slow.
_GRACE_S = 5.0
_RUN = "from gpuledger.warehouse import bounded_query_child; bounded_query_child.answer()"


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a user's statement may use: time, memory as DuckDB writes it, and rows."""

    seconds: float = 60.0
    memory: str = "1GB"
    rows: int = 100_000


USUAL = QueryLimits()


def too_slow(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too long."""
    return BadQuery(Message("warehouse.query_took_longer", seconds=limits.seconds))


def too_large(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too much memory."""
    return BadQuery(Message("warehouse.query_needs_more_memory", memory=limits.memory))


def ask(data: DataDir, sql: str, limits: QueryLimits = USUAL) -> Table:
    """Columns and rows of one reading statement that a user wrote, within `limits` whatever the statement is.

    Raises BadQuery for several statements, for one that writes, for one that exceeds the limits, and with DuckDB's message
    if DuckDB refuses it. Raises also what `read.reader` raises.
    """
    question = pickle.dumps((data, sql, limits))
    try:
        done = child.run("-c", _RUN, content=question, seconds=limits.seconds + _GRACE_S)
    except child.TimeoutExpired:
        raise too_slow(limits) from None
    if not done.stdout:
        raise _ended(done.returncode, done.stderr.decode(errors="replace"), limits)
    answer = pickle.loads(done.stdout)
    if isinstance(answer, Exception):
        raise answer
    table: Table = answer
    return table


def _ended(status: int, stderr: str, limits: QueryLimits) -> WarehouseError:
    """The error for a process that left no answer. If a library gets no memory, the process may end by a signal."""
    if status < 0 or "MemoryError" in stderr or "bad_alloc" in stderr:
        return too_large(limits)
    reason = (stderr.strip().splitlines() or ["it said nothing"])[-1]
    return WarehouseError(Message("warehouse.query_not_answered", status=status, reason=reason))
