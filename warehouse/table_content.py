"""The fingerprints in ops.table_content: of loaded tables, of the data behind seeds, and of the last batches of sources."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from gpuledger.warehouse.load.stage import append

_TABLE = "ops.table_content"


def content_of(con: duckdb.DuckDBPyConnection, table_id: str) -> str | None:
    """The fingerprint kept under `table_id`, None if there is none."""
    row = con.execute(f"SELECT content FROM {_TABLE} WHERE table_id = ?", [table_id]).fetchone()
    return None if row is None else str(row[0])


def every(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """All fingerprints, by the id under which they are kept."""
    return dict(con.execute(f"SELECT table_id, content FROM {_TABLE}").fetchall())


def put(con: duckdb.DuckDBPyConnection, contents: Mapping[str, str]) -> None:
    """Keep fingerprints under their ids, in the place of earlier ones."""
    if contents:
        con.execute(f"DELETE FROM {_TABLE} WHERE list_contains(?, table_id)", [[*contents]])
        append(con, _TABLE, [*contents.items()])
