"""Show rows: a table for people, CSV and JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from gpuledger.extract.message import Message
from gpuledger.flows.telling import terminal
from gpuledger.flows.telling.clean import clean
from gpuledger.flows.words.lang import current, gettext
from gpuledger.flows.words.say import say
from gpuledger.flows.words.sentences import N_, spoken
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
    if_empty: str = "",
) -> None:
    """Print rows as `table`, `csv` or `json` (a list of objects).

    `headings` has the headings for people, by column, in the order in which a narrow screen keeps the columns. They are
    translated into the language in use; columns and rows for programs stay as they are. `if_empty` is the sentence that
    people read if there is no row.
    """
    if form == "json":
        click.echo(terminal.json_text([dict(zip(columns, map(plain, row), strict=True)) for row in rows], indent=1))
    elif form == "csv":
        from gpuledger.warehouse.outputs.csv_files import to_csv

        click.echo(to_csv(columns, [[flat(value, terminal.json_text) for value in row] for row in rows]), nl=False)
    else:
        shown_headings = [gettext((headings or {}).get(column, column)) for column in columns]
        if headings is not None:  # a query's own columns keep their names as they are
            shown_headings = [heading.replace("_", " ") for heading in shown_headings]
        _table(_with_unit(Table(columns, shown_headings, rows, tuple(headings or ()))), title, if_empty)


def _table(table: Table, title: str, if_empty: str) -> None:
    is_screen = terminal.is_screen()
    if if_empty and is_screen and not table.rows:
        terminal.say(if_empty)  # headings without a row below them tell a person nothing
        return
    if not is_screen:
        # For `cut`, `awk` and spreadsheets: one line for each row, nothing padded, shortened or wrapped. The title, with
        # its subject and time, goes to standard error, for a person who looks at the screen.
        if title:
            click.echo(title, err=True)
        for line in table.lines():
            click.echo(line)
    else:
        _draw(terminal.console(), table, title)
    if not table.rows:
        click.echo(if_empty or gettext("no rows"), err=not is_screen)


@dataclass(frozen=True, slots=True)
class Table:
    """What a table shows: names and headings of its columns, and its rows.

    `keep` has the names of columns in the order in which a narrow screen keeps them.
    """

    columns: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    keep: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """The lines of the table, the headings first, with a tab between cells."""
        yield "\t".join(self.headings)
        for row in self.rows:
            yield "\t".join(" ".join(human(value, name).split()) for name, value in zip(self.columns, row, strict=True))

    def laid_out(self, width: int) -> Layout:
        """The layout of the part that fits into `width` cells of the terminal."""
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
        # A column without any text takes room and says nothing.
        with_text = [column for column in columns if any(column.cells)] or columns
        return lay_out(with_text, width, self.keep)


def _with_unit(table: Table) -> Table:
    """The table with the unit moved into the heading of the score, if all rows have the same unit."""
    if not {"score", "unit"} <= set(table.columns):
        return table
    score_at, unit_at = table.columns.index("score"), table.columns.index("unit")
    units = {row[unit_at] for row in table.rows}
    if len(units) != 1:
        return table
    headings = [f"{h}, {units.pop()}" if i == score_at else h for i, h in enumerate(table.headings)]
    kept = [i for i in range(len(table.columns)) if i != unit_at]
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
    # The style depends on the value for programs, because the text on the screen may be in another language.
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


#: The colours of the words that matter. All other cells are plain, so that these words stand out.
_STYLES = {
    "red": ("failed", "failing", "rejected", "error", "broken", "not fresh", "too old", "no"),
    "yellow": ("stale", "held", "warning", "degraded", "in doubt", "suspect", "tight", "attention", "wait"),
    "green": ("ok", "published", "fresh", "fits", "buy"),
}
_STATES = ("status", "grade", "hint", "verdict", "fits")


def _style(column: str, text: str) -> str:
    """The colour of a cell that has a state in it, empty for any other cell."""
    if column not in _STATES:
        return ""
    states = [part.strip() for part in text.replace("_", " ").lower().split(",")]
    return next((style for style, words in _STYLES.items() if any(state in words for state in states)), "")


def _is_best(table: Table, number: int) -> bool:
    """Whether the row with this number is the first of a ranking."""
    return table.columns[0] in ("rank", "value_rank", "#") and table.rows[number][0] == 1 and len(table.rows) > 1


#: Exit status for a question that was understood but has no answer. It is neither a failure nor wrong usage.
NO_ROWS = 4


def no_rows(why: str) -> int:
    """Print to standard error why there is no row, and return the exit status for it."""
    click.echo(why, err=True)
    return NO_ROWS


def is_number(value: object) -> bool:
    """Whether a value is a number, which is aligned to the right."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


#: Columns whose words come from the program itself, in English. For people they are translated.
_SPOKEN = (
    "workload", "claim", "excluded", "left_out_because", "hint", "availability", "condition", "channel", "change", "status",
    "grade", "pricing_model", "verdict", "kinds", "old_availability", "new_availability", "basis", "tax", "product_kind",
)  # fmt: skip

#: Codes that need another translation in these columns: "published" means one thing of a run and another of a figure.
_OF_THEIR_COLUMN = {
    ("claim", "published"): N_("as published"), ("claim", "vendor"): N_("vendor's claim"),
    ("condition", "new"): N_("new card"), ("verdict", "no"): N_("does not fit"), ("verdict", "erratum"): N_("known erratum"),
    ("tax", "excluded"): N_("without tax"),
}  # fmt: skip


def _translated(text: str, column: str) -> str:
    """A word that comes from the program, for people: in English a code without underscores, else its translation."""
    if current() == "en":
        return text if column == "workload" else text.replace("_", " ")
    return gettext(_OF_THEIR_COLUMN[column, text]) if (column, text) in _OF_THEIR_COLUMN else spoken(text)


#: Columns of shares (1 is the whole), shown in percent. Those that say how much more or less have a sign.
_PERCENT = {"premium_over_msrp": "+.1%", "change_30d": "+.1%", "change_ratio": "+.1%", "percentile_1y": ".0%"}


def human(value: object, column: str = "") -> str:
    """One value of a column as people read it."""
    if column in _PERCENT and isinstance(value, int | float | Decimal):
        return format(value, _PERCENT[column])
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "minutes")
    if isinstance(value, Decimal) and value.as_tuple().exponent == -2:
        # Money and rounded ratios keep both decimals, so that the decimal points of a column stand below each other.
        return format(value, "f")
    if isinstance(value, float):
        return f"{value:g}" if abs(value) >= 1e15 else f"{value:.6f}".rstrip("0").rstrip(".")
    if column == "hint" and value == "unknown":
        return ""  # no hint
    if isinstance(value, Message):
        value = say(value)
    if isinstance(value, str):
        value = _translated(value, column) if column in _SPOKEN else value
        return clean(cell(value).removeprefix("'"), keep_lines=True)
    return clean(cell(flat(value, terminal.json_text)), keep_lines=True)
