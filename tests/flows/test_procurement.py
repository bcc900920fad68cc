"""The list to buy by, and the files that leave with it: what a buyer opens, filters, prints and forwards."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

from gpuledger.flows.cli import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.flows.words import lang
from gpuledger.transform.report.questions import QUESTIONS, Kept
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows
from tests.flows.inprocess import refresh
from tests.nights import Night


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


def test_it_begins_with_the_picks_of_buy_for_the_models_that_the_report_shows(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path)
    listed = table(tmp_path / "procurement.csv")
    assert listed == table(data / "exports" / "procurement.csv"), "the night wrote it, from answers that it keeps"
    questions = list(dict.fromkeys(row["question"] for row in listed))
    assert len(questions) > 5
    for model in questions:
        told = Tools(DataDir(data), cli).all()["buy"](model=model)
        mine = [row for row in listed if row["question"] == model]
        if told["refusal"]:
            assert [row["advice"] for row in mine] == ["no answer"]
            assert told["refusal"]["reason"] in mine[0]["why"]
            continue
        for pick, row in zip(told["picks"], mine, strict=True):
            assert row["what"].startswith(pick["what"])
            for name, heading in (("price_usd", "price, USD"), ("outlay_usd", "day one, USD"), ("total_usd", "in all, USD"),
                                  ("each_tokens_per_s", "tokens/s for each")):  # fmt: skip
                assert row[heading] == ("" if pick[name] is None else f"{pick[name]:.10g}"), (model, name)
            assert row["vendor"] or row["advice"] != "buy", "nobody sells at the price of its maker"
            assert (row["speed is"], row["mark"]) == (pick["speed_is"], pick["price_mark"])
        assert mine[0]["in a sentence"] == " ".join(told["sentences"])


QUOTE = """Product,Part no,Unit price,Currency,VAT included,Condition,Quantity,Valid until,Vendor,Country,Freight,Lead time
GeForce RTX 4090 24GB,PN-4090,1500,USD,no,new,4,2023-12-31,Nordwind,US,25,6 weeks
GeForce RTX 4090 24GB,PN-77,1450,USD,,new,1,2023-12-15,Halden,US,,
"""


def test_each_vendor_has_a_row_with_what_an_order_needs_and_a_held_price_is_named(
    nights: dict[int, Night], site: Path, tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    (data / "inbox").mkdir(exist_ok=True)
    (data / "inbox" / "offers.csv").write_text(QUOTE)
    page = site / "newegg" / "sample" / "night2" / "gpus" / "index.html"
    page.write_text(page.read_text(encoding="utf-8").replace("<strong>1,879</strong>", "<strong>99</strong>"))
    refresh(data, 2, only=["quotes", "newegg"])
    QUESTIONS.put(data, Kept(name="two cards", asked={"model": "llama-3.3-70b", "own": ("nvidia-geforce-rtx-4090",)}))
    QUESTIONS.put(data, Kept(name="nobody", asked={"model": "llama-3.3-70b", "budget": "10"}))
    QUESTIONS.put(data, Kept(name="nowhere", asked={"model": "llama-3.1-8b"}, market="zz"))
    export(data, tmp_path / "out")
    listed = table(tmp_path / "out" / "procurement.csv")
    assert {row["question"]: row["advice"] for row in listed if row["question"] != "two cards"} == {
        "nobody": "no answer", "nowhere": "no answer",
    }  # fmt: skip
    assert "without --budget" in next(row["why"] for row in listed if row["question"] == "nobody")
    by_vendor = {row["vendor"]: row for row in listed if row["question"] == "two cards"}
    halden, nordwind = by_vendor["Halden"], by_vendor["Nordwind"]
    ordered = ("part number", "pieces", "price, USD", "tax", "shipping, USD", "valid until", "delivery")
    assert [halden[name] for name in ordered] == [
        "PN-77", "1", "1450", "tax not stated", "", "2023-12-15", "1 offered",
    ]  # fmt: skip
    assert [nordwind[name] for name in ordered] == [
        "PN-4090", "1", "1500", "before sales tax", "25", "2023-12-31", "6 weeks, 4 offered",
    ]  # fmt: skip
    assert "does not say whether tax is in its price" in halden["in a sentence"]
    assert nordwind["advice"] == "quote"
    assert (
        "at Nordwind (delivery: 6 weeks) for"
        in gpuledger("buy", "--model", "llama-3.3-70b", "--shop", "Nordwind", data=data).out
    )
    assert (
        "would do it, but Halden offers 1 at this price, and this takes 2"
        in gpuledger("buy", "--model", "llama-3.3-70b", "--shop", "Halden", data=data).err
    )
    assert "held: 99" in nordwind["look at first"]
    for kept in QUESTIONS.all(data):
        QUESTIONS.put(data, replace(kept, currency="EUR"))
    for words, code in (((), "EUR"), (("--currency", "USD"), "USD")):
        export(data, tmp_path / code, *words)
        assert f"price, {code}" in table(tmp_path / code / "procurement.csv")[0], (
            "the questions' own, unless one is asked for"
        )
    QUESTIONS.put(data, Kept(name="in won", asked={"model": "llama-3.1-8b"}, market="kr", currency="KRW"))
    export(data, tmp_path / "each")
    each = {row["question"]: row for row in table(tmp_path / "each" / "procurement.csv")}
    assert [each[name]["currency"] for name in ("two cards", "in won")] == ["EUR", "KRW"]
    assert float(each["in won"]["price"]) == 369_000


def test_the_quote_to_fill_in_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "quote.csv").write_text(gpuledger("quotes", "sample").out)
    checked = gpuledger("quotes", "check", tmp_path / "quote.csv", "--json", cwd=tmp_path)
    assert checked.status == 0
    read = json.loads(checked.out)
    assert (read["unread"], read["left_out"]) == ([], [])
    assert [name for name, value in read["read"][0].items() if value is None] == ["valid_until"], (
        "which its row leaves empty"
    )


# ── the files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_csv_is_read_by_pandas(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path)
    frame = pd.read_csv(tmp_path / "procurement.csv", parse_dates=["price since"])
    assert frame["price, USD"].dtype == "float64"
    assert str(frame["price since"].dtype).startswith("datetime64")


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
    assert set(re.findall("[A-Za-z]{4,}", first)) <= {"gpu", "listing", "tokens"}
    rows_of_file = table(tmp_path / "procurement.csv")
    assert {row["추천"] for row in rows_of_file} <= {"구매", "더 저렴하게", "다른 상태", "견적", "답 없음", "가격 문의"}
    why = [row["이유"] for row in rows_of_file]
    assert all(re.search("[가-힣]", text) for text in why)
    assert not any(re.search("tokens/s for|calibrated|measured", text) for text in why), why


def test_the_parquet_has_plain_decimals_and_says_what_its_columns_mean(data: Path, tmp_path: Path) -> None:
    export(data, tmp_path, "--format", "parquet")
    file = str(tmp_path / "procurement.parquet")
    with duckdb.connect() as con:
        types = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE FROM '{file}'").fetchall()}
        told = con.execute("SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)", [file]).fetchall()
    assert types["price_usd"] == "DECIMAL(18,2)"
    assert types["price_since"] == "DATE"
    assert dict(told)["price_usd"] == "of all pieces, or of an hour of rent"


def printed_pt(sheet: Any, columns: int) -> float:
    """The size in which the text of a sheet is printed, fitted to the width of A4, landscape [pt].

    A letter of a column's width is 7 pixels of 1/96 inch in Calibri 11, with 5 more for each column (ECMA-376, 18.3.1.13).
    """
    letters = [sheet.column_dimensions[get_column_letter(place)].width for place in range(1, columns + 1)]
    assert sheet.print_area.split("!")[1].replace("$", "").startswith(f"A1:{get_column_letter(columns)}")
    inches = sum(7 * width + 5 for width in letters) / 96
    there = 297 / 25.4 - sheet.page_margins.left - sheet.page_margins.right
    return float(sheet["A5"].font.sz * min(1, there / inches))


def test_the_workbook_is_one_that_a_buyer_forwards(workbook_of: Callable[[str, str], Path]) -> None:
    book: Any = load_workbook(workbook_of("us", "USD"))
    first = book.worksheets[0]
    assert first.title == "What to buy"
    assert (first.freeze_panes, first.print_title_rows) == ("D5", "$4:$4")
    assert first.auto_filter.ref.startswith("A4:")
    assert first.page_setup.orientation == "landscape"
    heads = [cell.value for cell in first[4]]
    assert heads[:7] == ["advice", "question", "what", "vendor", "part number", "pieces", "price, USD"]
    price, since, link = (heads.index(name) for name in ("price, USD", "price since", "link"))
    top = first[5]
    assert top[0].value == "buy"
    assert top[0].fill.fgColor.rgb.endswith("D5EBD8")
    assert top[price].number_format == "#,##0.00"
    assert top[since].number_format == "yyyy-mm-dd"
    assert top[link].hyperlink.target.startswith("http")
    assert book.sheetnames[1] == "Definitions"
    day = get_column_letter(heads.index("valid until") + 1)
    assert first.column_dimensions[day].width > len("2023-12-31"), "a narrower one shows ###"
    # All columns of an order stand side by side, and of the tables behind them an empty cell is printed.
    assert (first.page_setup.fitToWidth, first.page_setup.fitToHeight) == (1, 0)
    assert first.sheet_properties.pageSetUpPr.fitToPage
    assert printed_pt(first, heads.index("look at first") + 1) >= 9
    for sheet in book.worksheets[1:]:
        printed = sheet.print_area.split("!")[1].replace("$", "").split(":")[0]
        assert sheet[printed].value is None
        assert sheet[printed].column == sheet.max_column
    assert "price_daily" not in book.sheetnames
    defined = {line[1] for line in book["Definitions"].iter_rows(values_only=True)}
    assert set(heads) <= defined


def test_won_fit_into_their_columns_and_have_no_hundredths(workbook_of: Callable[[str, str], Path]) -> None:
    first: Any = load_workbook(workbook_of("kr", "KRW")).worksheets[0]
    heads = [cell.value for cell in first[4]]
    assert printed_pt(first, heads.index("look at first") + 1) >= 9
    paid = [
        cell
        for row in first.iter_rows(min_row=5)
        for cell in row
        if heads[cell.column - 1].endswith("KRW") and cell.value
    ]
    assert max(cell.value for cell in paid) > 1_000_000
    for cell in paid:
        assert cell.number_format == "#,##0"
        assert first.column_dimensions[cell.column_letter].width > len(f"{cell.value:,.0f}") + 1


def test_the_same_warehouse_gives_the_same_bytes(
    data: Path, workbook_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """And the market and the currency of home are those that are taken where none is named."""
    export(data, tmp_path, "--format", "xlsx")
    assert (tmp_path / "gpuledger.xlsx").read_bytes() == workbook_of("us", "USD").read_bytes()
