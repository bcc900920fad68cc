"""The log of runs: a line when a run starts, one before and one after it is published, and one when it ends.

A run that fails publishes nothing, and one that is killed cannot even say so; both must still be on record, so the next run
that publishes takes them over into ops.run. And the archive alone does not say which runs reached a reader, which sources
they tried, what they started from, and which pages never came: the line before the publish does, and `replay` goes through
those lines. So the log stands in the archive, beside the pages.

Lines are only appended. What a kill leaves unsaid, `heal` says: whether the run of the last such line was published is told
by its version's file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from gpuledger.extract import errors, local_files, sealed
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.fetch import addresses
from gpuledger.extract.redaction import redact_text
from gpuledger.flows.night.context import Context, Engine
from gpuledger.flows.setup.settings import Settings
from gpuledger.warehouse import private, publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir

Event = Literal["start", "publishing", "published", "finish"]


class BadRecord(WarehouseError):
    """A line of the log cannot be read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One run from its start to its end. `finished_at` is None while it runs, or where it never ended; `status` is then
    `interrupted`. `tick` is the time of the schedule that it stands for, where it stands for one.
    """

    run_id: str
    started_at: datetime
    as_of: datetime
    engine: str
    sample_night: int | None
    status: str = "interrupted"
    reason: str | None = None
    finished_at: datetime | None = None
    tick: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """One source in one run: what it started from, and what did not come.

    `files` are name, content type and hash. `fetched` pages came. `failure` is that of a source which asked for nothing.
    `nights` are the first and last of those in the files that were loaded, where a file holds many. `fetched_by` is the run
    that has the pages in the archive. `shop` is as in Reading: a source of many shops has a record for each.
    """

    source: str
    shop: str = ""
    fetched_by: str
    starts: tuple[str, ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()
    fetched: int = 0
    missed: Mapping[str, ExtractError]
    failure: ExtractError | None = None
    nights: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One published run. `settings` are those of the gate, by name: they decide what was believed at once."""

    run_id: str
    as_of: datetime
    started_at: datetime
    engine: Engine
    sample_night: int | None
    settings: Mapping[str, Any]
    sources: tuple[SourceRecord, ...]


def start(context: Context) -> None:
    """Write down that a run begins."""
    names = ("run_id", "started_at", "as_of", "engine", "sample_night", "tick")
    _append(context.data, "start", {name: getattr(context, name) for name in names})


def finish(context: Context, status: str, reason: str | None) -> None:
    """Write down how a run ended."""
    fields = {"run_id": context.run_id, "status": status, "reason": reason, "finished_at": datetime.now(UTC)}
    _append(context.data, "finish", fields)


def publishing(data: DataDir, record: RunRecord) -> None:
    """Write down what a run took in: it is about to be published."""
    _append(data, "publishing", _plain(record))


def published(data: DataDir, run_id: str) -> None:
    """Write down that it is."""
    _append(data, "published", {"run_id": run_id})


def heal(data: DataDir) -> None:
    """Finish what a kill interrupted. Call it before another run begins, since that may remove the version."""
    if data.old_loading.exists():
        try:
            words = local_files.loads(data.old_loading.read_bytes())
            _record(words)
            _append(data, "publishing", words)
            data.old_loading.unlink()
        except (ValueError, KeyError, TypeError):
            # Torn: what it spoke of is lost, and the next run must not stop at it. `damage` names it.
            data.old_loading.replace(data.torn_loading)
    if not data.runs.exists():
        return
    for line in reversed(data.runs.read_bytes().split(b"\n")):
        event, fields = _event(line)
        if event == "published":
            return
        if event == "publishing":
            if publish.is_published(data, fields["run_id"]):
                published(data, fields["run_id"])
            return


def entries(data: DataDir) -> list[Entry]:
    """All runs from start to end, in the order in which they began. A line that cannot be read is passed over."""
    runs: dict[str, dict[str, Any]] = {}
    for _, _, line in _lines(data.old_journal, data.runs):
        event, fields = _event(line)
        if event == "start":
            runs.setdefault(fields["run_id"], {}).update(fields)
        elif event == "finish" and fields["run_id"] in runs:
            runs[fields["run_id"]].update(fields)
    return [entry for fields in runs.values() if (entry := _entry(fields))]


