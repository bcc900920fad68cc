"""A model may be a table macro: a question with a parameter, in the published file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform.build import graph
from gpuledger.transform.build import run as build
from tests.support.empty import empty_warehouse


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_warehouse() as con:
        con.execute("INSERT INTO core.workload BY NAME SELECT unnest(['a', 'b']) AS workload_id, 'it/s' AS unit")
        build.refresh_contents(con, ())
        yield con


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A macro on a loaded table, and a table that is made by calling it."""
    mart = tmp_path / "mart"
    for table in ("the_one", "asked"):
        (mart / table).mkdir(parents=True)
    (mart / "the_one" / "query.sql").write_text(
        "SELECT workload_id, unit FROM core.workload WHERE workload_id = wanted"
    )
    (mart / "the_one" / "table.toml").write_text(
        'description = "One row: the workload asked for"\nmaterialized = "macro"\nkey = []\n'
        '[parameters]\nwanted = { meaning = "Workload", default = "\'a\'" }\n'
    )
    (mart / "asked" / "query.sql").write_text("SELECT workload_id FROM mart.the_one(wanted := 'b')")
    (mart / "asked" / "table.toml").write_text('description = "One row: b"\nkey = ["workload_id"]\n')
    return tmp_path


def _build(con: duckdb.DuckDBPyConnection, folder: Path, run_id: str) -> dict[str, str]:
    return {step.model: step.action for step in build.build(con, graph.load(con, folder), run_id)}


def test_macro_answers_its_parameter_and_its_default(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    _build(con, folder, "1")
    assert con.execute("FROM mart.the_one('b')").fetchall() == [("b", "it/s")]
    assert con.execute("FROM mart.the_one()").fetchall() == [("a", "it/s")]


def test_macro_is_built_before_the_model_that_calls_it(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    assert list(_build(con, folder, "1")) == ["mart.the_one", "mart.asked"]
    assert con.execute("FROM mart.asked").fetchall() == [("b",)]


def test_macro_carries_its_parameters_as_its_comment(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    _build(con, folder, "1")
    comment = con.execute("SELECT comment FROM duckdb_functions() WHERE function_name = 'the_one'").fetchone()
    assert comment == ("One row: the workload asked for. Parameters: wanted: Workload",)


def test_macro_is_kept_while_its_caller_follows_the_data(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    _build(con, folder, "1")
    assert _build(con, folder, "2") == {"mart.the_one": "kept", "mart.asked": "kept"}
    con.execute("INSERT INTO core.workload BY NAME SELECT 'c' AS workload_id")
    build.refresh_contents(con, ["core.workload"])
    assert _build(con, folder, "3") == {"mart.the_one": "kept", "mart.asked": "rebuilt"}


def test_macro_is_created_anew_where_its_text_changed(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    _build(con, folder, "1")
    (folder / "mart" / "the_one" / "query.sql").write_text(
        "SELECT workload_id, unit FROM core.workload WHERE workload_id <> wanted"
    )
    assert _build(con, folder, "2") == {"mart.the_one": "rebuilt", "mart.asked": "rebuilt"}
    assert con.execute("FROM mart.the_one('b')").fetchall() == [("a", "it/s")]


def test_macro_that_reads_an_unknown_column_fails_when_it_is_built(
    con: duckdb.DuckDBPyConnection, folder: Path
) -> None:
    (folder / "mart" / "the_one" / "query.sql").write_text(
        "SELECT no_such FROM core.workload WHERE workload_id = wanted"
    )
    with pytest.raises(duckdb.BinderException, match="no_such"):
        _build(con, folder, "1")


def test_macro_without_parameters_is_refused(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    (folder / "mart" / "the_one" / "table.toml").write_text('description = "x"\nmaterialized = "macro"\nkey = []\n')
    with pytest.raises(ValueError, match=r"the_one/table\.toml: a macro or function, and nothing else, has parameters"):
        graph.load(con, folder)
