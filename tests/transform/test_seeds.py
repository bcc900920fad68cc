"""The tables that need no source, taxes and counted models among them: filled once, and again if their data changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.seeds import counted, markets, models
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.seeds.load import OfUser
from tests.support.empty import empty_warehouse

USER = OfUser({"market": ("us", None, "Home market")}, Assumptions())
DAY = date(2024, 1, 1)
#: Tables that hold their own rows, so that one that is made again shows it.
TOUCHED = ("core.gpu", "core.published_claim", "core.setting", "core.tax_rate")


def load(con: duckdb.DuckDBPyConnection, version: str = "v", user: OfUser = USER) -> list[str]:
    return seeds.load(con, Resolver.load, version, user, DAY)


def test_seeds_are_made_once_and_again_where_their_data_changed() -> None:
    with empty_warehouse() as con:
        filled = load(con)
        assert {*TOUCHED, "core.model", "core.gpu_speed", "core.workload", "core.market"} <= {*filled}
        for table in TOUCHED:
            con.execute(f"DELETE FROM {table}")
        # Nothing of the data changed, so no table is looked at.
        assert load(con) == []
        other = replace(USER, settings={"market": ("kr", None, "Home market")})
        assert load(con, user=other) == ["core.setting"]
        assert con.execute("SELECT value FROM core.setting").fetchall() == [("kr",)]
        third = replace(USER, settings={"market": ("de", None, "Home market")})
        assert load(con, user=third) == ["core.setting"]
        assert con.execute("SELECT value FROM core.setting").fetchall() == [("de",)], "in place of the row before"
        assert load(con, user=other) == ["core.setting"]
        # Another catalogue: cards, and the claims that are resolved to cards. The speeds are made again and are the same.
        assert load(con, "other", other) == ["core.gpu", "core.published_claim"]


def test_cards_have_the_figures_of_the_catalogue() -> None:
    with empty_warehouse() as con:
        load(con)
        card = "SELECT gpu, vendor, memory_gb, added_on FROM core.gpu WHERE gpu_id = 'nvidia-geforce-rtx-4090'"
        assert con.execute(card).fetchall() == [("NVIDIA GeForce RTX 4090", "NVIDIA", 24, None)]
        assert con.execute("SELECT count(*) FROM core.gpu WHERE gpu_id IS NULL OR gpu IS NULL").fetchone() == (0,)


def test_each_fingerprint_is_of_files_that_are_there() -> None:
    # The fingerprint of an empty folder never changes, so new data in another one would not be loaded.
    for folder in (seeds._SIZING, seeds._CLAIMS, seeds._SPEED):
        assert [*folder.glob("*.py")], folder


def test_the_rate_of_a_market_is_that_of_the_day() -> None:
    german = {day: one.tax_rate for day in (date(2020, 6, 30), date(2020, 7, 1), date(2020, 12, 31), date(2021, 1, 1))
              for one in markets.markets(day) if one.market == "de"}  # fmt: skip
    assert list(german.values()) == [Decimal("0.19"), Decimal("0.16"), Decimal("0.16"), Decimal("0.19")]
    assert {one.market for one in markets.tax_rates()} == {one.market for one in markets.markets(date(2026, 1, 1))} - {
        "eu"
    }


def test_one_rate_ends_where_the_next_begins_and_the_last_holds() -> None:
    rates = markets.tax_rates()
    for one, after in pairwise(rates):
        if one.market == after.market:
            assert one.taxed_from < (one.taxed_until or date.max) == after.taxed_from
            assert one.tax_rate != after.tax_rate
        else:
            assert one.taxed_until is None
    assert all(one.origin and 0 <= one.tax_rate < Decimal("0.3") for one in rates)


def test_before_the_first_rate_none_is_known() -> None:
    ((american,),) = [[one for one in markets.markets(date(2023, 11, 16)) if one.market == "us"]]
    assert american.tax_rate is None
    assert american.prices_include_tax is False


def test_the_file_is_up_to_date() -> None:
    assert counted.is_fresh(), "run `make generated`"


def test_the_file_gives_what_counting_gives() -> None:
    assert counted.rows() == models.rows()


def test_a_stale_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "counted.json"
    stale.write_text('{"version": "another", "tables": {}}', encoding="utf-8")
    monkeypatch.setattr(counted, "FILE", stale)
    anew = models.no_rows()
    monkeypatch.setattr(models, "rows", lambda: anew)
    assert counted.rows() is anew
