"""Which pages of a source can no longer be read as before?"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class Drifting:
    """A trait of a source that drifted on its newest night, with a page of that night and a page from before."""

    trait: str
    message: str
    url: str | None
    sha256: str | None
    before: str | None


def drifting_of(data: DataDir, source: str) -> list[Drifting]:
    """What drifted on the newest night of a source, fields before selectors. Raises NoWarehouse."""
    _, rows = query(
        data,
        """SELECT place, message, url, snapshot_sha256, text FROM ops.issue
           WHERE code = 'drift' AND source = $source
               AND run_id = (SELECT arg_max(run_id, rowid) FROM ops.source_run WHERE source = $source)
           ORDER BY place NOT LIKE '%.%', place""",
        {"source": source},
    )
    return [Drifting(*row) for row in rows]
