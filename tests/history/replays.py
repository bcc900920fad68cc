"""Replays in this process, and price tables of one's own to load history from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from gpuledger.flows.history import backfill
from gpuledger.flows.history.replay import replay, runs_until
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings import settings
from gpuledger.warehouse.paths import DataDir

START = datetime.fromisoformat("2021-11-01T01:00:00+00:00")


def context(data: Path) -> Context:
    now = utc_now()
    return Context(
        settings=settings.load({"data_dir": str(data)}, environment={}, file=Path("/nowhere.toml")), data=DataDir(data),
        run_id=new_run_id(), as_of=now, started_at=now, engine="plain",
    )  # fmt: skip


def replayed(data: Path, to: Path, *, until: datetime | None = None, skip_damaged: bool = False) -> Summary:
    """`gpuledger replay --data-dir <data> --to <to>`, without the command around it."""
    run = replace(context(data), data=DataDir(to))
    return replay(run, DataDir(data), runs_until(DataDir(data), until), skip_damaged=skip_damaged)


def price_table(
    path: Path, nights: int, prices: Callable[[int, int], str], *, products: int = 12, first: int = 0
) -> Path:
    """A month of Danawa's as a file: the cell of a product on a night is what `prices` says."""
    local = [START + timedelta(hours=9, days=first + night) for night in range(nights)]
    lines = ["Id,Name," + ",".join(f"{time:%Y-%m-%d %H:%M:%S}" for time in local)]
    cards = ("지포스 RTX 3060 D6 12GB", "지포스 RTX 3080 D6X 10GB", "라데온 RX 6600 D6 8GB")
    for product in range(products):
        cells = ",".join(f'"{prices(product, first + night)}"' for night in range(nights))
        lines.append(f"{88000001 + product},바르데 {cards[product % 3]} v{product},{cells}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load(data: Path, *files: Path, by_night: bool = False) -> Summary:
    """`gpuledger backfill <files>`, without the command around it."""
    run = context(data)
    nights = backfill.pending(run, backfill.read_crawls(run, files))
    return backfill.backfill(run, nights, 1 if by_night else backfill.PUBLISH_EVERY)
