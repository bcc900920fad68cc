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

from gpuledger.extract import local_files
from gpuledger.extract.message import Message, reason_of
from gpuledger.extract.records import BadRecord
from gpuledger.extract.redaction import redact_text
from gpuledger.flows.decisions.releases import RELEASES
from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.settings import parts, settings
from gpuledger.flows.telling import health
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

    name: Message | str
    grade: Grade
    seen: Message | str
    action: Message | str = ""


def examine(context: Context, *, offline: bool = False, deep: bool = False) -> Iterator[Check]:
    """Run all checks, the cheap ones first. A check that raises is reported as a failure with the text of its error.

    With `offline` no site is asked. With `deep` every file that is kept is read.
    """
    checks: list[Callable[[Context], Iterator[Check]]] = [
        _python, _packages, _settings, _data_dir, _disk, _clock, _warehouse, _records, _lock, _runs, _schedule, _prefect_api,
        _notifications, _keys, _left_out,
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
                Message("mend what it names"),
            )  # fmt: skip


def _python(context: Context) -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} in {sys.prefix}")


def _packages(context: Context) -> Iterator[Check]:
    if missing := parts.missing():
        seen = Message("the nightly part is not installed: {missing}", missing=tuple(missing))
        yield Check(
            "packages", "failure", seen, Message("{install}; who only asks needs none of them", install=parts.INSTALL)
        )
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
            "data directory", "failure", f"{existing}: {local_files.why(error)}",
            Message("mend that, or name another --data-dir"),
        )  # fmt: skip
        return
    yield Check("data directory", "ok", Message("{root} can be written", root=root))
    if abs(offset_s) > CLOCK_SLACK_S:
        action = Message("set both clocks by a time server: files would seem older or newer than they are")
        yield Check(
            "disk clock", "warning",
            Message("the file system is {offset_s:+.0f} s from this machine", offset_s=offset_s), action,
        )  # fmt: skip


def _disk(context: Context) -> Iterator[Check]:
    root = context.data.root.resolve()
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    size = context.data.base.stat().st_size if context.data.base.exists() else 0
    needed = max(MIN_FREE_BYTES, COPIES * size)
    seen = Message("{free:.1f} GB free, the warehouse has {size:.0f} MB", free=free / 1e9, size=size / 1e6)
    if free < COPIES * size:
        yield Check(
            "disk", "failure", seen, Message("make room: a night needs {copies} times the warehouse", copies=COPIES)
        )
    elif free < needed:
        yield Check(
            "disk", "warning", seen, Message("make room, or let `gpuledger vacuum` remove old versions and pages")
        )
    else:
        yield Check("disk", "ok", seen)


def _clock(context: Context) -> Iterator[Check]:
    now = context.started_at
    try:
        last = queries.last(context.data)
    except WarehouseError:  # the check of the warehouse reports it
        yield Check(
            "clock", "ok", Message("{now:%Y-%m-%d %H:%M} UTC; nothing is published to compare it with", now=now)
        )
        return
    newest = max((time for time in (last and last.started_at, last and last.live_as_of) if time), default=now)
    if newest > now + timedelta(seconds=CLOCK_SLACK_S):
        seen = Message(
            "{now:%Y-%m-%d %H:%M} UTC, and the newest run says {newest:%Y-%m-%d %H:%M} UTC", now=now, newest=newest
        )
        yield Check(
            "clock", "failure", seen, Message("set the clock: until it has passed that time, no live run can be loaded")
        )
    else:
        yield Check("clock", "ok", Message("{now:%Y-%m-%d %H:%M} UTC, after the newest run", now=now))


