"""Bring a publication to this machine: only what is new, and only what its publisher wrote."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import msgspec
from msgspec import Struct

from gpuledger import local_files
from gpuledger.extract.archive import files
from gpuledger.extract.archive.objects import Readable
from gpuledger.warehouse import integrity
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import manifest as manifests
from gpuledger.warehouse.published import rows
from gpuledger.warehouse.published.manifest import POINTER, Day, File, Manifest, Untrusted

_AT_ONCE = 8
#: Most bytes of a pointer or a signature, and of a manifest.
_SMALL, _LARGE = 64_000, 64_000_000


class Note(Struct, kw_only=True):
    """What this folder has from a publication: the address, the newest day with its files, the keys that are pinned for it,
    and when it was asked last.
    """

    address: str = ""
    newest: Day | None = None
    keys: tuple[str, ...] = ()
    as_of: datetime | None = None
    cadence_hours: int = manifests.CADENCE_HOURS
    asked_at: datetime | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brought:
    """What is there now: the manifest, the note that belongs to it, and sentences about how far it was checked."""

    manifest: Manifest
    note: Note
    said: tuple[str, ...]


def note_of(data: DataDir) -> Note:
    """The note of a folder; an empty one if nothing was ever brought."""
    try:
        return msgspec.json.decode(data.pulled.read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError):
        return Note()


def keep(data: DataDir, note: Note) -> None:
    """Keep the note, and of the files those that it names. Call it once the files are taken in."""
    files.make_folder(data.state)
    files.write(data.pulled, msgspec.json.encode(note))
    for left in data.parquet.glob("*"):
        if left.name not in note.files:
            left.unlink()


def bring(
    data: DataDir, place: Readable, keys: Sequence[str], *, must_sign: bool = True, is_whole: bool = True
) -> Brought | None:
    """Bring the newest day of a publication into the folder; None if the place has none. Without `is_whole` only the files
    of its month.

    `keys` are those that a person gave; without one the pinned ones count. Raises Untrusted, which names what is wrong, and
    then nothing is taken in, and StoreError if the place does not answer.
    """
    note = note_of(data)
    if note.address != place.address:
        note = Note(address=place.address)
    content = place.get(POINTER, _SMALL)
    if content is None:
        if note.newest is not None:
            raise Untrusted(f"{place.address}/{POINTER} is gone, and {note.newest.day} was there: {_anew(data)}")
        return None
    pointer = manifests.read(content, manifests.Pointer, f"{place.address}/{POINTER}")
    if note.newest is not None and pointer.newest.day < note.newest.day:
        raise Untrusted(
            f"{place.address}/{POINTER} is older than what was pulled: {pointer.newest.day}, and {note.newest.day} was "
            f"there: {_anew(data)}"
        )
    newest = _manifest(place, pointer.newest)
    pinned, said = _signed(place, pointer, newest[1], tuple(keys) or note.keys) if must_sign else ((), ())
    _check_chain(place, pointer.newest, newest[0], note.newest, _anew(data))
    wanted = [file for file in newest[0].files if is_whole or rows.of_month((file.name,), newest[0].day)]
    files.make_folder(data.parquet)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda file: _fetch(data, place, file), wanted))
    found = Note(
        address=place.address, newest=pointer.newest, keys=pinned, as_of=newest[0].as_of, asked_at=note.asked_at,
        cadence_hours=newest[0].cadence_hours, files=tuple(file.name for file in wanted),
    )  # fmt: skip
    return Brought(newest[0], found, said)


def _manifest(place: Readable, day: Day) -> tuple[Manifest, bytes]:
    name = f"{place.address}/{day.manifest}"
    content = place.get(day.manifest, _LARGE)
    if content is None:
        raise Untrusted(f"{day.day} is missing: there is no {name}")
    if manifests.digest(content) != day.sha256:
        raise Untrusted(f"{name} is not what was published: its bytes changed")
    found = manifests.read(content, Manifest, name)
    if found.day != day.day or day.manifest != manifests.name_of(found):
        raise Untrusted(f"{name} is of {found.day}, and not of {day.day}")
    return found, content


def _signed(
    place: Readable, pointer: manifests.Pointer, content: bytes, keys: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys that are pinned from now on, and sentences for people. Raises Untrusted."""
    name = f"{place.address}/{pointer.newest.manifest}"
    signature = place.get(f"{pointer.newest.manifest}.minisig", _SMALL)
    if keys:
        try:
            manifests.check(content, signature, keys, name)
        except ModuleNotFoundError:
            raise Untrusted(
                f"a key is pinned for {place.address}, and the package that checks it is not installed: pip install "
                "'gpuledger[published]'"
            ) from None
        return keys, ()
    if signature is None or pointer.key is None:
        return (), (f"{place.address} is not signed: from now on this folder believes the days that follow this one",)
    try:
        manifests.check(content, signature, (pointer.key,), name)
    except ModuleNotFoundError:
        return (), ("its signature was not checked: pip install 'gpuledger[published]'",)
    return (pointer.key,), (
        f"no key was given, so this first pull believes what it saw: from now on only {pointer.key} counts; compare it with "
        "what the publisher says elsewhere",
    )


def _anew(data: DataDir) -> str:
    return f"ask its publisher; remove {data.pulled} to begin anew with what is there"


def _check_chain(place: Readable, newest: Day, found: Manifest, known: Day | None, anew: str) -> None:
    """Go back from the newest edition to the one that is known, or else to the first day of its month. `anew` is said where
    that is not reached.

    Raises Untrusted if a day between is missing, if the days do not lead to what is known, or if a file has another content
    than it had on one of them.
    """
    files = found.by_name()
    at, manifest = newest, found
    until: date = known.day if known is not None else newest.day.replace(day=1) + timedelta(days=1)
    while at != known and at.day >= until and manifest.previous is not None:
        if manifest.previous.day > at.day:
            raise Untrusted(f"{place.address}/{at.manifest} follows {manifest.previous.day}, which is a later day")
        at = manifest.previous
        manifest = _manifest(place, at)[0]
        for name, file in manifest.by_name().items():
            if files.setdefault(name, file).sha256 != file.sha256:
                raise Untrusted(f"{place.address}/{name} was closed on {at.day} and is another file now")
    if known is not None and at.sha256 != known.sha256:
        raise Untrusted(
            f"{place.address} has another {known.day} than the one that was pulled: its days do not lead to it; {anew}"
        )


def _fetch(data: DataDir, place: Readable, file: File) -> None:
    target = data.parquet / file.name
    if target.exists() and integrity.digest(target) == file.sha256:
        return
    content = place.get(file.name, file.bytes)
    if content is None:
        raise Untrusted(f"{place.address}/{file.name} is missing")
    if len(content) != file.bytes or manifests.digest(content) != file.sha256:
        raise Untrusted(f"{place.address}/{file.name} is not what was published: its bytes changed")
    local_files.write(target, content)
