"""The changing headers of the monthly used-price index; whole pages are in extract/sources/toms_price_index/cases."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import IndexPrice, Issue, Parsed
from gpuledger.extract.readers.toms import month_of
from gpuledger.extract.sources.toms_price_index.pages import parse
from tests.extract.pages import INDEX, page, table

OCTOBER = (
    '<title>October 2023 eBay GPU Prices</title><h2><span class="page-title">October 2023 eBay GPU Prices</span></h2>'
)


def read(body: str, url: str = INDEX) -> list[Parsed]:
    return list(parse(page(body, url)))


def prices(body: str, url: str = INDEX) -> list[IndexPrice]:
    return [item for item in read(body, url) if isinstance(item, IndexPrice)]


@pytest.mark.parametrize(
    ("header", "condition", "period"),
    [
        ("Avg eBay Price", "used", "2023-10"),
        ("Average eBay Price", "used", "2023-10"),
        ("eBay Price", "used", "2023-10"),
        ("eBay", "used", "2023-10"),
        ("October eBay Price", "used", "2023-10"),
        ("Oct eBay Price", "used", "2023-10"),
        ("Sept eBay Price", "used", "2023-09"),
        ("Sep eBay Price", "used", "2023-09"),
        ("September eBay Price", "used", "2023-09"),
        ("Nov eBay Price", "used", "2022-11"),
        ("Dec 2022 eBay Price", "used", "2022-12"),
        ("Last Price", "used", "2023-09"),
        ("Last eBay Price", "used", "2023-09"),
        ("Previous Price", "used", "2023-09"),
        ("Price", "used", "2023-10"),
        ("October", "used", "2023-10"),
        ("Retail Price", "new", "2023-10"),
        ("Last Retail Price", "new", "2023-09"),
        ("Newegg Price", "new", "2023-10"),
        ("MSRP", "new", None),
        ("Launch Price", "new", None),
    ],
)
def test_headers_say_condition_and_month(header: str, condition: str, period: str | None) -> None:
    (found,) = prices(OCTOBER + table(("GPU", header), ("RTX 4090", "$1,612")))
    assert (found.price, found.currency, found.condition, found.period) == (Decimal(1612), "USD", condition, period)
    assert (found.column, found.gpu_name) == (header, "RTX 4090")


@pytest.mark.parametrize(
    "header", ["Gross Sales", "Monthly Change", "FPS/$", "Price Change", "Price Drop", "% of MSRP", "Price per FPS"]
)
def test_figures_of_other_columns_are_no_prices(header: str) -> None:
    body = OCTOBER + table(("GPU", "eBay Price", header), ("RTX 4090", "$1,612", "$99"))
    assert [item.column for item in prices(body)] == ["eBay Price"]
    assert [item for item in read(body) if isinstance(item, Issue)] == []


@pytest.mark.parametrize("header", ["QTY Sold", "Qty Sold", "Quantity", "Units Sold", "# Sold", "Sold"])
def test_the_quantity_belongs_to_the_used_price_of_the_month_only(header: str) -> None:
    columns = ("GPU", "Avg eBay Price", header, "Retail Price", "Last Price")
    found = prices(OCTOBER + table(columns, ("RTX 4090", "$1,612", "1,318", "$1,599", "$1,650")))
    assert [(item.column, item.quantity_sold) for item in found] == [
        ("Avg eBay Price", 1318),
        ("Retail Price", None),
        ("Last Price", None),
    ]


def test_a_quantity_that_is_no_number_is_an_issue_and_the_price_stays() -> None:
    body = OCTOBER + table(("GPU", "eBay Price", "QTY Sold"), ("RTX 4090", "$1,612", "many"))
    assert [item.quantity_sold for item in prices(body)] == [None]
    assert [item.code for item in read(body) if isinstance(item, Issue)] == ["unreadable_quantity"]


def test_january_s_last_price_is_december_s() -> None:
    (found,) = prices("<title>January 2023 eBay prices</title>" + table(("GPU", "Last Price"), ("RTX 4090", "$1,612")))
    assert found.period == "2022-12"


def test_the_headline_of_all_parts_is_not_the_month_of_a_later_part() -> None:
    headline = "<h1>Used prices 2023: November 2023 update</h1>"
    body = headline + table(("GPU", "eBay Price"), ("RTX 4090", "$1,612"))
    assert [item.period for item in prices(body)] == ["2023-11"]
    assert [item.period for item in prices(body, f"{INDEX}/8")] == [None]
    assert [item.code for item in read(body, f"{INDEX}/8") if isinstance(item, Issue)] == ["no_period"]
    titled = f"<title>March 2023 eBay prices - {headline} - Page 8</title>" + body
    assert [item.period for item in prices(titled, f"{INDEX}/8")] == ["2023-03"]


def test_the_caption_s_month_goes_before_the_page_s() -> None:
    body = OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090", "$1,612"), caption="Sept. 2023 prices")
    assert [item.period for item in prices(body)] == ["2023-09"]


def test_without_a_word_of_new_or_used_the_condition_is_unknown() -> None:
    body = "<title>Card prices, October 2023</title>" + table(("GPU", "Price"), ("RTX 4090", "$1,612"))
    assert [item.condition for item in prices(body)] == ["unknown"]


@pytest.mark.parametrize("cell", ["N/A", "—", "", "Row 0 - Cell 1", "none", "$0", "Sold out"])
def test_no_price_is_no_item(cell: str) -> None:
    assert read(OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090", cell))) == []


def test_a_price_in_the_name_is_its_own_item() -> None:
    found = prices(OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090 ($1,599)", "$1,612")))
    assert [(item.gpu_name, item.price, item.condition, item.period) for item in found] == [
        ("RTX 4090", Decimal(1599), "unknown", None),
        ("RTX 4090", Decimal(1612), "used", "2023-10"),
    ]


def test_no_table_of_prices_is_a_changed_layout_on_the_first_part_only() -> None:
    body = OCTOBER + table(("GPU", "Score"), ("RTX 4090", "100%"))
    with pytest.raises(LayoutChanged, match="no table with a column of cards and one of prices"):
        read(body)
    assert [item.code for item in read(body, f"{INDEX}/2") if isinstance(item, Issue)] == ["no_table"]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("October 2023 eBay GPU Prices", "2023-10"),
        ("Sept. 2022", "2022-09"),
        ("May, 2021", "2021-05"),
        ("Maybe 2021", None),
        ("Marching 2021", None),
        ("October", None),
        ("2023", None),
    ],
)
def test_months_in_titles(text: str, month: str | None) -> None:
    assert month_of(text) == month
