"""A killed owner takes with it everything that it started, at any depth; and nothing of anybody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.prefect_.processes import MARK, guarded, stop_leftovers
from tests.command import ROOT, environment

#: An owner whose child has a child of its own, in a session of its own: what a library starts three levels down.
OWNER = """
import subprocess, sys, time
from pathlib import Path
from gpuledger.flows.prefect_.processes import guarded
child = '''
import subprocess
p = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(p.pid, flush=True)
p.wait()
'''
with guarded(Path(sys.argv[1])):
    p = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
    print(p.pid, p.stdout.readline().strip(), flush=True)
    if sys.argv[2] == "wait":
        time.sleep(600)
"""


class Owner:
    """An owner in a process of its own; `family` are its child, grandchild and warden."""

    def __init__(self, state: Path, how: str = "wait") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(state), how],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        pids = [int(word) for word in self.process.stdout.readline().split()]
        me = psutil.Process(self.process.pid)
        self.wardens = (
            [child for child in me.children() if "gpuledger.flows.prefect_.processes" in child.cmdline()]
            if how == "wait"
            else []
        )
        self.family = [psutil.Process(pid) for pid in pids] + self.wardens if how == "wait" else []
        self.pids = pids

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def owners() -> Iterator[list[Owner]]:
    found: list[Owner] = []
    yield found
    for owner in found:
        owner.kill()
        for process in owner.family:
            if process.is_running():
                process.kill()


def gone(processes: list[psutil.Process]) -> bool:
    """Whether all of them end; some time is theirs."""
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def test_a_kill_takes_the_whole_family(tmp_path: Path, owners: list[Owner]) -> None:
    owners.append(Owner(tmp_path))
    (owner,) = owners
    assert len(owner.wardens) == 1
    assert all(process.is_running() for process in owner.family)
    owner.kill()
    assert gone(owner.family)


def test_ctrl_c_in_the_terminal_reaches_the_warden_last(tmp_path: Path, owners: list[Owner]) -> None:
    owners.append(Owner(tmp_path))
    assert os.getpgid(owners[0].wardens[0].pid) != os.getpgid(owners[0].process.pid)


def test_an_owner_that_just_ends_leaves_nothing_either(tmp_path: Path) -> None:
    owner = Owner(tmp_path, "end")
    owner.process.wait(timeout=30)
    assert not [
        pid for pid in owner.pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]
    assert list((tmp_path / "guards").iterdir()) == []


def test_where_the_warden_was_killed_too_the_next_start_clears_up(tmp_path: Path, owners: list[Owner]) -> None:
    owners += [Owner(tmp_path), Owner(tmp_path)]
    dead, alive = owners
    for warden in dead.wardens:
        warden.kill()
    dead.kill()
    left = [process for process in dead.family if process not in dead.wardens]
    time.sleep(0.3)
    assert all(process.is_running() for process in left)
    assert set(stop_leftovers(tmp_path)) == {process.pid for process in left}
    assert gone(left)
    assert all(process.is_running() for process in alive.family)


def test_the_mark_does_not_stay_in_the_environment(tmp_path: Path) -> None:
    before = os.environ.get(MARK)
    with guarded(tmp_path):
        assert os.environ[MARK].startswith(str(tmp_path))
    assert os.environ.get(MARK) == before


def test_a_terminated_owner_ends_its_family(tmp_path: Path, owners: list[Owner]) -> None:
    owners.append(Owner(tmp_path))
    owners[0].process.send_signal(signal.SIGTERM)
    assert gone(owners[0].family)
