"""No process outlives the one that started it, also where that one was killed with -9.

While `guarded` holds, everything that this process starts carries a mark in its environment, and a small warden process
waits at the other end of a pipe. The pipe closes when its owner ends, by whatever means; the warden then kills all that
carry the mark, those included that a library started three levels down. Where the warden was killed as well (a machine
short of memory takes whom it likes), the next start does it: each owner holds a lock file that the operating system
drops with it, so a mark whose lock is free belongs to nobody.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

#: Not GPULEDGER_…: those are settings.
MARK = "_GPULEDGER_GUARD"
#: Rounds without finding anyone after which the warden believes that all are gone: one may be between fork and exec.
_QUIET_ROUNDS = 3
_ROUND_S = 0.1
_MAX_ROUNDS = 300


@contextmanager
def guarded(state: Path) -> Iterator[None]:
    """While the block runs, children die with this process; what an earlier owner left behind is killed first."""
    folder = (state / "guards").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stop_leftovers(state)
    path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.lock"
    lock = FileLock(path)
    # Not at once: another owner that is looking for leftovers may hold it for a moment.
    lock.acquire(timeout=10)
    before = os.environ.get(MARK)
    os.environ[MARK] = str(path)
    # A session of its own: Ctrl-C in the terminal must not take the warden first.
    warden = subprocess.Popen(
        [sys.executable, "-m", "gpuledger.flows.prefect_.processes", str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before
        assert warden.stdin is not None
        warden.stdin.close()
        warden.wait()
        lock.release()
        path.unlink(missing_ok=True)


def stop_leftovers(state: Path) -> list[int]:
    """Kill what owners that are no more have left running; returns the process ids."""
    killed: list[int] = []
    for path in sorted((state / "guards").resolve().glob("*.lock")):
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue  # its owner lives
        try:
            killed += kill_marked(str(path))
        finally:
            lock.release()
            path.unlink(missing_ok=True)
    return killed


def kill_marked(mark: str) -> list[int]:
    """Kill every process of ours that carries `mark`, and wait until none is left; returns the process ids."""
    killed: list[int] = []
    quiet = 0
    for _ in range(_MAX_ROUNDS):
        found = marked(mark)
        quiet = 0 if found else quiet + 1
        if quiet == _QUIET_ROUNDS:
            break
        for process in found:
            with suppress(psutil.Error):
                process.kill()
                killed.append(process.pid)
        time.sleep(_ROUND_S)
    return sorted(set(killed))


def marked(mark: str) -> list[psutil.Process]:
    """Running processes that were started with `mark`, this one left out."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _ward(mark: str) -> None:
    """Wait for the owner's end of the pipe to close, then kill what it left."""
    sys.stdin.buffer.read()
    kill_marked(mark)


if __name__ == "__main__":
    _ward(sys.argv[1])
