"""Load a checked batch through the price gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import duckdb

from gpuledger.transform.gate import Bounds, clouds, good_nights, shops
from gpuledger.transform.gate.good_nights import Released
from gpuledger.warehouse.load import offers, others
from gpuledger.warehouse.load.batch import Batch, ChangeSet


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of loading a checked batch: the changes, and the number of prices that the gate held.

    `is_complete` says whether listings that are missing in the batch have ended. `usual_rows` is the usual number of rows of
    the source if the batch has far fewer. `is_shuffled` says that the gate held the whole batch.
    """

    changes: ChangeSet
    held: int
    is_complete: bool
    usual_rows: int | None = None
    is_shuffled: bool = False


def load_batch(
    con: duckdb.DuckDBPyConnection, batch: Batch, bounds: Bounds, released: Released, kinds: Collection[str]
) -> Loaded:
    """Load a checked batch: first exchange rates, then offers and cloud rates through the price gate, then all other items.

    `kinds` are the kinds of items that the source can have: the items of a kind that is missing tonight have ended.
    `released` is what people let pass. If the night is one of many, the caller records the price changes and the missing
    rates of all of them after the last: that takes about as long for one night as for a year.
    """
    past = good_nights.past(con, batch.source, batch.seen_at, bounds)
    kinds = {*kinds, *(row.item.KIND for row in (*batch.rows, *batch.held))}
    usual = good_nights.rows_missed(batch, bounds, past, released)
    changes = others.load_rates(con, batch)
    previous = past[0].seen_at if past else None
    held, is_complete, is_shuffled = 0, batch.is_complete and usual is None, False
    if "offer" in kinds:
        offers.stage_batch(con, batch)
        verdict = shops.hold(con, batch, bounds, released.prices)
        held, is_shuffled = len(verdict.held), verdict.is_shuffled
        is_complete = is_complete and not is_shuffled
        loaded = offers.load(con, replace(batch, is_complete=is_complete), previous)
        # The table also changed if prices were held before and now none is.
        loaded.add("core.held_price", max(held, verdict.held_before))
        changes.merge(loaded)
        if not batch.is_one_of_many:
            day = batch.seen_at.astimezone(UTC).date()
            seen = f"""(SELECT currency, DATE '{day}' AS day, count(*) AS prices
                        FROM incoming_offer WHERE price IS NOT NULL GROUP BY ALL)"""
            changes.issues += [(batch.source, missing.issue) for missing in offers.missing_rates(con, seen)]
            if "core.price_open" in loaded.changed:
                changes.add("core.price_change", offers.record_changes(con, batch.source, batch.seen_at))
    if "cloud_offer" in kinds:
        others.stage_cloud(con, batch)
        verdict = clouds.hold(con, batch, bounds, released.prices)
        changes.add("core.held_price", max(len(verdict.held), verdict.held_before))
        held, is_complete = held + len(verdict.held), is_complete and not verdict.is_shuffled
        is_shuffled = is_shuffled or verdict.is_shuffled
        batch = others.hold_cloud(batch, {price.compared.listing_id for price in verdict.held})
    batch = replace(batch, is_complete=is_complete)
    changes.merge(others.load(con, batch, previous))
    return Loaded(changes, held, is_complete, usual, is_shuffled)


def held_reasons(con: duckdb.DuckDBPyConnection, source: str) -> Mapping[str, str]:
    """The reason for each price that the gate holds, by the id of the listing or cloud offer."""
    return dict(con.execute("SELECT listing_id, reason FROM core.held_price WHERE source = ?", [source]).fetchall())


def settled_sources(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The sources of which nothing must be seen again: they have no held price, and their last good night was complete."""
    rows = con.execute(
        """SELECT source FROM core.source_night GROUP BY source HAVING arg_max(is_complete, seen_at)
           EXCEPT SELECT source FROM core.held_price"""
    ).fetchall()
    return frozenset(source for (source,) in rows)


def last_nights(con: duckdb.DuckDBPyConnection) -> dict[str, datetime]:
    """The newest night on which each source was read well, by source."""
    return dict(con.execute("SELECT source, max(seen_at) FROM core.source_night GROUP BY source").fetchall())
