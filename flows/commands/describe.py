"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

from typing import Any

import click

from gpuledger.flows.commands._options import data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext
from gpuledger.warehouse.paths import DataDir


@click.command()
@click.argument("table", required=False)
@data_dir_option
@format_option
def command(table: str | None, data_dir: str | None, form: str) -> None:
    """List tables, macros and assumptions, or the columns of TABLE (`mart.value`, or `assumptions` for all of those)."""
    from gpuledger.flows.commands._show import show
    from gpuledger.warehouse.read import query

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
    known = [row[0] for row in rows]
    assumed = _assumptions(data) if "core.assumption" in known else ([], [])
    if table is None:
        rows += [
            (f"assumptions.{name}", "assumption", None, f"{amount.normalize():f} {unit}: {meaning}")
            for name, amount, unit, _, _, _, meaning, _ in assumed[1]
        ]
        show(["table", "kind", "rows", "description"], rows, form)
        return
    if table.partition(".")[0] == "assumptions":
        one = table.partition(".")[2]
        chosen = [row for row in assumed[1] if one in ("", row[0])]
        if not chosen:
            message = gettext("there is no assumption {name!r}; `gpuledger describe assumptions` lists them")
            raise click.UsageError(message.format(name=one))
        show(assumed[0], chosen, form, title=table)
        return
    table = f"main.{table}" if f"main.{table}" in known else table
    if table not in known:
        message = gettext("there is no table {name!r}; there are:").format(name=table)
        raise click.UsageError("\n  ".join([message, *known]))
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
    """Columns of a macro's answer. DuckDB has no place for their comments, so the words are those of the model."""
    import tomllib

    from gpuledger.transform.build.graph import folder_of
    from gpuledger.warehouse.dictionary import dictionary
    from gpuledger.warehouse.read import query

    _, found = query(
        data,
        """SELECT parameters FROM duckdb_functions()
           WHERE schema_name = ? AND function_name = ? AND database_name = 'gpuledger'""",
        [schema, name],
    )
    nothing = ", ".join("NULL" for _ in found[0][0])
    _, columns = query(
        data, f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {schema}.{name}({nothing}))"
    )
    sidecar = folder_of(f"{schema}.{name}") / "table.toml"
    own = tomllib.loads(sidecar.read_text(encoding="utf-8")).get("columns", {}) if sidecar.exists() else {}
    known = dictionary().columns
    rows = [(c, kind, own.get(c) or (known[c].comment if c in known else None)) for c, kind in columns]
    return ["column", "type", "description"], rows


def _assumptions(data: DataDir) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Every assumption with its value here, unit, default, bounds, meaning and source; the first two name it."""
    from gpuledger.warehouse.read import query

    return query(
        data,
        """SELECT assumption, amount, unit, default_amount AS "default", lowest_amount AS lowest, highest_amount AS highest,
               description, origin FROM core.assumption ORDER BY rowid""",
    )
