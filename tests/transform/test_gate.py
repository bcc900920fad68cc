"""The price gate over nights of a whole source, a shop or a cloud: what is held together, and how it is let go.

The bounds are in test_gate_rules.py, what is kept of a single price in test_history_of_offers.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from gpuledger.items import CloudOffer, Offer
from gpuledger.transform.gate import Bounds, good_nights, loading
from gpuledger.warehouse.load import others
from gpuledger.warehouse.load.batch import Batch, Row
from tests.support.empty import empty_warehouse

START = datetime(2023, 11, 1, 3, tzinfo=UTC)
#: Thirty prices that have nothing to do with each other; each of a card of its own, so that none has peers.
USUAL = {f"k{n}": Decimal(40 + 17 * n) / 100 + 2 for n in range(30)}
Prices = dict[str, Decimal | None]


class Nights:
    """A source of 30 prices that is loaded night after night; `load` returns what was held."""

    def __init__(self, con: duckdb.DuckDBPyConnection, kind: str) -> None:
        self.con = con
        self.kind = kind
        self.source, self.scale = ("newegg", 100) if kind == "offer" else ("gpu_wiki_cloud", 1)
        self.night = 0

    def item(self, key: str, price: Decimal | None, **more: Any) -> Offer | CloudOffer:
        """What the source shows for a key: at a hundred times the price if it is a shop's."""
        if self.kind == "cloud_offer":
            stated = {"provider": "cloud", "gpu_name": f"card {key}", "gpu_count": 1, "pricing_model": "on_demand",
                      "instance": key, "price": price, "currency": "USD"}  # fmt: skip
            return CloudOffer(**{**stated, **more})
        money = {} if price is None else {"price": price * self.scale, "currency": "USD", "price_kind": "now"}
        words = {"title": f"card {key}", "url": f"http://shop.test/{key}", "key": key, "availability": "in_stock"}
        return Offer(**{**words, **money, "condition": "new", **more})

    def load(
        self, prices: Prices | None = None, *, again: bool = False, hours: int = 0, more: dict[str, Any] | None = None
    ) -> dict[str, str]:
        """What is held after a night, by key. `more` is what the source says of a key beside its price."""
        self.night += not again
        shown = USUAL if prices is None else prices
        items = {key: self.item(key, price, **(more or {}).get(key, {})) for key, price in shown.items()}
        seen_at = START + timedelta(days=self.night, hours=hours)
        batch = Batch(self.source, seen_at, [Row(item, "sha") for item in items.values()])
        was_held = self.con.execute("SELECT 1 FROM core.held_price").fetchall()
        loaded = loading.load_batch(self.con, batch, Bounds(), good_nights.Released(), [self.kind])
        good_nights.note(self.con, {self.source: good_nights.GoodNight(seen_at, len(items), loaded.is_complete)})
        names = {self._id(key, item): key for key, item in items.items()}
        held = self.con.execute("SELECT listing_id, hold, kind FROM core.held_price").fetchall()
        assert {kind for _, _, kind in held} <= {self.kind}
        assert loaded.held == len(held)
        # Or what reads it would not be built again.
        assert ("core.held_price" in loaded.changes.changed) == bool(held or was_held)
        return {names[one]: hold for one, hold, _ in held}

    def _id(self, key: str, item: Any) -> str:
        return others.offer_id(self.source, item) if self.kind == "cloud_offer" else f"{self.source}:{key}"

    def open(self, key: str) -> tuple[Decimal | None, bool]:
        """The price as it stands, and whether it is confirmed."""
        sql = "SELECT price, confirmed_until IS NULL FROM core.cloud_offer_history WHERE instance = ? AND valid_to IS NULL"
        if self.kind == "offer":
            sql = f"SELECT price, confirmed_until IS NULL FROM core.price_open WHERE listing_id = '{self.source}:' || ?"
        ((price, is_confirmed),) = self.con.execute(sql, [key]).fetchall()
        return None if price is None else price / self.scale, is_confirmed

    def history(self) -> list[tuple[Any, ...]]:
        """All that is kept of prices: which, and from when to when."""
        table = "core.price_span" if self.kind == "offer" else "core.cloud_offer_history"
        return self.con.execute(f"FROM {table} ORDER BY ALL").fetchall()

    def asked(self, key: str) -> set[Decimal]:
        """All prices that are in the history of a key."""
        sql = "SELECT DISTINCT price FROM core.cloud_offer_history WHERE instance = ?"
        if self.kind == "offer":
            sql = (
                "SELECT DISTINCT price FROM core.price_span JOIN core.listing USING (listing_no) WHERE listing_key = ?"
            )
        return {price / self.scale for (price,) in self.con.execute(sql, [key]).fetchall()}


