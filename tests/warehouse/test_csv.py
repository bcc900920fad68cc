"""What leaves the warehouse as text: no cell that a spreadsheet runs, no number that it misreads, nothing lost.

The files of every run hold the newest days of what grows by the night; an export that is asked for holds all.
"""

from __future__ import annotations

import csv
import io
import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuledger.flows.night import exporting
from gpuledger.warehouse.outputs import csv_files
from gpuledger.warehouse.outputs.answer import cell, safe_text
from gpuledger.warehouse.outputs.csv_files import lines, to_csv
from gpuledger.warehouse.outputs.tables import HISTORIES
from gpuledger.warehouse.paths import DataDir
from tests.history.files import edit
from tests.nights import Night

#: What OWASP's page on CSV injection lists, and their full-width forms, which East Asian spreadsheets take as the same.
RUN = "=+-@\t\r\n＝＋－＠"


def unix(text: str) -> str:
    """With line ends of one kind: a lone carriage return breaks a CSV row for many readers."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.sampled_from(RUN), st.text())
def test_what_would_run_is_kept_behind_an_apostrophe(start: str, rest: str) -> None:
    assert cell(start + rest) == f"'{unix(start + rest)}"


@given(st.text().filter(lambda text: not text or text[0] not in RUN))
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cell(text) == unix(text)


@given(
    st.one_of(
        st.decimals(allow_nan=False, allow_infinity=False),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(),
    )
)
def test_a_number_is_digits_and_a_point_and_means_the_same(number: Decimal | float | int) -> None:
    text = cell(number)
    assert re.fullmatch(r"-?\d+(\.\d+)?", text)
    assert type(number)(text) == number
    assert not ("." in text and text.endswith("0")), "zeros at the end say nothing"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_left_out(number: float) -> None:
    assert cell(number) == ""


def test_a_truth_value_is_a_word_and_absence_is_nothing() -> None:
    assert (cell(True), cell(False), cell(None)) == ("true", "false", "")


def test_nothing_is_zero_whatever_its_sign() -> None:
    assert {cell(-0.0), cell(0.0), cell(Decimal("-0.00")), cell(Decimal("0.00"))} == {"0"}


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1)), st.integers(-14, 14))  # noqa: DTZ001
def test_a_time_is_iso_8601_in_utc(naive: datetime, hours: int) -> None:
    time = naive.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", cell(time))
    assert datetime.fromisoformat(cell(time)) == time.replace(microsecond=0)


def test_a_day_is_iso_8601() -> None:
    assert cell(date(2023, 11, 6)) == "2023-11-06"
    assert cell(datetime(2023, 11, 6, 3, 4, 5, tzinfo=UTC)) == "2023-11-06T03:04:05Z"


#: Without the surrogates and the NUL that neither UTF-8 nor a spreadsheet can hold.
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.tuples(_TEXT, _TEXT), max_size=5))
def test_a_file_reads_back_cell_by_cell(rows: list[tuple[str, str]]) -> None:
    """Commas, quotes and line ends inside a title break no row."""
    text = to_csv(["one", "two"], rows)
    read = list(csv.reader(io.StringIO(text.encode().decode("utf-8"), newline="")))
    assert read == [["one", "two"], *([safe_text(unix(a)), safe_text(unix(b))] for a, b in rows)]


def test_a_header_is_no_formula_either() -> None:
    """`sql` lets a person name a column."""
    assert to_csv(["=1+1", "b"], []) == "'=1+1,b\n"


_VALUES = {
    "VARCHAR": _TEXT,
    "DOUBLE": st.floats(),
    "DECIMAL(18,4)": st.decimals(-(10**13), 10**13, places=4),
    "DECIMAL(18,0)": st.decimals(-(10**13), 10**13, places=0),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "BOOLEAN": st.booleans(),
    "DATE": st.dates(),
    "TIMESTAMP WITH TIME ZONE": st.datetimes(timezones=st.just(UTC)),
}


@given(st.lists(st.tuples(*(st.none() | values for values in _VALUES.values())), min_size=1, max_size=20))
@example([('\r\n=1,"', 1e16, Decimal("0.5000"), None, 0, True, date.min, datetime.min.replace(tzinfo=UTC))])
@example([("", 2.0**81, None, None, 0, False, date(2023, 11, 6), None)])
@example([("\r", -1.5e-7, Decimal("-100.0000"), Decimal(-100), 0, None, date.max, datetime.max.replace(tzinfo=UTC))])
def test_a_table_is_written_as_its_rows_would_be(empty: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]]) -> None:
    """A table is read from the warehouse piece by piece, and every other list is at hand; nobody can tell them apart."""
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(_VALUES))
    empty.execute(f"CREATE OR REPLACE TABLE list ({columns})")
    empty.executemany(f"INSERT INTO list VALUES ({', '.join('?' * len(_VALUES))})", rows)
    written = "".join(lines(empty, "SELECT * FROM list ORDER BY ALL"))
    assert written == to_csv(
        [f"c{place}" for place in range(len(_VALUES))], empty.sql("FROM list ORDER BY ALL").fetchall()
    )


def test_a_column_without_a_type_is_empty() -> None:
    """A table of Python's that has no row says of no column what it holds."""
    with duckdb.connect() as con:
        assert "".join(lines(con, "SELECT NULL AS first, 1 AS second")) == "first,second\n,1\n"


