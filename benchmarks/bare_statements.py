"""What a run asks of DuckDB, written down, and asked again with nothing around it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb

from gpuledger.warehouse import publish, schema

CATALOG = publish.CATALOG


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters, or a frame under a name that the next statements read."""

    sql: str
    parameters: Any = None
    frame: Any = None


class _Recorder:
    """A connection that writes down what passes through it."""

    def __init__(self, con: duckdb.DuckDBPyConnection, found: list[Statement]) -> None:
        self._con = con
        self._found = found

    def execute(self, sql: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        self._found.append(Statement(sql, parameters))
        return self._con.execute(sql) if parameters is None else self._con.execute(sql, parameters)

    def begin(self) -> duckdb.DuckDBPyConnection:
        return self.execute("BEGIN")

    def commit(self) -> duckdb.DuckDBPyConnection:
        return self.execute("COMMIT")

    def rollback(self) -> duckdb.DuckDBPyConnection:
        return self.execute("ROLLBACK")

    def register(self, name: str, frame: Any) -> None:
        self._found.append(Statement(name, frame=frame))
        self._con.register(name, frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)


def recorded(work: Callable[[], object]) -> list[Statement]:
    """The statements that `work` sends to its work file, from the first after the file is attached to the last commit."""
    found: list[Statement] = []
    connect = duckdb.connect
    with patch.object(duckdb, "connect", lambda *args, **named: _Recorder(connect(*args, **named), found)):
        work()
    first = next(n for n, s in enumerate(found) if "no_wal_writes" in s.sql)
    last = max(n for n, s in enumerate(found) if s.sql == "COMMIT")
    return found[first + 1 : last + 1]


def replay(statements: list[Statement], base: Path, folder: Path) -> None:
    """Run the statements on a copy of `base`, and publish as a run does: checkpoint, copy, rename."""
    folder.mkdir()
    work = folder / "work.duckdb"
    shutil.copyfile(base, work)
    con = duckdb.connect()
    con.execute(f"{schema.SESSION}; SET memory_limit = '1GB'")
    publish.attach(con, work)
    for statement in statements:
        if statement.frame is not None:
            con.register(statement.sql, statement.frame)
        elif statement.parameters is None:
            con.execute(statement.sql).fetchall()
        else:
            con.execute(statement.sql, statement.parameters).fetchall()
    con.execute(f"CHECKPOINT {CATALOG}; USE memory; DETACH {CATALOG}")
    con.close()
    shutil.copyfile(work, folder / "version.duckdb")
    work.replace(folder / "base.duckdb")
