"""Say a thing once: when it becomes true, not on every night on which it still is.

What was true at the last look is kept in the data directory. A thing that cannot be told tonight (a card without a price)
keeps what it was, so that a shop that is unreachable for a night does not make old news new.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.warehouse import private


def cross(path: Path | None, now: Mapping[str, bool | None], groups: Collection[str] = ()) -> list[str]:
    """The keys of `now` that became true since the last call, in their order; the answer is on disk when this returns.

    Without a `path` nothing is noted: all that is true is new, and will be again.

    Of the `groups` (the words before the colon of a key) all that is true is in `now`: what is not in it is over.
    """
    before = _before(path) if path is not None else {}
    after = {key: value for key, value in before.items() if key.partition(":")[0] not in groups or key in now}
    fresh = []
    for key, is_true in now.items():
        if is_true is None:
            continue
        if is_true and not before.get(key, False):
            fresh.append(key)
        after[key] = is_true
    if path is not None and after != before:
        _write(path, after)
    return fresh


def _before(path: Path) -> dict[str, bool]:
    try:
        stored = local_files.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): bool(value) for key, value in stored.items()} if isinstance(stored, dict) else {}


def _write(path: Path, states: Mapping[str, bool]) -> None:
    private.make_folder(path.parent)
    private.write(path, json.dumps(states, indent=1, ensure_ascii=False).encode())
