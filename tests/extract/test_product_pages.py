"""The reader of product pages on real ones, whole and damaged: the bounds that are promised, by no rule for a shop."""

from __future__ import annotations

import random
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import product, source
from gpuledger.extract.source import Page
from tests.extract.pages import page
from tests.support import mutated_pages, product_pages
from tests.support.mutated_pages import MUTATIONS
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


#: Damaged pages here; `benchmarks.bench_product` takes thousands.
OF_FIXTURES, OF_REAL_PAGES = 400, 40


@pytest.fixture(scope="module")
def invented() -> list[Page]:
    files = sorted((source.folder("generic_shop") / "cases").glob("*.html"))
    return [page(file.read_bytes(), f"https://shop.example.com/p/{file.stem}", "") for file in files]


def test_damaged_fixtures(invented: list[Page]) -> None:
    read = [mutated_pages.check(one) for one in mutated_pages.mutated(invented, OF_FIXTURES)]
    assert sum(offer is not None and offer.price is not None for offer in read) > OF_FIXTURES / 10


def test_damaged_real_pages(shared_data: Path) -> None:
    real = [one for one, _ in product_pages.pages(shared_data / "product_pages") if len(one.content) < 300_000]
    for damaged in mutated_pages.mutated(real, OF_REAL_PAGES):
        mutated_pages.check(damaged)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__.strip("_"))
def test_each_kind_of_damage_changes_the_page(mutation: mutated_pages.Mutation, invented: list[Page]) -> None:
    chance = random.Random(1)
    assert any(mutation(one.content, chance) != one.content for one in invented for _ in range(3))


def test_a_price_that_turns_monthly_is_no_price_of_the_goods(invented: list[Page]) -> None:
    stated = next(one for one in invented if b"$1,199.99" in one.content)
    monthly = stated.content.replace(b"$1,199.99", b"$1,199.99/mo.").replace(b'999.99"', b'1199.99"')
    offer = mutated_pages.check(page(monthly, stated.url, ""))
    assert (offer.price_kind, offer.price) in (("monthly", offer.price), (None, None))


@pytest.mark.parametrize(
    "content",
    [
        b"<div class='price'>" * 3000 + b"$5.00",
        b"<script type='application/ld+json'>" + b"[" * 100_000,
        b"<p class=price>" + b"9" * 5000,
        b"\xff\xfe<\x00p\x00",
        b"<h1>x</h1>" * 5000,
        b"<a class=btn>" * 3000,
        b"<p itemprop=price itemscope>" * 2000,
        b"<html><h1>T</h1>" + b"<span class=price>$1.00</span>" * 5000,
    ],
    ids=["deep", "brackets", "digits", "utf-16", "headings", "links", "items", "prices"],
)  # fmt: skip
def test_hostile_pages_end(content: bytes) -> None:
    mutated_pages.check(page(content, "https://shop.example.com/p/1", ""))
