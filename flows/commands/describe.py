"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

import click

from gpuledger.flows.commands._options import data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext


@click.command()
@click.argument("table", required=False)
@data_dir_option
@format_option
def command(table: str | None, data_dir: str | None, form: str) -> None:
    """List tables, macros and assumptions, or the columns of TABLE (`mart.value`, or `assumptions` for all of those)."""
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers import described

    data = data_of(data_dir)
    rows = described.everything(data)
    known = [row[0] for row in rows]
    assumed = described.assumptions(data) if "core.assumption" in known else ([], [])
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
    is_macro = (table, "macro") in {(row[0], row[1]) for row in rows}
    show(*(described.macro if is_macro else described.table)(data, table), form, title=table)
