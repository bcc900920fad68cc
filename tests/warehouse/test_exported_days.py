"""The files of every run hold the newest days of what grows by the night; an export that is asked for holds all."""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from gpuledger.flows.night import exporting
from gpuledger.warehouse.outputs import csv_files
from gpuledger.warehouse.outputs.tables import HISTORIES
from gpuledger.warehouse.paths import DataDir
from tests.history.files import edit
from tests.nights import Night


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
