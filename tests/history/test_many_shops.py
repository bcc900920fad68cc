"""Addresses of many shops: each shop is read on its own, side by side with the others, and replayed so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.errors import NotFound, Timeout
from gpuledger.extract import shops
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.source import get
from gpuledger.flows.night import run_log
from gpuledger.flows.night.gather import Reader, read_plain
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.items import Issue
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.flows.inprocess import context
from tests.history.replays import replayed

SHOPS = ("one.test", "www.two.test", "three.test")
PAGES = 3
ADDRESSES = [f"http://{shop}/card/{number}" for number in range(PAGES) for shop in SHOPS]
OFFERS = "SELECT url, price FROM core.offer WHERE source = 'generic_shop' ORDER BY url"


def card(exchange: Exchange) -> None:
    number = int(exchange.path.rpartition("/")[2])
    shop = SHOPS.index(exchange.headers["host"].partition(":")[0])
    price = 1000 + 100 * shop + number
    exchange.reply(
        200,
        b"""<html><head><title>ASUS TUF GeForce RTX 4090 OC 24GB</title><script type="application/ld+json">
        {"@context": "https://schema.org", "@type": "Product", "name": "ASUS TUF GeForce RTX 4090 OC 24GB %d",
         "sku": "S%d", "offers": {"@type": "Offer", "price": "%d.00", "priceCurrency": "USD",
         "availability": "https://schema.org/InStock"}}</script></head>
        <body><h1>ASUS TUF GeForce RTX 4090 OC 24GB %d</h1><p class="price">$%d.00</p></body></html>"""
        % (number, number, price, number, price),
    )


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer({f"/card/{number}": card for number in range(PAGES)}) as found:
        yield found


def night(data: Path, number: int, server: FaultyServer, delay_s: float = 0.0, longest_s: float = 60.0) -> Summary:
    """A night that reads all three shops."""
    one = context(data, number, only=["generic_shop"])
    settings = replace(one.settings, product_urls=tuple(ADDRESSES), source_timeout_s=longest_s)
    one = replace(one, settings=settings, sample_night=None)

    def read_all(reader: Reader, readings: list[Reading]) -> list[Collected]:
        there = dict.fromkeys(SHOPS, ("127.0.0.1", server.port))
        with Client(HttpSettings(delay_s=delay_s, max_attempts=1, connect_to=there)) as client:
            return read_plain(replace(reader, client=client), readings)

    return run(one, read_all)


def test_one_shop_is_not_waited_for_by_the_others_and_one_that_fails_costs_its_own_prices_alone(
    server: FaultyServer, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    assert night(data, 1, server, delay_s=0.2).published is not None
    first = query(DataDir(data), OFFERS)[1]
    assert len(first) == len(ADDRESSES)
    asked = [(one.at, one.headers["host"].partition(":")[0]) for one in server.asked if one.path != "/robots.txt"]
    ended = {shop: max(at for at, host in asked if host == shop) for shop in SHOPS}
    began = {shop: min(at for at, host in asked if host == shop) for shop in SHOPS}
    assert max(began.values()) < min(ended.values()), "all begin before the first one is done"

    # Two shops of three fail, which is more than half of the pages: one answers with errors, and one with nothing in time.
    def fail(exchange: Exchange) -> None:
        host = exchange.headers["host"].partition(":")[0]
        if host == SHOPS[0]:
            return exchange.reply(503, b"busy")
        if host == SHOPS[1]:
            time.sleep(1.5)
        return card(exchange)

    server.routes |= {f"/card/{number}": fail for number in range(PAGES)}
    summary = night(data, 2, server, longest_s=1.0)
    assert summary.published is not None
    ((source,),) = [summary.sources]
    # Of the slow shop the first page came, and of the busy one none.
    assert (source.status, source.loaded) == ("degraded", PAGES + 1)
    issues = query(DataDir(data), "SELECT DISTINCT code FROM ops.issue WHERE source = 'generic_shop' ORDER BY ALL")[1]
    assert issues == [("OutOfTime",), ("ServerError",)], "and no empty column: a shop that failed is named as that"
    assert query(DataDir(data), OFFERS)[1] == first, "what could not be read has not ended"
    (record,) = [record for record in run_log.records(DataDir(data)) if record.run_id == summary.run_id]
    assert [one.shop for one in record.sources] == ["one.test", "two.test", "three.test"]

    replayed(data, tmp_path / "again")
    told = "SELECT run_id, code, message FROM ops.issue WHERE source = 'generic_shop' ORDER BY ALL"
    for question in (OFFERS, told, "SELECT source, status, loaded FROM ops.source_run ORDER BY run_id"):
        assert query(DataDir(tmp_path / "again"), question) == query(DataDir(data), question)


def test_what_cannot_be_read_in_any_shop_is_the_source_s_failure() -> None:
    def failed(shop: str) -> Collected:
        return Collected("generic_shop", shop=shop, failure=Timeout(shop, "too slow", "wait"), is_complete=False)

    (both,) = shops.joined([failed("a.test"), failed("b.test")])
    assert (both.failure, both.is_complete, both.shop) == (both.failure, False, "")
    assert isinstance(both.failure, Timeout)
    assert [issue.url for issue, _ in both.issues] == ["a.test", "b.test"]


def test_what_is_joined_is_all_of_it() -> None:
    note = Issue(code="read", message="read", severity="warning")
    gone = NotFound("http://b.test/", "404", "look")
    a = Collected("generic_shop", shop="a.test", issues=[(note, None)], pages=2, size_bytes=5, starts=("http://a.test/",),
                  fetched=2, listed=1, stated_total=3, parsed=[("http://a.test/", "a" * 64)])  # fmt: skip
    b = Collected("generic_shop", shop="b.test", pages=1, pages_unchanged=1, starts=("http://b.test/",), fetched=1,
                  missed=[("http://b.test/", gone)], unread=[gone], is_complete=False, stated_total=4)  # fmt: skip
    other = Collected("newegg", pages=7)
    both, kept = shops.joined([a, other, b])
    assert kept is other
    assert both == replace(
        a, shop="", pages=3, pages_unchanged=1, starts=["http://a.test/", "http://b.test/"], fetched=3, stated_total=7,
        missed=[("http://b.test/", gone)], unread=[gone], is_complete=False, rows=[], files=[],
    )  # fmt: skip
    (unknown,) = shops.joined([a, replace(b, stated_total=None)])
    assert unknown.stated_total is None


def test_a_source_of_many_shops_is_read_apart_and_any_other_whole() -> None:
    starts = ["https://www.a.test/1", "https://b.test/1", "https://A.test/2", "no address", "https://b.test:8443/2"]
    found = [(part.shop, list(part.starts)) for part in shops.apart(Reading(get("generic_shop"), starts))]
    assert found == [
        ("a.test", [starts[0], starts[2]]),
        ("b.test", [starts[1], starts[4]]),
        ("", ["no address"]),
    ]
    whole = Reading(get("newegg"), starts)
    assert shops.apart(whole) == [whole]
    alone = Reading(get("generic_shop"), starts[:1])
    assert shops.apart(alone) == [alone], "one shop is the source"
