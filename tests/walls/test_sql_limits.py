# ruff: noqa: E501  tables of cases
"""`sql` answers, or says in one sentence what it will not do; whatever a value is, it is written."""

from __future__ import annotations

import csv
import io
import json
import pickle
import resource
from datetime import date
from pathlib import Path

import duckdb
import pytest

from gpuledger.flows.doors.showing.show import human, show_rows
from gpuledger.warehouse import publish
from gpuledger.warehouse.bounded_query import QueryLimits, ask, user_query
from gpuledger.warehouse.errors import BadQuery, NoWarehouse, WarehouseError
from gpuledger.warehouse.outputs.answer import flat, plain
from gpuledger.warehouse.outputs.csv_files import to_csv
from gpuledger.warehouse.paths import DataDir

VALUES = [
    "[1, 2, NULL]", "{'a': 1, 'b': [DATE '2020-01-01']}", "MAP {'a': 1}", "MAP {[1]: {'x': NULL}}", "INTERVAL 3 DAY", "uuid()",
    "'\\xAA\\x00'::BLOB", "TIME '12:00'", "'101'::BIT", "170141183460469231731687303715884105727::HUGEINT", "'nan'::DOUBLE",
    "'infinity'::DOUBLE", "'-infinity'::FLOAT", "'290309-12-22 (BC)'::DATE", "'0001-01-01'::DATE", "DATE '9999-12-31'",
    "DATE '10000-01-01'", "'infinity'::TIMESTAMP", "'infinity'::DATE", "'9999-12-31 23:59:59+00'::TIMESTAMPTZ",
    "'0001-01-01 00:00:00+00'::TIMESTAMPTZ", "TIMETZ '12:00:00+05'", "'a'::ENUM('a', 'b')", "union_value(a := 1)", "NULL", "true",
    "[1, 2]::INT[2]", "['a']::JSON", "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'", "12::UHUGEINT", "(1, 2)", "[[[]]]", "''",
    "[{'a': NULL}]", "0.1::DECIMAL(38, 37)", "-0.0::DOUBLE", "5e-324::DOUBLE", "1e308::DOUBLE", "chr(0)", "chr(27) || '[2J'", "'😀'",
    "repeat('x', 100000)", "255::UTINYINT", "(-128)::TINYINT", "DATE '-0044-03-15'", "TIMESTAMP_S '1969-12-31 23:59:59'", "[NULL]",
    "{'a': {'b': {'c': [1.5]}}}", "MAP {}", "INTERVAL '1 hour'", "'{\"a\": [1]}'::JSON", "[DATE '0001-01-01', NULL]", "list_value()",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_every_type_is_written_in_every_form(value: str) -> None:
    try:
        found = duckdb.sql(f"SELECT {value} AS v").fetchall()
    except (ValueError, OverflowError):
        return  # Python has no word for it: `sql` says so, see below
    json.loads(json.dumps([plain(one) for (one,) in found], allow_nan=False))
    rows = list(csv.reader(io.StringIO(to_csv(["v"], [[flat(one)] for (one,) in found]))))
    assert rows[0] == ["v"]
    assert isinstance(human(found[0][0]), str)


def test_the_first_and_the_last_year_have_four_digits() -> None:
    ((first, last),) = duckdb.sql(
        "SELECT '0001-01-01 00:00:00+00'::TIMESTAMPTZ, '9999-12-31 23:59:59+00'::TIMESTAMPTZ"
    ).fetchall()
    assert (plain(first), plain(last)) == ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataDir:
    """A warehouse without rows."""
    found = DataDir(tmp_path_factory.mktemp("sql"))
    with publish.workspace(found, "20260101T000000000000Z-000000") as (con, work):
        publish.publish(con, found, work, "20260101T000000000000Z-000000")
    return found


SMALL = QueryLimits(seconds=0.5, memory="100MB", rows=1000)
ENDLESS = [
    "SELECT count(*) FROM range(1000000000000) a, range(1000000000) b",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT sum(a.range * b.range) FROM range(100000000) a, range(100000000) b",
]
HUGE = [
    "SELECT list(range) FROM range(300000000)",
    "SELECT string_agg(range::VARCHAR) FROM range(200000000)",
    "SELECT * FROM range(100000000) ORDER BY hash(range) LIMIT 1 OFFSET 90000000",
    "SELECT count(*) FROM (SELECT DISTINCT md5(range::VARCHAR) FROM range(50000000))",
]


@pytest.mark.parametrize("query", ENDLESS)
def test_a_query_without_end_is_ended(data: DataDir, query: str) -> None:
    with pytest.raises(BadQuery, match=r"longer than 0\.5 s.*sql_timeout_s|memory"):
        user_query(data, query, SMALL)


@pytest.mark.parametrize("query", HUGE)
def test_a_query_beyond_the_memory_is_refused(data: DataDir, query: str) -> None:
    with pytest.raises(BadQuery, match=r"needs more than 60MB of memory.*sql_memory_limit"):
        user_query(data, query, QueryLimits(seconds=20, memory="60MB"))
    assert not list(Path(data.root).rglob("*tmp*")), "and spills nothing"


def test_the_engine_itself_is_held_to_the_memory(data: DataDir) -> None:
    """The process that answers may take half a gigabyte more, which is what Python and the libraries need: no query's."""
    query = "SELECT count(*) FROM (SELECT DISTINCT range FROM range(3000000))"
    with pytest.raises(BadQuery, match=r"needs more than 60MB of memory.*sql_memory_limit"):
        ask(data, query, QueryLimits(memory="60MB"))
    assert ask(data, query, QueryLimits(memory="1GB"))[1] == [(3_000_000,)]


NESTED = {
    "lists": "SELECT {open}1{close} AS v".format,
    "structures": "SELECT {structs}1{ends} AS v".format,
    "a type that does not say it": "SELECT '{open}{close}'::JSON::VARIANT AS v".format,
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_value_is_shown_up_to_a_depth_that_every_form_can_write(
    data: DataDir, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def query(depth: int) -> str:
        return NESTED[kind](open="[" * depth, close="]" * depth, structs="{'a':" * depth, ends="}" * depth)

    columns, rows = user_query(data, query(100))
    pickle.dumps(rows)
    for form in ("table", "csv", "json"):
        show_rows(columns, rows, form)
    assert capsys.readouterr().out.count("v") >= 3
    with pytest.raises(BadQuery, match=r"nested more than 100 times: cast it, as in value::VARCHAR"):
        user_query(data, query(102))


#: What DuckDB works out before it runs a query, and so under none of its own limits.
BEFOREHAND = [
    "SELECT repeat('x', 2000000000)",
    "SELECT length(repeat('x', 2000000000))",
    "SELECT 1 LIMIT length(repeat('x', 2000000000))",
    "SELECT * FROM range(length(repeat('x', 2000000000)))",
    "SELECT [x for x in range(100000000)][1]",
    "SELECT range(0, 300000000)[1]",
]


@pytest.mark.parametrize("query", BEFOREHAND)
def test_what_no_limit_of_the_engine_reaches_is_ended(data: DataDir, query: str) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(BadQuery, match=r"memory|longer than"):
        ask(data, query, QueryLimits(seconds=1, memory="60MB"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_maxrss < 1_500_000, "kB; without a bound it takes 8 GB"
    assert after.ru_utime + after.ru_stime < before.ru_utime + before.ru_stime + 20, "processor time of two threads"


def test_what_no_clock_of_the_engine_reaches_is_ended(data: DataDir) -> None:
    """It is worked out before it runs, in little memory: half a minute of processor time, which no interrupt ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    query = "SELECT levenshtein(repeat('a', 150000), repeat('b', 150000))"
    with pytest.raises(BadQuery, match=r"longer than 0\.1 s"):
        ask(data, query, QueryLimits(seconds=0.1, memory="60MB"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime < before.ru_utime + 12, "processor time"


def test_the_process_that_answers_says_what_the_engine_says(data: DataDir, tmp_path: Path) -> None:
    assert ask(data, "SELECT 1 AS n, DATE '2026-01-01' AS day") == (["n", "day"], [(1, date(2026, 1, 1))])
    for query, words in (
        ("SELEC 1", "syntax error"),
        ("DROP TABLE core.gpu", "only reading"),
        ("SELECT 1; SELECT 2", "one"),
    ):
        with pytest.raises(BadQuery, match=words):
            ask(data, query)
    with pytest.raises(BadQuery, match="xxx") as caught:
        ask(data, "SELECT error(repeat('x', 1000000))")
    assert len(str(caught.value)) < 3_000
    with pytest.raises(BadQuery, match="sql_memory_limit"):
        ask(data, "SELECT 1", QueryLimits(memory="much"))
    with pytest.raises(NoWarehouse, match=r"no warehouse in .*none yet"):
        ask(DataDir(tmp_path / "none"), "SELECT 1")
    # What is no fault of the query's is not said to be one.
    with pytest.raises(WarehouseError, match="ended with status 1: AttributeError"):
        ask("no folder of data", "SELECT 1")


@pytest.mark.parametrize("count", [1001, 5000, 10**12])
def test_more_rows_than_a_person_reads_are_refused(data: DataDir, count: int) -> None:
    with pytest.raises(BadQuery, match=r"more than 1,000 rows.*LIMIT.*sql_max_rows"):
        user_query(data, f"SELECT * FROM range({count})", SMALL)


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_as_many_as_are_allowed_are_shown(data: DataDir, count: int) -> None:
    assert len(user_query(data, f"SELECT * FROM range({count})", SMALL)[1]) == count