def test_a_table_with_any_other_type_is_written_too() -> None:
    """A person's own model may have one."""
    with duckdb.connect() as con:
        assert "".join(lines(con, "SELECT TIME '03:00' AS time, 0.5::FLOAT AS half, 'a,b' AS text")) == (
            'time,half,text\n03:00:00,0.5,"a,b"\n'
        )
        nested = (
            "SELECT ['한', NULL] AS list, {'of': 1.5::DECIMAL(9,2), 'at': DATE '2024-01-02'} AS pair, 'a'::BLOB AS raw"
        )
        assert [*csv.reader(io.StringIO("".join(lines(con, nested))))] == [
            ["list", "pair", "raw"], ['["한", null]', '{"of": 1.5, "at": "2024-01-02"}', "61"],
        ]  # fmt: skip
        assert "".join(lines(con, """SELECT 1 AS "a "" b", 2 AS "a "" b" """)) == '"a "" b","a "" b"\n1,2\n'


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> DataDir:
    """A warehouse whose newest rows came again, one day too old to be recent and one day short of it."""
    copied = nights[3].copy(tmp_path / "data")
    for table, (day, days) in HISTORIES.items():
        table = table.replace("mart.price_daily", "core.price_day")
        shown = "AND market = 'us'" if table == "core.price_day" else ""
        for age in (days, days - 1):
            newest = f"(SELECT max({day}) FROM {table})"
            edit(
                copied,
                f"""INSERT INTO {table} SELECT * REPLACE ({day} - INTERVAL {age} DAY AS {day}) FROM {table}
                    WHERE {day} = {newest} {shown} LIMIT 1""",
            )
    return DataDir(copied)


def days(folder: Path, table: str) -> tuple[int, timedelta]:
    """Rows of a file, and the time between its oldest and its newest."""
    with (folder / f"{table.partition('.')[2]}.csv").open(encoding="utf-8", newline="") as file:
        found = [datetime.fromisoformat(row[HISTORIES[table][0]]) for row in csv.DictReader(file)]
    return len(found), max(found) - min(found)


def test_a_run_writes_the_newest_days_and_an_export_all(data: DataDir, tmp_path: Path) -> None:
    exporting.after_run(data)
    csv_files.export(data, tmp_path / "all")
    for table, (_, recent) in HISTORIES.items():
        with duckdb.connect(str(data.published), read_only=True) as con:
            ((rows,),) = con.execute(f"SELECT count(*) FROM {table}").fetchall()
        assert days(tmp_path / "all", table) == (rows, timedelta(days=recent)), table
        assert days(data.exports, table) == (rows - 1, timedelta(days=recent - 1)), table
