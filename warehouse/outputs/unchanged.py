"""Leaves the files of a run in place whose table did not change, as its fingerprint says.

A file stays only if its bytes are those that were last written. A file that somebody edited or removed is written again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import duckdb

from gpuledger.extract import local_files
from gpuledger.warehouse.integrity import digest
from gpuledger.warehouse.schema import hash_text


class Unchanged:
    """Remembers from what each file of a folder was written, by the name of the file.

    `contents` has a fingerprint of the rows of each table and view whose changes are all tracked. Files of other tables are
    written every time. `record` is the file of this memory; if it cannot be read, nothing is remembered.
    """

    def __init__(self, record: Path, contents: Mapping[str, str]) -> None:
        self._record = record
        self._contents = contents
        self._before = _read(record)
        self._now: dict[str, list[str]] = {}

    def keeps(self, path: Path, table: str) -> bool:
        """Whether the file holds the present rows of the table. If so, the file gets the current time."""
        before = self._before.get(path.name)
        made_from = self._made_from(table)
        if made_from is None or before is None or before[0] != made_from:
            return False
        try:
            if digest(path) != before[1]:
                return False
            os.utime(path)
        except OSError:
            return False
        self._now[path.name] = before
        return True

    def wrote(self, path: Path, table: str) -> None:
        """Note that the file was written from the present rows of the table."""
        made_from = self._made_from(table)
        if made_from is not None:
            self._now[path.name] = [made_from, digest(path)]

    def remember(self) -> None:
        """Write the record of the files that stayed or were written. Raises OSError."""
        if self._now != self._before:
            local_files.write_text(self._record, json.dumps(self._now, indent=1) + "\n")

    def _made_from(self, table: str) -> str | None:
        content = self._contents.get(table)
        return None if content is None else f"{content} {writer()}"


@cache
def writer() -> str:
    """The fingerprint of everything that turns rows into files: our own code, and the library that gives the values."""
    code = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hash_text("".join([duckdb.__version__, *code]))


def _read(record: Path) -> dict[str, list[str]]:
    try:
        remembered = local_files.loads(local_files.read_bytes(record))
        return {str(name): [str(made_from), str(sha256)] for name, (made_from, sha256) in remembered.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
