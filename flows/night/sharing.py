"""What a machine shares through a store, if the setting `store` names one: what it published goes there, and what workers
read elsewhere comes from there. Without one, a run takes only the writer's lock, and workers see the same data directory.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from filelock import FileLock

from gpuledger.extract import batches, local_files
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.fetch_log import FetchLog
from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.warehouse import private, publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.lock import writer_lock
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import bring, files, head, send

_log = logging.getLogger("gpuledger")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@contextmanager
def writing(data: DataDir) -> Iterator[None]:
    """Hold the right to write into this directory while the block runs, then send to the store what it lacks.

    Raises Locked, at once, if another run writes, NewerWarehouse if a newer program wrote what is here, and StoreError if an
    empty directory cannot begin with what the store has.
    """
    with writer_lock(data.lock):
        publish.refuse_newer(data)
        if (store := objects.store_at(data.store)) and not data.base.exists() and not data.published.exists():
            bring.begin(data, store, head.read_head(store))
        try:
            yield
        finally:
            try:
                send_all(data)
            except (WarehouseError, OSError) as error:
                _log.warning("what this run left is here, and not in the store yet: %s", error)


def send_all(data: DataDir) -> None:
    """Send what was published here to the store, if there is one. Raises Diverged and StoreError."""
    if store := objects.store_at(data.store):
        send.send(data, store, Archive(data.snapshots, store).send)


def begin_reading(data: DataDir, source: str) -> None:
    """Before a worker reads, bring in the log of fetches, so that it can ask whether pages changed. Raises StoreError."""
    store = objects.store_at(data.store)
    if store is None:
        return
    file = head.read_head(store).files.get(path := f"snapshots/log/{source}.jsonl")
    taken, part = data.state / f"fetches-{source}", data.state / f"fetches-{source}.part"
    private.make_folder(data.state)
    with FileLock(data.state / "fetches.lock"):  # other workers may share the folder
        if file is None or (taken.exists() and taken.read_text() == file.sha256):
            return
        try:
            files.download(store, path, file, part)
            Archive(data.snapshots).log(source).take_in(FetchLog(part, source).fetches())
        finally:
            part.unlink(missing_ok=True)
        private.write(taken, file.sha256.encode())


def hand_over(data: DataDir, run_id: str, batch: Collected) -> None:
    """Give what a worker read to the run that writes. If they share only a store, first the pages and their fetches."""
    place, key = _handover(data), _handed(run_id, batch.source, batch.shop)
    if data.store:
        archive = Archive(data.snapshots, place)
        fetches = archive.of_run(batch.source, run_id)
        archive.send({fetch.sha256 for fetch in fetches})
        place.write(f"{key}.fetches", json.dumps([fetch.to_json() for fetch in fetches]).encode())
    place.write(key, batches.dumps(batch))


def take_over(data: DataDir, run_id: str, source: str, shop: str = "") -> Collected | None:
    """The batch that a worker gave; None if the worker did not get that far. Raises StoreError if it is not that batch."""
    store, key = _handover(data), _handed(run_id, source, shop)
    stored = store.get(key)
    if stored is None:
        return None
    try:
        batch = batches.loads(stored)
        fetched = store.get(f"{key}.fetches")
        fetches = [Snapshot.from_json(fetch) for fetch in local_files.loads(fetched)] if fetched else []
        Archive(data.snapshots).log(source).take_in(fetches)
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"{store.address}/{key} is no batch of a worker ({error}): let all machines run one version"
        ) from None
    if (batch.source, batch.shop) != (source, shop):
        raise StoreError(f"{store.address}/{key} is a batch of {f'{batch.source} {batch.shop}'.rstrip()!r}")
    return batch


def clear_handed(data: DataDir, run_id: str) -> None:
    """Delete what workers handed over to this run."""
    place = _handover(data)
    place.delete([entry.key for entry in place.listed(f"handover/{run_id}/")])


def _handover(data: DataDir) -> Objects:
    """Where workers hand over: the store, or without one the data directory, which all of them see then."""
    place = objects.store_at(data.store or f"file://{data.state.resolve()}")
    assert place is not None
    return place


def forget(data: DataDir, pages: Collection[str]) -> None:
    """Delete from the store the pages that a vacuum deleted here, and what workers handed over to runs that were killed.

    Raises Diverged and StoreError.
    """
    if store := objects.store_at(data.store):
        archive = Archive(data.snapshots, store)
        send.send(data, store, archive.send)  # from now on it names none of them
        keys = [archive.key(path) for sha256 in pages for path in archive.paths(sha256)]
        store.delete([*keys, *(entry.key for entry in store.listed("handover/"))])


def _handed(run_id: str, source: str, shop: str) -> str:
    """The key of a batch that is handed over, with a hash of the shop, as its name may hold anything.

    Raises ValueError for names that would lead outside that folder.
    """
    if not (_NAME.fullmatch(run_id) and _NAME.fullmatch(source)):
        raise ValueError(f"{run_id!r} is no run's id, or {source!r} no source's name")
    part = f"{source}-{hashlib.sha256(shop.encode()).hexdigest()[:16]}" if shop else source
    return f"handover/{run_id}/{part}.json"
