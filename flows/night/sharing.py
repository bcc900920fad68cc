"""What several machines share, where the setting `store` names a store: a run takes the writer's lease, begins with what the
store holds, and leaves there what it made. On one machine all of it is the writer's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from gpuledger.extract import objects
from gpuledger.extract.archive.exchange import Exchange
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.objects import Objects, StoreError
from gpuledger.flows.night import run_log
from gpuledger.warehouse import publish
from gpuledger.warehouse.lock import writer_lock
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import bring, head, lease, send
from gpuledger.warehouse.shared.head import Head, Superseded

_log = logging.getLogger("gpuledger")


@contextmanager
def writing(data: DataDir) -> Iterator[None]:
    """Be the one who writes while the block runs: here, and into the store.

    Raises Locked, at once, where another run writes, Diverged where the directory is of another history than the store,
    and StoreError.
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
    """Take over what the store holds, without writing there: for what is asked of the archive before a run begins."""
    store = objects.of(data.store)
    if store is not None:
        with writer_lock(data.lock):
            _begin(data, store, head.read(store).head)


def send_archive(data: DataDir) -> None:
    """Send the pages that a version refers to, before it is published. Raises StoreError."""
    store = objects.of(data.store)
    if store is not None:
        _exchange(data, store).send(lease.of(data).head.epoch)


def forget(data: DataDir, pages: Collection[str]) -> None:
    """Forget in the store what a vacuum forgot here: pages, the lines of their fetches, versions. Raises what `commit`
    raises.
    """
    store = objects.of(data.store)
    if store is not None:
        exchange, epoch = _exchange(data, store), lease.of(data).head.epoch + 1
        exchange.renew(epoch)
        send.forget(data, epoch)
        exchange.forget(pages, epoch)


def _begin(data: DataDir, store: Objects, now: Head) -> None:
    if data.publishing.exists():
        publish.heal(data)
    run_log.heal(data)
    exchange = _exchange(data, store)
    exchange.send(now.epoch)
    exchange.bring(now.epoch)
    bring.bring(data, store, now)


def _leave(data: DataDir, is_lost: bool) -> None:
    """Leave in the store what is not published: the pages of a run that failed, and that it did."""
    if is_lost:
        return
    try:
        send_archive(data)
        send.settle(data)
    except (Superseded, StoreError) as error:
        _log.warning("what this run left unpublished is here, and not in the store yet: %s", error)


def _exchange(data: DataDir, store: Objects) -> Exchange:
    return Exchange(Archive(data.snapshots, store), store)
