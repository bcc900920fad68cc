"""Markets and currencies of the reading commands: a table is of one market, several are net of tax."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpuledger.flows.cli import cli
from gpuledger.flows.doors.showing import chosen, procurement
from gpuledger.flows.doors.showing.money import DOLLARS
from gpuledger.flows.night.context import utc_now
from gpuledger.warehouse.paths import DataDir
from tests.command import rows
from tests.nights import Night

WORKLOAD = "sd-512-image-generation"


@pytest.fixture
def data(nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return nights[1].data


def ask(data: Path, *words: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(cli, [*words, "--format", "json", "--data-dir", str(data)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    told: list[dict[str, Any]] = found["options"] if words[0] == "buy" else found
    return told


def test_the_default_table_is_of_one_market(data: Path) -> None:
    markets = rows(data, "SELECT DISTINCT market FROM core.listing WHERE market IS NOT NULL ORDER BY 1")
    assert {"kr", "us"} <= {market for (market,) in markets}
    assert {row["market"] for row in ask(data, "value", WORKLOAD)} == {"us"}
    assert {row["offered_in"] for row in ask(data, "price") if row["price_usd"]} == {"us"}
    assert rows(data, "SELECT DISTINCT currency FROM mart.gpu_price WHERE price IS NOT NULL") == [("USD",)]


def test_another_market_is_asked_before_or_after_the_command_or_by_the_settings(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = ask(data, "price", "--market", "KR")
    assert after == ask(data, "--market", "kr", "price")
    monkeypatch.setenv("GPULEDGER_MARKET", "kr")
    assert after == ask(data, "price"), "the tables were built for another"
    priced = [row for row in after if row["price_usd"]]
    assert {row["currency"] for row in priced} == {"KRW"}
    assert all(row["net_usd"] == pytest.approx(row["price_usd"] / 1.1, abs=0.01) for row in priced)


def test_an_explanation_says_its_currency_its_tax_and_whose_electricity_it_counts(data: Path) -> None:
    words = ["buy", "--model", "qwen3-32b", "--market", "kr", "--currency", "KRW", "--explain", "--limit", "1"]
    sources = {step["figure"]: step["source"] for step in ask(data, *words)[0]["explanation"]}
    assert "214.6 KRW a kWh in KR (2023-05): KEPCO" in sources["electricity"]
    assert "EIA" not in sources["electricity"]
    assert "price of the cards" in sources
    table = CliRunner().invoke(cli, [*words, "--data-dir", str(data)])
    assert "the sums of this arithmetic are in US dollars, with 10 % " in table.stdout


def test_a_market_and_a_currency_end_with_their_command_line(data: Path) -> None:
    before = procurement.sheet(DataDir(data), DOLLARS, utc_now())
    assert ask(data, "price", "--market", "kr", "--currency", "eur") != ask(data, "price")
    ask(data, "price", "--market", "kr", "--currency", "eur")
    assert (chosen.market(), chosen.currency()) == (None, None)
    assert procurement.sheet(DataDir(data), DOLLARS, utc_now()).rows == before.rows


def test_all_markets_are_compared_net_of_tax(data: Path) -> None:
    everywhere = {row["gpu_id"]: row for row in ask(data, "price", "--market", "all") if row["price_usd"]}
    for market in ("us", "kr"):
        for row in ask(data, "price", "--market", market):
            if row["net_usd"]:
                assert everywhere[row["gpu_id"]]["price_usd"] <= row["net_usd"]
    assert all(row["is_net"] for row in everywhere.values())
    table = CliRunner().invoke(cli, ["value", WORKLOAD, "--market", "all", "--data-dir", str(data)])
    assert "net of tax" in table.stdout


def test_a_market_of_a_past_day_is_that_of_now_on_the_newest_day(data: Path) -> None:
    for market in ("us", "kr", "all"):
        now = {row["gpu_id"]: row["price_usd"] for row in ask(data, "price", "--market", market) if row["price_usd"]}
        then = ask(data, "price", "--market", market, "--as-of", "2023-11-16")
        assert {row["gpu_id"]: row["price_usd"] for row in then} == now
        # Whether a source is stale is known of now alone, but what is invented stays so.
        values = [row | {"price_mark": "invented"} for row in ask(data, "value", WORKLOAD, "--market", market)]
        assert {row["price_mark"] for row in then} == {"invented"}
        assert values == ask(data, "value", WORKLOAD, "--market", market, "--as-of", "2023-11-16")


def test_the_grey_import_is_no_street_price(data: Path) -> None:
    grey = rows(data, "SELECT exclusion FROM core.offer WHERE channel = 'grey_import' AND condition = 'new'")
    assert grey
    assert ("grey import",) in grey
    assert all(exclusion for (exclusion,) in grey)


def test_money_is_shown_in_any_currency_at_the_rate_of_its_day(data: Path) -> None:
    ((rate,),) = rows(data, "SELECT usd_rate FROM core.fx_usd WHERE currency = 'EUR'")
    dollars, euros = ask(data, "value", WORKLOAD), ask(data, "--currency", "eur", "value", WORKLOAD)
    assert [row["gpu_id"] for row in euros] == [row["gpu_id"] for row in dollars]
    for one, other in zip(dollars, euros, strict=True):
        assert other["price_eur"] == pytest.approx(one["price_usd"] / rate, abs=0.01)
        assert other["score_per_eur"] == pytest.approx(one["score_per_usd"] * rate)
        assert other["price_ratio"] == one["price_ratio"]
        assert "price_usd" not in other
    table = CliRunner().invoke(cli, ["price", "--currency", "KRW", "--data-dir", str(data)])
    assert "KRW" in table.stdout
    won = [row["price_krw"] for row in ask(data, "--currency", "KRW", "price") if row["price_krw"]]
    assert won
    assert all(price == int(price) for price in won)


def test_buy_and_price_agree_on_the_age_of_an_offer(data: Path) -> None:
    prices = {row["url"]: row for row in ask(data, "price") if row["price_usd"]}
    bought = [row for row in ask(data, "buy", "--model", "llama-2-7b", "--limit", "0") if row["url"] in prices]
    assert bought
    for row in bought:
        for name in ("price_since", "last_seen_at"):
            assert row[name] == prices[row["url"]][name]
