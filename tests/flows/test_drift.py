"""A source that reads otherwise than on its own nights before is named on the same night, with the pages to compare."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.items import Offer
from gpuledger.extract.pages import Fetching
from gpuledger.extract.sample import server
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.nights import nights as crawls_of
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.night import drifting, store
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import alerts
from gpuledger.transform.gate import drift
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load import profile
from tests.flows.inprocess import context, copy_of_the_site, take_in_one
from tests.support.empty import empty_warehouse


class Shop:
    """The sample's shops on a site that a test changes, night after night in one warehouse."""

    def __init__(self, con: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.con = con
        self.data = folder / "data"
        self.site = copy_of_the_site(folder / "site")
        self.archive = Archive(self.data / "snapshots")

    def edit(self, source: str, change: Callable[[str], str]) -> None:
        for page in self.site.glob(f"{source}/sample/night1/**/*.html"):
            page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")

    def night(self, number: int, source: str) -> SourceOutcome:
        run = context(self.data, 1)
        run = replace(run, as_of=run.as_of + timedelta(days=number), run_id=f"run{number}")
        chosen = sources.get(source)
        with server.SampleSite(1) as site, Client(HttpSettings(delay_s=0.0, connect_to=site.connect_to)) as client:
            pages = Fetching(client, self.archive, run.as_of, run.run_id)
            collected: Collected = collect(Reading(chosen, server.start_urls(chosen)), pages, None)
        outcome = take_in_one(self.con, run, collected).outcome
        store.write_run(self.con, run, [outcome])
        return outcome

    def drift(self, number: int) -> dict[str, tuple[Any, ...]]:
        sql = "SELECT place, snapshot_sha256, text, url FROM ops.issue WHERE run_id = ? AND code = 'drift'"
        return {place: rest for place, *rest in self.con.execute(sql, [f"run{number}"]).fetchall()}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    with empty_warehouse() as con:
        made = Shop(con, tmp_path)
        monkeypatch.setattr(server, "_SITE", made.site)
        yield made


#: What a shop did to its pages, and the trait that must be named for it.
CHANGES: dict[str, tuple[str, Callable[[str], str], str]] = {
    "the price has another class": (
        "newegg", lambda page: page.replace('class="price-current"', 'class="price-now"'), "offer.price",
    ),
    "the maker is a text": (
        "newegg", lambda page: re.sub(r'(class="item-brand">)<img [^>]*title="([^"]*)"[^>]*>', r"\1\2", page),
        "offer.brand",
    ),
    "the button has no words": (
        "newegg", lambda page: re.sub(r'class="item-(promo|operate|button-area)"', 'class="action"', page),
        "selector .item-promo, .item-operate, .item-button-area",
    ),
    "the line of numbers is gone": (
        "bhphoto", lambda page: page.replace("miniProductPageProductSkuInfo", "productCodes"), "offer.sku",
    ),
    "the cards are other elements": (
        "danawa", lambda page: page.replace("roductItem", "roductCard").replace("prod_item", "prod_card"), "page",
    ),
    "each listing has a new number": (
        "danawa", lambda page: re.sub(r"((?:productItem|productInfoDetail_|pcode=))(\d)", r"\g<1>77\2", page), "new keys",
    ),
    "the title is cut off": (
        "newegg", lambda page: re.sub(r'(class="item-title"[^>]*>)([^<]{12})[^<]*', r"\1\2…", page), "offer.title length",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_layout_is_named_on_the_same_night(name: str, shop: Shop) -> None:
    source, change, trait = CHANGES[name]
    for number in (1, 2, 3):
        assert shop.night(number, source).drift == (), "nothing changed"
    shop.edit(source, change)
    outcome = shop.night(4, source)
    named = shop.drift(4)
    assert trait in named, (outcome, named)
    assert outcome.drift
    now, before, url = named[trait]
    assert now != before
    of_night = {
        snapshot.fetched_at: snapshot.sha256 for snapshot in shop.archive.history(source) if snapshot.url == url
    }
    assert [*of_night.values()][-1] == now, "tonight's page"
    assert before in [*of_night.values()][:-1], "a page of the same address that read well"
    again = shop.night(5, source)
    assert shop.drift(5).keys() == named.keys(), "until somebody looks"
    assert again.drift == outcome.drift


def test_what_a_person_accepts_is_the_measure_from_then_on(shop: Shop) -> None:
    source, change, _ = CHANGES["the maker is a text"]
    shop.night(1, source)
    shop.edit(source, change)
    outcome = shop.night(2, source)
    assert outcome.status == "ok", "a drift holds nothing"
    run = context(shop.data, 1)
    for _ in range(2):
        (message,) = alerts.due(run, Summary("run2", [outcome], published=shop.data), is_heard=False)
        assert message.title == "gpuledger: newegg has changed its layout"
        assert "gpuledger sources diff newegg" in message.body
    last_night = run.as_of + timedelta(days=2)
    RELEASES.put(shop.data, Release(source=source, rows=outcome.loaded, last_night=last_night, decided_at=utc_now()))
    assert shop.night(3, source).drift == ()
    shop.edit(source, lambda page: page.replace('class="item-features"', 'class="features"'))
    shop.night(4, source)
    assert {"offer.mpn", "selector .item-features li"} <= shop.drift(4).keys()
    assert "offer.brand" not in shop.drift(4)


def test_each_shop_of_a_source_of_many_has_a_past_of_its_own(tmp_path: Path) -> None:
    """A small shop that shows no price any more, beside a large one: of all rows an eighth is lost."""
    run = context(tmp_path, 1)

    def look(con: duckdb.DuckDBPyConnection, number: int, price: Decimal | None) -> list[str]:
        prices: dict[str, list[Decimal | None]] = {"large.test": [Decimal(900)] * 28, "small.test": [price] * 4}
        pages = {host: (f"https://{host}/{number}", f"{number}{host}") for host in prices}
        rows = [
            (Offer(key=f"{host}{index}", url=pages[host][0], title="GeForce RTX 4090", price=one,
                   price_kind="now" if one else None, currency="EUR" if one else None), pages[host][1])
            for host, of_host in prices.items() for index, one in enumerate(of_host)
        ]  # fmt: skip
        collected = Collected(
            "generic_shop", rows=rows, parsed=list(pages.values()), starts=[page for page, _ in pages.values()]
        )
        night = replace(run, as_of=run.as_of + timedelta(days=number))
        return [issue.message for issue, _ in drifting.look(con, night, collected, "ok")]

    with empty_warehouse() as con:
        assert [look(con, number, Decimal(900)) for number in (1, 2, 3)] == [[], [], []]
        (message,) = look(con, 4, None)
        assert message.startswith(
            "small.test: 0 of 4 rows have offer.price, 100% are usual; tonight's page 4small.test"
        )


#: Sixty nights on which the crawl of a real shop was whole.
UNDISTURBED = ("VGA_2022-06", "VGA_2022-07")


def test_nothing_is_named_on_sixty_nights_of_a_real_market(shared_data: Path) -> None:
    pages = []
    for name in UNDISTURBED:
        content = gzip.decompress((shared_data / "danawa_daily" / f"{name}.csv.gz").read_bytes())
        pages.append(Page(url=f"file:{name}", final_url=f"file:{name}", content=content,
            sha256=hashlib.sha256(content).hexdigest(), fetched_at=datetime(2022, 8, 1, tzinfo=UTC),
            headers={"content-type": "text/csv"}))  # fmt: skip
    past: dict[str, list[profile.Night]] = {}
    known: set[str] = set()
    nights = 0
    for seen_at, rows in crawls_of(pages):
        figures = profile.profile_of(rows, [], [], {}, known)
        assert [one.seen for one in drift.find(figures, past)] == [], seen_at
        for one in figures:
            past.setdefault(one.trait, []).insert(0, profile.Night(seen_at, False, one))
        known |= {getattr(item, "key", "") for item, _ in rows}
        nights += 1
    assert nights >= 60
    assert past["offer.price"][0].figure.counted > 900


@pytest.mark.parametrize(
    ("trait", "before", "now", "rows", "is_drift"),
    [
        ("offer.price", [1.0] * 5, 0.7, 30, True),
        ("offer.price", [1.0] * 5, 0.95, 30, False),
        ("offer.price", [0.8, 1.0, 0.9, 0.95], 0.75, 30, False),
        ("offer.price", [1.0], 0.7, 30, False),
        ("offer.price", [1.0], 0.0, 4, True),
        ("offer.price", [1.0] * 9, 0.0, 2, False),
        ("offer.price", [0.2] * 9, 1.0, 30, False),
        ("new keys", [0.05] * 9, 0.9, 30, True),
        ("new keys", [0.05, 0.7], 0.9, 30, False),
        ("issue bad_card", [0.0] * 9, 0.5, 30, True),
        ("issue bad_card", [0.5] * 9, 0.0, 30, False),
        ("offer.title length", [60.0] * 9, 20.0, 30, True),
        ("offer.title length", [60.0] * 9, 45.0, 30, False),
    ],
)
def test_what_leaves_the_usual(trait: str, before: list[float], now: float, rows: int, is_drift: bool) -> None:
    night = datetime(2024, 1, 1, tzinfo=UTC)
    past = {trait: [profile.Night(night, False, profile.Figure(trait, rows, figure)) for figure in before]}
    assert bool(drift.find([profile.Figure(trait, rows, now)], past)) is is_drift
