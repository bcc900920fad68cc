"""What people decided before each kind had one file in `decisions/`: it is carried over where it is found.

The old file stays beside the new one, under a name that ends in `.carried`, so nothing is lost.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.records import FOLDER


def take_over(root: Path) -> None:
    """Bring older files of decisions in the data directory `root` into the form that is read now. Raises OSError."""
    for old, new, entry, entries_of in (
        (root / FOLDER / "releases.jsonl", "releases.toml", "release", _releases),
        (root / FOLDER / "terms.toml", "terms.toml", "terms", _terms),
        (root / "watches.toml", "watches.toml", "watch", _watches),
    ):
        entries = list(entries_of(old)) if old.is_file() else []
        if entries:
            tables = [local_files.toml_table(f"[[{entry}]]", fields) for fields in entries]
            old.replace(old.with_name(f"{old.name}.carried"))
            local_files.write_text(root / FOLDER / new, "\n".join(tables))


def _releases(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_bytes().splitlines():
        try:
            fields = dict(json.loads(line))
            times = {
                name: datetime.fromisoformat(fields[name]) for name in ("decided_at", "last_night") if name in fields
            }
        except (ValueError, TypeError):
            continue  # it released nothing before either
        yield fields | times


def _terms(file: Path) -> Iterator[dict[str, Any]]:
    for source, table in _tables(file).items():
        if isinstance(table, dict):  # the new form has a list of tables
            yield {"source": source, **table}


def _watches(file: Path) -> Iterator[dict[str, Any]]:
    yield from _tables(file).get("watch", [])


def _tables(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError:
        return {}  # who reads it says what is wrong in it
