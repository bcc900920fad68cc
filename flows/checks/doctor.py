"""Checks of everything that could keep the nightly run from working on this machine, with what to do about each."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from gpuledger.extract import local_files
from gpuledger.extract.redaction import redact_text
from gpuledger.flows.decisions import decisions
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.prefect_ import compat
from gpuledger.flows.settings import parts
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.flows.telling import health
from gpuledger.transform.answers import runs
from gpuledger.warehouse import integrity, publish
from gpuledger.warehouse.errors import NoWarehouse, WarehouseError
from gpuledger.warehouse.read import formats

Grade = Literal["ok", "warning", "failure"]

#: The least free space, and how many copies of the warehouse a night may need at once: the work file, the new version and
#: the old ones.
MIN_FREE_BYTES = 1_000_000_000
COPIES = 3
#: The clock of the disk and the clock of this machine may differ by this much. If they differ by more, one is wrong.
CLOCK_SLACK_S = 120.0


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. `seen` is what the check found; `action` is what to do, empty if all is well."""

    name: str
    grade: Grade
    seen: str
    action: str = ""


def examine(context: Context, *, offline: bool = False, deep: bool = False) -> Iterator[Check]:
    """Run all checks, the cheap ones first. A check that raises is reported as a failure with the text of its error.

    With `offline` no site is asked. With `deep` every file that is kept is read.
    """
    checks: list[Callable[[Context], Iterator[Check]]] = [
        _python, _packages, _data_dir, _disk, _clock, _warehouse, _records, _lock, _runs, _schedule, _notifications,
        _keys, _left_out, _browser,
    ]  # fmt: skip
    if deep:
        checks.append(_deep)
    if not offline:
        checks.append(_robots)
    for check in checks:
        try:
            yield from check(context)
        except Exception as error:  # noqa: BLE001
            if isinstance(error, ModuleNotFoundError) and parts.part_of(error):
                continue  # the check of the packages has reported it
            yield Check(
                check.__name__.strip("_"),
                "failure",
                redact_text(f"{type(error).__name__}: {error}"),
                "mend what it names",
            )


def _python(context: Context) -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} in {sys.prefix}")


def _packages(context: Context) -> Iterator[Check]:
    if missing := parts.missing():
        seen = f"the nightly part is not installed: {', '.join(missing)}"
        yield Check("packages", "failure", seen, f"{parts.INSTALL}; who only asks needs none of them")
        return
    names = ("prefect", "fastapi", "sqlalchemy", "duckdb", "pandas", "great-expectations")
    yield Check("packages", "ok", ", ".join(f"{name} {metadata.version(name)}" for name in names))
    for problem in compat.problems():
        seen, _, action = problem.partition("; ")
        yield Check("packages", "failure", seen, action)


def _data_dir(context: Context) -> Iterator[Check]:
    root = context.data.root.resolve()
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".gpuledger-doctor-") as file:
            file.write(b"x")
            file.flush()
            offset_s = Path(file.name).stat().st_mtime - time.time()
    except OSError as error:
        yield Check(
            "data directory",
            "failure",
            f"{existing}: {local_files.why(error)}",
            "mend that, or name another --data-dir",
        )
        return
    yield Check("data directory", "ok", f"{root} can be written")
    if abs(offset_s) > CLOCK_SLACK_S:
        action = "set both clocks by a time server: files would seem older or newer than they are"
        yield Check("disk clock", "warning", f"the file system is {offset_s:+.0f} s from this machine", action)


def _disk(context: Context) -> Iterator[Check]:
    root = context.data.root.resolve()
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    size = context.data.base.stat().st_size if context.data.base.exists() else 0
    needed = max(MIN_FREE_BYTES, COPIES * size)
    seen = f"{free / 1e9:.1f} GB free, the warehouse has {size / 1e6:.0f} MB"
    if free < COPIES * size:
        yield Check("disk", "failure", seen, f"make room: a night needs {COPIES} times the warehouse")
    elif free < needed:
        yield Check("disk", "warning", seen, "make room, or let `gpuledger vacuum` remove old versions and pages")
    else:
        yield Check("disk", "ok", seen)


def _clock(context: Context) -> Iterator[Check]:
    now = context.started_at
    try:
        last = runs.last(context.data)
    except WarehouseError:  # the check of the warehouse reports it
        yield Check("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC; nothing is published to compare it with")
        return
    newest = max((time for time in (last and last.started_at, last and last.live_as_of) if time), default=now)
    if newest > now + timedelta(seconds=CLOCK_SLACK_S):
        seen = f"{now:%Y-%m-%d %H:%M} UTC, and the newest run says {newest:%Y-%m-%d %H:%M} UTC"
        yield Check("clock", "failure", seen, "set the clock: until it has passed that time, no live run can be loaded")
    else:
        yield Check("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC, after the newest run")


