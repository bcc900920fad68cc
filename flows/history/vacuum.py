"""Retention: removes old versions, pages that nothing needs, items of old parsers, and the accounts of old runs.

Every number stays traceable: a page that any row of a kept version refers to is never removed. A replay stays possible
too: before the pages of old runs are removed, those runs are replayed into a baseline with which later replays begin. So
an archive that cannot be replayed is not pruned.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.history import replay
from gpuledger.flows.night import run_log, sharing
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.run_log import RunRecord
from gpuledger.flows.night.sharing import writing
from gpuledger.transform import queries
from gpuledger.warehouse import history, integrity, publish
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True)
class Removed:
    """What a vacuum removed, or would remove: how many, and their bytes, 0 if those are not known."""

    what: str
    count: int
    size_bytes: int


def vacuum(context: Context, *, dry_run: bool = False) -> list[Removed]:
    """Remove what the settings keep_versions and keep_days do not keep. Days count back from the newest run.

    With `dry_run` only report what would be removed. Raises NoWarehouse, Locked, and what a replay of the old runs raises.
    """
    data = context.data
    with writing(data):
        publish.heal(data)
        run_log.heal(data)
        if not data.base.exists():
            raise NoWarehouse(data.root)
        last = queries.last(data)
        assert last is not None, "a base is there since a run was published"
        newest = last.as_of
        cutoff = newest - timedelta(days=context.settings.keep_days)
        accounts = _forget_accounts(context, cutoff, dry_run)
        versions = publish.old_versions(data, context.settings.keep_versions)
        removed = [
            Removed("versions", len(versions), sum(path.stat().st_size for path in versions)),
            *accounts,
            *_prune_archive(context, newest, cutoff, dry_run),
        ]
        if not dry_run:
            for version in versions:
                publish.remove_version(version)
        return removed


def _forget_accounts(context: Context, cutoff: datetime, dry_run: bool) -> list[Removed]:
    """Delete the accounts of runs before the cutoff, in a new version that is written anew, which frees the room."""
    data = context.data
    before = data.published.resolve()
    limit = context.settings.memory_limit
    with publish.workspace(data, context.run_id, memory_limit=limit) as (con, work):
        con.begin()
        counts = history.forget_accounts(con, cutoff)
        if dry_run or not any(counts.values()):
            return [Removed(f"rows of {table}", count, 0) for table, count in counts.items()]
        con.commit()
        publish.compact(con, work)
        version = publish.publish(con, data, work, context.run_id, context.settings.keep_versions + 1)
    saved = max(0, before.stat().st_size - version.stat().st_size)
    rows = [Removed(f"rows of {table}", count, 0) for table, count in counts.items()]
    return [*rows, Removed("room in the warehouse file", 1, saved)]


def _prune_archive(context: Context, newest: datetime, cutoff: datetime, dry_run: bool) -> list[Removed]:
    data = context.data
    archive = Archive.at(data.snapshots, data.store)
    folded = replay.folded_runs(data)
    unfolded = [run for run in run_log.records(data) if run.run_id not in folded]
    old = next((number for number, run in enumerate(unfolded) if run.as_of >= cutoff), len(unfolded))
    # Pages that any row of any version refers to, those that a replay needs, and the first of each watched image.
    keep = {sha256 for path in publish.versions(data) for sha256 in history.pages_of_rows(path)}
    records = (record for run in unfolded[old:] for record in run.sources)
    keep |= {page.sha256 for record in records for page in replay.pages(archive, record)}
    keep |= _first_images(archive)
    days = context.settings.keep_days
    removed = archive.prune(days, newest, keep, dry_run=True)
    sizes = sum(archive.size(sha256) for sha256 in removed)
    if removed and not dry_run:
        # Also if all removed pages are of runs that published nothing: then the next vacuum has less to fold.
        _fold(context, unfolded[:old])
        archive.prune(days, newest, keep)
        sharing.forget(data, removed)
    cache = ParsedCache(data.snapshots / "parsed")
    stale = cache.stale({*archive.pages()} - {*removed})
    sizes_parsed = sum(path.stat().st_size for path in stale)
    if not dry_run:
        for path in stale:
            path.unlink(missing_ok=True)
        for folder in sorted((data.snapshots / "parsed").glob("*/*")):
            if not any(folder.iterdir()):
                folder.rmdir()
    return [
        Removed("pages of the archive", len(removed), sizes),
        Removed("parsed pages", len(stale), sizes_parsed),
        Removed("runs folded into the baseline", old if removed else 0, 0),
    ]


def _first_images(archive: Archive) -> set[str]:
    """The first bytes of every watched image: a transcription without a hash was made from these."""
    first_by_url: dict[str, str] = {}
    for name in archive.sources():
        for page in archive.history(name):
            if page.headers.get("content-type", "").startswith("image/"):
                first_by_url.setdefault(page.url, page.sha256)
    return set(first_by_url.values())


def _fold(context: Context, runs: list[RunRecord]) -> None:
    """Replay `runs` on top of the old baseline, into a new baseline."""
    data = context.data
    if not runs:
        return
    aside = DataDir(data.state / "vacuum")
    shutil.rmtree(aside.root, ignore_errors=True)
    try:
        replay.replay(dataclasses.replace(context, data=aside), data, runs, export=False)
        part = data.baseline.with_suffix(".part")
        shutil.copyfile(aside.base, part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        integrity.note(data, data.baseline, integrity.digest(part))
        part.replace(data.baseline)
        archive_files.sync(data.snapshots)
    finally:
        shutil.rmtree(aside.root, ignore_errors=True)