def _warehouse(context: Context) -> Iterator[Check]:
    data = context.data
    try:
        storage, library = formats(data)
        last = queries.last(data)
    except NoWarehouse:
        if run_log.has_published(data):
            action = Message("run `gpuledger replay`: the archive holds the runs that were published")
            yield Check("warehouse", "failure", Message("the published file is gone"), action)
        else:
            yield Check("warehouse", "warning", Message("nothing is published yet"), Message("run `gpuledger refresh`"))
        return
    except WarehouseError as error:
        yield Check(
            "warehouse", "failure", reason_of(error),
            Message("run `gpuledger refresh`, or `gpuledger replay` from the archive"),
        )  # fmt: skip
        return
    run = last.run_id if last else "unknown"
    version = integrity.name_of(data.published.resolve())
    yield Check(
        "warehouse", "ok",
        Message(
            "{version}, run {run}, format {storage}, DuckDB {library}", version=version, run=run, storage=storage,
            library=library,
        ),
    )  # fmt: skip
    if logs := sorted(data.versions.rglob("*.wal")):
        names = ", ".join(str(path.relative_to(data.versions)) for path in logs)
        yield Check(
            "write-ahead logs", "warning", names,
            Message("somebody opened a version read-write; it goes with that version"),
        )  # fmt: skip


def _lock(context: Context) -> Iterator[Check]:
    holder = health.writer(context.data)
    if holder is not None:
        yield Check(
            "lock", "ok", Message("process {pid} writes since {since}", pid=holder["pid"], since=holder["since"])
        )
    elif context.data.lock.with_suffix(".json").exists():
        action = Message("nothing: the operating system dropped the lock, and the next run takes it")
        yield Check("lock", "warning", Message("a run was killed and left its note"), action)
    else:
        yield Check("lock", "ok", "free")


def _runs(context: Context) -> Iterator[Check]:
    try:
        ended = [run for run in health.runs(context.data) if run.status != "running"]
    except WarehouseError:
        return
    if ended and not ended[0].status.startswith("published"):
        found = f"{ended[0].run_id} {ended[0].status}: {ended[0].reason or 'it was killed'}"
        yield Check(
            "last run", "warning", found,
            Message("see the reason; the next run starts anew from the last good warehouse"),
        )  # fmt: skip
    elif ended:
        has_failure = ended[0].status != "published"
        published = Message(
            "{run_id}: published, with a source that failed" if has_failure else "{run_id}: published",
            run_id=ended[0].run_id,
        )
        yield Check("last run", "ok", published)


