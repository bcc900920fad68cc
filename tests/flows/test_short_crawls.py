"""A crawl that breaks ends no listing, however often it is repeated: a real one, and a shop that loses its pagination."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from gpuledger.extract.collect import Collected
from gpuledger.extract.sample import server
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import alerts
from gpuledger.items import Item, Offer
from gpuledger.transform import freshness
from tests.command import gpuledger, rows, succeeds, tables
from tests.flows.inprocess import context, read_with_shared_parsers, refresh, take_in_one
from tests.history.replays import replayed
from tests.nights import Night
from tests.support.empty import empty_warehouse

SHOP = "danawa"
KOREAN = timezone(timedelta(hours=9))
FIRST = datetime(2024, 1, 1, 3, tzinfo=UTC)

Crawls = dict[datetime, tuple[str, list[tuple[Item, str]]]]


def crawls(file: Path) -> Crawls:
    """The crawls of a file of them, as the shop's reader would give them: whole or broken, and the offers."""
    found: Crawls = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            seen_at = datetime.fromisoformat(line["crawl_time"]).replace(tzinfo=KOREAN).astimezone(UTC)
            price = Decimal(line["Price"]) if line["Price"].isdigit() and int(line["Price"]) >= 5000 else None
            offer = Offer(
                title=line["Name"], url=f"https://shop.example/{line['Id']}", key=line["Id"], price=price,
                currency=price and "KRW", price_kind=price and "now", availability="in_stock", condition="new",
            )  # fmt: skip
            found.setdefault(seen_at, (line["crawl"], []))[1].append((offer, "sha"))
    return dict(sorted(found.items()))


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_warehouse() as connection:
        yield connection


@pytest.mark.slow
def test_a_real_crawl_that_broke_and_stayed_broken_ends_no_listing(
    con: duckdb.DuckDBPyConnection, shared_data: Path, tmp_path: Path
) -> None:
    def take(seen_at: datetime, items: list[tuple[Item, str]]) -> tuple[str, str]:
        night = replace(context(tmp_path, 1), as_of=seen_at)
        found = [(item, f"{seen_at}") for item, _ in items]
        collected = Collected(SHOP, rows=found, pages=1, starts=("https://shop.example/list",))
        outcome = take_in_one(con, night, collected).outcome
        return outcome.status, outcome.reason or ""

    whole: list[tuple[Item, str]] = []
    for seen_at, (kind, items) in crawls(shared_data / "broken_crawls" / "danawa_2025-12.csv.gz").items():
        status, reason = take(seen_at, items)
        if kind == "whole":
            assert (status, whole) != ("degraded", []), reason
            whole = items
        else:
            assert status == "degraded", seen_at
            assert reason.startswith(f"{len(items)} rows, and 11")
            assert "gpuledger release --source danawa" in reason
    ended = "SELECT count(*) FROM core.listing WHERE ended_at IS NOT NULL"
    before = con.execute(ended).fetchone()
    assert before is not None
    assert before[0] < 40, "those that left while the crawl was whole"
    for day in range(1, 8):
        assert take(seen_at + timedelta(days=day), whole)[0] == "ok"
    changes = con.execute(
        "SELECT change, count(*) FROM core.price_change WHERE changed_at > ? GROUP BY ALL", [seen_at]
    ).fetchall()
    assert not {"returned", "ended"} & {change for change, _ in changes}, changes
    assert con.execute(ended).fetchone() == before
    assert con.execute("SELECT count(*) FROM core.price_open WHERE confirmed_until IS NOT NULL").fetchone() == (0,)


