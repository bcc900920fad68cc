"""The traps of Tom's tables and articles of pictures, one test each; whole pages are in the sources' cases."""

from __future__ import annotations

import csv
import hashlib
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gpuledger.errors import LayoutChanged
from gpuledger.extract import source
from gpuledger.extract.markup.html import soup
from gpuledger.extract.readers.toms import month_of, next_page, page_number, split_name
from gpuledger.extract.readers.transcriptions import COLUMNS, match, read_csv
from gpuledger.extract.sample.server import SampleSite, start_urls
from gpuledger.extract.source import Page
from gpuledger.extract.sources.toms_ai_articles.pages import parse as parse_article
from gpuledger.extract.sources.toms_gpu_hierarchy.pages import parse
from gpuledger.extract.sources.toms_price_index.pages import parse as parse_index
from gpuledger.items import Chart, IndexPrice, Issue, Link, Parsed, Score
from tests.extract.pages import HIERARCHY, INDEX, page, table
from tests.extract.test_sample_server import ask

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


OCTOBER = (
    '<title>October 2023 eBay GPU Prices</title><h2><span class="page-title">October 2023 eBay GPU Prices</span></h2>'
)


def read_index(body: str, url: str = INDEX) -> list[Parsed]:
    return list(parse_index(page(body, url)))


def index_prices(body: str, url: str = INDEX) -> list[IndexPrice]:
    return [item for item in read_index(body, url) if isinstance(item, IndexPrice)]


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
    (found,) = index_prices(OCTOBER + table(("GPU", header), ("RTX 4090", "$1,612")))
    assert (found.price, found.currency, found.condition, found.period) == (Decimal(1612), "USD", condition, period)
    assert (found.column, found.gpu_name) == (header, "RTX 4090")


@pytest.mark.parametrize(
    "header", ["Gross Sales", "Monthly Change", "FPS/$", "Price Change", "Price Drop", "% of MSRP", "Price per FPS"]
)
def test_figures_of_other_columns_are_no_prices(header: str) -> None:
    body = OCTOBER + table(("GPU", "eBay Price", header), ("RTX 4090", "$1,612", "$99"))
    assert [item.column for item in index_prices(body)] == ["eBay Price"]
    assert [item for item in read_index(body) if isinstance(item, Issue)] == []


@pytest.mark.parametrize("header", ["QTY Sold", "Qty Sold", "Quantity", "Units Sold", "# Sold", "Sold"])
def test_the_quantity_belongs_to_the_used_price_of_the_month_only(header: str) -> None:
    columns = ("GPU", "Avg eBay Price", header, "Retail Price", "Last Price")
    found = index_prices(OCTOBER + table(columns, ("RTX 4090", "$1,612", "1,318", "$1,599", "$1,650")))
    assert [(item.column, item.quantity_sold) for item in found] == [
        ("Avg eBay Price", 1318),
        ("Retail Price", None),
        ("Last Price", None),
    ]


def test_a_quantity_that_is_no_number_is_an_issue_and_the_price_stays() -> None:
    body = OCTOBER + table(("GPU", "eBay Price", "QTY Sold"), ("RTX 4090", "$1,612", "many"))
    assert [item.quantity_sold for item in index_prices(body)] == [None]
    assert [item.code for item in read_index(body) if isinstance(item, Issue)] == ["unreadable_quantity"]


def test_january_s_last_price_is_december_s() -> None:
    (found,) = index_prices(
        "<title>January 2023 eBay index_prices</title>" + table(("GPU", "Last Price"), ("RTX 4090", "$1,612"))
    )
    assert found.period == "2022-12"


def test_the_headline_of_all_parts_is_not_the_month_of_a_later_part() -> None:
    headline = "<h1>Used index_prices 2023: November 2023 update</h1>"
    body = headline + table(("GPU", "eBay Price"), ("RTX 4090", "$1,612"))
    assert [item.period for item in index_prices(body)] == ["2023-11"]
    assert [item.period for item in index_prices(body, f"{INDEX}/8")] == [None]
    assert [item.code for item in read_index(body, f"{INDEX}/8") if isinstance(item, Issue)] == ["no_period"]
    titled = f"<title>March 2023 eBay index_prices - {headline} - Page 8</title>" + body
    assert [item.period for item in index_prices(titled, f"{INDEX}/8")] == ["2023-03"]