def has_ended_badly(data: DataDir) -> bool:
    """Whether the last run that is on record came to no end, or to a bad one."""
    last = entries(data)[-1:]
    return bool(last) and not last[0].status.startswith("published")


def has_published(data: DataDir) -> bool:
    """Whether any run was published, so that there is something to replay."""
    return any(_event(line)[0] == "published" for _, _, line in _lines(data.runs))


def ticks_done(data: DataDir) -> set[datetime]:
    """Times of the schedule whose run was published."""
    return {entry.tick for entry in entries(data) if entry.tick is not None and entry.status.startswith("published")}


def damage(data: DataDir) -> list[str]:
    """What of the records of runs cannot be believed, each with its file, its line and what to do about it."""
    found = [
        f"{data.runs}, line {one.number}: {one.reason}; restore the file from a backup, or leave its run out of a replay "
        "with --skip-damaged"
        for one in _changed(data)
    ]
    if data.torn_loading.exists():
        found.append(f"{data.torn_loading}: a kill tore it, and its run is not on record; look at it, and remove it")
    return found


def _changed(data: DataDir) -> list[sealed.Damage]:
    """What is wrong with the log's lines. A torn one is not: its run went no further, or `heal` has said it again."""
    lines = data.runs.read_bytes().split(b"\n") if data.runs.exists() else []
    return [one for one in sealed.damage(lines) if not one.is_torn]


def records(data: DataDir, *, skip_damaged: bool = False) -> list[RunRecord]:
    """The runs that were published, in the order in which they were. Raises BadRecord, naming the line.

    A line that a kill tore is passed over: its run went no further, or `heal` has said it again. With `skip_damaged` so is
    one that was changed; `unread` names it.
    """
    found, bad = _read(data)
    if bad and not skip_damaged:
        path, number, reason = bad[0]
        raise BadRecord(
            f"{path}, line {number}: no record of a run ({reason}); restore the file from a backup, or give "
            "--skip-damaged, which leaves its run out of the replay"
        )
    return found


def unread(data: DataDir) -> list[str]:
    """The lines that `records` does not believe, each with its file and its number."""
    return [f"{path}, line {number}: {reason}" for path, number, reason in _read(data)[1]]


def _read(data: DataDir) -> tuple[list[RunRecord], list[tuple[Path, int, str]]]:
    """The published runs, and the lines that are not as they were written, with what is wrong."""
    by_run: dict[str, RunRecord] = {}
    done: set[str] = set()
    bad = []
    changed = {one.number: one.reason for one in _changed(data)}
    for path, number, line in _lines(data.runs):
        event, fields = _event(line)
        reason = changed.get(number)
        if event is None and not sealed.is_torn(line):
            reason = reason or "neither the start nor the end of one"
        try:
            if "sources" in fields:
                by_run[fields["run_id"]] = _record(fields)
        except (ValueError, KeyError, TypeError) as error:
            reason = reason or str(error)
        if event == "published":
            done.add(fields["run_id"])
            if fields["run_id"] not in by_run:
                reason = reason or f"the line with the sources of {fields['run_id']} is not there"
        if reason:
            bad.append((path, number, reason))
    return [record for run_id, record in by_run.items() if run_id in done], bad


def record_of(context: Context, collected: Sequence[Collected]) -> RunRecord:
    """What is put on record of a run."""
    return RunRecord(
        run_id=context.run_id, as_of=context.as_of, started_at=context.started_at, engine=context.engine,
        sample_night=context.sample_night, settings=_gate(context.settings),
        sources=tuple(_source(context, batch) for batch in collected),
    )  # fmt: skip


