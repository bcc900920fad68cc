"""The graph of models is read from their folders, and a model is built when what it reads has changed, and only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.transform.build import graph
from gpuledger.transform.build import run as builder
from gpuledger.transform.build.graph import Model
from gpuledger.transform.build.run import Build
from gpuledger.warehouse import ledger
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.references import references
from tests.nights import Night
from tests.support.empty import empty_warehouse


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_warehouse() as connection:
        connection.execute(
            "INSERT INTO core.gpu (gpu_id, vendor, memory_gb, msrp_usd) VALUES ('a', 'v', 8, 100), ('b', 'v', 12, 200)"
        )
        yield connection


SIDE = 'description = "One row per GPU"\nkey = ["gpu_id"]\n[columns]\n"*price" = "A price"\nn = "Rows"\n'


@pytest.fixture
def models(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> list[Model]:
    """base reads a column of core.gpu, rounded reads base, counted reads rounded, beside reads another column."""
    texts = {
        "base": ("SELECT gpu_id, msrp_usd AS first_price FROM core.gpu", SIDE),
        "rounded": ("SELECT gpu_id, round(first_price, -1) AS round_price FROM mart.base", SIDE),
        "counted": ("SELECT max(round_price) AS n FROM mart.rounded", SIDE),
        "beside": ("SELECT gpu_id, memory_gb FROM core.gpu", SIDE),
        "seen": ("SELECT gpu_id FROM mart.rounded", 'materialized = "view"\n' + SIDE),
    }
    for name, (sql, side) in texts.items():
        (tmp_path / "mart" / name).mkdir(parents=True)
        (tmp_path / "mart" / name / "query.sql").write_text(sql)
        (tmp_path / "mart" / name / "table.toml").write_text(side)
    return graph.load(con, tmp_path)


def run(
    con: duckdb.DuckDBPyConnection, models: list[Model], run_id: str, *changed: str, **how: Any
) -> dict[str, Build]:
    builder.refresh_contents(con, set(changed))
    return {step.model.partition(".")[2]: step for step in builder.build(con, models, run_id, **how)}


def rebuilt(steps: dict[str, Build]) -> set[str]:
    return {name for name, step in steps.items() if step.action == "rebuilt"}


def test_the_first_build_builds_all_and_the_second_nothing(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    first = run(con, models, "1")
    assert rebuilt(first) == {"base", "rounded", "counted", "beside", "seen"}
    assert {step.reason for step in first.values()} == {"first build"}
    second = run(con, models, "2")
    assert rebuilt(second) == set()
    assert {step.reason for step in second.values()} <= {"no input changed", "a view follows its inputs"}
    assert {name: step.content for name, step in first.items()} == {name: step.content for name, step in second.items()}


def test_a_change_reaches_what_depends_on_its_column(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    con.execute("UPDATE core.gpu SET msrp_usd = 350 WHERE gpu_id = 'a'")
    steps = run(con, models, "2", "core.gpu")
    assert rebuilt(steps) == {"base", "rounded", "counted"}
    assert steps["base"].reason == "core.gpu changed"
    assert steps["rounded"].reason == "mart.base changed"
    assert steps["beside"].reason == "no input changed", "it reads another column"
    assert con.execute("SELECT round_price FROM mart.rounded ORDER BY 1").fetchall() == [(200,), (350,)]


def test_the_work_stops_where_a_table_comes_out_the_same(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    con.execute("UPDATE core.gpu SET msrp_usd = 101 WHERE gpu_id = 'a'")
    steps = run(con, models, "2", "core.gpu")
    assert rebuilt(steps) == {"base", "rounded"}
    assert steps["rounded"].reason == "mart.base changed; its rows came out the same, so nothing is rebuilt for it"
    assert steps["counted"].reason == "no input changed"


def test_what_only_counts_rows_reads_no_column(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    models = [
        replace(m, sql="SELECT count(*) AS n FROM mart.rounded", inputs={"mart.rounded": frozenset()})
        if m.name == "mart.counted"
        else m
        for m in models
    ]
    run(con, models, "1")
    con.execute("UPDATE core.gpu SET msrp_usd = 350 WHERE gpu_id = 'a'")
    assert rebuilt(run(con, models, "2", "core.gpu")) == {"base", "rounded"}
    con.execute("DELETE FROM core.gpu WHERE gpu_id = 'a'")
    assert "counted" in rebuilt(run(con, models, "3", "core.gpu"))


def test_a_change_that_nobody_announced_is_not_looked_for(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    """The loader says what it changed: hashing every table on every night would cost more than most rebuilds."""
    run(con, models, "1")
    con.execute("UPDATE core.gpu SET msrp_usd = 350")
    assert rebuilt(run(con, models, "2")) == set()
    assert "base" in rebuilt(run(con, models, "3", "core.gpu"))


def test_rows_in_another_order_are_the_same_rows(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    con.execute("CREATE TEMP TABLE held AS FROM core.gpu; DELETE FROM core.gpu")
    con.execute("INSERT INTO core.gpu SELECT * FROM held ORDER BY gpu_id DESC")
    assert rebuilt(run(con, models, "2", "core.gpu")) == set()


def test_a_changed_definition_is_built(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    sql = "SELECT gpu_id, first_price + 1 AS round_price FROM mart.base"
    changed = [replace(m, sql=sql, text=sql) if m.name == "mart.rounded" else m for m in models]
    steps = run(con, changed, "2")
    assert rebuilt(steps) == {"rounded", "counted"}
    assert steps["rounded"].reason == "its definition changed"


def test_a_full_build_builds_all_and_says_that_it_was_asked(
    con: duckdb.DuckDBPyConnection, models: list[Model]
) -> None:
    run(con, models, "1")
    steps = run(con, models, "2", force=True)
    assert rebuilt(steps) == set(steps)
    assert steps["base"].reason.startswith("a full build was asked for; its rows came out the same")


def test_a_view_is_not_made_again_and_shows_the_new_rows(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    con.execute("INSERT INTO core.gpu (gpu_id, msrp_usd) VALUES ('c', 990)")
    steps = run(con, models, "2", "core.gpu")
    assert steps["seen"].action == "kept"
    assert steps["seen"].reason == "a view follows its inputs"
    assert con.execute("SELECT count(*) FROM mart.seen").fetchone() == (3,)


def test_what_reads_a_view_is_built_when_the_views_inputs_change(
    con: duckdb.DuckDBPyConnection, models: list[Model], tmp_path: Path
) -> None:
    (tmp_path / "mart" / "last").mkdir()
    (tmp_path / "mart" / "last" / "query.sql").write_text("SELECT count(*) AS n FROM mart.seen")
    (tmp_path / "mart" / "last" / "table.toml").write_text(SIDE)
    models = graph.load(con, tmp_path)
    run(con, models, "1")
    con.execute("INSERT INTO core.gpu (gpu_id, msrp_usd) VALUES ('c', 990)")
    assert "last" in rebuilt(run(con, models, "2", "core.gpu"))
    assert con.execute("SELECT n FROM mart.last").fetchone() == (3,)


def test_every_step_is_on_record(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    for run_id in ("1", "2"):
        steps = run(con, models, run_id)
        found = con.execute(
            "SELECT model, action, reason, rows FROM ops.model_build WHERE run_id = ? ORDER BY model", [run_id]
        ).fetchall()
        assert found == sorted((f"mart.{name}", step.action, step.reason, step.rows) for name, step in steps.items())
    assert con.execute("SELECT count(*) FROM ops.model_state").fetchone() == (len(models),)
    ((least, most),) = con.execute("SELECT min(seconds), max(seconds) FROM ops.model_build").fetchall()
    assert 0 <= least <= most < 60


def test_what_an_earlier_program_built_is_dropped_and_nothing_of_others(
    con: duckdb.DuckDBPyConnection, models: list[Model]
) -> None:
    run(con, models, "1")
    con.execute(
        """CREATE TABLE mart.old_table AS SELECT 1; CREATE VIEW mart.old_view AS SELECT 1;
           CREATE TABLE mart.somebodys AS SELECT 1; CREATE MACRO core.old_function(a) AS a + 1;
           CREATE MACRO main.old_macro(a) AS TABLE SELECT a"""
    )
    for name in ("mart.old_table", "mart.old_view", "core.old_function", "main.old_macro"):
        con.execute("INSERT INTO ops.model_state VALUES (?, '', '{}', '', '', 1)", [name])
    builder.drop_retired(con, models)
    left = con.execute(
        """SELECT table_name FROM information_schema.tables WHERE table_schema = 'mart'
           UNION ALL SELECT function_name FROM duckdb_functions() WHERE function_name LIKE 'old_%' ORDER BY 1"""
    ).fetchall()
    assert [name for (name,) in left] == sorted(["somebodys", *(model.name.partition(".")[2] for model in models)])


def test_a_failed_build_leaves_nothing_when_it_is_rolled_back(
    con: duckdb.DuckDBPyConnection, models: list[Model]
) -> None:
    run(con, models, "1")
    con.execute("BEGIN; UPDATE core.gpu SET msrp_usd = 350")
    broken = [
        replace(m, sql="SELECT no_such_column FROM mart.base", text="x") if m.name == "mart.rounded" else m
        for m in models
    ]
    with pytest.raises(duckdb.BinderException):
        run(con, broken, "2", "core.gpu")
    con.execute("ROLLBACK")
    assert con.execute("SELECT max(first_price) FROM mart.base").fetchone() == (200,)
    assert rebuilt(run(con, models, "3")) == set()


def test_tables_and_columns_carry_their_words(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    run(con, models, "1")
    run(con, models, "2", force=True)
    (table,) = con.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'rounded'").fetchall()
    assert table == ("One row per GPU",)
    columns = dict(
        con.execute("SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'rounded'").fetchall()
    )
    assert columns["round_price"] == "A price", "by the pattern of the sidecar"
    assert columns["gpu_id"], "by the dictionary"
    assert con.execute("SELECT comment FROM duckdb_views() WHERE view_name = 'seen'").fetchall() == [
        ("One row per GPU",)
    ]


def test_a_column_without_words_is_refused(con: duckdb.DuckDBPyConnection, models: list[Model]) -> None:
    sql = "SELECT gpu_id, 1 AS mystery FROM mart.base"
    changed = [replace(m, sql=sql, text=sql) if m.name == "mart.rounded" else m for m in models]
    with pytest.raises(KeyError, match=r"column mystery of mart\.rounded is described neither"):
        run(con, changed, "1")


Write = Callable[..., None]


@pytest.fixture
def bare() -> Iterator[duckdb.DuckDBPyConnection]:
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
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT x FROM mart.b JOIN core.z USING (x)")
    write("mart.b", "SELECT x FROM (SELECT x FROM mart.c) WHERE x IN (SELECT x FROM core.gpu)")
    write("mart.c", "WITH a AS (SELECT x FROM core.z) SELECT x FROM a")
    write("core.z", "SELECT 1 AS x")
    models = graph.load(bare, tmp_path)
    assert [model.name for model in models] == ["core.z", "mart.c", "mart.b", "mart.a"]
    assert {model.name: sorted(model.inputs) for model in models} == {
        "core.z": [],
        "mart.c": ["core.z"],
        "mart.b": ["core.gpu", "mart.c"],
        "mart.a": ["core.z", "mart.b"],
    }


def test_two_models_that_read_each_other_are_refused(
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT x FROM mart.b")
    write("mart.b", "SELECT x FROM mart.a")
    with pytest.raises(ValueError, match=r"cycle") as caught:
        graph.load(bare, tmp_path)
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
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write, text: str, words: str
) -> None:
    write("mart.a", text)
    with pytest.raises(ValueError, match=r"mart/a/query\.sql: ") as caught:
        graph.load(bare, tmp_path)
    assert words in str(caught.value)


def test_a_sidecar_needs_one_definition(bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write) -> None:
    write("mart.a", "SELECT 1 AS x")
    (tmp_path / "mart" / "a" / "model.py").touch()
    with pytest.raises(ValueError, match=r"a/table\.toml: needs exactly one of query\.sql and model\.py"):
        graph.load(bare, tmp_path)
    for name in ("model.py", "query.sql"):
        (tmp_path / "mart" / "a" / name).unlink()
    with pytest.raises(ValueError, match=r"needs exactly one of"):
        graph.load(bare, tmp_path)


def test_the_version_is_of_the_definition_and_its_sidecar(
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    write("mart.a", "SELECT 1 AS x")
    versions = [graph.load(bare, tmp_path)[0].version]
    write("mart.a", "SELECT 2 AS x")
    versions.append(graph.load(bare, tmp_path)[0].version)
    write("mart.a", "SELECT 2 AS x", 'description = "One row per y"\nkey = ["x"]\n')
    versions.append(graph.load(bare, tmp_path)[0].version)
    write("mart.a", "SELECT 2 AS x", 'description = "One row per y"\nkey = ["x"]\n')
    versions.append(graph.load(bare, tmp_path)[0].version)
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
    bare: duckdb.DuckDBPyConnection, select: str, tables: set[str], names: set[str]
) -> None:
    found = references(bare, select)
    # Functions are listed with the tables: a macro of ours is read like one.
    assert {table for table in found.tables if table.startswith("core.")} == tables
    assert names <= found.names
    assert not found.has_star


@pytest.mark.parametrize(
    "select", ["SELECT * FROM core.x", "SELECT x.* FROM core.x", "SELECT COLUMNS('a.*') FROM core.x", "FROM core.x"]
)
def test_a_star_may_read_every_column(bare: duckdb.DuckDBPyConnection, select: str) -> None:
    assert references(bare, select).has_star


def test_counting_rows_reads_no_column(bare: duckdb.DuckDBPyConnection) -> None:
    assert not references(bare, "SELECT count(*) FROM core.x").has_star


# ── the project's own models ──────────────────────────────────────────────────────────────────────────────────────────


def test_every_table_that_a_model_reads_exists(nights: dict[int, Night]) -> None:
    path = (nights[1].data / "gpuledger.duckdb").resolve()
    with duckdb.connect(str(path), read_only=True) as bare:
        models = graph.load(bare)
        known = {*dictionary().tables, *(model.name for model in models)}
        own = {
            name
            for (name,) in bare.execute(
                "SELECT DISTINCT schema_name || '.' || function_name FROM duckdb_functions()"
            ).fetchall()
        }
        built_in = {
            "main." + name
            for (name,) in bare.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal"
            ).fetchall()
        }
    for model in models:
        for name in model.inputs:
            assert name in known | own | built_in, f"{model.name} reads {name}"


def test_printed_claims_are_read_by_the_audit_alone() -> None:
    with duckdb.connect() as bare:
        readers = [model.name for model in graph.load(bare) if "core.published_claim" in model.inputs]
    assert readers == ["mart.claim_audit"]


def test_nothing_reads_the_audit() -> None:
    with duckdb.connect() as bare:
        assert not [model.name for model in graph.load(bare) if "mart.claim_audit" in model.inputs]


def test_a_question_of_a_past_day_is_the_same_sql_with_other_relations(
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    side = 'description = "One row per x"\nkey = ["x"]\n[columns]\nx = "An x"\n[as_of]\n'
    write("mart.a", "SELECT x FROM mart.b WHERE valid_to IS NULL", side + '"mart.b" = "b_as_of(as_of_day)"\n'
          '"valid_to IS NULL" = "valid_to >= as_of_day"\n')  # fmt: skip
    write("mart.b", "SELECT x, valid_to FROM core.z", side + '"core.z" = "(FROM core.z WHERE x < as_of_day)"\n')
    write("core.z", "SELECT 1 AS x, NULL AS valid_to")
    models = {model.name: model for model in graph.load(bare, tmp_path)}
    then = models["main.a_as_of"]
    assert then.sql == "SELECT x FROM b_as_of(as_of_day) WHERE valid_to >= as_of_day"
    assert (then.materialized, list(then.parameters), then.columns) == ("macro", ["as_of_day"], {"x": "An x"})
    assert "main.b_as_of" in then.inputs
    assert models["main.b_as_of"].sql == "SELECT x, valid_to FROM (FROM core.z WHERE x < as_of_day)"
    assert models["mart.a"].sql == "SELECT x FROM mart.b WHERE valid_to IS NULL"


def test_a_past_day_of_what_the_sql_does_not_read_is_refused(
    bare: duckdb.DuckDBPyConnection, tmp_path: Path, write: Write
) -> None:
    side = 'description = "One row per x"\nkey = ["x"]\n[as_of]\n"mart.bee" = "b_as_of(as_of_day)"\n'
    write("mart.a", "SELECT x FROM mart.b", side)
    with pytest.raises(ValueError, match=r"a/table\.toml.*'mart\.bee'.*does not have"):
        graph.load(bare, tmp_path)


def test_a_published_run_is_the_same_to_python_and_to_the_view_that_readers_ask() -> None:
    text = (graph.folder_of("ops.last_run") / "query.sql").read_text(encoding="utf-8")
    assert f"\nWHERE {ledger.IS_PUBLISHED}\n" in text
