"""What a file says of a past day is what a replay that is stopped at that day publishes."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from gpuledger.flows.history import backfill
from gpuledger.warehouse.paths import DataDir
from tests.command import rows
from tests.history.replays import START, context, price_table, replayed
from tests.nights import once
from tests.support import stopped

NIGHTS = 21
#: Nights of daily prices that are loaded by one run, and the night of its rates. At first the rates become old, and
#: then, in the gap, the shop does.
RUNS = ((range(1), 0), (range(1, 14), None), (range(14, 15), 14), (range(0), 18), (range(19, 21), 20))
DAY = timedelta(days=1)
#: Days without a rate at all: one that is published counts from its day on, whenever it was loaded.
SILENT = [(START + night * DAY).date() for night in range(1, 14)]


def _price(product: int, night: int) -> str:
    """One falls every night, some rise, one is sold out for a while, and one the gate holds."""
    if product == 2 and night in {3, 4}:
        return "일시품절"
    slip = 10 if (product, night) == (4, 4) else 1
    return f"{(500_000 - 9_000 * night * (product == 0) + 1_000 * night * (product % 2) + 10_000 * product) * slip:,}"


def _build(folder: Path) -> None:
    data = folder / "data"
    file = price_table(folder / "month.csv", NIGHTS, _price)
    files = {hashlib.sha256(file.read_bytes()).hexdigest(): file}
    found = backfill.read_crawls(context(folder / "read"), [file])
    # Of cards of which some were sold a year or two later: a replay has their launch prices in its table as well.
    stopped.figures(data, START, "toms_gpu_hierarchy")
    for nights, rated in RUNS:
        rated_at = None if rated is None else START + rated * DAY + DAY / 2
        stopped.night(data, found[nights.start : nights.stop], files, rated_at, SILENT)
    stopped.figures(data, START + 20 * DAY + DAY / 2, "toms_ai_articles")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "stopped", _build) / "data"


@pytest.mark.parametrize(
    ("night", "has_street_prices"),
    [
        pytest.param(4, True, id="a price held, in the middle of a bulk load"),
        pytest.param(13, True, id="rates of long ago", marks=pytest.mark.slow_combination),
        pytest.param(18, False, id="shop too old", marks=pytest.mark.slow_combination),
        pytest.param(20, True, id="all", marks=pytest.mark.slow_combination),
    ],
)
def test_the_whole_says_of_a_day_what_a_replay_stopped_there_publishes(
    data: Path, tmp_path: Path, night: int, has_street_prices: bool
) -> None:
    end_of_day = (START + night * DAY).replace(hour=23, minute=59)
    replayed(data, tmp_path, until=end_of_day)
    then = stopped.published(DataDir(tmp_path))
    assert {basis for _, basis, *_ in then["value_as_of"]} == ({"msrp", "street"} if has_street_prices else {"msrp"})
    assert rows(tmp_path, "SELECT count(*) FROM core.held_price") == [(night == 4,)]
    assert stopped.as_of(DataDir(data), end_of_day.date()) == then
    assert stopped.as_of(DataDir(tmp_path), end_of_day.date()) == then
