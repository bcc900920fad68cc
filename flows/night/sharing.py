"""What several machines share, if the setting `store` names a store. A run takes the writer's lease, begins with what the
store holds, and leaves its results there. On a single machine, a run takes only the writer's lock.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from filelock import FileLock

from gpuledger.extract import batches, objects
from gpuledger.extract.archive.exchange import Exchange
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.objects import Objects, StoreError
from gpuledger.flows.night import run_log
from gpuledger.warehouse import private, publish
from gpuledger.warehouse.lock import writer_lock
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import bring, head, lease, send
from gpuledger.warehouse.shared.head import Head, Superseded

_log = logging.getLogger("gpuledger")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@contextmanager
def writing(data: DataDir) -> Iterator[None]:
    """Hold the right to write while the block runs, into this directory and into the store.

    Raises Locked, at once, if another run writes, Diverged if the directory has another history than the store, and
    StoreError.
    """
    with writer_lock(data.lock):
        store = objects.of(data.store)
        if store is None:
            yield
            return
        with lease.held(data, store) as held:
            _begin(data, store, held.head)
            try:
                yield
            finally:
                _leave(data, held.is_lost)


def catch_up(data: DataDir) -> None:
    """Bring in what the store holds, without writing there, for questions about the archive before a run begins."""
    store = objects.of(data.store)
    if store is not None:
        with writer_lock(data.lock):
            _begin(data, store, head.read_head(store).head)


def send_archive(data: DataDir) -> None:
    """Send the pages that a version refers to, before it is published. Raises StoreError."""
    store = objects.of(data.store)
    if store is not None:
        epoch = lease.of(data).head.epoch
        with _exchange(data, store) as exchange:
            exchange.send(epoch)
            exchange.bring(epoch)  # the pages that workers read


def begin_reading(data: DataDir) -> None:
    """Before a worker reads, bring in the log of fetches, so that it can ask whether pages changed. Raises StoreError."""
    store = objects.of(data.store)
    if store is not None:
        epoch = head.read_head(store).head.epoch
        with _exchange(data, store) as exchange:
            exchange.send(epoch)
            exchange.bring(epoch)


def hand_over(data: DataDir, run_id: str, batch: Collected) -> None:
    """Put what a worker read into the store, for the run that writes: first pages and log, then the batch."""
    store = objects.of(data.store)
    assert store is not None
    epoch = head.read_head(store).head.epoch
    with _exchange(data, store) as exchange:
        exchange.send(epoch)
    store.create(_handed(run_id, part_of(batch.source, batch.shop)), batches.dumps(batch))


def take_over(data: DataDir, run_id: str, source: str, shop: str = "") -> Collected | None:
    """The batch that a worker put into the store; None if the worker did not get that far.

    Raises StoreError if the object is not that batch.
    """
    store = objects.of(data.store)
    assert store is not None
    key = _handed(run_id, part_of(source, shop))
    stored = store.get(key)
    if stored is None:
        return None
    try:
        batch = batches.loads(stored[0])
    except ValueError as error:
        raise StoreError(
            f"{store.address}/{key} is no batch of a worker ({error}): let all machines run one version"
        ) from None
    if (batch.source, batch.shop) != (source, shop):
        raise StoreError(f"{store.address}/{key} is a batch of {f'{batch.source} {batch.shop}'.rstrip()!r}")
    return batch


def part_of(source: str, shop: str) -> str:
    """The name under which a source, or one shop of it, is handed over: with a hash, as a shop's name may hold anything."""
    return f"{source}-{hashlib.sha256(shop.encode()).hexdigest()[:16]}" if shop else source


def clear_handed(data: DataDir) -> None:
    """Delete what workers handed over to this run and to earlier ones. The caller holds the writer's lease."""
    store = objects.of(data.store)
    if store is not None:
        store.delete(entry.key for entry in store.listed("handover/"))


def forget(data: DataDir, pages: Collection[str]) -> None:
    """Delete from the store what a vacuum deleted here: pages, the lines of their fetches, versions.

    Raises what `commit` raises.
    """
    store = objects.of(data.store)
    if store is not None:
        epoch = lease.of(data).head.epoch + 1
        with _exchange(data, store) as exchange:
            exchange.renew(epoch)
            send.forget(data, epoch)
            exchange.forget(pages, epoch)


def _begin(data: DataDir, store: Objects, now: Head) -> None:
    if data.publishing.exists():
        publish.heal(data)
    run_log.heal(data)
    with _exchange(data, store) as exchange:
        exchange.send(now.epoch)
        exchange.bring(now.epoch)
    bring.bring(data, store, now)


def _leave(data: DataDir, is_lost: bool) -> None:
    """Send what is not published to the store: the pages of a run that failed, and the record that it failed."""
    if is_lost:
        return
    try:
        send_archive(data)
        send.settle(data)
    except (Superseded, StoreError) as error:
        _log.warning("what this run left unpublished is here, and not in the store yet: %s", error)


def _handed(run_id: str, source: str) -> str:
    """The key of a batch that is handed over. Raises ValueError for names that would lead outside that folder."""
    if not (_NAME.fullmatch(run_id) and _NAME.fullmatch(source)):
        raise ValueError(f"{run_id!r} is no run's id, or {source!r} no source's name")
    return f"handover/{run_id}/{source}.json"


@contextmanager
def _exchange(data: DataDir, store: Objects) -> Iterator[Exchange]:
    """The archive's exchange with the store. One process at a time, as the workers of a machine may share the folder."""
    private.make_folder(data.state)
    with FileLock(data.state / "exchange.lock"):
        yield Exchange(Archive(data.snapshots, store), store)
