"""Exact rounding, fingerprints of tables, and a loaded table for each entry of the dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuledger.warehouse import schema, table_content
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.load.stage import append, stage


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    schema.create(connection)
    yield connection
    connection.close()


#: Scores and prices: up to a hundred million, with at most six decimals.
AMOUNTS = st.decimals(min_value=0, max_value=Decimal("100000000"), places=6)


@settings(max_examples=300)
@given(AMOUNTS, AMOUNTS.filter(lambda b: b > 0), st.integers(0, 12))
def test_a_ratio_is_rounded_half_up_as_python_does_it(
    con: duckdb.DuckDBPyConnection, a: Decimal, b: Decimal, digits: int
) -> None:
    assume(a / b < 10**12)
    exact = (a / b).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    ((found,),) = con.execute(
        "SELECT core.ratio_half_up(?::DECIMAL(18,6), ?::DECIMAL(18,6), ?)", [a, b, digits]
    ).fetchall()
    assert found == exact


@pytest.mark.parametrize(
    ("a", "b", "digits", "expected"),
    [
        ("1.005", "1", 2, "1.01"),
        ("28.923", "1599", 4, "0.0181"),
        ("1", "3", 2, "0.33"),
        ("0.5", "1", 0, "1"),
        ("2.5", "1", 0, "3"),
        ("0", "5", 2, "0"),
    ],
)
def test_halves_go_up(con: duckdb.DuckDBPyConnection, a: str, b: str, digits: int, expected: str) -> None:
    ((found,),) = con.execute(
        "SELECT core.ratio_half_up(?::DECIMAL(18,6), ?::DECIMAL(18,6), ?)", [a, b, digits]
    ).fetchall()
    assert found == Decimal(expected)


def test_a_ratio_to_nothing_is_nothing(con: duckdb.DuckDBPyConnection) -> None:
    for pair in ("1, 0", "NULL, 1", "1, NULL"):
        assert con.execute(f"SELECT core.ratio_half_up({pair}, 2)").fetchone() == (None,)


TIMES = st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@settings(max_examples=300)
@given(TIMES, st.integers(-200_000, 200_000), st.integers(0, 10**6), st.integers(0, 48))
def test_rows_are_fresh_for_as_many_minutes_as_the_calendar_counts(
    con: duckdb.DuckDBPyConnection, seen_at: datetime, seconds: int, microseconds: int, hours: int
) -> None:
    now_at = seen_at + timedelta(seconds=seconds, microseconds=microseconds)
    found = con.execute(
        """SELECT core.is_fresh($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, $3),
               date_diff('minute', $1::TIMESTAMPTZ, $2::TIMESTAMPTZ) <= $3 * 60""",
        [seen_at, now_at, hours],
    ).fetchone()
    assert found is not None
    assert found[0] == found[1]


def test_rows_stay_fresh_through_the_last_minute_of_their_hours(con: duckdb.DuckDBPyConnection) -> None:
    """Of a source that is fresh for two hours, rows seen at 03:00:30 count until the end of the minute 05:00."""
    for now_at, expected in (("05:00:59", True), ("05:01:00", False), ("02:00:00", True)):
        answer = con.execute(
            f"SELECT core.is_fresh(TIMESTAMPTZ '2023-11-16 03:00:30Z', TIMESTAMPTZ '2023-11-16 {now_at}Z', 2)"
        ).fetchone()
        assert answer == (expected,)
    for unknown in ("NULL::TIMESTAMPTZ, now(), 2", "now(), NULL::TIMESTAMPTZ, 2"):
        assert con.execute(f"SELECT core.is_fresh({unknown})").fetchone() == (None,)


# ── fingerprints ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fingerprint_is_kept_in_the_place_of_the_earlier_one(con: duckdb.DuckDBPyConnection) -> None:
    assert table_content.content_of(con, "batch:shop") is None
    table_content.put(con, {"batch:shop": "first", "batch:other": "stays"})
    table_content.put(con, {"batch:shop": "second", "seed:core.gpu": "added"})
    table_content.put(con, {})
    assert table_content.content_of(con, "batch:shop") == "second"
    assert table_content.every(con) == {"batch:shop": "second", "batch:other": "stays", "seed:core.gpu": "added"}
    assert con.execute("SELECT count(*) FROM ops.table_content").fetchone() == (3,)


SCRATCH = duckdb.connect()


def fingerprint(rows: list[tuple[object, ...]], columns: str = "a INTEGER, b VARCHAR") -> str:
    SCRATCH.execute(f"CREATE OR REPLACE TABLE t ({columns})")
    if rows:
        SCRATCH.executemany("INSERT INTO t VALUES (?, ?)", rows)
    return schema.content(SCRATCH, "t")


ROWS = st.lists(st.tuples(st.integers(-5, 5) | st.none(), st.text(max_size=3) | st.none()), max_size=6)


@settings(max_examples=60, deadline=None)
@given(ROWS, ROWS, st.randoms())
def test_equal_rows_in_any_order_have_the_same_fingerprint_and_others_not(
    one: list[tuple[object, ...]], other: list[tuple[object, ...]], random: object
) -> None:
    shuffled = list(one)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fingerprint(shuffled) == fingerprint(one)
    same = sorted(map(repr, one)) == sorted(map(repr, other))
    assert (fingerprint(one) == fingerprint(other)) is same


def test_a_row_that_is_there_twice_counts_twice() -> None:
    """XOR of hashes would take two pairs of equal rows for none."""
    assert fingerprint([(1, "a"), (1, "a")]) != fingerprint([])
    assert fingerprint([(1, "a"), (1, "a")]) != fingerprint([(2, "b"), (2, "b")])


def test_another_type_or_name_of_a_column_is_another_content() -> None:
    assert (
        len({fingerprint([], c) for c in ("a INTEGER, b VARCHAR", "a BIGINT, b VARCHAR", "a INTEGER, c VARCHAR")}) == 3
    )


def test_a_fingerprint_of_some_columns_is_blind_to_the_others(con: duckdb.DuckDBPyConnection) -> None:
    with duckdb.connect() as one:
        one.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS b")
        of_a, of_b = (schema.content(one, "t", [(name, "INTEGER")]) for name in "ab")
        one.execute("UPDATE t SET b = 3")
        assert schema.content(one, "t", [("a", "INTEGER")]) == of_a
        assert schema.content(one, "t", [("b", "INTEGER")]) != of_b


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_table_of_the_dictionary_is_there_as_described(con: duckdb.DuckDBPyConnection) -> None:
    for table in dictionary().tables.values():
        found = con.execute(
            """SELECT column_name, comment FROM duckdb_columns() WHERE schema_name || '.' || table_name = ?
               ORDER BY column_index""",
            [table.name],
        ).fetchall()
        assert found == [(column.name, column.comment) for column in table.columns]
        comment = con.execute(
            "SELECT comment FROM duckdb_tables() WHERE schema_name || '.' || table_name = ?", [table.name]
        ).fetchall()
        assert comment == [(table.description,)]
        assert set(table.key) <= {column.name for column in table.columns}


def test_creating_again_leaves_rows_alone() -> None:
    with duckdb.connect() as one:
        schema.create(one)
        one.execute("INSERT INTO core.workload (workload_id) VALUES ('w')")
        schema.create(one)
        assert one.execute("SELECT workload_id FROM core.workload").fetchall() == [("w",)]


# ── staging ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_values_arrive_exactly(con: duckdb.DuckDBPyConnection) -> None:
    now = datetime(2023, 11, 16, 3, tzinfo=UTC)
    row = ("a", Decimal("1699.9900"), "KRW", now, date(2023, 11, 16), None, True)
    columns = ("listing_id", "price", "currency", "valid_from", "day", "seller", "is_usable")
    stage(con, "staged", columns, [row, ("b", Decimal("1E+3"), None, None, None, "it's; DROP TABLE x", False)])
    assert con.execute("FROM staged").fetchall() == [
        ("a", Decimal("1699.9900"), "KRW", now, date(2023, 11, 16), None, True),
        ("b", Decimal("1000.0000"), None, None, None, "it's; DROP TABLE x", False),
    ]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
            st.decimals(-(10**13), 10**13, places=4),
        ),
        max_size=20,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_text_and_amount_arrives_as_it_is(con: duckdb.DuckDBPyConnection, rows: list[tuple[str, Decimal]]) -> None:
    stage(con, "staged", ("title", "price"), rows)
    assert con.execute("FROM staged").fetchall() == rows


def test_rows_of_several_statements_arrive_each_once(con: duckdb.DuckDBPyConnection) -> None:
    """Also where a column that says the same in all rows of one statement says another in the next."""
    rows = [(f"listing {number}", "KRW" if number < 20_000 else "USD") for number in range(40_001)]
    stage(con, "staged", ("listing_id", "currency"), rows)
    assert con.execute("FROM staged ORDER BY rowid").fetchall() == rows


@pytest.mark.parametrize(("column", "value"), [("price", "twelve"), ("day", "yesterday"), ("price", Decimal("1e20"))])
def test_a_value_that_does_not_fit_its_column_loads_nothing(
    con: duckdb.DuckDBPyConnection, column: str, value: str
) -> None:
    with pytest.raises(duckdb.ConversionException):
        stage(con, "staged", (column,), [(value,)])
    assert con.execute("SELECT count(*) FROM staged").fetchone() == (0,)


def test_no_rows_make_an_empty_table(con: duckdb.DuckDBPyConnection) -> None:
    stage(con, "staged", ("title",), [])
    assert con.execute("SELECT count(*) FROM staged").fetchone() == (0,)


def test_rows_are_appended_in_the_dictionarys_order(con: duckdb.DuckDBPyConnection) -> None:
    append(con, "core.source_freshness", [("shop", True)])
    append(con, "core.source_freshness", [])
    assert con.execute("SELECT source, is_usable FROM core.source_freshness").fetchall() == [("shop", True)]
