"""Checks of everything that could keep the nightly run from working on this machine, with what to do about each."""

from __future__ import annotations

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

from gpuledger import local_files
from gpuledger.flows.decisions.releases import RELEASES
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.settings import parts, settings
from gpuledger.flows.telling import health
from gpuledger.records import BadRecord
from gpuledger.redaction import redact_text
from gpuledger.transform import queries
from gpuledger.warehouse import history, integrity, publish
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
        _python, _packages, _settings, _data_dir, _disk, _clock, _warehouse, _records, _lock, _schedule, _prefect_api,
        _notifications, _keys,
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
                check.__name__.strip("_"), "failure", redact_text(f"{type(error).__name__}: {error}"),
                "mend what it names",
            )  # fmt: skip


def _python(context: Context) -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} in {sys.prefix}")


def _packages(context: Context) -> Iterator[Check]:
    if missing := parts.missing():
        seen = f"the nightly part is not installed: {', '.join(missing)}"
        yield Check("packages", "failure", seen, f"{parts.INSTALL}; who only asks needs none of them")
        return
    names = ("prefect", "duckdb", "pandas", "great-expectations")
    yield Check("packages", "ok", ", ".join(f"{name} {metadata.version(name)}" for name in names))


def _settings(context: Context) -> Iterator[Check]:
    for sentence in settings.left_out():
        file, _, rest = sentence.partition(": ")
        yield Check("settings", "warning", file, rest)
    if not settings.IGNORED:
        yield Check("settings", "ok", "all that is set counts")


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
        last = queries.last(context.data)
    except WarehouseError:  # the check of the warehouse reports it
        last = None
    if last is None:
        yield Check("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC; nothing is published to compare it with")
        return
    newest = max(last.started_at, last.live_as_of or last.started_at)
    if newest > now + timedelta(seconds=CLOCK_SLACK_S):
        seen = f"{now:%Y-%m-%d %H:%M} UTC, and the newest run says {newest:%Y-%m-%d %H:%M} UTC"
        yield Check("clock", "failure", seen, "set the clock: until it has passed that time, no live run can be loaded")
    else:
        yield Check("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC, after the newest run")


def _warehouse(context: Context) -> Iterator[Check]:
    data = context.data
    try:
        storage, library = formats(data)
        last = queries.last(data)
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


def _schedule(context: Context) -> Iterator[Check]:
    from gpuledger.flows.prefect_.schedule import BadSchedule, Schedule

    chosen = context.settings
    try:
        start = Schedule(chosen.cron, chosen.time_zone).next(context.started_at)
    except BadSchedule as error:
        yield Check("schedule", "failure", str(error), "set cron and time_zone")
        return
    yield Check(
        "schedule", "ok", f"{chosen.cron} {chosen.time_zone}: next at {start:%Y-%m-%d %H:%M} UTC" if start else "never"
    )


def _prefect_api(context: Context) -> Iterator[Check]:
    """Whether the API that Prefect's settings name asks for a credential. Nights without one start their own server."""
    from gpuledger.flows.prefect_ import api

    api.ignore_the_current_folder()
    api_url = api.named()
    if not api_url:
        return
    status = api.status(api_url, "/admin/version")
    seen = f"{redact_text(api_url)} answers a request without a credential with status {status}"
    if status is None:
        action = "start `prefect server start`, or unset PREFECT_API_URL: a night then needs no server"
        yield Check("Prefect API", "failure", f"{redact_text(api_url)} does not answer", action)
    elif status < 300:
        action = (
            "start it with PREFECT_SERVER_API_AUTH_STRING: whoever reaches it can run code as the user of the nights"
        )
        yield Check("Prefect API", "failure", seen, action)
    else:
        yield Check("Prefect API", "ok", seen)


def _notifications(context: Context) -> Iterator[Check]:
    from gpuledger.flows.telling import notify, watches

    try:
        count = len(watches.WATCHES.all(context.data.root))
    except BadRecord as error:
        yield Check("watches", "failure", str(error), "mend the file, or remove the watch")
        count = 0
    urls = [url for text in context.settings.notify_urls for url in text.split()]
    bad = [url.partition(":")[0] for url in urls if notify.sender_to(url) is None]
    if bad:
        action = "mend GPULEDGER_NOTIFY_URLS; `gpuledger watch test --send` tries it"
        yield Check("notifications", "failure", f"no address that Apprise knows: {', '.join(bad)}://…", action)
    elif not urls:
        action = "set GPULEDGER_NOTIFY_URLS: nobody would hear of a failed night" if count else ""
        yield Check("notifications", "warning" if count else "ok", f"no target is set; {count} watches", action)
    else:
        yield Check("notifications", "ok", f"{len(urls)} targets, {count} watches")


def _keys(context: Context) -> Iterator[Check]:
    """Whether the official interfaces can be asked. A missing key is not a fault: nights leave such a source out."""
    from gpuledger.extract import source as sources
    from gpuledger.flows.night import gather

    for source in sources.discover():
        if source.access is not None:
            missing = gather.keys_missing(source, context.settings)
            state = f"left out: {', '.join(missing)} is not set" if missing else "its key is set"
            yield Check(f"key of {source.name}", "ok", state)


def _records(context: Context) -> Iterator[Check]:
    data = context.data
    problems = [*run_log.damage(data), *integrity.damage(data), *map(str, RELEASES.usable(data.root)[1])]
    for problem in problems:
        seen, _, action = problem.partition("; ")
        yield Check("records", "failure", seen, action or "restore the file from a backup")
    if not problems:
        yield Check("records", "ok", "the logs of runs, of sums and of decisions are as they were written")


def _deep(context: Context) -> Iterator[Check]:
    """Compare every file with its recorded checksum, the base with what is published, and that with the log of runs."""
    from gpuledger.extract.archive.snapshots import Archive

    data = context.data
    sums = integrity.noted(data)
    if fault := publish.base_fault(data):
        seen = {
            "lost": f"{data.base} is lost",
            "older": f"{data.base} is an older one that somebody put back",
            "changed": f"{data.base} is not what was written",
        }
        yield Check("base", "failure", seen[fault], "`gpuledger restore`")
    if data.published.exists():
        lost = run_log.lost(data, history.published_runs(data.published.resolve()))
        if lost:
            seen_lost = f"published nights are lost: {run_log.named(lost)}"
            yield Check(
                "runs", "failure", seen_lost, "run `gpuledger replay`: the archive holds the runs that were published"
            )
    for file in [*publish.versions(data), *([data.baseline] if data.baseline.exists() else [])]:
        whole = integrity.is_whole(data, file)
        if whole is None:
            yield Check("sums", "warning", f"{file} has no sum on record", "nothing: the next versions have one")
        elif not whole:
            action = "`gpuledger restore`" if file != data.baseline else "restore the file from a backup"
            yield Check("sums", "failure", f"{file} is not what was written", action)
    if sums:
        yield Check("sums", "ok", f"{len(publish.versions(data))} versions and the base were read")
    damaged = Archive.at(data.snapshots, data.store).verify() if data.snapshots.exists() else []
    for error in damaged:
        yield Check("archive", "failure", f"{error.url}: {error.seen}", error.action)
    if not damaged:
        yield Check("archive", "ok", "every page and every line of its logs is as it was written")


def _robots(context: Context) -> Iterator[Check]:
    """Ask each live site for its robots.txt, and nothing else."""
    from gpuledger.errors import ExtractError
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
