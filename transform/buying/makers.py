"""What the program knows of prices before a night: what cards cost in a market lately, and what their makers ask.

The facts stand in `identity/data`: street prices in street_prices.csv, launch prices in msrp.csv, later ones of the makers
in list_prices.csv, ends of sale in sold_until.csv.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from gpuledger.message import Message
from gpuledger.transform import exchange_rates
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.cards import memory_kind

LAUNCH_PRICE = "launch price"
LIST_PRICE = "list price"
STREET_PRICE = "street price"
#: Days after which a street price is stale and the last price of a shop comes behind others, and days after which any price
#: counts as a launch price does.
FRESH_DAYS, _OLD = 90, 300
_OF_CARDS = ("consumer", "workstation")
_OF_MACHINES = ("integrated", "data_center")
#: Sold in China alone, where their makers announced prices in yuan.
_CHINA_ONLY = frozenset(
    (
        "amd-radeon-pro-w7900d", "amd-radeon-rx-7650-gre", "nvidia-geforce-rtx-5090-d", "nvidia-geforce-rtx-5090-d-v2",
        "nvidia-rtx-5880-ada-generation", "nvidia-rtx-6000d", "nvidia-rtx-pro-6000d-blackwell-max-q",
    )
)  # fmt: skip
#: What came out in this many years before the newest card and has no price is named; older ones nobody misses.
_YEARS = 2


class Asked(NamedTuple):
    """A price of `gpu` and the day since which it holds: STREET_PRICE, or LAUNCH_PRICE or LIST_PRICE, which its maker asks.

    A street price is that of a `condition` in a `market`, with its tax where prices there include it, from a `source`.
    """

    gpu: Gpu
    usd: Decimal
    day: date
    kind: str
    condition: str = "new"
    market: str | None = None
    source: str = ""
    page: str | None = None

    def is_old(self, today: date) -> bool:
        """Whether it says no more of today than what a maker asked at the start."""
        return (today - self.day).days > _OLD

    def mark(self, today: date) -> str:
        """`street price`, `stale, street price`, `launch price`."""
        is_stale = self.kind == STREET_PRICE and (today - self.day).days > FRESH_DAYS
        return f"stale, {self.kind}" if is_stale else self.kind


def known(market: str, today: date) -> list[Asked]:
    """The prices in a market, or in `all`: of each card new and not new what it costs there, else what its maker asks.

    An old street price of what is no longer made falls away, as its launch price did.
    """
    street = [
        price
        for price in _street()
        if market in (price.market, "all")
        and not (price.condition == "new" and price.gpu.gpu_id in _ended() and price.is_old(today))
    ]
    # Of several markets the lowest counts that is not stale.
    street.sort(key=lambda price: (price.mark(today) != STREET_PRICE, price.usd), reverse=True)
    street = list({(price.gpu.gpu_id, price.condition): price for price in street}.values())
    there = {price.gpu.gpu_id for price in street if price.condition == "new"}
    return [*street, *(price for gpu_id, price in asked().items() if gpu_id not in there)]


def newest_street_price(gpu_id: str) -> Asked | None:
    """What a new card cost last on the street of any market, None if nobody published that."""
    found = (price for price in _street() if (price.gpu.gpu_id, price.condition) == (gpu_id, "new"))
    return max(found, key=lambda price: price.day, default=None)


@functools.cache
def _street() -> tuple[Asked, ...]:
    cards, (_, rates) = catalogue.by_id(), exchange_rates.rates()
    return tuple(
        Asked(
            cards[row["gpu_id"]], Decimal(row["price"]) * Decimal(str(rates[row["currency"]])),
            date.fromisoformat(row["day"]), STREET_PRICE, row["condition"], row["market"], row["source"],
            row["page"] or None,
        )
        for row in catalogue.rows_of("street_prices.csv")
    )  # fmt: skip


@functools.cache
def asked() -> Mapping[str, Asked]:
    """By gpu_id: what is sold new today and has a price of its maker."""
    changed = {row["gpu_id"]: row for row in catalogue.rows_of("list_prices.csv")}
    prices: dict[str, Asked] = {}
    for gpu in _sold_to_people():
        row = changed.get(gpu.gpu_id)
        if gpu.gpu_id in _ended():
            continue
        if row is not None:
            usd, since = Decimal(row["list_usd"]), date.fromisoformat(row["since"])
            prices[gpu.gpu_id] = Asked(gpu, usd, since, LIST_PRICE)
        elif gpu.msrp_usd is not None and gpu.released_on is not None:
            prices[gpu.gpu_id] = Asked(gpu, gpu.msrp_usd, gpu.released_on, LAUNCH_PRICE)
    return prices


@functools.cache
def left_out() -> Mapping[str, Message]:
    """By gpu_id: why something that had a price, or that came out lately, has none today."""
    newest = max(price.day.year for price in asked().values())
    reasons: dict[str, Message] = {}
    for gpu in _sold_to_people():
        if gpu.gpu_id in asked():
            continue
        end = _ended().get(gpu.gpu_id)
        if end is not None:
            successor = catalogue.by_id()[end["successor"]].display_name
            reasons[gpu.gpu_id] = Message(
                "no longer sold since {day}, when {successor} came: only a price that somebody asks today counts, "
                "and none is known here", day=end["sold_until"], successor=successor,
            )  # fmt: skip
        elif gpu.msrp_usd is not None:
            reasons[gpu.gpu_id] = Message("the day of its price is not known")
        elif gpu.released_on is not None and newest - gpu.released_on.year <= _YEARS:
            reasons[gpu.gpu_id] = Message("no price of its maker is known: a quote in the inbox gives it one")
    return reasons


@functools.cache
def _ended() -> Mapping[str, Mapping[str, str]]:
    return {row["gpu_id"]: row for row in catalogue.rows_of("sold_until.csv")}


def _sold_to_people() -> Iterator[Gpu]:
    """Cards for desktops and workstations, and machines whose memory processor and graphics share."""
    for gpu in catalogue.gpus():
        is_machine = gpu.segment in _OF_MACHINES and memory_kind(gpu) == "shared"
        if (is_machine or gpu.segment in _OF_CARDS) and gpu.gpu_id not in _CHINA_ONLY:
            yield gpu
