"""How a night grows in which 1% of the prices changed: behind it are three real years of a market, once to hundreds of times
over. Time, memory and the size of the file, with their exponents.

COPIES in the environment names the sizes, as in `COPIES="1 30 300"`; `python benchmarks/plot_growth.py` draws them too.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.bench_history import moved, open_rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import file_query
from tests.support import market_history as market
from tests.support import served
from tests.support.memory import peak_mb

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a night took, from check to publish, in a process of its own."""

    seconds: float
    #: Of all processors: what another program on the machine cannot slow down much.
    processor_s: float
    #: The most memory of the process.
    memory_mb: float


@dataclass(frozen=True, slots=True)
class Point:
    """One size: listings in the night, prices behind it, and what was measured there."""

    listings: int
    price_rows: int
    #: The night without a change that builds every table anew, as after a change of their queries.
    anew: Cost
    #: The night with 1% changed.
    night: Cost
    file_mb: float


Line = tuple[str, str, str]


def run() -> list[Line]:
    """What was measured; no bound: this is to know, and `docs/scale.md` says it. Empty without the real prices."""
    found = points() if market.files() else []
    if len(found) < 2:
        return []
    lines = [
        line
        for one in found
        for line in (
            (f"night with 1% of {one.listings:,} prices changed, {one.price_rows:,} behind it",
             f"{_said(one.night)}, file of {one.file_mb:,.0f} MB", ""),
            ("… the night before it, which builds all anew", _said(one.anew), ""),
        )
    ]  # fmt: skip
    grown = (
        ("time", lambda one: one.night.seconds),
        ("processor time", lambda one: one.night.processor_s),
        ("memory", lambda one: one.night.memory_mb),
        ("file", lambda one: one.file_mb),
        ("time to build all anew", lambda one: one.anew.seconds),
        ("memory to build all anew", lambda one: one.anew.memory_mb),
    )
    return [
        *lines,
        *((f"exponent of {name}, from the last two", f"{exponent(found, measure):.2f}", "") for name, measure in grown),
    ]


def _said(cost: Cost) -> str:
    return f"{cost.seconds:.1f} s ({cost.processor_s:.1f} s of processor), {cost.memory_mb:,.0f} MB of memory"


def exponent(found: Sequence[Point], measure: Callable[[Point], float]) -> float:
    """By which power of the listings the measure grew between the two largest sizes."""
    small, large = found[-2:]
    return math.log(measure(large) / measure(small)) / math.log(large.listings / small.listings)


def points() -> list[Point]:
    """One point a size, the smallest first; each night has a process of its own, whose memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        real = Path(folder) / "real"
        market.small(real, market.read(Path(folder) / "archive"))
        return [point(real, Path(folder) / "big", int(word)) for word in os.environ.get("COPIES", "1 3 10 30").split()]


def point(real: Path, root: Path, copies: int) -> Point:
    """The nights in `copies` of the warehouse under `real`: one without a change, then the one with 1% changed."""
    market.large(root, real, copies)
    data = DataDir(root)
    ((prices, newest),) = file_query(data.published, "SELECT count(*), max(valid_from) FROM core.price_span")
    rows = open_rows(data)
    listings = len(rows)
    # A process that knows one night at a time, as a real one: what answered the questions above has memory of its own.
    for number, changed in enumerate((rows, moved(rows)), start=1):
        (root / f"night{number}").write_bytes(pickle.dumps((newest + timedelta(days=number), changed)))
    del rows, changed
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_growth", str(root)],
        cwd=ROOT, env=served.environment(), check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    anew, night = (Cost(**cost) for cost in json.loads(done.stdout.splitlines()[-1]))
    found = Point(listings, prices, anew, night, data.published.stat().st_size / 1e6)
    print(f"  {found}", file=sys.stderr, flush=True)
    shutil.rmtree(root)
    return found


def nights(root: Path) -> list[Cost]:
    """What each of the nights took that wait under `root`, in their order."""
    costs = []
    for waiting in sorted(root.glob("night[0-9]")):
        with waiting.open("rb") as file:
            seen_at, rows = pickle.load(file)
        Path("/proc/self/clear_refs").write_text("5")  # forgets what was the most until here
        started, used = time.perf_counter(), time.process_time()
        market.night(root, seen_at, rows)
        costs.append(Cost(time.perf_counter() - started, time.process_time() - used, peak_mb()))
        print(f"  {waiting.name}: {_said(costs[-1])}", file=sys.stderr, flush=True)
        del rows
    return costs


if __name__ == "__main__":
    print(json.dumps([asdict(cost) for cost in nights(Path(sys.argv[1]))]))
