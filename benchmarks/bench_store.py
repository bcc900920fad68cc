"""A store: what it costs to send pages and versions there and to pull a version, and how that grows.

Against a real S3 server (SeaweedFS) on this machine, so without a network's time: processor seconds of this program stand
beside the time, which has the server's in it. Needs the server that `make test` installs.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import bring, head, send
from tests.support.stores import s3_server

PAGES = (500, 2_000, 8_000)
PAGE_BYTES = 20_000
VERSION_MB = (20, 80, 320)
START = datetime(2026, 1, 1, 3, tzinfo=UTC)

Line = tuple[str, str, str]


def run() -> list[Line]:
    """What was measured, the measure, and no bound: this is to know, and `docs/scale.md` says it."""
    with tempfile.TemporaryDirectory() as folder, s3_server(Path(folder) / "s3") as variables:
        os.environ.update(variables)
        root = Path(folder)
        return [*_pages(root), *_versions(root)]


def _store(name: str) -> Objects:
    found = objects.store_at(f"s3://bucket/{name}")
    assert found is not None
    return found


def _pages(root: Path) -> list[Line]:
    sent, again = [], []
    for count in PAGES:
        archive = Archive(root / f"pages{count}", _store(f"pages{count}"))
        _fill(archive, count, START)
        sent.append((count, _timed(archive.send)))
        _fill(archive, count, START + timedelta(days=1))
        again.append((count, _timed(archive.send)))
    return [
        _line("send the pages of a night, each new, 20 kB", "pages", sent),
        _line("send a night whose pages are those of the last one", "pages", again),
    ]


def _fill(archive: Archive, count: int, at: datetime) -> None:
    """A night's pages, the same on every night. Synced by nobody: the disk is not what is measured."""
    chance = random.Random(count)
    real, os.fsync = os.fsync, lambda handle: None
    try:
        for number in range(count):
            url = f"https://shop{number % 40}.test/{number}"
            content = chance.randbytes(PAGE_BYTES)
            fetched = Fetched(
                url=url, final_url=url, status=200, headers={}, content=content, not_modified=False, attempts=1,
                elapsed_s=0.0, wire_bytes=PAGE_BYTES,
            )  # fmt: skip
            archive.save("shop", fetched, at + timedelta(seconds=number), f"run-{at:%d}")
    finally:
        os.fsync = real


def _versions(root: Path) -> list[Line]:
    sent, taken = [], []
    for size in VERSION_MB:
        address = f"s3://bucket/versions{size}"
        store, data = _store(f"versions{size}"), DataDir(root / f"versions{size}", address)
        version = publish.version_of(data, "run")
        publish.part_of(version).write_bytes(os.urandom(1 << 20) * size)
        publish.adopt(data, version)
        sent.append((size, _timed(lambda: send.send(data, store, lambda: None))))  # noqa: B023
        reader = DataDir(root / f"reader{size}")
        now = head.read_head(store)
        taken.append((size, _timed(lambda: bring.pull(reader, store, now, 2))))  # noqa: B023
    return [
        _line("publish a version: upload, and name it in the head", "MB", sent),
        _line("`pull` it: download, sum, publish here", "MB", taken),
    ]


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and processor seconds of this process."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def _line(what: str, unit: str, found: Sequence[tuple[int, tuple[float, float]]]) -> Line:
    each = [f"{size:,} {unit} {seconds:.1f} s ({used:.1f} s processor)" for size, (seconds, used) in found]
    (small, (first, _)), (large, (last, _)) = found[0], found[-1]
    exponent = math.log(last / first) / math.log(large / small)
    return what, f"{'; '.join(each)}; exponent {exponent:.2f}", ""
