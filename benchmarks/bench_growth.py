"""How a night grows in which 1% of the prices changed: behind it are three real years of a market, once to hundreds of times
over. Time, memory and the size of the file, with their exponents.

COPIES in the environment names the sizes, as in `COPIES="1 30 300"`, and DEPTH how many times the prices are put behind the
last of them, of listings that have ended, as in `COPIES="10 30" DEPTH="3 10"`.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import shutil
import statistics
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
Measure = Callable[[Point], float]
#: From so many listings on the parts of a night that are the same for any market no longer count.
LARGE = 30_000


def run() -> list[Line]:
    """What was measured; no bound: this is to know, and `docs/scale.md` says it. Empty without the real prices."""
    if not market.files():
        return []
    by_listings, by_prices = points()
    lines = [
        line
        for one in (*by_listings, *by_prices)
        for line in (
            (f"night with 1% of {one.listings:,} prices changed, {one.price_rows:,} behind it",
             f"{_said(one.night)}, file of {one.file_mb:,.0f} MB", ""),
            ("… the night before it, which builds all anew or takes the ended listings in", _said(one.anew), ""),
        )
    ]  # fmt: skip
    for what, found, by in (
        ("listings", by_listings, listings),
        ("price rows", [*by_listings[-1:], *by_prices], prices),
    ):
        lines += [
            (f"exponent of {name}, by {what}", f"{exponent(found, measure, by):.2f}", "")
            for name, measure in MEASURES.items()
            if len(found) > 1
        ]
    return lines


def _said(cost: Cost) -> str:
    return f"{cost.seconds:.1f} s ({cost.processor_s:.1f} s of processor), {cost.memory_mb:,.0f} MB of memory"


def listings(one: Point) -> float:
    """The size of a market that grows in breadth."""
    return one.listings


def prices(one: Point) -> float:
    """The size of a market that grows in depth."""
    return one.price_rows


MEASURES: dict[str, Measure] = {
    "processor time": lambda one: one.night.processor_s,
    "memory": lambda one: one.night.memory_mb,
    "file": lambda one: one.file_mb,
    "processor time to build all anew": lambda one: one.anew.processor_s,
    "memory to build all anew": lambda one: one.anew.memory_mb,
}


def exponent(found: Sequence[Point], measure: Measure, by: Measure = listings) -> float:
    """By which power of the size the measure grew, as a straight line through the logarithms of the large sizes says."""
    large = [one for one in found if one.listings >= LARGE]
    large = large if len(large) > 1 else [*found[-2:]]
    line = statistics.linear_regression([math.log(by(one)) for one in large], [math.log(measure(one)) for one in large])
    return line.slope


def points() -> tuple[list[Point], list[Point]]:
    """A point a size, the smallest first: by listings, and by the prices behind the last of these. Each night has a process
    of its own, whose memory is its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        real, root, deep = (Path(folder) / name for name in ("real", "broad", "deep"))
        market.small(real, market.read(Path(folder) / "archive"))
        broad_points, deep_points = [], []
        for word in os.environ.get("COPIES", "1 3 10 30").split():
            shutil.rmtree(root, ignore_errors=True)
            broad_points.append(point(real, root, int(word)))
        for word in os.environ.get("DEPTH", "").split():
            shutil.copytree(root, deep, symlinks=True)
            deep_points.append(deeper(deep, int(word)))
            shutil.rmtree(deep)
        return broad_points, deep_points


def point(real: Path, root: Path, copies: int) -> Point:
    """The nights in `copies` of the warehouse under `real`: one without a change, then the one with 1% changed."""
    market.large(root, real, copies)
    data = DataDir(root)
    ((price_rows, newest),) = file_query(data.published, "SELECT count(*), max(valid_from) FROM core.price_span")
    rows = open_rows(data)
    count = len(rows)
    # A process that knows one night at a time, as a real one: what answered the questions above has memory of its own.
    for number, changed in enumerate((rows, moved(rows)), start=1):
        (root / f"night{number}").write_bytes(pickle.dumps((newest + timedelta(days=number), changed)))
    del rows, changed
    anew, night = _measured(root)
    found = Point(count, price_rows, anew, night, data.published.stat().st_size / 1e6)
    print(f"  {found}", file=sys.stderr, flush=True)
    return found


def deeper(root: Path, times: int) -> Point:
    """The warehouse that `point` left, with `times` the prices: a night takes the new listings in, and then 1% change."""
    market.deepen(root, times)
    seen_at, rows = pickle.loads((root / "night2").read_bytes())
    count = len(rows)
    (root / "night1").write_bytes(pickle.dumps((seen_at + timedelta(days=1), rows)))
    (root / "night2").write_bytes(pickle.dumps((seen_at + timedelta(days=2), moved(rows))))
    del rows
    anew, night = _measured(root)
    data = DataDir(root)
    ((price_rows,),) = file_query(data.published, "SELECT count(*) FROM core.price_span")
    found = Point(count, price_rows, anew, night, data.published.stat().st_size / 1e6)
    print(f"  {found}", file=sys.stderr, flush=True)
    return found


def _measured(root: Path) -> list[Cost]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_growth", str(root)],
        cwd=ROOT, env=served.environment(), check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return [Cost(**cost) for cost in json.loads(done.stdout.splitlines()[-1])]


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
