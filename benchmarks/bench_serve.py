"""`gpuledger serve` over many nights: memory and open files of the process and of its server, and what waiting costs.

The nights are refreshes of the sample that a person asks for over the server's API, as a schedule would plan them.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

from tests.support.served import Server, Serving, command, environment
from tests.support.silent_target import silent

CYCLES = 50
#: Cycles after which nothing is expected to grow any more: pools and caches are filled by then.
WARM = 10
TOGETHER = 10
#: Growth that is still none: the interpreter gives memory back in large pieces.
MOST_GROWTH = 0.1


def run() -> list[tuple[str, str, str, bool]]:
    """Growth over the cycles, ten refreshes at once, and a silent notification target."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_cycles(Path(folder)), *_together(Path(folder) / "together"), *_silent(Path(folder) / "silent")]


def _cycles(folder: Path) -> list[tuple[str, str, str, bool]]:
    server = Server(folder / "prefect")
    serving = Serving(server, folder / "data", folder / "serve.log")
    try:
        processes = {"serve": psutil.Process(serving.process.pid), "server": psutil.Process(server.process.pid)}
        seen: dict[str, list[tuple[float, int]]] = {name: [] for name in processes}
        for _ in range(CYCLES):
            state = serving.api.ended(serving.api.start("refresh/nightly", only=["ecb_fx", "newegg"], sample=True))
            assert state["type"] == "COMPLETED", state
            for name, process in processes.items():
                seen[name].append((process.memory_info().rss / 1e6, process.num_fds()))
    finally:
        serving.stop()
        server.stop()
    found = []
    for name, figures in seen.items():
        memory = [rss for rss, _ in figures]
        # Medians of ten: a single figure depends on when the collector last ran.
        before, after = (statistics.median(part) for part in (memory[WARM : WARM + 10], memory[-10:]))
        files = max(fds for _, fds in figures[-10:]) - max(fds for _, fds in figures[WARM : WARM + 10])
        found += [
            (f"{name}: memory, cycles {WARM + 1}-{WARM + 10} to the last ten of {CYCLES}",
             f"{before:.0f} to {after:.0f} MB", "does not grow", after <= before * (1 + MOST_GROWTH)),
            (f"{name}: open files over the same cycles", f"{files:+d} of {figures[-1][1]}", "do not grow", files <= 2),
        ]  # fmt: skip
    return found


def _together(data: Path) -> list[tuple[str, str, str, bool]]:
    """Ten refreshes started at once: how long the nine that may not write take to say so."""
    words = command("refresh", "--sample", "--night", 1, data=data)
    started = time.perf_counter()
    processes = [
        subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(TOGETHER)
    ]
    ends: dict[int, float] = {}
    while len(ends) < TOGETHER:
        ends |= {p.pid: time.perf_counter() - started for p in processes if p.pid not in ends and p.poll() is not None}
        time.sleep(0.01)
    refused = [ends[process.pid] for process in processes if process.returncode == 1]
    what = f"{TOGETHER} refreshes at once: {len(refused)} leave, the last after"
    return [(what, f"{max(refused):.1f} s", "5 s", len(refused) == TOGETHER - 1 and max(refused) <= 5)]


def _silent(data: Path) -> list[tuple[str, str, str, bool]]:
    """What a notification target that never answers adds to a run that has something to say."""

    def second_night(folder: str, **env: str) -> float:
        for night in (1, 2):
            started = time.perf_counter()
            words = command("refresh", "--sample", "--engine", "plain", "--night", night, data=data / folder)
            subprocess.run(words, env=environment(**(env if night == 2 else {})), check=False, capture_output=True)
        return time.perf_counter() - started

    with silent() as url:
        added = second_night("told", GPULEDGER_NOTIFY_URLS=url) - second_night("untold")
    return [("a notification target that never answers delays a run by", f"{added:.1f} s", "10 s", added <= 10.5)]
