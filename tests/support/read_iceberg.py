"""Read Iceberg tables as somebody who has nothing of ours: `read_iceberg.py CATALOG LOCATION TABLE` prints JSON.

The rows of each snapshot by pyiceberg, the newest by Polars, and how many files each snapshot added.
"""

from __future__ import annotations

import json
import os
import sys

from pyiceberg.catalog.sql import SqlCatalog


def main(uri: str, location: str, name: str) -> None:
    import polars

    names = {
        "s3.endpoint": "AWS_ENDPOINT_URL", "s3.access-key-id": "AWS_ACCESS_KEY_ID",
        "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY", "s3.region": "AWS_REGION",
    }  # fmt: skip
    properties = {key: os.environ[variable] for key, variable in names.items()}
    table = SqlCatalog("gpuledger", uri=uri, warehouse=location, **properties).load_table(name)
    found = {
        "place": table.metadata_location,
        "snapshots": [
            table.scan(snapshot_id=one.snapshot_id).to_arrow().to_pylist() for one in table.metadata.snapshots
        ],
        "added": [int(one.summary.get("added-data-files") or 0) for one in table.metadata.snapshots],
        "polars": polars.scan_iceberg(table).collect().to_dicts(),
    }
    print(json.dumps(found, default=str))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
