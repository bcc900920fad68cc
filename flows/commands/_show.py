"""Show rows: a table for people, CSV and JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.setup.lang import current, gettext
from gpuledger.flows.setup.sentences import N_, spoken
from gpuledger.flows.telling import terminal
from gpuledger.flows.telling.clean import clean
from gpuledger.warehouse.outputs.cells import cell, flat, plain

if TYPE_CHECKING:
    from rich.console import Console

    from gpuledger.flows.commands._table import Layout


def show(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: str,
    *,
    title: str = "",
    headings: Mapping[str, str] | None = None,
    none: str = "",
) -> None:
    """Print rows as `table`, `csv` or `json` (a list of objects).

    `headings` gives the headings for people, in the order in which a narrow screen keeps the columns. They are put into the
    language in use; columns and rows for programs stay as they are. `none` is said to people where there is no row.
    """
    if form == "json":
        click.echo(terminal.json_text([dict(zip(columns, map(plain, row), strict=True)) for row in rows], indent=1))
    elif form == "csv":
        from gpuledger.warehouse.outputs.csv_files import to_csv

        click.echo(to_csv(columns, [[flat(value, terminal.json_text) for value in row] for row in rows]), nl=False)
    else:
        shown = [gettext((headings or {}).get(column, column)) for column in columns]
        if headings is not None:  # a query's own columns keep their names as they are
            shown = [heading.replace("_", " ") for heading in shown]
        _table(_with_unit(Table(columns, shown, rows, tuple(headings or ()))), title, none)


def _table(table: Table, title: str, none: str) -> None:
    is_screen = terminal.is_screen()
    if none and is_screen and not table.rows:
        terminal.say(none)  # a heading over nothing tells nobody anything
        return
    if not is_screen:
        # For `cut`, `awk` and a spreadsheet: a line a row, nothing padded, shortened or wrapped. What the table
        # is of and as of when is for whoever looks on.
        if title:
            click.echo(title, err=True)
        for line in table.lines():
            click.echo(line)
    else:
        _draw(terminal.console(), table, title)
    if not table.rows:
        click.echo(none or gettext("no rows"), err=not is_screen)


@dataclass(frozen=True, slots=True)
class Table:
    """What a table shows: names and headings of columns, the rows, and the columns by their worth on a narrow screen."""

    columns: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    keep: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """The table with a tab between two cells, the heading first."""
        yield "\t".join(self.headings)
        for row in self.rows:
            yield "\t".join(" ".join(human(value, name).split()) for name, value in zip(self.columns, row, strict=True))

    def laid_out(self, width: int) -> Layout:
        """What fits into `width` cells of the terminal."""
        from gpuledger.flows.commands._table import Column, lay_out

        columns = [
            Column(
                name,
                heading,
                tuple(" ".join(human(row[i], name).split()) for row in self.rows),
                bool(self.rows) and all(is_number(row[i]) or row[i] is None for row in self.rows),
            )
            for i, (name, heading) in enumerate(zip(self.columns, self.headings, strict=True))
        ]
        # A column in which nothing stands takes room and says nothing.
        telling = [column for column in columns if any(column.cells)] or columns
        return lay_out(telling, width, self.keep)


def _with_unit(table: Table) -> Table:
    """The table with the unit in the heading of its score, where every row has the same one."""
    if not {"score", "unit"} <= set(table.columns):
        return table
    score, place = table.columns.index("score"), table.columns.index("unit")
    units = {row[place] for row in table.rows}
    if len(units) != 1:
        return table
    headings = [f"{h}, {units.pop()}" if i == score else h for i, h in enumerate(table.headings)]
    kept = [i for i in range(len(table.columns)) if i != place]
    return Table(
        [table.columns[i] for i in kept],
        [headings[i] for i in kept],
        [[row[i] for i in kept] for row in table.rows],
        table.keep,
    )


def _draw(console: Console, table: Table, title: str) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from gpuledger.flows.commands._table import wrapped

    layout = table.laid_out(console.width)
    grid = Grid(
        title=Text(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold",
        header_style="bold", padding=(0, 1, 0, 0), pad_edge=False, show_edge=False,
    )  # fmt: skip
    for column in layout.columns:
        grid.add_column(
            Text(wrapped(column.heading, column.width)), justify="right" if column.is_number else "left", width=column.width,
            no_wrap=True,
        )  # fmt: skip
    # By what the cell says to programs: the words on the screen may be of another language.
    places = {name: place for place, name in enumerate(table.columns)}
    for number in range(len(table.rows)):
        texts = [
            Text(column.cells[number], style=_style(column.name, str(table.rows[number][places[column.name]])))
            for column in layout.columns
        ]
        grid.add_row(*texts, style="bold" if _is_best(table, number) else "")
    console.print(grid)
    if layout.left_out:
        note = gettext("left out at this width: {columns}; a wider window, a pipe or --format csv has them")
        console.print(Text(note.format(columns=", ".join(layout.left_out)), style="dim"))


#: Words that matter in a cell, and how they look. Every other cell is plain, so that these stand out.
_STYLES = {
    "red": ("failed", "failing", "rejected", "error", "broken", "not fresh", "too old", "no"),
    "yellow": ("stale", "held", "warning", "degraded", "in doubt", "suspect", "tight", "attention", "wait"),
    "green": ("ok", "published", "fresh", "fits", "buy"),
}
_STATES = ("status", "grade", "hint", "verdict", "fits")


def _style(column: str, text: str) -> str:
    """Colour of a cell that tells a state; none for every other."""
    if column not in _STATES:
        return ""
    states = [part.strip() for part in text.replace("_", " ").lower().split(",")]
    return next((style for style, words in _STYLES.items() if any(state in words for state in states)), "")


def _is_best(table: Table, number: int) -> bool:
    """The first place of a ranking."""
    return table.columns[0] in ("rank", "value_rank", "#") and table.rows[number][0] == 1 and len(table.rows) > 1


#: Exit status of a question that was understood and has no answer: neither a failure nor wrong usage.
NO_ROWS = 4


def no_rows(why: str) -> int:
    """Say on standard error why there is no row, and give the exit status for it."""
    click.echo(why, err=True)
    return NO_ROWS


def is_number(value: object) -> bool:
    """A number that is aligned to the right."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


