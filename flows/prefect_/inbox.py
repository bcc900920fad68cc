"""Notice a dropped quote or an edited model, pin or setting, and emit an event that a deployment reacts to.

Shown by tests/ops/test_inbox.py.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path

from gpuledger.extract import source
from gpuledger.flows.settings import settings
from gpuledger.transform.build.graph import MODELS
from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.serve")

QUOTES_CHANGED = "gpuledger.quotes.changed"
MODELS_CHANGED = "gpuledger.models.changed"
#: Seconds between two looks at the folders, and seconds without a change before one is reported, as a large file is dropped
#: in pieces.
LOOK_EVERY_S = 5.0
QUIET_S = 4.0

_Seen = frozenset[tuple[str, int, int]]


def listing(folder: Path, endings: tuple[str, ...]) -> _Seen:
    """Name, size and time of the files in a folder tree, or of one file, if their names have one of the endings.

    Empty if the folder is absent.
    """
    files = []
    for path in [folder] if folder.is_file() else folder.rglob("*"):
        if path.suffix.lower() in endings:
            try:
                about = path.stat()
            except OSError:
                continue  # it was deleted meanwhile
            files.append((str(path.relative_to(folder)), about.st_size, about.st_mtime_ns))
    return frozenset(files)


@dataclass(slots=True)
class Folder:
    """One folder: its files when a change was last reported, its files now, and since when they are there."""

    path: Path
    endings: tuple[str, ...]
    event: str
    reported: _Seen = field(default_factory=frozenset)
    now: _Seen = field(default_factory=frozenset)
    since: float = 0.0

    def forget(self) -> None:
        """Treat the present files as reported."""
        self.reported = self.now = listing(self.path, self.endings)

    def has_changed(self, clock: float) -> bool:
        """Whether its files differ from the reported ones and have not changed for QUIET_S. `clock` is in seconds."""
        seen = listing(self.path, self.endings)
        if seen != self.now:
            self.now, self.since = seen, clock
        if seen == self.reported or clock - self.since < QUIET_S:
            return False
        self.reported = seen
        return True


class Watcher:
    """Watches the inbox and everything that tables are made from: models, catalogue and rules, what a person
    decided and added, and the settings file. Does not report the files that are there at the start.
    """

    def __init__(self, data: DataDir) -> None:
        self._folders = [
            Folder(data.inbox, tuple(source.get("quotes").drops[data.inbox.name]), QUOTES_CHANGED),
            # Code as well: the build compares it by hash, so an edit without effect builds nothing.
            Folder(MODELS.parent, (".sql", ".toml", ".py", ".csv"), MODELS_CHANGED),
            Folder(data.root / "decisions", (".toml",), MODELS_CHANGED),
            Folder(settings.file_of(), (".toml",), MODELS_CHANGED),
        ]
        for folder in self._folders:
            folder.forget()
        self._name = data.root.name

    def look(self) -> list[str]:
        """Emit the events of what changed since the last look; returns their names."""
        clock = time.monotonic()
        changed = list(dict.fromkeys(folder.event for folder in self._folders if folder.has_changed(clock)))
        if changed:
            from prefect.events import emit_event
        resource = {"prefect.resource.id": "gpuledger.warehouse", "prefect.resource.name": self._name}
        for name in changed:
            _log.info("%s", name)
            emit_event(name, resource=resource)
        return changed
