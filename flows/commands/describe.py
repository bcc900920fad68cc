"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

import click

from flows.commands._options import data_dir_option, data_of, format_option


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
           WHERE database_name = 'gpuledger' AND NOT internal ORDER BY 1""",
    )
    if table is None:
        show(["table", "kind", "rows", "description"], rows, form)
        return
    known = [row[0] for row in rows]
    if table not in known:
        raise click.UsageError(f"there is no table {table!r}; there are:\n  " + "\n  ".join(known))
    schema, _, name = table.partition(".")
    columns, rows = query(
        data,
        """SELECT column_name AS "column", data_type AS type, comment AS description FROM duckdb_columns()
           WHERE database_name = 'gpuledger' AND schema_name = ? AND table_name = ? ORDER BY column_index""",
        [schema, name],
    )
    show(columns, rows, form, title=table)
