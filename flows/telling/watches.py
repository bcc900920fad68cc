"""The watches of a data directory, decisions/watches.toml, and what each of them finds: whether its condition is met
in the published warehouse, with the evidence (price, shop, address, page, age).
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from gpuledger import records
from gpuledger.extract.source import seller
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.flows.words.say import say
from gpuledger.message import Label, Message, Sum
from gpuledger.transform.answers import markets, watched
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import together

Rule = Literal["below", "new_low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One condition to be notified of, once each time that it becomes true.

    The rule says which condition:

    - `below`: the street price of the card `gpu_id` is below the amount `below`.
    - `new_low`: the street price of the card is lower than on every one of the `days` before.

    Money is in `currency`, at the rate of the day on which the watch is looked at.
    """

    id: int
    rule: Rule
    gpu_id: str
    gpu: str | None = None
    below: Decimal | None = None
    currency: str = "USD"
    days: int | None = None
    added_on: date | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Z]{3}", self.currency):
            raise ValueError(f"{self.currency!r} is no currency's code such as EUR")
        if self.below is not None and not (self.below.is_finite() and self.below > 0):
            raise ValueError(f"below is an amount above zero, and not {self.below}")
        if below_zero := [name for name in ("id", "days") if (getattr(self, name) or 0) < 0]:
            raise ValueError(f"{', '.join(below_zero)} must not be below zero")
        needed = "below" if self.rule == "below" else "days"
        if getattr(self, needed) is None:
            raise ValueError(f"the rule {self.rule} needs {needed}")

    def sum(self, money: Decimal) -> Sum:
        """An amount in the currency of this watch."""
        return Currency(self.currency, 1, None).as_paid(money)

    @property
    def waits_for(self) -> Message:
        """The condition in words."""
        if self.below is not None and self.rule == "below":
            return Message("{gpu} below {amount}", gpu=self.gpu, amount=self.sum(self.below))
        return Message("{gpu} at its lowest price of {days} days", gpu=self.gpu, days=self.days)


#: The watches of a data directory. Their ids are given once, by `add`.
WATCHES = records.Kind("watch", "watches.toml", key=lambda watch: watch.id, read=records.typed(Watch))


def add(data: DataDir, watch: Watch) -> Watch:
    """Store a watch under the next free id. Raises SettingsError if the same watch is stored already, and BadRecord."""
    known = WATCHES.all(data.root)
    for stored in known:
        if replace(stored, id=0, added_on=None) == replace(watch, id=0, added_on=None):
            raise SettingsError(f"watch {stored.id} is the same: {stored.waits_for}")
    added = replace(watch, id=max((stored.id for stored in known), default=0) + 1)
    WATCHES.put(data.root, added)
    return added


# ── what they find ──


@dataclass(frozen=True, slots=True)
class WatchResult:
    """What one watch found, in words. `is_met` is None if it cannot be told, as when the card has no price that counts."""

    watch: Watch
    is_met: bool | None
    told: tuple[Message | str, ...]

    @property
    def body(self) -> str:
        """The headline and the evidence below it."""
        return "\n".join(map(say, self.told))


def look(data: DataDir, watches: list[Watch], now: datetime) -> list[WatchResult]:
    """Look at each watch in the published file. Raises NoWarehouse."""
    with together(data) if watches else nullcontext():
        return [_look(data, watch, now) for watch in watches]


def _look(data: DataDir, watch: Watch, now: datetime) -> WatchResult:
    def unknown(why: Message) -> WatchResult:
        return WatchResult(
            watch, None, (Message("{watch}: it cannot be told, as {why}", watch=watch.waits_for, why=why),)
        )

    rate = markets.rate(data, watch.currency, None)
    if rate is None:
        return unknown(Message("there is no exchange rate for {currency}", currency=watch.currency))
    price = watched.street_price(data, watch.gpu_id)
    if price is None:
        return unknown(Message("no price counts now"))
    amount = Currency(watch.currency, rate.usd, rate.day).of(price["price_usd"])
    costs = Message(
        "{gpu} costs {amount} at {shop}", gpu=watch.gpu, amount=watch.sum(amount),
        shop=seller(price["source"], price["url"], price["vendor"]),
    )  # fmt: skip
    if price["price_mark"]:
        costs = Message("{costs} ({mark})", costs=costs, mark=tuple(map(Label, price["price_mark"].split(", "))))
    hours = (now - price["last_seen_at"]).total_seconds() / 3600
    evidence = (
        f"{price['price'].normalize():,f} {price['currency']}: {price['title']}",
        str(price["url"]),
        Message(
            "seen {hours:.0f} h ago, at this price since {day}; page {page}"
            if hours >= 0.5
            else "just seen, at this price since {day}; page {page}",
            hours=hours, day=f"{price['price_since']:%Y-%m-%d}", page=price["snapshot_sha256"][:16],
        ),
    )  # fmt: skip
    if watch.rule == "below" and watch.below is not None:
        asked = Message("{costs}; you asked for below {amount}", costs=costs, amount=watch.sum(watch.below))
        return WatchResult(watch, amount < watch.below, (asked, *evidence))
    row = watched.lowest_before(data, watch.gpu_id, now, watch.days or 0, watch.currency)
    # The first price ever seen is no news: without an earlier day there is no price to be lower than.
    if not row["days"]:
        return unknown(Message("no price of the {days} days before today is known", days=watch.days))
    lowest = Message(
        "{costs}; the lowest of the {days} days before was {amount} on {day} (prices are known for {known} of them, since "
        "{since})",
        costs=costs, days=watch.days, amount=watch.sum(row["low"]), day=row["low_on"], known=row["days"],
        since=row["since"],
    )  # fmt: skip
    return WatchResult(watch, amount < row["low"], (lowest, *evidence))
