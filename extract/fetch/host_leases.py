"""Leases in a store by which only one worker at a time uses a host, so that all machines together are polite to the host.

A worker takes a host before its first request to the host, and gives it back at the end. A dead worker need not do anything,
and no clocks are compared: a waiting worker takes the host over once it has seen, by its own clock, no renewal for the whole
time of a lease. So a worker that cannot renew its lease stops using the host well before that.
"""

from __future__ import annotations

import json
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gpuledger.extract import local_files
from gpuledger.extract.errors import FetchError
from gpuledger.extract.objects import Objects, StoreError, Version

#: Another worker takes a host over if its lease was not renewed for so long [s]. The owner renews the lease six times in
#: this time, and stops using it after half of this time without a renewal. So a request that still runs then has its
#: deadline of 30 s to end.
LEASE_S = 60.0
#: Pause before looking again at a host that another worker has [s].
_LOOK_EVERY_S = 0.5


class HostTaken(FetchError):
    """Another worker has the host."""

    default_action = "read fewer sources of this host at once, or raise source_timeout_s in the settings"


@dataclass(slots=True)
class _Held:
    version: Version
    #: No other worker takes the host before this time of this worker's clock.
    until: float


@dataclass(frozen=True, slots=True)
class Times:
    """How long a lease holds and how long a worker waits for one, in seconds, with the clock and the sleep to use."""

    lease_s: float = LEASE_S
    patience_s: float = 900.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class HostLeases:
    """The hosts that this worker has. Safe for threads. `close` gives all hosts back."""

    def __init__(self, store: Objects, times: Times = Times()) -> None:
        self._store = store
        self._times = times
        self._owner = secrets.token_hex(8)
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="hosts", daemon=True)
        self._renewing.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def hold(self, host: str) -> bool:
        """Make sure that this worker has the host for its next request. Waits while another worker has the host.

        Returns True if another worker may have used the host last, so that a pause is due. Raises StoreError, and HostTaken
        if the wait is longer than `patience_s`.
        """
        with self._lock:
            held = self._held.get(host)
            if held is not None and self._times.clock() < held.until:
                return False
            self._held.pop(host, None)
        return self._take(host)

    def close(self) -> None:
        """Give all hosts back. If the store fails, the leases expire by themselves."""
        self._stop.set()
        self._renewing.join()
        with self._lock:
            for host, held in self._held.items():
                try:
                    self._write(host, "", held.version)
                except StoreError:
                    continue
            self._held.clear()

    def _take(self, host: str) -> bool:
        gives_up = self._times.clock() + self._times.patience_s
        seen_version: Version | None = None
        since = math.inf
        while True:
            lease = self._store.get(_key(host))
            now = self._times.clock()
            if lease is None or lease[1] != seen_version:
                seen_version, since = lease[1] if lease else None, now
            is_free = lease is None or _owner(lease[0]) in ("", self._owner)
            if is_free or now - since >= self._times.lease_s:
                version = self._write(host, self._owner, seen_version)
                if version is not None:
                    with self._lock:
                        self._held[host] = _Held(version, self._end(now))
                    return lease is not None
            if now >= gives_up:
                raise HostTaken(host, f"another worker had it for {self._times.patience_s:g} s")
            self._times.sleep(_LOOK_EVERY_S)

    def _renew(self) -> None:
        while not self._stop.wait(self._times.lease_s / 6):
            with self._lock:
                for host, held in list(self._held.items()):
                    now = self._times.clock()
                    try:
                        version = self._write(host, self._owner, held.version)
                    except StoreError:
                        continue  # the store may be back in time; the lease holds until `until`
                    if version is None:
                        del self._held[host]
                    else:
                        self._held[host] = _Held(version, self._end(now))

    def _end(self, now: float) -> float:
        """The time until which a lease holds, counted from before its write. Waiting workers count from after the write."""
        return now + self._times.lease_s / 2

    def _write(self, host: str, owner: str, old_version: Version | None) -> Version | None:
        # Each write contains a new number, because some stores distinguish two states by their content only.
        content = json.dumps({"owner": owner, "nonce": secrets.token_hex(8)}).encode()
        version = self._store.replace(_key(host), content, old_version)
        if version is None and (current := self._store.get(_key(host))) and current[0] == content:
            return current[1]  # the answer to this write was lost, and the write was sent again
        return version


def _owner(lease: bytes) -> str | None:
    """The owner of a lease. None if the lease cannot be read, so that it is never taken for ours."""
    try:
        return str(local_files.loads(lease)["owner"])
    except (ValueError, KeyError, TypeError):
        return None


def _key(host: str) -> str:
    return f"hosts/{host}.json"