def test_a_shop_that_loses_its_pagination_is_degraded_until_a_person_accepts_it(
    first_night: Path, tmp_path: Path, site: Path
) -> None:
    """The link to the second page is gone, and half of the list with it."""
    data = Path(shutil.copytree(first_night, tmp_path / "data", symlinks=True))
    only = ["ecb_fx", "newegg"]
    listed = "SELECT count(*) FROM core.listing WHERE source = 'newegg' AND ended_at IS NULL"
    ((before,),) = rows(data, listed)
    for page in site.glob("newegg/sample/night*/gpus/index.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(
            "".join(line for line in text.splitlines(keepends=True) if not re.search('rel="next"|title="Next"', line))
        )
    second = refresh(data, 2, only=only)
    assert _statuses(second) == {"ecb_fx": "ok", "newegg": "degraded"}
    assert (second.exit_status, second.status) == (3, "published_with_failures")
    ((still,),) = rows(data, listed)
    assert still >= before
    assert rows(data, "SELECT count(*) FROM core.listing WHERE ended_at IS NOT NULL") == [(0,)]
    unseen = "SELECT count(*) FROM core.price_open WHERE confirmed_until >= valid_from"
    assert rows(data, unseen)[0][0] > 0
    assert rows(data, "SELECT count(*) FROM core.offer WHERE exclusion = 'not confirmed'") == [(0,)], (
        "a day old: it counts"
    )
    assert rows(data, "SELECT status, is_stale FROM mart.source_status WHERE source = 'newegg'") == [
        ("degraded", False)
    ]
    confirmed = "SELECT gpu_id, last_seen_at FROM {} WHERE source = 'newegg' ORDER BY gpu_id"
    now = rows(data, confirmed.format("price"))
    assert {seen_at for _, seen_at in now} == {server.clock(1), server.clock(2)}, "some were not shown tonight"
    then = rows(data, confirmed.format(f"price_as_of(DATE '{server.clock(2).date()}')"))
    assert then == [row for row in now if row[0] in dict(then)]
    ((reason,),) = rows(data, "SELECT reason FROM ops.run WHERE sample_night = 2")
    assert reason.startswith("newegg: ")
    for _ in range(2):
        (message,) = (m for m in alerts.due(context(data, 2), second, is_heard=True) if "degraded" in m.title)
        assert message.title == "gpuledger: newegg is degraded", "said each night"
    status = gpuledger("status", data=data)
    assert status.status == 3
    assert "degraded" in status.out
    late = Path(shutil.copytree(data, tmp_path / "late", symlinks=True))
    run(replace(context(late, 2, only=only), as_of=server.clock(2) + timedelta(days=10)), read_with_shared_parsers)
    for words in (("price",), ("buy", "--model", "llama-3.1-8b", "--condition", "any", "--limit", 0)):
        told = json.loads(succeeds(*words, "--format", "json", data=late).out)
        marks = {row["price_mark"] for row in (told["options"] if words[0] == "buy" else told) if row["price_mark"]}
        assert {"invented", "stale, invented"} <= marks, "what the shop has not shown for ten days has its last price"
    listing = gpuledger("release", data=data)
    assert "newegg" in listing.out
    assert "are usual" in listing.out
    wrong = gpuledger("release", "--source", "ecb_fx", data=data)
    assert wrong.status == 2
    succeeds("release", "--source", "newegg", "--reason", "it sells fewer cards now", data=data)
    third = refresh(data, 3, only=only)
    assert _statuses(third)["newegg"] in ("ok", "unchanged")
    ((after,),) = rows(data, listed)
    assert after < before * 0.8
    assert rows(data, "SELECT count(*) FROM core.price_change WHERE source = 'newegg' AND change = 'ended'")[0][0] > 0


@pytest.mark.parametrize(
    "second_page",
    [
        pytest.param(None, marks=pytest.mark.slow_combination),
        "<html><title>Are you a human?</title><div class='g-recaptcha'></div>",
    ],
)
def test_a_page_that_does_not_come_costs_its_own_prices_alone_and_a_replay_gives_the_same(
    first_night: Path, tmp_path: Path, site: Path, second_page: str | None
) -> None:
    data, only = Path(shutil.copytree(first_night, tmp_path / "data", symlinks=True)), ["ecb_fx", "newegg"]
    page = site / "newegg" / "sample" / "night2" / "gpus" / "page-2.html"
    if second_page is None:
        for kept in site.glob("newegg/sample/night*/gpus/page-2.html"):
            kept.unlink()
    else:
        page.write_text(second_page, encoding="utf-8")
    second = refresh(data, 2, only=only)
    assert _statuses(second) == {"ecb_fx": "ok", "newegg": "degraded"}
    assert second.exit_status == 3
    (source,) = second.degraded_sources
    assert re.match(r"(NotFound|Blocked): http://\S+/gpus/page-2\.html: ", source.reason or ""), source.reason
    assert source.loaded > 5, "the first page counts"
    ended = "SELECT count(*) FROM core.listing WHERE ended_at IS NOT NULL AND source = 'newegg'"
    assert rows(data, ended) == [(0,)]
    seen_tonight = """SELECT count(*), count(*) FILTER (valid_from > DATE '2023-11-16') FROM core.price_open
                      WHERE confirmed_until IS NULL"""
    assert rows(data, seen_tonight)[0][1] > 0
    replayed(data, tmp_path / "again")
    assert tables(tmp_path / "again") == tables(data)


