"""One card against one instance: what a reservation really costs, what a card kept."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions, from_table, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.rent_or_buy import Pair, compare

PAIR = Pair(price_usd=Decimal(1600), tdp_w=300, cards=1, hour_usd=Decimal("0.5"), pricing_model="on_demand")


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


def test_an_unknown_pricing_model_or_a_free_hour_is_refused() -> None:
    with pytest.raises(costs.ImpossibleCost, match="'lease' is not known; known are on_demand, spot, reserved_1y"):
        costs.rent_per_used_hour(Decimal(1), "lease", Assumptions())
    with pytest.raises(costs.ImpossibleCost, match="a rent must be above zero, not 0"):
        costs.rent_per_used_hour(Decimal(0), "spot", Assumptions())


def test_what_a_card_kept_goes_before_the_assumption() -> None:
    seen = dataclasses.replace(PAIR, value_kept=Decimal("0.9"))
    assert compare(seen, Assumptions()).own.resale == Decimal(1600) * Decimal("0.9") ** 3 * Decimal("0.9")
    assert compare(PAIR, Assumptions()).own.resale == Decimal(1600) * Decimal("0.75") ** 3 * Decimal("0.9")
    assert with_value_kept(Assumptions(), None) == Assumptions()


@given(
    price=st.decimals(50, 50_000, places=2), hour=st.decimals("0.02", 50, places=3), years=st.decimals("0.1", 9, places=1),
    model=st.sampled_from(sorted(costs.TERM_YEARS)), cards=st.integers(1, 8),
)  # fmt: skip
def test_the_cheaper_way_breaks_even_within_the_horizon(
    price: Decimal, hour: Decimal, years: Decimal, model: str, cards: int
) -> None:
    assumptions = dataclasses.replace(Assumptions(), horizon_years=years)
    answer = compare(Pair(price_usd=price, tdp_w=300, cards=cards, hour_usd=hour, pricing_model=model), assumptions)
    hours = answer.break_even_hours
    assert (answer.cheaper == "buy") == (hours is not None and hours < answer.own.hours)


def test_assumptions_of_a_table_are_exact_and_unknown_names_are_left_out() -> None:
    rows = [(one.name, Decimal(str(one.value)) + Decimal("0.000000")) for one in Assumptions().describe()]
    assert from_table([*rows, ("of_a_newer_program", 1)]) == Assumptions()
    assert from_table([("kv_cache_bits", 8.0)]).kv_cache_bits == 8
    assert from_table([]) == Assumptions()
