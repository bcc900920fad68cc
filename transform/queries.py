"""What all answers share: their type, the SQL of views, and the newest published run, whose prices these are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: Has a folder for every table, view and macro that is built.
FOLDER_OF_MODELS = Path(__file__).with_name("models")

#: Whether an offer is known by a price: the newest one, or behind that the last one before its source became too old.
KNOWN = "price_usd IS NOT NULL AND coalesce(exclusion, 'source too old') = 'source too old'"
#: The mark of such a price: stale too if its source is read, but has not shown it for too long, and with the day of the rate
#: at which it was converted if that is more than ten days from the newest run.
MARK = """nullif(concat_ws(', ', CASE WHEN {is_fresh} THEN core.price_mark({source})
    ELSE concat_ws(', ', 'stale', nullif(replace(core.price_mark({source}), 'stale, ', ''), 'stale')) END,
    'rate of ' || CASE WHEN abs({fx_day} - (SELECT max(as_of)::DATE FROM ops.run)) > 10 THEN {fx_day} END), '')"""

#: The column names and the rows of an answer.
Rows = tuple[list[str], list[tuple[Any, ...]]]
_Row = TypeVar("_Row")


def view(name: str) -> str:
    """The SELECT of a view, to use in its place. A file that an earlier program published may not have the view yet."""
    return f"({select_of(name)})"


def select_of(name: str) -> str:
    """The SELECT of a model (`mart.value`), so that a caller can replace a relation that it reads with another."""
    schema, _, table = name.partition(".")
    return (FOLDER_OF_MODELS / schema / table / "query.sql").read_text(encoding="utf-8")


def columns_of(row: type) -> str:
    """The fields of a row's class as a list of columns."""
    return ", ".join(row.__annotations__)


def rows_of(data: DataDir, row: type[_Row], rest: str, parameters: Sequence[object] = ()) -> list[_Row]:
    """The rows of a SELECT as a class whose fields are its columns; `rest` is what follows the columns."""
    return [row(*values) for values in query(data, f"SELECT {columns_of(row)} {rest}", parameters)[1]]


@dataclass(frozen=True, slots=True)
class LastRun:
    """The row of ops.last_run, whose comments explain each column, and the time of the newest prices.

    `prices_as_of` is when a shop or a cloud was last read: a run that only takes in measurements makes no price younger.
    """

    run_id: str
    status: str
    reason: str | None
    started_at: datetime
    as_of: datetime
    live_as_of: datetime | None
    sample_as_of: datetime | None
    sample_night: int | None
    is_sample: bool
    prices_as_of: datetime


def last(data: DataDir) -> LastRun | None:
    """The newest published run, None if every run failed or there is no published file."""
    with suppress(NoWarehouse):
        rows = query(data, _last())[1]
        return LastRun(*rows[0]) if rows else None
    return None


def last_in(con: duckdb.DuckDBPyConnection) -> LastRun | None:
    """The newest published run of an open warehouse, None if every run failed."""
    row = con.execute(_last()).fetchone()
    return LastRun(*row) if row else None


def _last() -> str:
    prices = """SELECT max(last_success_at) FROM ops.source_state
        WHERE source IN (SELECT source FROM core.listing UNION SELECT source FROM core.cloud_offer_history)"""
    last_run = f"SELECT *, coalesce(({prices}), as_of) AS prices_as_of FROM {view('ops.last_run')}"
    return f"SELECT {columns_of(LastRun)} FROM ({last_run})"
