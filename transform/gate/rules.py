"""What the gate holds, and why: the rules alone. `tables` asks them about the few rows of a night that may be held."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is believed at once. Shares and moves are fractions.

    The defaults were read off three years of a real market; docs/gate.md shows the trade-off. Some of them are settings:
    `gate_<name>` in flows/setup/settings.py, with the default of here.
    """

    #: One listing's move up in one step, and the same factor down: 0.67 is +67% or -40%.
    max_move: float = 0.67
    #: A smaller move, which is held only where many listings make it at once …
    crowd_move: float = 0.2
    #: … which is this share of those that can be compared.
    max_crowd_share: float = 0.2
    #: Fewer than this say nothing about a crowd.
    min_crowd: int = 10
    #: A crowd of which this share rises, and as much falls, is no market that moved: prices changed their places. On the
    #: worst real night a ninth of the listings moved so; where the source shuffled its prices, seven tenths did.
    min_both_ways: float = 0.2
    #: A page that is wrong stays wrong for hours: only a sighting that much later, in hours, is one of its own.
    session_hours: float = 20.0
    #: Rows against the median of the last nights.
    min_row_share: float = 0.8
    #: Nights that the median is over.
    row_nights: int = 7
    #: Share of the listings with a price that may lose it in one step.
    max_lost_share: float = 0.5
    #: A price older than this many days is no reference any more.
    reference_days: int = 30
    #: The same held price, seen again within this fraction, is released.
    same_price: float = 0.05
    #: Listings of the same GPU that make a market to compare a single move with.
    min_peers: int = 3

    def is_far(self, factor: float) -> bool:
        """The factor of a price to another is more than one listing's move may be, up or down."""
        return abs(math.log(factor)) > math.log(1 + self.max_move)


#: Whole amounts that stand for "no price": 9999 (.99), 99999, 11111. As SQL and Python read a pattern.
_PLACEHOLDER = "^(9{4,}|1{5,})$"
#: In won and yen, where 99,990 is an ordinary price, only from eight digits on.
_PLACEHOLDER_WON = "^(9{5,}0*|1{8,})$"
#: What a whole amount looks like that may be a placeholder: SQL asks so, and `is_placeholder` has the last word.
MAY_BE_PLACEHOLDER = f"{_PLACEHOLDER}|{_PLACEHOLDER_WON}"
_IS_PLACEHOLDER, _IS_PLACEHOLDER_WON = re.compile(_PLACEHOLDER), re.compile(_PLACEHOLDER_WON)
_WON = ("KRW", "JPY")
_MIN_WON = 9_999_000

Hold = Literal["placeholder", "currency", "move", "crowd", "lost", "shuffled"]


class Compared(NamedTuple):
    """An incoming price beside the newest one that was believed, within the reference time.

    `had_price` says that this one was still valid when the night began. `is_steady` prices normally stay the same from day
    to day, so that many moves at once mean something; others wander, and would be held for ever if they had to be seen
    twice at the same price. `label` stands before the reason.
    """

    listing_id: str
    price: Decimal | None
    currency: str | None
    reference_price: Decimal | None
    reference_currency: str | None
    had_price: bool
    snapshot_sha256: str
    #: New, used and so on, where a market has it: a used card is compared with used ones.
    condition: str | None = None
    is_steady: bool = True
    label: str = ""

    @property
    def factor(self) -> float | None:
        """The price as a multiple of the reference, where both are there in one currency."""
        if self.price is None or not self.reference_price or self.currency != self.reference_currency:
            return None
        return float(self.price) / float(self.reference_price)


class Tally(NamedTuple):
    """A night in numbers: steady prices with a reference, those of them that moved by more than a crowd may, listings that
    had a price, those of them that show none now, and those of the moved ones that rose.
    """

    comparable: int
    moved: int
    known: int
    lost: int
    rose: int = 0

    @property
    def fell(self) -> int:
        """Those of the moved ones that fell."""
        return self.moved - self.rose


class Sighting(NamedTuple):
    """A price that is held already, and the runs that read its source since, before this one."""

    price: Decimal | None
    currency: str | None
    held_at: datetime
    runs: int


class Held(NamedTuple):
    """A price that is not believed, with the reason in words."""

    compared: Compared
    hold: Hold
    reason: str
    held_at: datetime
    times_held: int


def is_placeholder(price: Decimal, currency: str | None) -> bool:
    """The amount stands for "no price", whatever source it came from. It is never released by being seen again.

    The marks that pages themselves use for that are in `extract/price/no_price.py`; those never become a price.
    """
    if not price:
        return True
    if currency not in _WON:
        return bool(_IS_PLACEHOLDER.match(str(int(price))))
    return price > _MIN_WON and bool(_IS_PLACEHOLDER_WON.match(str(int(price))))


