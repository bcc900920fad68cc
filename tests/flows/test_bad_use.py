"""Whoever asks for the impossible gets one clear line and a status, never a traceback, and nothing is lost."""

from __future__ import annotations

import os
import re
from pathlib import Path

import duckdb
import pytest

from gpuledger.warehouse.lock import writer_lock
from gpuledger.warehouse.paths import DataDir
from tests.command import Outcome, gpuledger, rows, tables
from tests.nights import Night

READING = (
    ("rank", "sd-512-image-generation"),
    ("value", "sd-512-image-generation"),
    ("sql", "SELECT 1"),
    ("status",),
    ("describe",),
)


def one_line(outcome: Outcome, status: int) -> str:
    """The message; fails unless it is one line on stderr, nothing is on stdout, and the status is as asked."""
    assert outcome.status == status, outcome
    assert outcome.out == ""
    lines = [line for line in outcome.err.splitlines() if line.strip()]
    # The log has its own line, for whoever reads logs: a time, a level, the run.
    lines = [line for line in lines if not re.match(r"20\d\d-\d\d-\d\dT\S+Z (ERROR|WARNING|INFO) ", line)]
    assert len(lines) == 1, outcome.err
    return lines[0]


# ── the data directory ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("engine", ["plain", "prefect"])
def test_a_data_directory_that_cannot_be_written(tmp_path: Path, engine: str) -> None:
    # A file where the folder should be: the one obstacle that also stops a superuser.
    (tmp_path / "data").write_text("not a folder")
    outcome = gpuledger("refresh", "--sample", "--engine", engine, "--night", 1, data=tmp_path / "data")
    message = one_line(outcome, 1)
    assert str(tmp_path / "data") in message
    assert "--data-dir" in message
    assert (tmp_path / "data").read_text() == "not a folder"


def test_a_folder_of_exports_that_cannot_be_written(nights: dict[int, Night], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    outcome = gpuledger("export", tmp_path / "file" / "below", data=nights[1].data)
    assert outcome.status in (1, 2)
    assert str(tmp_path / "file") in outcome.err


# ── a warehouse file that is none ─────────────────────────────────────────────────────────────────────────────────────


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is a shopping list\n" * 1000)


def _empty(path: Path) -> None:
    path.touch()


def _another(path: Path) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE somebody_elses (a INTEGER); INSERT INTO somebody_elses VALUES (42)")


def _truncated(path: Path) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT range AS a FROM range(100000)")
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("make", [_garbage, _empty, _another, _truncated])
def test_reading_a_file_that_is_no_warehouse(tmp_path: Path, make: object) -> None:
    data = tmp_path / "data"
    data.mkdir()
    assert callable(make)
    make(data / "gpuledger.duckdb")
    before = (data / "gpuledger.duckdb").read_bytes()
    for command in READING:
        message = one_line(gpuledger(*command, data=data), 1)
        assert message.startswith(f"gpuledger: {data / 'gpuledger.duckdb'} "), message
    assert (data / "gpuledger.duckdb").read_bytes() == before


def test_a_refresh_does_not_write_over_a_file_that_is_not_its_own(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    _another(data / "gpuledger.duckdb")
    before = (data / "gpuledger.duckdb").read_bytes()
    outcome = gpuledger("refresh", "--sample", "--engine", "plain", "--night", 1, data=data)
    message = one_line(outcome, 1)
    assert str(data / "gpuledger.duckdb") in message
    assert (data / "gpuledger.duckdb").read_bytes() == before


# ── two at a time ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("engine", ["plain", "prefect"])
def test_a_second_refresh_names_the_holder_and_since_when(
    nights: dict[int, Night], tmp_path: Path, engine: str
) -> None:
    data = nights[1].copy(tmp_path / "data")
    with writer_lock(DataDir(data).lock):
        message = one_line(gpuledger("refresh", "--sample", "--engine", engine, "--night", 2, data=data), 1)
    assert re.fullmatch(
        rf"gpuledger: another refresh is writing here: process {os.getpid()}, since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00; "
        "wait for it to end, or stop that process",
        message,
    )
    assert tables(data, "core", "mart", "ops") == tables(nights[1].data, "core", "mart", "ops")


# ── without a network ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_network_every_source_says_why_and_the_last_good_warehouse_stays(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[2].copy(tmp_path / "data")
    published = (data / "gpuledger.duckdb").resolve()
    # Names that cannot exist (RFC 6761), so that the test asks nobody on any machine.
    env = {"GPULEDGER_DELAY_S": "0", "GPULEDGER_PRODUCT_URLS": "https://shop.invalid/one|https://shop.invalid/two"}
    outcome = gpuledger("refresh", "--engine", "plain", "--only", "generic_shop", "--keep-sample", data=data, env=env)
    assert outcome.status == 1, outcome
    lines = " ".join(outcome.out.split())
    assert "generic_shop failed: ConnectionFailed: https://shop.invalid/one" in lines
    assert "nothing was published: no source could be read; the last good warehouse, if there is one, stays" in lines
    assert (data / "gpuledger.duckdb").resolve() == published
    assert tables(data, "core", "mart", "ops") == tables(nights[2].data, "core", "mart", "ops")
    runs = gpuledger("status", data=data).out
    assert "no source could be read" in " ".join(runs.split()), (
        "the run that published nothing is on record all the same"
    )
    # And in the warehouse from the next that publishes.
    assert gpuledger("refresh", "--sample", "--engine", "plain", "--only", "ecb_fx", data=data).status == 0
    found = rows(data, "SELECT status, reason, sample_night, parsed FROM ops.run ORDER BY rowid")
    status, reason, *rest = found[2]
    assert (status, rest) == ("failed", [None, None])
    assert reason.startswith("no source could be read: generic_shop: ConnectionFailed: https://shop.invalid/one: ")
    assert [night for *_, night, _ in found] == [1, 2, None, 3]


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    outcome = gpuledger("refresh", "--engine", "plain", "--only", "generic_shop", data=tmp_path / "data")
    assert outcome.status == 1
    assert "no source is configured; generic_shop: no page to read: set product_urls" in outcome.out
