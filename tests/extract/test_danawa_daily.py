"""Danawa's daily tables: every cell is accounted for, the lowest of several shops is right, times are Korean."""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.errors import LayoutChanged, TooLarge, Truncated
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily import pages as danawa_daily
from gpuledger.extract.sources.danawa_daily.pages import Cell, read_cell
from gpuledger.items import IndexPrice, Issue
from tests.extract import pages

HEADER = "Id,Name,2021-11-01 10:06:45,2021-11-02 00:03:38"


def page(text: str | bytes) -> Page:
    return pages.page(text, "file:///inbox/VGA_2021-11.csv", "text/csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("28,900", Cell("priced", 28_900, None, None, None)),
        ("28900", Cell("priced", 28_900, None, None, None)),
        (" 1,234,000원 ", Cell("priced", 1_234_000, None, None, None)),
        ("11번가_24,790|쿠팡_26,950", Cell("several_shops", 24_790, "11번가", 2, None)),
        ("쿠팡_26,950|11번가_24,790", Cell("several_shops", 24_790, "11번가", 2, None)),
        ("G마켓_25,930|옥션_25,930", Cell("several_shops", 25_930, "G마켓", 2, None)),
        ("아이_티엔_26,900|롯데ON_25,120", Cell("several_shops", 25_120, "롯데ON", 2, None)),
        ("쿠팡_510,000", Cell("priced", 510_000, "쿠팡", 1, None)),
        ("쿠팡_0|옥션_9,900", Cell("priced", 9_900, "옥션", 1, None)),
        ("쿠팡_일시품절|옥션_0", Cell("no_price", None, None, None, "no_shop_has_one")),
        ("0", Cell("no_price", None, None, None, "zero")),
        ("0원", Cell("no_price", None, None, None, "zero")),
        ("", Cell("no_price", None, None, None, "empty")),
        ("일시품절", Cell("no_price", None, None, None, "sold_out")),
        ("가격비교예정", Cell("no_price", None, None, None, "comparison_planned")),
        ("가격비교 예정", Cell("no_price", None, None, None, "comparison_planned")),
        ("가격비교중지", Cell("no_price", None, None, None, "comparison_stopped")),
        ("24,79", Cell("unreadable", None, None, None, "unknown_mark")),
        ("-28,900", Cell("unreadable", None, None, None, "unknown_mark")),
        ("49.9", Cell("unreadable", None, None, None, "unknown_mark")),
        ("11번가_24,790|쿠팡_", Cell("priced", 24_790, "11번가", 1, None)),
        ("11번가_24,790|쿠팡_2O,950", Cell("unreadable", None, None, None, "unknown_shop_price")),
        ("_24,790", Cell("unreadable", None, None, None, "unknown_shop_price")),
        ("11번가_24,790||쿠팡_26,950", Cell("unreadable", None, None, None, "unknown_shop_price")),
    ],
)
def test_cell(text: str, expected: Cell) -> None:
    assert read_cell(text) == expected


_SHOPS = st.text(st.characters(categories=("Lo", "Lu", "Nd"), include_characters=" _"), min_size=1, max_size=8)


@given(
    st.lists(st.tuples(_SHOPS.filter(lambda shop: shop.strip()), st.integers(1, 99_999_999)), min_size=1, max_size=6)
)
def test_lowest_of_any_shops_is_found(offers: list[tuple[str, int]]) -> None:
    cell = read_cell("|".join(f"{shop}_{price:,}" for shop, price in offers))
    assert cell.price_krw == min(price for _, price in offers)
    assert cell.shop_count == len(offers)
    assert (cell.shop, cell.price_krw) in [(shop.strip(), price) for shop, price in offers]


@given(st.text(max_size=30))
def test_no_text_raises_or_gives_a_price_that_is_none(text: str) -> None:
    cell = read_cell(text)
    assert (cell.price_krw is not None) == (cell.status in ("priced", "several_shops"))
    assert cell.price_krw is None or cell.price_krw > 0


