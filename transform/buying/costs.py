"""What it costs to own or to rent a card, as plain arithmetic on prices, watts and named assumptions.

Money is Decimal. Every price and speed here is above zero: callers without one must not call these functions.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.figures import assumed, both, shown
from gpuledger.transform.identity.gpu import Gpu

DAYS_A_YEAR = 365
SECONDS_AN_HOUR = 3600

#: The years for which a reservation is paid, None if only the hours of use are billed.
TERM_YEARS: Mapping[str, int | None] = MappingProxyType(
    {"on_demand": None, "spot": None, "reserved_1y": 1, "reserved_3y": 3}
)


@dataclass(frozen=True, slots=True)
class ElectricityPrice:
    """The price of one kilowatt-hour in `currency`, as the average of `period`, and the grams of CO2 of one in 2023."""

    country: str
    price: Decimal
    currency: str
    period: str
    source: str
    carbon_g: int | None = None


class Ownership(NamedTuple):
    """What cards cost over the horizon, in US dollars. `total` is purchase + host + electricity + other − resale.

    `hours` is the time for which the machine is on, and `busy_hours` the time for which it computes. `other` is tax, spare
    and failed cards, interest, and a place in a data center. `day_one` is what is paid when it is bought: cards, spares, the
    whole machine, and tax. `running` is what is paid later.
    """

    purchase: Decimal
    host: Decimal
    electricity: Decimal
    resale: Decimal
    hours: Decimal
    busy_hours: Decimal
    other: Decimal = Decimal(0)
    day_one: Decimal = Decimal(0)
    running: Decimal = Decimal(0)

    @property
    def kept(self) -> Decimal:
        """What is left at the end: what the cards bring, and the part of the machine that other uses bear."""
        return self.day_one + self.running - self.total

    @property
    def total(self) -> Decimal:
        """Everything that is paid, minus the resale."""
        return self.purchase + self.host + self.electricity + self.other - self.resale

    @property
    def running_per_hour(self) -> Decimal:
        """The cost of electricity for one hour in which the machine is on."""
        return self.electricity / self.hours


class Machine(NamedTuple):
    """The machine around the cards: its price, the watts that it draws without the cards, the part of the price that this
    use bears, and how many of the cards are in it already. Those cost nothing.
    """

    usd: Decimal
    watts: Decimal
    share: Decimal = Decimal(1)
    cards: int = 0


class Bought(NamedTuple):
    """What is bought: `boards` that each cost `price_usd` and draw `tdp_w` watts, in a `machine`."""

    price_usd: Decimal
    tdp_w: int
    boards: int
    machine: Machine
    assumptions: Assumptions

    def ownership(self) -> Ownership:
        """What it costs over the horizon (see ownership)."""
        return ownership(self.price_usd, self.tdp_w, self.assumptions, count=self.boards, machine=self.machine)


@dataclass(frozen=True, slots=True)
class RentVsBuy:
    """Owning and renting over the same hours. `break_even_hours` is None if an hour of rent costs less than electricity."""

    own: Ownership
    rent: Decimal
    break_even_hours: Decimal | None
    cheaper: Literal["buy", "rent"]


@functools.cache
def electricity_prices() -> Mapping[str, ElectricityPrice]:
    """Household prices by country (ISO 3166, and EU), each with its period and source, in its own currency."""
    text = (Path(__file__).parent / "electricity.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text, parse_float=Decimal)
    return MappingProxyType(
        {
            country: ElectricityPrice(country, **entry | {"price": Decimal(entry["price"])})
            for country, entry in entries.items()
        }
    )


def hours_of(assumptions: Assumptions) -> Decimal:
    """The hours over the horizon in which the machine is on or rented."""
    hours = assumptions.hours_per_day * DAYS_A_YEAR * assumptions.horizon_years
    return shown("hours", hours, "h", lambda: assumed(assumptions, "hours_per_day", "horizon_years"))


def wall_watts(
    tdp_w: int, count: int, assumptions: Assumptions, *, busy: bool, host_w: Decimal | None = None
) -> Decimal:
    """The power that the meter measures for a machine with `count` cards.

    It is (share of TDP × cards + host) / supply efficiency. Without `host_w` the host is the desktop of the assumptions.
    """
    share = assumptions.load_power_share if busy else assumptions.idle_power_share
    host = assumptions.host_power_w if host_w is None else host_w
    watts = (tdp_w * share * count + host) / assumptions.supply_efficiency
    return shown("power while busy" if busy else "power while waiting", watts, "W", lambda: both(
        Message("power limit of the card × share × cards + machine, through the supply"),
        assumed(assumptions, "load_power_share" if busy else "idle_power_share", "supply_efficiency"),
    ))  # fmt: skip


def energy(gpu: Gpu, count: int, each_a_second: float | None, assumptions: Assumptions) -> tuple[Message, ...]:
    """The joules of each token, picture or clip at the wall, by the power of the boards. Nobody measured them."""
    if gpu.tdp_w is None or not each_a_second:
        return ()
    watts = wall_watts(round(gpu.tdp_w), max(1, count // gpu.gpus_on_board), assumptions, busy=True)
    return (Message(
        "about {joules:,.2f} J each: {watts:,.0f} W at the wall by the board's power (load_power_share), nobody "
        "measured it", joules=float(watts) / each_a_second, watts=watts,
    ),)  # fmt: skip


def resale_usd(price_usd: Decimal, years: Decimal, assumptions: Assumptions) -> Decimal:
    """What the sale of a card brings after `years`: price × what is kept × (1 − selling_cost_share).

    What is kept is value_kept_per_year^years, at most 1 − first_drop_share: a card that was used for a day is a used one.
    """
    kept = min(assumptions.value_kept_per_year**years, 1 - assumptions.first_drop_share)
    return price_usd * kept * (1 - assumptions.selling_cost_share)


def ownership(
    price_usd: Decimal, tdp_w: int, assumptions: Assumptions, *, count: int = 1, machine: Machine | None = None
) -> Ownership:
    """The cost over the horizon of `count` cards that each cost `price_usd` and draw `tdp_w` watts.

    They are in `machine`, or in a desktop if that is None.
    """
    bought = count - (machine.cards if machine else 0)
    hours = hours_of(assumptions)
    busy_hours = hours * assumptions.utilisation
    machine = machine or Machine(assumptions.host_usd, assumptions.host_power_w, assumptions.host_share)
    busy = wall_watts(tdp_w, count, assumptions, busy=True, host_w=machine.watts)
    idle = wall_watts(tdp_w, count, assumptions, busy=False, host_w=machine.watts)
    watt_hours = busy_hours * busy + (hours - busy_hours) * idle
    purchase, host, years = price_usd * bought, machine.usd * machine.share, assumptions.horizon_years
    electricity = watt_hours / 1000 * (1 + assumptions.building_overhead) * assumptions.electricity_usd_per_kwh
    # What many people forget: spare and failed cards, tax and interest on all that is bought, and the place.
    spares = purchase * assumptions.spare_share
    tax = (purchase + spares + host) * assumptions.sales_tax_share
    later = (
        (purchase + spares + host + tax) * ((1 + assumptions.cost_of_capital) ** years - 1)
        + purchase * assumptions.failure_share_per_year * years
        + busy / 1000 * assumptions.colocation_usd_per_kw_month * 12 * years
    )
    return Ownership(
        purchase=purchase,
        host=host,
        electricity=electricity,
        resale=resale_usd(price_usd, years, assumptions) * bought if bought else Decimal(0),
        hours=hours,
        busy_hours=busy_hours,
        other=spares + tax + later,
        day_one=(purchase + spares + machine.usd) * (1 + assumptions.sales_tax_share),
        running=electricity + later,
    )


def rent_usd(hour_usd: Decimal, pricing_model: str, assumptions: Assumptions) -> Decimal:
    """The cost of a rented machine over the horizon, in US dollars.

    On-demand and spot instances bill the hours of use. A reservation (`reserved_1y`, `reserved_3y`) bills all 24 hours of
    each day, for as many whole terms as the horizon needs. Storage and egress cost the same each month, whatever the use.
    """
    years, horizon = TERM_YEARS[pricing_model], assumptions.horizon_years
    beside = (assumptions.storage_usd_per_month + assumptions.egress_usd_per_month) * 12 * horizon
    if years is None:
        return hour_usd * hours_of(assumptions) + beside
    terms = (horizon / years).to_integral_value(ROUND_CEILING)
    return hour_usd * 24 * DAYS_A_YEAR * (terms * years) + beside


def rent_per_used_hour(hour_usd: Decimal, pricing_model: str, assumptions: Assumptions) -> Decimal:
    """The cost of an hour of use, in US dollars (see rent_usd)."""
    return rent_usd(hour_usd, pricing_model, assumptions) / hours_of(assumptions)


def break_even_hours(own: Ownership, rent_usd_per_hour: Decimal) -> Decimal | None:
    """The hours of use after which owning has cost less than renting, None if that never happens.

    They are (purchase + host + other − resale) / (rent − electricity of an hour). The resale is the one at the end of the
    horizon. So if the answer exceeds the hours of the horizon, owning does not pay within the horizon.
    """
    saved = rent_usd_per_hour - own.running_per_hour
    if saved <= 0:
        return None
    return (own.purchase + own.host + own.other - own.resale) / saved


def rent_vs_buy(own: Ownership, rent_usd_per_hour: Decimal) -> RentVsBuy:
    """Compares owning cards with renting an instance for the same hours. Hours without work are paid too."""
    rent = rent_usd_per_hour * own.hours
    return RentVsBuy(
        own=own,
        rent=rent,
        break_even_hours=break_even_hours(own, rent_usd_per_hour),
        cheaper="buy" if own.total < rent else "rent",
    )


def cost_per_units(total_usd: Decimal, busy_hours: Decimal, units_per_s: float, units: int) -> Decimal:
    """US dollars for `units` of output (tokens, images), if the machine makes `units_per_s` while it computes."""
    produced = SECONDS_AN_HOUR * busy_hours * Decimal(str(units_per_s))
    return total_usd / produced * units


def cost_per_million_tokens(total_usd: Decimal, busy_hours: Decimal, tokens_per_s: float) -> Decimal:
    """US dollars for a million tokens."""
    return cost_per_units(total_usd, busy_hours, tokens_per_s, 1_000_000)


def cost_per_thousand_images(total_usd: Decimal, busy_hours: Decimal, images_per_s: float) -> Decimal:
    """US dollars for a thousand images."""
    return cost_per_units(total_usd, busy_hours, images_per_s, 1_000)
