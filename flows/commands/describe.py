"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

from typing import Any

import click

from flows.commands._options import data_dir_option, data_of, format_option
from warehouse.paths import DataDir


@click.command()
@click.argument("table", required=False)
@data_dir_option
@format_option
def command(table: str | None, data_dir: str | None, form: str) -> None:
    """List the tables, or the columns of TABLE (`mart.value`, for example)."""
    from flows.commands._show import show
    from warehouse.read import query

    data = data_of(data_dir)
    _, rows = query(
        data,
        """SELECT schema_name || '.' || table_name, 'table', estimated_size, comment FROM duckdb_tables()
           WHERE database_name = 'gpuledger' UNION ALL
           SELECT schema_name || '.' || view_name, 'view', NULL, comment FROM duckdb_views()
           WHERE database_name = 'gpuledger' AND NOT internal UNION ALL
           SELECT schema_name || '.' || function_name, 'macro', NULL, comment FROM duckdb_functions()
           WHERE database_name = 'gpuledger' AND function_type = 'table_macro' AND NOT internal ORDER BY 1""",
    )
    if table is None:
        show(["table", "kind", "rows", "description"], rows, form)
        return
    known = [row[0] for row in rows]
    if table not in known:
        raise click.UsageError(f"there is no table {table!r}; there are:\n  " + "\n  ".join(known))
    schema, _, name = table.partition(".")
    if (table, "macro") in {(row[0], row[1]) for row in rows}:
        show(*_macro(data, schema, name), form, title=table)
        return
    columns, rows = query(
        data,
        """SELECT column_name AS "column", data_type AS type, comment AS description FROM duckdb_columns()
           WHERE database_name = 'gpuledger' AND schema_name = ? AND table_name = ? ORDER BY column_index""",
        [schema, name],
    )
    show(columns, rows, form, title=table)


def _macro(data: DataDir, schema: str, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns of a macro's answer. A column of one name means the same everywhere, so a table's comment describes it."""
    from warehouse.read import query

    _, found = query(
        data,
        """SELECT parameters FROM duckdb_functions()
           WHERE schema_name = ? AND function_name = ? AND database_name = 'gpuledger'""",
        [schema, name],
    )
    nothing = ", ".join("NULL" for _ in found[0][0])
    return query(
        data,
        f"""SELECT d.column_name AS "column", d.column_type AS type, c.comment AS description
            FROM (SELECT *, row_number() OVER () AS n FROM (DESCRIBE SELECT * FROM {schema}.{name}({nothing}))) d
            LEFT JOIN (
                SELECT column_name, any_value(comment) AS comment FROM duckdb_columns()
                WHERE database_name = 'gpuledger' AND schema_name IN ('core', 'mart') GROUP BY column_name
            ) c USING (column_name) ORDER BY d.n""",
    )
