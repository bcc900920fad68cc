"""One source's batch, night after night: what is loaded, what is set aside and why, and when it is the last one again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.errors import FetchError
from gpuledger.extract.collect import Collected
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.night import take_in
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.items import Issue, Item, Offer
from gpuledger.transform import freshness
from gpuledger.transform.gate import loading
from gpuledger.warehouse import ledger
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load.batch import ChangeSet
from tests.flows.inprocess import context, take_in_one

#: The one shop of which a batch of any length is believed.
SHOP = "quotes"
FIRST = datetime(2024, 1, 1, 3, tzinfo=UTC)


class Shop:
    """A source that is taken in night after night."""

    def __init__(self, con: duckdb.DuckDBPyConnection, data: Path) -> None:
        self.con = con
        self.context = context(data, 1)
        self.changed: frozenset[str] = frozenset()

    def night(self, number: int) -> Context:
        as_of = FIRST + timedelta(days=number - 1)
        return replace(self.context, as_of=as_of, run_id=f"run{number}")

    def take(self, number: int, *items: Item, **more: Any) -> SourceOutcome:
        """Take in what the source gave on a night; more of `Collected` by name."""
        collected = Collected(SHOP, rows=[(item, f"sha{number}") for item in items], pages=1, **more)
        taken = take_in_one(self.con, self.night(number), collected)
        self.changed = taken.tables
        return taken.outcome

    def prices(self) -> dict[str, int]:
        return {str(key): int(price) for key, price in self.rows("SELECT listing_id, price FROM core.price_open")}

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.con.execute(sql).fetchall()

    def state(self) -> tuple[Any, ...]:
        ((status, success, rows),) = self.rows("SELECT status, last_success_at, rows FROM ops.source_state")
        return status, (success - FIRST).days + 1 if success else None, rows


@pytest.fixture
def shop(empty: duckdb.DuckDBPyConnection, tmp_path: Path) -> Iterator[Shop]:
    """A shop of an empty warehouse; what a test does to it is taken back."""
    empty.execute("BEGIN")
    yield Shop(empty, tmp_path)
    empty.execute("ROLLBACK")


def quote(key: str, price: str = "500", **more: Any) -> Offer:
    words = {"title": f"RTX 4070 {key}", "url": f"http://shop.test/{key}", "currency": "USD", "price_kind": "now"}
    return Offer(
        **{**words, "key": key, "price": Decimal(price), "availability": "in_stock", "condition": "new", **more}
    )


def four(price: str = "500") -> Sequence[Offer]:
    return [quote("a", price), quote("b"), quote("c"), quote("d")]


def of(outcome: SourceOutcome) -> tuple[Any, ...]:
    return outcome.status, outcome.parsed, outcome.loaded, outcome.quarantined, outcome.duplicate


def test_a_batch_is_loaded_and_its_source_and_night_are_on_record(shop: Shop) -> None:
    outcome = shop.take(1, *four())
    assert of(outcome) == ("ok", 4, 4, 0, 0)
    assert (outcome.changed, outcome.pages, outcome.issues) == (12, 1, 4 - 4)
    assert shop.changed == {"core.listing", "core.price_open", "core.price_change", "core.source_night"}
    assert shop.state() == ("ok", 1, 4)
    assert shop.rows("SELECT rows, is_complete FROM core.source_night") == [(4, True)]
    known = {f"{schema}.{table}" for schema, table in shop.rows("SELECT schema_name, table_name FROM duckdb_tables()")}
    assert shop.changed <= known


def test_the_batch_that_was_loaded_last_is_not_loaded_again(shop: Shop) -> None:
    shop.take(1, *four(), quote("x", valid_until=date(2023, 12, 1)), quote("a"))
    put_aside = "SELECT run_id, reason FROM ops.quarantine ORDER BY ALL"
    assert shop.rows(put_aside) == [("run1", "the offer was valid until 2023-12-01 only")]
    shop.con.execute("UPDATE core.listing SET title = 'untouched'")
    collected = Collected(
        SHOP, rows=[(one, "sha1") for one in (*four(), quote("x", valid_until=date(2023, 12, 1)), quote("a"))]
    )
    taken = take_in_one(shop.con, shop.night(2), collected)
    assert of(taken.outcome) == ("unchanged", 6, 4, 1, 1)
    assert taken.tables == {"core.source_night"}
    assert shop.rows("SELECT DISTINCT title FROM core.listing") == [("untouched",)]
    assert [run_id for run_id, _ in shop.rows(put_aside)] == ["run1", "run2"]
    assert shop.state()[:2] == ("unchanged", 2)
    assert shop.rows("SELECT rows FROM core.source_night ORDER BY seen_at") == [(5,), (5,)]


def again(shop: Shop, number: int, items: Sequence[Offer], **more: Any) -> SourceOutcome:
    """The same bytes as the first night's on another one."""
    collected = Collected(SHOP, rows=[(item, "sha1") for item in items], pages=1, **more)
    return take_in_one(shop.con, shop.night(number), collected).outcome


