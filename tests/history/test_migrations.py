"""An old file opens, keeps its rows and is built on; a newer one is refused by name, and stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gpuledger import __version__
from gpuledger.warehouse import migrate
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse
from tests.command import gpuledger, rows, tables
from tests.flows.inprocess import refresh
from tests.history.files import edit, of_a_newer_duckdb
from tests.nights import Night

#: A program that did not know of GTINs, held prices and schema versions yet, and kept all prices in one table. No shop of
#: the sample prints a GTIN.
OLD = (
    """CREATE TABLE core.one AS
       SELECT l.listing_id, s.* EXCLUDE (listing_no), NULL::DECIMAL(18,4) AS price_usd, NULL::DATE AS fx_day,
           valid_from AS loaded_at
       FROM core.price_span s JOIN core.listing l USING (listing_no)""",
    "DROP TABLE core.price_span",
    "ALTER TABLE core.one RENAME TO price_span",
    "DROP TABLE core.price_open",
    "DROP TABLE core.price_day",
    "DROP TABLE core.listing_history",
    "DELETE FROM ops.table_content WHERE table_id = 'price_day:settled'",
    "CREATE OR REPLACE TABLE core.listing AS SELECT * EXCLUDE (gtin, listing_no) FROM core.listing",
    "DROP TABLE core.held_price",
    "DROP TABLE ops.schema_version",
    "CREATE TABLE mart.retired AS SELECT 1 AS figure",
    "INSERT INTO ops.model_state VALUES ('mart.retired', '', '{}', '', '', 1)",
)


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(tmp_path / "some.duckdb")) as connection:
        migrate.bring_up(connection, "first", "some")
        yield connection


def test_an_old_file_takes_the_next_night_as_a_new_one_does(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    edit(data, *OLD)
    refresh(data, 2)
    before, after = tables(nights[2].data), tables(data)
    assert before.keys() == after.keys(), "what is no longer built is gone"
    for table, held in before.items():
        assert after[table] == held, table
    columns = "SELECT column_name, column_type FROM (DESCRIBE core.listing)"
    assert rows(data, columns) == rows(nights[2].data, columns)
    comments = "SELECT comment FROM duckdb_columns() WHERE table_name = 'listing' ORDER BY column_index"
    assert rows(data, comments) == rows(nights[2].data, comments)
    assert rows(data, "SELECT version, program FROM ops.schema_version") == [(migrate.current(), __version__)]


def test_reading_an_old_file_says_what_to_do_and_rebuild_does_it(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    edit(data, *OLD, "DROP TABLE mart.value", "DROP TABLE core.aged_out")
    for words in (("value", "sd-512-image-generation"), ("buy", "--model", "llama-2-7b")):
        outcome = gpuledger(*words, data=data)
        assert (outcome.status, outcome.out) == (1, "")
        assert "written by gpuledger before 0.1 and lacks what this one reads" in outcome.err
        assert "gpuledger rebuild" in outcome.err
    assert gpuledger("rebuild", data=data).status == 0
    assert gpuledger("value", "sd-512-image-generation", data=data).status == 0
    assert tables(data) == tables(nights[1].data)


def test_a_file_from_before_the_shared_views_answers_and_rebuild_gives_it_them(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    views = ("ops.last_run", "core.held", "core.best_offer")
    edit(data, *(f"DROP VIEW {view}" for view in views), f"DELETE FROM ops.model_state WHERE model IN {views}")
    for words in (["value", "sd-512-image-generation"], ["release"], ["buy", "--model", "llama-2-7b"], ["status"]):
        answer = gpuledger(*words, data=data)
        assert (answer.status, answer.out) == (0, gpuledger(*words, data=nights[1].data).out), answer.err
    assert gpuledger("rebuild", data=data).status == 0
    assert rows(data, "SELECT sample_night FROM ops.last_run") == [(1,)]
    assert tables(data) == tables(nights[1].data)


@pytest.mark.parametrize(
    ("statement", "seen"),
    [
        (
            "INSERT INTO ops.schema_version VALUES ('x', 99, '', '7.8.9')",
            "has schema version 99, written by gpuledger 7.8.9",
        ),
        (
            "ALTER TABLE core.listing ADD COLUMN warranty_years INTEGER",
            r"has the column core\.listing\.warranty_years, written by gpuledger 7\.8\.9",
        ),
        ("CREATE TABLE core.warranty (years INTEGER)", r"has the table core\.warranty, written by gpuledger 7\.8\.9"),
    ],
)
def test_a_newer_file_is_refused_with_both_versions(
    nights: dict[int, Night], tmp_path: Path, statement: str, seen: str
) -> None:
    data = nights[1].copy(tmp_path / "data")
    newer = f"INSERT INTO ops.schema_version VALUES ('y', {migrate.current()}, 'other', '7.8.9')"
    edit(data, newer, statement)
    before = (data / "state" / "base.duckdb").read_bytes(), (data / "gpuledger.duckdb").resolve()
    with pytest.raises(NewerWarehouse, match=rf"{seen}.*this is gpuledger 0\.1\.0.*update gpuledger"):
        refresh(data, 2, only=("ecb_fx",))
    assert before == ((data / "state" / "base.duckdb").read_bytes(), (data / "gpuledger.duckdb").resolve())
    if "99" in statement:
        outcome = gpuledger("status", data=data)
        assert outcome.status == 1
        assert seen in outcome.err
        assert "Traceback" not in outcome.err


def test_a_file_of_a_newer_duckdb_is_refused_with_both_versions(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    of_a_newer_duckdb(data)
    with pytest.raises(
        NewerWarehouse, match=rf"newer DuckDB, and this is DuckDB {duckdb.__version__} .*version number 10"
    ):
        refresh(data, 2, only=("ecb_fx",))
    with pytest.raises(NewerWarehouse, match="update gpuledger and its DuckDB"):
        rows(data, "SELECT 1")


def test_scripts_run_once_in_order_and_all_or_nothing(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0003_rename.sql").write_text("ALTER TABLE core.listing RENAME COLUMN ean TO gtin;")
    (folder / "0004_fill.sql").write_text("UPDATE core.listing SET gtin = gtin || '!';")
    con.execute("ALTER TABLE core.listing RENAME COLUMN gtin TO ean")
    con.execute("INSERT INTO core.listing (listing_id, ean) VALUES ('a:1', '42')")
    (folder / "0005_wrong.sql").write_text("UPDATE core.nowhere SET x = 1;")
    with pytest.raises(duckdb.CatalogException):
        migrate.bring_up(con, "second", "some", folder)
    assert con.execute("SELECT ean FROM core.listing").fetchall() == [("42",)]
    (folder / "0005_wrong.sql").unlink()
    assert migrate.bring_up(con, "third", "some", folder)[:2] == ["0003_rename: done", "0004_fill: done"]
    assert migrate.bring_up(con, "fourth", "some", folder) == []
    assert con.execute("SELECT gtin FROM core.listing").fetchall() == [("42!",)]
    assert con.execute("SELECT version FROM ops.schema_version ORDER BY rowid").fetchall() == [(2,), (4,)]
    with pytest.raises(NewerWarehouse, match=r"schema version 4.*knows up to 2"):
        migrate.refuse_newer(migrate.written(con), "some")


def test_a_type_that_no_script_changes_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("ALTER TABLE core.listing ALTER COLUMN gpu_count TYPE VARCHAR")
    con.execute("UPDATE ops.schema_version SET definition = 'other'")
    with pytest.raises(NotAWarehouse, match=r"core\.listing\.gpu_count is VARCHAR and should be INTEGER.*replay"):
        migrate.bring_up(con, "second", "some")


def test_columns_out_of_order_are_put_in_order_with_their_rows(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO core.source_freshness VALUES ('shop', true)")
    con.execute("CREATE OR REPLACE TABLE core.source_freshness AS SELECT is_usable, source FROM core.source_freshness")
    con.execute("UPDATE ops.schema_version SET definition = 'other'")
    assert "core.source_freshness: columns put in order" in migrate.bring_up(con, "second", "some")
    assert con.execute("FROM core.source_freshness").fetchall() == [("shop", True)]


def test_every_script_of_the_program_is_named_as_it_should_be(tmp_path: Path) -> None:
    assert migrate.current() >= migrate.FIRST
    assert "ops.schema_version" in dictionary().tables
    (tmp_path / "0001_first.sql").touch()
    with pytest.raises(ValueError, match="0001_first"):
        migrate.scripts(tmp_path)
