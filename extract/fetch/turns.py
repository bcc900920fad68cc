"""Gives requests their turn at a host: one request at a time, with a pause in between. Hosts do not wait for each other."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """The turns of all hosts. `clock` gives seconds that never go back, and `sleep` waits for some seconds."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None], delay_s: float) -> None:
        self._clock = clock
        self._sleep = sleep
        self._default_delay_s = delay_s
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    @contextmanager
    def take(self, host: str) -> Iterator[None]:
        """Wait for the host's turn and hold it. The pause starts at the end of the block, so the server sees all of it."""
        entry = self._host(host)
        with entry.lock:
            # Check again after sleeping. Meanwhile another thread's 429 may have postponed the host.
            while (wait := max(entry.held_until, entry.last_end + entry.delay_s) - self._clock()) > 0:
                self._sleep(wait)
            try:
                yield
            finally:
                entry.last_end = self._clock()

    def slow_down(self, host: str, delay_s: float) -> None:
        """From now on pause at least `delay_s` between two requests to the host (Crawl-delay of robots.txt)."""
        entry = self._host(host)
        entry.delay_s = max(entry.delay_s, delay_s)

    def hold(self, host: str, wait_s: float) -> None:
        """Let no thread send a request to the host before `wait_s` seconds have passed (Retry-After, backoff)."""
        entry = self._host(host)
        with self._lock:  # not the host's own lock, which a thread holds while it waits for its turn
            entry.held_until = max(entry.held_until, self._clock() + wait_s)

    def _host(self, host: str) -> _Host:
        with self._lock:
            return self._hosts.setdefault(host, _Host(self._default_delay_s))


class _Host:
    def __init__(self, delay_s: float) -> None:
        self.lock = threading.Lock()
        self.held_until = self.last_end = -math.inf
        self.delay_s = delay_s
