"""Owning and renting: arithmetic by hand, every assumption felt, what a reservation really costs, what a card kept."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions, from_table, with_value_kept
from gpuledger.transform.buying import costs

#: Round numbers, so that the arithmetic can be followed.
SIMPLE = Assumptions(
    hours_per_day=Decimal(10),
    utilisation=Decimal("0.5"),
    horizon_years=Decimal(2),
    electricity_usd_per_kwh=Decimal("0.20"),
    load_power_share=Decimal(1),
    idle_power_share=Decimal("0.1"),
    host_power_w=Decimal(100),
    supply_efficiency=Decimal("0.8"),
    host_usd=Decimal(1000),
    host_share=Decimal("0.5"),
    value_kept_per_year=Decimal("0.5"),
    first_drop_share=Decimal("0.2"),
    selling_cost_share=Decimal("0.1"),
)


def test_watts_at_the_meter() -> None:
    assert costs.wall_watts(300, 1, SIMPLE, busy=True) == 500
    assert costs.wall_watts(300, 1, SIMPLE, busy=False) == Decimal("162.5")
    assert costs.wall_watts(300, 2, SIMPLE, busy=True) == 875


def test_owning_by_hand() -> None:
    own = costs.ownership(Decimal(1600), 300, SIMPLE)
    assert (own.hours, own.busy_hours) == (7300, 3650)
    assert own.electricity == (3650 * Decimal(500) + 3650 * Decimal("162.5")) / 1000 * Decimal("0.20")
    assert own.resale == 400 - 40
    assert own.host == 500
    assert own.total == 1600 + 500 + own.electricity - 360
    # On day one the whole machine is paid; the half that other uses bear is left at the end, as the card's resale is.
    assert (own.day_one, own.running, own.kept) == (2600, own.electricity, 500 + 360)


def test_a_card_that_is_there_costs_its_electricity_alone() -> None:
    machine = costs.Machine(Decimal(0), Decimal(100), cards=1)
    one = costs.ownership(Decimal(1600), 300, SIMPLE, machine=machine)
    assert (one.day_one, one.resale, one.total) == (0, 0, one.electricity)
    two = costs.ownership(Decimal(1600), 300, SIMPLE, count=2, machine=machine)
    assert (two.day_one, two.resale) == (1600, 360)
    assert two.electricity > one.electricity


def test_two_cards_share_one_host() -> None:
    own = costs.ownership(Decimal(1600), 300, SIMPLE, count=2)
    assert (own.purchase, own.host, own.resale) == (3200, 500, 720)


def test_break_even_is_where_both_cost_the_same() -> None:
    rent = Decimal("0.50")
    result = costs.rent_vs_buy(costs.ownership(Decimal(1600), 300, SIMPLE), rent)
    hours = result.break_even_hours
    own = result.own
    at_break_even = own.purchase + own.host - own.resale + own.running_per_hour * hours
    assert at_break_even == pytest.approx(rent * hours)
    assert result.rent == rent * 7300
    assert result.cheaper == ("buy" if hours < 7300 else "rent")


def test_renting_that_costs_less_than_the_electricity_never_breaks_even() -> None:
    result = costs.rent_vs_buy(costs.ownership(Decimal(1600), 300, SIMPLE), Decimal("0.05"))
    assert result.break_even_hours is None
    assert result.cheaper == "rent"


@given(
    price=st.decimals(1, 50_000, places=2),
    tdp=st.integers(30, 1200),
    rent=st.decimals("0.01", 20, places=3),
    years=st.decimals("0.5", 8, places=1),
)
def test_the_cheaper_one_is_cheaper_whatever_the_numbers(
    price: Decimal, tdp: int, rent: Decimal, years: Decimal
) -> None:
    assumptions = dataclasses.replace(Assumptions(), horizon_years=years)
    result = costs.rent_vs_buy(costs.ownership(price, tdp, assumptions), rent)
    assert (result.cheaper == "buy") == (result.own.total < result.rent)
    hours = result.break_even_hours
    # Breaking even within the horizon and buying being cheaper are one statement.
    assert (hours is not None and hours < result.own.hours) == (result.cheaper == "buy")


def test_cost_of_tokens_and_images() -> None:
    # 100 tokens/s for 1,000 busy hours are 360 million tokens.
    assert costs.cost_per_million_tokens(Decimal(720), Decimal(1000), 100.0) == 2
    assert costs.cost_per_thousand_images(Decimal(720), Decimal(1000), 2.0) == Decimal("0.1")


def test_a_card_loses_a_part_at_once_and_then_the_same_share_every_year() -> None:
    assert costs.resale_usd(Decimal(1600), Decimal(2), SIMPLE) == 360
    # After no time at all it is a used card, and its sale costs something.
    assert costs.resale_usd(Decimal(1600), Decimal(0), SIMPLE) == Decimal(1600) * Decimal("0.8") * Decimal("0.9")
    used = with_value_kept(SIMPLE, None, is_new=False)
    assert costs.resale_usd(Decimal(1600), Decimal(0), used) == 1440, "a used one was that before"


@pytest.mark.parametrize(
    "name",
    [
        "hours_per_day",
        "utilisation",
        "horizon_years",
        "electricity_usd_per_kwh",
        "load_power_share",
        "idle_power_share",
        "host_power_w",
        "supply_efficiency",
        "host_usd",
        "host_share",
        "value_kept_per_year",
        "selling_cost_share",
    ],
)
def test_every_assumption_of_cost_moves_the_answer(name: str) -> None:
    half = dataclasses.replace(SIMPLE, **{name: getattr(SIMPLE, name) / 2 if name != "supply_efficiency" else 1})
    assert costs.ownership(Decimal(1600), 300, half).total != costs.ownership(Decimal(1600), 300, SIMPLE).total


def test_electricity_by_country() -> None:
    prices = costs.electricity_prices()
    assert prices["US"].price == Decimal("0.160") == Assumptions().electricity_usd_per_kwh
    assert {"KR", "DE", "EU", "JP", "GB", "FR"} <= set(prices)
    for price in prices.values():
        assert price.price > 0
        assert len(price.currency) == 3
        assert price.source
        assert price.period[:2] == "20"


def test_what_many_leave_out_by_hand() -> None:
    more = dataclasses.replace(
        SIMPLE, spare_share=Decimal("0.25"), sales_tax_share=Decimal("0.1"), cost_of_capital=Decimal("0.1"),
        failure_share_per_year=Decimal("0.05"), colocation_usd_per_kw_month=Decimal(100), building_overhead=Decimal("0.5"),
    )  # fmt: skip
    plain, own = (costs.ownership(Decimal(1600), 300, one) for one in (SIMPLE, more))
    assert plain.other == 0
    # Spares 400; tax a tenth of 1,600 + 400 + 500 = 250; interest of two years, 21%, on 2,750; a tenth of 1,600 fails;
    # half a kilowatt for 24 months.
    assert own.other == 400 + 250 + Decimal("577.50") + 160 + Decimal("0.5") * 100 * 24
    assert own.electricity == plain.electricity * Decimal("1.5")
    assert own.total - plain.total == own.other + plain.electricity / 2


def test_storage_and_egress_are_paid_by_the_month() -> None:
    more = dataclasses.replace(SIMPLE, storage_usd_per_month=Decimal(73), egress_usd_per_month=Decimal(146))
    # 219 USD a month over 3,650 hours of use a year.
    for way in ("on_demand", "reserved_1y"):
        difference = costs.rent_per_used_hour(Decimal(2), way, more) - costs.rent_per_used_hour(Decimal(2), way, SIMPLE)
        assert difference == Decimal(219) * 12 / 3650


@pytest.mark.parametrize(
    ("model", "years", "hours", "paid_years"),
    [
        ("on_demand", "2", "8", None),
        ("spot", "2", "8", None),
        ("reserved_1y", "2", "8", 2),
        ("reserved_1y", "0.5", "8", 1),
        ("reserved_1y", "1.5", "24", 2),
        ("reserved_3y", "1", "8", 3),
        ("reserved_3y", "4", "8", 6),
    ],
)
def test_a_reservation_is_paid_around_the_clock_and_for_whole_terms(
    model: str, years: str, hours: str, paid_years: int | None
) -> None:
    assumptions = dataclasses.replace(Assumptions(), horizon_years=Decimal(years), hours_per_day=Decimal(hours))
    used = Decimal(hours) * 365 * Decimal(years)
    paid = used if paid_years is None else Decimal(24 * 365 * paid_years)
    rate = costs.rent_per_used_hour(Decimal("0.5"), model, assumptions)
    assert rate * used == pytest.approx(Decimal("0.5") * paid)


def test_what_a_card_kept_goes_before_the_assumption() -> None:
    for value_kept, a_year in ((Decimal("0.9"), "0.9"), (None, "0.75")):
        own = costs.ownership(Decimal(1600), 300, with_value_kept(Assumptions(), value_kept))
        assert own.resale == Decimal(1600) * Decimal(a_year) ** 3 * Decimal("0.9")
    assert with_value_kept(Assumptions(), None) == Assumptions()


@given(
    price=st.decimals(50, 50_000, places=2), hour=st.decimals("0.02", 50, places=3), years=st.decimals("0.1", 9, places=1),
    model=st.sampled_from(sorted(costs.TERM_YEARS)), cards=st.integers(1, 8),
)  # fmt: skip
def test_the_cheaper_way_breaks_even_within_the_horizon(
    price: Decimal, hour: Decimal, years: Decimal, model: str, cards: int
) -> None:
    assumptions = dataclasses.replace(Assumptions(), horizon_years=years)
    own = costs.ownership(price, 300, assumptions, count=cards)
    answer = costs.rent_vs_buy(own, costs.rent_per_used_hour(hour, model, assumptions))
    hours = answer.break_even_hours
    assert (answer.cheaper == "buy") == (hours is not None and hours < answer.own.hours)


def test_assumptions_of_a_table_are_exact_and_unknown_names_are_left_out() -> None:
    rows = [(one.name, Decimal(str(one.value)) + Decimal("0.000000")) for one in Assumptions().describe()]
    assert from_table([*rows, ("of_a_newer_program", 1)]) == Assumptions()
    assert from_table([("kv_cache_bits", 8.0)]).kv_cache_bits == 8
    assert from_table([]) == Assumptions()
