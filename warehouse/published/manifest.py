"""The pointer and the manifests of a publication: what there is, since when, whose, and that nobody changed it.

    latest.json                        the one file that changes: it names the newest manifest
    manifest-2026-11-27.json           one a day, for ever, with the hash of the one before; …json.minisig is its signature
    offer-2026-10.parquet              a closed month, for ever
    offer-2026-11-27.parquet           a day of the open month
    offer-2026-11-27-2.parquet         what became known later on that day, with a manifest of its own

Names never get another content, so a reader needs no ranges and no locks, and any web server will do.
"""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from gpuledger.warehouse.errors import WarehouseError

POINTER = "latest.json"
FORMAT = 1
#: Hours after which a publication that says nothing new is silent.
CADENCE_HOURS = 24
_Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Parquet = Annotated[str, Meta(pattern=r"^[a-z_]{1,40}-\d{4}-\d{2}(-\d{2}(-\d{1,4})?)?\.parquet$")]
_Manifest = Annotated[str, Meta(pattern=r"^manifest-\d{4}-\d{2}-\d{2}(-\d{1,4})?\.json$")]


_Record = TypeVar("_Record", "Pointer", "Manifest")


class Untrusted(WarehouseError):
    """What lies at an address is not what its publisher published, or not from the publisher that is believed."""


class Day(Struct, frozen=True):
    """A manifest as another one or the pointer names it."""

    day: date
    manifest: _Manifest
    sha256: _Sha256


class File(Struct, frozen=True, kw_only=True):
    """A file of the publication: its kind of fact, its day or month, its hash, size and number of rows, its sources and
    their licences.
    """

    name: _Parquet
    table: str
    period: str
    sha256: _Sha256
    bytes: Annotated[int, Meta(ge=0, le=1 << 40)]
    rows: Annotated[int, Meta(ge=0)]
    sources: list[str]
    licence: str = ""


class Terms(Struct, frozen=True):
    """What allows a source to be published: the sentence, its page, and the day on which it was read."""

    read: date
    page: str
    sentence: str
    licence: str


class Gap(Struct, frozen=True):
    """A time in which a source was not read for longer than its cadence."""

    since: datetime
    until: datetime


class SourceState(Struct, frozen=True, kw_only=True):
    """A published source: how old it was when it was published, after how many hours it is silent, and its gaps."""

    source: str
    title: str
    terms: Terms
    last_success_at: datetime | None
    age_hours: float | None
    cadence_hours: int
    is_silent: bool
    gaps: list[Gap]


class Withheld(Struct, frozen=True):
    """A source that was read and is not published, with the reason."""

    source: str
    reason: str


class Manifest(Struct, frozen=True, kw_only=True):
    """One day of a publication, or what a later edition of the same day adds."""

    format: int
    day: date
    edition: int
    as_of: datetime
    program: str
    cadence_hours: int
    previous: Day | None
    files: list[File]
    sources: list[SourceState]
    withheld: list[Withheld]

    def by_name(self) -> dict[str, File]:
        """The files by name."""
        return {file.name: file for file in self.files}


class Pointer(Struct, frozen=True, kw_only=True):
    """The newest day, and the key that signed it (None if it is not signed)."""

    format: int
    newest: Day
    key: str | None = None


def period(day: date, edition: int) -> str:
    """The period of a day's files; only later editions have their number in it."""
    return str(day) if edition == 1 else f"{day}-{edition}"


def name_of(manifest: Manifest) -> str:
    """The name of a manifest's file."""
    return f"manifest-{period(manifest.day, manifest.edition)}.json"


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def dumps(record: Struct) -> bytes:
    """A record as the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def read(content: bytes, kind: type[_Record], place: str) -> _Record:
    """The pointer or manifest at `place`. Raises Untrusted for bytes that are none, or of a newer program."""
    try:
        found = msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Untrusted(f"{place} is no {kind.__name__.lower()} of a publication: {error}") from None
    if found.format > FORMAT:
        raise Untrusted(f"{place} was written by a newer gpuledger: install that one")
    return found


def sign(content: bytes, secret_key: str, password: str) -> tuple[bytes, str]:
    """The signature of a manifest in minisign's format, and the public key that checks it.

    `secret_key` is the text of a key file of `minisign -G`, and `password` that of the key, if it has one. Raises
    WarehouseError for another text or password, and ModuleNotFoundError if py-minisign is not installed.
    """
    import minisign

    try:
        key = minisign.SecretKey.from_bytes(secret_key.strip().encode() + b"\n")
        if key.is_encrypted():
            if not password:
                raise WarehouseError(
                    "publish_key has a password: put it into GPULEDGER_PUBLISH_PASSWORD, or make a key without one, with "
                    "`minisign -G -W`"
                )
            key.decrypt(password)
        return bytes(key.sign(content)), key.get_public_key().to_base64().decode()
    except minisign.Error as error:
        raise WarehouseError(
            f"publish_key is no secret key of minisign, or publish_password not its own: {error}"
        ) from None


def check(content: bytes, signature: bytes | None, keys: tuple[str, ...], place: str) -> None:
    """Raise Untrusted unless one of `keys` signed the content. Raises ModuleNotFoundError without py-minisign."""
    import minisign

    if signature is None:
        raise Untrusted(f"{place} is not signed, and a key is pinned for it")
    try:
        made = minisign.Signature.from_bytes(signature)
        believed = [minisign.PublicKey.from_base64(key) for key in keys]
    except (minisign.Error, ValueError) as error:
        raise Untrusted(f"{place}: its signature or the pinned key cannot be read: {error}") from None
    reasons = set()
    for key in believed:
        try:
            key.verify(content, made)
        except minisign.Error as error:
            reasons.add(str(error))
        else:
            return
    if reasons == {"incompatible key identifiers"}:
        raise Untrusted(
            f"{place} is signed with another key than {' or '.join(keys)}, which is pinned: if its publisher says elsewhere "
            "that it changed, give the new one with --key"
        )
    raise Untrusted(f"{place}: the signature is not of these bytes")
