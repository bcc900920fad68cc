"""Pages that their owner does not allow to be kept for long. They are stored beside the archive and expire.

The archive keeps only the facts that were read from these pages (`facts`). A replay reads the facts.
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

#: The content type of archived facts.
FACTS = "application/x-gpuledger-facts"


@dataclass(frozen=True, slots=True)
class Passing:
    """The pages of one source below `root`. Each is kept for at most `keep_hours`."""

    root: Path
    source: str
    keep_hours: int

    def save(self, sha256: str, content: bytes, now: datetime) -> Path:
        """Keep a page until it expires. The file name contains the time, because the file's own time changes with a copy."""
        path = self.root / "passing" / self.source / f"{now:%Y%m%dT%H%M%SZ}-{sha256}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        archive_files.write(path, gzip.compress(content, 6, mtime=0))
        return path

    def expire(self, now: datetime) -> int:
        """Remove the expired pages. Returns their number."""
        expired = self.expired_pages(now)
        for path in expired:
            path.unlink(missing_ok=True)
        return len(expired)

    def expired_pages(self, now: datetime) -> list[Path]:
        """The pages that have expired."""
        oldest = f"{now - timedelta(hours=self.keep_hours):%Y%m%dT%H%M%SZ}"
        return sorted(path for path in (self.root / "passing" / self.source).glob("*.gz") if path.name < oldest)


def expired_pages(root: Path, now: datetime, keep_hours: Callable[[str], int]) -> list[Path]:
    """The expired pages of all sources below `root`, including sources that are no longer read.

    `keep_hours` gives the hours that the pages of a source may be kept.
    """
    folders = sorted(path.name for path in (root / "passing").glob("*") if path.is_dir())
    return [path for name in folders for path in Passing(root, name, keep_hours(name)).expired_pages(now)]


def facts(items: Sequence[Parsed]) -> bytes:
    """The items that were read from a page, as the archive keeps them: one line per item."""
    return "".join(json.dumps(to_json(item), ensure_ascii=False) + "\n" for item in items).encode()


def read_facts(content: bytes) -> list[Parsed]:
    """The inverse of `facts`. Raises ValueError or TypeError if `content` does not come from `facts`."""
    return [from_json(json.loads(line)) for line in content.decode().splitlines()]
