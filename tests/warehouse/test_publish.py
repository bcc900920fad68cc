"""Build aside and publish: in whichever step it stops, a reader finds a whole file and the next run goes on.

What is published survives a power cut: bytes reach the disk before the name that stands for them does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import ROOT, environment


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path / "data")


class Crash(BaseException):
    """Stands for the end of the process: nothing catches it but the test."""


def run(data: DataDir, run_id: str) -> Path:
    """What a refresh does with the warehouse: heal, work on a copy, publish."""
    publish.heal(data)
    with publish.workspace(data, run_id) as (con, work):
        con.execute("INSERT INTO ops.run (run_id) VALUES (?)", [run_id])
        return publish.publish(con, data, work, run_id)


def runs(data: DataDir) -> list[str]:
    return [run_id for (run_id,) in query(data, "SELECT run_id FROM ops.run ORDER BY run_id")[1]]


def test_each_version_has_the_runs_before_it(data: DataDir) -> None:
    for run_id in ("1", "2", "3"):
        version = run(data, run_id)
        assert data.published.resolve() == version.resolve()
    assert runs(data) == ["1", "2", "3"]
    first = publish.version_of(data, "1")
    with duckdb.connect(str(first), read_only=True) as con:
        assert con.execute("SELECT run_id FROM ops.run").fetchall() == [("1",)]


def test_the_link_is_relative_so_that_the_folder_can_be_moved(data: DataDir, tmp_path: Path) -> None:
    run(data, "1")
    data.root.rename(tmp_path / "elsewhere")
    assert runs(DataDir(tmp_path / "elsewhere")) == ["1"]


def test_work_that_is_not_published_leaves_nothing(data: DataDir) -> None:
    run(data, "1")
    with publish.workspace(data, "2") as (con, _):
        con.execute("INSERT INTO ops.run (run_id) VALUES ('2')")
    assert runs(data) == ["1"]
    assert sorted(path.name for path in data.state.iterdir()) == ["base.duckdb", "checksums.jsonl"]


def test_a_work_file_of_a_killed_run_is_swept_away(data: DataDir) -> None:
    run(data, "1")
    for name in ("work-9.duckdb", "work-9.duckdb.wal"):
        (data.state / name).write_bytes(b"half a file")
    run(data, "2")
    assert not list(data.state.glob("work-*"))
    assert runs(data) == ["1", "2"]


def steps_of_a_publish(data: DataDir, monkeypatch: pytest.MonkeyPatch, stop_at: int | None) -> int:
    """Publish run 2, and stop before its n-th step; returns how many steps there were."""
    taken = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            nonlocal taken
            if taken == stop_at:
                raise Crash
            taken += 1
            return real(*arguments, **named)

        return step

    with publish.workspace(data, "2") as (con, work), monkeypatch.context() as patch:
        con.execute("INSERT INTO ops.run (run_id) VALUES ('2')")
        patch.setattr(publish.shutil, "copyfile", counted(shutil.copyfile))
        patch.setattr(publish, "sync", counted(publish.sync))
        for name in ("chmod", "write_text", "replace", "symlink_to", "unlink"):
            patch.setattr(Path, name, counted(getattr(Path, name)))
        publish.publish(con, data, work, "2")
    return taken


def test_a_stop_before_any_step_leaves_a_whole_file_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = DataDir(tmp_path / "whole")
    run(whole, "1")
    shutil.copytree(whole.root, tmp_path / "start", symlinks=True)
    count = steps_of_a_publish(whole, monkeypatch, None)
    assert count > 12
    seen = set()
    for n in range(count):
        data = DataDir(tmp_path / str(n))
        shutil.copytree(tmp_path / "start", data.root, symlinks=True)
        with pytest.raises(Crash):
            steps_of_a_publish(data, monkeypatch, n)
        found = runs(data)
        assert found in (["1"], ["1", "2"]), n
        publish.heal(data)
        healed = runs(data)
        assert healed in (found, ["1", "2"]), f"healing never goes back ({n})"
        run(data, "3")
        assert runs(data) == [*healed, "3"], f"what was published is what the next run starts from ({n})"
        assert not data.publishing.exists()
        assert not list(data.root.rglob("*.part"))
        assert not list(data.root.glob(".gpuledger*"))
        seen.add(tuple(healed))
    assert seen == {("1",), ("1", "2")}


@pytest.mark.parametrize("note", ["", "9/gpuledger.duckdb", "../../etc/passwd"])
def test_a_note_of_no_version_means_nothing(data: DataDir, note: str) -> None:
    run(data, "1")
    data.state.mkdir(exist_ok=True)
    data.publishing.write_text(note)
    publish.heal(data)
    assert runs(data) == ["1"]
    assert not data.publishing.exists()


def test_a_base_that_was_lost_comes_back_from_what_is_published_and_not_from_the_last_by_name(data: DataDir) -> None:
    run(data, "5")
    run(data, "2")  # the clock was set back
    shutil.rmtree(data.state)
    run(data, "3")
    assert runs(data) == ["2", "3", "5"]


def test_a_base_and_a_link_that_were_lost_come_back_from_the_last_version(data: DataDir) -> None:
    run(data, "1")
    run(data, "2")
    shutil.rmtree(data.state)
    data.published.unlink()
    run(data, "3")
    assert runs(data) == ["1", "2", "3"]


def test_a_lost_base_beside_a_damaged_version_comes_back_from_the_one_before_and_is_said(
    data: DataDir,
) -> None:
    run(data, "1")
    newest = run(data, "2")
    data.base.unlink()
    newest.chmod(0o600)
    newest.write_bytes(b"no database")
    (said,) = publish.heal(data)
    assert f"{data.base} is lost; " in said
    assert "`gpuledger replay` takes it in again" in said
    assert data.base.exists()


@pytest.mark.parametrize("put_back", ["base.duckdb", "checksums.jsonl", "both"])
def test_an_older_base_that_was_put_back_is_named_set_aside_and_replaced(data: DataDir, put_back: str) -> None:
    run(data, "1")
    kept = {path.name: path.read_bytes() for path in data.state.iterdir()}
    run(data, "2")
    for name in kept if put_back == "both" else [put_back]:
        (data.state / name).write_bytes(kept[name])
    assert bool(publish.base_fault(data)) is (put_back != "checksums.jsonl")
    said = publish.heal(data)
    if put_back == "checksums.jsonl":
        assert said == []
    else:
        assert said == [
            f"{data.base} is an older one that somebody put back (it is base.aside now); "
            "2/gpuledger.duckdb stands in its place"
        ]
        assert data.base_aside.read_bytes() == kept["base.duckdb"]
    assert (publish.heal(data), publish.base_fault(data)) == ([], None)
    run(data, "3")
    assert runs(data) == ["1", "2", "3"]


def test_a_base_and_a_link_that_were_set_back_together_come_back_and_nothing_is_a_night_late(data: DataDir) -> None:
    older = run(data, "1")
    kept = data.base.read_bytes()
    run(data, "2")
    data.base.write_bytes(kept)
    publish._point(data, older)
    assert publish.base_fault(data) == "older"
    (said,) = publish.heal(data)
    assert said.endswith("2/gpuledger.duckdb stands in its place")
    assert (publish.heal(data), publish.base_fault(data), runs(data)) == ([], None, ["1", "2"])


def test_what_a_restore_published_is_the_newest_from_then_on(data: DataDir) -> None:
    older, newest = run(data, "1"), run(data, "2")
    newest.chmod(0o600)
    newest.write_bytes(b"no database")
    assert "1/gpuledger.duckdb is published again" in publish.restore(data)[-1]
    assert (publish.heal(data), publish.base_fault(data)) == ([], None)
    assert data.base.read_bytes() == older.read_bytes()


def test_a_clock_that_was_set_back_loses_nothing(data: DataDir) -> None:
    """Versions are named by time. Where the clock goes back, the newest is not the last by name."""
    for run_id in ("5", "6", "7", "8", "9", "2", "1"):
        run(data, run_id)
        publish.heal(data)
    assert runs(data) == ["1", "2", "5", "6", "7", "8", "9"]
    assert data.published.resolve().exists()


def test_old_versions_go_with_what_a_session_left_beside_them(data: DataDir) -> None:
    for n in range(publish.KEEP_VERSIONS):
        run(data, str(n))
    publish.version_of(data, "0").with_name("gpuledger.duckdb.wal").write_bytes(b"an analyst's")
    run(data, "5")
    assert sorted(path.name for path in data.versions.iterdir()) == ["1", "2", "3", "4", "5"]


def test_whoever_opens_the_link_finds_one_name_of_the_catalog_every_night(data: DataDir) -> None:
    for run_id in ("1", "2"):
        run(data, run_id)
        with duckdb.connect(str(data.published), read_only=True) as con:
            newest = con.execute(
                "SELECT current_database(), max(run_id) FROM gpuledger.ops.run GROUP BY ALL"
            ).fetchone()
            assert newest == ("gpuledger", run_id)


def test_a_file_of_somebody_else_is_not_written_over(data: DataDir) -> None:
    data.root.mkdir()
    data.published.write_text("a diary")
    with pytest.raises(NotAWarehouse, match=r"is a file, and not the link to a version"):
        publish.heal(data)
    assert data.published.read_text() == "a diary"


def test_a_base_without_a_version_that_is_no_database_says_the_remedy(data: DataDir) -> None:
    data.state.mkdir(parents=True)
    data.base.write_bytes(b"garbage" * 1000)
    with pytest.raises(
        NotAWarehouse, match=r"base\.duckdb cannot be opened by DuckDB .*restore it from a file in versions/"
    ):
        run(data, "2")


def test_too_little_memory_and_disk_is_said_with_the_remedy(data: DataDir) -> None:
    run(data, "1")
    with (
        pytest.raises(
            WarehouseError, match=r"DuckDB could not go on \(Out of Memory.*: raise memory_limit .*20MB.*make room"
        ),
        publish.workspace(data, "2", memory_limit="20MB") as (con, _),
    ):
        con.execute(
            "SET max_temp_directory_size = '1MB'; CREATE TABLE t AS SELECT range AS a FROM range(5000000) ORDER BY hash(a)"
        )
    assert runs(data) == ["1"]
    assert not list(data.state.glob("work-*"))


def test_a_version_is_for_reading_only_and_its_format_is_old_enough_for_others(data: DataDir) -> None:
    version = run(data, "1")
    assert version.stat().st_mode & 0o777 == 0o444
    with duckdb.connect(str(version), read_only=True) as con:
        ((tags,),) = con.execute("SELECT tags FROM duckdb_databases() WHERE path IS NOT NULL").fetchall()
    assert tags["storage_version"].startswith("v1.5")


#: Publishes twice in a process of its own, and prints what it asked of the operating system, in order. The calls are real:
#: they are written down, and then made.
PUBLISHER = """
import os, shutil, sys
from pathlib import Path

