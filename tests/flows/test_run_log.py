"""What the log says of runs, whatever a kill did to its last line, and of those that an older program wrote down."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuledger.errors import ExtractError, NotFound
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.run_log import RunRecord, SourceRecord
from gpuledger.warehouse import publish
from gpuledger.warehouse.ledger import Run
from gpuledger.warehouse.paths import DataDir
from tests.flows.inprocess import context

NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)
NIGHT = datetime(2021, 3, 1, 1, tzinfo=UTC)


def run(data: DataDir, run_id: str) -> Context:
    return replace(context(data.root, 1), run_id=run_id, as_of=NOW, started_at=NOW)


def record(run_id: str) -> RunRecord:
    """With everything that a source may have."""
    gone = NotFound("http://shop.test/2", "404")
    shop = SourceRecord(
        source="shop", fetched_by=run_id, starts=("http://shop.test/",), files=(("a.csv", "text/csv", "f00d"),), fetched=3,
        missed={gone.url: gone},
    )  # fmt: skip
    other = SourceRecord(
        source="other", fetched_by="0", missed={}, failure=ExtractError("other", "nothing", "wait"), nights=(NIGHT, NOW)
    )
    return RunRecord(
        run_id=run_id, as_of=NOW, started_at=NOW, engine="plain", sample_night=1, settings={"gate_max_move": 0.5},
        sources=(shop, other),
    )  # fmt: skip


def publish_version(data: DataDir, run_id: str) -> None:
    version = publish.version_of(data, run_id)
    version.parent.mkdir(parents=True, exist_ok=True)
    version.write_bytes(b"whole")


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path)


def test_nothing_on_record(data: DataDir) -> None:
    run_log.heal(data)
    assert (run_log.entries(data), run_log.records(data), run_log.has_published(data)) == ([], [], False)
    assert not data.runs.exists()


def test_a_run_that_ended_has_its_status_and_one_that_did_not_is_interrupted(data: DataDir) -> None:
    run_log.start(run(data, "1"))
    run_log.finish(run(data, "1"), "failed", "AuditFailed: mart.value; 가격")
    run_log.start(replace(run(data, "2"), tick=NOW))
    first, second = run_log.entries(data)
    assert (first.run_id, first.status, first.reason) == ("1", "failed", "AuditFailed: mart.value; 가격")
    assert first.finished_at is not None
    assert second == Run(run_id="2", started_at=NOW, as_of=NOW, engine="plain", sample_night=1, tick=NOW)
    assert (second.status, second.finished_at) == ("interrupted", None)
    assert run_log.ticks_done(data) == set()
    run_log.finish(run(data, "2"), "published", None)
    assert run_log.ticks_done(data) == {NOW}


def test_no_secret_of_an_address_is_written_down(data: DataDir) -> None:
    run_log.start(run(data, "1"))
    run_log.finish(run(data, "1"), "failed", "FetchError: https://me:hunter2@shop.test/feed: 500")
    assert b"hunter2" not in data.runs.read_bytes()
    (entry,) = run_log.entries(data)
    assert entry.reason is not None
    assert entry.reason.endswith("shop.test/feed: 500")


def test_an_end_without_a_beginning_is_nobodys(data: DataDir) -> None:
    run_log.finish(run(data, "1"), "failed", None)
    assert run_log.entries(data) == []


#: What a kill, a disk or a hand leaves in place of a line.
TORN = [
    '{"event": "start", "run', "{}", "[]", "null", "7", "\xff", "\xff\xfe{}", "\0" * 9, "[" * 200_000, '"run"',
    '{"event": "start"}',
    '{"run_id": 7, "event": []}', '{"event": {"a": 1}, "run_id": "1"}', '{"run_id": "1", "sources": 5}',
    '{"event": "start", "run_id": "3", "started_at": 7, "as_of": 8}',
    '{"event": "start", "run_id": "3", "started_at": "0001-01-01T00:00:00+14:00", "as_of": "9999-12-31T23:59:59-14:00", '
    '"engine": 3, "sample_night": "x"}',
    '{"event": "finish", "run_id": "9", "status": ["x"], "reason": {}}', '{"event": "published", "run_id": "\\ud83d"}',
]  # fmt: skip


@pytest.mark.parametrize("torn", TORN, ids=range(len(TORN)))
def test_a_torn_line_hides_neither_what_came_before_nor_what_comes_after(data: DataDir, torn: str) -> None:
    run_log.start(run(data, "1"))
    with data.runs.open("ab") as file:
        file.write(torn.encode("latin-1"))
    run_log.start(run(data, "2"))
    run_log.finish(run(data, "2"), "published", None)
    found = [(entry.run_id, entry.status) for entry in run_log.entries(data)]
    assert found == [("1", "interrupted"), ("2", "published")]
    run_log.heal(data)
    for ask in (run_log.has_published, run_log.ticks_done, run_log.damage):
        ask(data)


def test_what_is_read_is_what_was_written(data: DataDir) -> None:
    run_log.publishing(data, record("1"))
    run_log.published(data, "1")
    (found,) = run_log.records(data)
    assert repr(found) == repr(record("1")), "errors are equal where they say the same"


def test_a_kill_at_any_byte_leaves_a_log_that_the_next_run_heals(data: DataDir) -> None:
    for run_id in ("1", "2"):
        run_log.start(run(data, run_id))
        run_log.publishing(data, record(run_id))
        run_log.published(data, run_id)
        run_log.finish(run(data, run_id), "published", None)
        publish_version(data, run_id)
    whole = data.runs.read_bytes()
    noted = [whole.index(b"\n", whole.index(f'"publishing", "run_id": "{n}"'.encode())) for n in (1, 2)]
    # A prime number of bytes at a time: each append waits for the disk.
    for length in range(0, len(whole), 17):
        data.runs.write_bytes(whole[:length])
        run_log.heal(data)
        done = sum(length >= end for end in noted)
        assert [found.run_id for found in run_log.records(data)] == ["1", "2"][:done], length
        assert [entry.run_id for entry in run_log.entries(data)] in ([], ["1"], ["1", "2"]), length
        run_log.start(run(data, "3"))
        assert run_log.entries(data)[-1].run_id == "3", length
        assert [found.run_id for found in run_log.records(data)] == ["1", "2"][:done], length


def test_a_run_killed_before_its_version_was_there_was_not_published(data: DataDir) -> None:
    run_log.publishing(data, record("1"))
    run_log.heal(data)
    assert (run_log.records(data), run_log.has_published(data)) == ([], False)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("{}", 3),
        ('{"event": "publishing", "run_id": "2", "sources": 7}', 3),
        ('{"event": "published", "run_id": "2"}', 3),
        ('{"run_id": "2", "sources": []}', 3),
    ],
)
def test_a_line_that_nobody_tore_is_told_of_before_a_replay(data: DataDir, line: str, number: int) -> None:
    run_log.publishing(data, record("1"))
    run_log.published(data, "1")
    with data.runs.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(run_log.BadRecord, match=f"line {number}"):
        run_log.records(data)
