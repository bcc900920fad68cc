"""Which tables, macros and assumptions exist, and what do they mean?"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.build.graph import column_descriptions
from gpuledger.transform.buying import market
from gpuledger.transform.queries import Rows
from gpuledger.transform.seeds.load import assumption_rows
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader


def everything(data: DataDir) -> list[tuple[Any, ...]]:
    """Every table, view and macro that can be queried: its name, kind, estimated number of rows and meaning."""
    return query(
        data,
        """SELECT schema_name || '.' || table_name, 'table', estimated_size, comment FROM duckdb_tables()
           WHERE database_name = 'gpuledger' UNION ALL
           SELECT schema_name || '.' || view_name, 'view', NULL, comment FROM duckdb_views()
           WHERE database_name = 'gpuledger' AND NOT internal UNION ALL
           SELECT schema_name || '.' || function_name, 'macro', NULL, comment FROM duckdb_functions()
           WHERE database_name = 'gpuledger' AND function_type = 'table_macro' AND NOT internal ORDER BY 1""",
    )[1]


def table(data: DataDir, name: str) -> Rows:
    """Columns of a table or view, with their types and meanings."""
    schema, _, table = name.partition(".")
    return query(
        data,
        """SELECT column_name AS "column", data_type AS type, comment AS description FROM duckdb_columns()
           WHERE database_name = 'gpuledger' AND schema_name = ? AND table_name = ? ORDER BY column_index""",
        [schema, table],
    )


def macro(data: DataDir, name: str) -> Rows:
    """Columns of a macro's answer. DuckDB cannot store comments for these, so the descriptions come from the model."""
    schema, _, function = name.partition(".")
    _, parameters = query(
        data,
        """SELECT parameters FROM duckdb_functions()
           WHERE schema_name = ? AND function_name = ? AND database_name = 'gpuledger'""",
        [schema, function],
    )
    nothing = ", ".join("NULL" for _ in parameters[0][0])
    _, columns = query(data, f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {name}({nothing}))")
    own, known = column_descriptions(name), dictionary().columns
    rows = [(c, kind, own.get(c) or (known[c].comment if c in known else None)) for c, kind in columns]
    return ["column", "type", "description"], rows


def assumptions(data: DataDir, set_here: Mapping[str, str]) -> Rows:
    """Every assumption as `buy` takes it, from the file or from the program, with its unit, default, bounds, meaning and
    source. `set_here` are those that this machine sets. Raises ImpossibleAssumption.
    """
    base = Assumptions()
    if data.published.exists():
        with reader(data) as con:
            base = market.assumptions(con)
    rows = [tuple(Decimal(str(value)) if place in (1, 3, 4, 5) else value for place, value in enumerate(row))
            for row in assumption_rows(base.with_text(set_here))]  # fmt: skip
    return ["assumption", "amount", "unit", "default", "lowest", "highest", "description", "origin"], rows
