"""Rebuild the whole warehouse from the archive: the recorded runs, one after the other, without a network.

A replay takes the steps that the runs took, with the pages that they fetched and the failures that they met. Between two
nights it leaves out the copy, the build and the publish, as no later night reads those. So core and mart come out the same,
row for row. If the program has changed since, they come out as the changed program writes them.

A replay publishes everything or nothing: the work file is published once, at the end. Until then readers and the old
versions stay as they were.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from gpuledger.errors import CorruptSnapshot
from gpuledger.extract import shops
from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Parser, Reading, collect
from gpuledger.extract.pages import LocalFile, OfRun
from gpuledger.extract.processes.parse_pool import ParsePool
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.flows.history import backfill
from gpuledger.flows.night import charts, exporting, refresh, run_log, store
from gpuledger.flows.night.context import SILENT, Context
from gpuledger.flows.night.run_log import RunRecord, SourceRecord
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.summary import Summary
from gpuledger.warehouse import history, integrity, publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.load.stage import append
from gpuledger.warehouse.paths import FROM_PEOPLE, DataDir

#: Damaged files that a refusal names. The refusal only counts the others.
NAMED = 5


class ReplayRefused(WarehouseError):
    """The archive lacks something that a faithful replay needs. Nothing is changed."""


def runs_until(data: DataDir, until: datetime | None, *, skip_damaged: bool = False) -> list[RunRecord]:
    """The recorded runs whose `as_of` is `until` or earlier. Of a bulk load of many nights it takes only such nights.

    Raises ReplayRefused if there are none, and BadRecord, naming the line, if a record was changed, unless `skip_damaged`.
    """
    run_log.heal(data)
    folded = folded_runs(data)
    if until is not None and folded and until < max(folded.values()):
        raise ReplayRefused(
            f"{data.baseline} holds the runs up to {max(folded.values()):%Y-%m-%d %H:%M} UTC in one: a vacuum forgot their "
            "pages, so a replay cannot stop before that"
        )
    runs = []
    for run in run_log.records(data, skip_damaged=skip_damaged):
        if run.run_id in folded:
            continue
        sources_until = tuple(source for record in run.sources if (source := _cut(record, run, until)))
        if sources_until:
            last = max((record.nights[1] for record in sources_until if record.nights), default=run.as_of)
            runs.append(dataclasses.replace(run, as_of=last, sources=sources_until))
    if not runs and not folded:
        when = f" up to {until:%Y-%m-%d %H:%M} UTC" if until else ""
        raise ReplayRefused(
            f"{data.runs}: no run is on record{when}, so there is nothing to replay; name another --data-dir or --until"
        )
    return runs


def folded_runs(data: DataDir) -> dict[str, datetime]:
    """The runs in the baseline, each with its `as_of`; empty if nothing was ever pruned."""
    if not data.baseline.exists():
        return {}
    return history.published_runs(data.baseline)


def _cut(record: SourceRecord, run: RunRecord, until: datetime | None) -> SourceRecord | None:
    first, last = record.nights or (run.as_of, run.as_of)
    if until is None or last <= until:
        return record
    return dataclasses.replace(record, nights=(first, until)) if record.nights and first <= until else None


def replay(
    context: Context,
    archive_of: DataDir,
    runs: Sequence[RunRecord],
    *,
    skip_damaged: bool = False,
    export: bool = True,
) -> Summary:
    """Replay the `runs` from the archive of `archive_of` and publish the result in `context.data`; see `runs_until`.

    If a vacuum has folded earlier runs into a baseline, the replay begins with the baseline. `export` writes the CSV files
    as well.

    Raises ReplayRefused, naming the files, if pages are damaged or missing: a history with a hole that looks like an answer
    is worse than no history. With `skip_damaged` such a page counts as one that could not be read that night: its source
    fails or is incomplete, its last good data stay, ops.issue records that, and the summary names it. Raises also what
    `refresh.store` raises.
    """
    archive = Archive.at(archive_of.snapshots, archive_of.store)
    context.progress.step("verify")
    with writing(context.data), archive.held():
        damaged = [*_lost_runs(archive_of), *_damage(archive, runs)]
        # Also if damage may be skipped: all later runs would be built on it.
        if archive_of.baseline.exists() and integrity.is_whole(archive_of, archive_of.baseline) is False:
            raise ReplayRefused(
                f"{archive_of.baseline}: it is not what was written: restore it from a backup, or move it away, and the "
                "runs in it are left out by --skip-damaged. Nothing was changed"
            )
        if damaged and not skip_damaged:
            more = f"; and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
            raise ReplayRefused(
                f"{'; '.join(damaged[:NAMED])}{more}: restore from a backup, or give --skip-damaged, and each counts as a "
                "page that could not be read on its night. Nothing was changed"
            )
        damaged += _no_longer_read(runs)
        publish.heal(context.data)
        # What people decided and added belongs to the history, as the pages do.
        for folder in FROM_PEOPLE if archive_of.root.resolve() != context.data.root.resolve() else ():
            if (archive_of.root / folder).is_dir():
                shutil.copytree(archive_of.root / folder, context.data.root / folder, dirs_exist_ok=True)
        limit = context.settings.memory_limit
        with (
            ParsePool(context.settings.page_limits()) as parser,
            publish.workspace(context.data, context.run_id, memory_limit=limit, copy_of=archive_of.baseline) as (
                con,
                work,
            ),
        ):
            con.begin()
            context.progress.step("replay", len(runs))
            newest = max(folded_runs(archive_of).values(), default=context.as_of)
            # The replayed runs are the parts of this step, so their own steps must not show as progress.
            replayed = _Replay(con, dataclasses.replace(context, progress=SILENT), archive, parser, newest)
            for number, run in enumerate(publish.committed(con, runs)):
                context.progress.at(number, f"{run.as_of:%Y-%m-%d %H:%M}")
                replayed.run(run)
            context.progress.at(len(runs))
            last = dataclasses.replace(context, as_of=replayed.newest)
            builds = refresh.build(con, last, replayed.changed | store.seed(con, last))
            summary = refresh.publish_build(con, last, work, (), builds)
        if export:
            context.progress.step("export")
            exporting.after_run(context.data, summary.answered)
    return dataclasses.replace(summary, damaged=damaged)


@dataclasses.dataclass
class _Replay:
    """The runs, loaded one after the other into the work file: the tables that changed, and the newest `as_of` of a run."""

    _con: duckdb.DuckDBPyConnection
    _context: Context
    _archive: Archive
    _parser: Parser
    newest: datetime
    changed: set[str] = dataclasses.field(default_factory=set)
    #: The nights in the files of the last backfill. Its runs were published in parts, and share these files.
    _crawls: tuple[str, list[backfill.Crawl]] = ("", [])

    def run(self, run: RunRecord) -> None:
        """Load what one run loaded."""
        known = {field.name for field in dataclasses.fields(self._context.settings)}
        settings = {name: value for name, value in run.settings.items() if name in known}
        context = dataclasses.replace(
            self._context, run_id=run.run_id, as_of=run.as_of, started_at=run.started_at, engine=run.engine,
            sample_night=run.sample_night, settings=dataclasses.replace(self._context.settings, **settings),
        )  # fmt: skip
        outcomes: list[SourceOutcome] = []
        batches = []
        for record in run.sources:
            if record.source not in sources.names():
                continue  # `_no_longer_read` names it
            if not record.nights:
                batches.append(self._collected(record))
                continue
            crawls = self._nights(record)
            context = dataclasses.replace(context, as_of=crawls[-1][0] if crawls else run.as_of)
            if crawls:
                filled = backfill.load(self._con, context, crawls)
                self.changed |= filled.tables
                outcomes += filled.sources
        # It may roll its transaction back. The nights of a backfill are committed by now, and stay.
        night = store.load(self._con, context, batches)
        self.changed |= night.tables | refresh.identify(self._con, context)
        store.write_run(self._con, context, [*outcomes, *night.sources])
        self.newest = context.as_of

    def _collected(self, record: SourceRecord) -> Collected:
        """What the source gave then, parsed anew."""
        if record.failure is not None:
            return Collected(record.source, shop=record.shop, failure=record.failure)
        of_run = OfRun(self._archive, pages(self._archive, record), record.missed)
        files = [LocalFile(Path(name), kind) for name, kind, _ in record.files]
        reading = Reading(sources.get(record.source), record.starts, files, record.shop)
        return charts.watched(collect(reading, of_run, None, parser=self._parser), self._archive)

    def _nights(self, record: SourceRecord) -> list[backfill.Crawl]:
        if self._crawls[0] != record.fetched_by:
            self._crawls = (record.fetched_by, nights(self._whole(record)))
        assert record.nights is not None
        first, last = record.nights
        return [crawl for crawl in self._crawls[1] if first <= crawl[0] <= last]

    def _whole(self, record: SourceRecord) -> Iterator[Page]:
        """The files of a backfill. A damaged file becomes an issue, and its nights are left out."""
        for snapshot in pages(self._archive, record):
            try:
                yield self._archive.page(snapshot)
            except CorruptSnapshot as error:
                columns = ("CorruptSnapshot", "error", f"{error.seen}; {error.action}", None, None, snapshot.url)
                append(self._con, "ops.issue", [(record.fetched_by, record.source, *columns, snapshot.sha256)])


def pages(archive: Archive, record: SourceRecord) -> list[Snapshot]:
    """The pages that the run fetched. If an attempt was given up and tried again, only those of the last attempt."""
    fetched = shops.of_shop(archive.log(record.source).of_run(record.fetched_by), record.shop)
    return fetched if record.nights else fetched[max(0, len(fetched) - record.fetched) :]


def _lost_runs(data: DataDir) -> Iterator[str]:
    """Lines of the log of runs that cannot be trusted, and runs that the published file holds and the log lacks.

    The published file is needed for this, as lines that are lost from the end of a log leave no gap in it.
    """
    yield from run_log.unread(data)
    try:
        published = history.fetching_runs(data)
    except WarehouseError:
        return  # the replay is to make this very file anew
    known = {record.run_id for record in run_log.records(data, skip_damaged=True)} | folded_runs(data).keys()
    for run_id in published:
        if run_id not in known:
            yield f"{data.runs}: the record of the published run {run_id} is not there"


def _no_longer_read(runs: Sequence[RunRecord]) -> list[str]:
    """The sources of the runs that this version lets go, in sentences. An update must not take the rest of a history."""
    known = set(sources.names())
    runs_of = Counter(record.source for run in runs for record in run.sources if record.source not in known)
    return [f"{source}, in {count} runs: this version no longer reads it" for source, count in runs_of.items()]


def _damage(archive: Archive, runs: Sequence[RunRecord]) -> Iterator[str]:
    """The pages of the runs that are missing, or are not as they were stored. Reads each file once."""
    seen: set[str] = set()
    logs: set[str] = set()
    for run in runs:
        for record in run.sources:
            if record.source not in logs:
                logs.add(record.source)
                yield from (f"{error.url}: {error.seen}" for error in archive.log(record.source).damage())
            fetched = pages(archive, record)
            if len(fetched) < record.fetched:
                lost = f"{record.fetched - len(fetched)} of {record.fetched} fetches"
                yield f"log/{record.source}.jsonl: {lost} of run {record.fetched_by} are not there"
            for snapshot in fetched:
                if snapshot.sha256 in seen:
                    continue
                seen.add(snapshot.sha256)
                try:
                    archive.content_of(snapshot.sha256)
                except CorruptSnapshot as error:
                    yield f"{error.url}: {error.seen}"
