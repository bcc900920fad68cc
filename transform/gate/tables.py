"""Applies the gate to staged tables. The evidence and the held prices are in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from gpuledger.transform.gate import Bounds, rules
from gpuledger.transform.gate.rules import MAY_BE_PLACEHOLDER, Compared, Held, Sighting, Tally
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.warehouse.load.batch import Batch
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """SQL that finds the evidence for one kind of price.

    It may use $source, $seen_at, $since (the beginning of the reference time) and $ids (the listings in question).
    """

    #: The value of `kind` in core.held_price.
    kind: str
    #: A relation of the open prices, with listing_id, price, currency, valid_from and confirmed_until.
    open: str
    #: A query for the earlier prices that were believed within the reference time: listing_id, price and currency.
    earlier_prices: str
    #: A query for the prices of the peers of listings in `compared` (as `s`): listing_id and the `price` of each peer.
    peers: str
    #: A query for the staged titles of listings: listing_id and title; empty where a price of nines is never a card's.
    titles: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The held prices, and how many were held before.

    `is_shuffled` says that the night is held as a whole. Then absent listings must not count as ended either.
    """

    held: Sequence[Held]
    held_before: int
    is_shuffled: bool


def judge(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]],
    market: Market,
) -> Verdict:
    """Judge the staged rows of `compared`, and update core.held_price.

    `compared` has the columns of `Compared` and `move`, the fraction by which the price moved.
    """
    evidence = _Evidence(con, batch, bounds, market)
    tally = evidence.tally()
    if rules.is_shuffled(tally, bounds):
        all_rows, sightings = evidence.everything(), evidence.sightings()
        moved = [c for c in all_rows if c.is_steady and c.factor is not None and rules.has_moved(c.factor, bounds)]
        if not rules.agrees(moved, sightings, batch.seen_at, bounds):
            all_held = rules.hold(
                [(c, "shuffled") for c in all_rows], sightings, released, (batch.seen_at, tally), bounds
            )
            return Verdict(all_held, _write_held(con, batch.source, market.kind, all_held), is_shuffled=True)
    suspects = rules.suspected(evidence.doubtful(), tally, bounds)
    explained = _explained(evidence, [c for c, rule in suspects if rule == "move"], bounds)
    explained |= evidence.as_dear_as_the_card([c for c, rule in suspects if rule == "placeholder" and c.price])
    suspects = [(c, rule) for c, rule in suspects if c.listing_id not in explained]
    sightings = evidence.sightings() if suspects else {}
    held = rules.hold(suspects, sightings, released, (batch.seen_at, tally), bounds)
    held_before = _write_held(con, batch.source, market.kind, held)
    return Verdict(held, held_before, is_shuffled=False)


def _explained(evidence: _Evidence, moved_far: Sequence[Compared], bounds: Bounds) -> set[str]:
    """The listings among `moved_far` whose move is explained by their earlier prices, or else by the prices of peers."""
    explained: set[str] = set()
    if moved_far:
        earlier_prices = evidence.earlier_prices([c.listing_id for c in moved_far])
        explained |= {
            c.listing_id for c in moved_far if rules.is_explained(c, earlier_prices.get(c.listing_id), (), bounds)
        }
    if unexplained := [c for c in moved_far if c.listing_id not in explained]:
        peers = evidence.peers([c.listing_id for c in unexplained])
        explained |= {
            c.listing_id for c in unexplained if rules.is_explained(c, None, peers.get(c.listing_id, ()), bounds)
        }
    return explained


def _write_held(con: duckdb.DuckDBPyConnection, source: str, kind: str, held: Sequence[Held]) -> int:
    """Replace the rows of a source and kind in core.held_price by `held`; returns how many rows there were."""
    # Rows without a kind are from files that are older than the gate for clouds.
    row = con.execute(
        "DELETE FROM core.held_price WHERE source = ? AND coalesce(kind, 'offer') = ?", [source, kind]
    ).fetchone()
    append(
        con,
        "core.held_price",
        [
            (c.listing_id, source, c.price, c.currency, c.reference_price, c.reference_currency, hold, reason, held_at,
             times, c.snapshot_sha256, kind)
            for c, hold, reason, held_at, times in held
        ],
    )  # fmt: skip
    return int(row[0]) if row else 0


