"""An empty warehouse in memory: copied from one that was made once, as most of the time goes into its comments."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb

from gpuledger.flows.settings.settings import Settings
from gpuledger.transform.assumptions import Assumptions
from gpuledger.warehouse import schema


@contextmanager
def empty_warehouse() -> Iterator[duckdb.DuckDBPyConnection]:
    """The loaded tables without a row, with what every session of ours is set to."""
    with duckdb.connect() as con:
        con.execute(schema.SESSION)
        con.execute(f"ATTACH '{_made()}' AS made (READ_ONLY); COPY FROM DATABASE made TO memory; DETACH made")
        yield con


@contextmanager
def warehouse_with_defaults() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty warehouse with the default settings and assumptions."""
    with empty_warehouse() as con:
        defaults = Settings().for_warehouse()
        con.executemany(
            "INSERT INTO core.setting VALUES (?, ?, ?, ?)", [[name, *words] for name, words in defaults.items()]
        )
        con.executemany(
            "INSERT INTO core.assumption (assumption, amount) VALUES (?, ?)",
            [[one.name, one.value] for one in Assumptions().describe()],
        )
        yield con


@cache
def _made() -> Path:
    file = Path(tempfile.mkdtemp(prefix="gpuledger-empty-")) / "empty.duckdb"
    with duckdb.connect(str(file)) as con:
        schema.create(con)
    return file