def test_times_are_korean_and_come_out_in_utc() -> None:
    found = list(danawa_daily.observations(page(f'{HEADER}\n1,카드,"1,000","2,000"\n')))
    assert [row.observed_at for row in found] == [
        datetime(2021, 11, 1, 1, 6, 45, tzinfo=UTC),
        datetime(2021, 11, 1, 15, 3, 38, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    "encode", [str.encode, lambda text: text.encode("utf-8-sig"), lambda text: text.encode("cp949")]
)
def test_encodings_line_ends_and_gzip_give_the_same(encode) -> None:  # type: ignore[no-untyped-def]
    text = f'{HEADER}\r\n1,지포스 카드,"1,000",일시품절\r\n\r\n2,라데온,0,"쿠팡_9,000"\r\n'
    expected = list(danawa_daily.observations(page(text.replace("\r\n", "\n"))))
    assert len(expected) == 4
    assert list(danawa_daily.observations(page(encode(text)))) == expected
    assert list(danawa_daily.observations(page(gzip.compress(encode(text))))) == expected


def test_ragged_rows_and_unknown_columns_are_counted() -> None:
    told = _account(page(f"{HEADER},비고\n1,짧은 줄,500\n2,긴 줄,0,100,메모,남는 칸\n,이름뿐,1,2,3\n"))
    assert told["cells"] == 10
    assert told["priced"] == 2
    assert told["no_price"] == 2
    assert told["no_price_empty"] == told["no_price_zero"] == 1
    assert (
        told["unreadable"] == told["unreadable_no_time"] + told["unreadable_no_column"] + told["unreadable_no_product"]
    )
    assert told["unreadable_no_product"] == 3
    assert _balanced(told)


def test_repeated_products_and_columns_are_told_apart_from_contradictions() -> None:
    text = "Id,Name,2021-11-01 10:00:00,2021-11-01 10:00:00\n1,가,100,100\n2,나,100,200\n3,다,0,0\n3,다,0,300\n"
    told = _account(page(text))
    assert told["repeated"] == 3
    assert told["unreadable_two_values"] == 2
    assert _balanced(told)
    prices = {
        row.product_code: row.price_krw for row in danawa_daily.observations(page(text)) if row.status == "priced"
    }
    assert prices == {"1": 100, "2": 100}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "<html><title>Just a moment...</title></html>",
        "Name,Id,2021-11-01 10:00:00\n",
        "Id,Name\n1,가\n",
        "Id,Name,가격\n1,가,2\n",
    ],
)
def test_another_file_is_refused(content: str) -> None:
    with pytest.raises(LayoutChanged, match="header"):
        list(danawa_daily.observations(page(content)))


def test_damaged_and_oversized_archives_are_refused() -> None:
    packed = gzip.compress(f"{HEADER}\n1,카드,1,2\n".encode())
    with pytest.raises(Truncated):
        list(danawa_daily.observations(page(packed[:-12])))
    bomb = gzip.compress(b"0" * (danawa_daily.MAX_BYTES + 1), compresslevel=1)
    with pytest.raises(TooLarge):
        list(danawa_daily.observations(page(bomb)))


def test_parse_gives_the_last_price_of_a_korean_day_and_issues() -> None:
    text = (
        "Id,Name,2021-11-01 10:00:00,2021-11-01 23:00:00,2021-11-02 00:30:00,표시\n"
        '7,지포스 카드 (중고),"1,100","1,000",일시품절,?\n8,라데온,3,"4,O00",5,?\n'
    )
    found = list(danawa_daily.parse(page(text)))
    prices = [
        (item.gpu_name, item.period, item.price, item.condition) for item in found if isinstance(item, IndexPrice)
    ]
    assert prices == [
        ("지포스 카드 (중고)", "2021-11-01", Decimal(1000), "used"),
        ("라데온", "2021-11-01", Decimal(3), "new"),
        ("라데온", "2021-11-02", Decimal(5), "new"),
    ]
    issues = [item for item in found if isinstance(item, Issue)]
    assert [issue.text for issue in issues] == ["4,O00", None]
    assert "2 cells" in issues[1].message


def test_all_real_months_account_for_themselves(shared_data: Path) -> None:
    total: Counter[str] = Counter()
    for file in sorted((shared_data / "danawa_daily").glob("*.csv.gz")):
        told = _account(page(file.read_bytes()))
        assert _balanced(told), file.name
        assert told["cells"] == told["products"] * told["crawls"], file.name
        total.update(told)
    # The cells of the 35 months, counted by regular expression over the unpacked text.
    assert total["cells"] == 1_157_686
    assert total["priced"] + total["several_shops"] == 838_008 + 58_631
    assert total["no_price_zero"] == 190_179
    assert total["no_price_sold_out"] == 58_396
    assert total["no_price_comparison_planned"] == 12_416 + 16
    assert total["unreadable"] == total["repeated"] == 0


def test_lowest_of_several_shops_is_right_in_a_real_month(shared_data: Path) -> None:
    """Against a reading of the same cells that shares no code with the parser."""
    file = shared_data / "danawa_daily" / "VGA_2021-11.csv.gz"
    several = [row for row in danawa_daily.observations(page(file.read_bytes())) if row.status == "several_shops"]
    assert len(several) > 10_000
    for row in several:
        pairs = {
            int(part.split("_")[-1].replace(",", "")): part.split("_")[0] for part in reversed(row.text.split("|"))
        }
        assert (row.price_krw, row.shop_count) == (min(pairs), row.text.count("|") + 1)
        assert row.shop == pairs[min(pairs)]


def _account(file: Page) -> dict[str, int]:
    """The cells of a file by status and reason, and its products and crawls: none may be lost unnoticed."""
    counts: Counter[str] = Counter(dict.fromkeys(("priced", "several_shops", "no_price", "unreadable", "repeated"), 0))
    products, crawls = set(), set()
    for observation, outside in danawa_daily._observations(file):
        status, reason = (observation.status, observation.reason) if observation else ("unreadable", outside)
        counts.update(["cells", status, *([f"{status}_{reason}"] if reason else [])])
        if observation:
            products.add(observation.product_code)
            crawls.add(observation.observed_at)
    return {**counts, "products": len(products), "crawls": len(crawls)}


def _balanced(told: dict[str, int]) -> bool:
    parts = ("priced", "several_shops", "no_price", "unreadable", "repeated")
    return told["cells"] == sum(told[part] for part in parts)