data_dir = Path(sys.argv[1])
calls = []


def name(path):
    return os.path.relpath(path, data_dir)


real_sync, real_replace, real_copy, real_symlink = os.fsync, os.replace, shutil.copyfile, os.symlink


def sync(descriptor):
    calls.append("sync " + name(os.readlink(f"/proc/self/fd/{descriptor}")))
    return real_sync(descriptor)


def replace(self, target):
    calls.append(f"rename {name(self)} {name(target)}")
    real_replace(self, target)
    return Path(target)


def copy(source, target, **more):
    calls.append(f"copy {name(source)} {name(target)}")
    return real_copy(source, target, **more)


def link(self, target, target_is_directory=False):
    calls.append(f"link {name(self)} {target}")
    return real_symlink(target, self)


from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir

data = DataDir(data_dir)
for run_id in ("1", "2"):
    publish.heal(data)
    with publish.workspace(data, run_id) as (con, work):
        con.execute("INSERT INTO ops.run (run_id) VALUES (?)", [run_id])
        os.fsync, Path.replace, shutil.copyfile, Path.symlink_to = sync, replace, copy, link
        publish.publish(con, data, work, run_id)
        os.fsync, shutil.copyfile = real_sync, real_copy
print("\\n".join(calls))
"""


def calls(data: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PUBLISHER, str(data)],
        env=environment(),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found = done.stdout.splitlines()
    second = found.index(next(call for call in found if "versions/2.part" in call))
    return found[second:]


def test_bytes_are_on_disk_before_their_name_and_the_name_before_the_next_step(tmp_path: Path) -> None:
    seen = calls(Path(os.path.realpath(tmp_path)))
    part, version = "versions/2.part/gpuledger.duckdb", "versions/2"

    def at(call: str, after: int = -1) -> int:
        assert call in seen[after + 1 :], (call, seen)
        return seen.index(call, after + 1)

    copied = at(f"copy state/work-2.duckdb {part}")
    whole = at(f"sync {part}", copied)
    noted = at("sync state/publishing")
    named = at("sync state", noted)
    entered = at("sync versions/2.part", whole)
    renamed = at(f"rename versions/2.part {version}", max(entered, named))
    kept = at("sync versions", renamed)
    base_whole = at("sync state/work-2.duckdb")
    base = at("rename state/work-2.duckdb state/base.duckdb", max(kept, base_whole))
    base_kept = at("sync state", base)
    swap = next(n for n, call in enumerate(seen) if call.endswith(" gpuledger.duckdb") and call.startswith("rename ."))
    assert base_kept < swap, seen
    at("sync .", swap)
