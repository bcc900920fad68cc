"""`gpuledger publish`: what may be published of a warehouse, as files that a stranger can check.

The tables that others see are built from the published files alone, by the same steps as a reader builds them. So nothing
that is withheld can have a part in them.
"""

from __future__ import annotations

import hashlib
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from gpuledger.extract.archive.web import writable
from gpuledger.flows.decisions import identities
from gpuledger.flows.decisions.terms import publishable
from gpuledger.flows.history import pulling
from gpuledger.flows.settings.settings import Settings
from gpuledger.transform import queries, workloads
from gpuledger.transform.answers.trust import sources as measured
from gpuledger.warehouse.errors import NoWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import bring, rows, write
from gpuledger.warehouse.published.manifest import Day, Gap, Manifest, SourceState
from gpuledger.warehouse.published.manifest import sign as sign_with
from gpuledger.warehouse.read import reader


def publish(settings: Settings, data: DataDir, to: str) -> tuple[Manifest, bool]:
    """Publish the newest night of a folder at the place `to`, a folder or a store. Returns the manifest, and whether it is
    new.

    What became known later on a day that is published already is a further edition of it. If there is nothing to add, only
    what repeats the files is written anew, and the report where it was not written to its end. Raises NoWarehouse,
    WarehouseError for a place that is ahead, Untrusted for one whose files were changed, and StoreError.
    """
    from filelock import FileLock

    from gpuledger.flows.telling import reporting

    place = writable(to)
    last = queries.last(data)
    if last is None:
        raise NoWarehouse(data.root)
    # What the place already has, and the warehouse that is built from it alone.
    mirror = DataDir(data.state / "publications" / hashlib.sha256(place.address.encode()).hexdigest()[:16])
    mirror.parquet.mkdir(parents=True, exist_ok=True)
    with FileLock(mirror.state / "publish.lock"):
        there = bring.bring(mirror, place, (), must_sign=False)
        if there is not None and there.manifest.as_of > last.as_of:
            raise WarehouseError(
                f"{to} already has {there.manifest.day}, and the newest night of {data.root} is of {last.as_of:%F}: another "
                "folder publishes there, or an older one was put back"
            )
        before = (there.note.newest, there.manifest) if there and there.note.newest else None
        manifest = _add(data, mirror, before, last.as_of)
        is_new = is_due = manifest is not None
        if manifest is not None:
            note = bring.Note(
                address=place.address, as_of=last.as_of, files=tuple(file.name for file in manifest.files)
            )
            pulling.take_in(settings, mirror, note, datetime.now(UTC))
            sign = partial(sign_with, secret_key=settings.publish_key, password=settings.publish_password)
            newest = write.put(
                place, mirror.parquet, manifest, before[1] if before else None, sign if settings.publish_key else None
            )
            note = msgspec.structs.replace(note, newest=newest)
        else:
            assert there is not None
            manifest, note = there.manifest, there.note
            is_due = bring.note_of(mirror).newest != note.newest or not mirror.published.exists()
            if is_due:
                pulling.take_in(settings, mirror, note, datetime.now(UTC))
        write.put_repeated(place, mirror, manifest)
        if is_due:
            with tempfile.TemporaryDirectory() as folder:
                for path in reporting.write(mirror, Path(folder)):
                    place.write(f"report/{path.relative_to(folder).as_posix()}", path.read_bytes())
        bring.keep(mirror, note)  # last: what was not written to its end is written again
    return manifest, is_new


def _add(data: DataDir, mirror: DataDir, before: tuple[Day, Manifest] | None, as_of: datetime) -> Manifest | None:
    """Write what became known by `as_of` into the mirror, as files beside those of the edition before. Returns the manifest,
    None if the day is published already and there is nothing to add.
    """
    day = as_of.astimezone(UTC).date()
    edition = before[1].edition + 1 if before and before[1].day == day else 1
    health = measured.sources(data, as_of)
    terms, withheld = publishable(data.root, (source.source for source in health))
    with reader(data, mirror.parquet) as con:
        parameters = {
            "sources": [*terms], "version": identities.packaged_version(), "workloads": [*workloads.packaged()],
        }  # fmt: skip
        names = [file.name for file in before[1].files] if before else []
        written = rows.changes(con, mirror.parquet, (day, edition), names, parameters)
    if edition > 1 and not written:
        return None
    states = [
        SourceState(
            source=s.source, title=terms[s.source][0], terms=terms[s.source][1], last_success_at=s.last_success_at,
            age_hours=s.age_hours, cadence_hours=s.limit_hours, is_silent=s.is_overdue,
            gaps=[Gap(**gap) for gap in s.gaps],
        )
        for s in health
        if s.source in terms
    ]  # fmt: skip
    return write.manifest_of(as_of, edition, before, written, (states, withheld))
