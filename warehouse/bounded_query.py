"""Runs a statement that a user wrote within bounds of time and memory, in a process of its own that can be ended.

DuckDB bounds the resources of a running query, but not of the planning before it: `SELECT repeat('x', 2000000000)` took
8 GB and half a minute under a limit of 100 MB and half a second, and could not be interrupted (measured on DuckDB 2.0.0). So
the limits are those of a process, which answers one statement and ends. Starting it takes a tenth of a second.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from gpuledger import child
from gpuledger.message import Message
from gpuledger.warehouse.errors import BadQuery, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import is_damage, reader
from gpuledger.warehouse.schema import quote

#: Columns and rows.
Table = tuple[list[str], list[tuple[Any, ...]]]

#: Seconds beyond a query's time for the process to start and for the query to end by itself, as a busy machine is slow.
_GRACE_S = 5.0
_RUN = "from gpuledger.warehouse import bounded_query; bounded_query.answer()"


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a user's statement may use: time, memory as DuckDB writes it, and rows."""

    seconds: float = 60.0
    memory: str = "1GB"
    rows: int = 100_000


USUAL = QueryLimits()


def too_slow(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too long."""
    return BadQuery(Message(
        "the query took longer than {seconds:g} s: narrow it, or raise sql_timeout_s in the settings",
        seconds=limits.seconds,
    ))  # fmt: skip


def too_large(limits: QueryLimits) -> BadQuery:
    """The error for a query that took too much memory."""
    return BadQuery(Message(
        "the query needs more than {memory} of memory: narrow it, or raise sql_memory_limit in the settings",
        memory=limits.memory,
    ))  # fmt: skip


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
    return WarehouseError(Message(
        "the query could not be answered: its process ended with status {status}: {reason}", status=status,
        reason=reason,
    ))  # fmt: skip


# ── in that process ───


#: Bytes in addition to the memory that DuckDB may take: for the rows in Python, for libraries, and for stacks.
_BESIDE = 512 << 20


def answer() -> None:
    """Answer the statement, and end the process."""
    data, sql, limits = pickle.load(sys.stdin.buffer)
    try:
        with reader(data) as con:
            # The third is what this process has now.
            held = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
            allowed = bytes_of(con, limits.memory) + _BESIDE + held
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
        pickled_answer = pickle.dumps(user_query(data, sql, limits))
    except WarehouseError as error:
        pickled_answer = pickle.dumps(error)
    except MemoryError:
        pickled_answer = pickle.dumps(too_large(limits))
    sys.stdout.buffer.write(pickled_answer)
    sys.stdout.buffer.flush()
    os._exit(0)  # a thread of DuckDB may still be at work on the interrupted query


def bytes_of(con: duckdb.DuckDBPyConnection, size: str) -> int:
    """The bytes of a size as DuckDB writes it, such as 2GB. Raises BadQuery for any other text."""
    try:
        con.execute(f"SET memory_limit = {quote(size)}")
        ((written,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    except duckdb.Error as error:
        raise BadQuery(Message("sql_memory_limit: {reason}", reason=str(error).splitlines()[0])) from None
    number, unit = str(written).split()
    return int(float(number) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit))


#: How many letters of DuckDB's message about a query are repeated, as it quotes the query and the texts in it.
_MOST_SAID = 2_000


def user_query(data: DataDir, sql: str, limits: QueryLimits = USUAL) -> Table:
    """The rows of one reading statement that a user wrote, in this process, which `ask` limits from outside.

    Raises BadQuery for several statements, for one that writes, for one that goes beyond the limits, and with DuckDB's own
    words where it refuses. The connection cannot reach other files or the network, so a pasted query can do no harm.
    """
    # Without a folder to spill to, because a query that needs more memory would fill the disk instead.
    with reader(data, spills=False) as con:
        con.execute(f"SET memory_limit = {quote(limits.memory)}; SET lock_configuration = true")
        alarm = threading.Timer(limits.seconds, con.interrupt)
        alarm.daemon = True
        alarm.start()
        try:
            return _rows_of(con, sql, limits)
        except duckdb.InterruptException:
            raise too_slow(limits) from None
        except (duckdb.OutOfMemoryException, MemoryError):
            raise too_large(limits) from None
        except duckdb.Error as error:
            if is_damage(error):
                raise
            raise BadQuery(str(error).strip()[:_MOST_SAID]) from None
        except (ValueError, OverflowError) as error:
            # A value that Python cannot express, such as a day after the year 9999.
            raise BadQuery(
                Message("a value cannot be shown ({error}): cast it, as in value::VARCHAR", error=error)
            ) from None
        finally:
            alarm.cancel()


def _rows_of(con: duckdb.DuckDBPyConnection, sql: str, limits: QueryLimits) -> Table:
    statements = con.extract_statements(sql)
    if len(statements) != 1:
        raise BadQuery(Message("one statement at a time, please: this is {count}", count=len(statements)))
    if statements[0].type.name not in ("SELECT", "EXPLAIN", "MULTI"):
        raise BadQuery(Message(
            "only reading is possible here, and this is a statement of type {type}", type=statements[0].type.name,
        ))  # fmt: skip
    result = con.execute(statements[0])
    rows = result.fetchmany(limits.rows + 1)
    if len(rows) > limits.rows:
        raise BadQuery(Message(
            "more than {rows:,} rows: add a LIMIT, raise sql_max_rows in the settings, or let `gpuledger export` "
            "write whole tables", rows=limits.rows,
        ))  # fmt: skip
    if _are_deep(rows):
        raise BadQuery(
            Message("a value is nested more than {deepest} times: cast it, as in value::VARCHAR", deepest=_DEEPEST)
        )
    return [column[0] for column in result.description or []], rows


#: How deep lists and structures may be nested. Pickle, JSON and the protocol of agents recurse into a value, and each gives
#: up at another depth.
_DEEPEST = 100


def _are_deep(rows: list[tuple[Any, ...]]) -> bool:
    """Whether a value is nested too deep to be shown. For VARIANT, the type does not tell it."""
    level = [value for row in rows for value in row]
    for _ in range(_DEEPEST + 1):
        level = [inner for value in level if isinstance(value, list | tuple | dict) for inner in _parts(value)]
    return bool(level)


def _parts(value: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> Iterable[Any]:
    return (*value, *value.values()) if isinstance(value, dict) else value
