"""Find the table that a person names on the command line."""

from __future__ import annotations

import click

from gpuledger.extract.spelling import names_like
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext


def table_named(table: str, known: list[str]) -> str:
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
    # Names are compared without their schemas. With a schema, all tables of that schema would look alike.
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(name.partition(".")[2], []).append(name)
    # If a view in `main` and a table have the same name, only the table is suggested.
    close = [
        name for near_name in names_like(bare.rpartition(".")[2], names) for name in names[near_name]
        if len(names[near_name]) == 1 or not name.startswith("main.")
    ]  # fmt: skip
    if close:
        listed = gettext("`{command}` lists all").format(command="gpuledger describe")
        raise click.UsageError(f"{message}; {wrong_use.did_you_mean(close)} {listed}")
    raise click.UsageError("\n  ".join([gettext("{message}; there are:").format(message=message), *known]))
