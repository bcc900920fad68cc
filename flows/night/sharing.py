"""What a machine shares with the workers that read for it: a data directory, or a store that the setting `store` names."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from gpuledger import local_files
from gpuledger.extract import batches
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.warehouse import publish
from gpuledger.warehouse.lock import writer_lock
from gpuledger.warehouse.paths import DataDir

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@contextmanager
def writing(data: DataDir) -> Iterator[None]:
    """Hold the right to write into this directory while the block runs.

    Raises Locked, at once, if another run writes, and NewerWarehouse if a newer program wrote what is here.
    """
    with writer_lock(data.lock):
        publish.refuse_newer(data)
        yield


def lend(data: DataDir, source: str) -> None:
    """Before a worker reads, put the log of fetches into the store, so that it can ask whether pages changed."""
    log = data.snapshots / "log" / f"{source}.jsonl"
    if (store := objects.store_at(data.store)) and log.exists():
        store.write(f"log/{source}.jsonl", log.read_bytes())


def begin_reading(data: DataDir, source: str) -> None:
    """Bring in the log of fetches that the writer put into the store, if there is one. Raises StoreError."""
    store = objects.store_at(data.store)
    content = store.get(f"log/{source}.jsonl") if store else None
    if content is not None:
        fetches = [Snapshot.from_json(local_files.loads(line)) for line in content.splitlines() if line.strip()]
        Archive(data.snapshots).log(source).take_in(fetches)


def hand_over(data: DataDir, run_id: str, batch: Collected) -> None:
    """Give what a worker read to the run that writes. If they share only a store, first the pages and their fetches."""
    place, key = _handover(data), _handed(run_id, batch.source, batch.shop)
    if data.store:
        archive = Archive(data.snapshots, place)
        fetches = archive.log(batch.source).of_run(run_id)
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
    place.delete(place.listed(f"handover/{run_id}/"))


def _handover(data: DataDir) -> Objects:
    """Where workers hand over: the store, or without one the data directory, which all of them see then."""
    return objects.store_at(data.store) or objects.folder(data.state)


def forget(data: DataDir, pages: Collection[str]) -> None:
    """Delete from the store the pages that a vacuum deleted here, and what workers handed over to runs that were killed.

    Raises StoreError.
    """
    if store := objects.store_at(data.store):
        archive = Archive(data.snapshots)
        keys = [archive.key(path) for sha256 in pages for path in archive.paths(sha256)]
        store.delete([*keys, *store.listed("handover/")])


def _handed(run_id: str, source: str, shop: str) -> str:
    """The key of a batch that is handed over, with a hash of the shop, as its name may hold anything.

    Raises ValueError for names that would lead outside that folder.
    """
    if not (_NAME.fullmatch(run_id) and _NAME.fullmatch(source)):
        raise ValueError(f"{run_id!r} is no run's id, or {source!r} no source's name")
    part = f"{source}-{hashlib.sha256(shop.encode()).hexdigest()[:16]}" if shop else source
    return f"handover/{run_id}/{part}.json"
