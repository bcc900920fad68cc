"""The watches of a data directory, decisions/watches.toml, and what each of them finds: whether its condition is met
in the published warehouse, with the evidence (price, shop, address, page, age).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

import duckdb

from gpuledger.extract import records
from gpuledger.extract.message import Message
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.transform.answers import watched
from gpuledger.transform.answers.watched import Row
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

Rule = Literal["below", "value_rank", "new_low", "fits"]
Basis = Literal["street", "msrp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One condition to be notified of, once each time that it becomes true.

    The rule says which condition:

    - `below`: the street price of the card `gpu_id` is below the amount `below`.
    - `value_rank`: the card is among the best `rank` of `workload` by score per dollar, at the price `basis`.
    - `new_low`: the street price of the card is lower than on every one of the `days` before.
    - `fits`: cards that hold `model` (at `precision` and `context_tokens`) together cost less than `below`. If `gpu_id` is
      set, only that card counts.

    Money is in `currency`, at the rate of the day on which the watch is looked at.
    """

    id: int
    rule: Rule
    gpu_id: str | None = None
    gpu: str | None = None
    below: Decimal | None = None
    currency: str = "USD"
    workload: str | None = None
    rank: int | None = None
    basis: Basis = "street"
    days: int | None = None
    model: str | None = None
    precision: str | None = None
    context_tokens: int | None = None
    added_on: date | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Z]{3}", self.currency):
            raise ValueError(Message("{currency!r} is no currency's code such as EUR", currency=self.currency))
        if self.below is not None and not (self.below.is_finite() and self.below > 0):
            raise ValueError(Message("below is an amount above zero, and not {below}", below=self.below))
        if below_zero := [name for name in ("id", "rank", "days", "context_tokens") if (getattr(self, name) or 0) < 0]:
            raise ValueError(Message("{names} must not be below zero", names=tuple(below_zero)))
        if missing := [name for name in _NEEDED[self.rule] if getattr(self, name) is None]:
            raise ValueError(Message("the rule {rule} needs {missing}", rule=self.rule, missing=tuple(missing)))

    def amount(self, money: Decimal | None) -> str:
        """An amount in the currency of this watch, as people write it."""
        if money is None:
            return ""
        return f"${money:,}" if self.currency == "USD" else f"{money:,f} {self.currency}"

    @property
    def waits_for(self) -> str:
        """The condition in words."""
        below = self.amount(self.below)
        match self.rule:
            case "below":
                return f"{self.gpu} below {below}"
            case "value_rank":
                return f"{self.gpu} among the best {self.rank} of {self.workload} by {self.basis} price"
            case "new_low":
                return f"{self.gpu} at its lowest price of {self.days} days"
            case "fits":
                cards = self.gpu or "any cards"
                return f"{self.model} ({self.precision}, {self.context_tokens} tokens) on {cards} below {below}"


#: The watches of a data directory. Their ids are given once, by `add`.
WATCHES = records.Kind("watch", "watches.toml", key=lambda watch: watch.id, read=records.typed(Watch))
#: What a watch of each rule needs.
_NEEDED = {
    "below": ("gpu_id", "below"), "value_rank": ("gpu_id", "workload", "rank"), "new_low": ("gpu_id", "days"),
    "fits": ("model", "precision", "context_tokens", "below"),
}  # fmt: skip


def add(data: DataDir, watch: Watch) -> Watch:
    """Store a watch under the next free id. Raises SettingsError if the same watch is stored already, and BadRecord."""
    known = WATCHES.all(data.root)
    for stored in known:
        if replace(stored, id=0, added_on=None) == replace(watch, id=0, added_on=None):
            raise SettingsError(
                Message("watch {id} is the same: {waits_for}", id=stored.id, waits_for=stored.waits_for)
            )
    added = replace(watch, id=max((stored.id for stored in known), default=0) + 1)
    WATCHES.put(data.root, added)
    return added


def remove(data: DataDir, number: int) -> Watch:
    """Remove the watch with this id. Raises SettingsError, which lists the known ids, if there is none, and BadRecord."""
    removed = WATCHES.remove(data.root, number)
    if removed is None:
        ids = ", ".join(str(watch.id) for watch in WATCHES.all(data.root)) or "none"
        raise SettingsError(Message("there is no watch {number}; there are: {ids}", number=number, ids=ids))
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
    """Look at each watch in the published file. Raises NoWarehouse, and BadQuery if a watch cannot be answered."""
    if not watches:
        return []
    with reader(data) as con:
        return [_look(con, watch, now) for watch in watches]


