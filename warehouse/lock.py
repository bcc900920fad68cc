"""One writer at a time: a lock that the operating system drops when its holder dies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from gpuledger.warehouse.errors import Locked


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the writer's lock while the block runs.

    Raises Locked, at once, naming process and start of the holder. The note beside the lock may outlive a killed holder;
    the lock itself does not, so the note alone never keeps anyone out.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    note = path.with_suffix(".json")
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Locked(
            f"another refresh is writing here: {_holder(note)}; wait for it to end, or stop that process"
        ) from None
    try:
        note.write_text(json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def _holder(note: Path) -> str:
    try:
        holder = json.loads(note.read_text())
        return f"process {holder['pid']}, since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return f"its note {note.name} is not there yet"
