"""Pages that their owner lets nobody keep for long: beside the archive, and gone when their time is over.

What the archive has of them for good are the facts that were read (`facts`), which is what a replay reads.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.items import Parsed, from_json, to_json

#: As which facts are archived.
FACTS = "application/x-gpuledger-facts"


@dataclass(frozen=True, slots=True)
class Passing:
    """The pages of one source below `root`, each for at most `keep_hours`."""

    root: Path
    source: str
    keep_hours: int

    def save(self, sha256: str, content: bytes, now: datetime) -> Path:
        """Keep a page until its time is over. Its name says when it came: the file's own time changes with a copy."""
        path = self.root / "passing" / self.source / f"{now:%Y%m%dT%H%M%SZ}-{sha256}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        archive_files.write(path, gzip.compress(content, 6, mtime=0))
        return path

    def expire(self, now: datetime) -> int:
        """Remove what is over, and say how many pages that were."""
        over = self.over(now)
        for path in over:
            path.unlink(missing_ok=True)
        return len(over)

    def over(self, now: datetime) -> list[Path]:
        """The pages whose time is over."""
        oldest = f"{now - timedelta(hours=self.keep_hours):%Y%m%dT%H%M%SZ}"
        return sorted(path for path in (self.root / "passing" / self.source).glob("*.gz") if path.name < oldest)


def over(root: Path, now: datetime, keep_hours: Callable[[str], int]) -> list[Path]:
    """The pages below `root` whose time is over, of all sources, those that are read no more included; `keep_hours` says
    how long a source's may be kept.
    """
    folders = sorted(path.name for path in (root / "passing").glob("*") if path.is_dir())
    return [path for name in folders for path in Passing(root, name, keep_hours(name)).over(now)]


def facts(items: Sequence[Parsed]) -> bytes:
    """What was read of a page, a line an item, as the archive keeps it."""
    return "".join(json.dumps(to_json(item), ensure_ascii=False) + "\n" for item in items).encode()


def read_facts(content: bytes) -> list[Parsed]:
    """The inverse of `facts`. Raises ValueError or TypeError where it is none."""
    return [from_json(json.loads(line)) for line in content.decode().splitlines()]
