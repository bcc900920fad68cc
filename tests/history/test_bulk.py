"""A bulk load knows at each night what a load night by night would know."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.command import rows
from tests.history.replays import START, load, price_table


def test_a_card_that_comes_home_to_its_market_is_believed_at_once(tmp_path: Path) -> None:
    """The gate compares a price with those of the same GPU, which the titles of earlier nights must have for that."""

    def price(product: int, night: int) -> str:
        far = 1_500_000 if product == 0 and night < 2 else 0
        return f"{far or 500_000 + 1_000 * product:,}"

    load(tmp_path / "data", price_table(tmp_path / "month.csv", 4, price))
    found = rows(
        tmp_path / "data",
        "SELECT price::INTEGER, valid_from FROM core.price_history WHERE listing_id = 'danawa_daily:88000001' ORDER BY 2",
    )
    assert found == [(1_500_000, START), (500_000, START + timedelta(days=2))]


def test_prices_without_an_exchange_rate_are_told_of_once(tmp_path: Path) -> None:
    load(tmp_path / "data", price_table(tmp_path / "month.csv", 3, lambda product, night: "500,000"))
    ((message,),) = rows(tmp_path / "data", "SELECT message FROM ops.issue WHERE code = 'missing_rate'")
    assert "no reference rate for KRW up to 2021-11-03: 36 prices" in message
