"""A column that goes empty against the last good nights of its source is named on the same night, until somebody looks."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from gpuledger.expectations.filled import Filled, emptied, filled
from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Reading, collect
from gpuledger.extract.fetch.addresses import shop_of
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.pages import Fetching
from gpuledger.extract.sample import server
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.nights import nights as crawls_of
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import alerts
from gpuledger.items import Offer
from gpuledger.warehouse.ledger import SourceOutcome
from tests.flows.inprocess import context, copy_of_the_site, take_in_one
from tests.support.empty import empty_warehouse


class Shop:
    """The sample's shops on a site that a test changes, night after night in one warehouse."""

    def __init__(self, con: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.con = con
        self.run = context(folder / "data", 1)
        self.site = copy_of_the_site(folder / "site")

    def edit(self, change: Callable[[str], str]) -> None:
        for page in self.site.glob("newegg/sample/night1/**/*.html"):
            page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")

    def night(self, number: int) -> SourceOutcome:
        as_of = self.run.as_of + timedelta(days=number)
        run = replace(self.run, as_of=as_of, started_at=utc_now(), run_id=f"run{number}")
        source = sources.get("newegg")
        with server.SampleSite(1) as site, Client(HttpSettings(delay_s=0.0, connect_to=site.connect_to)) as client:
            pages = Fetching(client, Archive(run.data.snapshots), run.as_of, run.run_id)
            collected = collect(Reading(source, server.start_urls(source)), pages, None)
        return take_in_one(self.con, run, collected).outcome


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    with empty_warehouse() as con:
        made = Shop(con, tmp_path)
        monkeypatch.setattr(server, "_SITE", made.site)
        yield made


def test_it_is_named_until_a_person_says_that_all_is_right(shop: Shop) -> None:
    for number in (1, 2, 3):
        assert shop.night(number).emptied == ()
    shop.edit(lambda page: re.sub(r'(class="item-brand">)<img [^>]*title="([^"]*)"[^>]*>', r"\1\2", page))
    outcome = shop.night(4)
    assert outcome.status == "ok", "it holds nothing"
    (sentence,) = outcome.emptied
    assert re.fullmatch(r"0 of \d+ rows have offer\.brand, \d+% are usual", sentence)
    assert shop.con.execute("SELECT place FROM ops.issue WHERE code = 'column_empty'").fetchall() == [("offer.brand",)]
    (message,) = alerts.due(shop.run, Summary("run4", [outcome], published=shop.run.data), is_heard=False)
    assert message.title == "gpuledger: newegg has changed its layout"
    assert f"{sentence}\n`gpuledger release --source newegg`" in message.body
    again = shop.night(5)
    assert (again.status, again.emptied) == ("unchanged", outcome.emptied)
    last_night = shop.run.as_of + timedelta(days=5)
    RELEASES.put(shop.run.data.root, Release(source="newegg", rows=4, last_night=last_night, decided_at=utc_now()))
    assert shop.night(6).emptied == ()
    shop.edit(lambda page: page.replace('class="item-features"', 'class="features"'))
    (sentence,) = shop.night(7).emptied
    assert "rows have offer.mpn" in sentence


def test_each_shop_of_a_source_of_many_has_a_past_of_its_own() -> None:
    def night(price: int | None) -> dict[str, Filled]:
        """A small shop beside a large one: of all rows an eighth is lost."""
        prices = {f"https://www.large.test/{number}": 900 for number in range(28)}
        prices |= {f"https://small.test/{number}": price for number in range(4)}
        rows = [
            Offer(key=url, url=url, title="GeForce RTX 4090", price=price and Decimal(price), price_kind=price and "now",
                  currency=price and "EUR")
            for url, price in prices.items()
        ]  # fmt: skip
        return filled(rows, shop_of)

    past = [{column: one.share for column, one in night(900).items()}] * 3
    assert emptied(night(900), past) == {}
    assert emptied(night(None), past) == {
        "small.test offer.price": "0 of 4 rows have small.test offer.price, 100% are usual"
    }


def test_nothing_is_named_on_sixty_nights_of_a_real_market(shared_data: Path) -> None:
    pages = []
    for name in ("VGA_2022-06", "VGA_2022-07"):  # every crawl was whole
        content = gzip.decompress((shared_data / "danawa_daily" / f"{name}.csv.gz").read_bytes())
        pages.append(Page(url=f"file:{name}", final_url=f"file:{name}", content=content,
            sha256=hashlib.sha256(content).hexdigest(), fetched_at=datetime(2022, 8, 1, tzinfo=UTC),
            headers={"content-type": "text/csv"}))  # fmt: skip
    past: list[dict[str, float]] = []
    for seen_at, rows in crawls_of(pages):
        columns = filled([item for item, _ in rows])
        assert columns["offer.price"].rows > 900
        assert emptied(columns, past[-30:]) == {}, seen_at
        past.append({column: one.share for column, one in columns.items()})
    assert len(past) >= 60


@pytest.mark.parametrize(
    ("before", "have", "rows", "is_emptied"),
    [
        ([1.0] * 5, 21, 30, True),
        ([1.0] * 5, 28, 30, False),
        ([0.8, 1.0, 0.9, 0.95], 22, 30, False),
        ([1.0], 21, 30, False),
        ([1.0], 0, 4, True),
        ([1.0] * 9, 0, 2, False),
        ([0.2] * 9, 30, 30, False),
        ([], 0, 30, False),
    ],
)
def test_what_leaves_the_usual(before: list[float], have: int, rows: int, is_emptied: bool) -> None:
    past = [{"offer.price": share} for share in before]
    assert bool(emptied({"offer.price": Filled(have, rows)}, past)) is is_emptied