def _begun(kind: str) -> Iterator[Nights]:
    with empty_warehouse() as con:
        nights = Nights(con, kind)
        assert nights.load() == {}, "what is seen first is compared with nothing"
        assert nights.load() == {}
        yield nights


@pytest.fixture(params=["offer", "cloud_offer"])
def source(request: pytest.FixtureRequest) -> Iterator[Nights]:
    """A shop, and a cloud."""
    yield from _begun(request.param)


@pytest.fixture
def market() -> Iterator[Nights]:
    yield from _begun("offer")


@pytest.fixture
def cloud() -> Iterator[Nights]:
    yield from _begun("cloud_offer")


def changed(**prices: Decimal | None) -> Prices:
    return {**USUAL, **prices}


def test_a_second_sighting_on_a_later_run_releases(source: Nights) -> None:
    wrong = changed(k3=USUAL["k3"] * 10)
    assert source.load(wrong) == {"k3": "move"}
    assert source.open("k3") == (USUAL["k3"], False), "the old one stands, in doubt"
    assert source.open("k4") == (USUAL["k4"], True)
    before = source.history()
    assert source.load(wrong, again=True) == {"k3": "move"}, "the same run again is no second sighting"
    assert source.history() == before
    assert source.load(wrong) == {}
    before = source.history()
    assert source.load(wrong, again=True) == {}, "a run that believed still does when it is repeated"
    assert source.history() == before
    assert source.open("k3") == (USUAL["k3"] * 10, True)


def test_another_wrong_price_is_a_first_sighting_also_when_its_night_is_repeated(source: Nights) -> None:
    assert source.load(changed(k3=USUAL["k3"] / 10))
    another = changed(k3=USUAL["k3"] / 100)
    assert source.load(another)
    assert source.load(another, again=True)
    assert source.open("k3")[0] == USUAL["k3"]


def test_a_night_that_believed_still_does_when_it_is_repeated_with_others(source: Nights) -> None:
    moved = changed(k3=USUAL["k3"] * 2)
    source.load(moved)
    assert source.load(moved) == {}
    assert source.load({**moved, "k5": USUAL["k5"] + Decimal("0.01")}, again=True) == {}
    assert source.open("k3")[0] == USUAL["k3"] * 2


def test_a_price_that_comes_back_was_a_slip_and_leaves_no_trace(source: Nights) -> None:
    source.load(changed(k3=USUAL["k3"] * 10))
    assert source.load() == {}
    assert source.open("k3") == (USUAL["k3"], True)
    assert source.asked("k3") == {USUAL["k3"]}


def test_prices_that_vanish_from_most_are_doubted_once(source: Nights) -> None:
    gone: Prices = {key: None if n < 20 else price for n, (key, price) in enumerate(USUAL.items())}
    assert set(source.load(gone).values()) == {"lost"}
    assert source.open("k3") == (USUAL["k3"], False)
    assert source.load(gone) == {}
    before = source.history()
    assert source.load(gone, again=True) == {}
    assert source.history() == before
    assert source.open("k3") == (None, True)


def test_a_move_of_all_passes_within_two_runs(source: Nights) -> None:
    moved: Prices = {key: price * Decimal("0.72") for key, price in USUAL.items()}
    assert len(source.load(moved)) == 30
    assert source.load(moved) == {}
    assert source.open("k3") == (moved["k3"], True)


# ── shuffled nights ───────────────────────────────────────────────────────────────────────────────────────────────────


def shuffled(seed: int = 1) -> Prices:
    """The usual prices beside other listings than their own."""
    prices = list(USUAL.values())
    random.Random(seed).shuffle(prices)
    return dict(zip(USUAL, prices, strict=True))


def believed(market: Nights) -> Prices:
    return {key: market.open(key)[0] for key in USUAL}


def test_a_shuffled_night_is_held_whole_and_forgotten_when_the_next_is_as_before(market: Nights) -> None:
    held = market.load({**shuffled(), "new": Decimal(4)})
    assert held == dict.fromkeys((*USUAL, "new"), "shuffled"), "also those that did not move, and a new one"
    assert believed(market) == USUAL
    assert not any(market.open(key)[1] for key in USUAL)
    assert market.load() == {}
    assert believed(market) == USUAL
    assert all(market.open(key)[1] for key in USUAL)


