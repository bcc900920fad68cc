"""Every model that is built, given rows and expected rows: `cases/<case>.toml` in the folder of each, found and run;
`cases/as_of/` has those of the macro that answers the same question for a past day.

A case gives tables as text, a column a `|`, an empty cell for NULL, and expects rows of the model in the same way, in any
order and with the columns that matter to it:

    why = "what would be wrong otherwise"
    call = "DATE '2023-11-16'"        # arguments, for a macro or function
    expect = '''
    gpu_id | price_usd
    a      | 499.99
    '''
    [given]
    "core.gpu" = '''
    …
    '''

A given table may be a loaded one or another model; models that lie between are built. Settings and assumptions have their
defaults. For a function, `expect` is one row a call: its arguments under their names, and the result under `result`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.transform.build import graph, price_days
from gpuledger.transform.build import run as builder
from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.outputs.tables import TOO_LARGE
from tests.command import rows
from tests.nights import Night
from tests.support.empty import empty_warehouse, warehouse_with_defaults

CASES = sorted(graph.MODELS.glob("*/*/cases/**/*.toml"))


def name_of(case: Path) -> str:
    """The model that a case is of: `cases/as_of/` has those of the macro that answers for a past day."""
    if case.parent.name == "as_of":
        return f"main.{case.parents[2].name}_as_of"
    return f"{case.parents[2].name}.{case.parents[1].name}"


#: Models that have rows where nothing was loaded: a dollar, rates of the program, the printed figures, the home market.
ROWS_OF_THEIR_OWN = ("core.fx_usd", "core.brought_rate", "mart.claim_audit", "core.home_market")
IDS = [f"{name_of(path)}/{path.stem}" for path in CASES]


@pytest.fixture(scope="module")
def models() -> list[Model]:
    with warehouse_with_defaults() as con:
        return graph.load(con)


def test_every_model_has_a_case_and_every_case_a_model(models: list[Model]) -> None:
    assert {name_of(path) for path in CASES} == {model.name for model in models}


def read_table(text: str) -> tuple[list[str], list[list[str | None]]]:
    """Column names and cells of a table as a case writes it. A `|` with a letter beside it belongs to its cell; a time
    written without its seconds, which DuckDB 1.5 does not read, gets them.
    """
    text = re.sub(r"(\d\d:\d\d)Z", r"\1:00Z", text)
    header, *lines = ([c.strip() for c in re.split(r"(?<!\S)\|(?!\S)", line)] for line in text.strip().splitlines())
    assert all(len(line) == len(header) for line in lines), f"a row of {header} has another number of cells"
    return header, [[cell or None for cell in line] for line in lines]


def give(con: duckdb.DuckDBPyConnection, table: str, text: str) -> None:
    """Fill a table with the rows of a case, replacing what it holds; a view becomes a table with the view's columns."""
    if table not in dictionary().tables:
        con.execute(f"CREATE TEMP TABLE given AS SELECT * FROM {table} LIMIT 0")
        is_view = con.execute(
            "SELECT count(*) FROM duckdb_views() WHERE schema_name || '.' || view_name = ?", [table]
        ).fetchall()
        con.execute(f"DROP {'VIEW' if is_view[0][0] else 'TABLE'} {table}")
        con.execute(f"CREATE TABLE {table} AS FROM given; DROP TABLE given")
    con.execute(f"DELETE FROM {table}")
    columns, lines = read_table(text)
    listed = ", ".join(f'"{column}"' for column in columns)
    for line in lines:
        con.execute(f"INSERT INTO {table} ({listed}) VALUES ({', '.join('?' for _ in columns)})", line)


def build(con: duckdb.DuckDBPyConnection, models: list[Model], case: dict[str, Any], target: Model) -> None:
    """Build what the target is made from, in its order, and give the case's rows when their table is there."""
    given = dict(case.get("given", {}))
    for table in [table for table in given if table in dictionary().tables]:
        give(con, table, given.pop(table))
    # The days of a price are computed of tables that its view does not name.
    keeps_days = target.name == "mart.price_daily"
    needed = models if keeps_days else graph.needed(models, [target.name])
    for model in models:
        if model in needed:
            builder.build(con, [model], "test")
        if model.name in given:
            give(con, model.name, given.pop(model.name))
    if keeps_days:
        price_days.keep(con, (), None, force=True)
    assert not given, f"{list(given)} is no table that comes before {target.name}"


