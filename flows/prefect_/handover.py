"""Hand a worker's batch to the run that writes, through the data directory that both of them see, or through the store.

In the data directory the batch is a pickle. The classes are this very program's, and a person who can write into the data
directory can change the warehouse itself anyway. Prefect's own results would carry whole batches through its server's
storage.

Shown by tests/ops/test_workers.py.
"""

from __future__ import annotations

import pickle
import re
import shutil
from pathlib import Path

from gpuledger.extract.collect import Collected
from gpuledger.flows.night import sharing
from gpuledger.warehouse.paths import DataDir

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def give(data: DataDir, run_id: str, collected: Collected) -> None:
    """Store one source's batch for the run, as a whole or not at all."""
    if data.store:
        sharing.hand_over(data, run_id, collected)
        return
    path = _path(data, run_id, sharing.part_of(collected.source, collected.shop))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(collected))
    part.replace(path)


def take(data: DataDir, run_id: str, source: str, shop: str = "") -> Collected | None:
    """The batch that a worker stored; None if the worker did not get that far."""
    if data.store:
        return sharing.take_over(data, run_id, source, shop)
    try:
        collected = pickle.loads(_path(data, run_id, sharing.part_of(source, shop)).read_bytes())
    except FileNotFoundError:
        return None
    assert isinstance(collected, Collected)
    return collected


def clear(data: DataDir, run_id: str) -> None:
    """Delete the batches that workers handed to this run and to earlier ones. The caller holds the writer's lock."""
    sharing.clear_handed(data, run_id)
    shutil.rmtree(_folder(data), ignore_errors=True)


def _folder(data: DataDir) -> Path:
    return data.state / "handover"


def _path(data: DataDir, run_id: str, source: str) -> Path:
    """The file of a batch. Raises ValueError for names that would lead out of the folder."""
    if not (_NAME.fullmatch(run_id) and _NAME.fullmatch(source)):
        raise ValueError(f"{run_id!r} is no run's id, or {source!r} no source's name")
    return _folder(data) / run_id / f"{source}.pickle"
