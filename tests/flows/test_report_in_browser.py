"""The report as a person meets it, in the Chromium of this machine: few and quick, and never where tests run unattended."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from gpuledger.flows.cli import cli
from gpuledger.transform.report.questions import QUESTIONS, Kept
from tests.flows.inprocess import refresh
from tests.flows.reports import report, table, tree
from tests.flows.reports import shown as contents_of
from tests.nights import Night
from tools import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WHY_NOT = "tests run unattended" if os.environ.get("CI") else browser.why_not()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

CARD = "nvidia-geforce-rtx-4090"
WORKLOAD = "sd-512-image-generation"
#: One of every kind of page.
PAGES = (
    "", "?for=m:llama-3-8b", "cards", f"card/{CARD}", "workloads", f"workload/{WORKLOAD}", "models", "model/llama-3-8b",
    f"compare?cards={CARD},nvidia-geforce-rtx-3060-12gb", "rent", "changes", "sources", "claims", "dictionary", "nowhere",
)  # fmt: skip


@pytest.fixture(scope="module")
def written(report_file: Path) -> tuple[str, dict[str, Any]]:
    """The address of the report of the second night on this machine's disk, and what it shows."""
    return report_file.as_uri(), contents_of(tree(report_file))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as found:
        yield found


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(chromium: Browser, written: tuple[str, dict[str, Any]]) -> Iterator[Opened]:
    """Opens a place of the report; what a page complains of or asks for fails the test at its end."""
    pages: list[Page] = []
    said: list[str] = []

    def go(place: str = "", width: int = 1440, **more: Any) -> Page:
        page = chromium.new_page(viewport={"width": width, "height": 900}, **more)
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else said.append(request.url),
        )
        page.goto(f"{written[0]}#/{place}")
        pages.append(page)
        return page

    yield go
    for page in pages:
        page.close()
    assert said == []


@pytest.mark.parametrize("width", [1440, 390])
def test_every_page_is_drawn_and_fits(opened: Opened, width: int) -> None:
    page = opened(width=width)
    for place in PAGES:
        page.evaluate("place => { location.hash = '#/' + place }", place)
        page.wait_for_function("place => document.querySelector('h1') && location.hash === '#/' + place", arg=place)
        assert page.locator("h1").inner_text(), place
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} is wider than {width}"
        assert not page.evaluate("[...document.querySelectorAll('th')].some(one => !one.textContent.trim())"), place
        assert "undefined" not in page.inner_text("main"), place
        assert "NaN" not in page.inner_text("main"), place
        assert page.evaluate(
            "[...document.querySelectorAll('.plot text')].every(one => one.getBoundingClientRect().right <= innerWidth)"
        ), place
        assert page.locator(".plot").count() or place not in ("rent", "changes", f"card/{CARD}"), place


def test_a_chart_has_a_mark_a_card_and_labels_that_lie_on_nothing(
    opened: Opened, written: tuple[str, dict[str, Any]]
) -> None:
    values = [
        row for row in table(written[1], "value")
        if (row["market"], row["workload_id"], row["price_basis"]) == ("us", WORKLOAD, "street")
    ]  # fmt: skip
    page = opened(f"workload/{WORKLOAD}")
    dots = page.locator(".plot circle")
    assert dots.count() == len(values) > 10
    assert page.locator(".plot circle[data-front=true]").count() == sum(row["is_front"] for row in values)
    crossing = page.evaluate(
        """() => {
            const box = one => one.getBoundingClientRect();
            const labels = [...document.querySelectorAll('.plot text.label')].map(box);
            const line = document.querySelector('.plot g[data-mark=line] path');
            const frame = box(line.ownerSVGElement);
            const points = Array.from({length: 400}, (_, n) => {
                const {x, y} = line.getPointAtLength(line.getTotalLength() * n / 399);
                return {left: x + frame.left, right: x + frame.left, top: y + frame.top, bottom: y + frame.top};
            });
            const others = [...[...document.querySelectorAll('.plot circle')].map(box), ...points];
            const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            return [labels.length, labels.filter((a, n) => others.some(b => meet(a, b))
                || labels.some((b, m) => m !== n && meet(a, b))).length];
        }"""
    )
    assert crossing[0] > 3
    assert crossing[1] == 0