def _schedule(context: Context) -> Iterator[Check]:
    from gpuledger.flows.prefect_.schedule import BadSchedule, Schedule

    chosen = context.settings
    try:
        start = Schedule(chosen.cron, chosen.time_zone).next(context.started_at)
    except BadSchedule as error:
        yield Check("schedule", "failure", reason_of(error), Message("set cron and time_zone"))
        return
    yield Check(
        "schedule",
        "ok",
        Message(
            "{cron} {time_zone}: next at {start:%Y-%m-%d %H:%M} UTC",
            cron=chosen.cron,
            time_zone=chosen.time_zone,
            start=start,
        )
        if start
        else "never",
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
        yield Check("watches", "failure", reason_of(error), Message("mend the file, or remove the watch"))
        count = 0
    urls = [url for text in context.settings.notify_urls for url in text.split()]
    bad = [url.partition(":")[0] for url in urls if notify.sender_to(url) is None]
    action: Message | str
    if bad:
        action = Message("mend GPULEDGER_NOTIFY_URLS; `gpuledger watch test --send` tries it")
        yield Check(
            "notifications", "failure", Message("no address that Apprise knows: {bad}://…", bad=tuple(bad)), action
        )
    elif not urls:
        action = Message("set GPULEDGER_NOTIFY_URLS: nobody would hear of a failed night") if count else ""
        yield Check(
            "notifications", "warning" if count else "ok",
            Message("no target is set; {watches} watches", watches=count), action,
        )  # fmt: skip
    else:
        yield Check(
            "notifications", "ok", Message("{count} targets, {watches} watches", count=len(urls), watches=count),
        )  # fmt: skip


def _keys(context: Context) -> Iterator[Check]:
    """Whether the official interfaces can be asked. A missing key is not a fault: nights leave such a source out."""
    from gpuledger.extract import source as sources
    from gpuledger.flows.night import gather

    for source in sources.discover():
        if source.access is not None:
            missing = gather.keys_missing(source, context.settings)
            state = (
                Message("left out: {missing} is not set", missing=tuple(missing))
                if missing
                else Message("its key is set")
            )
            yield Check(Message("key of {source}", source=source.name), "ok", state)


def _left_out(context: Context) -> Iterator[Check]:
    """Sources that nights leave out because their robots.txt or their terms forbid reading them."""
    from gpuledger.flows.night import left_out

    for out in left_out.of_night(context):
        if out.again is None:
            seen = Message("left out: its terms forbid it, as a person read on {since:%Y-%m-%d}", since=out.since)
            yield Check(Message("terms of {source}", source=out.source), "ok", seen)
            continue
        seen = Message(
            "left out: its robots.txt forbade it on {since:%Y-%m-%d}, and is asked again from {again:%Y-%m-%d}",
            since=out.since, again=out.again,
        )  # fmt: skip
        yield Check(
            Message("robots of {source}", source=out.source), "warning", seen,
            Message("`gpuledger refresh --only {source}` asks now", source=out.source),
        )  # fmt: skip


def _records(context: Context) -> Iterator[Check]:
    data = context.data
    problems = [*run_log.damage(data), *integrity.damage(data), *map(str, RELEASES.usable(data.root)[1])]
    for problem in problems:
        seen, _, action = problem.partition("; ")
        yield Check("records", "failure", seen, action or Message("restore the file from a backup"))
    if not problems:
        yield Check("records", "ok", Message("the logs of runs, of sums and of decisions are as they were written"))


def _deep(context: Context) -> Iterator[Check]:
    """Compare every file with its recorded checksum, the base with what is published, and that with the log of runs."""
    from gpuledger.extract.archive.snapshots import Archive

    data = context.data
    sums = integrity.noted(data)
    if fault := publish.base_fault(data):
        seen = {
            "lost": Message("{base} is lost", base=data.base),
            "older": Message("{base} is an older one that somebody put back", base=data.base),
            "changed": Message("{base} is not what was written", base=data.base),
        }
        yield Check("base", "failure", seen[fault], Message("`gpuledger restore`"))
    if data.published.exists():
        lost = run_log.lost(data, history.published_runs(data.published.resolve()))
        if lost:
            seen_lost = Message("published nights are lost: {nights}", nights=run_log.named(lost))
            yield Check(
                "runs", "failure", seen_lost,
                Message("run `gpuledger replay`: the archive holds the runs that were published"),
            )  # fmt: skip
    for file in [*publish.versions(data), *([data.baseline] if data.baseline.exists() else [])]:
        whole = integrity.is_whole(data, file)
        if whole is None:
            yield Check(
                "sums", "warning", Message("{file} has no sum on record", file=file),
                Message("nothing: the next versions have one"),
            )  # fmt: skip
        elif not whole:
            action = (
                Message("`gpuledger restore`") if file != data.baseline else Message("restore the file from a backup")
            )
            yield Check("sums", "failure", Message("{file} is not what was written", file=file), action)
    if sums:
        yield Check("sums", "ok", Message("{count} versions and the base were read", count=len(publish.versions(data))))
    damaged = Archive.at(data.snapshots, data.store).verify() if data.snapshots.exists() else []
    for error in damaged:
        yield Check("archive", "failure", f"{error.url}: {error.seen}", error.action)
    if not damaged:
        yield Check("archive", "ok", Message("every page and every line of its logs is as it was written"))


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
            return Check(Message("robots of {source}", source=name), "failure", error.seen, error.action)
        return Check(Message("robots of {source}", source=name), "ok", Message("allows it"))

    with gather.reader(context) as reader, ThreadPoolExecutor(context.settings.parallel_sources) as threads:
        yield from threads.map(lambda reading: ask(reading.source.name, reading.starts[0]), readings)