def _look(con: duckdb.DuckDBPyConnection, watch: Watch, now: datetime) -> WatchResult:
    rate = watched.rate(con, watch.currency)
    if rate is None:
        return _unknown(watch, f"there is no exchange rate for {watch.currency} now")
    return _RULES[watch.rule](con, watch, _Now(now, Currency(watch.currency, *rate)))


@dataclass(frozen=True, slots=True)
class _Now:
    """When a watch is looked at, and the currency in which its amounts are given."""

    time: datetime
    currency: Currency


def _below(con: duckdb.DuckDBPyConnection, watch: Watch, now: _Now) -> WatchResult:
    price = watched.street_price(con, watch.gpu_id)
    if price is None:
        return _unknown(watch)
    assert watch.below is not None
    amount = now.currency.of(price["price_usd"])
    headline = f"{watch.gpu} costs {_money(amount, watch)}; you asked for below {_money(watch.below, watch)}"
    return WatchResult(watch, amount < watch.below, headline, _offer(price, watch, now))


def _value_rank(con: duckdb.DuckDBPyConnection, watch: Watch, now: _Now) -> WatchResult:
    row = watched.place(con, watch.workload, watch.basis, watch.gpu_id)
    if row is None:
        return _unknown(watch, f"it has no score and {watch.basis} price in {watch.workload} now")
    assert watch.rank is not None
    headline = (
        f"{watch.gpu} is number {row['value_rank']} of {row['of']} in {watch.workload} by {watch.basis} price: "
        f"{row['score'].normalize():f} {row['unit']} for {_money(now.currency.of(row['price_usd']), watch)}"
    )
    price = watched.street_price(con, watch.gpu_id) if watch.basis == "street" else None
    return WatchResult(watch, row["value_rank"] <= watch.rank, headline, _offer(price, watch, now) if price else ())


def _new_low(con: duckdb.DuckDBPyConnection, watch: Watch, now: _Now) -> WatchResult:
    price = watched.street_price(con, watch.gpu_id)
    row = watched.lowest_before(con, watch.gpu_id, watched.Before(now.time, watch.days, watch.currency))
    # The first price ever seen is no news: without an earlier day there is no price to be lower than.
    if price is None or row is None:
        return _unknown(watch)
    if not row["days"]:
        return _unknown(watch, f"no price of the {watch.days} days before today is known")
    amount = now.currency.of(price["price_usd"])
    headline = (
        f"{watch.gpu} costs {_money(amount, watch)}; the lowest of the {watch.days} days before was "
        f"{_money(row['low'], watch)} on {row['low_on']}"
    )
    known = f"prices are known for {row['days']} of those days, since {row['since']}"
    return WatchResult(watch, amount < row["low"], headline, (known, *_offer(price, watch, now)))


def _fits(con: duckdb.DuckDBPyConnection, watch: Watch, now: _Now) -> WatchResult:
    row = watched.cheapest_fit(con, watch.model, watch.precision, watch.context_tokens, watch.gpu_id)
    if row is None:
        return _unknown(watch)
    assert watch.below is not None
    amount = now.currency.of(row["total_price_usd"])
    headline = (
        f"{watch.model} fits on {row['gpu_count']} × {row['gpu']} for {_money(amount, watch)}; you asked for below "
        f"{_money(watch.below, watch)}"
    )
    need = (
        f"it needs {row['needed_gb']:.1f} GB at {watch.precision} and {watch.context_tokens} tokens; "
        f"they hold {row['available_gb']:.1f} GB"
    )
    price = watched.street_price(con, row["gpu_id"])
    return WatchResult(watch, amount < watch.below, headline, (need, *(_offer(price, watch, now) if price else ())))


_RULES = {"below": _below, "value_rank": _value_rank, "new_low": _new_low, "fits": _fits}


def _offer(price: Row, watch: Watch, now: _Now) -> tuple[str, ...]:
    """The evidence for a price, as a buyer would check it: shop, title, address and age."""
    printed = f" ({price['price'].normalize():,f} {price['currency']})" if price["currency"] != watch.currency else ""
    seen_at = price["last_seen_at"]
    hours = max(0.0, (now.time - seen_at).total_seconds() / 3600)
    return (
        f"{_money(now.currency.of(price['price_usd']), watch)}{printed} at {price['source']}: {price['title']}",
        str(price["url"]),
        f"seen {hours:.0f} h ago, at this price since {price['price_since']:%Y-%m-%d}; page {price['snapshot_sha256'][:16]}",
    )


def _unknown(watch: Watch, why: str = "no price counts now") -> WatchResult:
    return WatchResult(watch, None, f"{watch.waits_for}: it cannot be told, as {why}")


def _money(amount: Decimal, watch: Watch) -> str:
    return watch.amount(round(amount, 2) if watch.currency == "USD" else amount)