def test_a_night_shuffled_anew_agrees_with_nobody(market: Nights) -> None:
    for seed in (1, 2, 3, 4):
        assert set(market.load(shuffled(seed)).values()) == {"shuffled"}
    assert believed(market) == USUAL


def test_the_same_wrong_page_is_not_believed_within_its_session(market: Nights) -> None:
    for hours in (0, 1, 5, 9, 19):
        assert set(market.load(shuffled(), hours=hours, again=hours > 0).values()) == {"shuffled"}, hours
    assert believed(market) == USUAL


def test_a_later_night_that_agrees_makes_it_believed(market: Nights) -> None:
    """Where a shop really priced everything anew, the next day says so again."""
    anew = shuffled()
    market.load(anew)
    assert market.load({**anew, "k3": Decimal("0.9")}) == {"k3": "move"}
    assert believed(market) == {**anew, "k3": USUAL["k3"]}


# ── clouds, whose evidence is another than that of shops ──────────────────────────────────────────────────────────────


def test_a_thousandth_is_held_and_one_that_rounds_to_nothing_is_never_believed(cloud: Nights) -> None:
    assert cloud.load(changed(k3=USUAL["k3"] / 1000, k4=USUAL["k4"] / 100_000)) == {"k3": "move", "k4": "placeholder"}
    assert cloud.load(changed(k4=USUAL["k4"] / 100_000)) == {"k4": "placeholder"}
    assert cloud.open("k4") == (USUAL["k4"], False)


def test_a_currency_swap_is_held(cloud: Nights) -> None:
    assert cloud.load(more={"k3": {"currency": "KRW"}}) == {"k3": "currency"}


def test_an_offer_without_a_rate_has_no_currency_to_compare(cloud: Nights) -> None:
    assert cloud.load(changed(k3=None), more={"k3": {"currency": "KRW"}}) == {}
    assert cloud.open("k3") == (None, True)
    assert cloud.load(changed(k3=USUAL["k3"] * 10)) == {"k3": "move"}, "the newest rate that it had is days old"


def test_spot_rates_move_together_and_wander_while_they_are_held(cloud: Nights) -> None:
    spots = {f"s{n}": Decimal(1) + n for n in range(20)}
    spot = {"more": {key: {"pricing_model": "spot"} for key in spots}}
    cloud.load({**USUAL, **spots}, **spot)
    far: Prices = {**USUAL, **{key: price * Decimal("1.4") for key, price in spots.items()}}
    assert cloud.load(far, **spot) == {}
    assert cloud.load({**far, "s3": Decimal(40)}, **spot) == {"s3": "move"}
    assert cloud.load({**far, "s3": Decimal(35)}, **spot) == {}
    assert cloud.open("s3") == (Decimal(35), True)


def test_a_rate_that_comes_home_to_its_peers_is_not_held(cloud: Nights) -> None:
    rates = {"p0": Decimal("1.9"), "p1": Decimal("2"), "p2": Decimal("2.1"), "p3": Decimal("2.2"), "far": Decimal(9)}
    peers = {"more": {key: {"gpu_name": "same card"} for key in rates}}
    cloud.load({**USUAL, **rates}, **peers)
    assert cloud.load({**USUAL, **rates, "far": Decimal("2.3")}, **peers) == {}
    assert cloud.load({**USUAL, **rates, "far": Decimal("2.3"), "p0": Decimal(19)}, **peers) == {"p0": "move"}


def test_a_rate_that_it_asked_before_is_not_held_again(cloud: Nights) -> None:
    other = changed(k3=USUAL["k3"] * 2)
    assert cloud.load(other)
    assert cloud.load(other) == {}
    assert cloud.load() == {}, "it asked this rate days ago"


def test_nines_are_a_price_of_a_card_that_costs_as_much(market: Nights) -> None:
    nines = Decimal("99.99")  # a hundredth of it, as all prices here
    titles = {"k3": {"title": "NVIDIA RTX PRO 6000 Blackwell 96GB"}, "k4": {"title": "MSI GeForce RTX 4060 8GB"}}
    for _ in range(2):
        held = market.load(
            {**USUAL, "n3": nines, "n4": nines}, more={f"n{key[1:]}": one for key, one in titles.items()}
        )
        assert held == {"n4": "placeholder"}
