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
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.message import Message
from gpuledger.transform.answers import markets, watched
from gpuledger.transform.answers.watched import Row
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

    def amount(self, money: Decimal | None) -> str:
        """An amount in the currency of this watch, as people write it."""
        if money is None:
            return ""
        return f"${money:,}" if self.currency == "USD" else f"{money:,f} {self.currency}"

    @property
    def waits_for(self) -> Message:
        """The condition in words."""
        if self.rule == "below":
            return Message("{gpu} below {amount}", gpu=self.gpu, amount=self.amount(self.below))
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


def remove(data: DataDir, number: int) -> Watch:
    """Remove the watch with this id. Raises SettingsError, which lists the known ids, if there is none, and BadRecord."""
    removed = WATCHES.remove(data.root, number)
    if removed is None:
        ids = ", ".join(str(watch.id) for watch in WATCHES.all(data.root)) or "none"
        raise SettingsError(f"there is no watch {number}; there are: {ids}")
    return removed


# ── what they find ──


@dataclass(frozen=True, slots=True)
class WatchResult:
    """What one watch found. `is_met` is None if the answer is unknown, as when the card has no price that counts tonight."""

    watch: Watch
    is_met: bool | None
    headline: str
    evidence: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        """The headline and the evidence below it."""
        return "\n".join([self.headline, *self.evidence])


def look(data: DataDir, watches: list[Watch], now: datetime) -> list[WatchResult]:
    """Look at each watch in the published file. Raises NoWarehouse."""
    with together(data) if watches else nullcontext():
        return [_look(data, watch, now) for watch in watches]


def _look(data: DataDir, watch: Watch, now: datetime) -> WatchResult:
    rate = markets.rate(data, watch.currency, None)
    if rate is None:
        return _unknown(watch, gettext("there is no exchange rate for {currency}").format(currency=watch.currency))
    price = watched.street_price(data, watch.gpu_id)
    if price is None:
        return _unknown(watch)
    amount = Currency(watch.currency, rate.usd, rate.day).of(price["price_usd"])
    mark = f" ({spoken(price['price_mark'])})" if price["price_mark"] else ""
    costs = gettext("{gpu} costs {amount}").format(gpu=watch.gpu, amount=f"{_money(amount, watch)}{mark}")
    evidence = _offer(price, watch, amount, now)
    if watch.rule == "below" and watch.below is not None:
        asked = gettext("you asked for below {amount}").format(amount=_money(watch.below, watch))
        return WatchResult(watch, amount < watch.below, f"{costs}; {asked}", evidence)
    row = watched.lowest_before(data, watch.gpu_id, now, watch.days or 0, watch.currency)
    # The first price ever seen is no news: without an earlier day there is no price to be lower than.
    if not row["days"]:
        return _unknown(watch, gettext("no price of the {days} days before today is known").format(days=watch.days))
    lowest = gettext("the lowest of the {days} days before was {amount} on {day}").format(
        days=watch.days, amount=_money(row["low"], watch), day=row["low_on"]
    )
    known = gettext("prices are known for {days} of those days, since {day}").format(days=row["days"], day=row["since"])
    return WatchResult(watch, amount < row["low"], f"{costs}; {lowest}", (known, *evidence))


def _offer(price: Row, watch: Watch, amount: Decimal, now: datetime) -> tuple[str, ...]:
    """The evidence for a price, as a buyer would check it: shop, title, address and age."""
    printed = f" ({price['price'].normalize():,f} {price['currency']})" if price["currency"] != watch.currency else ""
    hours = max(0.0, (now - price["last_seen_at"]).total_seconds() / 3600)
    return (
        f"{_money(amount, watch)}{printed} {gettext('at {shop}').format(shop=price['source'])}: {price['title']}",
        str(price["url"]),
        gettext("seen {hours:.0f} h ago, at this price since {day:%Y-%m-%d}; page {page}").format(
            hours=hours, day=price["price_since"], page=price["snapshot_sha256"][:16]
        ),
    )


def _unknown(watch: Watch, why: str = "") -> WatchResult:
    told = gettext("it cannot be told, as {why}").format(why=why or gettext("no price counts now"))
    return WatchResult(watch, None, f"{say(watch.waits_for)}: {told}")


def _money(amount: Decimal, watch: Watch) -> str:
    return watch.amount(round(amount, 2) if watch.currency == "USD" else amount)
