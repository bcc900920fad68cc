"""A statement that a user wrote, answered in a process of its own that can be ended.

DuckDB bounds what a running query takes. What it works out beforehand is under no bound: `SELECT repeat('x', 2000000000)`
took 8 GB and half a minute under a limit of 100 MB and half a second, and no interrupt reached it (measured on DuckDB
2.0.0). So a process has to hold the limits, which answers one statement and ends: starting it takes a tenth of a second.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from gpuledger.extract import child
from gpuledger.warehouse.errors import BadQuery, WarehouseError
from gpuledger.warehouse.paths import DataDir

#: Columns and rows.
Table = tuple[list[str], list[tuple[Any, ...]]]

#: Seconds after its time in which a query ends by itself, and the process starts: on a busy machine that takes a while.
_GRACE_S = 5.0
_RUN = "from gpuledger.warehouse import answering; answering.answer()"


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a statement that a user wrote may use: time, memory as DuckDB writes it, and rows."""

    seconds: float = 60.0
    memory: str = "1GB"
    rows: int = 100_000


USUAL = QueryLimits()


def too_slow(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too long."""
    return BadQuery(
        f"the query took longer than {limits.seconds:g} s: narrow it, or raise sql_timeout_s in the settings"
    )


def too_large(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too much memory."""
    return BadQuery(
        f"the query needs more than {limits.memory} of memory: narrow it, or raise sql_memory_limit in the settings"
    )


def ask(data: DataDir, sql: str, limits: QueryLimits = USUAL) -> Table:
    """Columns and rows of one reading statement that a user wrote, within `limits` whatever it is.

    Raises BadQuery for several statements, for one that writes, for one that goes beyond the limits, and with DuckDB's own
    words where it refuses; and what `read.reader` raises.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=child.environment(),
    ) as process:  # fmt: skip
        try:
            found, said = process.communicate(pickle.dumps((data, sql, limits)), timeout=limits.seconds + _GRACE_S)
        except subprocess.TimeoutExpired:
            raise too_slow(limits) from None
        finally:
            process.kill()
    if not found:
        raise _ended(process.returncode, said.decode(errors="replace"), limits)
    answer = pickle.loads(found)
    if isinstance(answer, Exception):
        raise answer
    table: Table = answer
    return table


def _ended(status: int, said: str, limits: QueryLimits) -> WarehouseError:
    """Why the process left no answer: where memory is refused to a library, that ends by a signal."""
    if status < 0 or "MemoryError" in said or "bad_alloc" in said:
        return too_large(limits)
    reason = (said.strip().splitlines() or ["it said nothing"])[-1]
    return WarehouseError(f"the query could not be answered: its process ended with status {status}: {reason}")