#: Columns of words that the program itself chose, in English: for people they are put into their language.
_SPOKEN = (
    "workload", "claim", "excluded", "left_out_because", "hint", "availability", "condition", "channel", "change", "status",
    "grade", "pricing_model", "verdict", "kinds", "old_availability", "new_availability", "basis", "tax", "product_kind",
)  # fmt: skip

#: Codes that are other words elsewhere: a run is published, and so is a figure.
_OF_THEIR_COLUMN = {
    ("claim", "published"): N_("as published"), ("claim", "vendor"): N_("vendor's claim"),
    ("condition", "new"): N_("new card"), ("verdict", "no"): N_("does not fit"), ("verdict", "erratum"): N_("known erratum"),
    ("tax", "excluded"): N_("without tax"),
}  # fmt: skip


def _told(text: str, column: str) -> str:
    """A word of the program's own for people: a code without its underscores, or in their language."""
    if current() == "en":
        return text if column == "workload" else text.replace("_", " ")
    return gettext(_OF_THEIR_COLUMN[column, text]) if (column, text) in _OF_THEIR_COLUMN else spoken(text)


#: Shares of one, shown in percent; those that say how much more or less have a sign.
_PERCENT = {"premium_over_msrp": "+.1%", "change_30d": "+.1%", "change_ratio": "+.1%", "percentile_1y": ".0%"}


def human(value: object, column: str = "") -> str:
    """One value of a column for a person."""
    if column in _PERCENT and isinstance(value, int | float | Decimal):
        return format(value, _PERCENT[column])
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "minutes")
    if isinstance(value, Decimal) and value.as_tuple().exponent == -2:
        # Money and rounded ratios keep both decimals, so that the points of a column stand below each other.
        return format(value, "f")
    if isinstance(value, float):
        return f"{value:g}" if abs(value) >= 1e15 else f"{value:.6f}".rstrip("0").rstrip(".")
    if column == "hint" and value == "unknown":
        return ""  # no hint
    if isinstance(value, str):
        value = _told(value, column) if column in _SPOKEN else value
        return clean(cell(value).removeprefix("'"), keep_lines=True)
    return clean(cell(flat(value, terminal.json_text)), keep_lines=True)