def _warehouse(context: Context) -> Iterator[Check]:
    data = context.data
    try:
        storage, library = formats(data)
        last = runs.last(data)
    except NoWarehouse:
        if run_log.has_published(data):
            action = "run `gpuledger replay`: the archive holds the runs that were published"
            yield Check("warehouse", "failure", "the published file is gone", action)
        else:
            yield Check("warehouse", "warning", "nothing is published yet", "run `gpuledger refresh`")
        return
    except WarehouseError as error:
        yield Check(
            "warehouse", "failure", str(error), "run `gpuledger refresh`, or `gpuledger replay` from the archive"
        )
        return
    run = last.run_id if last else "unknown"
    version = integrity.name_of(data.published.resolve())
    yield Check("warehouse", "ok", f"{version}, run {run}, format {storage}, DuckDB {library}")
    if logs := sorted(data.versions.rglob("*.wal")):
        names = ", ".join(str(path.relative_to(data.versions)) for path in logs)
        yield Check(
            "write-ahead logs", "warning", names, "somebody opened a version read-write; it goes with that version"
        )


def _lock(context: Context) -> Iterator[Check]:
    holder = health.writer(context.data)
    if holder is not None:
        yield Check("lock", "ok", f"process {holder['pid']} writes since {holder['since']}")
    elif context.data.lock.with_suffix(".json").exists():
        action = "nothing: the operating system dropped the lock, and the next run takes it"
        yield Check("lock", "warning", "a run was killed and left its note", action)
    else:
        yield Check("lock", "ok", "free")
    stale_locks = [path for path in sorted((context.data.state / "guards").glob("*.lock")) if _is_free(path)]
    if stale_locks:
        seen = f"{len(stale_locks)} killed process(es) may have left a Prefect server behind"
        yield Check("leftovers", "warning", seen, "nothing: the next `serve` or `refresh` ends what they left")


def _is_free(path: Path) -> bool:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    lock.release()
    return True


def _runs(context: Context) -> Iterator[Check]:
    try:
        ended = [run for run in health.runs(context.data) if run.status != "running"]
    except WarehouseError:
        return
    if ended and not ended[0].status.startswith("published"):
        seen = f"{ended[0].run_id} {ended[0].status}: {ended[0].reason or 'it was killed'}"
        yield Check(
            "last run", "warning", seen, "see the reason; the next run starts anew from the last good warehouse"
        )
    elif ended:
        run_id = ended[0].run_id
        has_failure = ended[0].status != "published"
        seen = f"{run_id}: published, with a source that failed" if has_failure else f"{run_id}: published"
        yield Check("last run", "ok", seen)


def _schedule(context: Context) -> Iterator[Check]:
    from gpuledger.flows.prefect_.schedule import BadSchedule, Schedule

    settings = context.settings
    try:
        start = Schedule(settings.cron, settings.time_zone).next(context.started_at)
    except BadSchedule as error:
        yield Check("schedule", "failure", str(error), "set cron and time_zone")
        return
    yield Check(
        "schedule",
        "ok",
        f"{settings.cron} {settings.time_zone}: next at {start:%Y-%m-%d %H:%M} UTC" if start else "never",
    )


def _notifications(context: Context) -> Iterator[Check]:
    from gpuledger.flows.telling import notify
    from gpuledger.flows.telling.watches import store

    try:
        watches = len(store.load(context.data))
    except SettingsError as error:
        yield Check("watches", "failure", str(error), "mend the file, or remove the watch")
        watches = 0
    urls = [url for text in context.settings.notify_urls for url in text.split()]
    bad = [url.partition(":")[0] for url in urls if notify.sender_to(url) is None]
    if bad:
        action = "mend GPULEDGER_NOTIFY_URLS; `gpuledger watch test --send` tries it"
        yield Check("notifications", "failure", f"no address that Apprise knows: {', '.join(bad)}://…", action)
    elif not urls and not context.settings.notify_blocks:
        action = "set GPULEDGER_NOTIFY_URLS: nobody would hear of a failed night" if watches else ""
        yield Check("notifications", "warning" if watches else "ok", f"no target is set; {watches} watches", action)
    else:
        yield Check(
            "notifications", "ok", f"{len(urls) + len(context.settings.notify_blocks)} targets, {watches} watches"
        )


