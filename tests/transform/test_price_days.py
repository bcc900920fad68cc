"""Daily prices that nights added one by one are those that one computation of all days gives."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform.build import price_days
from gpuledger.warehouse.paths import DataDir
from tests.nights import Night

ALL = "FROM core.price_day ORDER BY ALL"
#: A night after those of the sample.
CHANGED = ("core.price_open",)


@pytest.fixture
def con(nights: dict[int, Night], tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The sample after three nights of its own, open for writing."""
    shutil.copyfile(DataDir(nights[3].data).base, tmp_path / "base.duckdb")
    with duckdb.connect(str(tmp_path / "base.duckdb")) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def newest(con: duckdb.DuckDBPyConnection) -> price_days.Since:
    row = con.execute("SELECT max(seen_at) FROM core.source_night").fetchone()
    assert row is not None
    return price_days.Since(row[0].date(), row[0] + timedelta(seconds=1))


def test_three_nights_added_what_all_at_once_gives(con: duckdb.DuckDBPyConnection) -> None:
    added = con.execute(ALL).fetchall()
    assert len({row[1] for row in added}) == 3, "a day for each night"
    assert price_days.keep(con, CHANGED, None) == date.min
    assert con.execute(ALL).fetchall() == added


@pytest.mark.parametrize(("home", "members"), [("all", "('us', 'de')"), ("eu", "('de')")])
def test_a_market_of_several_countries_has_days_net_of_tax(
    con: duckdb.DuckDBPyConnection, home: str, members: str
) -> None:
    con.execute("UPDATE core.listing SET market = 'de' WHERE market = 'kr'")
    con.execute("UPDATE core.setting SET value = ? WHERE setting = 'market'", [home])
    price_days.keep(con, CHANGED, None)
    apart = f"""SELECT gpu_id, day, min(low_usd / if(market = 'de', 1.19, 1)) FROM core.price_day
                WHERE market IN {members} GROUP BY ALL ORDER BY ALL"""
    daily = con.execute("SELECT gpu_id, day, low_usd::DOUBLE FROM mart.price_daily ORDER BY ALL").fetchall()
    assert daily == [(*card, pytest.approx(low, abs=0.01)) for *card, low in con.execute(apart).fetchall()] != []


