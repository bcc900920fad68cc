"""What is published survives a power cut: bytes reach the disk before the name that stands for them does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.command import ROOT, environment

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
