"""Records that are torn or bad: named with file, line and way out, and no refresh stops at them.

Edited ones, and decisions: in test_more_records.py.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpuledger.extract.archive import sealed
from gpuledger.flows.night import run_log
from gpuledger.flows.night.gather import read_plain
from gpuledger.flows.night.refresh import run as refresh_with
from gpuledger.flows.night.store import DoubtfulClock
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.flows.inprocess import context, refresh

# ── sealed lines ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    for number in range(6):
        sealed.append(path, {"event": "finish", "number": number, "text": "가격 {[", "price": "1599.00"})
    return path


def damage(path: Path) -> list[int]:
    return [one.number for one in sealed.damage(path.read_bytes().split(b"\n"))]


def test_what_is_whole_is_whole(log: Path) -> None:
    assert damage(log) == []
    assert [json.loads(line)["number"] for line in log.read_bytes().splitlines()] == [*range(6)]


@pytest.mark.parametrize("length", range(1, 120, 7))
def test_a_torn_line_is_told_from_a_changed_one(log: Path, length: int) -> None:
    whole = log.read_bytes()
    log.write_bytes(
        whole + b'{"event": "start", "run_id": "x", "deep": {"a": [1, 2, 3], "b": {"c": "ddddddddddddddddd'[:length]
    )
    sealed.append(log, {"event": "next"})
    (torn,) = sealed.damage(log.read_bytes().split(b"\n"))
    assert (torn.number, torn.is_torn) == (7, True)


def test_lines_from_before_there_were_seals_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"event": "old"}\n{"event": "older"}\n')
    sealed.append(path, {"event": "new"})
    assert damage(path) == []
    path.write_text(path.read_text() + '{"event": "by hand"}\n')
    assert damage(path) == [4]


def test_a_line_longer_than_what_is_looked_at_has_a_follower(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    sealed.append(path, {"event": "x" * 200_000})
    sealed.append(path, {"event": "y"})
    assert damage(path) == []


# ── the log of runs ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("records") / "data"
    assert refresh(data, 1, only=["ecb_fx"]).published is not None
    assert refresh(data, 2, only=["ecb_fx"]).published is not None
    return data


def test_a_refresh_goes_on_over_bad_records_and_says_so(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path / "data", symlinks=True)
    data = DataDir(tmp_path / "data")
    (data.root / "decisions").mkdir()
    (data.root / "decisions" / "releases.toml").write_text("[[release]]\nrows = 5\n[[release]]\nprice = 7\n")
    lines = data.runs.read_bytes().splitlines(keepends=True)
    data.runs.write_bytes(b"".join([lines[0].replace(b"plain", b"Plain"), *lines[1:]]))
    assert refresh(data.root, 2, only=["ecb_fx"]).published is not None
    found = [
        message
        for (message,) in query(data, "SELECT message FROM ops.issue WHERE code = 'damaged_record' ORDER BY ALL")[1]
    ]
    assert len(found) == 3
    assert any("runs.jsonl, line 1: it was changed" in message for message in found)
    assert sum("releases.toml, line" in message for message in found) == 2
    with pytest.raises(run_log.BadRecord, match="line 1"):
        run_log.records(data)
    assert len(run_log.records(data, skip_damaged=True)) == 3


# ── times ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("days", [401, -401, 900, 26_000, -9_000])
def test_a_run_far_from_its_neighbours_is_refused_and_the_next_is_taken(
    published: Path, tmp_path: Path, days: int
) -> None:
    shutil.copytree(published, tmp_path / "data", symlinks=True)
    good = context(tmp_path / "data", 2, only=["ecb_fx"])
    far = replace(good, started_at=good.started_at + timedelta(days=days))
    with pytest.raises(DoubtfulClock, match="max_gap_days"):
        refresh_with(far, read_plain)
    assert run_log.entries(good.data)[-1].status == "failed"
    if days in (401, -401):
        assert refresh(tmp_path / "data", 2, only=["ecb_fx"]).published is not None


def test_a_run_that_counts_as_a_day_to_come_is_refused(tmp_path: Path) -> None:
    good = context(tmp_path / "data", 1, only=["ecb_fx"])
    with pytest.raises(DoubtfulClock, match="counts as 2099"):
        refresh_with(replace(good, as_of=datetime(2099, 1, 1, tzinfo=UTC)), read_plain)


def test_a_pause_that_is_true_can_be_said_to_be(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path / "data", symlinks=True)
    good = context(tmp_path / "data", 2, only=["ecb_fx"])
    later = replace(
        good, started_at=good.started_at + timedelta(days=900), settings=replace(good.settings, max_gap_days=1000.0)
    )
    assert refresh_with(later, read_plain).published is not None
