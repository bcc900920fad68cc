"""One host, one worker: leases in a store, so that a host is asked politely by all machines together.

A worker takes a host before its first request to it and gives it back at the end. Of a worker that died nothing is asked
and no clock is compared: who waits takes the host over once its lease was not renewed for its whole time, as measured by the
one who waits. So a worker stops in good time where it could not renew.
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

#: Another worker takes over what was not renewed for so long [s]. It is renewed six times in it, and not used after half of
#: it without a renewal: so a request that runs then has its deadline of 30 s to end.
LEASE_S = 60.0
#: Between two looks at a host that another worker has [s].
_LOOK_EVERY_S = 0.5


class HostTaken(FetchError):
    """Another worker reads the host."""

    default_action = "read fewer sources of this host at once, or raise source_timeout_s in the settings"


@dataclass(slots=True)
class _Held:
    version: Version
    #: Until when nobody else takes it, by this worker's clock.
    until: float


@dataclass(frozen=True, slots=True)
class Times:
    """How long leases hold and are waited for, in seconds, and the clock and the sleep that measure it."""

    lease_s: float = LEASE_S
    patience_s: float = 900.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class HostLeases:
    """The hosts that this worker has. Safe for threads; closing gives all of them back."""

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
        """Have the host for the next request: at once where this worker has it, else as soon as no other one does.

        True where another worker may have asked it last: a pause is due. Raises HostTaken where the patience ends, and
        StoreError.
        """
        with self._lock:
            held = self._held.get(host)
            if held is not None and self._times.clock() < held.until:
                return False
            self._held.pop(host, None)
        return self._take(host)

    def close(self) -> None:
        """Give all hosts back. Those that the store does not take back end by themselves."""
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
        seen: Version | None = None
        since = math.inf
        while True:
            found = self._store.get(_key(host))
            now = self._times.clock()
            if found is None or found[1] != seen:
                seen, since = found[1] if found else None, now
            is_free = found is None or _owner(found[0]) in ("", self._owner)
            if is_free or now - since >= self._times.lease_s:
                version = self._write(host, self._owner, seen)
                if version is not None:
                    with self._lock:
                        self._held[host] = _Held(version, self._end(now))
                    return found is not None
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
                        continue  # it may be back in time; until then `until` counts
                    if version is None:
                        del self._held[host]
                    else:
                        self._held[host] = _Held(version, self._end(now))

    def _end(self, now: float) -> float:
        """Counted from before the write: who waits counts from after it."""
        return now + self._times.lease_s / 2

    def _write(self, host: str, owner: str, was: Version | None) -> Version | None:
        # A number of its own, as some stores tell two states apart by their content.
        content = json.dumps({"owner": owner, "nonce": secrets.token_hex(8)}).encode()
        version = self._store.replace(_key(host), content, was)
        if version is None and (found := self._store.get(_key(host))) and found[0] == content:
            return found[1]  # the answer to this very write was lost, and it was sent again
        return version


def _owner(lease: bytes) -> str | None:
    """Who has a lease; None where that cannot be read, and so is not us."""
    try:
        return str(local_files.loads(lease)["owner"])
    except (ValueError, KeyError, TypeError):
        return None


def _key(host: str) -> str:
    return f"hosts/{host}.json"
