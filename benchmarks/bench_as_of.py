"""A hundred days spread over three real years: what the file that holds them all says of each, and a replay stopped there.

A history that grows from one of the days to the next is, at each, what a replay stopped at it makes. The command replays
some of them from the archive, too.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.pages import LocalFile, archive_file
from gpuledger.extract.source import get
from gpuledger.flows.history import backfill
from gpuledger.flows.night import gather, refresh, run_log, store
from gpuledger.flows.night.context import Context
from gpuledger.transform.build import price_days
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import file_query
from tests.flows import inprocess
from tests.support import market_history as market
from tests.support.served import ROOT, command, environment

DAYS = 100
#: Of the days, by number: those at which the command stops a replay as well.
REPLAYED = (10, 25)
#: On every seventh of the days the last rates are so old that they no longer count.
OLD_EVERY, OLD = 7, timedelta(days=6)
#: Days after the first night when each of Tom's pages was read. They have figures of cards that came out years later.
FIGURES = {"toms_gpu_hierarchy": 1, "toms_ai_articles": 500}
_PRICES = (
    "gpu_id, price_usd, median_usd, offers, source, listing_id, title, url, price, currency, fx_day, price_since, "
    "snapshot_sha256"
)
#: What a night publishes, and how a later file is asked for it.
_QUESTIONS = {
    "value_as_of": ("*", "mart.value"),
    "price_as_of": (_PRICES, "mart.gpu_price WHERE price_usd IS NOT NULL"),
    "ranking_as_of": ("*", "mart.ranking"),
}

_Answers = dict[str, list[tuple[Any, ...]]]
Rows = list[tuple[str, str, str, bool | None]]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept. Empty without the real prices."""
    if not market.files():
        return []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        data = DataDir(root / "data")
        told = _grow(data.root)
        days = sorted(told)
        later = {day: _as_of(data, day) for day in days}
        then = {day: _replayed(data, root / str(day), day) for day in (days[number] for number in REPLAYED)}
        return _rows(told, then, later)


def _rows(told: Mapping[date, _Answers], then: Mapping[date, _Answers], later: Mapping[date, _Answers]) -> Rows:
    rows: Rows = []
    for macro in _QUESTIONS:
        wrong = [day for day in told if later[day][macro] != told[day][macro]]
        answers = sum(len(told[day][macro]) for day in told)
        what = f"days of {len(told)} for which {macro} says what a replay stopped there does, {answers:,} rows"
        first = f", not {wrong[0]}" if wrong else ""
        rows.append((what, f"{len(told) - len(wrong)}{first}", str(len(told)), not wrong))
    same = sum(told[day] == answers for day, answers in then.items())
    return [*rows, (f"… {len(then)} of them replayed by the command", str(same), str(len(then)), same == len(then))]


def _grow(root: Path) -> dict[date, _Answers]:
    """Load all nights, and stop at each of the days; what was published there."""
    files = {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in market.files()}
    nights = market.read(root.with_name("archive"))
    first, last = nights[0][0].date(), nights[-1][0].date()
    figures = {source: first + timedelta(days=after) for source, after in FIGURES.items()}
    told = {}
    before = date.min
    for number in range(1, DAYS + 1):
        day = first + (last - first) * number / DAYS
        here = [crawl for crawl in nights if before < crawl[0].date() <= day]
        is_old = number % OLD_EVERY == 0
        there = [crawl for crawl in here if not is_old or crawl[0].date() <= day - OLD]
        _night(root, there, files, _end(day - OLD if is_old else day))
        if rest := here[len(there) :]:
            _night(root, rest, files, None)
        for source in (source for source, since in figures.items() if before < since <= day):
            _figures(root, _end(day), source)
        told[day] = _published(DataDir(root))
        before = day
    return told


def _end(day: date) -> datetime:
    return datetime.combine(day, time(22), UTC)


def _replayed(data: DataDir, to: Path, day: date) -> _Answers:
    """What an operator gets who asks for a day's state again."""
    words = command("replay", "--until", day, "--to", to, data=data.root)
    subprocess.run(words, cwd=ROOT, env=environment(), check=True, capture_output=True)
    return _published(DataDir(to))


def _published(data: DataDir) -> _Answers:
    """What the newest file says of now."""
    return {
        macro: file_query(data.published, f"SELECT {columns} FROM {table} ORDER BY ALL")
        for macro, (columns, table) in _QUESTIONS.items()
    }


def _as_of(data: DataDir, day: date) -> _Answers:
    """What the newest file says of `day`."""
    return {
        macro: file_query(data.published, f"SELECT {columns} FROM {macro}(DATE '{day}') ORDER BY ALL")
        for macro, (columns, _) in _QUESTIONS.items()
    }


def _figures(root: Path, seen_at: datetime, source: str) -> None:
    """One of Tom's pages, as the sample has it, read at `seen_at`."""
    refresh.run(
        replace(market.context(root, seen_at), sample_night=1, only=(source,)), inprocess.read_with_shared_parsers
    )


def _night(
    root: Path,
    nights: Sequence[backfill.Crawl],
    files: Mapping[str, Path],
    rated_at: datetime | None,
    silent: Collection[date] = (),
) -> None:
    """A run that takes in nights of daily prices (`files` hold them, by their hash) and the bank's rates, of `rated_at`
    where there are no nights; without it, no rates. On `silent` days the bank published none.
    """
    seen_at = nights[-1][0] if nights else rated_at
    assert seen_at is not None
    run = market.context(root, seen_at)
    batches = [_rates(run, silent)] if rated_at else []
    if nights:
        batches.append(_prices(run, nights, files))

    def load(con: duckdb.DuckDBPyConnection) -> tuple[store.Night, run_log.RunRecord]:
        first = nights[0][0] if nights else seen_at
        is_newest = price_days.is_newest(con, first)
        night = store.Night((), frozenset())
        if nights:
            night = backfill.load(con, run, nights)
        rest = store.load(con, run, [batch for batch in batches if batch.rows])
        since = price_days.since(con, first) if is_newest else None
        both = store.Night((*night.sources, *rest.sources), night.tables | rest.tables, since)
        return both, run_log.record_of(run, batches)

    refresh.publish_loaded(run, load)


def _prices(run: Context, nights: Sequence[backfill.Crawl], files: Mapping[str, Path]) -> Collected:
    hashes = sorted({sha256 for _, rows in nights for _, sha256 in rows})
    for sha256 in hashes:
        file = LocalFile(files[sha256], "text/csv")
        archive_file(get(backfill.SOURCE), file, Archive(run.data.snapshots), run.started_at, run.run_id)
    return Collected(backfill.SOURCE, fetched=len(hashes), nights=(nights[0][0], nights[-1][0]))


def _rates(run: Context, silent: Collection[date]) -> Collected:
    """The bank's rates of ninety days that are not `silent`, from a file as it gives them."""
    last = run.as_of.date()
    days: dict[date, str] = {}
    for rate in market.rates(last - timedelta(days=89), last):
        if rate.currency in ("USD", "KRW") and rate.day not in silent:
            days[rate.day] = days.get(rate.day, "") + f'<Cube currency="{rate.currency}" rate="{rate.rate}"/>'
    cubes = "".join(f'<Cube time="{day}">{cube}</Cube>' for day, cube in days.items())
    run.data.root.mkdir(exist_ok=True)
    file = run.data.root / "rates.xml"
    file.write_text(f'<Cube xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">{cubes}</Cube>')
    with gather.reader(run) as reader:
        return reader.read_source(Reading(get("ecb_fx"), (), (LocalFile(file, "text/xml"),)))
