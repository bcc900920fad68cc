"""A walk through many nights leaves the rows that the same nights leave one by one, whatever they hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from gpuledger.expectations.contract import source_contract
from gpuledger.extract.items import Offer
from gpuledger.flows.history import backfill
from gpuledger.flows.night import take_in
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.setup import identities
from gpuledger.transform.build import listing_versions
from gpuledger.transform.gate import good_nights
from gpuledger.transform.gate.rules import Bounds
from gpuledger.transform.identity import assign
from gpuledger.warehouse import publish
from gpuledger.warehouse.load.batch import Batch, Row
from gpuledger.warehouse.paths import DataDir
from tests.flows.inprocess import context

START = datetime(2022, 1, 1, 3, tzinfo=UTC)
NIGHTS = 45
CARDS = ("RTX 3060 12GB", "RTX 3070 8GB", "RX 6800 XT 16GB", "GTX 1650 4GB")
TABLES = (
    "listing", "listing_history", "price_open", "price_span", "price_change", "held_price", "source_night",
)  # fmt: skip


def market(seed: int) -> list[backfill.Crawl]:
    """Nights with all that happens: slips, real moves, crowds, lost prices, half pages, ends, returns, other words."""
    rng = random.Random(seed)
    offers = {
        f"k{n}": Offer(
            title=f"Halden {rng.choice(CARDS)} No {n}", url=f"http://shop.test/{n}", key=f"k{n}",
            price=Decimal(200_000 + 9_000 * n), currency="KRW", price_kind="now", price_text=str(n),
            availability="in_stock", condition=rng.choice(("new", "new", "used")),
        )
        for n in range(45)
    }  # fmt: skip
    found = []
    for night in range(NIGHTS):
        for key in rng.sample(sorted(offers), 12):
            offers[key] = _moved(offers[key], rng)
        factor = rng.choice((Decimal("0.5"), Decimal("1.3"))) if rng.random() < 0.1 else None
        is_dark = rng.random() < 0.07
        shown = {key: _tonight(offer, rng, factor, is_dark) for key, offer in offers.items() if rng.random() > 0.02}
        if rng.random() < 0.1:
            shown = {key: shown[key] for key in rng.sample(sorted(shown), len(shown) // 2)}
        rows = [(offer, f"file{night // 10}") for offer in shown.values()]
        found.append((START + timedelta(days=night), [*rows, *rows[:2]]))
    return found


def _moved(offer: Offer, rng: random.Random) -> Offer:
    """What stays: another price, none at all, another seller, other words."""
    match rng.randrange(6):
        case 0:
            return replace(offer, price=None, currency=None, price_kind=None, availability="out_of_stock")
        case 1:
            return replace(offer, title=f"{offer.title}'")
        case 2:
            return replace(offer, seller=rng.choice(("Odo", "Bel", None)))
    price = (offer.price or 300_000) * Decimal(rng.choice(("0.97", "1.02", "1.3", "0.5", "2.1")))
    price = min(max(price, Decimal(100_000)), Decimal(2_000_000)).quantize(Decimal(1))
    return replace(offer, price=price, currency="KRW", price_kind="now", availability="in_stock")


def _tonight(offer: Offer, rng: random.Random, factor: Decimal | None, is_dark: bool) -> Offer:
    """What is there for one night: a slip, a placeholder, another currency, a move of all, all prices gone."""
    if offer.price is None:
        return offer
    if is_dark and rng.random() < 0.8:
        return replace(offer, price=None, currency=None, price_kind=None)
    if factor is not None:
        return replace(offer, price=(offer.price * factor).quantize(Decimal(1)))
    chance = rng.random()
    for upto, change in (
        (0.01, {"price": offer.price * 10}),
        (0.015, {"price": Decimal(99_999_990)}),
        (0.02, {"price": Decimal("0.00001")}),
        (0.03, {"currency": "USD"}),
        (0.1, {"price": offer.price + Decimal("0.00004")}),
    ):
        if chance < upto:
            return replace(offer, **change)  # type: ignore[arg-type]
    return offer


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with publish.workspace(DataDir(tmp_path), "test") as (con, _):
        yield con


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_and_its_nights_one_by_one_leave_the_same_rows(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, seed: int
) -> None:
    found = market(seed)
    run = context(tmp_path / "walk", 1)
    half = NIGHTS // 2
    rng = random.Random(seed)
    refused = {id(offer) for _, rows in found for offer, _ in rows if rng.random() < 0.02}
    for number in (half, half + 1):
        seen_at, rows = found[number]
        found[number] = (seen_at, [(replace(offer), sha256) for offer, sha256 in rows])
        refused |= {id(offer) for offer, _ in found[number][1]}
    with publish.workspace(run.data, "walk") as (con, _):
        # One of the parts has nothing but nights that are refused whole.
        for part in (found[:half], found[half : half + 2], found[half + 2 :]):
            backfill.load(con, run, part, refused, Summary(run.run_id), lambda number: None)
        told = {table: _rows(con, table) for table in TABLES}
    one_by_one(warehouse, identities.of(run.data), found, refused)
    assert len(told["price_span"]) > 5 * len(told["price_open"]), "much happens"
    for table in TABLES:
        assert told[table] == _rows(warehouse, table), table


def _rows(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[object, ...]]:
    return con.execute(f"SELECT * FROM core.{table} ORDER BY ALL").fetchall()


def one_by_one(
    con: duckdb.DuckDBPyConnection, titles: identities.Identities, found: list[backfill.Crawl], refused: set[int]
) -> None:
    contract = source_contract(backfill.SOURCE)
    for seen_at, offers in found:
        rows = list({offer.key: Row(offer, sha256) for offer, sha256 in reversed(offers)}.values())[::-1]
        held = [row for row in rows if id(row.item) in refused]
        if len(held) > len(rows) * contract.max_quarantined_share:
            continue
        believed = [row for row in rows if id(row.item) not in refused]
        batch = Batch(backfill.SOURCE, seen_at, believed, held=held)
        loaded = take_in.load_batch(con, batch, Bounds(), [])
        good_nights.note(con, batch.source, [good_nights.GoodNight(seen_at, len(rows), loaded.is_complete)])
        assign.assign(con, titles.resolver, titles.version, ("core.listing",))
        listing_versions.keep(con, seen_at)
