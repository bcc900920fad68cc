"""The list to buy by, and the files that leave with it: what a buyer opens, filters, prints and forwards."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from gpuledger.flows.cli import cli
from gpuledger.flows.words import lang
from gpuledger.transform.answers.procurement import advice, procurement
from gpuledger.warehouse.paths import DataDir
from tests.command import rows


def export(data: Path, folder: Path, *words: str, lang_: str = "en") -> list[Path]:
    result = CliRunner().invoke(
        cli, ["--lang", lang_, "export", str(folder), *words, "--data-dir", str(data)], catch_exceptions=False
    )
    lang.use(None)
    assert result.exit_code == 0, result.output
    return [Path(line) for line in result.output.splitlines()]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


# ── what is said ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_there_is_a_row_for_each_card_that_a_shop_lists_with_its_street_price(data: Path) -> None:
    found = {card.gpu_id: card.price_usd for card in procurement(DataDir(data)).cards}
    assert found == dict(rows(data, "SELECT gpu_id, price_usd FROM mart.gpu_price"))


def test_what_is_to_be_bought_is_on_a_pareto_front_and_nothing_else(data: Path) -> None:
    listed = procurement(DataDir(data))
    front = rows(
        data,
        f"""SELECT DISTINCT gpu_id FROM mart.value WHERE price_basis = 'street' AND on_pareto_frontier
            AND workload_id IN {tuple(listed.workloads)}""",
    )
    assert {card.gpu_id for card in listed.cards if card.advice in ("buy", "unjudged", "wait")} == {
        gpu_id for (gpu_id,) in front
    }


def test_whoever_beats_a_card_is_at_least_as_fast_for_no_more_money(data: Path) -> None:
    listed = procurement(DataDir(data))
    prices = {card.gpu: card for card in listed.cards}
    beaten = [(card, place, name) for card in listed.cards for name, place in card.places.items() if place.beaten_by]
    assert beaten
    for card, place, workload in beaten:
        other = prices[str(place.beaten_by)]
        assert other.places[workload].score >= place.score
        assert other.price_usd is not None
        assert card.price_usd is not None
        assert other.price_usd <= card.price_usd


def test_a_card_that_is_dear_just_now_is_to_be_waited_for_and_one_whose_past_is_not_known_is_not_called_a_buy() -> None:
    assert advice(Decimal(1), [True, False], "wait") == "wait"
    assert advice(Decimal(1), [True, False], "neutral") == "buy"
    assert advice(Decimal(1), [True], "buy") == "buy"
    assert advice(Decimal(1), [True, False], "unknown") == "unjudged"
    assert advice(Decimal(1), [True], None) == "unjudged"
    assert advice(Decimal(1), [False], "wait") == "other"
    assert advice(Decimal(1), [], None) == "unmeasured"
    assert advice(None, [True], "buy") == "no_price"


def test_owning_is_what_rent_or_buy_says_of_one_card(data: Path) -> None:
    owned = {card.gpu_id: card.own_total_usd for card in procurement(DataDir(data)).cards}
    compared = rows(data, "SELECT DISTINCT gpu_id, own_total_usd FROM mart.rent_vs_buy WHERE cards = 1")
    assert compared
    for gpu_id, own_total in compared:
        assert float(owned[gpu_id] or 0) == pytest.approx(own_total, abs=0.011)


def test_another_market_has_its_own_prices_and_fronts(data: Path) -> None:
    korean = {card.gpu_id: card for card in procurement(DataDir(data), "kr").cards}
    prices = dict(rows(data, "SELECT gpu_id, price_usd FROM mart.market_price WHERE market = 'kr'"))
    assert {gpu_id: card.price_usd for gpu_id, card in korean.items()} == prices
    assert any(card.advice == "unjudged" for card in korean.values())


# ── the files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_csv_is_read_by_pandas_and_has_the_mark_for_excel_where_it_is_asked_for(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path / "plain")
    export(data, tmp_path / "excel", "--excel")
    plain, excel = ((tmp_path / name / "procurement.csv").read_bytes() for name in ("plain", "excel"))
    assert excel == b"\xef\xbb\xbf" + plain
    frame = pd.read_csv(tmp_path / "plain" / "procurement.csv", parse_dates=["price since"])
    assert len(frame) == len(procurement(DataDir(data)).cards)
    assert frame["best price, USD"].dtype == "float64"
    assert str(frame["price since"].dtype).startswith("datetime64")


def test_another_currency_is_in_headings_and_amounts(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path / "usd")
    export(data, tmp_path / "krw", "--currency", "KRW")
    dollars, won = (table(tmp_path / name / "procurement.csv") for name in ("usd", "krw"))
    ((rate,),) = rows(data, "SELECT usd_rate FROM core.fx_usd WHERE currency = 'KRW'")
    for one, other in zip(dollars, won, strict=True):
        if one["best price, USD"]:
            assert float(other["best price, KRW"]) * rate == pytest.approx(float(one["best price, USD"]), abs=0.04)


def test_every_table_is_in_that_currency_and_what_is_of_a_past_day_at_that_days_rate(
    data: Path, tmp_path: Path
) -> None:
    export(data, tmp_path, "--currency", "EUR")
    ((today,),) = rows(data, "SELECT usd_rate FROM core.fx_usd WHERE currency = 'EUR'")
    with duckdb.connect() as con:
        for name, columns in (
            ("price_daily", "low_eur, day"),
            ("gpu_price", "price_eur, gpu_id"),
            ("value", "score_per_eur"),
        ):
            file = f"read_csv('{tmp_path / name}.csv')"
            names = [column for column, *_ in con.execute(f"DESCRIBE FROM {file}").fetchall()]
            assert set(columns.split(", ")) <= set(names)
            assert not [name for name in names if "usd" in name.split("_")]
        shown = con.execute(
            f"SELECT gpu_id, market, day, low_eur FROM read_csv('{tmp_path}/price_daily.csv')"
        ).fetchall()
        worth = con.execute(f"SELECT sum(score_per_eur) FROM read_csv('{tmp_path}/value.csv')").fetchall()[0][0]
    rates = dict(rows(data, "SELECT fx_day, usd_rate FROM core.fx_usd_daily WHERE currency = 'EUR' ORDER BY 1"))
    lows = {(gpu_id, market, day): float(low) for gpu_id, market, day, low in
            rows(data, "SELECT gpu_id, market, day, low_usd FROM mart.price_daily")}  # fmt: skip
    assert {row[2] for row in shown} > {max(rates)}, "days of more than one rate"
    for gpu_id, market, day, low in shown:
        of_day = rates[max(one for one in rates if one <= day)]
        assert low == pytest.approx(lows[gpu_id, market, day] / of_day, abs=0.0051)
    ((dollars,),) = rows(data, "SELECT sum(score_per_usd)::DOUBLE FROM mart.value")
    assert worth == pytest.approx(dollars * today, rel=1e-6)


def test_the_list_is_korean_where_korean_is_asked_for(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path, lang_="ko")
    first, *_ = (tmp_path / "procurement.csv").read_text(encoding="utf-8").splitlines()
    words = {
        "gpu",
        "Stable",
        "Diffusion",
        "image",
        "generation",
        "resolution",
        "from",
        "LLaMA",
        "text",
        "tokens",
        "bits",
    }
    assert not set(re.findall("[A-Za-z]{4,}", first)) - words
    assert {row["조언"] for row in table(tmp_path / "procurement.csv")} <= {
        "살 때", "가성비 좋음", "기다릴 때", "다른 카드", "측정값 없음", "가격 없음",
    }  # fmt: skip


def test_the_parquet_has_plain_decimals_and_says_what_its_columns_mean(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path, "--format", "parquet")
    file = str(tmp_path / "procurement.parquet")
    with duckdb.connect() as con:
        types = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE FROM '{file}'").fetchall()}
        told = con.execute("SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)", [file]).fetchall()
    assert types["price_usd"] == "DECIMAL(18,2)"
    assert types["price_since"] == "DATE"
    assert dict(told)["price_usd"] == "lowest price of a new card that can be bought now"


def test_the_workbook_is_one_that_a_buyer_forwards(workbook_of: Callable[[str, str], Path]) -> None:
    book: Any = load_workbook(workbook_of("us", "USD"))
    first = book.worksheets[0]
    assert first.title == "What to buy"
    assert (first.freeze_panes, first.print_title_rows) == ("C5", "$4:$4")
    assert first.auto_filter.ref.startswith("A4:")
    assert first.page_setup.orientation == "landscape"
    heads = [cell.value for cell in first[4]]
    price, since, link = (heads.index(name) for name in ("best price, USD", "price since", "link"))
    top = first[5]
    assert top[0].value == "good value"
    assert "its price is known on 2 of the 30 days that takes" in top[heads.index("why")].value
    unpriced = next(row for row in first.iter_rows(min_row=5) if row[0].value == "no price")
    assert unpriced[0].fill.fgColor.rgb.endswith("EDEDED")
    assert top[price].number_format == "#,##0.00"
    assert top[since].number_format == "yyyy-mm-dd"
    assert top[link].hyperlink.target.startswith("http")
    # No "###": a date or an amount is narrower than its column.
    for place in (price, since):
        assert first.column_dimensions[top[place].column_letter].width >= 11
    assert book.sheetnames[1:4] == ["What to buy for a model", "Definitions", "Sources"]
    # It prints on two pages: each of the two lists on one, and of the tables behind them an empty cell.
    for sheet in book.worksheets[:2]:
        assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (1, 1)
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
    for sheet in book.worksheets[2:]:
        printed = sheet.print_area.split("!")[1].replace("$", "").split(":")[0]
        assert sheet[printed].value is None
        assert sheet[printed].column == sheet.max_column
    assert "price_daily" not in book.sheetnames
    defined = {line[1] for line in book["Definitions"].iter_rows(values_only=True)}
    assert set(heads) <= defined


def test_won_fit_into_their_columns_and_have_no_hundredths(workbook_of: Callable[[str, str], Path]) -> None:
    first: Any = load_workbook(workbook_of("kr", "KRW")).worksheets[0]
    heads = [cell.value for cell in first[4]]
    paid = [
        cell
        for row in first.iter_rows(min_row=5)
        for cell in row
        if heads[cell.column - 1].endswith("KRW") and cell.value
    ]
    assert max(cell.value for cell in paid) > 1_000_000
    for cell in paid:
        assert cell.number_format == "#,##0"
        assert first.column_dimensions[cell.column_letter].width > len(f"{cell.value:,.0f}") + 2


def test_the_same_warehouse_gives_the_same_bytes(
    data: Path, workbook_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """And the market and the currency of home are those that are taken where none is named."""
    export(data, tmp_path, "--format", "xlsx")
    assert (tmp_path / "gpuledger.xlsx").read_bytes() == workbook_of("us", "USD").read_bytes()


def test_the_history_comes_where_it_is_asked_for(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path, "--format", "xlsx", "--history")
    book = load_workbook(tmp_path / "gpuledger.xlsx", read_only=True)
    assert {"price_daily", "price_change"} <= set(book.sheetnames)
