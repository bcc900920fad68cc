"""The good nights of a source: what tells a short page from a short list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from gpuledger.transform.gate.rules import Bounds
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True)
class GoodNight:
    """One night on which a source was read well, as core.source_night has it."""

    seen_at: datetime
    rows: int
    is_complete: bool


def is_short(rows: int, bounds: Bounds, past: Sequence[GoodNight]) -> bool:
    """Fewer rows than usual, for the first time: a page that lost half of its list looks like a shop that sold out.

    A second short night in a row, about as short, is believed. `past` are the source's good nights, newest first.
    """
    usual = sorted(good.rows for good in past[: bounds.row_nights])
    if not usual or rows >= usual[len(usual) // 2] * bounds.min_row_share:
        return False
    return past[0].is_complete or abs(rows - past[0].rows) > rows * (1 - bounds.min_row_share)


def note(con: duckdb.DuckDBPyConnection, source: str, night: GoodNight) -> None:
    """Put a good night of a source on record; a repeated run replaces its own row."""
    con.execute("DELETE FROM core.source_night WHERE source = ? AND seen_at = ?", [source, night.seen_at])
    append(con, "core.source_night", [(source, night.seen_at, night.rows, night.is_complete)])


def past(con: duckdb.DuckDBPyConnection, source: str, before: datetime, bounds: Bounds) -> list[GoodNight]:
    """The source's good nights before a time, newest first: as many as the median of rows is over."""
    rows = con.execute(
        """SELECT seen_at, rows, is_complete FROM core.source_night WHERE source = ? AND seen_at < ?
           ORDER BY seen_at DESC LIMIT ?""",
        [source, before, bounds.row_nights],
    ).fetchall()
    return [GoodNight(*row) for row in rows]
