"""What is the state of the corrections?"""

from __future__ import annotations

from datetime import datetime

from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def states(data: DataDir) -> dict[tuple[str, str, str], tuple[str, str | None, datetime]]:
    """The status of each correction, the value that the source gives, and the night of that value.

    The keys are source, key and field. Empty if nothing was ever published.
    """
    try:
        _, rows = query(
            data, "SELECT source, correction_key, field, correction_status, seen_value, seen_at FROM core.correction"
        )
    except NoWarehouse:
        return {}
    return {(source, key, field): (status, value, seen_at) for source, key, field, status, value, seen_at in rows}
