"""Order and inputs of the models are found from the SQL itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform.build import graph
from gpuledger.warehouse import ledger
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.references import references
from tests.nights import Night

Write = Callable[..., None]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write("mart.a", "SELECT …")` puts a model and its sidecar into the test's folder."""

    def put(
        name: str, text: str, sidecar: str = 'description = "One row per x"\nkey = ["x"]\n', file: str = "query.sql"
    ) -> None:
        schema, _, table = name.partition(".")
        folder = tmp_path / schema / table
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.toml").write_text(sidecar, encoding="utf-8")
        (folder / file).write_text(text, encoding="utf-8")

    return put


def test_a_model_comes_after_what_it_reads_whatever_its_name(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT x FROM mart.b JOIN core.z USING (x)")
    write("mart.b", "SELECT x FROM (SELECT x FROM mart.c) WHERE x IN (SELECT x FROM core.gpu)")
    write("mart.c", "WITH a AS (SELECT x FROM core.z) SELECT x FROM a")
    write("core.z", "SELECT 1 AS x")
    models = graph.load(con, tmp_path)
    assert [model.name for model in models] == ["core.z", "mart.c", "mart.b", "mart.a"]
    assert {model.name: sorted(model.inputs) for model in models} == {
        "core.z": [],
        "mart.c": ["core.z"],
        "mart.b": ["core.gpu", "mart.c"],
        "mart.a": ["core.z", "mart.b"],
    }


def test_two_models_that_read_each_other_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT x FROM mart.b")
    write("mart.b", "SELECT x FROM mart.a")
    with pytest.raises(ValueError, match=r"cycle") as caught:
        graph.load(con, tmp_path)
    assert "mart.a" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT FROM WHERE", "syntax error"),
        ("SELECT 1; SELECT 2", "this is 2 statements"),
        ("CREATE TABLE x (a INTEGER)", "SELECT"),
        ("", "this is 0 statements"),
    ],
)
def test_what_is_not_one_select_names_its_file(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write, text: str, words: str
) -> None:
    write("mart.a", text)
    with pytest.raises(ValueError, match=r"mart/a/query\.sql: ") as caught:
        graph.load(con, tmp_path)
    assert words in str(caught.value)


def test_a_sidecar_needs_one_definition(con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write) -> None:
    write("mart.a", "SELECT 1 AS x")
    (tmp_path / "mart" / "a" / "model.py").touch()
    with pytest.raises(ValueError, match=r"a/table\.toml: needs exactly one of query\.sql and model\.py"):
        graph.load(con, tmp_path)
    for name in ("model.py", "query.sql"):
        (tmp_path / "mart" / "a" / name).unlink()
    with pytest.raises(ValueError, match=r"needs exactly one of"):
        graph.load(con, tmp_path)


def test_the_version_is_of_the_definition_and_its_sidecar(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT 1 AS x")
    versions = [graph.load(con, tmp_path)[0].version]
    write("mart.a", "SELECT 2 AS x")
    versions.append(graph.load(con, tmp_path)[0].version)
    write("mart.a", "SELECT 2 AS x", 'description = "One row per y"\nkey = ["x"]\n')
    versions.append(graph.load(con, tmp_path)[0].version)
    write("mart.a", "SELECT 2 AS x", 'description = "One row per y"\nkey = ["x"]\n')
    versions.append(graph.load(con, tmp_path)[0].version)
    assert len(set(versions)) == 3
    assert versions[2] == versions[3]


# ── what a SELECT reads ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("select", "tables", "names"),
    [
        ("SELECT a FROM core.x", {"core.x"}, {"a"}),
        ("SELECT x.a AS b FROM core.x x WHERE x.c > 1 ORDER BY x.d", {"core.x"}, {"a", "c", "d"}),
        ("SELECT a FROM core.x JOIN core.y USING (k)", {"core.x", "core.y"}, {"a", "k"}),
        ("SELECT 1 WHERE EXISTS (SELECT 1 FROM core.x WHERE a = 1)", {"core.x"}, {"a"}),
        ("SELECT a FROM core.x UNION ALL SELECT b FROM core.y", {"core.x", "core.y"}, {"a", "b"}),
        ("WITH x AS (SELECT a FROM core.y) SELECT a FROM x", {"core.y"}, {"a"}),
        ("SELECT sum(a) FILTER (b) OVER (PARTITION BY c ORDER BY d) FROM core.x", {"core.x"}, {"a", "b", "c", "d"}),
        ("SELECT a FROM core.x QUALIFY row_number() OVER (ORDER BY b) = 1", {"core.x"}, {"a", "b"}),
        ("SELECT a, count(*) FROM core.x GROUP BY a HAVING max(b) > 1", {"core.x"}, {"a", "b"}),
        ("SELECT CASE WHEN a THEN b ELSE c END FROM core.x", {"core.x"}, {"a", "b", "c"}),
        ("SELECT a FROM core.x ASOF JOIN core.y ON core.x.t >= core.y.t", {"core.x", "core.y"}, {"a", "t"}),
        (
            "SELECT a FROM core.x, LATERAL (SELECT b FROM core.y WHERE core.y.k = core.x.k)",
            {"core.x", "core.y"},
            {"a", "b", "k"},
        ),
    ],
)
def test_tables_and_columns_of_a_select(
    con: duckdb.DuckDBPyConnection, select: str, tables: set[str], names: set[str]
) -> None:
    found = references(con, select)
    # Functions are listed with the tables: a macro of ours is read like one.
    assert {table for table in found.tables if table.startswith("core.")} == tables
    assert names <= found.names
    assert not found.has_star


