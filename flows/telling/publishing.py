"""`gpuledger publish`: what may be published of a warehouse, as files that a stranger can check.

The tables that others see are built from the published files alone, by the same steps as a reader builds them. So nothing
that is withheld can have a part in them.
"""

from __future__ import annotations

import hashlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gpuledger.extract.archive.web import writable
from gpuledger.flows.decisions import identities
from gpuledger.flows.decisions.terms import publishable
from gpuledger.flows.history import pulling
from gpuledger.flows.settings.settings import Settings
from gpuledger.transform import queries, workloads
from gpuledger.warehouse.errors import NoWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import bring, rows, write
from gpuledger.warehouse.published.manifest import Day, Manifest
from gpuledger.warehouse.read import reader


def publish(settings: Settings, data: DataDir, to: str) -> tuple[Manifest, bool]:
    """Publish the newest night of a folder at the place `to`, a folder or a store. Returns the manifest, and whether it is
    new.

    One day is published once; a second time only what repeats it is written anew. Raises NoWarehouse, WarehouseError for a
    place that is ahead, Untrusted for one whose files were changed, and StoreError.
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
        day = last.as_of.astimezone(UTC).date()
        if there is not None and there.manifest.day > day:
            raise WarehouseError(
                f"{to} already has {there.manifest.day}, and the newest night of {data.root} is of {day}: another folder "
                "publishes there, or an older one was put back"
            )
        is_new = there is None or there.manifest.day < day
        before = (there.note.newest, there.manifest) if there and there.note.newest else None
        if there is None or is_new:
            manifest = _add(data, mirror, before, last.as_of)
            note = bring.Note(
                address=place.address, as_of=last.as_of, files=tuple(file.name for file in manifest.files)
            )
            pulling.take_in(settings, mirror, note, datetime.now(UTC))
            newest = write.put(place, mirror.parquet, manifest, before[1] if before else None, settings.publish_key)
            note = msgspec.structs.replace(note, newest=newest)
        else:
            manifest, note = there.manifest, there.note
            if bring.note_of(mirror).newest != note.newest or not mirror.published.exists():
                pulling.take_in(settings, mirror, note, datetime.now(UTC))
        bring.keep(mirror, note)
        write.put_repeated(place, mirror, manifest)
        with tempfile.TemporaryDirectory() as folder:
            for path in reporting.write(mirror, Path(folder)):
                place.write(f"report/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return manifest, is_new


def _add(data: DataDir, mirror: DataDir, before: tuple[Day, Manifest] | None, as_of: datetime) -> Manifest:
    """Write the files of the day of `as_of` into the mirror, after those of the day before. Returns its manifest."""
    day = as_of.astimezone(UTC).date()
    terms, withheld = publishable(data.root, write.sources_of(data))
    with reader(data, mirror.parquet) as con:
        parameters = {
            "sources": [*terms], "version": identities.packaged_version(), "workloads": [*workloads.packaged()],
        }  # fmt: skip
        names = [file.name for file in before[1].files] if before else []
        written = rows.changes(con, mirror.parquet, day, names, parameters)
        states = write.source_states(con, as_of, terms)
    return write.manifest_of(mirror.parquet, as_of, before, written, (states, withheld))
