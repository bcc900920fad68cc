"""The log of runs: a line when a run starts, one before and one after it is published, and one when it ends.

A run that fails publishes nothing, and a run that is killed cannot even log that. Both must be on record all the same, so
the next run that publishes copies them into ops.run. The archive alone does not show which runs reached a reader, which
sources they tried, which addresses they started from, and which pages never came. The line before the publish does, and
`replay` goes through those lines. So the log lies in the archive, beside the pages.

Lines are only appended. If a kill stopped a run between the lines around its publish, `heal` looks whether its version's
file is there, and appends the missing line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from gpuledger import errors, local_files
from gpuledger.errors import ExtractError
from gpuledger.extract.archive import files, sealed
from gpuledger.extract.collect import Collected
from gpuledger.extract.fetch import addresses
from gpuledger.flows.night.context import Context, Engine
from gpuledger.flows.settings.settings import Settings
from gpuledger.redaction import redact_text
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.ledger import Run, Time
from gpuledger.warehouse.paths import DataDir

#: Lost runs that a message names.
_NAMED = 5
Event = Literal["start", "publishing", "published", "finish"]


class BadRecord(WarehouseError):
    """A line of the log cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """One source in one run: the addresses and files that it started from, and the pages that did not come.

    `files` are name, content type and hash. `fetched` counts the pages that came. `failure` is set only for a source that
    requested nothing. `nights` are the first and the last loaded night, if the files hold many. `fetched_by` is the run that
    put the pages into the archive. `shop` is as in Reading: a source of many shops has a record for each shop.
    """

    source: str
    shop: str = ""
    fetched_by: str
    starts: tuple[str, ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()
    fetched: int = 0
    missed: Mapping[str, ExtractError]
    failure: ExtractError | None = None
    nights: tuple[Time, Time] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One published run. `settings` are those of the gate, by name: they decided which prices the run believed at once."""

    run_id: str
    as_of: Time
    started_at: Time
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
    """Write down what a run took in, just before it is published."""
    _append(data, "publishing", _plain(record))


def published(data: DataDir, run_id: str) -> None:
    """Write down that a run is published."""
    _append(data, "published", {"run_id": run_id})


def heal(data: DataDir) -> None:
    """Complete the log after a kill. Call it before another run begins, as that run may remove the version."""
    for line in reversed([line for line in sealed.lines(data.runs) if b'"publish' in line]):
        event, line_fields = _event(line)
        if event == "published":
            return
        if event == "publishing":
            if publish.is_published(data, line_fields["run_id"]):
                published(data, line_fields["run_id"])
            return


def entries(data: DataDir) -> list[Run]:
    """All runs from start to end, in the order in which they began. Skips lines that cannot be read."""
    runs: dict[str, dict[str, Any]] = {}
    for _, line in _lines(data):
        event, fields = _event(line)
        if event == "start":
            runs.setdefault(fields["run_id"], {}).update(fields)
        elif event == "finish" and fields["run_id"] in runs:
            runs[fields["run_id"]].update(fields)
        elif event == "published" and fields["run_id"] in runs:
            runs[fields["run_id"]]["is_published"] = True
    return [run for fields in runs.values() if (run := _run(fields))]


def lost(data: DataDir, known: Mapping[str, datetime]) -> list[Run]:
    """The published runs that a file with the `known` runs lacks: it is older than the log, or a replay left runs out."""
    return [run for run in entries(data) if run.is_published and run.run_id not in known]


def named(runs: Sequence[Run]) -> str:
    """The first of the runs by their times and ids, and how many more there are."""
    first = ", ".join(f"{run.as_of:%Y-%m-%d %H:%M} UTC (run {run.run_id})" for run in runs[:_NAMED])
    return first + (f" (+{len(runs) - _NAMED})" if len(runs) > _NAMED else "")


def has_published(data: DataDir) -> bool:
    """Whether any run was published, and so can be replayed."""
    return any(_event(line)[0] == "published" for _, line in _lines(data))


def ticks_done(data: DataDir) -> set[datetime]:
    """The scheduled times whose run was published."""
    return {entry.tick for entry in entries(data) if entry.tick is not None and entry.status.startswith("published")}


def damage(data: DataDir) -> list[str]:
    """The records of runs that cannot be trusted, each with its file, its line and what to do about it."""
    return [
        f"{data.runs}, line {line.number}: {line.reason}; restore the file from a backup, or leave its run out of a replay "
        "with --skip-damaged"
        for line in _changed(data)
    ]


def _changed(data: DataDir) -> list[sealed.Damage]:
    """The log's lines that were changed. A torn line is no damage: its run went no further, or `heal` wrote it again."""
    return [fault for fault in sealed.damage(sealed.lines(data.runs)) if not fault.is_torn]


def records(data: DataDir, *, skip_damaged: bool = False) -> list[RunRecord]:
    """The published runs, in the order in which they were published. Raises BadRecord, naming the line.

    Skips a line that a kill tore: its run went no further, or `heal` wrote the line again. With `skip_damaged` it also
    skips a line that was changed, and `unread` names it.
    """
    published_runs, bad = _records_and_damage(data)
    if bad and not skip_damaged:
        number, reason = bad[0]
        raise BadRecord(
            f"{data.runs}, line {number}: no record of a run ({reason}); restore the file from a backup, or give "
            "--skip-damaged, which leaves its run out of the replay"
        )
    return published_runs


def unread(data: DataDir) -> list[str]:
    """The lines that `records` does not trust, each with its file and its number."""
    return [f"{data.runs}, line {number}: {reason}" for number, reason in _records_and_damage(data)[1]]


def _records_and_damage(data: DataDir) -> tuple[list[RunRecord], list[tuple[int, str]]]:
    """The published runs, and the lines that are not as they were written, each with the reason."""
    by_run: dict[str, RunRecord] = {}
    done: set[str] = set()
    bad = []
    changed = {fault.number: fault.reason for fault in _changed(data)}
    for number, line in _lines(data):
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
            bad.append((number, reason))
    return [record for run_id, record in by_run.items() if run_id in done], bad


def record_of(context: Context, collected: Sequence[Collected]) -> RunRecord:
    """The record of a run."""
    gate = {
        f.name: getattr(context.settings, f.name) for f in dataclasses.fields(Settings) if f.name.startswith("gate_")
    }
    return RunRecord(
        run_id=context.run_id, as_of=context.as_of, started_at=context.started_at, engine=context.engine,
        sample_night=context.sample_night, settings=gate,
        sources=tuple(_source(context, batch) for batch in collected),
    )  # fmt: skip


def _source(context: Context, batch: Collected) -> SourceRecord:
    requested_nothing = not batch.starts and not batch.files
    return SourceRecord(
        source=batch.source, shop=batch.shop, fetched_by=batch.fetched_by or context.run_id, files=tuple(batch.files),
        # Without secrets, as the archive keeps them.
        starts=tuple(addresses.redact(url) for url in batch.starts), fetched=batch.fetched, missed=dict(batch.missed),
        failure=batch.failure if requested_nothing else None, nights=batch.nights,
    )  # fmt: skip


def _append(data: DataDir, event: Event, fields: Mapping[str, Any]) -> None:
    if isinstance(reason := fields.get("reason"), str):
        fields = {**fields, "reason": redact_text(reason)}  # an unforeseen error may have an address in its text
    files.make_folder(data.runs.parent)
    sealed.append(data.runs, {"event": event, **fields}, _plain)


def _plain(value: Any) -> Any:
    """A value that JSON has no form for, as one that it has."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, ExtractError):
        return errors.as_record(value)
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _lines(data: DataDir) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers."""
    for number, line in enumerate(sealed.lines(data.runs), start=1):
        if line.strip():
            yield number, line


def _event(line: bytes) -> tuple[str | None, dict[str, Any]]:
    """The event and the fields of a line; the event is None if the line cannot be read."""
    try:
        fields = local_files.loads(line) if sealed.is_whole(line) else {}
        run_id = fields["run_id"]
    except (ValueError, KeyError, TypeError):
        return None, {}
    for name in ("after", "seal"):
        fields.pop(name, None)
    event = fields.pop("event", None)
    return (event, fields) if isinstance(run_id, str) and isinstance(event, str) else (None, {})


def _run(fields: dict[str, Any]) -> Run | None:
    try:
        return msgspec.convert(fields, Run)
    except msgspec.ValidationError:
        return None


def _record(fields: Mapping[str, Any]) -> RunRecord:
    return msgspec.convert(fields, RunRecord, dec_hook=lambda kind, record: errors.rebuilt(record))
