"""The gate over staged tables: what a night's rows are compared with is in the database, and so is what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from gpuledger.transform.gate import rules
from gpuledger.transform.gate.rules import MAY_BE_PLACEHOLDER, Bounds, Compared, Held, Sighting, Tally
from gpuledger.warehouse.load.batch import Night
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """Where the evidence for a kind of price is, as SQL that may name $source, $seen_at, $since (the reference time) and
    $ids (the listings that are asked about).
    """

    #: What core.held_price has as `kind`.
    kind: str
    #: A relation of the open prices: listing_id, price, currency, valid_from, confirmed_until.
    open: str
    #: A query of listing_id, price and currency of what was believed within the reference time and stands no more.
    asked_before: str
    #: A query of listing_id and the `price` of each other one of its market, of the rows `s` of `compared`.
    peers: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held, how many prices were before, and whether the night is held as a whole: then absent listings must not be
    taken for ended either.
    """

    held: Sequence[Held]
    held_before: int
    is_shuffled: bool


def judge(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]],
    market: Market,
) -> Verdict:
    """Judge what is staged as `compared`: the columns of `Compared`, and `move`, the fraction by which the price moved.

    Brings core.held_price up to date.
    """
    evidence = _Evidence(con, night, bounds, market)
    tally = evidence.tally()
    if rules.is_shuffled(tally, bounds):
        every, seen = evidence.everything(), evidence.sightings()
        moved = [c for c in every if c.is_steady and c.factor is not None and rules.has_moved(c.factor, bounds)]
        if not rules.agrees(moved, seen, night.seen_at, bounds):
            whole = rules.hold([(c, "shuffled") for c in every], seen, released, (night.seen_at, tally), bounds)
            return Verdict(whole, _write_held(con, night.source, market.kind, whole), is_shuffled=True)
    suspects = rules.suspected(evidence.doubtful(), tally, bounds)
    explained = _explained(evidence, [c for c, rule in suspects if rule == "move"], bounds)
    suspects = [(c, rule) for c, rule in suspects if rule != "move" or c.listing_id not in explained]
    seen = evidence.sightings() if suspects else {}
    held = rules.hold(suspects, seen, released, (night.seen_at, tally), bounds)
    before = _write_held(con, night.source, market.kind, held)
    return Verdict(held, before, is_shuffled=False)


def _explained(evidence: _Evidence, far: Sequence[Compared], bounds: Bounds) -> set[str]:
    """The listings among `far` whose move other evidence explains: what they asked before, or else what their peers ask."""
    explained: set[str] = set()
    if far:
        before = evidence.asked_before([c.listing_id for c in far])
        explained |= {c.listing_id for c in far if rules.is_explained(c, before.get(c.listing_id), (), bounds)}
    if left := [c for c in far if c.listing_id not in explained]:
        peers = evidence.peers([c.listing_id for c in left])
        explained |= {c.listing_id for c in left if rules.is_explained(c, None, peers.get(c.listing_id, ()), bounds)}
    return explained


def _write_held(con: duckdb.DuckDBPyConnection, source: str, kind: str, held: Sequence[Held]) -> int:
    """Make `held` what core.held_price has of a source and kind; how many it had."""
    # A row without a kind is one of a file from before clouds had a gate.
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
    """The night's rows in `compared`, and what the tables know of them."""

    def __init__(self, con: duckdb.DuckDBPyConnection, night: Night, bounds: Bounds, market: Market) -> None:
        self._con, self._night, self._bounds, self._market = con, night, bounds, market

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
        """Every row that a rule may hold, and perhaps a few more; the others stay in the database."""
        bounds = self._bounds
        return self._compared(
            f"""(price = 0 OR regexp_matches(trunc(price)::DECIMAL(18,0)::VARCHAR, '{MAY_BE_PLACEHOLDER}')
                OR currency <> reference_currency OR abs(move) >= $move OR had_price AND price IS NULL)""",
            # A little less than either bound: Python has the last word on a price that lies at it.
            move=0.99 * min(bounds.crowd_move, bounds.max_move / (1 + bounds.max_move)),
        )

    def everything(self) -> list[Compared]:
        """Every row that says or takes back a price."""
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

    def asked_before(self, moved: Sequence[str]) -> Mapping[str, tuple[Decimal, Decimal]]:
        """By listing: the least and the most that it asked before within the reference time, in the currency of now."""
        rows = self._ask(
            f"""SELECT listing_id, min(a.price), max(a.price) FROM ({self._market.asked_before}) a
                JOIN compared s USING (listing_id, currency) GROUP BY listing_id""",
            ids=moved,
        )
        return {listing: (least, most) for listing, least, most in rows}

    def peers(self, moved: Sequence[str]) -> Mapping[str, Sequence[Decimal]]:
        """By listing: what others of its market ask in its currency."""
        return dict(self._ask(f"SELECT listing_id, list(price) FROM ({self._market.peers}) GROUP BY ALL", ids=moved))

    def sightings(self) -> Mapping[str, Sighting]:
        """The prices that are held already, by listing, as this night finds them."""
        rows = self._ask(
            """SELECT h.listing_id, h.price, h.currency, h.held_at, count(n.seen_at)
               FROM core.held_price h
               LEFT JOIN core.source_night n ON n.source = h.source AND n.seen_at >= h.held_at AND n.seen_at < $seen_at
               WHERE h.source = $source AND coalesce(h.kind, 'offer') = $kind GROUP BY ALL""",
            kind=self._market.kind,
        )
        return {listing: Sighting(*seen) for listing, *seen in rows}

    def _ask(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        # DuckDB refuses a parameter that the query does not name.
        known = {**times(self._night, self._bounds), **parameters}
        return self._con.execute(query, {n: value for n, value in known.items() if f"${n}" in query}).fetchall()


def times(night: Night, bounds: Bounds) -> dict[str, str | datetime]:
    """What the SQL of a market may name."""
    return {
        "source": night.source, "seen_at": night.seen_at, "since": night.seen_at - timedelta(days=bounds.reference_days),
    }  # fmt: skip
