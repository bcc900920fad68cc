"""The lease in a store's head, by which one machine at a time may write into the store. It is renewed while it is held."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from gpuledger.extract.message import Message
from gpuledger.extract.objects import Objects, StoreError
from gpuledger.warehouse.errors import Locked, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import head as heads
from gpuledger.warehouse.shared.head import Head, Seen, Superseded


@dataclass(slots=True)
class Lease:
    """A lease that this machine holds, with the head that it wrote last."""

    store: Objects
    seconds: float
    _seen: Seen
    #: Whether another machine took the lease, so that this machine's writes no longer count.
    is_lost: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def head(self) -> Head:
        """The head as this machine wrote it last."""
        return self._seen.head

    def commit(self, change: Callable[[Head], Head]) -> Head:
        """Write a changed head, if no other machine has taken the lease since. Raises Superseded, and StoreError."""
        with self._lock:
            return self._write(change(self._seen.head))

    def renew(self) -> None:
        """Extend the lease by its whole time. Raises Superseded, and StoreError."""
        with self._lock:
            self._write(replace(self._seen.head, expires_at=_end(self.seconds)))

    def _write(self, head: Head) -> Head:
        try:
            self._seen = heads.write(self.store, head, self._seen)
        except Superseded:
            self.is_lost = True
            raise
        return head


#: The leases that this process holds, by data directory.
_HELD: dict[DataDir, Lease] = {}


def of(data: DataDir) -> Lease:
    """The lease that this process holds for a data directory. Raises WarehouseError if it holds none, so that nothing is
    written.
    """
    try:
        return _HELD[data]
    except KeyError:
        raise WarehouseError(Message("warehouse.nothing_published_without_writer_lease", store=data.store)) from None


@contextmanager
def held(data: DataDir, store: Objects) -> Iterator[Lease]:
    """Hold the lease while the block runs, and give it back at the end. After a kill it ends by itself in `lease_s` seconds.

    Raises Locked, naming the machine, if another machine holds it, and StoreError.
    """
    lease = _take(store, data.lease_s)
    stop = threading.Event()
    renewing = threading.Thread(target=_renew, args=(lease, stop), name="lease", daemon=True)
    renewing.start()
    _HELD[data] = lease
    try:
        yield lease
    finally:
        del _HELD[data]
        stop.set()
        renewing.join()
        _give_back(lease)


def _take(store: Objects, seconds: float) -> Lease:
    seen = heads.read_head(store)
    head = seen.head
    if head.expires_at is not None and head.expires_at > datetime.now(UTC):
        raise _locked(store, head)
    mine = replace(
        head, token=head.token + 1, lease=secrets.token_hex(8), expires_at=_end(seconds),
        holder=f"process {os.getpid()} on {socket.gethostname()}",
    )  # fmt: skip
    try:
        return Lease(store, seconds, heads.write(store, mine, seen))
    except Superseded:
        raise _locked(store, heads.read_head(store).head) from None


def _locked(store: Objects, head: Head) -> Locked:
    until = f"until {head.expires_at:%Y-%m-%d %H:%M:%S} UTC" if head.expires_at else "just now"
    return Locked(
        Message("warehouse.another_refresh_writing_2", address=store.address, holder=head.holder, until=until)
    )


def _end(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _renew(lease: Lease, stop: threading.Event) -> None:
    while not stop.wait(lease.seconds / 3):
        try:
            lease.renew()
        except Superseded:
            return  # the next commit raises it
        except StoreError:
            continue  # the store may work again before the lease ends


def _give_back(lease: Lease) -> None:
    if lease.is_lost:
        return
    try:
        lease.commit(lambda head: replace(head, expires_at=None))
    except (Superseded, StoreError):
        return  # the lease ends by itself
