"""Which names do workloads, models, cards and tables have? This completes the beginning of a name that a user types."""

from __future__ import annotations

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The statement that gives the names of each kind: the name to type, and the display name if there is another one.
_NAMES = {
    "workload": "SELECT workload_id, workload FROM core.workload ORDER BY 1",
    "model": "SELECT model_id FROM core.model ORDER BY 1",
    "card": "SELECT gpu_id, gpu FROM core.gpu ORDER BY 1",
    "table": """SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = 'gpuledger'
                UNION SELECT schema_name || '.' || view_name FROM duckdb_views()
                WHERE database_name = 'gpuledger' AND NOT internal
                ORDER BY 1""",
}


def like(data: DataDir, kind: str, so_far: str) -> list[tuple[str, str | None]]:
    """The names of a `kind` (workload, model, card, table) that begin with `so_far`, each with its display name.

    If there are none, the names in which a later word begins with it: `4090` finds nvidia-geforce-rtx-4090. Raises what
    `warehouse.read.reader` raises.
    """
    typed = so_far.lower().replace(" ", "-")
    rows = query(data, _NAMES[kind])[1]
    names = [(str(name), display_name[0] if display_name else None) for name, *display_name in rows]
    beginning = [pair for pair in names if pair[0].lower().startswith(typed)]
    return beginning or [pair for pair in names if f"-{typed}" in pair[0].lower()]
