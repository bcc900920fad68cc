"""The price gate for cloud rates, where its evidence is another than that of shops; the rules: `test_gate_rules.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import duckdb
import pytest

from gpuledger.extract.items import CloudOffer, PricingModel
from gpuledger.transform.gate import Bounds, good_nights, loading
from gpuledger.warehouse.load import others
from gpuledger.warehouse.load.batch import Batch, Row
from tests.support.empty import empty_warehouse

SOURCE = "gpu_wiki_cloud"
START = datetime(2023, 11, 1, 3, tzinfo=UTC)
#: Thirty instances, each with a GPU of its own: none has peers.
USUAL = {f"k{n}": Decimal(40 + 17 * n) / 100 for n in range(30)}
Rates = dict[str, Decimal | None]


def _offer(
    key: str, price: Decimal | None, currency: str = "USD", model: PricingModel = "on_demand", gpu: str | None = None
) -> CloudOffer:
    return CloudOffer(
        provider="cloud", gpu_name=gpu or f"card {key}", gpu_count=1, pricing_model=model, instance=key,
        price=price, currency=currency,
    )  # fmt: skip


class Cloud:
    """A source of 30 rates that is loaded night after night; `load` returns what was held, by instance."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.night = 0

    def load(
        self,
        rates: Rates | None = None,
        *,
        again: bool = False,
        make: Callable[[str, Decimal | None], CloudOffer] = _offer,
    ) -> dict[str, str]:
        self.night += not again
        offers = [make(key, price) for key, price in (USUAL if rates is None else rates).items()]
        batch = Batch(SOURCE, START + timedelta(days=self.night), [Row(offer, "sha") for offer in offers])
        was_held = self.con.execute("SELECT 1 FROM core.held_price").fetchall()
        loaded = loading.load_batch(self.con, batch, Bounds(), good_nights.Released(), ["cloud_offer"])
        good_nights.note(self.con, {SOURCE: good_nights.GoodNight(batch.seen_at, len(offers), loaded.is_complete)})
        names = {others.offer_id(SOURCE, offer): offer.instance for offer in offers}
        held = self.con.execute("SELECT listing_id, hold, kind FROM core.held_price").fetchall()
        assert {kind for _, _, kind in held} <= {"cloud_offer"}
        assert loaded.held == len(held)
        # Or what reads it would not be built again.
        assert ("core.held_price" in loaded.changes.changed) == bool(held or was_held)
        return {str(names[offer]): hold for offer, hold, _ in held}

    def open(self, key: str) -> list[tuple[Decimal | None, bool]]:
        """The rate as it stands, and whether it is confirmed."""
        return self.con.execute(
            "SELECT price, confirmed_until IS NULL FROM core.cloud_offer_history WHERE instance = ? AND valid_to IS NULL",
            [key],
        ).fetchall()

    def history(self) -> list[tuple[object, ...]]:
        return self.con.execute(
            """SELECT offer_id, price, currency, valid_from, valid_to, confirmed_until FROM core.cloud_offer_history
               ORDER BY ALL"""
        ).fetchall()


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with empty_warehouse() as con:
        cloud = Cloud(con)
        assert cloud.load() == {}, "what is seen first is compared with nothing"
        assert cloud.load() == {}
        yield cloud


def changed(**rates: Decimal | None) -> Rates:
    return {**USUAL, **rates}


def test_a_thousandth_is_held_and_one_that_rounds_to_nothing_is_never_believed(cloud: Cloud) -> None:
    assert cloud.load(changed(k3=USUAL["k3"] / 1000, k4=USUAL["k4"] / 100_000)) == {"k3": "move", "k4": "placeholder"}
    assert cloud.load(changed(k4=USUAL["k4"] / 100_000)) == {"k4": "placeholder"}
    assert cloud.open("k4") == [(USUAL["k4"], False)]


def test_a_second_sighting_on_a_later_run_releases(cloud: Cloud) -> None:
    wrong = changed(k3=USUAL["k3"] * 10)
    assert cloud.load(wrong) == {"k3": "move"}
    before = cloud.history()
    assert cloud.load(wrong, again=True) == {"k3": "move"}, "the same run again is no second sighting"
    assert cloud.history() == before
    assert cloud.load(wrong) == {}
    before = cloud.history()
    assert cloud.load(wrong, again=True) == {}, "a run that believed still does when it is repeated"
    assert cloud.history() == before
    assert cloud.open("k3") == [(USUAL["k3"] * 10, True)]