def test_the_caption_s_month_goes_before_the_page_s() -> None:
    body = OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090", "$1,612"), caption="Sept. 2023 prices")
    assert [item.period for item in index_prices(body)] == ["2023-09"]


def test_without_a_word_of_new_or_used_the_condition_is_unknown() -> None:
    body = "<title>Card index_prices, October 2023</title>" + table(("GPU", "Price"), ("RTX 4090", "$1,612"))
    assert [item.condition for item in index_prices(body)] == ["unknown"]


@pytest.mark.parametrize("cell", ["N/A", "—", "", "Row 0 - Cell 1", "none", "$0", "Sold out"])
def test_no_price_is_no_item(cell: str) -> None:
    assert read_index(OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090", cell))) == []


def test_a_price_in_the_name_is_its_own_item() -> None:
    found = index_prices(OCTOBER + table(("GPU", "eBay Price"), ("RTX 4090 ($1,599)", "$1,612")))
    assert [(item.gpu_name, item.price, item.condition, item.period) for item in found] == [
        ("RTX 4090", Decimal(1599), "unknown", None),
        ("RTX 4090", Decimal(1612), "used", "2023-10"),
    ]


def test_no_table_of_prices_is_a_changed_layout_on_the_first_part_only() -> None:
    body = OCTOBER + table(("GPU", "Score"), ("RTX 4090", "100%"))
    with pytest.raises(LayoutChanged, match="no table with a column of cards and one of prices"):
        read_index(body)
    assert [item.code for item in read_index(body, f"{INDEX}/2") if isinstance(item, Issue)] == ["no_table"]


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


URL = "https://www.tomshardware.com/news/running-your-own-chatbot-on-a-single-gpu"


def read_article(body: str) -> list[Parsed]:
    return list(parse_article(page(f'<div id="article-body">{body}</div>', URL)))


def images(body: str) -> list[str]:
    return [item.image_url for item in read_article(body) if isinstance(item, Chart)]


@pytest.mark.parametrize(
    ("markup", "address"),
    [
        ('<img src="/a.png">', "https://www.tomshardware.com/a.png"),
        ('<img src="missing-image.svg" data-original-mos="https://c.test/a.png">', "https://c.test/a.png"),
        ('<img src="https://x.test/media/img/missing-image.svg" data-src="/a.png">', "https://www.tomshardware.com/a.png"),
        ('<img data-srcset="/a-320.png 320w, /a-1200.png 1200w, /a-650.png 650w">', "https://www.tomshardware.com/a-1200.png"),
        ('<img srcset="/a.png 1x, /b.png 2x" src="/a.png">', "https://www.tomshardware.com/b.png"),
        ('<img srcset="/a,b.png">', "https://www.tomshardware.com/a,b.png"),
        ('<picture><source data-srcset="/a.webp 900w"><img src="data:image/gif;base64,R0"></picture>', "https://www.tomshardware.com/a.webp"),
    ],
)  # fmt: skip
def test_the_address_of_a_lazy_image(markup: str, address: str) -> None:
    assert images(markup) == [address]
    assert Link(url=address, role="image") in read_article(markup)


def test_the_caption_is_the_alternative_text_or_the_figure_s() -> None:
    with_words = '<figure><img src="/a.png" alt="Tokens"><figcaption>A</figcaption></figure>'
    found = read_article(with_words + '<figure><img src="/b.png"><figcaption>B</figcaption></figure>')
    assert [item.caption for item in found if isinstance(item, Chart)] == ["Tokens", "B"]


@pytest.mark.parametrize(
    "outside",
    [
        '<aside><img src="/x.png"></aside>',
        '<div data-widget-type="deal"><img src="/x.png"></div>',
        '<div class="hawk-wrapper"><img src="/x.png"></div>',
        '<div class="author__box"><img src="/x.png"></div>',
        '<section class="related-articles"><img src="/x.png"></section>',
        '<img src="/media/img/missing-image.svg">',
        '<img src="">',
        "<img>",
    ],
)
def test_pictures_that_are_no_charts_of_the_article(outside: str) -> None:
    assert images(f'{outside}<img src="/a.png">') == ["https://www.tomshardware.com/a.png"]


def test_a_picture_shown_twice_is_one_chart() -> None:
    assert images('<img src="/a.png"><img src="/b.png"><img src="/a.png">') == [
        "https://www.tomshardware.com/a.png",
        "https://www.tomshardware.com/b.png",
    ]


@pytest.mark.parametrize(
    "script",
    [
        '{"galleryData": [',
        '{"galleryData": 5}',
        "galleryData",
        '{"galleryData": [1, {"image": 2}, {"image": {"src": 3}}]}',
    ],
)
def test_a_gallery_that_cannot_be_read_does_no_harm(script: str) -> None:
    assert images(f'<img src="/a.png"><script>var data = {script};</script>') == ["https://www.tomshardware.com/a.png"]


def test_no_price_and_no_figure_is_read_from_an_article() -> None:
    found = read_article(
        '<img src="/a.png"><table><tr><th>Graphics Card<th>Price<tr><td>RTX 4090<td>$1,599</table><p>28.9 it/s, $999'
    )
    assert {type(item) for item in found} == {Chart, Link}


def test_an_article_without_pictures_has_changed() -> None:
    with pytest.raises(LayoutChanged, match="no picture in the text"):
        read_article("<p>Soon</p>")
    with pytest.raises(LayoutChanged):
        list(parse_article(page('<div class="new"><img src="/a.png"></div>', URL)))


def test_an_image_is_archived_and_not_parsed() -> None:
    assert list(parse_article(page(b"\x89PNG\r\n", "https://c.test/a.png", "image/png"))) == []


def test_a_transcription_of_the_program_s_own_is_parsed_like_a_page() -> None:
    row = "https://a.test/,C,,,2023-11-16,2023-11-16,w,fps,RTX 3060,7.2"
    text = f"{','.join(COLUMNS)}\n{row}\n"
    for url, kind in (
        ("file:mine.csv", "text/csv; charset=utf-8"),
        ("https://a.test/mine.csv", "application/octet-stream"),
    ):
        (found,) = parse_article(page(text, url, kind))
        assert isinstance(found, Score)
        assert (found.gpu_name, found.workload_id) == ("RTX 3060", "w")


def test_the_sample_s_charts_are_those_that_were_transcribed() -> None:
    charts: list[Chart] = []
    hashes: dict[str, str] = {}
    transcriptions = []
    with SampleSite(1) as site:

        def get(url: str) -> tuple[bytes, str]:
            parts = urlsplit(url)
            status, headers, content = ask(site, parts.path, parts.netloc)
            assert status == 200, url
            return content, headers["content-type"]

        for url in start_urls(source.get("toms_ai_articles")):
            content, kind = get(url)
            if kind.startswith("text/csv"):
                transcriptions += read_csv(content, url)[0]
                continue
            for item in parse_article(page(content, url, kind)):
                if isinstance(item, Chart):
                    charts.append(item)
                elif isinstance(item, Link):
                    hashes[item.url] = hashlib.sha256(get(item.url)[0]).hexdigest()
    assert len(charts) == len(hashes) == len(transcriptions) == 3
    assert match(charts, hashes, transcriptions) == []
    changed = dict.fromkeys(hashes, "0" * 64)
    assert [issue.code for issue in match(charts, changed, transcriptions)] == ["transcription_outdated"] * 3
    assert [issue.code for issue in match(charts[:1], hashes, transcriptions)] == ["transcription_outdated"]
