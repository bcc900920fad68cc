"""Reading any shop's product page: how often it is right, how it stands damage, and what it costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import lxml.html
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, given, settings

from gpuledger.errors import ExtractError
from gpuledger.extract import product
from gpuledger.extract.source import Page
from tests.support import generated_prices, mutated_pages, product_pages

#: How many generated prices and damaged pages; the tests take samples of the same.
PRICES = 50_000
DAMAGED = 10_000
_REPEATS = 7


def run() -> list[tuple[str, str, str]]:
    """What was measured, the measure, the bound asked. Only the generated prices where the pages are not on this machine."""
    rows = [_generated()]
    pages = [page for page, _ in product_pages.pages()]
    if pages:
        rows += [*_accuracy(), *_speed(pages), _damage(pages)]
    return rows


def _accuracy() -> list[tuple[str, str, str]]:
    seen, by_sight = product_pages.measure(), product_pages.measure(seen_as=product_pages.silent)
    nameless = product_pages.measure(seen_as=product_pages.nameless)
    left_out = product_pages.leave_one_host_out()
    left_out_by_sight = product_pages.leave_one_host_out(seen_as=product_pages.silent)
    return [
        ("product pages: price precision", f"{seen['price'].precision:.3f}", "0.985"),
        ("product pages: price F1", f"{seen['price'].f1:.3f}", "0.93"),
        ("product pages: currency of the right prices", f"{seen['currency'].precision:.3f}", "1"),
        ("product pages: availability F1", f"{seen['availability'].f1:.3f}", "0.95"),
        ("product pages: sku F1", f"{seen['sku'].f1:.3f}", "0.88"),
        ("each host left out: price precision", f"{left_out.precision:.3f}", "0.985"),
        ("each host left out: price F1", f"{left_out.f1:.3f}", "0.93"),
        ("each host left out, by sight alone: price precision", f"{left_out_by_sight.precision:.3f}", "0.985"),
        ("each host left out, by sight alone: price F1", f"{left_out_by_sight.f1:.3f}", "-"),
        ("templates without a name: price precision", f"{nameless['price'].precision:.3f}", "-"),
        ("templates without a name: price F1", f"{nameless['price'].f1:.3f}", "-"),
        ("product pages by sight alone: price precision", f"{by_sight['price'].precision:.3f}", "0.985"),
        ("product pages by sight alone: price F1", f"{by_sight['price'].f1:.3f}", "-"),
    ]


def _speed(pages: list[Page]) -> list[tuple[str, str, str]]:
    """Ratios to lxml's tree and to BeautifulSoup's, each page for itself, the best of several runs of each."""
    to_tree, to_soup = [], []
    for page in pages:
        # In turns, so that what else the machine does falls on all of them.
        runs = [_parse, lambda page: lxml.html.document_fromstring(page.content), _soup]
        best = [
            min(times) for times in zip(*([_time(run, page) for run in runs] for _ in range(_REPEATS)), strict=True)
        ]
        to_tree.append(best[0] / best[1])
        to_soup.append(best[0] / best[2])
    return [
        ("reading a shop page, in times of lxml's tree, median", f"{statistics.median(to_tree):.1f}", "4"),
        ("reading a shop page, in times of its soup, worst", f"{max(to_soup):.2f}", "1.5"),
    ]


def _parse(page: Page) -> object:
    try:
        return list(product.parse(page))
    except ExtractError as error:
        return error


def _soup(page: Page) -> object:
    return BeautifulSoup(page.content, "lxml")


def _time(run: Callable[[Page], object], page: Page) -> float:
    started = time.process_time()
    run(page)
    return time.process_time() - started


def _damage(pages: list[Page]) -> tuple[str, str, str]:
    failed = 0
    for page in mutated_pages.mutated(pages, DAMAGED):
        try:
            mutated_pages.check(page)
        except Exception:  # noqa: BLE001 - whatever comes out is what is counted
            failed += 1
    return f"{DAMAGED:,} damaged pages: uncaught exceptions and impossible prices", str(failed), "0"


def _generated() -> tuple[str, str, str]:
    drawn = 0

    @settings(max_examples=PRICES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(generated_prices.prices())
    def read_back(price: generated_prices.Printed) -> None:
        nonlocal drawn
        drawn += 1
        generated_prices.check(price)

    try:
        read_back()
    except AssertionError as error:
        return "generated prices read wrong", f"at least 1: {str(error)[:80]}", "0"
    return f"{drawn:,} generated prices read wrong", "0", "0"
