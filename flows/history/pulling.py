"""A publication as the warehouse of this machine, by `gpuledger pull`, and by questions if `warehouse` names one."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import duckdb
import msgspec

from gpuledger.extract.archive.web import readable
from gpuledger.flows.night.start import Request, refuse_a_mixture
from gpuledger.flows.settings.settings import Settings, SettingsError
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import failure
from gpuledger.warehouse.errors import Locked, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import bring, rows
from gpuledger.warehouse.published.bring import Note
from gpuledger.warehouse.published.manifest import POINTER

#: How long the publisher is asked again before somebody who waits is told that it does not answer [s].
_PATIENCE_S = 5.0
#: How often questions ask for a newer day, and how soon again after no answer.
_EVERY, _AGAIN = timedelta(hours=24), timedelta(hours=1)


def pull(
    settings: Settings, data: DataDir, *, keep_sample: bool = False, month_will_do: bool = False
) -> tuple[str, ...]:
    """Bring a folder to the newest day of the publication `warehouse`. Returns sentences about it, of which the first says
    what came. If `month_will_do`, into a folder without one comes only the month of that day; those before follow.

    Raises Untrusted, StoreError, SettingsError for a folder of the sample that is not of this publication, WarehouseError
    for a place without a publication, and Locked while a run writes.
    """
    place = readable(settings.warehouse, _PATIENCE_S)
    before = bring.note_of(data)
    if before.address != place.address:
        refuse_a_mixture(data, Request(keep_sample=keep_sample))
    is_there = before.address == place.address and before.newest is not None and data.published.exists()
    found = bring.bring(data, place, settings.warehouse_keys, is_whole=is_there or not month_will_do)
    if found is None:
        raise WarehouseError(f"{place.address} is no publication: there is no {place.address}/{POINTER}")
    now, older = datetime.now(UTC), len(found.manifest.files) - len(found.note.files)
    note = msgspec.structs.replace(found.note, asked_at=None if older else now)
    if is_there and (before.newest, before.files) == (note.newest, note.files) and not rows.has_aged(data, now):
        bring.keep(data, note)
        return (gettext("{day} is here already").format(day=found.manifest.day),)
    left = take_in(settings, data, note, now)
    bring.keep(data, note)
    silent = [source.source for source in found.manifest.sources if source.is_silent]
    said = [gettext("{day}: {files} files, checked").format(day=found.manifest.day, files=len(note.files))]
    if older:
        said.append(gettext("files of older months, which come next: {files}").format(files=older))
    if silent:
        said.append(gettext("silent for longer than usual: {sources}").format(sources=", ".join(silent)))
    if left:
        said.append(gettext("read by this folder itself: {sources}").format(sources=", ".join(left)))
    return (*said, *found.said)


def take_in(settings: Settings, data: DataDir, note: Note, now: datetime) -> list[str]:
    """Build the warehouse of a folder from the files that its note names, beside what the folder reads itself, as of `now`.

    Returns the folder's own sources that the publication has too. Raises Untrusted, and what a rebuild raises.
    """
    from gpuledger.flows.night import building, run_log
    from gpuledger.flows.night.context import context_now
    from gpuledger.flows.night.refresh import identify, publish_build
    from gpuledger.flows.night.sharing import writing
    from gpuledger.flows.night.store import seed
    from gpuledger.warehouse import publish
    from gpuledger.warehouse.dictionary import dictionary

    assert note.as_of is not None
    context = replace(context_now(settings, data, "published"), as_of=max(note.as_of, now))
    with writing(data):
        publish.heal(data)
        run_log.heal(data)
        with publish.workspace(data, context.run_id, memory_limit=settings.memory_limit) as (con, work):
            con.begin()
            left, night = rows.load(con, data.parquet, note.files)
            if night is not None:  # the nights of the sample are long past
                context = replace(context, as_of=note.as_of, sample_night=night)
            seed(con, context)
            identify(con, context)
            builds = building.build(con, context, dictionary().tables).models
            run_log.start(context)
            summary = publish_build(con, context, work, (), builds)
        run_log.finish(context, summary.status, summary.why)
    return left


def answering(settings: Settings, *, month_will_do: bool) -> DataDir:
    """The folder from which reading commands answer if `warehouse` names a publication: the data directory if it has a
    warehouse, or else a copy that belongs to the user. It is brought to the newest day once a day, by `pull`.

    If that is not possible and there is something to answer from, a note on standard error says so with its age.
    """
    own = settings.data()
    data = own
    if not own.published.exists():
        name = hashlib.sha256(settings.warehouse.encode()).hexdigest()[:16]
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        data = DataDir(caches / "gpuledger" / name)
    note, now = bring.note_of(data), datetime.now(UTC)
    is_due = note.asked_at is None or not timedelta(0) <= now - note.asked_at < _EVERY
    if not is_due and note.address == settings.warehouse.rstrip("/") and data.published.exists():
        return data
    try:
        for sentence in pull(settings, data, month_will_do=month_will_do)[1:]:
            click.echo(sentence, err=True)
    except (OSError, duckdb.Error, WarehouseError, SettingsError) as error:
        if not data.published.exists():
            raise
        note = bring.note_of(data)
        with suppress(OSError, duckdb.Error):  # a full disk, or one that cannot be written
            if note.newest is not None and not isinstance(error, Locked):
                bring.keep(data, msgspec.structs.replace(note, asked_at=now - _EVERY + _AGAIN))
                if rows.has_aged(data, now):
                    take_in(settings, data, note, now)
        said = gettext("answered from what is here, as nothing newer came: {error}")
        click.echo(said.format(error=failure(error)), err=True)
    return data


def silence(data: DataDir, now: datetime) -> str | None:
    """A sentence about a publication that says nothing new for longer than its cadence, or that is of a later time than it
    is here; None if there is none.
    """
    note = bring.note_of(data)
    if note.as_of is None or note.newest is None:
        return None
    hours = (now - note.as_of).total_seconds() / 3600
    # It is published after the night that it is of, and fetched once a day.
    if hours > 2 * note.cadence_hours:
        sentence = gettext("the newest published prices are of {day}, {days} days ago: {address} is silent")
    elif hours < -1:
        sentence = gettext(
            "the newest published prices are of {day}, later than now: the clock of {address} or of this machine is wrong"
        )
    else:
        return None
    return sentence.format(day=note.newest.day, days=round(hours / 24), address=note.address)