def test_parts_of_a_large_history_add_up_and_keep_no_room(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction gives the room of a temporary table back at its end alone, so a table a part would hold all prices."""
    added = con.execute(ALL).fetchall()
    kept = {}
    for days in (3, 1):
        monkeypatch.setattr(price_days, "MANY", 0)
        monkeypatch.setattr(price_days, "PART_DAYS_OF_MANY", days)
        con.execute("BEGIN")
        price_days.keep(con, CHANGED, None)
        assert con.execute(ALL).fetchall() == added
        kept[days] = con.execute(
            "SELECT memory_usage_bytes + temporary_storage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"
        ).fetchall()
        con.execute("ROLLBACK")
    assert kept[3] == kept[1]


def test_a_night_leaves_the_days_before_it_alone(con: duckdb.DuckDBPyConnection) -> None:
    before = con.execute(ALL).fetchall()
    con.execute("UPDATE core.price_day SET low_usd = 1")
    bound = newest(con)
    assert price_days.keep(con, CHANGED, bound) == bound.day
    low = con.execute("SELECT DISTINCT low_usd = 1 FROM core.price_day WHERE day < ?", [bound.day]).fetchall()
    assert low == [(True,)]
    last = con.execute(f"FROM ({ALL}) WHERE day = ? ORDER BY ALL", [bound.day]).fetchall()
    # But for the mark that follows from their neighbours, which comes last.
    assert [row[:-1] for row in last] == [row[:-1] for row in before if row[1] == bound.day]
    assert any(row[-1] for row in last), "beside days at one dollar"
    suspect = con.execute("SELECT gpu_id, market FROM core.suspect_price").fetchall()
    assert sorted(suspect) == sorted((row[0], row[6]) for row in last if row[-1]), "what is suspect tonight"


def test_a_night_looks_again_at_the_two_weeks_before_it(con: duckdb.DuckDBPyConnection) -> None:
    """A low that no neighbour speaks against is suspect as soon as one does."""
    con.execute(
        "DELETE FROM core.price_day; INSERT INTO core.price_day BY NAME FROM (VALUES "
        "('card', DATE '2023-11-02', 100), ('card', DATE '2023-11-05', 100)) t(gpu_id, day, low_usd)"
    )
    con.execute("UPDATE core.price_day SET high_usd = low_usd, listings = 1, suspect = false")
    bound = newest(con)
    assert bound.day == date(2023, 11, 18)
    con.execute(
        "INSERT INTO core.price_day BY NAME SELECT 'card' AS gpu_id, DATE '2023-11-06' + i::INTEGER AS day, "
        "500 AS low_usd, 500 AS high_usd, 1 AS listings, false AS suspect FROM range(3) t(i)"
    )
    price_days.keep(con, CHANGED, replace(bound, day=bound.day))
    marks = dict(con.execute("SELECT day, suspect FROM core.price_day WHERE gpu_id = 'card'").fetchall())
    assert marks[date(2023, 11, 5)], "within the two weeks"
    assert not marks[date(2023, 11, 2)], "before them: it was looked at on its nights"


def test_a_day_of_another_title_is_of_the_card_that_it_meant(con: duckdb.DuckDBPyConnection) -> None:
    """A shop wrote another title for one night and took it back: that night's day is the other card's, and no other day."""
    days = [day for (day,) in con.execute("SELECT DISTINCT day FROM core.price_day ORDER BY day").fetchall()]
    row = con.execute(
        """SELECT l.listing_no, l.gpu_id, l.source FROM core.listing l
           JOIN core.price_day d ON d.gpu_id = l.gpu_id
           WHERE l.match_status = 'matched' AND d.listings = 1
               AND (SELECT count(*) FROM core.listing o WHERE o.gpu_id = l.gpu_id) = 1
           GROUP BY ALL HAVING count(*) = 3 ORDER BY ALL LIMIT 1"""
    ).fetchone()
    assert row is not None
    number, card, source = row
    seen = [
        at
        for (at,) in con.execute(
            "SELECT seen_at FROM core.source_night WHERE source = ? ORDER BY 1", [source]
        ).fetchall()
    ]
    assert [at.date() for at in seen] == days
    con.execute("DELETE FROM core.listing_history WHERE listing_no = ?", [number])
    for since, until, title, meant in zip(
        seen, [*seen[1:], None], ("", "another ", ""), (card, "other", card), strict=True
    ):
        con.execute(
            """INSERT INTO core.listing_history BY NAME
               SELECT listing_no, $title || title AS title, url, $meant AS gpu_id, gpu_count, match_status,
                   $since AS valid_from, $until AS valid_to FROM core.listing WHERE listing_no = $number""",
            {"title": title, "meant": meant, "since": since, "until": until, "number": number},
        )
    price_days.keep(con, CHANGED, None)
    of_card = "SELECT day FROM core.price_day WHERE gpu_id = ? ORDER BY day"
    assert con.execute(of_card, ["other"]).fetchall() == [(days[1],)]
    assert con.execute(of_card, [card]).fetchall() == [(days[0],), (days[2],)]


@pytest.mark.parametrize(
    "moved",
    [
        "UPDATE core.listing SET gpu_id = 'another' WHERE listing_no = (SELECT min(listing_no) FROM core.listing)",
        "UPDATE core.gpu SET msrp_usd = 1 WHERE gpu_id = 'nvidia-geforce-rtx-4090'",
        "UPDATE core.setting SET value = '9' WHERE setting = 'street_price_max_msrp_ratio'",
    ],
)
def test_what_old_days_rest_on_makes_all_of_them_anew(con: duckdb.DuckDBPyConnection, moved: str) -> None:
    con.execute(moved)
    assert price_days.keep(con, CHANGED, newest(con)) == date.min


def test_where_nothing_changed_nothing_is_computed(con: duckdb.DuckDBPyConnection) -> None:
    assert price_days.keep(con, ("core.model",), newest(con)) is None


def test_a_time_that_was_read_before_bounds_nothing(con: duckdb.DuckDBPyConnection) -> None:
    last = newest(con).known_before
    assert price_days.is_newest(con, last)
    assert not price_days.is_newest(con, last - timedelta(seconds=1))
