"""A bulk load knows at each night what a load night by night would know."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpuledger.flows.history import backfill
from tests.command import Outcome, gpuledger, rows, succeeds
from tests.history.replays import START, context, load, price_table


@pytest.mark.usefixtures("no_rates")
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


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """A new folder after `gpuledger backfill` of four nights, with the rates of all days since 1999."""

    def price(product: int, night: int) -> str:
        return "일시품절" if (product, night) == (3, 2) else f"{500_000 + 10_000 * product + 100 * night:,}"

    folder = tmp_path_factory.mktemp("loaded")
    file = price_table(folder / "month.csv", 4, price)
    return folder / "data", gpuledger("backfill", file, data=folder / "data")


def test_prices_after_the_last_rate_are_told_of_with_the_remedy(loaded: tuple[Path, Outcome], tmp_path: Path) -> None:
    """The bank's file ends with the installed package: a price of later days has no rate until the nightly source has it."""
    data = Path(shutil.copytree(loaded[0], tmp_path / "data", symlinks=True))
    late = (datetime.now(UTC).date() - START.date()).days + 400
    table = price_table(tmp_path / "month.csv", 3, lambda product, night: "500,000", first=late)
    outcome = gpuledger("backfill", table, data=data)
    assert outcome.status == 3, outcome.err
    first = START.date() + timedelta(days=late)
    days = f"(KRW, {first} to {first + timedelta(days=2)})"
    assert f"36 prices have no exchange rate {days} and are in no daily price: `gpuledger refresh" in outcome.out
    ((message,),) = rows(data, "SELECT message FROM ops.issue WHERE code = 'missing_rate'")
    assert f"no reference rate for KRW from {first} to" in message
    assert rows(data, f"SELECT count(*) FROM mart.price_daily WHERE day >= DATE '{first}'") == [(0,)]


def test_a_backfill_in_a_new_folder_has_daily_prices_and_answers_for_its_days(loaded: tuple[Path, Outcome]) -> None:
    """With nothing else done: the rates of its days and the figures of the cards come with the program."""
    data, outcome = loaded
    assert outcome.status == 0, outcome.err
    day = START.date() + timedelta(days=2)
    prices = rows(data, "SELECT gpu_id, day, low_usd FROM mart.price_daily ORDER BY ALL")
    assert len(prices) == 3 * 4
    for shown in (START.date() + timedelta(days=n) for n in range(4)):
        then = rows(data, f"SELECT gpu_id, DATE '{shown}', price_usd FROM price_as_of(DATE '{shown}') ORDER BY ALL")
        assert then == [row for row in prices if row[1] == shown]
    ((won, dollar),) = rows(
        data,
        f"""SELECT max(rate) FILTER (currency = 'KRW'), max(rate) FILTER (currency = 'USD') FROM core.fx_rate
            WHERE day = DATE '{day}'""",
    )
    (rtx,) = (low for gpu, on, low in prices if on == day and gpu == "nvidia-geforce-rtx-3060-12gb")
    assert float(rtx) == pytest.approx(500_200 * float(dollar) / float(won), abs=0.01)
    answer = succeeds("value", "sd-512-image-generation", "--as-of", day, data=data)
    assert "NVIDIA GeForce RTX 3060 12GB" in answer.out
    assert "Some of the figures were published later, up to 2023-11-16" in answer.out
    assert not backfill.needs(context(data)), "a second backfill has its rates and figures"