def test_a_listing_whose_own_page_is_gone_has_ended_though_others_did_not_come(
    nights: dict[int, Night], tmp_path: Path, site: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    only = ["ecb_fx", "generic_shop"]
    listed = "SELECT url, ended_at IS NULL FROM core.listing WHERE source = 'generic_shop' ORDER BY ALL"
    before = rows(data, listed)
    assert len(before) >= 4
    assert all(is_open for _, is_open in before)
    gone, broken, *_ = sorted(site.glob("generic_shop/sample/night1/products/*"))
    for page in site.glob(f"generic_shop/sample/night*/products/{gone.name}"):
        shutil.rmtree(page)
    for page in site.glob(f"generic_shop/sample/night*/products/{broken.name}/index.html"):
        page.write_text("<html><body>We are moving</body></html>", encoding="utf-8")
    second = refresh(data, 2, only=only)
    assert _statuses(second)["generic_shop"] == "degraded", second.sources
    after = rows(data, listed)
    assert [gone.name in url for url, is_open in after if not is_open] == [True]
    unseen = rows(
        data,
        """SELECT l.url FROM core.price_open p JOIN core.listing l USING (listing_id)
           WHERE source = 'generic_shop' AND confirmed_until >= valid_from""",
    )
    assert [broken.name in url for (url,) in unseen] == [True], "what did not come may still be there"


def test_what_is_not_seen_counts_until_it_is_older_than_its_source_may_be(con: duckdb.DuckDBPyConnection) -> None:
    """And what was seen and not believed is none of that: it does not count at all."""
    con.execute(
        """INSERT INTO ops.source_state BY NAME
               SELECT 'a' AS source, 48 AS freshness_hours, TIMESTAMPTZ '2024-01-05 03:00:00Z' AS last_success_at;
           INSERT INTO core.price_open BY NAME FROM (VALUES
               ('a:seen', TIMESTAMPTZ '2024-01-01 03:00:00Z', NULL),
               ('a:unseen', TIMESTAMPTZ '2024-01-01 03:00:00Z', TIMESTAMPTZ '2024-01-03 03:00:00Z'),
               ('a:held', TIMESTAMPTZ '2024-01-04 03:00:00Z', TIMESTAMPTZ '2024-01-01 03:00:00Z')
           ) v(listing_id, valid_from, confirmed_until);
           INSERT INTO core.cloud_offer_history BY NAME
               SELECT 'a:cloud' AS offer_id, 'a' AS source, TIMESTAMPTZ '2024-01-01 03:00:00Z' AS valid_from,
                   TIMESTAMPTZ '2024-01-04 03:00:00Z' AS confirmed_until"""
    )
    night = datetime(2024, 1, 5, 3, tzinfo=UTC)
    found = []
    for hours in (0, 1, 24, 25):
        changed = freshness.keep(con, night + timedelta(hours=hours))
        aged = [listing for (listing,) in con.execute("FROM core.aged_out ORDER BY ALL").fetchall()]
        found.append((hours, "core.aged_out" in changed, aged))
    assert found == [
        (0, False, []), (1, True, ["a:unseen"]), (24, False, ["a:unseen"]), (25, True, ["a:cloud", "a:unseen"]),
    ]  # fmt: skip


def _statuses(summary: Summary) -> dict[str, str]:
    return {outcome.source: outcome.status for outcome in summary.sources}
