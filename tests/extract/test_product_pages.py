"""The reader of product pages on real ones, whole and damaged: the bounds that are promised, by no rule for a shop."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import product, source
from gpuledger.extract.source import Page
from tests.extract.pages import page
from tests.support import mutated_pages, product_pages
from tests.support.product_pages import Count


@pytest.fixture(scope="module")
def counts(shared_data: Path) -> dict[str, Count]:
    return product_pages.measure(shared_data / "product_pages")


def test_prices(counts: dict[str, Count]) -> None:
    price = counts["price"]
    assert price.precision >= 0.985, price.faults
    assert price.f1 >= 0.95, price.faults


def test_currency_wherever_the_price_is_right(counts: dict[str, Count]) -> None:
    assert counts["currency"].right > 25
    assert counts["currency"].faults == []


def test_availability(counts: dict[str, Count]) -> None:
    assert counts["availability"].f1 >= 0.97, counts["availability"].faults


def test_sku(counts: dict[str, Count]) -> None:
    assert counts["sku"].f1 >= 0.88, counts["sku"].faults


def test_by_sight_alone_no_price_is_wrong(shared_data: Path) -> None:
    price = product_pages.measure(shared_data / "product_pages", product_pages.silent)["price"]
    assert price.precision >= 0.985, price.faults
    assert price.f1 >= 0.90, price.faults


def test_with_limits_chosen_without_the_page_s_own_host(shared_data: Path) -> None:
    price = product_pages.leave_one_host_out(shared_data / "product_pages")
    assert price.precision >= 0.985, price.faults
    assert price.f1 >= 0.93, price.faults


def test_of_templates_without_a_name_few_prices_are_wrong(shared_data: Path) -> None:
    price = product_pages.measure(shared_data / "product_pages", product_pages.nameless)["price"]
    assert price.wrong <= 1, price.faults
    assert price.f1 >= 0.85, price.faults


def test_what_is_left_open_says_why(shared_data: Path) -> None:
    for real, truth in product_pages.pages(shared_data / "product_pages"):
        offer, issues = product_pages.read(real)
        if truth.get("price") and (offer is None or offer.price is None):
            assert [issue for issue in issues if issue.code.endswith(("_price", "_disagreement", "_currency"))], (
                real.url
            )


def test_no_rule_names_a_page_or_a_host(shared_data: Path) -> None:
    folder = Path(product.__file__).parent
    code = "\n".join(file.read_text(encoding="utf-8").lower() for file in folder.glob("*.py"))
    hosts = {urlsplit(page.url).hostname or "" for page, _ in product_pages.pages(shared_data / "product_pages")}
    names = {part for host in hosts for part in host.split(".")[:-1] if len(part) > 4} - {"books", "mobile"}
    assert {name for name in names if re.search(rf"\b{re.escape(name)}\b", code)} == set()


#: Damaged pages here; `benchmarks.bench_product` takes thousands, of real ones.
DAMAGED = 400


@pytest.fixture(scope="module")
def invented() -> list[Page]:
    files = sorted((source.folder("generic_shop") / "cases").glob("*.html"))
    return [page(file.read_bytes(), f"https://shop.example.com/p/{file.stem}", "") for file in files]


def test_damaged_fixtures(invented: list[Page]) -> None:
    read = [mutated_pages.check(one) for one in mutated_pages.mutated(invented, DAMAGED)]
    assert sum(offer is not None and offer.price is not None for offer in read) > DAMAGED / 10
