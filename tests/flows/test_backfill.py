"""A backfill gives the tables that its nights give one by one, and a stopped one goes on where it was."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.extract.collect import Collected
from gpuledger.flows.history import backfill
from gpuledger.flows.night import gather
from gpuledger.flows.night.context import Context, Progress
from gpuledger.flows.night.refresh import store
from gpuledger.transform.answers import changes as answers
from gpuledger.warehouse.paths import DataDir
from tests.command import rows, tables
from tests.flows.inprocess import context
from tests.support.few_rates import few_rates

TIMES = [f"2021-03-{day:02d} 10:10:{day:02d}" for day in range(1, 13)]
#: Products with the traps of the real files: no price, several shops, a slip that is taken back, a real move that stays, a
#: late arrival, an early end, one that cannot be read for a night and comes back, a name that is edited, and an amount that
#: breaks the contract: of one card in twelve, and of two, which is too many.
PRODUCTS: dict[tuple[str, str], list[str]] = {
    ("101", "노르빅 지포스 RTX 3060 스톰 D6 12GB"): ["700,000"] * 3 + ["7,000,000"] + ["700,000"] * 8,
    ("102", "노르빅 지포스 RTX 3070 스톰 D6 8GB"): ["1,000,000"] * 4 + ["1,800,000"] * 8,
    ("103", "할덴 지포스 RTX 3080 D6X 10GB"): ["11번가_1,524,790|쿠팡_1,526,950"] * 6 + ["일시품절"] * 6,
    ("104", "할덴 라데온 RX 6800 XT D6 16GB"): ["0"] * 5 + ["1,600,000"] * 7,
    ("105", "펠리코 지포스 GTX 1660 SUPER D6 6GB"): ["450,000", "451,000"] * 6,
    ("106", "펠리코 지포스 GT 1030 D4 2GB"): ["가격비교예정"] * 12,
    ("107", "펠리코 지포스 RTX 3060 D6 12GB"): ["610,000"] * 5 + ["12"] + ["610,000"] * 3 + ["12"] + ["600,000"] * 2,
    ("108", "펠리코 지포스 RTX 3070 D6 8GB"): ["910,000"] * 9 + ["12"] + ["900,000"] * 2,
    ("109", "할덴 지포스 RTX 3070 D6 8GB"): ["920,000"] * 12,
    ("110", "할덴 지포스 RTX 3080 D6X 12GB"): ["1,520,000"] * 12,
    ("111", "할덴 라데온 RX 6800 D6 16GB"): ["1,420,000"] * 12,
    ("112", "펠리코 라데온 RX 6600 D6 8GB"): ["400,000"] * 7 + ["?"] + ["400,000"] * 4,
}
#: As it is called in the second file.
EDITED = {("110", "할덴 지포스 RTX 3080 D6X 12GB"): ("110", "할덴 지포스 RTX 3080 OC D6X 12GB")}


def month(path: Path, times: list[str], products: dict[tuple[str, str], list[str]]) -> Path:
    lines = [",".join(["Id", "Name", *times])]
    lines += [",".join([code, name, *(f'"{cell}"' for cell in cells)]) for (code, name), cells in products.items()]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("months")
    first = {key: cells[:6] for key, cells in PRODUCTS.items()}
    second = {EDITED.get(key, key): cells[6:] for key, cells in PRODUCTS.items() if key[0] != "105"}
    return [
        month(folder / "VGA_2021-03a.csv.gz", TIMES[:6], first),
        month(folder / "VGA_2021-03b.csv.gz", TIMES[6:], second),
    ]


@pytest.fixture(scope="module", autouse=True)
def _few_rates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with few_rates(tmp_path_factory.mktemp("rates"), "2021"):
        yield


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> Path:
    """A folder with what the nights need, taken in once."""
    data = tmp_path_factory.mktemp("rated")
    first = replace(context(data, 1), as_of=backfill.read_crawls(context(data, 1), files)[0][0])
    with gather.reader(first) as reader:
        store(first, [reader.read_source(reading) for reading in backfill.needs(first)], export=False)
    return data


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to, symlinks=True))


def loaded(data: Path, files: list[Path], *, by_night: bool, only: int | None = None) -> Context:
    run = context(data, 1)
    found = backfill.pending(run, backfill.read_crawls(run, files))[:only]
    backfill.backfill(run, found, 1 if by_night else backfill.PUBLISH_EVERY)
    return run


@pytest.fixture(scope="module")
def both(rated: Path, tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> tuple[Path, Path]:
    """The same nights by a backfill, and each as a run of its own: checked, loaded, built and published like any other."""
    folder = tmp_path_factory.mktemp("both")
    bulk, nightly = copied(rated, folder / "bulk"), copied(rated, folder / "nightly")
    loaded(bulk, files, by_night=False)
    crawls = backfill.read_crawls(context(nightly, 1), files)
    for seen_at, offers in crawls:
        run = replace(context(nightly, 1), as_of=seen_at)
        store(run, [Collected(backfill.SOURCE, rows=[*offers])], export=False)
    return bulk, nightly


def test_a_backfill_and_its_nights_as_runs_of_their_own_give_the_same_rows(both: tuple[Path, Path]) -> None:
    bulk, nightly = (tables(path) for path in both)
    assert bulk.keys() == nightly.keys()
    assert len(bulk["core.price_span"]) > 10
    nights = [row for row in bulk["core.source_night"] if row[0] == backfill.SOURCE]
    assert len(nights) == len(TIMES) - 1, "one night is refused whole"
    for table, content in bulk.items():
        assert content == nightly[table], table


def test_what_the_market_did_is_in_the_history(both: tuple[Path, Path]) -> None:
    changes = set(rows(both[0], "SELECT listing_id, change FROM core.price_change"))
    assert ("danawa_daily:102", "price") in changes
    assert ("danawa_daily:103", "price") in changes
    assert ("danawa_daily:105", "ended") in changes
    assert ("danawa_daily:112", "returned") in changes
    titles = set(rows(both[0], "SELECT title FROM core.listing_history WHERE url LIKE '%pcode=110'"))
    assert titles == {(name,) for pair in EDITED.items() for _, name in pair}
    told = answers.changes(DataDir(both[0]), None, None, None)
    first = [one[-3] for one in told.values() if one[-2].endswith("pcode=110") and one[2] == "appeared"]
    assert first == [name for _, name in EDITED], "as it was called then"
    prices = "SELECT DISTINCT price::INTEGER FROM core.price_history WHERE listing_id = 'danawa_daily:{}' AND price > 0"
    assert rows(both[0], prices.format(101)) == [(700_000,)], "the slip must not be in the history"
    assert rows(both[0], prices.format(103)) == [(1_524_790,)], "the lowest of several shops"


def test_what_a_night_does_not_load_is_on_record_with_its_reason(
    rated: Path, files: list[Path], tmp_path: Path
) -> None:
    data = copied(rated, tmp_path / "data")
    run = context(data, 1)
    found = backfill.pending(run, backfill.read_crawls(run, files))
    backfill.backfill(run, found[:3])
    # On the fourth a price is held, and the tenth is refused whole.
    backfill.backfill(context(data, 1), [found[3], found[9]], publish_every=1)
    counts = rows(
        data,
        """SELECT s.quarantined, (SELECT count(*) FROM ops.quarantine q WHERE q.run_id = s.run_id)
           FROM ops.source_run s WHERE s.source = 'danawa_daily'""",
    )
    assert sorted(counts) == [(0, 0), (1, 1), (11, 11)]
    reasons = {reason.partition(":")[0] for (reason,) in rows(data, "SELECT reason FROM ops.quarantine")}
    assert reasons == {"price held", "whole batch refused"}


def test_a_night_of_nothing_is_on_record_and_ends_nothing(rated: Path, tmp_path: Path) -> None:
    data = copied(rated, tmp_path / "data")
    cells = {key: ["500,000", "?", "500,000"] for key in PRODUCTS}
    loaded(data, [month(tmp_path / "VGA_2021-04.csv.gz", TIMES[:3], cells)], by_night=False)
    told = rows(data, "SELECT message FROM ops.issue WHERE code = 'empty_night'")
    assert [message.split(":")[0] for (message,) in told] == ["the crawl of 2021-03-02 shows no offer"]
    # It is no good night: neither the median of rows nor the freshness of the source counts it, and no listing ended.
    nights = rows(data, "SELECT rows, is_complete FROM core.source_night WHERE source = 'danawa_daily'")
    assert nights == [(len(PRODUCTS), True)] * 2
    assert rows(data, "SELECT count(*) FROM core.price_span WHERE valid_to IS NOT NULL") == [(0,)]


def test_a_short_crawl_among_many_nights_is_taken_as_in_a_run_of_its_own(rated: Path, tmp_path: Path) -> None:
    """What it lacks goes on, and what is back on the next night had counted without a break."""
    shown = [*PRODUCTS][:4]
    cells = {key: ["500,000", "500,000", "500,000" if key in shown else "?", "500,000"] for key in PRODUCTS}
    times = [f"2021-05-{day:02d} {hour}:00:00" for day in (1, 2) for hour in (10, 22)]
    file = month(tmp_path / "VGA_2021-05.csv.gz", times, cells)
    bulk, nightly = copied(rated, tmp_path / "bulk"), copied(rated, tmp_path / "nightly")
    loaded(bulk, [file], by_night=False)
    loaded(nightly, [file], by_night=True)
    whole = rows(bulk, "SELECT is_complete FROM core.source_night WHERE source = 'danawa_daily' ORDER BY seen_at")
    assert whole == [(True,), (True,), (False,), (True,)]
    assert rows(bulk, "SELECT count(*) FROM core.price_span") == [(len(PRODUCTS),)]
    assert tables(bulk) == tables(nightly)


def test_a_killed_bulk_load_keeps_what_it_published(
    both: tuple[Path, Path], rated: Path, files: list[Path], tmp_path: Path
) -> None:
    data = copied(rated, tmp_path / "data")
    seen: list[int] = []

    class KilledAtNine(Progress):
        def at(self, done: int, what: str = "") -> None:
            if re.fullmatch(r"\d{4}-\d\d-\d\d", what):  # a night, and no table
                seen.append(done)
            if done == 9 and seen[-1] == 9:
                raise KeyboardInterrupt

    run = replace(context(data, 1), progress=KilledAtNine())
    found = backfill.pending(run, backfill.read_crawls(run, files))
    with pytest.raises(KeyboardInterrupt):
        backfill.backfill(run, found, publish_every=4)
    assert seen == list(range(1, 10))
    again = context(data, 1)
    left = backfill.pending(again, backfill.read_crawls(again, files))
    assert left == found[8:]
    backfill.backfill(again, left, publish_every=4)
    assert tables(data) == tables(both[0])


def test_a_second_backfill_of_the_same_files_has_nothing_to_do(both: tuple[Path, Path], files: list[Path]) -> None:
    run = context(both[0], 1)
    assert backfill.pending(run, backfill.read_crawls(run, files)) == []
