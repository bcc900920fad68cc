"""A killed owner takes with it everything that it started, at any depth; and nothing of anybody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.prefect_.processes import OWNER, guarded
from tests.command import ROOT, environment

#: A child that ends with its owner, and has started something in a session of its own that knows nothing of owners.
CHILD = """
import subprocess, time
from gpuledger.flows.prefect_.processes import end_with_owner
end_with_owner()
p = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(p.pid, flush=True)
p.wait()
time.sleep(600)  # its own child is ended first
"""

OWNING = f"""
import subprocess, sys, time
from pathlib import Path
from gpuledger.flows.prefect_.processes import guarded
with guarded(Path(sys.argv[1])):
    p = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE, text=True)
    print(p.pid, p.stdout.readline().strip(), flush=True)
    if sys.argv[2] == "wait":
        time.sleep(600)
"""


class Owner:
    """An owner in a process of its own; `family` are its child and its grandchild."""

    def __init__(self, state: Path, how: str = "wait") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNING, str(state), how],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        self.pids = [int(word) for word in self.process.stdout.readline().split()]
        self.family = [psutil.Process(pid) for pid in self.pids] if how == "wait" else []

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def owners() -> Iterator[list[Owner]]:
    started: list[Owner] = []
    yield started
    for owner in started:
        owner.kill()
        for process in owner.family:
            if process.is_running():
                process.kill()


def have_ended(processes: list[psutil.Process]) -> bool:
    """Whether all of them end; some time is theirs."""
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def test_a_kill_takes_the_whole_family_and_nobody_elses(tmp_path: Path, owners: list[Owner]) -> None:
    owners += [Owner(tmp_path), Owner(tmp_path)]
    killed, other = owners
    assert len(killed.family) == 2
    assert all(process.is_running() for process in killed.family)
    killed.kill()
    assert have_ended(killed.family)
    assert all(process.is_running() for process in other.family)


def test_a_terminated_owner_ends_its_family(tmp_path: Path, owners: list[Owner]) -> None:
    owners.append(Owner(tmp_path))
    owners[0].process.send_signal(signal.SIGTERM)
    assert have_ended(owners[0].family)


def test_an_owner_that_just_ends_leaves_nothing_either(tmp_path: Path) -> None:
    owner = Owner(tmp_path, "end")
    owner.process.wait(timeout=30)
    assert not [
        pid for pid in owner.pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]
    assert list((tmp_path / "guards").iterdir()) == []


def test_a_child_that_comes_too_late_ends_at_once(tmp_path: Path, owners: list[Owner]) -> None:
    """It may still have been importing when its owner was killed."""
    owners.append(Owner(tmp_path))
    (pipe,) = (tmp_path / "guards").iterdir()
    owners[0].kill()
    for path in (pipe, tmp_path / "gone.pipe"):
        late = subprocess.run(
            [sys.executable, "-c", CHILD], env=environment({OWNER: str(path)}), timeout=60, check=False
        )
        assert late.returncode == -signal.SIGKILL


def test_the_pipe_of_a_killed_owner_is_cleared_away_and_that_of_a_living_one_is_not(
    tmp_path: Path, owners: list[Owner]
) -> None:
    owners.append(Owner(tmp_path))
    (left,) = (tmp_path / "guards").iterdir()
    owners[0].kill()
    owners.append(Owner(tmp_path))
    with guarded(tmp_path):
        pipes = set((tmp_path / "guards").iterdir())
        assert left not in pipes
        assert len(pipes) == 2
        assert all(process.is_running() for process in owners[1].family)


def test_without_an_owner_nothing_ends(tmp_path: Path) -> None:
    script = "from gpuledger.flows.prefect_.processes import end_with_owner; end_with_owner(); print('alive')"
    run = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout == "alive\n"


def test_the_pipe_does_not_stay_in_the_environment(tmp_path: Path) -> None:
    before = os.environ.get(OWNER)
    with guarded(tmp_path):
        assert os.environ[OWNER].startswith(str(tmp_path))
    assert os.environ.get(OWNER) == before
