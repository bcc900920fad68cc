"""What backfill, replay and vacuum read from warehouse files and delete in them: nights, runs, pages that rows refer to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import duckdb

from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.ledger import IS_PUBLISHED
from gpuledger.warehouse.load.stage import count
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import file_query, query

#: Tables of ops with rows of every run.
ACCOUNTS = ("ops.issue", "ops.quarantine", "ops.model_build", "ops.source_run")


def last_night(data: DataDir, source: str) -> datetime | None:
    """The newest published night of a source; None if there is none."""
    try:
        _, rows = query(data, "SELECT max(seen_at) FROM core.source_night WHERE source = ?", [source])
    except NoWarehouse:
        return None
    newest: datetime | None = rows[0][0]
    return newest


def published_runs(path: Path) -> dict[str, datetime]:
    """The `as_of` of each published run that made a warehouse file, by run id."""
    return dict(file_query(path, f"SELECT run_id, as_of FROM ops.run WHERE {IS_PUBLISHED}"))


def fetching_runs(data: DataDir) -> list[str]:
    """The published runs that took in any source, oldest first, by the published file. Raises WarehouseError."""
    _, rows = query(
        data,
        f"""SELECT run_id FROM ops.run WHERE {IS_PUBLISHED} AND run_id IN (SELECT run_id FROM ops.source_run)
           ORDER BY started_at, run_id""",
    )
    return [run_id for (run_id,) in rows]


def forget_accounts(con: duckdb.DuckDBPyConnection, cutoff: datetime) -> Mapping[str, int]:
    """Delete the accounts of runs before the cutoff. Returns the number of rows by table."""
    # The last good account of a source stays, as a night that brings the same bytes again copies its counts and rows.
    # Run ids begin with the time, so max() is the last run.
    forgotten = """SELECT run_id FROM ops.run WHERE as_of < $cutoff
        EXCEPT SELECT max(run_id) FROM ops.source_run
            WHERE status IN ('ok', 'unchanged', 'partial', 'degraded') GROUP BY source"""
    return {
        table: count(con, f"DELETE FROM {table} WHERE run_id IN ({forgotten})", {"cutoff": cutoff})
        for table in ACCOUNTS
    }


def pages_of_rows(path: Path) -> set[str]:
    """Hashes of the archived pages that any row of a warehouse file refers to."""
    tables = file_query(
        path,
        """SELECT c.schema_name || '.' || c.table_name FROM duckdb_columns() c JOIN duckdb_tables() t USING (table_oid)
           WHERE c.column_name = 'snapshot_sha256' AND c.database_name = 'gpuledger'
               AND t.database_name = 'gpuledger'""",
    )
    page_hashes: set[str] = set()
    for (table,) in tables:
        hashes = f"SELECT DISTINCT snapshot_sha256 FROM {table} WHERE snapshot_sha256 IS NOT NULL"
        page_hashes.update(sha256 for (sha256,) in file_query(path, hashes))
    return page_hashes
