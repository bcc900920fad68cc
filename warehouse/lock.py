"""One writer at a time: a lock that the operating system releases when its holder dies."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from gpuledger import local_files
from gpuledger.extract.archive import files
from gpuledger.message import Message
from gpuledger.warehouse.errors import Locked

#: Time that a new holder has to write its note [s].
_NOTE_WITHIN_S = 2.0


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the writer's lock while the block runs.

    Raises Locked at once if another process holds it, naming that process and its start. The note beside the lock may
    outlive a killed holder. The lock itself does not, so a note alone keeps nobody out.
    """
    files.make_folder(path.parent)
    note = path.with_suffix(".json")
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Locked(Message(
            "another refresh is writing here: {holder}; wait for it to end, or stop that process", holder=_holder(note),
        )) from None  # fmt: skip
    try:
        note.write_text(json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def _holder(note: Path) -> str:
    # The holder writes its note just after it has got the lock, so a process that is refused at that moment finds no note.
    until = time.monotonic() + _NOTE_WITHIN_S
    while True:
        try:
            holder = local_files.loads(note.read_text())
            return f"process {holder['pid']}, since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            if time.monotonic() > until:
                return f"its note {note.name} is not there"
            time.sleep(0.05)
