"""What nights leave behind: versions of prices, listings, changes and what the gate held, also where a night is repeated."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from gpuledger.items import FxRate, Issue, Offer
from gpuledger.transform.gate import Bounds, good_nights, loading
from gpuledger.transform.gate.good_nights import Released
from gpuledger.warehouse import ledger
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import Batch, ChangeSet, Row

#: A shop of the project, so that its kinds are known.
SHOP = "newegg"
#: Listings that are there every night, so that one that is gone makes no short night; no question below is about them.
ALWAYS = 8
FIRST = datetime(2024, 1, 1, 3, tzinfo=UTC)


def night(number: int) -> datetime:
    return FIRST + timedelta(days=number - 1)


def offer(key: str, price: str | None = "500", **more: Any) -> Offer:
    stated = {} if price is None else {"price": Decimal(price), "currency": "USD", "price_kind": "now"}
    words = {"title": f"card {key}", "url": f"http://shop.test/{key}", "availability": "in_stock", "condition": "new"}
    return Offer(**{**words, **stated, "key": key, **more})


def load(
    con: duckdb.DuckDBPyConnection, number: int, *offers: Offer, source: str = SHOP, sha: str = "sha",
    released: list[tuple[str, Decimal]] | None = None, held: tuple[Offer, ...] = (), is_complete: bool = True,
    bounds: Bounds | None = None,
) -> loading.Loaded:  # fmt: skip
    """Load what a shop shows on a night, and put the night on record."""
    limits = bounds or Bounds()
    shown = (*offers, *(offer(f"z{n}", "300") for n in range(ALWAYS)))
    rows, refused = (
        [Row(one, sha if one in offers else "always") for one in shown],
        tuple(Row(one, sha) for one in held),
    )
    batch = Batch(source, night(number), rows, is_complete, refused)
    loaded = loading.load_batch(con, batch, limits, Released(released or []), ["offer"])
    count = len(shown) + len(held)
    good_nights.note(con, {source: good_nights.GoodNight(batch.seen_at, count, loaded.is_complete)})
    return loaded


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return con.execute(sql).fetchall()


def spans(con: duckdb.DuckDBPyConnection, key: str) -> list[tuple[Any, ...]]:
    """The versions of a listing: price, the numbers of the nights that it begins, ends and was last confirmed on."""
    found = rows(
        con,
        f"""SELECT price, valid_from, valid_to, confirmed_until FROM core.price_span JOIN core.listing USING (listing_no)
            WHERE listing_key = '{key}' ORDER BY valid_from""",
    )
    numbers = [tuple(None if time is None else (time - FIRST).days + 1 for time in times) for _, *times in found]
    return [(None if one[0] is None else int(one[0]), *times) for one, times in zip(found, numbers, strict=True)]


def still_open(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[Any, ...]]:
    found = rows(
        con, "SELECT listing_id, price, confirmed_until IS NULL FROM core.price_open WHERE listing_id NOT LIKE '%:z%'"
    )
    return {listing.partition(":")[2]: (None if price is None else int(price), sure) for listing, price, sure in found}


def changes(con: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return rows(
        con,
        f"""SELECT split_part(listing_id, ':', 2), date_diff('day', TIMESTAMPTZ '{FIRST}', changed_at) + 1, change,
                old_price::INT, new_price::INT, round(change_ratio, 4)
            FROM core.price_change WHERE listing_id NOT LIKE '%:z%' ORDER BY changed_at, listing_id""",
    )


def test_a_price_that_moves_and_goes_leaves_its_versions(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("a"), offer("b"))
    load(con, 3, offer("a", "600"), offer("b"))
    load(con, 4, offer("a", "600"), offer("b"), offer("c"))
    load(con, 5, offer("b"), offer("c"))
    assert spans(con, "a") == [(500, 1, 3, 2), (600, 3, 5, 4)]
    assert spans(con, "b") == [(500, 1, None, None)]
    assert still_open(con) == {"b": (500, True), "c": (500, True)}
    assert changes(con) == [
        ("a", 1, "appeared", None, 500, None), ("b", 1, "appeared", None, 500, None),
        ("a", 3, "price", 500, 600, 0.2), ("c", 4, "appeared", None, 500, None), ("a", 5, "ended", 600, None, None),
    ]  # fmt: skip
    ended = "SELECT listing_key, ended_at, first_seen_at FROM core.listing WHERE listing_key < 'z' ORDER BY 1"
    assert rows(con, ended) == [("a", night(5), night(1)), ("b", None, night(1)), ("c", None, night(4))]


def test_a_listing_that_comes_back_is_open_again(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("b"))
    load(con, 3, offer("a"), offer("b"))
    assert spans(con, "a") == [(500, 1, 2, 1), (500, 3, None, None)]
    assert [one[:3] for one in changes(con)] == [
        ("a", 1, "appeared"), ("b", 1, "appeared"), ("a", 2, "ended"), ("a", 3, "returned"),
    ]  # fmt: skip
    assert rows(con, "SELECT ended_at, first_seen_at FROM core.listing WHERE listing_key = 'a'") == [(None, night(1))]


def test_stock_and_currency_are_changes_too(con: duckdb.DuckDBPyConnection) -> None:
    bounds = Bounds()
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("a", availability="out_of_stock"), offer("b", None), bounds=bounds)
    load(con, 3, offer("a", availability="out_of_stock"), offer("b"))
    assert changes(con)[2:] == [
        ("a", 2, "availability", 500, 500, 0.0), ("b", 2, "price", 500, None, None), ("b", 3, "price", None, 500, None),
    ]  # fmt: skip
    found = rows(
        con, "SELECT old_availability, new_availability, currency FROM core.price_change WHERE change = 'availability'"
    )
    assert found == [("in_stock", "out_of_stock", "USD")]
    assert spans(con, "b") == [(500, 1, 2, 1), (None, 2, 3, 2), (500, 3, None, None)]


def test_a_currency_that_two_nights_show_is_a_change_without_a_ratio(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    assert load(con, 2, offer("a", currency="EUR"), offer("b")).held == 1
    assert load(con, 3, offer("a", currency="EUR"), offer("b")).held == 0
    assert changes(con)[2:] == [("a", 3, "price", 500, 500, None)]


def test_absence_from_an_incomplete_night_is_doubt_and_no_end(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    loaded = load(con, 2, offer("b"), is_complete=False)
    assert not loaded.is_complete
    assert still_open(con) == {"a": (500, False), "b": (500, True)}
    assert spans(con, "a") == [(500, 1, None, 1)]
    load(con, 3, offer("b"), is_complete=False)
    assert spans(con, "a") == [(500, 1, None, 1)], "a doubt that goes on is one doubt"
    load(con, 4, offer("a"), offer("b"))
    assert spans(con, "a") == [(500, 1, 4, 1), (500, 4, None, None)]
    assert [one[2] for one in changes(con)] == ["appeared", "appeared"], "nothing that a buyer would call a change"


def test_a_doubt_ends_with_a_complete_night(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("b"), is_complete=False)
    load(con, 3, offer("b"))
    assert spans(con, "a") == [(500, 1, 3, 1)]
    assert changes(con)[2:] == [("a", 3, "ended", 500, None, None)]


@pytest.mark.parametrize("back_on", [3, 4, 5])
def test_what_a_short_crawl_did_not_show_comes_back_as_it_was(con: duckdb.DuckDBPyConnection, back_on: int) -> None:
    """With its price and since when it has stood, unless it had ceased to count in between: then that stays on record."""
    con.execute("INSERT INTO ops.source_state BY NAME SELECT ? AS source, 48 AS freshness_hours", [SHOP])
    load(con, 1, offer("a"), offer("b"))
    for number in range(2, back_on):
        load(con, number, offer("b"), is_complete=False)
    load(con, back_on, offer("a"), offer("b"))
    assert spans(con, "a") == (
        [(500, 1, None, None)] if back_on == 3 else [(500, 1, back_on, 1), (500, back_on, None, None)]
    )
    assert still_open(con) == {"a": (500, True), "b": (500, True)}
    assert [one[2] for one in changes(con)] == ["appeared", "appeared"]
    found = rows(con, "SELECT ended_at, first_seen_at FROM core.listing WHERE listing_key = 'a'")
    assert found == [(None, night(1))]


def test_a_price_that_is_not_believed_after_a_short_crawl_is_in_doubt(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("b"), is_complete=False)
    load(con, 3, offer("a", "5000"), offer("b"))
    assert spans(con, "a") == [(500, 1, 3, 1), (500, 3, None, 1)]
    load(con, 4, offer("b"), is_complete=False)
    assert spans(con, "a") == [(500, 1, 3, 1), (500, 3, None, 1)], "not seen either: it stays what nobody believed"


def test_a_refused_row_ends_nothing(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 2, offer("b"), held=(offer("a", "9"),))
    assert still_open(con) == {"a": (500, False), "b": (500, True)}
    load(con, 3, offer("a"), offer("b"))
    assert still_open(con) == {"a": (500, True), "b": (500, True)}


def test_a_repeated_night_replaces_what_it_wrote(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"), offer("c"))
    load(con, 2, offer("a", "600"), offer("b", "600"), offer("d"))
    load(con, 2, offer("a", "700"), offer("b"), offer("c"), sha="other")
    assert spans(con, "a") == [(500, 1, 2, 1), (700, 2, None, None)]
    assert spans(con, "b") == [(500, 1, 2, 1), (500, 2, None, None)]
    assert spans(con, "d") == []
    assert still_open(con) == {"a": (700, True), "b": (500, True), "c": (500, True)}
    assert ("a", 2, "price", 500, 700, 0.4) in changes(con)
    assert not [one for one in changes(con) if one[4] == 600 or one[0] == "d"]
    again = tuple(changes(con))
    load(con, 2, offer("a", "700"), offer("b"), offer("c"), sha="other")
    assert tuple(changes(con)) == again


def test_two_shops_know_nothing_of_each_other(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"))
    load(con, 1, offer("a", "900"), source="bhphoto")
    load(con, 2, offer("b"))
    assert rows(con, "SELECT listing_id, price::INT FROM core.price_open WHERE listing_id NOT LIKE '%:z%' ORDER BY ALL") == [
        ("bhphoto:a", 900), ("newegg:b", 500),
    ]  # fmt: skip
    assert rows(con, "SELECT count(DISTINCT listing_no) FROM core.listing") == [(3 + 2 * ALWAYS,)]
    assert rows(con, "SELECT count(*) FROM core.price_change WHERE source = 'bhphoto'") == [(1 + ALWAYS,)]


def test_a_listing_keeps_its_newest_words_and_is_resolved_again_only_for_words_of_the_card(
    con: duckdb.DuckDBPyConnection,
) -> None:
    load(con, 1, offer("a"), offer("b"), offer("c"))
    con.execute("UPDATE core.listing SET match_version = 'v1'")
    loaded = load(
        con, 2, offer("a", url="http://shop.test/moved"), offer("b", title="another card"), offer("c"), sha="s2"
    )
    assert loaded.changes.changed["core.listing"] == 2
    assert rows(
        con,
        """SELECT listing_key, title, url, match_version, snapshot_sha256 FROM core.listing
           WHERE listing_key < 'z' ORDER BY listing_key""",
    ) == [
        ("a", "card a", "http://shop.test/moved", "v1", "s2"),
        ("b", "another card", "http://shop.test/b", None, "s2"),
        ("c", "card c", "http://shop.test/c", "v1", "sha"),
    ]
    assert rows(con, "SELECT DISTINCT listing_no FROM core.listing ORDER BY ALL") == [
        (n + 1,) for n in range(3 + ALWAYS)
    ]


def test_another_seller_is_another_version_and_another_printed_text_is_none(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a", price_text="$500"), offer("b", seller="x"))
    loaded = load(con, 2, offer("a", price_text="$500.00"), offer("b", seller="y"))
    assert spans(con, "a") == [(500, 1, None, None)]
    assert spans(con, "b") == [(500, 1, 2, 1), (500, 2, None, None)]
    assert loaded.changes.changed["core.price_open"] == 2, "one closed, one begun"


def test_a_load_says_which_tables_it_changed(con: duckdb.DuckDBPyConnection) -> None:
    assert set(load(con, 1, offer("a")).changes.changed) == {"core.listing", "core.price_open", "core.price_change"}
    assert load(con, 2, offer("a")).changes.changed == {}
    held = load(con, 3, offer("a", "5000"))
    assert (held.held, set(held.changes.changed)) == (1, {"core.held_price", "core.price_open"})
    let_go = load(con, 4, offer("a"))
    assert set(let_go.changes.changed) == {"core.held_price", "core.price_open"}
    dropped = load(con, 5, offer("b")).changes.changed
    assert dropped["core.listing"] == 2
    known = {name for (name,) in rows(con, "SELECT schema_name || '.' || table_name FROM duckdb_tables()")}
    assert known >= {*held.changes.changed, *dropped}


def test_a_run_of_rates_alone_changes_rates_alone(con: duckdb.DuckDBPyConnection) -> None:
    rate = FxRate(day=date(2024, 1, 1), currency="KRW", rate=Decimal("1400"), base="EUR")
    batch = Batch("ecb_fx", night(1), [Row(rate, "sha")])
    assert loading.load_batch(con, batch, Bounds(), Released(), ["fx_rate"]).changes.changed == {"core.fx_rate": 1}
    assert (
        loading.load_batch(con, replace(batch, seen_at=night(2)), Bounds(), Released(), ["fx_rate"]).changes.changed
        == {}
    )


def test_won_that_stand_for_no_price_are_held_every_night(con: duckdb.DuckDBPyConnection) -> None:
    won = [offer("a", "1234500", currency="KRW"), offer("b", "99999000", currency="KRW")]
    for number in (1, 2, 3):
        assert load(con, number, *won).held == 1
        found = rows(con, "SELECT listing_id, hold, times_held, held_at FROM core.held_price")
        assert found == [("newegg:b", "placeholder", number, night(1))]
    assert still_open(con) == {"a": (1234500, True)}


def test_a_held_price_is_on_record_with_what_it_is_compared_with(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"))
    load(con, 2, offer("a", "5000"), sha="page of night 2")
    assert rows(
        con,
        """SELECT listing_id, source, price::INT, currency, reference_price::INT, reference_currency, hold, reason, held_at,
               times_held, snapshot_sha256, kind FROM core.held_price""",
    ) == [
        ("newegg:a", SHOP, 5000, "USD", 500, "USD", "move", "500 to 5000 USD (+900%) at once", night(2), 1,
         "page of night 2", "offer"),
    ]  # fmt: skip
    load(con, 2, offer("b"), source="bhphoto")
    assert rows(con, "SELECT count(*) FROM core.held_price") == [(1,)], "another shop's night lets nothing go"


def test_a_card_that_comes_back_is_compared_with_what_it_cost_unless_that_is_long_ago(
    con: duckdb.DuckDBPyConnection,
) -> None:
    load(con, 1, offer("a", "900"), offer("b"), offer("c", "900"))
    load(con, 2, offer("a", "600"), offer("b"), offer("c", None))
    load(con, 3, offer("b"), offer("c", None))
    assert load(con, 10, offer("a", "1600"), offer("b"), offer("c", "2000")).held == 2
    reference = "SELECT listing_id, reference_price::INT FROM core.held_price ORDER BY ALL"
    assert rows(con, reference) == [("newegg:a", 600), ("newegg:c", 900)], "the newest that they had"


@pytest.mark.parametrize(
    ("earlier", "number", "price", "held"),
    [
        # A price that ended thirty days ago is no reference.
        (("500", None), 32, "5000", 1), (("500", None), 33, "5000", 0),
        # One that it asked within thirty days is no slip, nor is one between the lowest and the highest.
        (("1500", "1000", "600"), 31, "1500", 0), (("1500", "1000", "600"), 32, "1500", 1),
        (("1500", "1000", "600"), 4, "1100", 0), (("1500", "1000", "600"), 4, "1550", 0),
        (("1500", "1000", "600"), 4, "1600", 1), (("1500", "1000", "600"), 4, "200", 1),
    ],
)  # fmt: skip
def test_what_a_listing_asked_before_is_its_reference_and_its_excuse(
    con: duckdb.DuckDBPyConnection, earlier: tuple[str | None, ...], number: int, price: str, held: int
) -> None:
    for at, asked in enumerate(earlier, start=1):
        shown = () if asked is None else (offer("a", asked),)
        assert load(con, at + (asked is None), *shown, offer("b")).held == 0
    assert load(con, number, offer("a", price), offer("b")).held == held


def test_the_nights_of_a_held_price_are_counted_from_its_first_and_those_of_its_shop_alone(
    con: duckdb.DuckDBPyConnection,
) -> None:
    for number in (1, 2, 3):
        load(con, number, offer("a"))
        load(con, number, offer("b"), source="bhphoto")
    for number, times_held in ((4, 1), (5, 2), (6, 3)):
        load(con, number, offer("a", "9999"))
        load(con, number, offer("b"), source="bhphoto")
        assert rows(con, "SELECT times_held, held_at FROM core.held_price") == [(times_held, night(4))]


def test_the_price_changes_of_a_run_are_by_source_and_title(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b", currency="EUR"), offer("c"))
    load(con, 2, offer("a", "450"), offer("b", currency="EUR"))
    assert ledger.price_changes(con, night(2)) == [
        ledger.PriceChange(SHOP, "card c", "ended", "500.0000", "", "USD"),
        ledger.PriceChange(SHOP, "card a", "price", "500.0000", "450.0000", "USD"),
    ]


def test_open_listings_are_those_of_one_shop_that_have_not_ended(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, offer("a"), offer("b"))
    load(con, 1, offer("c"), source="bhphoto")
    load(con, 2, offer("a"))
    own = [(listing, url) for listing, url in offers.open_listings(con, SHOP) if ":z" not in listing]
    assert own == [("newegg:a", "http://shop.test/a")]


def test_what_another_listing_asked_excuses_nothing(con: duckdb.DuckDBPyConnection) -> None:
    for at, price in enumerate(("1500", "1000", "600"), start=1):
        load(con, at, offer("a", price), offer("b", "600"))
    assert load(con, 4, offer("a", "600"), offer("b", "1500")).held == 1


def test_a_price_is_excused_by_three_new_cards_of_its_kind_in_the_same_shop(con: duckdb.DuckDBPyConnection) -> None:
    peers = [offer(key, "500") for key in "bcd"]
    load(con, 1, offer("a", "2000"), *peers)
    assert load(con, 2, offer("a", "510"), *peers).held == 1, "nobody knows that they are one card"
    con.execute("UPDATE core.listing SET gpu_id = 'card' WHERE listing_key < 'z'")
    assert load(con, 2, offer("a", "510"), *peers).held == 0


@pytest.mark.parametrize(
    "apart",
    [
        "UPDATE core.listing SET condition = 'used' WHERE listing_key = 'b'",
        "UPDATE core.listing SET gpu_id = 'other' WHERE listing_key = 'b'",
        "UPDATE core.price_open SET currency = 'EUR' WHERE listing_id = 'newegg:b'",
        "UPDATE core.price_open SET price = 0 WHERE listing_id = 'newegg:b'",
        "UPDATE core.listing SET source = 'bhphoto' WHERE listing_key = 'b'",
    ],
)
def test_a_card_of_another_kind_excuses_nothing(con: duckdb.DuckDBPyConnection, apart: str) -> None:
    peers = [offer(key, "500") for key in "bcd"]
    load(con, 1, offer("a", "2000"), *peers)
    con.execute("UPDATE core.listing SET gpu_id = 'card' WHERE listing_key < 'z'")
    con.execute(apart)
    assert load(con, 2, offer("a", "510"), *peers[1:], held=(peers[0],)).held == 1


def test_prices_without_a_rate_are_named_by_currency(con: duckdb.DuckDBPyConnection) -> None:
    rates = [
        FxRate(day=date(2023, 12, 22), currency="KRW", rate=Decimal("1400"), base="EUR"),
        FxRate(day=date(2023, 12, 21), currency="PLN", rate=Decimal("4"), base="EUR"),
    ]
    loading.load_batch(
        con, Batch("ecb_fx", night(1), [Row(rate, "sha") for rate in rates]), Bounds(), Released(), ["fx_rate"]
    )
    shown = [
        offer("a", currency="KRW"),
        offer("b", currency="PLN"),
        offer("c", currency="PLN"),
        offer("d", currency="GBP"),
    ]
    loaded = load(con, 1, *shown, offer("e"), offer("f", None))
    said = [
        (issue.code, issue.severity, issue.text, issue.message.partition(";")[0]) for _, issue in loaded.changes.issues
    ]
    days = "from 2024-01-01 to 2024-01-01"
    end = "prices have no USD amount of their day, and count today at an older rate or not at all"
    assert said == [
        ("missing_rate", "warning", "GBP", f"no reference rate for GBP {days}: 1 {end}"),
        ("missing_rate", "warning", "PLN", f"no reference rate for PLN {days}: 2 {end}"),
    ]


def test_changes_of_two_loads_are_added_up() -> None:
    one, other = ChangeSet(), ChangeSet()
    one.add("core.listing", 2)
    one.add("core.gpu", 0)
    other.add("core.listing", 3)
    other.add("core.fx_rate", 1)
    other.issues.append(("shop", Issue(code="missing_rate", message="m")))
    one.merge(other)
    assert (one.changed, one.total, len(one.issues)) == ({"core.listing": 5, "core.fx_rate": 1}, 6, 1)


def test_a_note_of_a_night_replaces_its_own_and_no_other(con: duckdb.DuckDBPyConnection) -> None:
    for number in range(1, 11):
        good_nights.note(con, {SHOP: good_nights.GoodNight(night(number), 10 * number, True)})
        good_nights.note(con, {"bhphoto": good_nights.GoodNight(night(number), 7, True)})
    good_nights.note(con, {SHOP: good_nights.GoodNight(night(9), 5, False)})
    past = good_nights.past(con, SHOP, night(10), Bounds())
    assert [(good.seen_at, good.rows, good.is_complete) for good in past] == [
        (night(9), 5, False), *((night(n), 10 * n, True) for n in range(8, 1, -1)),
    ]  # fmt: skip
    assert rows(con, "SELECT count(*) FROM core.source_night") == [(20,)]
