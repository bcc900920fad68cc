"""How are workloads, models, cards and tables called? For whoever types the beginning of a name."""

from __future__ import annotations

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: What there is names of, and the statement that finds them: the name to type, and what it is called, if otherwise.
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
    """Names of a `kind` (workload, model, card, table) that begin with `so_far`, or else those in which a word does; each
    with what it is called. `4090` finds nvidia-geforce-rtx-4090.

    Raises what `warehouse.read.reader` raises.
    """
    typed = so_far.lower().replace(" ", "-")
    rows = query(data, _NAMES[kind])[1]
    named = [(str(name), called[0] if called else None) for name, *called in rows]
    begun = [one for one in named if one[0].lower().startswith(typed)]
    return begun or [one for one in named if f"-{typed}" in one[0].lower()]
