"""Readers of Iceberg tables in processes of their own while nights are published, and what is right for each night."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.support.follow_iceberg import rows_sum
from tests.support.stores import DUCKDB_ICEBERG, ICEBERG

SCRIPT = Path(__file__).with_name("follow_iceberg.py")
#: One with a history in partitions, and two that are made from it.
TABLES = ("core.price_history", "mart.gpu_price", "mart.value")

#: Where each engine is.
HOMES = {"pyiceberg": ICEBERG, "polars": ICEBERG, "duckdb": DUCKDB_ICEBERG}

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
def readers(
    engines: Sequence[str], location: str, folder: Path, environment: Mapping[str, str], pause_s: float = 0.1
) -> Iterator[list[list[Reading]]]:
    """A reader of each engine, which read until the block ends. The list has then what each of them found, in order of time.

    Each waits `pause_s` before a reading, so that who publishes on the same machine gets on. The block begins when each has
    said that it read once: none comes late to what is published in it.
    """
    stop, found = folder / "stop", list[list[Reading]]()
    running = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), engine, str(pause_s), location, str(stop), *TABLES],
            env={**environment, "PYTHONPATH": os.pathsep.join([str(HOMES[engine]), environment["PYTHONPATH"]])},
            stdout=subprocess.PIPE, text=True,
        )
        for engine in engines
    ]  # fmt: skip
    try:
        for one in running:
            assert one.stdout is not None
            assert one.stdout.readline() == "reading\n", "a reader failed; what it said is above"
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
