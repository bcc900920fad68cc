"""A run leaves the files of tables that did not change, and every file is what a run would write that leaves none."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from gpuledger.flows.night import exporting
from gpuledger.transform.build.run import tracked_contents
from gpuledger.warehouse.outputs import unchanged
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from tests.history.files import edit
from tests.nights import Night

#: A table, a view of which every change is followed, and one that leans on the records of runs, which nobody follows.
TABLE, VIEW, UNFOLLOWED = "value.csv", "market_price.csv", "source_status.csv"


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> DataDir:
    return DataDir(nights[3].copy(tmp_path / "data"))


def files(data: DataDir) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in data.exports.iterdir()}


def inodes(data: DataDir) -> dict[str, int]:
    """A file that is swapped in is another one than before."""
    return {path.name: path.stat().st_ino for path in data.exports.iterdir()}


def test_files_of_unchanged_tables_stay_and_count_as_looked_at_now(data: DataDir) -> None:
    before = inodes(data)
    old = (data.exports / TABLE).stat().st_mtime_ns
    exporting.after_run(data)
    kept = {name for name, inode in inodes(data).items() if before[name] == inode}
    assert {TABLE, VIEW, "price_change.csv", "unmatched_title.csv"} <= kept
    assert not {UNFOLLOWED, "price_daily.csv", "node_offer.csv", "procurement.csv"} & kept
    assert (data.exports / TABLE).stat().st_mtime_ns > old


def test_over_the_files_of_another_version_come_those_of_this_one(nights: dict[int, Night], data: DataDir) -> None:
    whole = files(data)
    other = DataDir(nights[1].data)
    assert {TABLE, VIEW, "price_change.csv"} <= {name for name, rows in files(other).items() if rows != whole[name]}
    shutil.rmtree(data.exports)
    shutil.copytree(other.exports, data.exports)
    shutil.copyfile(other.exported, data.exported)
    exporting.after_run(data)
    assert files(data) == whole
    assert len(whole) > 15


@pytest.mark.parametrize("name", [TABLE, VIEW])
def test_a_file_that_was_edited_or_lost_is_written_again(data: DataDir, name: str) -> None:
    whole = files(data)
    (data.exports / name).write_text("price_usd\n1\n")
    exporting.after_run(data)
    assert files(data) == whole
    (data.exports / name).unlink()
    exporting.after_run(data)
    assert files(data) == whole


def test_a_record_that_cannot_be_read_remembers_nothing(data: DataDir) -> None:
    whole = files(data)
    for record in ("", "{", "[]", '{"value.csv": 1}', '{"value.csv": ["a"]}', "\udcff", None):
        before = inodes(data)
        if record is None:
            data.exported.unlink()
        else:
            data.exported.write_bytes(record.encode("utf-8", "surrogateescape"))
        exporting.after_run(data)
        assert files(data) == whole, record
        kept = {name for name, inode in inodes(data).items() if before[name] == inode}
        assert not kept - {UNFOLLOWED}, record
    # What it wrote is remembered again.
    now = inodes(data)
    exporting.after_run(data)
    assert inodes(data)[TABLE] == now[TABLE]


def test_what_reads_a_history_or_the_records_of_runs_is_not_followed(data: DataDir) -> None:
    with reader(data) as con:
        found = tracked_contents(con)
    assert {"mart.value", "mart.market_price", "core.price_change", "core.unmatched_title"} <= found.keys()
    # mart.price_trend reads mart.price_daily, a view of core.price_day.
    assert not {"mart.price_daily", "mart.price_trend", "mart.node_offer", "mart.source_status", "core.price_span"} & (
        found.keys()
    )


def test_another_content_or_definition_is_another_fingerprint(data: DataDir) -> None:
    def fingerprint(table: str) -> str:
        with reader(data) as con:
            return tracked_contents(con)[table]

    before = fingerprint("mart.value")
    edit(data.root, "UPDATE ops.model_state SET content = 'other' WHERE model = 'mart.value'")
    changed = fingerprint("mart.value")
    edit(data.root, "UPDATE ops.model_state SET definition = 'other' WHERE model = 'mart.value'")
    assert len({before, changed, fingerprint("mart.value")}) == 3


def test_the_files_of_another_duckdb_are_written_again(data: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
    before = inodes(data)
    monkeypatch.setattr(duckdb, "__version__", "1.4.9")
    unchanged.writer.cache_clear()
    exporting.after_run(data)
    unchanged.writer.cache_clear()
    assert inodes(data)[TABLE] != before[TABLE]
