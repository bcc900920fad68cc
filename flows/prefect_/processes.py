"""No process outlives the one that started it, also where that one was killed with -9.

While `guarded` holds, this process keeps a named pipe open for writing and names it in its environment, which everything
that it starts inherits, also what Prefect starts for it. Each child holds the reading end (`end_with_owner`). When the
owner ends, by whatever means, the operating system closes the pipe; the child then kills what it has started, and itself.
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

#: Where the pipe is. Not GPULEDGER_…: those are settings.
OWNER = "_GPULEDGER_OWNER"
#: How long an owner that ends waits for its children.
_WAIT_S = 30.0
_LOOK_EVERY_S = 0.05


@contextmanager
def guarded(state: Path) -> Iterator[None]:
    """While the block runs, children end with this process; when it is over, they have ended."""
    folder = (state / "guards").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.pipe"
    os.mkfifo(path, 0o600)
    # For reading too: to open a pipe for writing alone waits for a reader.
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
    """From now on this process ends when its owner does, at once where that is no more. Without an owner nothing happens.

    Call it first in whatever runs in a process of its own; to call it again changes nothing.
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
    # Nobody writes into the pipe: what comes is its end.
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
    """Remove the pipes of owners that were killed: their children have ended, as the pipe did."""
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
