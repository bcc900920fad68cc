"""One writer at a time, and whoever is kept out learns who writes since when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from gpuledger.warehouse.errors import Locked
from gpuledger.warehouse.lock import writer_lock
from tests.command import ROOT, environment

HOLDER = """
import sys, time
from pathlib import Path
from gpuledger.warehouse.lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], env=environment(), cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "held"
    return process


def test_another_process_is_named_with_its_start(tmp_path: Path) -> None:
    path = tmp_path / "state" / "writer.lock"
    before = datetime.now(UTC).replace(microsecond=0)
    process = hold(path)
    try:
        with (
            pytest.raises(Locked, match=rf"process {process.pid}, since (\S+); wait for it to end") as caught,
            writer_lock(path),
        ):
            pass
        since = datetime.fromisoformat(str(caught.value).partition("since ")[2].partition(";")[0])
        assert before <= since <= datetime.now(UTC)
    finally:
        process.kill()
        process.wait()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    process = hold(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with writer_lock(path):
        assert json.loads(path.with_suffix(".json").read_text())["pid"] == os.getpid()


def test_it_is_free_again_after_the_block_and_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    with writer_lock(path):
        pass
    assert not path.with_suffix(".json").exists()
    with pytest.raises(ZeroDivisionError), writer_lock(path):
        raise ZeroDivisionError
    with writer_lock(path):
        pass


@pytest.mark.parametrize("note", ["{", "{}", "null"])
def test_a_note_that_cannot_be_read_hides_the_name_and_not_the_lock(tmp_path: Path, note: str) -> None:
    path = tmp_path / "writer.lock"
    with FileLock(path):
        path.with_suffix(".json").write_text(note)
        with pytest.raises(Locked, match=r"another refresh is writing here: its note writer\.json"), writer_lock(path):
            pass


def test_the_folder_of_the_lock_is_the_owners_alone(tmp_path: Path) -> None:
    with writer_lock(tmp_path / "state" / "writer.lock"):
        assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_holder_whose_note_comes_a_moment_later_is_named(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    note = path.with_suffix(".json")
    late = threading.Timer(0.4, note.write_text, [json.dumps({"pid": 4711, "since": "2026-01-01T00:00:00+00:00"})])
    with FileLock(path):
        late.start()
        with pytest.raises(Locked, match="process 4711, since 2026-01-01"), writer_lock(path):
            pass
