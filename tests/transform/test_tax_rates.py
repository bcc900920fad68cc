"""Taxes by day: each market's rates follow one another, and a market has that of its day."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import pairwise

from gpuledger.transform.seeds import markets


def test_the_rate_of_a_market_is_that_of_the_day() -> None:
    german = {day: one.tax_rate for day in (date(2020, 6, 30), date(2020, 7, 1), date(2020, 12, 31), date(2021, 1, 1))
              for one in markets.markets(day) if one.market == "de"}  # fmt: skip
    assert list(german.values()) == [Decimal("0.19"), Decimal("0.16"), Decimal("0.16"), Decimal("0.19")]
    assert {one.market for one in markets.tax_rates()} == {one.market for one in markets.markets(date(2026, 1, 1))} - {
        "eu"
    }


def test_one_rate_ends_where_the_next_begins_and_the_last_holds() -> None:
    rates = markets.tax_rates()
    for one, after in pairwise(rates):
        if one.market == after.market:
            assert one.taxed_from < (one.taxed_until or date.max) == after.taxed_from
            assert one.tax_rate != after.tax_rate
        else:
            assert one.taxed_until is None
    assert all(one.origin and 0 <= one.tax_rate < Decimal("0.3") for one in rates)


def test_before_the_first_rate_none_is_known() -> None:
    ((american,),) = [[one for one in markets.markets(date(2023, 11, 16)) if one.market == "us"]]
    assert american.tax_rate is None
    assert american.prices_include_tax is False
