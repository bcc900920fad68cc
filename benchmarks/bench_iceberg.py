"""Readers of the Iceberg tables who read whole nights again and again, each with an engine of its own, while fifty nights
are published; and of a market with three real years behind it, what a night with 1% changed writes, and a vacuum removes.

On a real S3 server on this machine. Needs it and the engines, which `make test` installs; PUBLISHES in the environment is
how many nights, COPIES how many times the market.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.bench_history import moved as moved_hundredth
from benchmarks.bench_history import open_rows
from gpuledger.extract.archive import objects
from gpuledger.warehouse.paths import DataDir
from tests.support import market_history as market
from tests.support import served
from tests.support.iceberg_readers import HOMES, published, readers
from tests.support.readers_beside import START, moved, offers
from tests.support.stores import ICEBERG, SERVER, s3_server

PUBLISHES = int(os.environ.get("PUBLISHES", "50"))
COPIES = int(os.environ.get("COPIES", "1"))

Rows = list[tuple[str, str, str, bool | None]]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept. Empty without server and engines."""
    if not SERVER.exists() or not all(home.exists() for home in HOMES.values()):
        return []
    with tempfile.TemporaryDirectory() as folder, s3_server(Path(folder) / "s3") as store:
        os.environ.update(store)
        env = served.environment(**store)
        env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(ICEBERG)])
        return [*_readers(Path(folder), env), *(_written(Path(folder), env) if market.files() else [])]


def _readers(folder: Path, env: Mapping[str, str]) -> Rows:
    data, location = folder / "data", "s3://bucket/read"
    right: dict[str, dict[str, str]] = {}

    def publish(number: int) -> None:
        market.night(data, START + timedelta(days=number), moved(offers(), number))
        _gpuledger("iceberg", location, data=data, env=env)
        right.update([published(data)])

    publish(0)
    with readers([*HOMES], location, folder, env, pause_s=1.0) as found:
        for number in range(1, PUBLISHES + 1):
            publish(number)
            print(f"  {number} published", file=sys.stderr, flush=True)
    rows: Rows = []
    for engine, readings in zip(HOMES, found, strict=True):
        mixed = sum(sums != right.get(night) for night, sums in readings)
        nights = len({night for night, _ in readings})
        rows += [
            (f"{engine} during {PUBLISHES} publishes: readings of three tables", f"{len(readings):,}", "", None),
            ("… that are not one night's, row for row", str(mixed), "0", not mixed),
            ("… nights that it saw", str(nights), "", None),
        ]
    different = len({str(sums) for sums in right.values()})
    return [*rows, ("nights whose rows in these tables differ", str(different), "", None)]


def _written(folder: Path, env: Mapping[str, str]) -> Rows:
    """Three nights of a market with its real years: one as it was, one with 1% changed, one more; then a vacuum."""
    real, data, location = folder / "real", folder / "market", "s3://bucket/written"
    market.small(real, market.read(folder / "archive"))
    market.large(data, real, COPIES)
    rows = open_rows(DataDir(data))
    # Later than what is written today, so that a vacuum finds the snapshots of these nights old.
    day = datetime.now(UTC)
    market.night(data, day, rows)
    first_s = _gpuledger("iceberg", location, data=data, env=env)
    before = _sizes(location)
    market.night(data, day + timedelta(days=1), moved_hundredth(rows))
    night_s = _gpuledger("iceberg", location, data=data, env=env)
    after = _sizes(location)
    new = sum(size for key, size in after.items() if key not in before)
    whole = sum(before.values())
    vacuum_s = _gpuledger("vacuum", "--keep-days", "0", data=data, env={**env, "GPULEDGER_ICEBERG": location})
    left = _sizes(location)
    gone = [size for key, size in after.items() if key not in left]
    return [
        (f"all tables of {len(rows):,} listings, written for the first time", f"{whole / 1e6:.1f} MB, {first_s:.0f} s", "",
         None),
        ("… by a night with 1% of the prices changed", f"{new / 1e6:.2f} MB, {night_s:.0f} s", "", None),
        ("… as a share of all", f"{new / whole:.1%}", "", None),
        ("… removed by a vacuum after it, which keeps that night alone",
         f"{len(gone):,} of {len(after):,} files, {sum(gone) / 1e6:.2f} MB, {vacuum_s:.0f} s", "", None),
    ]  # fmt: skip


def _sizes(location: str) -> dict[str, int]:
    store = objects.store_at(location)
    assert store is not None
    return {one.key: one.size for one in store.listed("")}


def _gpuledger(*words: str, data: Path, env: Mapping[str, str]) -> float:
    """Run the command; the seconds that it took."""
    began = time.perf_counter()
    subprocess.run(served.command(*words, data=data), env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
