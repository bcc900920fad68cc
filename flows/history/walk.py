"""Many nights of one shop in one go: what the gate and the history ask for is in memory, and the nights are walked through.

The database answers a night's twenty questions in 70 ms however few its rows are, so a thousand nights would cost more than
a minute. The gate's rules are those of every night (`transform.gate.rules`); what comes out are events, which
`warehouse.load.prices` writes for many nights at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from operator import attrgetter
from typing import Any, NamedTuple

import duckdb

from gpuledger.extract.items import Offer
from gpuledger.transform.gate import good_nights, rules, shops, tables
from gpuledger.transform.gate.good_nights import GoodNight
from gpuledger.transform.gate.rules import Bounds, Compared, Held, Sighting, Tally
from gpuledger.warehouse.load import prices
from gpuledger.warehouse.load.offers import ATTRIBUTES
from gpuledger.warehouse.load.stage import Value

_STATE = (*prices.STATE, *prices.TERMS)
_PRICE, _CURRENCY = _STATE.index("price"), _STATE.index("currency")
_values_of = attrgetter(*_STATE)
_attributes_of = attrgetter(*ATTRIBUTES)
#: Prices are kept with four decimals.
_SCALE = Decimal("0.0001")

Cells = Mapping[str, tuple[Offer, str]]


class Asked(NamedTuple):
    """A price that was believed and stands no more."""

    price: Decimal
    currency: str | None
    until: datetime


@dataclass(slots=True)
class _Standing:
    """An open price. `offer` is the object that it was read from, where that was on this walk."""

    state: tuple[Any, ...]
    is_doubted: bool
    offer: Offer | None = None

    @property
    def price(self) -> Decimal | None:
        return self.state[_PRICE]  # type: ignore[no-any-return]

    @property
    def currency(self) -> str | None:
        return self.state[_CURRENCY]  # type: ignore[no-any-return]


class Event(NamedTuple):
    """A row of the table `event`; see `warehouse.load.prices.write`. `offer` and its archived file where it was seen."""

    key: str
    seen_at: datetime
    why: str
    previous: datetime | None
    offer: Offer | None = None
    snapshot_sha256: str | None = None

    def values(self, source: str) -> tuple[Value, ...]:
        """What `prices.stage_events` stages."""
        offer = self.offer
        seen = (None,) * len(prices.COLUMNS) if offer is None else (
            *_values_of(offer), offer.price_text, self.snapshot_sha256
        )  # fmt: skip
        return (f"{source}:{self.key}", self.seen_at, self.why, self.previous, *seen)


@dataclass(slots=True)
class Taken:
    """What one night said: its events, listings that are new or say something else, and what the gate held."""

    night: GoodNight
    events: list[Event] = field(default_factory=list)
    listings: list[tuple[Offer, str]] = field(default_factory=list)
    held: Sequence[Held] = ()


class Walk:
    """The state of a source as its next night finds it. `take` goes one night on.

    The nights are later than everything that is known of the source.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        source: str,
        first: datetime,
        bounds: Bounds,
        released: Sequence[tuple[str, Decimal]],
    ) -> None:
        self._source, self._bounds, self._released = source, bounds, released
        self._reach = timedelta(days=bounds.reference_days)
        self._since = first - self._reach
        self._past = good_nights.past(con, source, first, bounds)
        self._sightings: Mapping[str, Sighting] = tables.sightings(con, source, shops.KIND, first)
        self._open = _open(con, source)
        self._asked = _asked(con, source, self._since)
        attributes = con.execute(
            f"SELECT listing_key, ended_at IS NOT NULL, {', '.join(ATTRIBUTES)} FROM core.listing WHERE source = ?",
            [source],
        ).fetchall()
        self._listings = {key: tuple(told) for key, _, *told in attributes}
        self._ended = {key for key, has_ended, *_ in attributes if has_ended}
        self.recall_cards(con)

    def recall_cards(self, con: duckdb.DuckDBPyConnection) -> None:
        """Read again which card each listing is: the gate compares a price with those of the same card."""
        rows = con.execute(
            "SELECT listing_key, gpu_id, condition FROM core.listing WHERE source = ? AND gpu_id IS NOT NULL",
            [self._source],
        ).fetchall()
        self._cards = {key: gpu for key, gpu, _ in rows}
        self._same_card: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for key, gpu, condition in rows:
            self._same_card[gpu, condition].append(key)

    def take(self, seen_at: datetime, cells: Cells, refused: Container[int]) -> Taken:
        """Judge a night's offers by key, each with the file that it stands in, and go on to the state after it.

        `refused` are identities of Offer objects that break the contract: they are there, and what they say is not taken
        over.
        """
        self._since = seen_at - self._reach
        doubtful, moved, in_doubt = [], [], set()
        comparable = known = lost = far = 0
        for key, (offer, sha256) in cells.items():
            standing = self._open.get(key)
            if standing is not None and standing.offer is offer and not standing.is_doubted:
                # As it stood, in the very same words: most of a night.
                if standing.price:
                    known += 1
                    comparable += 1
                continue
            if id(offer) in refused:
                in_doubt.add(key)
                continue
            compared = self._compare(key, offer, sha256, standing)
            known += compared.had_price
            lost += compared.had_price and compared.price is None
            if (factor := compared.factor) is not None:
                comparable += 1
                far += rules.has_moved(factor, self._bounds)
            doubtful.append(compared)
            moved.append((key, offer, sha256))
        tally = Tally(comparable, far, known, lost)
        held = rules.judge(tally, doubtful, seen_at, self._bounds, self._released, self)
        in_doubt |= {self._key(found.compared.listing_id) for found in held}
        is_complete = not good_nights.is_short(len(cells), self._bounds, self._past)
        taken = Taken(GoodNight(seen_at, len(cells), is_complete), held=held)
        previous = self._past[0].seen_at if self._past else None
        for key, offer, sha256 in moved:
            if key not in in_doubt:
                self._believe(key, offer, sha256, seen_at, previous, taken)
        absent = self._open.keys() - cells.keys()
        self._doubt(in_doubt if is_complete else in_doubt | absent, seen_at, previous, taken)
        if is_complete:
            self._end(absent, seen_at, previous, taken)
        self._past = [taken.night, *self._past[: self._bounds.row_nights - 1]]
        self._sightings = {
            found.compared.listing_id: Sighting(
                found.compared.price, found.compared.currency, found.held_at, found.times_held
            )
            for found in held
        }
        return taken

    def _compare(self, key: str, offer: Offer, sha256: str, standing: _Standing | None) -> Compared:
        price = _rounded(offer.price)
        is_shown = standing is not None and standing.price is not None
        reference: tuple[Decimal | None, str | None] = (None, None)
        if standing is not None and is_shown:
            reference = standing.price, standing.currency
        elif price is not None and (asked := self._asked.get(key)) and asked[-1].until > self._since:
            # For those that show no price now, the newest that they had: a price that comes back is compared with it.
            reference = asked[-1].price, asked[-1].currency
        return Compared(f"{self._source}:{key}", price, offer.currency, *reference, is_shown, sha256, offer.condition)

    def _believe(
        self, key: str, offer: Offer, sha256: str, seen_at: datetime, previous: datetime | None, taken: Taken
    ) -> None:
        attributes = _attributes_of(offer)
        if key in self._ended or self._listings.get(key) != attributes:
            taken.listings.append((offer, sha256))
            self._listings[key] = attributes
            self._ended.discard(key)
        state, standing = _state_of(offer), self._open.get(key)
        if standing is not None and standing.state == state and not standing.is_doubted:
            standing.offer = offer
            return
        taken.events.append(Event(key, seen_at, "new" if standing is None else "replaced", previous, offer, sha256))
        self._close(key, seen_at)
        self._open[key] = _Standing(state, False, offer)

    def _doubt(self, keys: set[str], seen_at: datetime, previous: datetime | None, taken: Taken) -> None:
        for key in keys:
            standing = self._open.get(key)
            if standing is not None and not standing.is_doubted:
                taken.events.append(Event(key, seen_at, "doubted", previous))
                self._close(key, seen_at)
                standing.is_doubted = True

    def _end(self, keys: set[str], seen_at: datetime, previous: datetime | None, taken: Taken) -> None:
        for key in keys:
            taken.events.append(Event(key, seen_at, "ended", previous))
            self._close(key, seen_at)
            del self._open[key]
            self._ended.add(key)

    def _close(self, key: str, seen_at: datetime) -> None:
        standing = self._open.get(key)
        if standing is not None and standing.price is not None:
            self._asked.setdefault(key, []).append(Asked(standing.price, standing.currency, seen_at))

    def _key(self, listing_id: str) -> str:
        return listing_id[len(self._source) + 1 :]

    def asked_before(self, moved: Sequence[Compared]) -> Mapping[str, tuple[Decimal, Decimal]]:
        """See `transform.gate.rules.Evidence`."""
        found = {}
        for c in moved:
            asked = [
                a.price for a in self._asked.get(self._key(c.listing_id), ())
                if a.until > self._since and a.currency == c.currency
            ]  # fmt: skip
            if asked:
                found[c.listing_id] = (min(asked), max(asked))
        return found

    def peers(self, moved: Sequence[Compared]) -> Mapping[str, Sequence[Decimal]]:
        """See `transform.gate.rules.Evidence`."""
        return {c.listing_id: self._peers(self._key(c.listing_id), c) for c in moved}

    def _peers(self, key: str, c: Compared) -> list[Decimal]:
        card = self._cards.get(key)
        if card is None:
            return []
        others = (self._open.get(other) for other in self._same_card[card, c.condition] if other != key)
        return [o.price for o in others if o is not None and o.price and o.currency == c.currency]

    def sightings(self) -> Mapping[str, Sighting]:
        """See `transform.gate.rules.Evidence`."""
        return self._sightings


