"""What became of the corrections?"""

from __future__ import annotations

from datetime import datetime

from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def states(data: DataDir) -> dict[tuple[str, str, str], tuple[str, str | None, datetime]]:
    """For each correction by source, key and field: its status, what the source says, and on which night. Nothing where
    nothing was ever published.
    """
    try:
        _, rows = query(
            data, "SELECT source, correction_key, field, correction_status, seen_value, seen_at FROM core.correction"
        )
    except NoWarehouse:
        return {}
    return {(source, key, field): (status, value, seen_at) for source, key, field, status, value, seen_at in rows}
