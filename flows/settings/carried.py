"""What people decided before each kind had one file in `decisions/`: it is carried over where it is found.

The old file stays beside the new one, under a name that ends in `.carried`, so nothing is lost.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

from gpuledger import local_files
from gpuledger.records import FOLDER


def take_over(root: Path) -> None:
    """Bring older files of decisions in the data directory `root` into the form that is read now. Raises OSError."""
    for pattern, new, entry, entries_of in (
        (f"{FOLDER}/releases.jsonl", "releases.toml", "release", _releases),
        (f"{FOLDER}/terms.toml", "terms.toml", "terms", _terms),
        ("watches.toml", "watches.toml", "watch", _watches),
        ("gpus/*.json", "gpus.toml", "gpu", _gpu),
        ("models/*.json", "models.toml", "model", _model),
        ("workloads/*.toml", "workloads.toml", "workload", _workload),
    ):
        for old in sorted(root.glob(pattern)):
            if not old.is_file() or not (entries := list(entries_of(old))):
                continue
            old.replace(old.with_name(f"{old.name}.carried"))
            file = root / FOLDER / new
            known = [file.read_text(encoding="utf-8")] if file.exists() else []
            tables = [local_files.toml_table(f"[[{entry}]]", fields) for fields in entries]
            local_files.write_text(file, "\n".join([*known, *tables]))


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


def _gpu(file: Path) -> Iterator[dict[str, Any]]:
    for stored in _dated(file):
        figures = dict(stored.pop("gpu"))
        # They follow from the name, and from the card that it is like.
        yield stored | {
            name: figures[name] for name in figures if name not in ("gpu_id", "catalogue_key", "msrp_source")
        }


def _model(file: Path) -> Iterator[dict[str, Any]]:
    for stored in _dated(file):
        yield stored | {"config": json.dumps(stored.get("config"), ensure_ascii=False, indent=1)}


def _dated(file: Path) -> Iterator[dict[str, Any]]:
    """The one object of a JSON file; none if the file is broken, which nothing was read of before either."""
    try:
        stored = dict(local_files.loads(local_files.read_bytes(file, follow=False)))
        yield stored | {"added_on": date.fromisoformat(stored["added_on"])}
    except (OSError, ValueError, TypeError, KeyError):
        return


def _workload(file: Path) -> Iterator[dict[str, Any]]:
    if table := _tables(file):
        yield {"workload_id": file.stem, **table}


def _tables(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(local_files.read_text(file, follow=True))
    except (OSError, ValueError, RecursionError):
        return {}  # who reads it says what is wrong in it