class _Evidence:
    """The night's rows in `compared`, and the evidence about them from the tables."""

    def __init__(self, con: duckdb.DuckDBPyConnection, batch: Batch, bounds: Bounds, market: Market) -> None:
        self._con, self._batch, self._bounds, self._market = con, batch, bounds, market

    def tally(self) -> Tally:
        row = self._con.execute(
            """SELECT count(move) FILTER (is_steady), count(*) FILTER (abs(move) > ? AND is_steady),
                   count(*) FILTER (had_price), count(*) FILTER (had_price AND price IS NULL),
                   count(*) FILTER (move > ? AND is_steady) FROM compared""",
            [self._bounds.crowd_move] * 2,
        ).fetchone()
        assert row is not None
        return Tally(*row)

    def doubtful(self) -> list[Compared]:
        """All rows that a rule may hold, and perhaps a few more. The other rows stay in the database."""
        bounds = self._bounds
        return self._compared(
            f"""(price = 0 OR regexp_matches(trunc(price)::DECIMAL(18,0)::VARCHAR, '{MAY_BE_PLACEHOLDER}')
                OR currency <> reference_currency OR abs(move) >= $move OR had_price AND price IS NULL)""",
            # A little less than both bounds, so that Python decides about prices exactly at a bound.
            move=0.99 * min(bounds.crowd_move, bounds.max_move / (1 + bounds.max_move)),
        )

    def everything(self) -> list[Compared]:
        """All rows that have a price or lost theirs."""
        return self._compared("(price IS NOT NULL OR had_price)")

    def _compared(self, condition: str, **parameters: object) -> list[Compared]:
        rows = self._ask(
            f"""SELECT {", ".join(Compared._fields)} FROM compared c WHERE {condition}
                -- Believed by this very run when it ran before: a repeated run comes to the same.
                AND NOT EXISTS (
                    SELECT 1 FROM {self._market.open} o WHERE o.listing_id = c.listing_id AND o.valid_from = $seen_at
                        AND o.confirmed_until IS NULL AND o.price IS NOT DISTINCT FROM c.price
                        AND o.currency IS NOT DISTINCT FROM c.currency
                )""",
            **parameters,
        )
        return [Compared(*row) for row in rows]

    def earlier_prices(self, moved: Sequence[str]) -> Mapping[str, tuple[Decimal, Decimal]]:
        """The lowest and highest earlier price of each listing within the reference time, in its present currency."""
        rows = self._ask(
            f"""SELECT listing_id, min(a.price), max(a.price) FROM ({self._market.earlier_prices}) a
                JOIN compared s USING (listing_id, currency) GROUP BY listing_id""",
            ids=moved,
        )
        return {listing: (least, most) for listing, least, most in rows}

    def peers(self, moved: Sequence[str]) -> Mapping[str, Sequence[Decimal]]:
        """The prices of each listing's peers, in its currency."""
        return dict(self._ask(f"SELECT listing_id, list(price) FROM ({self._market.peers}) GROUP BY ALL", ids=moved))

    def as_dear_as_the_card(self, marks: Sequence[Compared]) -> set[str]:
        """The listings among `marks` whose amount (9,999.00) is within half and twice what their cards cost in dollars. It
        is a price there, and no mark for none. Other money is compared as if it were dollars.
        """
        if not marks or not self._market.titles:
            return set()
        titles = self._ask(self._market.titles, ids=[c.listing_id for c in marks])
        cards, price_of = Resolver.load(), {c.listing_id: c.price for c in marks}
        costs: dict[str, list[float]] = {}
        for row in catalogue.rows_of("street_prices.csv"):
            if row["currency"] == "USD":
                costs.setdefault(row["gpu_id"], []).append(float(row["price"]))
        for gpu in catalogue.gpus():
            if gpu.msrp_usd:
                costs.setdefault(gpu.gpu_id, []).append(float(gpu.msrp_usd))
        return {
            listing
            for listing, title in titles
            for gpu_id in cards.resolve(title, source=self._batch.source).candidates
            if any(cost / 2 <= float(price_of[listing] or 0) <= cost * 2 for cost in costs.get(gpu_id, ()))
        }

    def sightings(self) -> Mapping[str, Sighting]:
        """The prices that are held already, by listing, before this night changes them."""
        rows = self._ask(
            """SELECT h.listing_id, h.price, h.currency, h.held_at, count(n.seen_at)
               FROM core.held_price h
               LEFT JOIN core.source_night n ON n.source = h.source AND n.seen_at >= h.held_at AND n.seen_at < $seen_at
               WHERE h.source = $source AND coalesce(h.kind, 'offer') = $kind GROUP BY ALL""",
            kind=self._market.kind,
        )
        return {listing: Sighting(*sighting) for listing, *sighting in rows}

    def _ask(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        # DuckDB refuses parameters that the query does not use.
        known = {**times(self._batch, self._bounds), **parameters}
        return self._con.execute(query, {n: value for n, value in known.items() if f"${n}" in query}).fetchall()


def times(batch: Batch, bounds: Bounds) -> dict[str, str | datetime]:
    """The source and the times that the SQL of a market may use as parameters."""
    return {
        "source": batch.source, "seen_at": batch.seen_at, "since": batch.seen_at - timedelta(days=bounds.reference_days),
    }  # fmt: skip