def _keys(context: Context) -> Iterator[Check]:
    """Whether the official interfaces can be asked. A missing key is not a fault: nights leave such a source out."""
    from gpuledger.extract import source as sources
    from gpuledger.flows.night import gather

    for source in sources.discover():
        if source.access is not None:
            missing = gather.keys_missing(source, context.settings)
            state = f"left out: {', '.join(missing)} is not set" if missing else "its key is set"
            yield Check(f"key of {source.name}", "ok", state)


def _left_out(context: Context) -> Iterator[Check]:
    """Sources that nights leave out because their robots.txt or their terms forbid reading them."""
    from gpuledger.flows.night import left_out

    for out in left_out.of_night(context):
        if out.again is None:
            seen = f"left out: its terms forbid it, as a person read on {out.since:%Y-%m-%d}"
            yield Check(f"terms of {out.source}", "ok", seen)
            continue
        seen = (
            f"left out: its robots.txt forbade it on {out.since:%Y-%m-%d}, and is asked again from {out.again:%Y-%m-%d}"
        )
        yield Check(f"robots of {out.source}", "warning", seen, f"`gpuledger refresh --only {out.source}` asks now")


def _browser(context: Context) -> Iterator[Check]:
    """Whether pages that need a browser can be rendered. Without a source that has such pages no browser is needed."""
    from gpuledger.extract.errors import ExtractError
    from gpuledger.extract.fetch import browser
    from gpuledger.flows.night import gather

    needed = gather.needs_browser(context)
    if not needed:
        return
    names = ", ".join(needed)
    if missing := parts.missing("browser"):
        yield Check("browser", "failure", f"{names}: no {', '.join(missing)} is installed", parts.install("browser"))
    elif context.settings.browser_address:
        yield Check("browser", "ok", f"{names}: by the one at {redact_text(context.settings.browser_address)}")
    else:
        try:
            program = browser.find(context.settings.browser_program)
        except ExtractError as error:
            yield Check("browser", "failure", f"{names}: {error.seen}", error.action)
            return
        if os.geteuid() == 0:
            action = "run as another user than root, as the units in deploy/ do"
            yield Check("browser", "warning", f"{names}: {program}, which has no sandbox where root starts it", action)
        else:
            yield Check("browser", "ok", f"{names}: {program}")


def _records(context: Context) -> Iterator[Check]:
    data = context.data
    problems = [*run_log.damage(data), *integrity.damage(data), *decisions.damage(data)]
    for problem in problems:
        seen, _, action = problem.partition("; ")
        yield Check("records", "failure", seen, action or "restore the file from a backup")
    if not problems:
        yield Check("records", "ok", "the logs of runs, of sums and of decisions are as they were written")


def _deep(context: Context) -> Iterator[Check]:
    """Compare every file with its recorded checksum: the base, the versions, the baseline and the archive."""
    from gpuledger.extract import objects
    from gpuledger.extract.archive.snapshots import Archive

    data = context.data
    sums = integrity.noted(data)
    if data.base.exists() and integrity.digest(data.base) not in sums.values():
        yield Check("base", "failure", f"{data.base} is not what was written", "`gpuledger restore`")
    for file in [*publish.versions(data), *([data.baseline] if data.baseline.exists() else [])]:
        whole = integrity.is_whole(data, file)
        if whole is None:
            yield Check("sums", "warning", f"{file} has no sum on record", "nothing: the next versions have one")
        elif not whole:
            action = "`gpuledger restore`" if file != data.baseline else "restore the file from a backup"
            yield Check("sums", "failure", f"{file} is not what was written", action)
    if sums:
        yield Check("sums", "ok", f"{len(publish.versions(data))} versions and the base were read")
    damaged = Archive(data.snapshots, objects.of(data.store)).verify() if data.snapshots.exists() else []
    for error in damaged:
        yield Check("archive", "failure", f"{error.url}: {error.seen}", error.action)
    if not damaged:
        yield Check("archive", "ok", "every page and every line of its logs is as it was written")


def _robots(context: Context) -> Iterator[Check]:
    """Ask each live site for its robots.txt, and nothing else."""
    from gpuledger.extract.errors import ExtractError
    from gpuledger.flows.night import gather

    # For an official interface the key is the permission, and robots.txt does not apply.
    readings = [reading for reading in gather.readings(context) if reading.starts and reading.source.access is None]

    def ask(name: str, url: str) -> Check:
        try:
            reader.client.ask_robots(url)
        except ExtractError as error:
            return Check(f"robots of {name}", "failure", error.seen, error.action)
        return Check(f"robots of {name}", "ok", "allows it")

    with gather.reader(context) as reader, ThreadPoolExecutor(context.settings.parallel_sources) as threads:
        yield from threads.map(lambda reading: ask(reading.source.name, reading.starts[0]), readings)
