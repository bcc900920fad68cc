"""The tables that need no source are filled once, and again only when their data changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import duckdb

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
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
