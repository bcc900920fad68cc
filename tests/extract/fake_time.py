"""Time that passes only where somebody sleeps, so that delays are tested without waiting."""

from __future__ import annotations

import threading


class FakeTime:
    def __init__(self) -> None:
        self._now = 1000.0
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def clock(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        with self._lock:
            self.slept.append(seconds)
            self._now += seconds
