"""The query that a person types can read the warehouse, and nothing else in the world."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.warehouse.bounded_query import user_query
from gpuledger.warehouse.errors import BadQuery
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import IS_DUCKDB_1
from tests.nights import Night


@pytest.fixture
def data(nights: dict[int, Night]) -> DataDir:
    return DataDir(nights[1].data)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a",
        "FROM (SELECT 1 AS a)",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "VALUES (1)",
        "  SELECT 1 AS a ;  -- and a remark",
    ],
)
def test_one_reading_statement_is_answered(data: DataDir, sql: str) -> None:
    columns, rows = user_query(data, sql)
    assert len(columns) == 1
    assert rows == [(1,)]


@pytest.mark.parametrize(
    "sql", ["DESCRIBE mart.value", "SUMMARIZE core.workload", "EXPLAIN SELECT 1", "SHOW ALL TABLES"]
)
def test_looking_around_is_reading(data: DataDir, sql: str) -> None:
    assert user_query(data, sql)[1]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM core.gpu",
        "UPDATE core.gpu SET msrp_usd = 1",
        "INSERT INTO core.workload VALUES ('a', 'b', 'c', 'd')",
        "DROP TABLE core.gpu",
        "CREATE TABLE x AS SELECT 1",
        "CREATE TEMP TABLE x AS SELECT 1",
        "ATTACH 'other.duckdb'",
        "COPY core.gpu TO 'gpu.csv'",
        "EXPORT DATABASE 'all'",
        "SET memory_limit = '1TB'",
        pytest.param("PRAGMA database_list", marks=pytest.mark.skipif(IS_DUCKDB_1, reason="a SELECT to DuckDB 1.5")),
        "INSTALL httpfs",
        "LOAD httpfs",
        "BEGIN",
        "CHECKPOINT",
        "VACUUM",
    ],
)
def test_what_does_not_read_is_refused(
    data: DataDir, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadQuery):
        user_query(data, sql)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('https://shop.invalid/x.parquet')",
        "SELECT getenv('HOME')",
    ],
)
def test_files_and_the_network_are_out_of_reach(data: DataDir, sql: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n42\n")
    with pytest.raises(BadQuery):
        user_query(data, sql.format(file=secret, folder=tmp_path))


@pytest.mark.parametrize(
    ("sql", "count"), [("SELECT 1; SELECT 2", 2), ("", 0), ("-- nothing", 0), ("SELECT 1; DROP TABLE core.gpu", 2)]
)
def test_one_statement_at_a_time(data: DataDir, sql: str, count: int) -> None:
    with pytest.raises(BadQuery, match=f"one statement at a time, please: this is {count}"):
        user_query(data, sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nope FROM mart.value", "nope"),
        ("SELECT * FROM mart.nothing", "nothing"),
    ],
)
def test_what_duckdb_refuses_is_said_in_its_words(data: DataDir, sql: str, words: str) -> None:
    with pytest.raises(BadQuery, match=words):
        user_query(data, sql)


def test_times_are_in_utc_wherever_the_reader_sits(data: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    assert query(data, "SELECT max(as_of)::VARCHAR FROM ops.run")[1] == [("2023-11-16 03:00:00+00",)]
    assert user_query(data, "SELECT max(as_of)::VARCHAR FROM ops.run")[1] == [("2023-11-16 03:00:00+00",)]
