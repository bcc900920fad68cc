"""The traps of the benchmark hierarchy's tables, one test each; whole pages are in the source's cases."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract import source
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import IndexPrice, Issue, Link, Parsed, Score
from gpuledger.extract.markup.html import soup
from gpuledger.extract.readers.toms import next_page, page_number, split_name
from gpuledger.extract.source import Page
from gpuledger.extract.sources.toms_gpu_hierarchy.pages import parse
from tests.extract.pages import HIERARCHY, page, table

HEADER = ("Graphics Card", "Lowest Price", "1080p Ultra", "1440p Ultra")


def read(body: str, url: str = HIERARCHY) -> list[Parsed]:
    return list(parse(page(body, url)))


def scores(body: str, url: str = HIERARCHY) -> list[Score]:
    return [item for item in read(body, url) if isinstance(item, Score)]


def prices(body: str) -> list[IndexPrice]:
    return [item for item in read(body) if isinstance(item, IndexPrice)]


def issues(body: str, url: str = HIERARCHY) -> list[str]:
    return [item.code for item in read(body, url) if isinstance(item, Issue)]


@pytest.mark.parametrize(
    ("cell", "percent", "fps"),
    [
        ("97.3% (147.5fps)", "97.3", "147.5"),
        ("99.0% (195.6)", "99.0", "195.6"),
        ("100% (151.6 fps)", "100", "151.6"),
        ("100.0%(151.6FPS)", "100.0", "151.6"),
        ("54.7%", "54.7", None),
        ("62.4 fps", None, "62.4"),
    ],
)
def test_the_two_numbers_of_a_cell(cell: str, percent: str | None, fps: str | None) -> None:
    (found,) = scores(table(HEADER, ("RTX 4080", "", cell, "")))
    assert found.relative_percent == (Decimal(percent) if percent else None)
    assert found.score == (Decimal(fps) if fps else None)
    assert found.unit == ("fps" if fps else None)


@pytest.mark.parametrize("cell", ["", "—", "-", "N/A", "n/a", "TBD"])
def test_a_resolution_that_a_card_cannot_run_gives_nothing(cell: str) -> None:
    assert read(table(HEADER, ("RTX 3050", "$249", cell, "26.9% (38.5fps)"))) == read(
        table(HEADER, ("RTX 3050", "$249", "", "26.9% (38.5fps)"))
    )


WIDGET = '<aside class="hawk-placeholder" data-widget-type="deal">{}</aside>'
FPS, QUOTIENTS = "100.0% (151.6fps)", ("Graphics Card", "Price", "1080p Ultra", "1440p Ultra")


@pytest.mark.parametrize(
    ("body", "scored", "paid", "codes"),
    [
        (table(HEADER, ("Titan RTX", "Row 0 - Cell 1", "65.5% (99.3fps)", "Row 0 - Cell 3")), ["1080p Ultra"], [], []),
        # A cell that is not sure is an issue and no score, and so are two prices; no price is neither item nor issue.
        *((table(HEADER, ("RTX 4080", "", cell, "")), [], [], ["unreadable_score"]) for cell in (
            "147.5", "fast", "97,3% (147,5fps)", "-3% (1fps)", "97.3% (147.5fps) 98.0% (1fps)", "1e3%",
        )),
        (table(HEADER, ("RTX 4090", "$1,599 $1,799", FPS, "")), ["1080p Ultra"], [], ["ambiguous_price"]),
        *((table(HEADER, ("RTX 4090", cell, FPS, "")), ["1080p Ultra"], [], [])
          for cell in ("N/A", "$0", "out of stock", "")),
        (table(("Graphics Card", "1440p Ultra", "Buy"), ("RTX 4090", "100.0%", "RTX 4090 for $1,234")), ["1440p Ultra"],
         [], []),
        # Widgets are never read, and quotients are no frame rates.
        (WIDGET.format(table(HEADER, ("RTX 4090", "$1", "", "")))
         + table(HEADER, ("RTX 4090", '$1,599<div data-widget-type="price">$1,111</div>', FPS, "")), ["1080p Ultra"],
         [1599], []),
        (table(QUOTIENTS, ("Radeon RX 6600", "$235", "0.3772", "0.1963"), caption="Value: FPS per dollar"), [], [235], []),
        (table(("Graphics Card", "1080p Ultra", "1080p FPS/$"), ("Radeon RX 6600", "44.4% (67.3fps)", "0.3772")),
         ["1080p Ultra"], [], []),
    ],
)  # fmt: skip
def test_what_is_read_of_a_table(body: str, scored: list[str], paid: list[int], codes: list[str]) -> None:
    assert [item.column for item in scores(body)] == scored
    assert [item.price for item in prices(body)] == paid
    assert issues(body) == codes


def test_the_unit_may_stand_in_the_header_or_the_caption() -> None:
    (found,) = scores(table(("Graphics Card", "1440p Ultra (fps)"), ("RTX 4080", "129.0")))
    assert (found.score, found.unit) == (Decimal("129.0"), "fps")
    (found,) = scores(
        table(("Graphics Card", "1440p Ultra"), ("RTX 4080", "129.0"), caption="Average frames per second")
    )
    assert (found.score, found.unit) == (Decimal("129.0"), "fps")


@pytest.mark.parametrize(
    ("printed", "name", "price"),
    [
        ("GeForce GTX 1060 3GB*", "GeForce GTX 1060 3GB", None),
        ("GeForce GTX 1050 †", "GeForce GTX 1050", None),
        ("Arc A380 [1]", "Arc A380", None),
        ("$1599 - GeForce RTX 4090", "GeForce RTX 4090", "$1599"),
        ("$1,599 – GeForce RTX 4090*", "GeForce RTX 4090", "$1,599"),
        ("GeForce RTX 3050 ($249)", "GeForce RTX 3050", "$249"),
        ("GeForce RTX 3050* ($249 at launch)", "GeForce RTX 3050", "$249"),
        ("Radeon RX 7600 – $269", "Radeon RX 7600", "$269"),
        ("Arc A770 (16GB)", "Arc A770 (16GB)", None),
        ("Radeon RX 560 4GB (1024 shaders)", "Radeon RX 560 4GB (1024 shaders)", None),
        ("RTX 4060 Ti 16GB", "RTX 4060 Ti 16GB", None),
    ],
)
def test_names_lose_marks_and_prices_and_nothing_else(printed: str, name: str, price: str | None) -> None:
    assert split_name(printed) == (name, price)


def test_a_price_in_the_name_is_a_price_of_the_card() -> None:
    body = table(("Graphics Card", "1440p Ultra"), ("$1599 - GeForce RTX 4090", "100.0% (143.1fps)"))
    assert [(item.gpu_name, item.price, item.column) for item in prices(body)] == [
        ("GeForce RTX 4090", Decimal(1599), "Graphics Card")
    ]
    assert [item.gpu_name for item in scores(body)] == ["GeForce RTX 4090"]


def test_columns_are_found_wherever_they_stand() -> None:
    rows = {
        "Graphics Card": "RTX 4080",
        "Lowest Price": "$1,059",
        "1080p Ultra": "94.0% (142.6fps)",
        "1080p Medium": "97.3% (184.4fps)",
        "Specs": "AD103, 16GB",
    }
    orders = (list(rows), list(reversed(rows)), sorted(rows))
    answers = [
        sorted(
            (type(item).__name__, item.column, item.workload_id if isinstance(item, Score) else None, item.gpu_name)
            for item in read(table(order, [rows[key] for key in order]))
            if isinstance(item, Score | IndexPrice)
        )
        for order in orders
    ]
    assert answers[0] == answers[1] == answers[2]
    assert [answer[2] for answer in answers[0]] == [None, "gaming-1080p-medium", "gaming-1080p-ultra"]


@pytest.mark.parametrize(
    ("header", "caption", "workload"),
    [
        ("4K Ultra", "Ranking", "gaming-4k-ultra"),
        ("2160p Ultra", "Ranking", "gaming-4k-ultra"),
        ("1440p Ultra", "Ray tracing ranking", "gaming-1440p-ultra-rt"),
        ("1080p Medium", "Ray-Traced Games", "gaming-1080p-medium-rt"),
        ("1440p Ultra RT", "Ranking", "gaming-1440p-ultra-rt"),
        ("1440p Ultra", "Artful ranking", "gaming-1440p-ultra"),
        ("1440p", "Ranking", None),
        ("1080p High", "Ranking", None),
        ("4K Medium", "Ranking", None),
        ("1440p Ultra", "Legacy GPU hierarchy", None),
    ],
)
def test_workloads(header: str, caption: str, workload: str | None) -> None:
    (found,) = scores(table(("Graphics Card", header), ("RTX 4080", "90.1% (129.0fps)"), caption=caption))
    assert found.workload_id == workload
    assert (found.table, found.column) == (caption, header)


def test_the_suite_of_earlier_years_on_a_later_part_is_no_workload_of_ours() -> None:
    body = table(("Graphics Card", "1440p Ultra"), ("RTX 3090", "100.0% (111.1fps)"), caption="2020-2021 suite")
    for url in (HIERARCHY.replace(".html", "-2.html"), "https://www.tomshardware.com/reviews/gpu-hierarchy/2"):
        (found,) = scores(body, url)
        assert (found.workload_id, found.score) == (None, Decimal("111.1"))


def test_a_specification_is_kept_as_printed_also_where_it_is_wrong() -> None:
    printed = "Navi 10, 2304 shaders, 1750MHz, 8GB GDDR6@14Gbps, 336GB/s, 160W"
    body = table(("Graphics Card", "1440p Ultra", "Specifications"), ("Radeon RX 5600 XT", "29.4% (42.0fps)", printed))
    assert [item.specs for item in scores(body)] == [printed]


def test_the_month_in_a_caption_is_the_price_s_period() -> None:
    (found,) = prices(table(HEADER, ("RTX 4090", "$1,599", "", ""), caption="Ranking, October 2023"))
    assert (found.period, found.condition, found.currency) == ("2023-10", "new", "USD")


def test_an_unknown_column_is_named() -> None:
    body = table(("Graphics Card", "1440p Ultra", "Mood"), ("RTX 4090", "100.0%", "good"))
    (found,) = [item for item in read(body) if isinstance(item, Issue)]
    assert found.code == "column_ignored"
    assert "'Mood'" in found.message


def test_no_table_of_cards_is_a_changed_layout_on_the_first_part_only() -> None:
    prose = "<p>Nothing</p>" + table(("Setting", "Value"), ("CPU", "fast"))
    with pytest.raises(LayoutChanged, match="no table with a graphics-card column"):
        read(prose)
    with pytest.raises(LayoutChanged):
        read(table(("Graphics Card", "Mood"), ("RTX 4090", "good")))
    assert issues(prose, HIERARCHY.replace(".html", "-3.html")) == ["table_skipped", "no_table"]


@pytest.mark.parametrize(
    ("url", "number"),
    [
        (HIERARCHY, 1),
        ("https://www.tomshardware.com/reviews/gpu-hierarchy,4388-2.html", 2),
        ("https://www.tomshardware.com/reviews/gpu-hierarchy/2", 2),
        ("https://www.tomshardware.com/reviews/gpu-hierarchy/12/", 12),
        ("https://www.tomshardware.com/news/rtx-4090", 1),
        ("https://www.tomshardware.com/news/rtx-4090-2.html", 1),
    ],
)
def test_page_numbers(url: str, number: int) -> None:
    assert page_number(url) == number


@pytest.mark.parametrize(
    ("url", "links", "following"),
    [
        (HIERARCHY, ["/reviews/gpu-hierarchy,4388-2.html", "/reviews/gpu-hierarchy,4388-3.html"], ",4388-2.html"),
        (HIERARCHY.replace(".html", "-2.html"), [HIERARCHY, "/reviews/gpu-hierarchy,4388-3.html#x"], ",4388-3.html"),
        (HIERARCHY.replace(".html", "-3.html"), [HIERARCHY, "/reviews/gpu-hierarchy,4388-2.html"], None),
        ("https://www.tomshardware.com/a/b", ["/a/b", "/a/b/2"], "/a/b/2"),
        ("https://www.tomshardware.com/a/b/2", ["/a/b", "/a/b/2", "/a/b/3"], "/a/b/3"),
        ("https://www.tomshardware.com/a/b", ["/a/other/2", "https://elsewhere.test/a/b/2"], None),
        ("https://www.tomshardware.com/a/b", [], None),
    ],
)
def test_the_next_part_of_an_article(url: str, links: list[str], following: str | None) -> None:
    parts = "".join(f'<a href="{link}"><span class="page-nb">n</span></a>' for link in links)
    found = list(next_page(soup(f'<ul class="pages">{parts}</ul>'.encode()), url))
    assert len(found) == (following is not None)
    if following:
        assert found[0] == Link(url=found[0].url, role="next_page")
        assert found[0].url.endswith(following)


def test_rel_next_leads_on_too() -> None:
    head = '<link rel="next" href="/a/b/2">'
    assert [link.url for link in next_page(soup(head.encode()), "https://x.test/a/b")] == ["https://x.test/a/b/2"]


def test_cut_and_damaged_pages_give_items_or_a_changed_layout_and_no_other_error() -> None:
    whole = (source.folder("toms_gpu_hierarchy") / "cases/suite_2023_by_words.html").read_bytes()
    whole_page = page(whole, HIERARCHY)
    for end in range(0, len(whole), 97):
        for content in (whole[:end], whole[end:], whole[:end] + b"\xff<td>" + whole[end:]):
            try:
                found = list(parse(Page(**{**_fields(whole_page), "content": content})))
            except LayoutChanged:
                continue
            assert all(item.score is None or 0 < item.score < 1000 for item in found if isinstance(item, Score))


def _fields(whole: Page) -> dict[str, object]:
    names = ("url", "final_url", "content", "sha256", "fetched_at", "status", "headers")
    return {name: getattr(whole, name) for name in names}


def test_the_figures_of_2026_come_back_from_a_page_made_of_them(shared_data: Path) -> None:
    with (shared_data / "toms" / "toms_gpu_hierarchy_2026-06_top21.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    made = table(
        ("Graphics Card", "1080p Ultra", "MSRP", "1440p Ultra", "4K Ultra"),
        *[
            (
                row["gpu"],
                f"{row['pct_1080p']}% ({row['fps_1080p']})",
                f"${Decimal(row['msrp_usd']):,}",
                f"{row['pct_1440p']}% ({row['fps_1440p']})",
                f"{row['pct_4k']}% ({row['fps_4k']})",
            )
            for row in rows
        ],
        head=False,
    )
    found = scores(made)
    assert len(found) == 3 * len(rows) == 63
    fps = {(item.gpu_name, item.workload_id): (item.score, item.relative_percent) for item in found}
    for row in rows:
        for size in ("1080p", "1440p", "4k"):
            expected = (Decimal(row[f"fps_{size}"]), Decimal(row[f"pct_{size}"]))
            assert fps[row["gpu"], f"gaming-{size}-ultra"] == expected
    assert {item.gpu_name: item.price for item in prices(made)} == {
        row["gpu"]: Decimal(row["msrp_usd"]) for row in rows
    }