@pytest.mark.parametrize(
    "select", ["SELECT * FROM core.x", "SELECT x.* FROM core.x", "SELECT COLUMNS('a.*') FROM core.x", "FROM core.x"]
)
def test_a_star_may_read_every_column(con: duckdb.DuckDBPyConnection, select: str) -> None:
    assert references(con, select).has_star


def test_counting_rows_reads_no_column(con: duckdb.DuckDBPyConnection) -> None:
    assert not references(con, "SELECT count(*) FROM core.x").has_star


# ── the project's own models ──────────────────────────────────────────────────────────────────────────────────────────


def test_every_table_that_a_model_reads_exists(nights: dict[int, Night]) -> None:
    path = (nights[1].data / "gpuledger.duckdb").resolve()
    with duckdb.connect(str(path), read_only=True) as con:
        models = graph.load(con)
        known = {*dictionary().tables, *(model.name for model in models)}
        own = {
            name
            for (name,) in con.execute(
                "SELECT DISTINCT schema_name || '.' || function_name FROM duckdb_functions()"
            ).fetchall()
        }
        built_in = {
            "main." + name
            for (name,) in con.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal"
            ).fetchall()
        }
    for model in models:
        for name in model.inputs:
            assert name in known | own | built_in, f"{model.name} reads {name}"


def test_printed_claims_are_read_by_the_audit_alone() -> None:
    with duckdb.connect() as con:
        readers = [model.name for model in graph.load(con) if "core.published_claim" in model.inputs]
    assert readers == ["mart.claim_audit"]


def test_nothing_reads_the_audit() -> None:
    with duckdb.connect() as con:
        assert not [model.name for model in graph.load(con) if "mart.claim_audit" in model.inputs]


def test_a_question_of_a_past_day_is_the_same_sql_with_other_relations(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    side = 'description = "One row per x"\nkey = ["x"]\n[columns]\nx = "An x"\n[as_of]\n'
    write("mart.a", "SELECT x FROM mart.b WHERE valid_to IS NULL", side + '"mart.b" = "b_as_of(as_of_day)"\n'
          '"valid_to IS NULL" = "valid_to >= as_of_day"\n')  # fmt: skip
    write("mart.b", "SELECT x, valid_to FROM core.z", side + '"core.z" = "(FROM core.z WHERE x < as_of_day)"\n')
    write("core.z", "SELECT 1 AS x, NULL AS valid_to")
    models = {model.name: model for model in graph.load(con, tmp_path)}
    then = models["main.a_as_of"]
    assert then.sql == "SELECT x FROM b_as_of(as_of_day) WHERE valid_to >= as_of_day"
    assert (then.materialized, list(then.parameters), then.columns) == ("macro", ["as_of_day"], {"x": "An x"})
    assert "main.b_as_of" in then.inputs
    assert models["main.b_as_of"].sql == "SELECT x, valid_to FROM (FROM core.z WHERE x < as_of_day)"
    assert models["mart.a"].sql == "SELECT x FROM mart.b WHERE valid_to IS NULL"


def test_a_past_day_of_what_the_sql_does_not_read_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    side = 'description = "One row per x"\nkey = ["x"]\n[as_of]\n"mart.bee" = "b_as_of(as_of_day)"\n'
    write("mart.a", "SELECT x FROM mart.b", side)
    with pytest.raises(ValueError, match=r"a/table\.toml.*'mart\.bee'.*does not have"):
        graph.load(con, tmp_path)


def test_a_published_run_is_the_same_to_python_and_to_the_view_that_readers_ask() -> None:
    text = (graph.folder_of("ops.last_run") / "query.sql").read_text(encoding="utf-8")
    assert f"\nWHERE {ledger.IS_PUBLISHED}\n" in text
