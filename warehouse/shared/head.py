"""The head of a store: the one object in it that changes. It names the published version and all files that belong to it.

    <store>/head.json                          this
    <store>/versions/<run>-<sha256>.duckdb     published files, each written once
    <store>/blobs/ab/ab12….gz, ….json          the archive's pages and sidecars by hash, each written once
    <store>/files/<sha256>                     other files of a warehouse: logs of fetches and runs, decisions, quotes …

One machine writes it, after all that it names.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.extract.message import Message
from gpuledger.warehouse.errors import NewerWarehouse

KEY = "head.json"
#: The layout of the head. A program refuses a head with a newer layout.
FORMAT = 1
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_KEY = re.compile(r"versions/[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class File:
    """A whole file: its SHA-256 and its number of bytes."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Published:
    """A version in the store: the run that made it, its object, its SHA-256 and its number of bytes."""

    run_id: str
    key: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The content of the head.

    `versions` are the kept versions, the published one last. `files` are by their path in a data directory.
    """

    versions: tuple[Published, ...] = ()
    files: Mapping[str, File] = field(default_factory=dict)

    @property
    def published(self) -> Published | None:
        """The version that readers get; None if there is none."""
        return self.versions[-1] if self.versions else None


def read_head(store: Objects) -> Head:
    """The present head, an empty one if the store has none.

    Raises StoreError, also for a damaged head, and NewerWarehouse for the head of a newer program.
    """
    content = store.get(KEY)
    return Head() if content is None else _parsed(content, f"{store.address}/{KEY}")


def write(store: Objects, head: Head) -> None:
    """Replace the head. Raises StoreError."""
    fields = {"format": FORMAT, **dataclasses.asdict(head)}
    store.write(KEY, json.dumps(fields, ensure_ascii=False, indent=1).encode())


def _parsed(content: bytes, place: str) -> Head:
    try:
        fields = local_files.loads(content)
        if fields["format"] > FORMAT:
            raise NewerWarehouse(Message("warehouse.written_newer_gpuledger", place=place))
        return Head(
            versions=tuple(_published(version) for version in fields["versions"]),
            files={str(path): File(*_object(file)) for path, file in fields["files"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise StoreError(
            Message("warehouse.no_head_store", place=place, error=type(error).__name__, error2=error)
        ) from None


def _published(fields: Mapping[str, Any]) -> Published:
    return Published(_name(fields["run_id"], _RUN), _name(fields["key"], _KEY), *_object(fields))


def _object(fields: Mapping[str, Any]) -> tuple[str, int]:
    """Hash and size of an object. Both are checked, as the hash becomes part of a path and others can write the store."""
    size = fields["size"]
    if type(size) is not int or size < 0:
        raise ValueError(f"{size!r:.40} is no size")
    return _name(fields["sha256"], _SHA256), size


def _name(text: object, form: re.Pattern[str]) -> str:
    if not isinstance(text, str) or not form.fullmatch(text):
        raise ValueError(f"{text!r:.80} is none of its names")
    return text
