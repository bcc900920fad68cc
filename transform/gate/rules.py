"""The rules of the gate: which prices it holds, and why. `tables` applies them to the few rows that may be held."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Literal, NamedTuple

from gpuledger.extract.price.no_price import is_stated_mark
from gpuledger.transform.gate import Bounds

#: Whole amounts that mean "no price": 9999 (.99), 99999, 11111. The pattern is valid both in SQL and in Python.
_PLACEHOLDER = "^(9{4,}|1{5,})$"
#: The same for won and yen, only for large amounts, because there 99,990 is an ordinary price.
_PLACEHOLDER_WON = "^(9{5,}0*|1{8,})$"
#: A pattern for whole amounts that may be placeholders. SQL selects rows with it, and `is_placeholder` then decides.
MAY_BE_PLACEHOLDER = f"{_PLACEHOLDER}|{_PLACEHOLDER_WON}"
_IS_PLACEHOLDER, _IS_PLACEHOLDER_WON = re.compile(_PLACEHOLDER), re.compile(_PLACEHOLDER_WON)
_WON = ("KRW", "JPY")
_MIN_WON = 9_999_000

Hold = Literal["placeholder", "currency", "move", "crowd", "lost", "shuffled"]


class Compared(NamedTuple):
    """An incoming price, and the newest believed price of the same listing within the reference time (the reference).

    `had_price` says whether the reference was still valid when the night began. `is_steady` prices normally stay the same
    from day to day, so many moves at once mean something. Other prices move all the time. If they had to be seen twice at
    the same price, they would be held for ever. `label` stands before the reason.
    """

    listing_id: str
    price: Decimal | None
    currency: str | None
    reference_price: Decimal | None
    reference_currency: str | None
    had_price: bool
    snapshot_sha256: str
    #: New, used and so on, if the market distinguishes them: a used card is compared with used cards.
    condition: str | None = None
    is_steady: bool = True
    label: str = ""

    @property
    def factor(self) -> float | None:
        """The price as a multiple of the reference; None if one is missing or the currencies differ."""
        if self.price is None or not self.reference_price or self.currency != self.reference_currency:
            return None
        return float(self.price) / float(self.reference_price)


class Tally(NamedTuple):
    """The numbers of a night."""

    #: Steady prices with a reference.
    comparable: int
    #: Comparable prices that moved by more than `crowd_move`.
    moved: int
    #: Listings that had a price.
    known: int
    #: Listings that had a price and now have none.
    lost: int
    #: Moved prices that rose.
    rose: int = 0

    @property
    def fell(self) -> int:
        """Moved prices that fell."""
        return self.moved - self.rose


class Sighting(NamedTuple):
    """A price that is already held, and the number of runs that have read its source since then, without this run."""

    price: Decimal | None
    currency: str | None
    held_at: datetime
    runs: int


class Held(NamedTuple):
    """A price that the gate holds, with the reason in words."""

    compared: Compared
    hold: Hold
    reason: str
    held_at: datetime
    times_held: int


def is_placeholder(price: Decimal, currency: str | None) -> bool:
    """Whether the amount means "no price", in any source. Such a price stays held even if it is seen again.

    Other marks with this meaning are in `extract/price/no_price.py`. They never become a price.
    """
    if not price:
        return True
    if currency not in _WON:
        is_price = str(price).startswith("9") and not is_stated_mark(price, currency)
        return not is_price and _IS_PLACEHOLDER.match(str(int(price))) is not None
    return price > _MIN_WON and bool(_IS_PLACEHOLDER_WON.match(str(int(price))))


def suspected(doubtful: Iterable[Compared], tally: Tally, bounds: Bounds) -> list[tuple[Compared, Hold]]:
    """The prices among `doubtful` that a rule suspects, each with the rule."""
    is_crowd = tally.comparable >= bounds.min_crowd and tally.moved > tally.comparable * bounds.max_crowd_share
    is_loss = tally.known >= bounds.min_crowd and tally.lost > tally.known * bounds.max_lost_share
    return [(c, rule) for c in doubtful if (rule := _suspicion(c, bounds, is_crowd=is_crowd, is_loss=is_loss))]


def is_shuffled(tally: Tally, bounds: Bounds) -> bool:
    """Whether many prices moved at once, both up and down, so that most prices probably belong to other listings."""
    is_crowd = tally.moved >= bounds.min_crowd and tally.moved > tally.comparable * bounds.max_crowd_share
    return is_crowd and min(tally.rose, tally.fell) >= tally.moved * bounds.min_both_ways


def agrees(moved: Sequence[Compared], sightings: Mapping[str, Sighting], seen_at: datetime, bounds: Bounds) -> bool:
    """Whether most listings in `moved` have the same price as on an earlier held night, in another session.

    If so, this night confirms the held night and not the prices that were believed before it. `sightings` are the prices
    that are held already.
    """
    again = [
        c
        for c in moved
        if (sighting := sightings.get(c.listing_id))
        and _is_same(c, sighting, bounds)
        and _is_later(sighting, seen_at, bounds)
    ]
    # `moved` is empty if this same run believed the night when it ran before: a repeated run gives the same result.
    return not moved or len(again) > len(moved) / 2


def _is_later(sighting: Sighting, seen_at: datetime, bounds: Bounds) -> bool:
    """Whether a sighting is from an earlier session than a night at `seen_at`: one wrong page cannot then explain both."""
    return seen_at - sighting.held_at >= timedelta(hours=bounds.session_hours)


def hold(
    suspects: Iterable[tuple[Compared, Hold]],
    sightings: Mapping[str, Sighting],
    released: Sequence[tuple[str, Decimal]],
    night: tuple[datetime, Tally],
    bounds: Bounds,
) -> list[Held]:
    """The prices to hold: all suspects that were not seen at the same price on an earlier night.

    `sightings` are the prices that are held already, by listing. `released` are listings with the price that a person let
    pass. `night` is the time and the numbers of this night.
    """
    seen_at, tally = night
    released_prices: dict[str, list[Decimal]] = {}
    for listing, price in released:
        released_prices.setdefault(listing, []).append(price)
    held = []
    for c, rule in suspects:
        sighting = sightings.get(c.listing_id)
        if sighting is not None and not _is_same(c, sighting, bounds):
            # The price differs from the held one, so this is its first sighting, even if the listing was held before.
            sighting = None
        # A price that was seen before, in an earlier session, is believed. A night that was held whole is believed whole.
        if sighting is not None and _is_later(sighting, seen_at, bounds) and rule not in ("placeholder", "shuffled"):
            continue
        if any(_is_near(c.price, price, bounds.same_price) for price in released_prices.get(c.listing_id, ())):
            continue
        first_held_at, times = (seen_at, 1) if sighting is None else (sighting.held_at, sighting.runs + 1)
        held.append(Held(c, rule, _reason(c, rule, tally), first_held_at, times))
    return held


def _suspicion(c: Compared, bounds: Bounds, *, is_crowd: bool, is_loss: bool) -> Hold | None:
    if c.price is None:
        return "lost" if is_loss and c.had_price else None
    if is_placeholder(c.price, c.currency):
        return "placeholder"
    if c.reference_currency is not None and c.currency is not None and c.currency != c.reference_currency:
        return "currency"
    factor = c.factor
    if factor is None:
        return None
    if bounds.is_far(factor):
        return "move"
    return "crowd" if is_crowd and c.is_steady and has_moved(factor, bounds) else None


def has_moved(factor: float, bounds: Bounds) -> bool:
    """Whether the move is large enough to count towards a crowd."""
    return abs(factor - 1) > bounds.crowd_move


def is_explained(
    c: Compared, earlier_prices: tuple[Decimal, Decimal] | None, peers: Sequence[Decimal], bounds: Bounds
) -> bool:
    """Whether other evidence explains the move, so that it is no mistake.

    A listing that alternates between two sellers returns to an earlier price: `earlier_prices` are its lowest and highest
    price within the reference time, in its present currency. A card that was far from its market price may return to it:
    `peers` are the prices of other listings of the same GPU in that currency, above zero.
    """
    assert c.price is not None
    price = float(c.price)
    if earlier_prices:
        least, most = (float(amount) for amount in earlier_prices)
        if least * (1 - bounds.same_price) <= price <= most * (1 + bounds.same_price):
            return True
    return len(peers) >= bounds.min_peers and not bounds.is_far(price / float(median(peers)))


def _is_same(c: Compared, sighting: Sighting, bounds: Bounds) -> bool:
    share = bounds.same_price if c.is_steady else bounds.crowd_move
    return c.currency == sighting.currency and (c.price == sighting.price or _is_near(c.price, sighting.price, share))


def _is_near(price: Decimal | None, reference: Decimal | None, share: float) -> bool:
    if price is None or not reference:
        return False
    return abs(float(price) / float(reference) - 1) <= share


def _reason(c: Compared, hold: Hold, tally: Tally) -> str:
    match hold:
        case "placeholder":
            text = f"{c.price} {c.currency} stands for no price"
        case "currency":
            text = f"currency was {c.reference_currency} and is {c.currency}"
        case "shuffled":
            moves = f"{tally.rose} of {tally.comparable} prices rose and {tally.fell} fell"
            text = f"the night is held whole: {moves} far at once"
        case "lost":
            text = f"the price is gone, as on {tally.lost} of {tally.known} listings at once"
        case _:
            percent = f"{100 * ((c.factor or 0) - 1):+.0f}%"
            crowd = ", as on many others" if hold == "crowd" else ""
            text = f"{_plain(c.reference_price)} to {_plain(c.price)} {c.currency} ({percent}) at once{crowd}"
    return f"{c.label}: {text}" if c.label else text


def _plain(price: Decimal | None) -> str:
    """`640` of 640.0000 and `4.234` of 4.2340."""
    return "" if price is None else f"{price.normalize():f}"