def test_a_link_shows_the_same_view_and_a_grid_sorts_filters_and_searches(opened: Opened) -> None:
    page = opened("cards")
    first = page.locator("tbody th").first
    assert page.locator("th[aria-sort]").inner_text().startswith("best place by value")
    page.get_by_role("button", name="memory, GB").click()
    most = first.inner_text()
    page.get_by_label("Search in this table").fill("rtx 40")
    assert all("RTX 40" in one for one in page.locator("tbody th").all_inner_texts())
    page.locator("select[name=market]").select_option("kr")
    page.locator("select[name=cur]").select_option("KRW")
    page.locator("select[name=lang]").select_option("ko")
    names = page.locator("tbody th").all_inner_texts()
    again = opened(page.url.partition("#/")[2])
    assert again.locator("tbody th").all_inner_texts() == names
    assert again.get_by_label("이 표에서 검색").input_value() == "rtx 40"
    assert "₩" in again.inner_text("tbody")
    assert most


def test_a_budget_changes_the_answer_and_says_what_it_would_take(opened: Opened) -> None:
    page = opened(f"?for=w:{WORKLOAD}")
    fastest = page.locator(".answer .name").nth(1).inner_text()
    assert fastest == "NVIDIA GeForce RTX 4090"
    page.get_by_label("Budget").fill("800")
    page.get_by_label("Budget").press("Enter")
    page.wait_for_function("location.hash.includes('budget=800')")
    assert "RTX 4090" not in page.inner_text("main .answers")
    page.get_by_label("Budget").fill("1")
    page.get_by_label("Budget").press("Enter")
    page.wait_for_selector("main .notice")
    assert "Nothing costs so little" in page.inner_text("main .notice")


