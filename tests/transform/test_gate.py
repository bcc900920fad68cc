"""The price gate over nights of a whole shop: what is held together, and how it is let go.

The bounds are in test_gate_rules.py, what is kept of a single price in test_history_of_offers.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import duckdb
import pytest

from gpuledger.extract.items import Offer
from gpuledger.transform.gate import Bounds, good_nights, loading
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import Batch, Row
from tests.support.empty import empty_warehouse

START = datetime(2023, 11, 1, 3, tzinfo=UTC)
#: Thirty listings with prices that have nothing to do with each other.
USUAL = {f"k{n}": Decimal(200 + 17 * n) for n in range(30)}


class Market:
    """A source of 30 listings that is loaded night after night; `load` returns what was held."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.night = 0

    def load(
        self,
        prices: dict[str, Decimal | None] | None = None,
        *,
        again: bool = False,
        hours: int = 0,
    ) -> dict[str, str]:
        self.night += not again
        rows = [Row(_offer(key, price), "sha") for key, price in (USUAL if prices is None else prices).items()]
        batch = Batch("shop", START + timedelta(days=self.night, hours=hours), rows)
        offers.stage_batch(self.con, batch)
        past = good_nights.past(self.con, "shop", batch.seen_at, Bounds())
        loaded = loading.load_staged(self.con, batch.night, Bounds(), past, good_nights.Released())
        good_nights.note(self.con, {"shop": good_nights.GoodNight(batch.seen_at, len(rows), loaded.is_complete)})
        return dict(self.con.execute("SELECT listing_id, hold FROM core.held_price").fetchall())

    def price(self, key: str) -> Decimal | None:
        row = self.con.execute("SELECT price FROM core.price_open WHERE listing_id = ?", [f"shop:{key}"]).fetchone()
        assert row is not None
        return None if row[0] is None else Decimal(row[0])

    def is_confirmed(self, key: str) -> bool:
        row = self.con.execute(
            "SELECT confirmed_until IS NULL FROM core.price_open WHERE listing_id = ?",
            [f"shop:{key}"],
        ).fetchone()
        assert row is not None
        return bool(row[0])


def _offer(key: str, price: Decimal | None) -> Offer:
    return Offer(
        title=f"card {key}",
        url=f"http://shop.test/{key}",
        key=key,
        price=price,
        currency="USD" if price is not None else None,
        price_kind="now" if price is not None else None,
        availability="in_stock",
        condition="new",
    )


@pytest.fixture
def market() -> Iterator[Market]:
    with empty_warehouse() as con:
        market = Market(con)
        market.load()
        market.load()
        yield market


def changed(**prices: Decimal | None) -> dict[str, Decimal | None]:
    return {**USUAL, **prices}


def test_a_held_price_leaves_the_old_one_standing_in_doubt(market: Market) -> None:
    market.load(changed(k3=USUAL["k3"] * 10))
    assert market.price("k3") == USUAL["k3"]
    assert not market.is_confirmed("k3")
    assert market.is_confirmed("k4")


def test_a_second_sighting_on_a_later_run_releases(market: Market) -> None:
    wrong = changed(k3=USUAL["k3"] * 10)
    assert market.load(wrong)
    assert market.load(wrong, again=True), "the same run again is no second sighting"
    assert market.load(wrong) == {}
    assert market.price("k3") == USUAL["k3"] * 10
    assert market.is_confirmed("k3")


def test_another_wrong_price_is_a_first_sighting_also_when_its_night_is_repeated(market: Market) -> None:
    assert market.load(changed(k3=USUAL["k3"] / 10))
    another = changed(k3=USUAL["k3"] / 100)
    assert market.load(another)
    assert market.load(another, again=True)
    assert market.price("k3") == USUAL["k3"]


def test_a_night_that_believed_still_does_when_it_is_repeated(market: Market) -> None:
    moved = changed(k3=USUAL["k3"] * 2)
    market.load(moved)
    assert market.load(moved) == {}
    assert market.load({**moved, "k5": USUAL["k5"] + 1}, again=True) == {}
    assert market.price("k3") == USUAL["k3"] * 2


def test_a_price_that_comes_back_was_a_slip(market: Market) -> None:
    market.load(changed(k3=USUAL["k3"] * 10))
    assert market.load() == {}
    assert market.price("k3") == USUAL["k3"]
    assert market.is_confirmed("k3")
    assert market.con.execute("SELECT count(*) FROM core.held_price").fetchone() == (0,)
    states = market.con.execute(
        "SELECT DISTINCT price FROM core.price_span JOIN core.listing USING (listing_no) WHERE listing_id = 'shop:k3'"
    ).fetchall()
    assert states == [(USUAL["k3"],)], "the slip must not be in the history"


def test_prices_that_vanish_from_most_listings_are_doubted_once(market: Market) -> None:
    gone: dict[str, Decimal | None] = {key: None if n < 20 else price for n, (key, price) in enumerate(USUAL.items())}
    assert set(market.load(gone).values()) == {"lost"}
    assert market.price("k3") == USUAL["k3"]
    assert market.load(gone) == {}
    assert market.price("k3") is None


def test_a_market_wide_move_passes_within_two_runs(market: Market) -> None:
    moved: dict[str, Decimal | None] = {key: price * Decimal("0.72") for key, price in USUAL.items()}
    assert len(market.load(moved)) == 30
    assert market.load(moved) == {}
    assert market.price("k3") == moved["k3"]


# ── shuffled nights ───────────────────────────────────────────────────────────────────────────────────────────────────


def shuffled(seed: int = 1) -> dict[str, Decimal | None]:
    """The usual prices beside other listings than their own."""
    prices = list(USUAL.values())
    random.Random(seed).shuffle(prices)
    return dict(zip(USUAL, prices, strict=True))


def believed(market: Market) -> dict[str, Decimal | None]:
    return {key: market.price(key) for key in USUAL}


def test_a_shuffled_night_is_held_whole_and_forgotten_when_the_next_is_as_before(market: Market) -> None:
    held = market.load({**shuffled(), "new": Decimal(400)})
    assert held == {f"shop:{key}": "shuffled" for key in (*USUAL, "new")}, "also those that did not move, and a new one"
    assert believed(market) == USUAL
    assert not any(market.is_confirmed(key) for key in USUAL)
    assert market.load() == {}
    assert believed(market) == USUAL
    assert all(market.is_confirmed(key) for key in USUAL)


def test_a_night_shuffled_anew_agrees_with_nobody(market: Market) -> None:
    for seed in (1, 2, 3, 4):
        assert set(market.load(shuffled(seed)).values()) == {"shuffled"}
    assert believed(market) == USUAL


def test_the_same_wrong_page_is_not_believed_within_its_session(market: Market) -> None:
    for hours in (0, 1, 5, 9, 19):
        assert set(market.load(shuffled(), hours=hours, again=hours > 0).values()) == {"shuffled"}, hours
    assert believed(market) == USUAL


def test_a_later_night_that_agrees_makes_it_believed(market: Market) -> None:
    """Where a shop really priced everything anew, the next day says so again."""
    anew = shuffled()
    market.load(anew)
    assert market.load({**anew, "k3": Decimal(123)}) == {"shop:k3": "move"}
    assert believed(market) == {**anew, "k3": USUAL["k3"]}
