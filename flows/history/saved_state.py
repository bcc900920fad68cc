"""Saved states of a replay, so that a replay that was killed can go on.

A saved state is a copy of the work file between two runs. A replay goes on from it only if nothing that made it has changed:
the program's own files, the settings, what people decided, the baseline, the runs up to there, and the copy's own bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import duckdb

from gpuledger.extract import local_files
from gpuledger.flows.night.run_log import RunRecord
from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse import integrity, publish
from gpuledger.warehouse.paths import DataDir

#: Seconds of work that a kill may cost. Each save copies the whole file.
KEEP_EVERY_S = 60.0
_PROGRAM = Path(__file__).parents[2]
_TEXTS = frozenset({".csv", ".json", ".py", ".sql", ".toml"})
_ROOMS = ("expectations", "extract", "flows", "transform", "warehouse")


@dataclass(frozen=True, slots=True)
class SavedState:
    """The state after `done` runs: its file, the tables that these runs changed, and the newest `as_of` of a run."""

    file: Path
    done: int
    changed: frozenset[str]
    newest: datetime


@dataclass(slots=True)
class Keeper:
    """Saves the state of one replay into `data`, about every `every_s` seconds."""

    data: DataDir
    key: str
    runs: Sequence[RunRecord]
    every_s: float = KEEP_EVERY_S
    _kept_at: float = 0.0

    def __post_init__(self) -> None:
        self._kept_at = time.monotonic()

    def find(self) -> SavedState | None:
        """The furthest saved state that this replay can go on from; None if there is none."""
        newest = None
        for note in self.data.state.glob(f"replay-{self.key}-*.json"):
            try:
                fields = local_files.loads(local_files.read_bytes(note))
                file, done = note.with_suffix(".duckdb"), int(fields["done"])
                state = SavedState(file, done, frozenset(fields["changed"]), datetime.fromisoformat(fields["newest"]))
                is_ours = file.exists() and fields["runs"] == self._digest(done)
                is_whole = is_ours and fields["sha256"] == integrity.digest(file)
            except (OSError, ValueError, KeyError, TypeError, OverflowError):
                continue  # torn or edited: the replay goes on from another state, or begins at the beginning
            if is_whole and (newest is None or done > newest.done):
                newest = state
        return newest

    def keep(self, con: duckdb.DuckDBPyConnection, work: Path, done: int, changed: set[str], newest: datetime) -> None:
        """Save a copy of the committed work file if the last copy is old enough. It counts once it has its final name."""
        if time.monotonic() - self._kept_at < self.every_s:
            return
        publish.checkpoint(con)
        name = self.data.state / f"replay-{self.key}-{done}"
        before = list(self.data.state.glob("replay-*"))
        part = name.with_suffix(".part")
        shutil.copyfile(work, part)
        fields = {
            "done": done, "runs": self._digest(done), "changed": sorted(changed), "newest": newest.isoformat(),
            "sha256": integrity.digest(part),
        }  # fmt: skip
        name.with_suffix(".json").write_text(json.dumps(fields), encoding="utf-8")
        part.replace(name.with_suffix(".duckdb"))
        for old in before:
            old.unlink(missing_ok=True)
        self._kept_at = time.monotonic()

    def drop(self) -> None:
        """Delete the saved states, once the replay is published."""
        for file in self.data.state.glob("replay-*"):
            file.unlink()

    def _digest(self, done: int) -> str:
        return hashlib.sha256(repr(list(self.runs[:done])).encode()).hexdigest()


def key_of(settings: Settings, source: DataDir, *, skip_damaged: bool) -> str:
    """A short fingerprint of everything that a replay's result depends on, except the runs."""
    # The same folder has another name when the command is started in another folder.
    digest = hashlib.sha256(f"{replace(settings, data_dir='')!r}{skip_damaged}".encode())
    files = [path for room in _ROOMS for path in sorted((_PROGRAM / room).rglob("*")) if _is_part(path)]
    mine = [path for folder in ("decisions", "models") for path in sorted((source.root / folder).rglob("*"))]
    for path in (*files, *mine):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    if source.baseline.exists():
        about = source.baseline.stat()
        digest.update(f"{about.st_size} {about.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _is_part(path: Path) -> bool:
    """Whether a file decides what the program does. Its test cases do not."""
    return path.suffix in _TEXTS and "cases" not in path.parts
