"""What a run that could not publish leaves on record, whatever a kill did to the last line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuledger.flows.night import journal
from gpuledger.flows.night.journal import Entry

NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)


def entry(run_id: str) -> Entry:
    return Entry(run_id, NOW, NOW, "plain", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "runs.jsonl"


def test_nothing_on_record(path: Path) -> None:
    assert journal.read(path) == []
    assert not path.exists()


def test_a_run_that_ended_has_its_status_and_one_that_did_not_is_interrupted(path: Path) -> None:
    journal.start(path, entry("1"))
    journal.finish(path, "1", "failed", "AuditFailed: mart.value; 가격")
    journal.start(path, entry("2"))
    first, second = journal.read(path)
    assert (first.run_id, first.status, first.reason) == ("1", "failed", "AuditFailed: mart.value; 가격")
    assert first.finished_at is not None
    assert second == entry("2")
    assert (second.status, second.finished_at) == ("interrupted", None)


def test_an_end_without_a_beginning_is_nobodys(path: Path) -> None:
    journal.finish(path, "1", "failed", None)
    assert journal.read(path) == []


@pytest.mark.parametrize("torn", ['{"event": "start", "run', "{}", "[]", "null", "7", "\xff", '{"event": "start"}'])
def test_a_torn_line_hides_neither_what_came_before_nor_what_comes_after(path: Path, torn: str) -> None:
    journal.start(path, entry("1"))
    with path.open("ab") as file:
        file.write(torn.encode("latin-1"))
    journal.start(path, entry("2"))
    journal.finish(path, "2", "published", None)
    assert [(run.run_id, run.status) for run in journal.read(path)] == [("1", "interrupted"), ("2", "published")]


def test_every_cut_of_the_file_is_read(path: Path) -> None:
    for run_id in ("1", "2"):
        journal.start(path, entry(run_id))
        journal.finish(path, run_id, "published", None)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert [run.run_id for run in journal.read(path)] in ([], ["1"], ["1", "2"]), length
