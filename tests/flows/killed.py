"""Refreshes in child processes that are killed: a script that takes orders as JSON lines on standard input.

The process imports everything once and forks a child for each order, so a killed run costs the work and not the imports.
It opens no database and starts no thread itself: a fork would carry half of it over.

An order is `{"data", "night", "only"}` with one of `"after": seconds`, kill that late; `"before": n`, kill itself right
before its n-th change of the data directory (the interpreter reports each one, see PEP 578); or neither. The answer is
`{"status", "events"}`: the exit status (-9 when killed), and for a run that ended the changes that it made, in order.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.flows import inprocess
from tests.support.forked import warm_up

_CHANGES = {"open", "os.rename", "os.remove", "os.symlink", "os.chmod", "os.mkdir", "os.rmdir", "os.truncate"}


class Witness:
    """Counts what the run changes below a folder, and kills the process at one of them."""

    def __init__(self, folder: str, fatal: int | None) -> None:
        self.folder = folder
        self.fatal = fatal
        self.events: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _CHANGES or not arguments or not isinstance(arguments[0], str | os.PathLike):
            return
        path = os.fspath(arguments[1] if event == "os.symlink" else arguments[0])
        if not isinstance(path, str) or not path.startswith(self.folder):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        with self._lock:
            if len(self.events) == self.fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            self.events.append(f"{event} {path.removeprefix(self.folder)}")


def child(order: dict[str, Any], answer: int) -> None:
    """Run the refresh that was ordered, and tell the changes that it made."""
    witness = Witness(order["data"], order.get("before"))
    if "after" not in order:
        sys.addaudithook(witness)
    summary = inprocess.refresh(Path(order["data"]), order["night"], only=order.get("only"))
    os.write(answer, json.dumps(witness.events).encode())
    os._exit(summary.exit_status)


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Fork, kill where that was asked for, and wait."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child(order, writing)
        finally:
            os._exit(99)
    os.close(writing)
    if "after" in order:
        time.sleep(order["after"])
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(pid, 0)
    return {"status": os.waitstatus_to_exitcode(status), "events": json.loads(told or b"null")}


def main() -> None:
    warm_up()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(carry_out(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