def suspected(doubtful: Iterable[Compared], tally: Tally, bounds: Bounds) -> list[tuple[Compared, Hold]]:
    """Those of `doubtful` that a rule suspects, with the rule."""
    is_crowd = tally.comparable >= bounds.min_crowd and tally.moved > tally.comparable * bounds.max_crowd_share
    is_loss = tally.known >= bounds.min_crowd and tally.lost > tally.known * bounds.max_lost_share
    return [(c, rule) for c in doubtful if (rule := _suspicion(c, bounds, is_crowd=is_crowd, is_loss=is_loss))]


def is_shuffled(tally: Tally, bounds: Bounds) -> bool:
    """Many prices moved at once, both up and down: they stand beside other listings than their own, or nearly all do."""
    is_crowd = tally.moved >= bounds.min_crowd and tally.moved > tally.comparable * bounds.max_crowd_share
    return is_crowd and min(tally.rose, tally.fell) >= tally.moved * bounds.min_both_ways


def agrees(moved: Sequence[Compared], seen: Mapping[str, Sighting], seen_at: datetime, bounds: Bounds) -> bool:
    """Most of the listings that `moved` away from what is believed ask what a held night asked, in another session: the
    night agrees with that one rather than with the one before it.
    """
    again = [
        c
        for c in moved
        if (before := seen.get(c.listing_id)) and _is_same(c, before, bounds) and _is_later(before, seen_at, bounds)
    ]
    # None moved where this very run believed the night before: a repeated run comes to the same.
    return not moved or len(again) > len(moved) / 2


def _is_later(before: Sighting, seen_at: datetime, bounds: Bounds) -> bool:
    """The sighting is of an earlier session than a night at `seen_at`: what is wrong now was not wrong then for its sake."""
    return seen_at - before.held_at >= timedelta(hours=bounds.session_hours)


def hold(
    suspects: Iterable[tuple[Compared, Hold]],
    seen: Mapping[str, Sighting],
    released: Sequence[tuple[str, Decimal]],
    night: tuple[datetime, Tally],
    bounds: Bounds,
) -> list[Held]:
    """The prices that are held: the suspects that were not `seen` at the same price on an earlier night.

    `released` are listings with the price that a person let pass. `night` is the time and the numbers of this one.
    """
    seen_at, tally = night
    passed: dict[str, list[Decimal]] = {}
    for listing, price in released:
        passed.setdefault(listing, []).append(price)
    held = []
    for c, rule in suspects:
        before = seen.get(c.listing_id)
        if before is not None and not _is_same(c, before, bounds):
            # Another price than the one that is held is a first sighting, whenever the listing was first held.
            before = None
        # Seen before, in an earlier session, at the same price: believed. A night that is held whole is believed whole.
        if before is not None and _is_later(before, seen_at, bounds) and rule not in ("placeholder", "shuffled"):
            continue
        if any(_is_near(c.price, price, bounds.same_price) for price in passed.get(c.listing_id, ())):
            continue
        first, times = (seen_at, 1) if before is None else (before.held_at, before.runs + 1)
        held.append(Held(c, rule, _reason(c, rule, tally), first, times))
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
    """Whether the move is large enough to mean something where many listings make it at once."""
    return abs(factor - 1) > bounds.crowd_move


def is_explained(
    c: Compared, asked_before: tuple[Decimal, Decimal] | None, peers: Sequence[Decimal], bounds: Bounds
) -> bool:
    """Whether other evidence explains the move, so that it is no slip.

    A listing that goes back and forth between two sellers asks a price that it asked before: `asked_before` are the lowest
    and the highest within the reference time, in the currency of now. A card that was far off its market may come back to
    what the other listings of the same GPU ask: `peers` are their prices in its currency, above zero.
    """
    assert c.price is not None
    price = float(c.price)
    if asked_before:
        least, most = (float(amount) for amount in asked_before)
        if least * (1 - bounds.same_price) <= price <= most * (1 + bounds.same_price):
            return True
    return len(peers) >= bounds.min_peers and not bounds.is_far(price / float(median(peers)))


def _is_same(c: Compared, before: Sighting, bounds: Bounds) -> bool:
    share = bounds.same_price if c.is_steady else bounds.crowd_move
    return c.currency == before.currency and (c.price == before.price or _is_near(c.price, before.price, share))


def _is_near(price: Decimal | None, other: Decimal | None, share: float) -> bool:
    if price is None or not other:
        return False
    return abs(float(price) / float(other) - 1) <= share


def _reason(c: Compared, hold: Hold, tally: Tally) -> str:
    match hold:
        case "placeholder":
            seen = f"{c.price} {c.currency} stands for no price"
        case "currency":
            seen = f"currency was {c.reference_currency} and is {c.currency}"
        case "shuffled":
            moves = f"{tally.rose} of {tally.comparable} prices rose and {tally.fell} fell"
            seen = f"the night is held whole: {moves} far at once"
        case "lost":
            seen = f"the price is gone, as on {tally.lost} of {tally.known} listings at once"
        case _:
            percent = f"{100 * ((c.factor or 0) - 1):+.0f}%"
            crowd = ", as on many others" if hold == "crowd" else ""
            seen = f"{c.reference_price} to {c.price} {c.currency} ({percent}) at once{crowd}"
    return f"{c.label}: {seen}" if c.label else seen
