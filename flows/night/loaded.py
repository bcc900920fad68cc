"""The archive's record of the runs that were published: what a replay goes through.

The archive alone does not say which runs reached a reader, which sources they tried, what they started from, and which
pages never came. That stands here, a line a run, beside the pages. A run is noted before it is published and put on record
after it; `heal` finishes what a kill left between the two, by whether the version's file is there.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpuledger.extract import errors
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.fetch import addresses
from gpuledger.flows.night.context import Context, Engine
from gpuledger.flows.setup.settings import Settings
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir


class BadRecord(WarehouseError):
    """A line of the record cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """One source in one run: what it started from, and what did not come.

    `files` are name, content type and hash. `fetched` pages came. `failure` is that of a source which asked for nothing.
    `nights` are the first and last of those in the files that were loaded, where a file holds many. `fetched_by` is the run
    that has the pages in the archive.
    """

    source: str
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


def of(context: Context, collected: Sequence[Collected]) -> RunRecord:
    """What is put on record of a run."""
    return RunRecord(
        run_id=context.run_id, as_of=context.as_of, started_at=context.started_at, engine=context.engine,
        sample_night=context.sample_night, settings=_gate(context.settings),
        sources=tuple(_source(context, batch) for batch in collected),
    )  # fmt: skip


def _source(context: Context, batch: Collected) -> SourceRecord:
    asked_nothing = not batch.starts and not batch.files
    return SourceRecord(
        source=batch.source, fetched_by=batch.fetched_by or context.run_id, files=tuple(batch.files),
        # As the archive has them: without secrets.
        starts=tuple(addresses.redact(url) for url in batch.starts), fetched=batch.fetched, missed=dict(batch.missed),
        failure=batch.failure if asked_nothing else None, nights=batch.nights,
    )  # fmt: skip


def _gate(settings: Settings) -> dict[str, Any]:
    names = (f.name for f in dataclasses.fields(settings) if f.name.startswith("gate_"))
    return {name: getattr(settings, name) for name in names}


def note(data: DataDir, record: RunRecord) -> None:
    """Write down that the run is about to be published."""
    archive_files.write(data.loading, json.dumps(_to_json(record), ensure_ascii=False).encode() + b"\n")


def confirm(data: DataDir) -> None:
    """Put the noted run on record: it is published."""
    data.runs.parent.mkdir(parents=True, exist_ok=True)
    line = data.loading.read_bytes()
    handle = os.open(data.runs, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(handle).st_size
        if (
            os.pread(handle, len(line), max(0, size - len(line))) != line
        ):  # else a kill came between the two steps below
            os.write(handle, line)
            os.fsync(handle)
    finally:
        os.close(handle)
    data.loading.unlink()


def heal(data: DataDir) -> None:
    """Finish a record that a kill interrupted. Call it before another run begins, since that may remove the version."""
    if data.loading.exists():
        run_id = json.loads(data.loading.read_bytes())["run_id"]
        if publish.version_of(data, run_id).exists():
            confirm(data)
        else:
            data.loading.unlink()


def read(data: DataDir) -> list[RunRecord]:
    """All runs on record, in the order in which they were loaded. Raises BadRecord, naming the line."""
    if not data.runs.exists():
        return []
    found = []
    for number, line in enumerate(data.runs.read_bytes().split(b"\n"), start=1):
        if line.strip():
            try:
                found.append(_from_json(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise BadRecord(
                    f"{data.runs}, line {number}: no record of a run ({type(error).__name__}: {error}); restore the file "
                    "from a backup, or delete the line: its run is then left out of a replay"
                ) from None
    return found


def _to_json(record: RunRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "as_of": record.as_of.isoformat(),
        "started_at": record.started_at.isoformat(),
        "engine": record.engine,
        "sample_night": record.sample_night,
        "settings": dict(record.settings),
        "sources": [_source_to_json(source) for source in record.sources],
    }


def _source_to_json(source: SourceRecord) -> dict[str, Any]:
    words: dict[str, Any] = {
        "source": source.source,
        "fetched_by": source.fetched_by,
        "starts": source.starts,
        "files": source.files,
        "fetched": source.fetched,
        "missed": [{"address": address, **_error_to_json(error)} for address, error in source.missed.items()],
    }
    if source.failure:
        words["failure"] = _error_to_json(source.failure)
    if source.nights:
        words["nights"] = [night.isoformat() for night in source.nights]
    return words


def _error_to_json(error: ExtractError) -> dict[str, str]:
    return {"error": type(error).__name__, "url": error.url, "seen": error.seen, "action": error.action}


def _from_json(words: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        run_id=words["run_id"], as_of=datetime.fromisoformat(words["as_of"]),
        started_at=datetime.fromisoformat(words["started_at"]), engine=words["engine"],
        sample_night=words["sample_night"], settings=words["settings"],
        sources=tuple(_source_from_json(source) for source in words["sources"]),
    )  # fmt: skip


def _source_from_json(words: Mapping[str, Any]) -> SourceRecord:
    first_last = [datetime.fromisoformat(night) for night in words.get("nights", ())]
    return SourceRecord(
        source=words["source"], fetched_by=words["fetched_by"], starts=tuple(words["starts"]),
        files=tuple((name, kind, sha256) for name, kind, sha256 in words["files"]), fetched=words["fetched"],
        missed={missed["address"]: _error(missed) for missed in words["missed"]},
        failure=_error(words["failure"]) if "failure" in words else None,
        nights=(first_last[0], first_last[1]) if first_last else None,
    )  # fmt: skip


def _error(words: Mapping[str, str]) -> ExtractError:
    return errors.rebuilt(words["error"], words["url"], words["seen"], words["action"])
