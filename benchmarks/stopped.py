"""A history of Tom's figures, exchange rates and daily prices that can be replayed, and what is asked of it as of a day.

All that it takes in is archived as a run archives it, so `gpuledger replay --until DAY` makes each earlier state of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
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
from tests.support.market_history import context, rates

_PRICES = (
    "gpu_id, price_usd, median_usd, offers, source, listing_id, title, url, price, currency, fx_day, price_since, "
    "snapshot_sha256"
)
#: What a night publishes, and how a later file is asked for it.
QUESTIONS = {
    "value_as_of": ("*", "mart.value"),
    "price_as_of": (_PRICES, "mart.gpu_price WHERE price_usd IS NOT NULL"),
    "ranking_as_of": ("*", "mart.ranking"),
}

Answers = dict[str, list[tuple[Any, ...]]]


def published(data: DataDir) -> Answers:
    """What the newest file says of now."""
    return {
        macro: file_query(data.published, f"SELECT {columns} FROM {table} ORDER BY ALL")
        for macro, (columns, table) in QUESTIONS.items()
    }


def as_of(data: DataDir, day: date) -> Answers:
    """What the newest file says of `day`."""
    return {
        macro: file_query(data.published, f"SELECT {columns} FROM {macro}(DATE '{day}') ORDER BY ALL")
        for macro, (columns, _) in QUESTIONS.items()
    }


def figures(root: Path, seen_at: datetime, source: str) -> None:
    """One of Tom's pages, as the sample has it, read at `seen_at`."""
    refresh.run(replace(context(root, seen_at), sample_night=1, only=(source,)), inprocess.read_with_shared_parsers)


def night(
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
    run = context(root, seen_at)
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
    for rate in rates(last - timedelta(days=89), last):
        if rate.currency in ("USD", "KRW") and rate.day not in silent:
            days[rate.day] = days.get(rate.day, "") + f'<Cube currency="{rate.currency}" rate="{rate.rate}"/>'
    cubes = "".join(f'<Cube time="{day}">{cube}</Cube>' for day, cube in days.items())
    run.data.root.mkdir(exist_ok=True)
    file = run.data.root / "rates.xml"
    file.write_text(f'<Cube xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">{cubes}</Cube>')
    with gather.reader(run) as reader:
        return reader.read_source(Reading(get("ecb_fx"), (), (LocalFile(file, "text/xml"),)))
