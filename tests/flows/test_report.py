"""The report: one file that needs nothing else; every number leads to its source, and nothing that a shop wrote runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import lxml.html
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import HtmlElement

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.sample import server
from gpuledger.flows.cli import cli
from gpuledger.warehouse.outputs import report_charts, report_data, report_files, report_words
from gpuledger.warehouse.outputs.report_charts import Point
from gpuledger.warehouse.outputs.report_files import ArchivedPage
from gpuledger.warehouse.paths import DataDir
from tests.command import rows
from tests.flows.inprocess import copy_of_the_site, refresh
from tests.nights import Night


def report(data: Path, to: Path) -> tuple[bytes, HtmlElement]:
    """The file that the command writes, and its tree."""
    result = CliRunner().invoke(cli, ["report", str(to), "--data-dir", str(data)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.output == f"{to / 'index.html'}\n"
    content = (to / "index.html").read_bytes()
    return content, lxml.html.document_fromstring(content, parser=lxml.html.HTMLParser(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> HtmlElement:
    """The report of the second night, on which a shop failed."""
    return report(nights[2].data, tmp_path_factory.mktemp("report"))[1]


def section(page: HtmlElement, name: str) -> str:
    """The text of a section: from its heading to the next."""
    (heading,) = page.xpath(f"//h2[@id='{name}']")
    after = heading.xpath("following-sibling::*")
    own = [node for node in after if node.xpath("preceding-sibling::h2[1]")[0] is heading and node.tag != "h2"]
    return " ".join(" ".join(node.text_content().split()) for node in own)


def test_nothing_is_fetched_and_nothing_runs(page: HtmlElement) -> None:
    assert not page.xpath(
        "//script | //link | //img | //iframe | //object | //embed | //video | //form | //@src | //base"
    )
    assert not page.xpath("//@*[starts-with(name(), 'on')]")
    styles = " ".join([*page.xpath("//style/text()"), *page.xpath("//@style")])
    assert "url(" not in styles
    assert "@import" not in styles
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")


def test_every_link_is_a_web_address_or_leads_to_a_place_that_is_there(page: HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    links = page.xpath("//a/@href")
    inside = [link for link in links if link.startswith("#")]
    assert set(inside) <= {f"#{place}" for place in ids}
    assert all(re.match(r"https?://[^/]+/", link) for link in links if not link.startswith("#"))
    assert len(links) - len(inside) > 100


def test_every_price_leads_to_its_shop_and_to_the_archived_page(nights: dict[int, Night], page: HtmlElement) -> None:
    archive = Archive(nights[2].data / "snapshots")
    prices = rows(
        nights[2].data, "SELECT gpu_id, price_usd, url, snapshot_sha256 FROM mart.gpu_price WHERE price_usd IS NOT NULL"
    )
    assert len(prices) > 10
    for gpu_id, price_usd, url, sha256 in prices:
        (row,) = page.xpath(f"//tr[@id='price-{gpu_id}']")
        cell = row.xpath("td")[0]
        assert cell.xpath("a[1]/text()") == [f"{price_usd:,.2f}"]
        assert url in cell.xpath(".//a/@href")
        (place,) = cell.xpath(".//a[@class='page']/@href")
        (evidence,) = page.xpath(f"//tr[@id='{place[1:]}']")
        assert sha256 in evidence.text_content()
        first = archive.origin(sha256)
        assert first is not None
        assert f"{first.fetched_at:%Y-%m-%d %H:%M}" in evidence.text_content()
        assert evidence.xpath(".//a/@href") == [first.url]


def test_every_number_of_the_value_tables_has_its_sources(nights: dict[int, Night], page: HtmlElement) -> None:
    tables = page.xpath("//table[@class='value']")
    (count,) = rows(nights[2].data, "SELECT count(*) FROM mart.value")
    shown = [row for table in tables for row in table.xpath("tbody/tr")]
    assert len(shown) == count[0]
    front = rows(nights[2].data, "SELECT count(*) FROM mart.value WHERE on_pareto_frontier")[0][0]
    assert len([row for row in shown if row.get("class") == "front" and "●" in row.text_content()]) == front
    for row in shown:
        *_, price_from, score_from = row.xpath("td")
        assert row.xpath("td")[1].xpath("a/@href"), "the score's article"
        assert score_from.xpath("a[@class='page']")
        assert price_from.text_content().strip(), "a shop's page, or where the launch price was announced"


def test_a_stale_source_is_red_and_says_why(nights: dict[int, Night], page: HtmlElement) -> None:
    assert "1 of 9 sources are stale" in page.xpath("//p[contains(@class, 'bad')]")[0].text_content()
    (row,) = page.xpath("//tr[@id='source-bhphoto']")
    assert "LayoutChanged" in row.xpath("td[@class='long old']")[0].text_content()
    old = page.xpath("//tr[starts-with(@id, 'price-')]//span[@class='old']/text()")
    from_it = rows(nights[2].data, "SELECT count(*) FROM mart.gpu_price WHERE source = 'bhphoto'")[0][0]
    assert old.count("bhphoto, stale") >= from_it > 0
    assert not page.xpath("//tr[@id='source-newegg']//*[contains(@class, 'old')]")


def test_what_changed_what_is_open_and_what_the_columns_mean(page: HtmlElement) -> None:
    changes = section(page, "changes")
    assert "1,749.99 USD" in changes
    assert "1,699.99 USD" in changes
    assert "appeared" in changes, "a listing of the second night"
    assert "799.99" not in changes, "what was there on the first night is no change"
    assert "Halden Mini GeForce RTX 3060" in section(page, "open")
    assert "97" in section(page, "audit")
    for table in report_data.TABLES:
        assert page.xpath(f"//details[@id='table-{table}']//tbody/tr"), table
    assert "its prices are invented" in page.xpath("//p[@class='notice']")[0].text_content()


def test_each_ai_workload_has_a_chart_with_a_dot_a_card(nights: dict[int, Night], page: HtmlElement) -> None:
    wanted = rows(
        nights[2].data,
        """SELECT workload_id, count(*), count(*) FILTER (on_pareto_frontier)
           FROM mart.value JOIN core.workload USING (workload_id)
           WHERE output IS NOT NULL AND price_basis = 'street' GROUP BY workload_id""",
    )
    assert len(page.xpath("//figure")) == len(wanted) == 3
    for workload, cards, front in wanted:
        (chart,) = page.xpath(f"//details[@id='{workload}']//figure//svg")
        dots = chart.xpath(".//*[local-name()='circle']")
        assert len(dots) == cards
        assert len([dot for dot in dots if dot.get("class") == "dot on"]) == front


def test_what_a_shop_writes_is_text(nights: dict[int, Night], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = copy_of_the_site(tmp_path / "site")
    listing = site / "newegg" / "sample" / "night2" / "gpus" / "index.html"
    evil = "Norvik GeForce RTX 4090 24GB <script>alert(1)</script>"
    text = listing.read_text(encoding="utf-8")
    title = "Norvik Storm GeForce RTX 4090 24GB GDDR6X PCI Express 4.0 x16 Graphics Card NV4090-24ST"
    assert title in text
    listing.write_text(text.replace(title, evil.replace("<", "&lt;").replace(">", "&gt;")), encoding="utf-8")
    monkeypatch.setattr(server, "_SITE", site)
    data = nights[1].copy(tmp_path / "data")
    refresh(data, 2, only=["newegg"])
    assert rows(data, "SELECT count(*) FROM core.listing WHERE title LIKE '%<script>%'") == [(1,)]
    content, page = report(data, tmp_path / "report")
    assert not page.xpath("//script")
    assert evil in section(page, "changes")
    assert b"<script" not in content


def test_equal_warehouses_give_equal_files(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    before, _ = report(data, tmp_path / "before")
    refresh(data, 1)
    assert rows(data, "SELECT count(*) FROM ops.run") == [(2,)], "another run of the same night"
    assert report(data, tmp_path / "after")[0] == before


def test_a_warehouse_without_its_archive_is_reported_all_the_same(nights: dict[int, Night], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "gpuledger.duckdb").symlink_to((nights[2].data / "gpuledger.duckdb").resolve())
    _, page = report(data, tmp_path / "report")
    assert "not in this archive" in section(page, "pages")


def test_a_page_that_was_archived_after_its_prices_shows_its_day_and_no_age(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    later = ArchivedPage("https://prices.test/old.csv", datetime(2024, 2, 1, 3, tzinfo=UTC))
    (path,) = report_files.export(DataDir(nights[1].data), tmp_path, archived=lambda sha256: later)
    ages = lxml.html.parse(path).xpath("//tr[starts-with(@id, 'page-')]/td[3]")
    assert ages
    assert {age.text_content() for age in ages} == {"2024-02-01"}


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "file:quote.csv", "data:text/html,x", "", None, "//host/x", "http:///x",
            "http://[bad"]
)  # fmt: skip
def test_an_address_that_no_browser_may_be_sent_to_is_no_link(url: str | None) -> None:
    assert report_words.web(url) is None


def inside(dots: Iterable[report_charts.Dot]) -> bool:
    return all(
        report_charts.LEFT <= dot.x <= report_charts.WIDTH - report_charts.RIGHT
        and report_charts.TOP <= dot.y <= report_charts.HEIGHT - report_charts.BOTTOM
        for dot in dots
    )


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1, 1e5), st.floats(0.001, 1e6)), min_size=1, max_size=30))
def test_every_card_is_inside_its_chart_in_the_order_of_its_figures(cards: list[tuple[float, float]]) -> None:
    chart = report_charts.scatter([Point(price, score, "RTX", is_front=True) for price, score in cards])
    assert inside(chart.dots)
    by_price = sorted(chart.dots, key=lambda dot: dot.point.price)
    assert all(a.x <= b.x for a, b in pairwise(by_price))
    by_score = sorted(chart.dots, key=lambda dot: dot.point.score)
    assert all(a.y >= b.y for a, b in pairwise(by_score))
    assert all(a < b for (_, a), (_, b) in pairwise(chart.x_ticks))


def test_a_wide_range_of_prices_gets_a_logarithmic_axis() -> None:
    cards = [
        Point(200, 5, "a", is_front=True),
        Point(2000, 30, "b", is_front=True),
        Point(30000, 90, "c", is_front=True),
    ]
    chart = report_charts.scatter(cards)
    first, second, third = (dot.x for dot in chart.dots)
    assert second - first == pytest.approx((third - second) * 0.85, rel=0.05)
    assert [number for _, number in chart.x_ticks] == [200, 500, 1000, 2000, 5000, 10000, 20000, 50000]


def test_labels_do_not_cover_each_other_or_a_dot() -> None:
    cards = [Point(500 + n % 5, 10 + n / 10, f"RTX 40{n}0 Super", is_front=n % 2 == 0) for n in range(20)]
    labelled = [dot for dot in report_charts.scatter(cards).dots if dot.anchor]
    assert 0 < len(labelled) < len(cards)
    lines = sorted(dot.label_y or 0 for dot in labelled if dot.anchor == "end")
    assert all(b - a >= 10 for a, b in pairwise(lines))


def test_a_sparkline_steps_at_a_change_and_breaks_where_no_price_was_seen() -> None:
    first = date(2023, 11, 1)
    days = [(first + timedelta(days=n), price) for n, price in ((0, 10.0), (1, 10.0), (2, 8.0), (5, 8.0))]
    path = report_charts.sparkline(days, first, first + timedelta(days=9))
    assert path == "M0 3H24V27H36M60 27H72"
    assert report_charts.sparkline([], first, first) == ""
    assert report_charts.sparkline(days[:1], first, first) == f"M0 15H{report_charts.SPARK_WIDTH}"
