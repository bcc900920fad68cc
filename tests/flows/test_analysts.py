"""An analyst's own session, reading or writing, breaks no refresh, and no refresh breaks it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from gpuledger.flows.night import exporting
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from tests.command import gpuledger, tables
from tests.flows.inprocess import refresh
from tests.nights import Night

#: Opens the file as an analyst does, by the name of the link, and then runs each line that it is sent.
SESSION = """
import sys, duckdb
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "read-only")
print("open", flush=True)
for line in sys.stdin:
    rows = con.execute(line).fetchall()
    print(rows, flush=True)
"""


class Analyst:
    """A Python session in another process that holds the published file open."""

    def __init__(self, data: Path, mode: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SESSION, str(data / "gpuledger.duckdb"), mode],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._read() == "open"

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, sql: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(sql + "\n")
        self.process.stdin.flush()
        return self._read()


@contextmanager
def analyst(data: Path, mode: str) -> Iterator[Analyst]:
    session = Analyst(data, mode)
    try:
        yield session
    finally:
        session.process.kill()
        session.process.wait()


COUNT = "SELECT max(sample_night) FROM ops.run"


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> Path:
    return nights[2].copy(tmp_path / "data")


def test_a_reading_session_keeps_its_version_and_the_next_reader_sees_the_new_one(
    data: Path, nights: dict[int, Night]
) -> None:
    with analyst(data, "read-only") as session:
        assert session.ask(COUNT) == "[(2,)]"
        assert refresh(data, 3).exit_status == 3
        assert session.ask(COUNT) == "[(2,)]", "a session sees one version from its first query to its last"
        with analyst(data, "read-only") as later:
            assert later.ask(COUNT) == "[(3,)]"
    assert tables(data) == tables(nights[3].data)


def test_a_writing_session_is_no_obstacle_and_what_it_writes_reaches_nobody(
    data: Path, nights: dict[int, Night]
) -> None:
    # The files are read-only, which keeps out everybody but the superuser: this is what he could do.
    with analyst(data, "read-write") as session:
        session.ask("CREATE TABLE main.scratch AS SELECT 42 AS a")
        session.ask("UPDATE core.gpu SET msrp_usd = 1")
        assert refresh(data, 3).exit_status == 3
        assert session.ask("SELECT a FROM main.scratch") == "[(42,)]", "his session goes on"
        session.ask("INSERT INTO main.scratch VALUES (43)")
        session.ask("CHECKPOINT")
        assert tables(data) == tables(nights[3].data)
    assert tables(data) == tables(nights[3].data)
    with duckdb.connect(str(data / "gpuledger.duckdb"), read_only=True) as con:
        assert con.execute(COUNT).fetchall() == [(3,)]


def test_a_log_that_a_killed_session_left_behind_breaks_no_reader_and_no_run(
    data: Path, nights: dict[int, Night]
) -> None:
    with analyst(data, "read-write") as session:
        session.ask("CREATE TABLE main.scratch AS SELECT 42 AS a")
    assert list(data.rglob("*.wal")), "killed, so its write-ahead log stays"
    assert refresh(data, 3).exit_status == 3
    with duckdb.connect(str(data / "gpuledger.duckdb"), read_only=True) as con:
        assert con.execute(COUNT).fetchall() == [(3,)]
    assert tables(data) == tables(nights[3].data)


def test_a_reader_is_told_who_holds_the_file(data: Path) -> None:
    """DuckDB lets one process write: while he has the newest version open for writing, readers of it are refused."""
    with analyst(data, "read-write") as session:
        outcome = gpuledger("rank", "sd-512-image-generation", data=data)
        assert outcome.status == 1
        assert str(session.process.pid) in outcome.err
        assert len(outcome.err.strip().splitlines()) == 1
        refresh(data, 3)
        assert gpuledger("rank", "sd-512-image-generation", data=data).status == 0, "a new version frees them"


def test_a_session_that_writes_in_the_moment_of_publishing_costs_the_files_and_not_the_run(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the publishing and the CSV files somebody opens the new version for writing."""
    sessions: list[Analyst] = []
    export = exporting.write

    def first_the_analyst(context: Context, summary: Summary) -> Summary:
        sessions.append(Analyst(data, "read-write"))
        return export(context, summary)

    monkeypatch.setattr(exporting, "write", first_the_analyst)
    summary = refresh(data, 3)
    sessions[0].process.kill()
    sessions[0].process.wait()
    assert summary.exit_status == 3
    assert summary.published is not None
    assert (summary.reason or "").startswith("the CSV files could not be written: ")
    with duckdb.connect(str(data / "gpuledger.duckdb"), read_only=True) as con:
        assert con.execute(COUNT).fetchall() == [(3,)]
