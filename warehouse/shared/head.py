"""The head of a store: the one object in it that changes. It says who may write, and which version is published.

    <store>/head.json                          this; written only on the condition that it is as the writer last saw it
    <store>/versions/<run>-<sha256>.duckdb     published files, each written once
    <store>/blobs/ab/ab12….gz, ….json          the archive's pages and sidecars by hash, each written once
    <store>/log/<epoch>/<source>/<time>-<sha256>.jsonl    segments of the log of fetches, each written once
    <store>/files/<sha256>                     what else belongs to a warehouse: the log of runs, decisions, quotes …

Who takes the lease writes its token, one higher than the last, into the head. So whoever held it before, and wakes up late,
knows a head that is no more: its write fails, whatever clock it has. Expiry only says when another may try.
"""

from __future__ import annotations

import dataclasses
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.objects import Objects, StoreError, Version
from gpuledger.warehouse.errors import NewerWarehouse, WarehouseError

KEY = "head.json"
#: A head of another layout is refused by a program that does not know it.
FORMAT = 1
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_KEY = re.compile(r"versions/[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Superseded(WarehouseError):
    """Another machine took the lease: what this one was about to write is not written."""


@dataclass(frozen=True, slots=True)
class File:
    """A whole file: SHA-256 and bytes."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Published:
    """A version that is in the store: the run that made it, its object, SHA-256 and bytes."""

    run_id: str
    key: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the head says. `token` counts who ever took the lease, and `lease` names the one who took it last by a number of
    its own; `expires_at` is None where nobody holds it.

    `versions` are those that are kept, the published one last. `files` are by their path in a data directory. `epoch` counts
    how often the archive was pruned: logs of an earlier one hold what was forgotten.
    """

    token: int = 0
    lease: str = ""
    holder: str = ""
    expires_at: datetime | None = None
    epoch: int = 0
    versions: tuple[Published, ...] = ()
    files: Mapping[str, File] = field(default_factory=dict)

    @property
    def published(self) -> Published | None:
        """The version that readers get."""
        return self.versions[-1] if self.versions else None


@dataclass(frozen=True, slots=True)
class Seen:
    """A head and the version of its object; `version` None where the store has none yet."""

    head: Head
    version: Version | None


def read(store: Objects) -> Seen:
    """The head as it is now. Raises StoreError, also for one that is damaged, and NewerWarehouse for a later program's."""
    found = store.get(KEY)
    if found is None:
        return Seen(Head(), None)
    content, version = found
    return Seen(_parsed(content, f"{store.address}/{KEY}"), version)


def write(store: Objects, head: Head, was: Seen) -> Seen:
    """Write a head in the place of the one that was seen. Raises Superseded where another came before, and StoreError.

    A write that is refused may be this very one, whose answer was lost on its way and which was sent again, or follow one
    that was: nobody else writes under the number of a lease, so what is there under it is written over.
    """
    # A number of its own, as some stores tell two states apart by their content.
    content = json.dumps(
        {"format": FORMAT, "nonce": secrets.token_hex(8), **_plain(head)}, ensure_ascii=False, indent=1
    )
    version = store.replace(KEY, content.encode(), was.version)
    if version is not None:
        return Seen(head, version)
    there = store.get(KEY)
    if there is not None and there[0] == content.encode():
        return Seen(head, there[1])
    found = read(store)
    if found.head.lease == head.lease and found.version != was.version:
        return write(store, head, found)
    now = found.head
    raise Superseded(
        f"{store.address}: {now.holder or 'another machine'} writes here since, with token {now.token}, and this one had "
        f"{head.token}: nothing was published; what was read is archived here, and the next run here takes it up"
    )


def _plain(head: Head) -> dict[str, Any]:
    plain = dataclasses.asdict(head)
    plain["expires_at"] = head.expires_at.isoformat() if head.expires_at else None
    return plain


def _parsed(content: bytes, place: str) -> Head:
    try:
        words = local_files.loads(content)
        if words["format"] > FORMAT:
            raise NewerWarehouse(f"{place} was written by a newer gpuledger: upgrade this one")
        return Head(
            token=int(words["token"]), lease=str(words["lease"]), holder=str(words["holder"]),
            expires_at=_time(words["expires_at"]) if words["expires_at"] else None,
            epoch=int(words["epoch"]), versions=tuple(_published(one) for one in words["versions"]),
            files={str(path): File(*_object(one)) for path, one in words["files"].items()},
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise StoreError(
            f"{place} is no head of a store ({type(error).__name__}: {error}): restore it from the bucket's earlier "
            "versions, or name another prefix"
        ) from None


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no offset")
    return time


def _published(words: Mapping[str, Any]) -> Published:
    return Published(_name(words["run_id"], _RUN), _name(words["key"], _KEY), *_object(words))


def _object(words: Mapping[str, Any]) -> tuple[str, int]:
    """Hash and bytes of an object. The hash becomes part of a key, and the key a path: a store is written by others."""
    size = words["size"]
    if type(size) is not int or size < 0:
        raise ValueError(f"{size!r:.40} is no size")
    return _name(words["sha256"], _SHA256), size


def _name(text: object, form: re.Pattern[str]) -> str:
    if not isinstance(text, str) or not form.fullmatch(text):
        raise ValueError(f"{text!r:.80} is none of its names")
    return text
