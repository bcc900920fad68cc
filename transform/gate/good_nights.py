"""The good nights of a source. They show whether a short list of rows is complete, or a page that broke off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from statistics import median_high

import duckdb

from gpuledger.transform.gate import Bounds
from gpuledger.warehouse.load.batch import Batch
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True)
class GoodNight:
    """One night on which a source was read well, as a row of core.source_night.

    `filled` is the share of rows that have each column. It lacks the columns that went empty, which are no measure.
    """

    seen_at: datetime
    rows: int
    is_complete: bool
    filled: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A person's word that `source` now has only `rows` rows, after a look at its night `last_night`."""

    source: str
    rows: int
    last_night: datetime


@dataclass(frozen=True, slots=True)
class Released:
    """Everything that people let pass: prices of listings, and numbers of rows of sources."""

    prices: Sequence[tuple[str, Decimal]] = ()
    sources: Sequence[Acceptance] = ()

    def accepted(self, source: str, before: datetime) -> Acceptance | None:
        """What a person last accepted of a source, after a night that was before a time."""
        nights = [one for one in self.sources if one.source == source and one.last_night < before]
        return max(nights, key=lambda acceptance: acceptance.last_night, default=None)


def rows_missed(batch: Batch, bounds: Bounds, past: Sequence[GoodNight], released: Released) -> int | None:
    """The usual number of rows of the source if the batch has far fewer, because its list broke off or the shop sold out.
    None if the list is as long as usual, or known to be whole.

    Only complete nights define what is usual, so a crawl that stays broken never becomes usual. If a person accepted a
    number of rows, only later nights count. `past` are the source's good nights, newest first.
    """
    if batch.is_whole:
        return None
    accepted = released.accepted(batch.source, batch.seen_at)
    counted = [good.rows for good in past if good.is_complete and (not accepted or good.seen_at > accepted.last_night)]
    usual = counted[: bounds.row_nights] or ([accepted.rows] if accepted else [])
    if not usual or batch.count >= median_high(usual) * bounds.min_row_share:
        return None
    return median_high(usual)


def note(con: duckdb.DuckDBPyConnection, nights: Mapping[str, GoodNight]) -> None:
    """Record the good nights of one moment, by source. A repeated run replaces its own rows."""
    for seen_at in {night.seen_at for night in nights.values()}:
        con.execute(
            "DELETE FROM core.source_night WHERE seen_at = ? AND list_contains(?, source)", [seen_at, [*nights]]
        )
    rows = [
        (source, night.seen_at, night.rows, night.is_complete, json.dumps(night.filled) if night.filled else None)
        for source, night in nights.items()
    ]
    append(con, "core.source_night", rows)


def past(con: duckdb.DuckDBPyConnection, source: str, before: datetime, bounds: Bounds) -> list[GoodNight]:
    """The good nights of the source before a time, newest first: the last one, and the complete ones that define what is
    usual.
    """
    rows = con.execute(
        """WITH earlier AS (SELECT seen_at, rows, is_complete FROM core.source_night WHERE source = ? AND seen_at < ?)
           FROM (FROM earlier ORDER BY seen_at DESC LIMIT 1)
           UNION FROM (FROM earlier WHERE is_complete ORDER BY seen_at DESC LIMIT ?)
           ORDER BY seen_at DESC""",
        [source, before, bounds.row_nights],
    ).fetchall()
    return [GoodNight(*row) for row in rows]


def filled_before(
    con: duckdb.DuckDBPyConnection, source: str, before: datetime, nights: int, released: Released
) -> list[dict[str, float]]:
    """The share of rows that have each column, on the last good nights of the source before a time, newest first.

    If a person accepted what the source showed on some night, only later ones count.
    """
    accepted = released.accepted(source, before)
    rows = con.execute(
        """SELECT filled FROM core.source_night WHERE source = $source AND seen_at < $before AND filled IS NOT NULL
               AND ($after::TIMESTAMPTZ IS NULL OR seen_at > $after)
           ORDER BY seen_at DESC LIMIT $nights""",
        {"source": source, "before": before, "after": accepted and accepted.last_night, "nights": nights},
    ).fetchall()
    return [json.loads(filled) for (filled,) in rows]
