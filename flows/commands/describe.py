"""`gpuledger describe`: the data dictionary, as the published file carries it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from gpuledger.extract.near import near
from gpuledger.flows.commands import _complete
from gpuledger.flows.commands._options import data_dir_option, format_option, read_from
from gpuledger.flows.setup import lang, naming
from gpuledger.flows.setup.lang import gettext


@click.command()
@click.argument("table", required=False, shell_complete=_complete.tables)
@data_dir_option
@format_option
def command(table: str | None, data_dir: str | None, form: str) -> None:
    """List tables, macros and assumptions, or the columns of TABLE (`mart.value`, or `assumptions` for all of those)."""
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers import described

    data = read_from(data_dir)
    rows = described.everything(data)
    known = [row[0] for row in rows]
    assumed = described.assumptions(data) if "core.assumption" in known else ([], [])

    def say(columns: list[str], rows: list[tuple[Any, ...]], title: str = "", best: Iterable[str] = ()) -> None:
        """Show rows. Programs are told in English, whatever people read."""
        if form == "table":
            said = [name in _WORDS for name in columns]
            rows = [
                tuple(lang.described(v) if words and v else v for v, words in zip(row, said, strict=True))
                for row in rows
            ]
        show(columns, rows, form, title=title, headings={name: name for name in dict.fromkeys((*best, *columns))})

    if table is None:
        meant_by = lang.described if form == "table" else str
        rows += [
            (f"assumptions.{name}", "assumption", None, f"{amount.normalize():f} {meant_by(unit)}: {meant_by(meaning)}")
            for name, amount, unit, _, _, _, meaning, _ in assumed[1]
        ]
        say(["table", "kind", "rows", "description"], rows)
        return
    if table.partition(".")[0] == "assumptions":
        one = table.partition(".")[2]
        chosen = [row for row in assumed[1] if one in ("", row[0])]
        if not chosen:
            message = gettext("there is no assumption {name!r}").format(name=one)
            names = [row[0] for row in assumed[1]]
            raise click.UsageError(naming.unknown(message, one, names, "gpuledger describe assumptions"))
        # What one means is worth more than its bounds.
        say(assumed[0], chosen, table, ("assumption", "amount", "description"))
        return
    table = meant(table, known)
    kind, about = next((row[1], row[3]) for row in rows if row[0] == table)
    columns = (described.macro if kind == "macro" else described.table)(data, table)
    say(*columns, f"{table} · {lang.described(about)}" if about else table)


#: Columns of an answer that are words of the dictionary, and not names of something.
_WORDS = ("kind", "unit", "description", "origin")


def meant(table: str, known: list[str]) -> str:
    """The table of this name, which may stand without its schema: then it is what `FROM` finds under it, where there is
    such a view. A usage error where it is none or two.
    """
    bare = table.strip().lower()
    for name in (bare, f"main.{bare}"):
        if name in known:
            return name
    found = [name for name in known if name.partition(".")[2] == bare]
    if len(found) == 1:
        return found[0]
    message = gettext("there is no table {name!r}").format(name=table)
    if found:
        raise click.UsageError(f"{message}; {naming.did_you_mean(found)}")
    # By the name alone: with its schema before it every table of that schema is alike.
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(name.partition(".")[2], []).append(name)
    # A short name is asked for as it is; who misspelt one of two means the table behind it.
    close = [
        name for one in near(bare.rpartition(".")[2], names) for name in names[one]
        if len(names[one]) == 1 or not name.startswith("main.")
    ]  # fmt: skip
    if close:
        listed = gettext("`{command}` lists all").format(command="gpuledger describe")
        raise click.UsageError(f"{message}; {naming.did_you_mean(close)} {listed}")
    raise click.UsageError("\n  ".join([gettext("{message}; there are:").format(message=message), *known]))
