"""What a page costs where the reading of a night is spread over one, two and four workers that share a store, and how long
they take: forty shops on this machine whose answers come late, as over a network.

A worker does what a run of the deployment `read` does, a shop after the other: takes over the log, reads, archives, parses,
hands over. Prefect's own cost, a start of some seconds a shop, is in `bench_cluster`. All of it is in a network of its own,
as there. Needs root and what `make test` installs; PAGES and WORKERS in the environment name the sizes of the night and the
numbers of workers, DELAYS how late a shop answers and how long a worker waits, in seconds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import bench_cluster as cluster
from benchmarks.bench_growth import Line
from gpuledger.extract import shops
from gpuledger.flows.night import gather, sharing
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.settings import settings as settings_module
from tests.support import served
from tests.support.stores import s3_server

ROOT = Path(__file__).parents[1]
PAGES = tuple(map(int, os.environ.get("PAGES", "1000 5000").split()))
WORKERS = tuple(map(int, os.environ.get("WORKERS", "1 2 4").split()))
#: How late a shop answers, and how long a worker waits before the next page of a shop.
LATENCY_S, DELAY_S = map(float, os.environ.get("DELAYS", "0.1 0.05").split())


def run() -> list[Line]:
    """What was measured; no bound: this is to know, and `docs/scale.md` says it."""
    if lacking := cluster.missing():
        return [("pages over workers", f"not measured: {lacking}", "")]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*cluster.ALONE, sys.executable, "-m", "benchmarks.bench_workers", "measure", folder],
            cwd=ROOT, env=served.environment(PAGES=" ".join(map(str, PAGES))), check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    return [(what, measured, asked) for what, measured, asked in json.loads(done.stdout.splitlines()[-1])]


def measure(folder: Path) -> list[Line]:
    """Every size over every number of workers, in the network of its own."""
    hosts = cluster.network(folder)
    lines: list[Line] = []
    with ExitStack() as stack:
        store = stack.enter_context(s3_server(folder / "s3"))
        serving = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bench_workers", "shops", str(folder / "asked")], cwd=ROOT
        )
        stack.callback(serving.kill)
        for pages in PAGES:
            for workers in WORKERS:
                night = folder / f"{pages}over{workers}"
                lines.append(_night(night, hosts, pages, workers, store))
                print(f"  {lines[-1]}", file=sys.stderr, flush=True)
    return lines


def _night(folder: Path, hosts: list[str], pages: int, workers: int, store: dict[str, str]) -> Line:
    folder.mkdir()
    addresses = [f"http://{host}/card/{number}" for number in range(pages // len(hosts)) for host in hosts]
    (folder / "gpuledger.toml").write_text(
        f'sources = ["generic_shop"]\ndelay_s = {DELAY_S}\nsource_timeout_s = 3600\n'
        f"product_urls = {json.dumps(addresses)}\n"
    )
    run_id, began = new_run_id(), time.monotonic()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bench_workers", "read", run_id, *hosts[number::workers]], cwd=ROOT,
            stdout=subprocess.PIPE, text=True,
            env=served.environment(
                **store, GPULEDGER_SETTINGS_FILE=str(folder / "gpuledger.toml"), GPULEDGER_STORE=f"s3://bucket/{folder.name}",
                GPULEDGER_DATA_DIR=str(folder / f"worker{number}"),
            ),
        )
        for number in range(workers)
    ]  # fmt: skip
    said = [json.loads(one.communicate()[0].splitlines()[-1]) for one in running]
    seconds, used = time.monotonic() - began, sum(one["processor_s"] for one in said)
    read = sum(one["pages"] for one in said)
    if read != pages:
        raise AssertionError(f"{read} of {pages} pages were read")
    return (
        f"{pages:,} pages of {len(hosts)} shops over {workers} workers",
        f"{seconds:.0f} s, {used:.1f} s of processor, {used / pages * 1e3:.1f} ms a page, "
        f"{max(one['memory_mb'] for one in said):.0f} MB a worker",
        "",
    )


def read(run_id: str, *hosts: str) -> dict[str, float]:
    """Be a worker: read these shops one after the other, and say the pages, and the processor seconds with its parsers'."""
    settings = settings_module.load({})
    context = Context(
        settings=settings, data=settings.data(), run_id=run_id, as_of=datetime.now(UTC), started_at=utc_now(),
        engine="prefect", only=("generic_shop",),
    )  # fmt: skip
    pages = 0
    for host in hosts:
        sharing.begin_reading(context.data, "generic_shop")
        with gather.reader(context) as reader:
            (part,) = (part for whole in gather.readings(context) for part in shops.apart(whole) if part.shop == host)
            collected = reader.read_source(part)
        sharing.hand_over(context.data, run_id, collected)
        pages += collected.pages
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "pages": pages, "processor_s": sum(one.ru_utime + one.ru_stime for one in used),
        "memory_mb": used[0].ru_maxrss / 1e3,
    }  # fmt: skip


if __name__ == "__main__":
    import asyncio

    match sys.argv[1:]:
        case ["measure", folder]:
            print(json.dumps(measure(Path(folder))))
        case ["shops", log]:
            asyncio.run(cluster.serve_shops(Path(log), LATENCY_S))
        case ["read", *words]:
            print(json.dumps(read(*words)))