def test_charts_and_evidence_are_reached_by_keyboard(opened: Opened) -> None:
    page = opened(f"card/{CARD}")
    page.locator("[role=slider]").focus()
    page.keyboard.press("Home")
    assert "Nov 16, 2023" in page.locator(".reading").inner_text()
    page.locator("button.ev").first.focus()
    page.keyboard.press("Enter")
    assert re.search(r"gpuledger evidence [0-9a-f]{64}", page.locator("dialog[open]").inner_text())
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert not re.search(r"[0-9a-f]{32}", page.inner_text("main")), "hashes are out of sight"
    page.evaluate("place => { location.hash = place }", f"#/workload/{WORKLOAD}")
    said = "one => { one.click(); return document.getElementById('evidence').textContent }"
    each = page.evaluate(f"[...document.querySelectorAll('main button.ev')].map({said})")
    assert each
    assert not any("null" in one for one in each)
    page.keyboard.press("Escape")
    page.locator(".plot circle[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert "it/s" in page.locator(".tip:not([hidden])").inner_text()
    page.evaluate("location.hash = '#/rent?cur=KRW'")
    page.locator(".plot rect[tabindex='0']").hover()
    assert re.fullmatch(r"[^\n]+, gcp, spot\nrenting\n₩[1-9][\d,]*", page.locator(".tip:not([hidden])").inner_text())


def test_what_is_seen_can_be_taken_away(opened: Opened, tmp_path: Path) -> None:
    page = opened(f"workload/{WORKLOAD}", accept_downloads=True)
    for name, begins in (("CSV", b"\xef\xbb\xbfgpu,price_usd"), ("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator("figure").get_by_role("button", name=name).click()
        path = tmp_path / name
        download.value.save_as(path)
        assert path.read_bytes().startswith(begins)
    assert b"var(" not in (tmp_path / "SVG").read_bytes(), "its colours go with it"


def test_the_answer_prints_on_two_sheets_and_in_the_dark_it_is_dark(opened: Opened, tmp_path: Path) -> None:
    page = opened(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    page.locator("select[name=theme]").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", printed)) <= 2


@pytest.fixture(scope="module")
def measured(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report in which one figure is the user's own."""
    folder = tmp_path_factory.mktemp("measured")
    data = folder / "data"
    shutil.copytree(nights[2].data, data, symlinks=True)
    figure = ["measure", "add", WORKLOAD, "21.5", "--gpu", "rtx 4070 ti", "--on", "2023-11-17", "--data-dir", str(data)]
    assert CliRunner().invoke(cli, figure, catch_exceptions=False).exit_code == 0
    assert refresh(data, 2, only=["measurements"]).published
    card = {"model": "flux.1-dev", "own": ["nvidia-geforce-rtx-4090"]}
    QUESTIONS.put(data, Kept(name="Bilder", asked=card, market="de", currency="EUR"))
    report(data, folder)
    return (folder / "index.html").as_uri()


def test_a_kept_question_opens_first_and_in_its_currency(chromium: Browser, measured: str) -> None:
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(measured)
    first = re.sub(r"\s+", " ", page.locator(".answer").first.inner_text())
    assert "RTX 4090 (owned) €0.00 A picture of 1024 × 1024 with 28 steps" in first
    typed = "gpuledger buy --model flux.1-dev --own nvidia-geforce-rtx-4090 --market de --currency EUR"
    assert typed in page.inner_text("main")
    assert said == []
    page.close()


def test_it_opens_in_the_market_and_the_currency_that_are_asked(
    chromium: Browser, nights: dict[int, Night], tmp_path: Path
) -> None:
    def write(*asked: str) -> Result:
        return CliRunner().invoke(cli, ["report", str(tmp_path), "--data-dir", str(nights[2].data), *asked])

    assert "it can in kr, us, all" in str(write("--market", "fr").exception)
    assert write("--market", "kr", "--currency", "krw").exit_code == 0
    page = chromium.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    assert [page.locator(f"select[name={name}]").first.input_value() for name in ("market", "cur")] == ["kr", "KRW"]
    assert "--market kr --currency KRW" in page.inner_text("main")
    assert "₩" in page.locator(".answer").first.inner_text()
    page.goto(f"{(tmp_path / 'index.html').as_uri()}#/?lang=ko")
    page.wait_for_function("document.documentElement.lang === 'ko'")
    assert not re.search(r"₩[\d,]+를", page.inner_text("main"))
    page.close()


def test_whose_a_figure_is_stands_behind_the_price_which_a_phone_shows(chromium: Browser, measured: str) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 900})
    page.goto(f"{measured}#/workload/{WORKLOAD}")
    table = page.locator("table").filter(has_text="RTX 4070 Ti").first
    heads = [head.split(",")[0].strip(" ▲▼") for head in table.locator("thead th").all_inner_texts()]
    price, whose = heads.index("price"), heads.index("whose figure")
    assert price < whose
    assert page.evaluate(
        "at => document.querySelectorAll('thead th')[at].getBoundingClientRect().right <= innerWidth", price
    )
    cells = table.locator(f"tbody tr > :nth-child({whose + 1})")
    assert set(cells.all_inner_texts()) == {"own", "as published"}
    page.close()


def test_nothing_english_is_left_in_korean(opened: Opened) -> None:
    page = opened("?lang=ko")
    for place in PAGES:
        page.evaluate("place => { location.hash = place }", f"#/{place}{'&' if '?' in place else '?'}lang=ko")
        page.wait_for_function("document.documentElement.lang === 'ko'")
        left = page.evaluate(
            """() => {
                const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                const found = [];
                while (walk.nextNode())
                    if (!walk.currentNode.parentElement.closest('[translate=no], script, style, option, noscript, svg'))
                        found.push(walk.currentNode.textContent);
                return found;
            }"""
        )
        # What is typed stands between backticks; the other words are codes of the data, which the dictionary explains, and
        # the names of clouds with their regions.
        own = (re.sub(r"`[^`]*`|gcp [a-z]+-\w+|sales tax|not verifiable|input missing", "", text) for text in left)
        prose = [text for text in own if re.search(r"[a-z]{3,} [a-z]{3,}", text)]
        assert prose == [], f"{place}: {prose}"


def test_a_view_in_a_frame_of_others_is_the_view_and_its_day(opened: Opened) -> None:
    page = opened(f"workload/{WORKLOAD}?embed=1")
    assert page.locator("nav").is_hidden()
    assert page.locator("#foot").is_hidden()
    assert page.locator("main svg").first.is_visible()
    assert "2023" in page.locator(".health").inner_text()
