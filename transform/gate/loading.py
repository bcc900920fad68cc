"""Load a checked batch through the price gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

import duckdb

from gpuledger.transform.gate import clouds, good_nights, shops
from gpuledger.transform.gate.rules import Bounds
from gpuledger.warehouse.load import offers, others
from gpuledger.warehouse.load.batch import Batch, ChangeSet, Night


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a checked batch: what changed, how many prices the gate held, and whether absence means the end."""

    changes: ChangeSet
    held: int
    is_complete: bool


def load_batch(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]],
    kinds: Collection[str],
) -> Loaded:
    """Load a checked batch: exchange rates, offers and cloud rates through the price gate, then the rest.

    `kinds` are those that its source can have: one that is missing tonight has ended. `released` are listings with the
    price that a person let pass.
    """
    past = good_nights.past(con, batch.source, batch.seen_at, bounds)
    kinds = {*kinds, *(row.item.KIND for row in (*batch.rows, *batch.held))}
    changes = others.load_rates(con, batch)
    held, is_complete = 0, batch.is_complete
    if "offer" in kinds:
        offers.stage_batch(con, batch)
        loaded = load_staged(con, batch.night, bounds, past, released)
        changes.merge(loaded.changes)
        day = batch.seen_at.astimezone(UTC).date()
        seen = f"""(SELECT currency, DATE '{day}' AS day, count(*) AS prices
                    FROM incoming_offer WHERE price IS NOT NULL GROUP BY ALL)"""
        changes.issues += [(batch.source, issue) for issue in offers.missing_rates(con, seen)]
        held, is_complete = loaded.held, loaded.is_complete
        if "core.price_open" in loaded.changes.changed:
            changes.add("core.price_change", offers.record_changes(con, batch.source, batch.seen_at))
    if "cloud_offer" in kinds:
        others.stage_cloud(con, batch)
        verdict = clouds.hold(con, batch.night, bounds, past, released)
        changes.add("core.held_price", max(len(verdict.held), verdict.held_before))
        held, is_complete = held + len(verdict.held), is_complete and verdict.is_long
        ids = {found.compared.listing_id for found in verdict.held}
        batch = replace(others.hold_cloud(batch, ids), is_complete=is_complete)
    changes.merge(others.load(con, batch, past[0].seen_at if past else None))
    return Loaded(changes, held, is_complete)


def load_staged(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    past: Sequence[good_nights.GoodNight],
    released: Sequence[tuple[str, Decimal]],
) -> Loaded:
    """Load staged offers through the price gate; see `shops.hold` and `offers.load`."""
    verdict = shops.hold(con, night, bounds, past, released)
    is_complete = night.is_complete and verdict.is_long
    previous = past[0].seen_at if past else None
    changes = offers.load(con, replace(night, is_complete=is_complete), previous)
    # Also where the last of them was let go.
    changes.add("core.held_price", max(len(verdict.held), verdict.held_before))
    return Loaded(changes, len(verdict.held), is_complete)


def held_reasons(con: duckdb.DuckDBPyConnection, source: str) -> Mapping[str, str]:
    """Why the gate holds the prices that it holds, by the id of the listing or cloud offer."""
    return dict(con.execute("SELECT listing_id, reason FROM core.held_price WHERE source = ?", [source]).fetchall())


def is_settled(con: duckdb.DuckDBPyConnection, source: str) -> bool:
    """Nothing of the source waits to be seen again: no held price, no doubtful end."""
    row = con.execute(
        """SELECT (SELECT count(*) FROM core.held_price WHERE source = $source) = 0
               AND coalesce((SELECT arg_max(is_complete, seen_at) FROM core.source_night WHERE source = $source), false)""",
        {"source": source},
    ).fetchone()
    return bool(row and row[0])


def last_night(con: duckdb.DuckDBPyConnection, source: str) -> datetime | None:
    """The newest night on which the source was read well; None where there is none."""
    row = con.execute("SELECT max(seen_at) FROM core.source_night WHERE source = ?", [source]).fetchone()
    return row[0] if row else None
