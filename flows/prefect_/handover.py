"""Hand what a worker read to the run that writes, through the data directory that both of them see.

Pickled: the batch is of this very program's classes, and whoever can write into the data directory can change the
warehouse itself. Prefect's own results would carry whole batches through its server's storage.
"""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

from gpuledger.extract.collect import Collected
from gpuledger.warehouse.paths import DataDir


def give(data: DataDir, run_id: str, collected: Collected) -> None:
    """Put one source's batch down for the run; all of it is there, or nothing."""
    path = _path(data, run_id, collected.source)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(collected))
    part.replace(path)


def take(data: DataDir, run_id: str, source: str) -> Collected | None:
    """The batch that a worker put down, None where it did not come to that."""
    try:
        found = pickle.loads(_path(data, run_id, source).read_bytes())
    except FileNotFoundError:
        return None
    assert isinstance(found, Collected)
    return found


def clear(data: DataDir) -> None:
    """Drop what this and earlier runs handed over. The caller holds the writer's lock."""
    shutil.rmtree(_folder(data), ignore_errors=True)


def _folder(data: DataDir) -> Path:
    return data.state / "handover"


def _path(data: DataDir, run_id: str, source: str) -> Path:
    return _folder(data) / run_id / f"{source}.pickle"
