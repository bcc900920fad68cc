"""Four analysts who open, ask and close without pause while versions are published, and one who stays."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from gpuledger.items import Offer
from gpuledger.warehouse.paths import DataDir
from tests.support import market_history as market

READERS = 4
START = datetime(2023, 11, 1, 3, tzinfo=UTC)

#: Opens the file by the name of the link, as an analyst does. An answer is whole where all tables know the same runs.
READER = """
import json, sys, time
from pathlib import Path
import duckdb
link, stop = sys.argv[1], Path(sys.argv[2])
answers, seen, failures, mixed = 0, set(), [], 0
while not stop.exists():
    try:
        with duckdb.connect(link, read_only=True) as con:
            runs = {run for (run,) in con.execute("SELECT run_id FROM ops.run").fetchall()}
            built = {run for (run,) in con.execute("SELECT DISTINCT run_id FROM ops.model_build").fetchall()}
            nights = con.execute("SELECT count(DISTINCT seen_at) FROM core.source_night").fetchall()[0][0]
            con.execute("SELECT * FROM mart.gpu_price").fetchall()
    except Exception as error:
        failures.append(str(error).splitlines()[0])
        continue
    answers += 1
    seen.add(len(runs))
    mixed += runs != built or nights != len(runs)
print(json.dumps({"answers": answers, "versions": len(seen), "failures": failures, "mixed": mixed}))
"""


@dataclass(frozen=True, slots=True)
class Found:
    """What the readers got: their answers, failures and answers from more than one run; the fewest versions that one saw;
    and whether a session that stays open kept its version.
    """

    answers: int
    failures: list[str]
    mixed: int
    versions: int
    has_kept: bool


def measured(publishes: int, seconds: float = 0.0) -> Found:
    """Publish so many versions, and go on for so many seconds, beside the readers."""
    with tempfile.TemporaryDirectory() as folder:
        data, stop = DataDir(Path(folder) / "data"), Path(folder) / "stop"
        rows = offers()
        market.night(data.root, START, rows)
        command = [sys.executable, "-c", READER, str(data.published), str(stop)]
        readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(READERS)]
        ends, number = time.monotonic() + seconds, 0
        with duckdb.connect(str(data.published), read_only=True) as long_lived:
            count = "SELECT count(*) FROM ops.run"
            before = long_lived.execute(count).fetchall()
            while number < publishes or time.monotonic() < ends:
                number += 1
                market.night(data.root, START + timedelta(days=number), moved(rows, number))
            has_kept = long_lived.execute(count).fetchall() == before
        stop.touch()
        found = [json.loads(reader.communicate()[0]) for reader in readers]
    return Found(
        sum(one["answers"] for one in found), [failure for one in found for failure in one["failures"]],
        sum(one["mixed"] for one in found), min(one["versions"] for one in found), has_kept,
    )  # fmt: skip


def offers() -> list[tuple[Offer, str]]:
    """Sixty listings of a market of one's own."""
    return [
        (
            Offer(
                title=f"GeForce RTX 40{60 + 10 * (n % 4)} dual fan {n}", url=f"https://shop.invalid/{n}", key=str(n),
                price=Decimal(400 + 7 * n), currency="USD", price_kind="now", price_text=str(400 + 7 * n),
                availability="in_stock", condition="new",
            ),
            "0" * 64,
        )
        for n in range(60)
    ]  # fmt: skip


def moved(rows: list[tuple[Offer, str]], number: int) -> list[tuple[Offer, str]]:
    """A few prices change by a dollar, others each night."""
    return [
        (replace(offer, price=offer.price + number % 3), sha256)
        if offer.price and position % 20 == number % 20
        else (offer, sha256)
        for position, (offer, sha256) in enumerate(rows)
    ]
