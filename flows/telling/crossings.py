"""Find what became true since the last run, so that a notification is sent once and not on every night.

A file in the data directory records what was true at the last look. A condition that is unknown tonight (a card without a
price) keeps its recorded state. Otherwise a shop that is unreachable for one night would make old news new.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.warehouse import private


def newly_true(path: Path | None, now: Mapping[str, bool | None], groups: Collection[str] = ()) -> list[str]:
    """The keys of `now` that became true since the last call, in the order of `now`.

    The new states are on disk at `path` when this returns. Without a `path` nothing is recorded: every true key counts as
    new, now and at the next call.

    `groups` names the groups of keys (the part of a key before its colon) for which `now` is complete. A recorded key of
    such a group that is not in `now` is dropped.
    """
    before = _before(path) if path is not None else {}
    after = {key: value for key, value in before.items() if key.partition(":")[0] not in groups or key in now}
    new_keys = []
    for key, is_true in now.items():
        if is_true is None:
            continue
        if is_true and not before.get(key, False):
            new_keys.append(key)
        after[key] = is_true
    if path is not None and after != before:
        _write(path, after)
    return new_keys


def _before(path: Path) -> dict[str, bool]:
    try:
        stored = local_files.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): bool(value) for key, value in stored.items()} if isinstance(stored, dict) else {}


def _write(path: Path, states: Mapping[str, bool]) -> None:
    private.make_folder(path.parent)
    private.write(path, json.dumps(states, indent=1, ensure_ascii=False).encode())
