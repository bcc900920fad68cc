"""Makes sure that no process outlives the process that started it, even if that was killed with -9.

In a `guarded` block, this process keeps a named pipe open for writing and names the pipe in its environment. Every process
that it starts inherits that, also those that Prefect starts for it. Each child holds the reading end (`end_with_owner`).
When the owner ends, in whatever way, the operating system closes the pipe. Then the child kills its own children and itself.

Shown by tests/ops/test_processes.py.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psutil

_log = logging.getLogger("gpuledger.prefect")

#: The environment variable with the path of the pipe. Its name does not begin with GPULEDGER_, as those are settings.
OWNER = "_GPULEDGER_OWNER"
#: Seconds that an owner waits for its children when it ends.
_WAIT_S = 30.0
_LOOK_EVERY_S = 0.05


@contextmanager
def guarded(state: Path) -> Iterator[None]:
    """While the block runs, children end with this process. After the block, they have ended."""
    folder = (state / "guards").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.pipe"
    os.mkfifo(path, 0o600)
    # Open for reading too, as opening a pipe only for writing waits for a reader.
    pipe = os.open(path, os.O_RDWR)
    before = os.environ.get(OWNER)
    os.environ[OWNER] = str(path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[OWNER]
        else:
            os.environ[OWNER] = before
        os.close(pipe)
        _wait_for_children(path)
        path.unlink(missing_ok=True)


@cache
def end_with_owner() -> None:
    """From now on this process ends when its owner ends, at once if the owner has ended. Does nothing without an owner.

    Call it first in any code that runs in a process of its own. Further calls change nothing.
    """
    path = os.environ.get(OWNER)
    if path is None:
        return
    try:
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        _end()
    os.set_blocking(pipe, True)
    threading.Thread(target=_wait_for_end, args=(pipe,), name="owner", daemon=True).start()


def _wait_for_end(pipe: int) -> None:
    # Nobody writes into the pipe, so the read returns when the pipe is closed.
    os.read(pipe, 1)
    _end()


def _end() -> None:
    """Kill what this process has started, at any depth, and then this process."""
    me = psutil.Process()
    for child in me.children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    me.kill()


def _wait_for_children(path: Path) -> None:
    """Wait until no process has the pipe open for reading."""
    ends = time.monotonic() + _WAIT_S
    while _has_reader(path):
        if time.monotonic() > ends:
            _log.warning("a process that was started here has not ended within %g s", _WAIT_S)
            return
        time.sleep(_LOOK_EVERY_S)


def _has_reader(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove the pipes of owners that were killed. Their children have ended, as the pipe was closed."""
    for path in folder.glob("*.pipe"):
        with suppress(FileNotFoundError):
            pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                os.read(pipe, 1)
            except BlockingIOError:
                continue  # its owner has it open
            finally:
                os.close(pipe)
            path.unlink()