def _state_of(offer: Offer) -> tuple[object, ...]:
    return tuple(_rounded(value) if isinstance(value, Decimal) else value for value in _values_of(offer))


def _rounded(amount: Decimal | None) -> Decimal | None:
    """As the tables keep it."""
    return None if amount is None else amount.quantize(_SCALE, ROUND_HALF_UP)


def _open(con: duckdb.DuckDBPyConnection, source: str) -> dict[str, _Standing]:
    rows = con.execute(
        f"""SELECT l.listing_key, o.confirmed_until IS NOT NULL, {", ".join(f"o.{c}" for c in _STATE)}
            FROM core.price_open o JOIN core.listing l USING (listing_id) WHERE l.source = ?""",
        [source],
    ).fetchall()
    return {key: _Standing(tuple(state), is_doubted) for key, is_doubted, *state in rows}


def _asked(con: duckdb.DuckDBPyConnection, source: str, since: datetime) -> dict[str, list[Asked]]:
    rows = con.execute(
        """SELECT l.listing_key, s.price, s.currency, s.valid_to
           FROM core.price_span s JOIN core.listing l USING (listing_no)
           WHERE l.source = ? AND s.valid_to > ? AND s.price IS NOT NULL ORDER BY s.valid_from""",
        [source, since],
    ).fetchall()
    found: dict[str, list[Asked]] = defaultdict(list)
    for key, *asked in rows:
        found[key].append(Asked(*asked))
    return dict(found)
