"""The same night read again gives the same rows and the same files; in another folder: test_engines.py."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from tests.command import csv_files, gpuledger, rows, succeeds, tables
from tests.nights import Night


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.slow_combination), 2])
def repeated(
    request: pytest.FixtureRequest, nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Night, Path]:
    """A night, and the data directory in which the command read it a second time."""
    night = nights[request.param]
    data = night.copy(tmp_path_factory.mktemp("repeat") / "data")
    outcome = gpuledger("refresh", "--sample", "--engine", "plain", "--night", night.number, data=data)
    assert outcome.status == night.outcome.status, outcome.err
    return night, data


def test_the_same_night_again_leaves_every_core_and_mart_row_as_it_was(repeated: tuple[Night, Path]) -> None:
    night, data = repeated
    before, after = tables(night.data), tables(data)
    assert before.keys() == after.keys()
    for table, held in before.items():
        assert after[table] == held, table


def test_the_same_night_again_writes_the_same_bytes(repeated: tuple[Night, Path]) -> None:
    night, data = repeated
    assert csv_files(data / "exports") == csv_files(night.data / "exports") != {}


def test_the_same_night_again_rebuilds_nothing_and_is_on_record(repeated: tuple[Night, Path]) -> None:
    night, data = repeated
    ((rebuilt, runs),) = rows(
        data,
        f"""SELECT arg_max(models_rebuilt, rowid), count(*) FROM ops.run WHERE sample_night = {night.number}""",
    )
    assert (rebuilt, runs) == (0, 2)


def test_a_night_before_the_last_is_refused(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[2].copy(tmp_path / "data")
    before = tables(data, "core", "mart", "ops")
    outcome = gpuledger("refresh", "--sample", "--engine", "plain", "--night", 1, data=data)
    assert outcome.status == 1
    assert re.search(
        r"^gpuledger: this run counts as 2023-11-16 03:00 UTC, and .* already holds [a-z_]+ of 2023-11-17 03:00 UTC: "
        r"history is written forwards; use another --data-dir$",
        outcome.err,
        re.MULTILINE,
    )
    assert tables(data, "core", "mart", "ops") == before


def test_without_a_night_each_refresh_takes_the_next_and_stays_on_the_last(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[2].copy(tmp_path / "data")
    for expected in (3, 3):
        assert gpuledger("refresh", "--sample", "--engine", "plain", "--quiet", data=data).status == 3
        newest = rows(data, "SELECT arg_max(sample_night, rowid) FROM ops.run")
        assert newest == [(expected,)]


# ── what is in the files ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_files_hold_the_rows_of_the_tables(nights: dict[int, Night]) -> None:
    data = nights[2].data
    for table, held in tables(data, "mart").items():
        text = (data / "exports" / f"{table.removeprefix('mart.')}.csv").read_text(encoding="utf-8")
        assert len(list(csv.reader(io.StringIO(text, newline="")))) == len(held) + 1, table
    assert (data / "exports" / "procurement.csv").exists()
    written = csv_files(data / "exports").values()
    assert any(re.search("[가-힣]", content.decode()) for content in written), "the sample has a Korean shop"


def test_export_writes_the_same_files_again_and_other_formats(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[2].data
    outcome = succeeds("export", tmp_path / "csv", data=data)
    written, of_the_run = csv_files(tmp_path / "csv"), csv_files(data / "exports")
    assert written == of_the_run
    assert sorted(outcome.out.split()) == sorted(str(path) for path in (tmp_path / "csv").iterdir())