@pytest.mark.parametrize("path", CASES, ids=IDS)
def test_case(path: Path, models: list[Model]) -> None:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    assert case["why"].strip()
    (target,) = (model for model in models if model.name == name_of(path))
    columns, expected = read_table(case["expect"])
    with warehouse_with_defaults() as con:
        build(con, models, case, target)
        if target.materialized == "function":
            source = _calls(con, target, columns, expected)
        elif target.materialized == "macro":
            source = f"{target.name}({case['call']})"
        else:
            source = target.name
        listed = ", ".join(f'"{column}"' for column in columns)
        con.execute(f"CREATE TEMP TABLE expected AS SELECT {listed} FROM {source} LIMIT 0")
        for line in expected:
            con.execute(f"INSERT INTO expected VALUES ({', '.join('?' for _ in columns)})", line)
        found = con.execute(f"SELECT {listed} FROM {source} ORDER BY ALL").fetchall()
        wanted = con.execute("FROM expected ORDER BY ALL").fetchall()
    assert len(found) == len(wanted), found
    for one, other in zip(found, wanted, strict=True):
        assert one == tuple(pytest.approx(value) if isinstance(value, float) else value for value in other)


def _calls(con: duckdb.DuckDBPyConnection, target: Model, columns: list[str], lines: list[list[str | None]]) -> str:
    """A table with one row a call of a function: the arguments that are given, NULL for the others, and the result."""
    calls = []
    for line in lines:
        told = {name: "NULL" if value is None else value for name, value in zip(columns, line, strict=True)}
        arguments = ", ".join(told.get(name, "NULL") for name in target.parameters)
        shown = ", ".join(f"{schema.quote(told[name])} AS {name}" for name in columns if name != "result")
        calls.append(f"SELECT {shown}, {target.name}({arguments}) AS result")
    con.execute(f"CREATE TEMP TABLE calls AS {' UNION ALL '.join(calls)}")
    return "calls"


# ── what holds for every model ────────────────────────────────────────────────────────────────────────────────────────


def test_the_key_of_every_model_is_unique_in_the_sample(models: list[Model], nights: dict[int, Night]) -> None:
    for model in models:
        if model.key and model.materialized in ("table", "view") and model.name not in TOO_LARGE:
            key = ", ".join(model.key)
            twice = rows(nights[2].data, f"SELECT {key}, count(*) FROM {model.name} GROUP BY ALL HAVING count(*) > 1")
            assert twice == [], model.name


def test_the_key_of_every_loaded_table_is_unique_in_the_sample(nights: dict[int, Night]) -> None:
    for table in dictionary().tables.values():
        if table.key:
            key = ", ".join(f'"{column}"' for column in table.key)
            twice = rows(nights[2].data, f"SELECT {key}, count(*) FROM {table.name} GROUP BY ALL HAVING count(*) > 1")
            assert twice == [], table.name


def test_every_model_is_empty_and_not_broken_where_nothing_was_loaded(models: list[Model]) -> None:
    with warehouse_with_defaults() as con:
        builder.build(con, models, "test")
        for model in models:
            if model.materialized in ("table", "view") and model.name not in ROWS_OF_THEIR_OWN:
                assert con.execute(f"SELECT count(*) FROM {model.name}").fetchone() == (0,), model.name


def test_every_model_orders_its_rows_or_leaves_that_to_the_reader_but_always_the_same(
    models: list[Model], nights: dict[int, Night]
) -> None:
    """What a tie is broken by stands in the SQL: the same rows in another order on disk build the same table."""
    with warehouse_with_defaults() as con:
        con.execute(f"ATTACH {schema.quote(str((nights[2].data / 'gpuledger.duckdb').resolve()))} AS held (READ_ONLY)")
        for table in dictionary().tables:
            con.execute(
                f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM held.{table} ORDER BY hash(rowid), rowid"
            )
        con.execute("DELETE FROM ops.model_state")
        builder.build(con, models, "test")
        for model in models:
            # A night asks for the rows of mart.answer.
            if model.materialized in ("table", "view") and model.name not in (*TOO_LARGE, "mart.answer"):
                assert schema.content(con, model.name) == schema.content(con, f"held.{model.name}"), model.name


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_warehouse() as con:
        con.execute("INSERT INTO core.workload BY NAME SELECT unnest(['a', 'b']) AS workload_id, 'it/s' AS unit")
        builder.refresh_contents(con, ())
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
    return {step.model: step.action for step in builder.build(con, graph.load(con, folder), run_id)}


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
    builder.refresh_contents(con, ["core.workload"])
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