def test_a_batch_like_one_before_the_last_is_loaded(shop: Shop) -> None:
    shop.take(1, *four())
    shop.take(2, *four("550"))
    assert shop.prices()["quotes:a"] == 550
    assert again(shop, 3, four()).status == "ok"
    assert shop.prices()["quotes:a"] == 500
    digests = shop.rows("SELECT count(*) FROM ops.table_content WHERE table_id = 'batch:quotes'")
    assert digests == [(1,)]


def test_a_repeated_batch_has_the_counts_of_the_run_that_loaded_it_last(shop: Shop) -> None:
    shop.take(1, *four())
    expired = quote("x", valid_until=date(2023, 12, 1))
    batch = Collected(SHOP, rows=[(item, "sha") for item in (*four(), quote("a"), expired)])
    outcomes = [take_in_one(shop.con, shop.night(number), batch).outcome for number in (2, 3, 4)]
    counts = (6, 4, 1, 1)
    assert [of(outcome) for outcome in outcomes] == [("ok", *counts), ("unchanged", *counts), ("unchanged", *counts)]
    assert shop.rows("SELECT run_id FROM ops.quarantine ORDER BY 1") == [("run2",), ("run3",), ("run4",)]


def test_the_same_bytes_are_loaded_where_a_held_price_waits_for_its_second_sighting(shop: Shop) -> None:
    shop.take(1, *four())
    first = Collected(SHOP, rows=[(item, "sha") for item in four("5000")])
    outcomes = [take_in_one(shop.con, shop.night(number), first).outcome for number in (2, 3)]
    assert [of(outcome) for outcome in outcomes] == [("ok", 4, 3, 1, 0), ("ok", 4, 4, 0, 0)]
    assert shop.prices()["quotes:a"] == 5000
    ((run_id, kind, reason, item, sha),) = shop.rows(
        "SELECT run_id, kind, reason, item, snapshot_sha256 FROM ops.quarantine"
    )
    assert (run_id, kind, sha) == ("run2", "offer", "sha")
    assert reason == "price held: 500 to 5000 USD (+900%) at once"
    assert json.loads(item)["key"] == "a"


#: What was read from an address: a list, which may break off.
LISTED = {"starts": ("http://shop.test/cards",)}


def test_a_person_accepts_that_a_shop_has_fewer_and_what_is_gone_ends(shop: Shop) -> None:
    shop.take(1, *four(), **LISTED)
    again(shop, 2, four()[:2], **LISTED)
    fewer = Release(source=SHOP, rows=2, last_night=FIRST + timedelta(days=1), decided_at=utc_now())
    RELEASES.put(shop.context.data.root, fewer)
    shop.context = replace(shop.context, started_at=datetime.now(UTC) + timedelta(minutes=1))
    assert again(shop, 3, four()[:1], **LISTED).status == "degraded", "two rows were accepted, and this is one"
    assert len(shop.prices()) == 4
    assert again(shop, 4, four()[:2], **LISTED).status == "ok"
    assert set(shop.prices()) == {"quotes:a", "quotes:b"}
    assert again(shop, 5, four()[:1], **LISTED).status == "degraded", "two rows are usual now"


def test_a_crawl_that_reached_the_total_that_the_list_states_is_all_there_is(shop: Shop) -> None:
    shop.take(1, *four(), **LISTED)
    assert again(shop, 2, four()[:2], **LISTED, stated_total=4, listed=2).status == "degraded"
    assert len(shop.prices()) == 4
    assert again(shop, 3, four()[:2], **LISTED, stated_total=2, listed=2).status == "ok"
    assert set(shop.prices()) == {"quotes:a", "quotes:b"}


def test_a_file_is_all_there_is(shop: Shop) -> None:
    """A quote that a person takes out of the inbox has ended, however many go with it."""
    shop.take(1, *four())
    assert again(shop, 2, four()[:1]).status == "ok"
    assert set(shop.prices()) == {"quotes:a"}


def test_pages_that_could_not_be_read_end_nothing(shop: Shop) -> None:
    shop.take(1, *four())
    outcome = shop.take(2, *four()[:3], is_complete=False)
    assert (outcome.status, outcome.reason) == ("partial", "some pages could not be read; see ops.issue")
    assert len(shop.prices()) == 4
    assert shop.state() == ("partial", 2, 3)


