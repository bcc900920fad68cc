"""`kill -9` of a serving process at random moments of a run under Prefect: what is left, published and noted."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import psutil

from gpuledger.flows.night import run_log
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.support.served import Serving, marked, until

KILLS = 50
#: Seconds after the run began to read; a whole night of the sample takes about as long.
LATEST_S = 6.0


def run() -> list[tuple[str, str, str, bool]]:
    """Kill, look, start again; at the end let one run end."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        data, log = DataDir(Path(folder) / "data"), Path(folder) / "serve.log"
        orphans = torn = 0
        slowest = 0.0
        for _ in range(KILLS):
            serving = Serving(data.root, log)
            begun = len(run_log.entries(data))
            serving.api.start("refresh/nightly")
            until(lambda: len(run_log.entries(data)) > begun, "the run begins")  # noqa: B023
            time.sleep(chance.uniform(0, LATEST_S))
            family = marked(data.root)
            serving.kill()
            killed = time.perf_counter()
            psutil.wait_procs(family, timeout=20)
            slowest = max(slowest, time.perf_counter() - killed)
            orphans += len(marked(data.root))
            torn += not _is_whole(data)
        serving = Serving(data.root, log)
        state = serving.api.ended(serving.api.start("refresh/nightly"))
        serving.stop()
        noted = query(data, "SELECT count(*) FROM ops.run WHERE status = 'interrupted'")[1][0][0]
        ended = query(data, "SELECT count(*) FROM ops.run WHERE status LIKE 'published%'")[1][0][0]
    return [
        (
            f"processes left after {KILLS} kills",
            f"{orphans}, the slowest gone after {slowest:.1f} s",
            "0",
            orphans == 0,
        ),
        ("published files that cannot be read", str(torn), "0", torn == 0),
        ("the run after the last kill", state["type"].lower(), "completed", state["type"] == "COMPLETED"),
        (
            "runs in the ledger",
            f"{noted} interrupted, {ended} published",
            f"{KILLS + 1} in all",
            noted + ended == KILLS + 1,
        ),
    ]


def _is_whole(data: DataDir) -> bool:
    """Whether the published file answers; none yet is no torn one."""
    try:
        return bool(query(data, "SELECT count(*) > 0 FROM mart.value")[1][0][0])
    except NoWarehouse:
        return not data.published.is_symlink()
