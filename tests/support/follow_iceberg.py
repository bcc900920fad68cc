"""Read the tables of whole nights again and again, as somebody who has nothing of ours: `follow_iceberg.py ENGINE PAUSE
LOCATION STOP TABLE...` reads `tables.json`, then each table in the state that stands there, until the file STOP exists.

ENGINE is a name in ENGINES, PAUSE the seconds before each reading. Prints "reading" after the first of them, and JSON at the
end: of each the night, and a sum over the rows of each table.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

#: What pyiceberg calls what the environment of a store says.
NAMES = {
    "s3.endpoint": "AWS_ENDPOINT_URL", "s3.access-key-id": "AWS_ACCESS_KEY_ID",
    "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY", "s3.region": "AWS_REGION",
    "adls.account-name": "AZURE_STORAGE_ACCOUNT_NAME", "adls.account-key": "AZURE_STORAGE_ACCOUNT_KEY",
}  # fmt: skip

#: Gives the text of a file in the store, and the rows of a table by the place of its metadata.
Engine = tuple[Callable[[str], str], Callable[[str], list[dict[str, Any]]]]


def rows_sum(rows: Iterable[Mapping[str, object]]) -> str:
    """A sum over rows in whatever order, without what Iceberg has beside them (their partition) or has not."""
    without = ("partition", "last_seen_at")
    texts = [
        json.dumps({name: value for name, value in row.items() if name not in without}, sort_keys=True, default=str)
        for row in rows
    ]
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def known() -> dict[str, str]:
    """What pyiceberg has to know of the store that the environment names."""
    properties = {key: os.environ[variable] for key, variable in NAMES.items() if variable in os.environ}
    scheme, _, host = os.environ.get("AZURE_STORAGE_ENDPOINT", "").partition("://")
    azure = {
        "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
        "adls.blob-storage-scheme": scheme, "adls.blob-storage-authority": host.partition("/")[0],
    }  # fmt: skip
    return properties | azure if scheme else properties


def by_pyiceberg() -> Engine:
    """pyiceberg alone."""
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.table import StaticTable

    properties = known()
    files = PyArrowFileIO(properties)

    def text(place: str) -> str:
        with files.new_input(place.replace("az://", "abfs://")).open() as file:
            return bytes(file.read()).decode()

    def rows(place: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = StaticTable.from_metadata(place, properties).scan().to_arrow().to_pylist()
        return found

    return text, rows


def by_polars() -> Engine:
    """Polars, which asks pyiceberg for a table's files and reads these itself."""
    import polars
    from pyiceberg.table import StaticTable

    text, _ = by_pyiceberg()
    properties = known()
    return text, lambda place: polars.scan_iceberg(StaticTable.from_metadata(place, properties)).collect().to_dicts()


def by_duckdb() -> Engine:
    """DuckDB with its extension for Iceberg, and nothing of pyiceberg."""
    import duckdb

    con = duckdb.connect(config={"autoinstall_known_extensions": False})
    home = Path(duckdb.__file__).parents[1]
    for name in ("httpfs", "avro", "iceberg"):
        (file,) = home.glob(f"duckdb_extension_{name}/extensions/v{duckdb.__version__}/{name}.duckdb_extension")
        con.execute(f"LOAD '{file}'")
    scheme, _, host = os.environ["AWS_ENDPOINT_URL"].partition("://")
    con.execute("SET TimeZone = 'UTC'")
    con.execute(
        f"""CREATE SECRET (TYPE s3, KEY_ID '{os.environ["AWS_ACCESS_KEY_ID"]}',
                SECRET '{os.environ["AWS_SECRET_ACCESS_KEY"]}', REGION '{os.environ["AWS_REGION"]}',
                ENDPOINT '{host}', URL_STYLE 'path', USE_SSL {scheme == "https"})"""
    )

    def text(place: str) -> str:
        ((found,),) = con.execute("SELECT content FROM read_text(?)", [place]).fetchall()
        return str(found)

    def rows(place: str) -> list[dict[str, Any]]:
        asked = con.execute("SELECT * FROM iceberg_scan(?)", [place])
        columns = [name for name, *_ in asked.description]
        return [dict(zip(columns, row, strict=True)) for row in asked.fetchall()]

    return text, rows


ENGINES: dict[str, Callable[[], Engine]] = {"pyiceberg": by_pyiceberg, "polars": by_polars, "duckdb": by_duckdb}


def main(engine: str, pause_s: str, location: str, stop: str, *tables: str) -> None:
    text, rows = ENGINES[engine]()
    found = []
    is_last = False
    while not is_last:
        time.sleep(float(pause_s))
        # Once more after the end, so that the last night is among those that were read.
        is_last = Path(stop).exists()
        said = json.loads(text(f"{location}/tables.json"))
        found.append([said["night"], {table: rows_sum(rows(said["tables"][table])) for table in tables}])
        if len(found) == 1:
            print("reading", flush=True)  # noqa: T201
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