def test_a_source_that_failed_keeps_its_last_success(shop: Shop) -> None:
    shop.take(1, *four())
    failure = FetchError("http://shop.test/", "404", "look")
    outcome = shop.take(2, failure=failure, issues=[(Issue(code="fetch", message="m", url="http://shop.test/"), None)])
    assert (outcome.status, outcome.reason, outcome.issues) == ("failed", "FetchError: http://shop.test/: 404; look", 1)
    assert of(outcome) == ("failed", 0, 0, 0, 0)
    assert shop.changed == set()
    assert shop.state() == ("failed", 1, 4)
    assert len(shop.prices()) == 4
    assert shop.rows("SELECT count(*) FROM core.source_night") == [(1,)]
    assert shop.rows("SELECT run_id, source, code, url FROM ops.issue") == [
        ("run2", SHOP, "fetch", "http://shop.test/")
    ]


def test_a_repeat_that_says_another_price_is_an_issue_and_the_first_counts(shop: Shop) -> None:
    outcome = shop.take(1, *four(), quote("a"), quote("b", "600"))
    assert of(outcome) == ("ok", 6, 4, 0, 2)
    assert shop.prices()["quotes:b"] == 500
    assert outcome.issues == 1
    assert shop.rows("SELECT code, message, url, snapshot_sha256 FROM ops.issue") == [
        ("conflicting_duplicate", "'RTX 4070 b' is there twice, with 500 and 600; the first counts", "http://shop.test/b",
         "sha1"),
    ]  # fmt: skip


def test_an_offer_that_expired_is_put_aside_and_has_ended(shop: Shop) -> None:
    until = date(2024, 1, 2)
    rows = [*four(), quote("e", valid_until=until)]
    assert of(again(shop, 1, rows)) == ("ok", 5, 5, 0, 0)
    assert of(shop.take(2, *rows)) == ("ok", 5, 5, 0, 0), "its last day"
    outcome = shop.take(3, *rows)
    assert of(outcome) == ("ok", 5, 4, 1, 0)
    assert "quotes:e" not in shop.prices()
    assert shop.rows("SELECT reason FROM ops.quarantine") == [("the offer was valid until 2024-01-02 only",)]


def test_the_same_bytes_are_loaded_on_the_day_on_which_one_of_them_expires(shop: Shop) -> None:
    rows = [*four(), quote("e", valid_until=date(2024, 1, 1))]
    again(shop, 1, rows)
    assert again(shop, 2, rows).status == "ok"
    assert "quotes:e" not in shop.prices()


def test_a_source_passes_its_freshness_limit_once(shop: Shop) -> None:
    shop.take(1, *four())
    assert freshness.keep(shop.con, FIRST) == ["core.source_freshness"]
    usable = "SELECT source, is_usable FROM core.source_freshness"
    assert shop.rows(usable) == [(SHOP, True)]
    assert freshness.keep(shop.con, FIRST) == []
    ((hours,),) = shop.rows("SELECT freshness_hours FROM ops.source_state")
    at_the_limit = FIRST + timedelta(hours=hours)
    assert freshness.keep(shop.con, at_the_limit) == []
    assert freshness.keep(shop.con, at_the_limit + timedelta(minutes=1)) == ["core.source_freshness"]
    assert shop.rows(usable) == [(SHOP, False)]


def test_a_source_that_never_answered_has_no_rows_and_counts_nothing(shop: Shop) -> None:
    failure = FetchError("http://shop.test/", "no answer", "wait")
    shop.take(1, failure=failure)
    assert shop.state() == ("failed", None, 0)
    assert SHOP not in loading.settled_sources(shop.con)
    outcome = take_in.failed(Collected(SHOP, failure=failure))
    counts = {name: value for name, value in asdict(outcome).items() if isinstance(value, int | float)}
    assert set(counts.values()) == {0}
    assert {"pages_unchanged", "changed"} < counts.keys()


def test_a_run_that_wrote_no_row_of_its_own_is_on_record_with_nothing_counted(shop: Shop) -> None:
    lost = ledger.Run(
        run_id="lost",
        started_at=FIRST,
        as_of=FIRST,
        engine="plain",
        status="failed",
        reason="killed",
        sample_night=None,
    )
    ledger.add_earlier_runs(shop.con, [lost])
    assert shop.rows("SELECT run_id, status, reason, parsed, models_rebuilt, seconds FROM ops.run") == [
        ("lost", "failed", "killed", None, None, None)
    ]


def test_a_repeat_without_a_figure_is_told_of_as_none(shop: Shop) -> None:
    shop.take(1, quote("a"), replace(quote("a"), price=None, currency=None, price_kind=None))
    ((message,),) = shop.rows("SELECT message FROM ops.issue WHERE code = 'conflicting_duplicate'")
    assert "is there twice, with 500 and none; the first counts" in message


def test_a_shuffled_night_counts_as_partial_and_says_who_may_accept_it() -> None:
    status, reason = take_in.how_it_went(loading.Loaded(ChangeSet(), 40, True, is_shuffled=True), "danawa", 40)
    assert status == "partial"
    assert reason is not None
    assert "held whole until a later one agrees" in reason
    assert "gpuledger release --source danawa" in reason
