"""Show rows: a table for people, CSV and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import click

from gpuledger.flows.setup.lang import gettext
from gpuledger.warehouse.outputs.cells import cell


def show(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: str,
    *,
    title: str = "",
    words: Mapping[str, str] | None = None,
) -> None:
    """Print rows as `table`, `csv` or `json` (a list of objects). `words` gives headings for people.

    Headings are put into the language in use; columns and rows for programs stay as they are.
    """
    if form == "json":
        click.echo(
            json.dumps([dict(zip(columns, map(plain, row), strict=True)) for row in rows], ensure_ascii=False, indent=1)
        )
    elif form == "csv":
        from gpuledger.warehouse.outputs.csv_files import to_csv

        click.echo(to_csv(columns, rows), nl=False)
    else:
        _table(columns, rows, title, words or {})


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str, words: Mapping[str, str]) -> None:
    # Imported here: csv and json answers need none of it.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title or None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", header_style="bold"
    )
    numeric = [all(is_number(row[i]) or row[i] is None for row in rows) and bool(rows) for i in range(len(columns))]
    for column, is_right in zip(columns, numeric, strict=True):
        table.add_column(gettext(words.get(column, column)), justify="right" if is_right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(human(value)) for value in row))
    console = Console()
    if not console.is_terminal:
        # A pipe has no width: wrapping a cell there would break the line that grep looks for.
        console = Console(width=max(200, console.width))
    console.print(table)
    if not rows:
        console.print(gettext("no rows"))


def is_number(value: object) -> bool:
    """A number that is aligned to the right."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def human(value: object) -> str:
    """One value for a person."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, Decimal) and value.as_tuple().exponent == -2:
        # Money and rounded ratios keep both decimals, so that the points of a column stand below each other.
        return format(value, "f")
    if isinstance(value, float):
        return f"{value:g}" if abs(value) >= 1e15 else f"{value:.6f}".rstrip("0").rstrip(".")
    return cell(value).removeprefix("'") if isinstance(value, str) else cell(value)


def plain(value: object) -> object:
    """One value for JSON: numbers as numbers, times as ISO 8601."""
    if isinstance(value, Decimal):
        return float(value) if value % 1 else int(value)
    if isinstance(value, date | datetime):
        return cell(value)
    return value
