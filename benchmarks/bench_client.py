"""What hostile servers cost the client: memory and requests, measured in a process of its own."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from pathlib import Path

import psutil

_ROOT = Path(__file__).parents[1]
_MEMORY_BOUND_MB = 50.0
#: What is fetched, by name; each must fail as told, in at most three requests.
_FAULTS = {"bomb": "TooLarge", "endless": "TooLarge", "endless_headers": "ConnectionFailed", "drip": "Timeout"}


def run() -> list[tuple[str, str, str]]:
    """For each fault: what was measured, the figure, and the bound asked for."""
    rows = []
    for fault, expected in _FAULTS.items():
        # A process each: memory that one fault made the interpreter keep would hide the next one's.
        output = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench_client", fault],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        rise_mb, requests, seen = output.split()
        rows.append((f"client, {fault}: rise of memory", f"{float(rise_mb):.1f} MB", f"under {_MEMORY_BOUND_MB:g} MB"))
        rows.append((f"client, {fault}: failure, requests", f"{seen}, {requests}", f"{expected}, at most 3"))
    return rows


def _measure(fault: str) -> None:
    """Print the rise of memory in MB, the number of requests and the failure's class for one fault."""
    from gpuledger.errors import FetchError
    from gpuledger.extract.fetch.http import Client, HttpSettings, Machine

    # Not `from tests.extract`: a library that installs a package called `tests` would be found instead.
    sys.path.insert(0, str(_ROOT / "tests" / "extract"))
    import faulty_server

    route = getattr(faulty_server, fault)
    if fault == "bomb":
        # Packed beforehand, so that the server's own memory does not count.
        packed = gzip.compress(bytes(200_000_000), 6)
        route = faulty_server.page(packed, {"Content-Encoding": "gzip"})
    with faulty_server.FaultyServer({"/": route, "/page": faulty_server.page()}) as server:
        settings = HttpSettings(connect_to={"shop.test": ("127.0.0.1", server.port)}, delay_s=0, deadline_s=2.0)
        with Client(settings, Machine(sleep=lambda seconds: None)) as client:
            # One good fetch first, so that what is loaded once is not counted as the fault's.
            client.fetch("http://shop.test/page")
            before, peak = _Peak.now(), _Peak()
            with peak:
                try:
                    client.fetch("http://shop.test/")
                    seen = "nothing"
                except FetchError as error:
                    seen = type(error).__name__
        print((peak.highest - before) / 1e6, len(server.paths()) - 1, seen)


class _Peak:
    """The most memory that the process held between entering and leaving, looked at every millisecond."""

    def __init__(self) -> None:
        self.highest = self.now()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @staticmethod
    def now() -> int:
        return int(psutil.Process().memory_info().rss)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *ignored: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.001):
            self.highest = max(self.highest, self.now())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _measure(sys.argv[1])
    else:
        for row in run():
            print(" | ".join(row))
