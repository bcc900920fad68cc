"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option, may_be_packaged, read_from
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext
from gpuledger.spelling import names_like


@click.command()
@click.argument("table", required=False)
@data_dir_option
@format_option
def command(table: str | None, data_dir: str | None, form: str) -> None:
    """List tables, macros and assumptions, or the columns of TABLE (`mart.value`, or `assumptions` for all of those)."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.answers import described

    data = read_from(data_dir)
    about_assumptions = (table or "").partition(".")[0] == "assumptions"
    # What the program assumes it knows before the first night too.
    rows = [] if about_assumptions and may_be_packaged(data, data_dir) else described.everything(data)
    assumed = described.assumptions(data, texts(settings_module.load({}).assumptions_given))

    def say(columns: list[str], rows: list[tuple[Any, ...]], title: str = "", best: Iterable[str] = ()) -> None:
        show_rows(columns, rows, form, title=title, worth=[*dict.fromkeys((*best, *columns))])

    if table is None:
        rows += [
            (f"assumptions.{name}", "assumption", None, f"{amount.normalize():f} {unit}: {meaning}")
            for name, amount, unit, _, _, _, meaning, _ in assumed[1]
        ]
        say(["table", "kind", "rows", "description"], rows)
        return
    if about_assumptions:
        assumption = table.partition(".")[2]
        chosen = [row for row in assumed[1] if assumption in ("", row[0])]
        if not chosen:
            message = gettext("there is no assumption {name!r}").format(name=assumption)
            names = [row[0] for row in assumed[1]]
            raise click.UsageError(wrong_use.unknown(message, assumption, names, "gpuledger describe assumptions"))
        # On a narrow screen the meaning of an assumption is more important than its bounds.
        say(assumed[0], chosen, table, ("assumption", "amount", "description"))
        return
    known = [row[0] for row in rows]
    table = _table_named(table, known)
    kind, about = next((row[1], row[3]) for row in rows if row[0] == table)
    columns = (described.macro if kind == "macro" else described.table)(data, table)
    say(*columns, f"{table} · {about}" if about else table)


def _table_named(table: str, known: list[str]) -> str:
    """The full name of the table that a person named, with or without its schema.

    A name without a schema means the view in `main` that `FROM` would find under it, if there is one. A usage error if there
    is no such table, or more than one.
    """
    bare = table.strip().lower()
    for name in (bare, f"main.{bare}"):
        if name in known:
            return name
    matches = [name for name in known if name.partition(".")[2] == bare]
    if len(matches) == 1:
        return matches[0]
    message = gettext("there is no table {name!r}").format(name=table)
    if matches:
        raise click.UsageError(f"{message}; {wrong_use.did_you_mean(matches)}")
    # Names are compared without their schemas: with one, all tables of that schema would look alike. If a view in `main` and
    # a table have the same name, the table is suggested.
    names = {name.partition(".")[2]: name for name in sorted(known, key=lambda name: not name.startswith("main."))}
    if close := [names[near] for near in names_like(bare.rpartition(".")[2], names)]:
        listed = gettext("`{command}` lists all").format(command="gpuledger describe")
        raise click.UsageError(f"{message}; {wrong_use.did_you_mean(close)} {listed}")
    raise click.UsageError("\n  ".join([gettext("{message}; there are:").format(message=message), *known]))
