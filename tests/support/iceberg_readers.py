"""Readers of Iceberg tables in processes of their own while nights are published, and what is right for each night."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.support.follow_iceberg import rows_sum
from tests.support.stores import ICEBERG

SCRIPT = Path(__file__).with_name("follow_iceberg.py")
#: One with a history in partitions, and two that are made from it.
TABLES = ("core.price_history", "mart.gpu_price", "mart.value")

#: The night, and a sum over each table's rows.
Reading = tuple[str, dict[str, str]]


def published(data: Path) -> Reading:
    """What a reader must find, as the published file of that night has it."""
    where = DataDir(data)
    sums = {}
    for table in TABLES:
        columns, rows = query(where, f"FROM {table}")
        sums[table] = rows_sum(dict(zip(columns, row, strict=True)) for row in rows)
    return where.published.resolve().parent.name, sums


@contextmanager
def readers(count: int, location: str, folder: Path, environment: Mapping[str, str]) -> Iterator[list[list[Reading]]]:
    """So many readers, which read until the block ends. The list has then what each of them found, in order of time."""
    stop, found = folder / "stop", list[list[Reading]]()
    path = os.pathsep.join([environment["PYTHONPATH"], str(ICEBERG)])
    running = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), location, str(stop), *TABLES],
            env={**environment, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(count)
    ]  # fmt: skip
    try:
        yield found
        stop.touch()
        for one in running:
            out, _ = one.communicate(timeout=100)
            assert one.returncode == 0, "a reader failed; what it said is above"
            found.append([(night, sums) for night, sums in json.loads(out)])
    finally:
        for one in running:
            one.kill()
            one.wait()