def _source(context: Context, batch: Collected) -> SourceRecord:
    asked_nothing = not batch.starts and not batch.files
    return SourceRecord(
        source=batch.source, shop=batch.shop, fetched_by=batch.fetched_by or context.run_id, files=tuple(batch.files),
        # As the archive has them: without secrets.
        starts=tuple(addresses.redact(url) for url in batch.starts), fetched=batch.fetched, missed=dict(batch.missed),
        failure=batch.failure if asked_nothing else None, nights=batch.nights,
    )  # fmt: skip


def _gate(settings: Settings) -> dict[str, Any]:
    names = (f.name for f in dataclasses.fields(settings) if f.name.startswith("gate_"))
    return {name: getattr(settings, name) for name in names}


def _append(data: DataDir, event: Event, fields: Mapping[str, Any]) -> None:
    if isinstance(reason := fields.get("reason"), str):
        fields = {**fields, "reason": redact_text(reason)}  # of an error that nobody foresaw, with an address in it
    private.make_folder(data.runs.parent)
    sealed.append(data.runs, {"event": event, **fields}, _plain)


def _plain(value: Any) -> Any:
    """What JSON has no word for."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, ExtractError):
        return {"error": type(value).__name__, "url": value.url, "seen": value.seen, "action": value.action}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _lines(*paths: Path) -> Iterator[tuple[Path, int, bytes]]:
    """The lines with their numbers."""
    for path in paths:
        if path.exists():
            for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
                if line.strip():
                    yield path, number, line


def _event(line: bytes) -> tuple[str | None, dict[str, Any]]:
    """What a line says; None where it cannot be read.

    Before there was one log, the archive's had only runs that were published, without the name of the event.
    """
    try:
        fields = local_files.loads(line) if sealed.is_whole(line) else {}
        run_id = fields["run_id"]
    except (ValueError, KeyError, TypeError):
        return None, {}
    for name in ("after", "seal"):
        fields.pop(name, None)
    event = fields.pop("event", "published" if "sources" in fields else None)
    return (event, fields) if isinstance(run_id, str) and isinstance(event, str) else (None, {})


def _entry(fields: dict[str, Any]) -> Entry | None:
    times = ("started_at", "as_of", "finished_at", "tick")
    try:
        dated = {name: datetime.fromisoformat(fields[name]) for name in times if fields.get(name)}
        entry = Entry(**{**fields, **dated})
    except (ValueError, TypeError):
        return None
    said = [getattr(entry, name) for name in times]
    is_dated = all(time is None or (isinstance(time, datetime) and time.tzinfo is not None) for time in said)
    texts = [entry.engine, entry.status, entry.reason or ""]
    is_worded = all(isinstance(text, str) for text in texts) and type(entry.sample_night) in (int, type(None))
    return entry if is_dated and is_worded and all(said[:2]) else None


def _record(fields: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        run_id=fields["run_id"], as_of=datetime.fromisoformat(fields["as_of"]),
        started_at=datetime.fromisoformat(fields["started_at"]), engine=fields["engine"],
        sample_night=fields["sample_night"], settings=fields["settings"],
        sources=tuple(_source_record(source) for source in fields["sources"]),
    )  # fmt: skip


def _source_record(fields: Mapping[str, Any]) -> SourceRecord:
    missed = fields["missed"]
    if isinstance(missed, list):  # before there was one log
        missed = {error["address"]: error for error in missed}
    nights = [datetime.fromisoformat(night) for night in fields.get("nights") or ()]
    return SourceRecord(
        source=fields["source"], shop=fields.get("shop", ""), fetched_by=fields["fetched_by"],
        starts=tuple(fields["starts"]),
        files=tuple((name, kind, sha256) for name, kind, sha256 in fields["files"]), fetched=fields["fetched"],
        missed={address: _error(error) for address, error in missed.items()},
        failure=_error(fields["failure"]) if fields.get("failure") else None,
        nights=(nights[0], nights[1]) if nights else None,
    )  # fmt: skip


def _error(fields: Mapping[str, str]) -> ExtractError:
    return errors.rebuilt(fields["error"], fields["url"], fields["seen"], fields["action"])
