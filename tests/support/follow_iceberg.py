"""Read the tables of whole nights again and again, as somebody who has nothing of ours: `follow_iceberg.py LOCATION STOP
TABLE...` reads `tables.json`, then each table in the state that stands there, until the file STOP exists.

Prints JSON: of each reading the night, and a sum over the rows of each table.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

#: What pyiceberg calls what the environment of a store says.
NAMES = {
    "s3.endpoint": "AWS_ENDPOINT_URL", "s3.access-key-id": "AWS_ACCESS_KEY_ID",
    "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY", "s3.region": "AWS_REGION",
}  # fmt: skip


def rows_sum(rows: Iterable[Mapping[str, object]]) -> str:
    """A sum over rows in whatever order, without what Iceberg has beside them (their partition) or has not."""
    without = ("partition", "last_seen_at")
    texts = [
        json.dumps({name: value for name, value in row.items() if name not in without}, sort_keys=True, default=str)
        for row in rows
    ]
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def main(location: str, stop: str, *tables: str) -> None:
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.table import StaticTable

    properties = {key: os.environ[variable] for key, variable in NAMES.items()}
    files, found = PyArrowFileIO(properties), []
    is_last = False
    while not is_last:
        # Once more after the end, so that the last night is among those that were read.
        is_last = Path(stop).exists()
        with files.new_input(f"{location}/tables.json").open() as index:
            said = json.loads(index.read())
        places = {table: said["tables"][table] for table in tables}
        sums = {
            table: rows_sum(StaticTable.from_metadata(place, properties).scan().to_arrow().to_pylist())
            for table, place in places.items()
        }
        found.append([said["night"], sums])
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