def test_a_slip_leaves_no_trace_in_the_history(cloud: Cloud) -> None:
    cloud.load(changed(k3=USUAL["k3"] * 10))
    assert cloud.load() == {}
    assert cloud.open("k3") == [(USUAL["k3"], True)]
    prices = cloud.con.execute("SELECT DISTINCT price FROM core.cloud_offer_history WHERE instance = 'k3'").fetchall()
    assert prices == [(USUAL["k3"],)]


def test_a_currency_swap_is_held(cloud: Cloud) -> None:
    held = cloud.load(make=lambda key, price: _offer(key, price, "KRW" if key == "k3" else "USD"))
    assert held == {"k3": "currency"}


def test_an_offer_without_a_rate_has_no_currency_to_compare(cloud: Cloud) -> None:
    assert cloud.load(changed(k3=None), make=lambda key, price: _offer(key, price, "USD" if price else "KRW")) == {}
    assert cloud.open("k3") == [(None, True)]
    assert cloud.load(changed(k3=USUAL["k3"] * 10)) == {"k3": "move"}, "the newest rate that it had is days old"


def test_rates_that_vanish_from_most_offers_are_doubted_once(cloud: Cloud) -> None:
    gone: Rates = {key: None if n < 20 else price for n, (key, price) in enumerate(USUAL.items())}
    assert set(cloud.load(gone).values()) == {"lost"}
    assert cloud.open("k3") == [(USUAL["k3"], False)]
    assert cloud.load(gone) == {}
    before = cloud.history()
    assert cloud.load(gone, again=True) == {}
    assert cloud.history() == before
    assert cloud.open("k3") == [(None, True)]


def test_a_real_cut_for_all_passes_within_two_runs(cloud: Cloud) -> None:
    moved: Rates = {key: price * Decimal("0.72") for key, price in USUAL.items()}
    assert len(cloud.load(moved)) == 30
    assert cloud.load(moved) == {}
    assert cloud.open("k3") == [(moved["k3"], True)]


def test_spot_rates_move_together_and_wander_while_they_are_held(cloud: Cloud) -> None:
    def spot(key: str, price: Decimal | None) -> CloudOffer:
        return _offer(key, price, model="spot" if key.startswith("s") else "on_demand")

    spots = {f"s{n}": Decimal(1) + n for n in range(20)}
    cloud.load({**USUAL, **spots}, make=spot)
    assert cloud.load({**USUAL, **{key: price * Decimal("1.4") for key, price in spots.items()}}, make=spot) == {}
    far = {**USUAL, **{key: price * Decimal("1.4") for key, price in spots.items()}}
    assert cloud.load({**far, "s3": Decimal(40)}, make=spot) == {"s3": "move"}
    assert cloud.load({**far, "s3": Decimal(35)}, make=spot) == {}
    assert cloud.open("s3") == [(Decimal(35), True)]


def test_a_rate_that_comes_home_to_its_peers_is_not_held(cloud: Cloud) -> None:
    def same_card(key: str, price: Decimal | None) -> CloudOffer:
        return _offer(key, price, gpu="same card")

    rates: Rates = {
        "p0": Decimal("1.9"),
        "p1": Decimal("2"),
        "p2": Decimal("2.1"),
        "p3": Decimal("2.2"),
        "far": Decimal(9),
    }
    cloud.load({**USUAL, **rates}, make=same_card)
    assert cloud.load({**USUAL, **rates, "far": Decimal("2.3")}, make=same_card) == {}
    assert cloud.load({**USUAL, **rates, "far": Decimal("2.3"), "p0": Decimal(19)}, make=same_card) == {"p0": "move"}


def test_a_rate_that_it_asked_before_is_not_held_again(cloud: Cloud) -> None:
    other = changed(k3=USUAL["k3"] * 2)
    assert cloud.load(other)
    assert cloud.load(other) == {}
    assert cloud.load() == {}, "it asked this rate days ago"
