"""Files that every run would write again as they are: what they are written from has a fingerprint, and that did not change.

A file is left only if it is, byte for byte, what was last written; one that somebody edited or lost is written again.
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
    """What the files of a folder were written from, by their names.

    `contents` has a fingerprint of the rows of each table and view of which every change is followed; what is missing there
    is written every time. `record` is the file that remembers; one that cannot be read remembers nothing.
    """

    def __init__(self, record: Path, contents: Mapping[str, str]) -> None:
        self._record = record
        self._contents = contents
        self._before = _read(record)
        self._now: dict[str, list[str]] = {}

    def keeps(self, path: Path, table: str) -> bool:
        """Whether the file holds the rows that the table has now. Its time then says that it is right as of now."""
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
        """The file was written from the table as it is now."""
        made_from = self._made_from(table)
        if made_from is not None:
            self._now[path.name] = [made_from, digest(path)]

    def remember(self) -> None:
        """Write the record of the files that were kept or written. Raises OSError."""
        if self._now != self._before:
            local_files.write_text(self._record, json.dumps(self._now, indent=1) + "\n")

    def _made_from(self, table: str) -> str | None:
        content = self._contents.get(table)
        return None if content is None else f"{content} {writer()}"


@cache
def writer() -> str:
    """Fingerprint of what turns rows into files: our own code for it, and the library that gives the values."""
    code = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hash_text("".join([duckdb.__version__, *code]))


def _read(record: Path) -> dict[str, list[str]]:
    try:
        remembered = local_files.loads(local_files.read_bytes(record))
        return {str(name): [str(made_from), str(sha256)] for name, (made_from, sha256) in remembered.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
