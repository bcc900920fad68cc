"""The run journal: a line when a run starts and one when it ends, outside the warehouse.

A run that fails publishes nothing, and a run that is killed cannot even say so; both must still be on record. The next run
that publishes takes the journal over into ops.run.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One run. `finished_at` is None while it runs, or where it never ended; `status` is then `interrupted`.

    `tick` is the time of the schedule that it stands for, where it stands for one.
    """

    run_id: str
    started_at: datetime
    as_of: datetime
    engine: str
    sample_night: int | None
    status: str = "interrupted"
    reason: str | None = None
    finished_at: datetime | None = None
    tick: datetime | None = None


def start(path: Path, entry: Entry) -> None:
    """Write down that a run begins."""
    _append(path, {"event": "start", **_plain(entry)})


def finish(path: Path, run_id: str, status: str, reason: str | None) -> None:
    """Write down how a run ended."""
    finished = datetime.now(UTC).isoformat()
    _append(path, {"event": "finish", "run_id": run_id, "status": status, "reason": reason, "finished_at": finished})


def read(path: Path) -> list[Entry]:
    """All runs on record, in the order in which they began. A torn line, left by a kill, is passed over."""
    if not path.exists():
        return []
    runs: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            words = json.loads(line)
            event, run_id = words.pop("event"), words["run_id"]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        runs.setdefault(run_id, {}).update(words)
        if event == "finish" and "engine" not in runs[run_id]:
            del runs[run_id]
    return [_entry(words) for words in runs.values()]


def ticks_done(path: Path) -> set[datetime]:
    """Times of the schedule whose run was published."""
    return {entry.tick for entry in read(path) if entry.tick is not None and entry.status.startswith("published")}


def _entry(words: dict[str, Any]) -> Entry:
    times = {
        name: datetime.fromisoformat(words[name])
        for name in ("started_at", "as_of", "finished_at", "tick")
        if words.get(name)
    }
    return Entry(**{**words, **times})


def _plain(entry: Entry) -> dict[str, Any]:
    words = asdict(entry)
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in words.items()}


def _append(path: Path, words: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        # What a full disk or a kill left of a line must not swallow this one.
        is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, ("\n" * is_torn + json.dumps(words) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
