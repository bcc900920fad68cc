"""Show rows: a table for people, CSV and JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.doors.showing.money import DOLLARS, Money
from gpuledger.flows.doors.showing.table import Drawn, lay_out, wrapped
from gpuledger.flows.doors.showing.terminal import clean
from gpuledger.flows.words.lang import N_, current, gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.message import Message
from gpuledger.transform.answers.columns import KNOWN
from gpuledger.warehouse.outputs.answer import UNIMPORTANT, Answer, Column, ShownAs, cell, flat, plain

if TYPE_CHECKING:
    from rich.console import Console


def show(answer: Answer, form: str, *, currency: Money = DOLLARS, if_empty: str = "") -> None:
    """Print an answer as `table`, `csv` or `json` (a list of objects), with its amounts of dollars in `currency`.

    Programs get names, numbers and codes as they are. People get headings and words in the language in use. `if_empty` is
    the sentence that they read if there is no row.
    """
    if form == "table":
        _table(Table.of(answer, currency), answer.title, if_empty)
        return
    if form == "json":
        terminal.give(in_currency(answer, currency))
        return
    names, rows = currency.table(answer.names, answer.values())
    from gpuledger.warehouse.outputs.csv_files import to_csv

    click.echo(to_csv(names, [[flat(value, terminal.json_text) for value in row] for row in rows]), nl=False)


def in_currency(answer: Answer, currency: Money = DOLLARS) -> list[dict[str, Any]]:
    """The rows of an answer as objects for programs."""
    names, rows = currency.table(answer.names, answer.values())
    return [dict(zip(names, map(plain, row), strict=True)) for row in rows]


def show_rows(  # noqa: PLR0913
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: str,
    *,
    title: str = "",
    worth: Sequence[str] | None = None,
    if_empty: str = "",
) -> None:
    """Print rows whose columns are only known by their names, such as those of a query that a user wrote.

    `worth` has the columns in the order in which a narrow screen keeps them. Without it the columns keep their order, and
    their names as they are.
    """
    weights = {name: weight for weight, name in enumerate(worth or (), 1)}
    known = {name: KNOWN.get(name, Column(name)) for name in columns}
    declared = [
        replace(
            known[name],
            shown_as="text" if known[name].shown_as in _REWORKED else known[name].shown_as,
            heading=name,
            weight=weights.get(name, UNIMPORTANT),
            unit_in="unit" if name == "score" else "",
            seen=None,
        )
        for name in columns
    ]
    answer = Answer.of_rows(declared, rows, title)
    if form == "table":
        _table(Table.of(answer, has_names=worth is None), title, if_empty)
    else:
        show(answer, form)


#: How values are shown with less in them than they have. Who asks for the columns of a table sees whole values, also where
#: an answer shows people something else that it makes of the whole row.
_REWORKED: tuple[ShownAs, ...] = ("ratio", "per_thousand", "day")


def _table(table: Table, title: str, if_empty: str) -> None:
    is_screen = terminal.is_screen()
    if if_empty and is_screen and not table.count:
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
    if not table.count:
        click.echo(if_empty or gettext("no rows"), err=not is_screen)


@dataclass(frozen=True, slots=True)
class Table:
    """An answer for people: its columns with their texts, the number of rows, and whether the first row is the best."""

    columns: Sequence[Drawn]
    count: int
    has_best: bool = False

    @classmethod
    def of(cls, answer: Answer, currency: Money = DOLLARS, *, has_names: bool = False) -> Table:
        """What people see of `answer`. With `has_names` its headings are names, which keep their underscores."""
        drawn, units = [], set()
        seen = answer.seen_columns()
        for column in seen:
            values = [_seen(column, row, currency) for row in answer.rows]
            heading = column.heading or ""
            heading = currency.heading(heading) if currency.rate_day else gettext(heading)
            heading = heading if has_names else heading.replace("_", " ")
            if column.unit_in and (unit := _one_unit(answer, column.unit_in)):
                heading = f"{heading}, {unit}"
                units.add(column.unit_in)
            drawn.append(Drawn(
                heading,
                tuple(_grouped(" ".join(human(value, column).split()), value) for value in values),
                bool(values) and all(is_number(value) or value is None for value in values),
                column.shown_as, column.weight, column.least,
                # By the value for programs, because the text may be in another language.
                tuple(_style(str(value)) for value in values) if column.shown_as == "state" else (),
            ))  # fmt: skip
        has_best = len(answer.rows) > 1 and seen[0].name in _PLACES and seen[0].of(answer.rows[0]) == 1
        shown = tuple(one for one, column in zip(drawn, seen, strict=True) if column.name not in units)
        return cls(shown, len(answer.rows), has_best)

    def lines(self) -> Iterator[str]:
        """The lines of the table, the headings first, with a tab between cells."""
        yield "\t".join(column.heading for column in self.columns)
        for number in range(self.count):
            yield "\t".join(column.cells[number] for column in self.columns)


def _grouped(text: str, value: Any) -> str:
    """An amount on a screen has its thousands set apart; a pipe gets plain numbers."""
    is_amount = isinstance(value, Decimal) and text == f"{value:f}"
    return f"{value:,f}" if is_amount and terminal.is_screen() else text


#: Columns with places. Their first row is the best if it has the place 1.
_PLACES = ("rank", "value_rank", "#")


def _one_unit(answer: Answer, name: str) -> str:
    """The unit that all rows have in the column `name`. Empty if there are several, or none."""
    column = next((column for column in answer.columns if column.name == name), None)
    units = set() if column is None else {column.of(row) for row in answer.rows}
    return str(units.pop()) if len(units) == 1 else ""


def _seen(column: Column, row: Any, currency: Money) -> Any:
    """What people see in a cell, before it is text."""
    value = column.seen_of(row)
    if isinstance(value, Message):
        return say(value, currency.sum)
    if value is None:
        return None
    if column.shown_as == "ratio":
        value = Decimal(value).quantize(_HUNDREDTH, ROUND_HALF_UP)
    if column.shown_as == "per_thousand":
        name = column.name.replace("_per_", "_per_1000_")
        return currency.amount(name, (1000 * Decimal(value)).quantize(_HUNDREDTH, ROUND_HALF_UP))
    return currency.amount(column.name, value)


_HUNDREDTH = Decimal("0.01")


def _draw(console: Console, table: Table, title: str) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    # A column without any text takes room and says nothing.
    with_text = [column for column in table.columns if any(column.cells)] or table.columns
    layout = lay_out(with_text, console.width)
    grid = Grid(
        title=Text(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold",
        header_style="bold", padding=(0, 1, 0, 0), pad_edge=False, show_edge=False,
    )  # fmt: skip
    for column in layout.columns:
        grid.add_column(
            Text(wrapped(column.heading, column.width)), justify="right" if column.is_number else "left", width=column.width,
            no_wrap=True,
        )  # fmt: skip
    for number in range(table.count):
        texts = [
            Text(column.cells[number], style=column.styles[number] if column.styles else "")
            for column in layout.columns
        ]
        grid.add_row(*texts, style="bold" if table.has_best and number == 0 else "")
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


def _style(text: str) -> str:
    """The colour of a state, empty for one that does not matter."""
    states = [part.strip() for part in text.replace("_", " ").lower().split(",")]
    return next((style for style, words in _STYLES.items() if any(state in words for state in states)), "")


#: Exit status for a question that was understood but has no answer. It is neither a failure nor wrong usage.
NO_ROWS = 4


def no_rows(why: str) -> int:
    """Say beside the answer why there is no row, and return the exit status for it."""
    terminal.aside(why)
    return NO_ROWS


def is_number(value: object) -> bool:
    """Whether a value is a number, which is aligned to the right."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


#: Codes that need another translation in these columns: "published" means one thing of a run and another of a figure.
_OF_THEIR_COLUMN = {
    ("claim", "published"): N_("as published"), ("claim", "vendor"): N_("vendor's claim"),
    ("condition", "new"): N_("new card"), ("verdict", "no"): N_("does not fit"), ("verdict", "erratum"): N_("known erratum"),
    ("tax", "excluded"): N_("without tax"),
}  # fmt: skip


def _translated(text: str, column: Column) -> str:
    """A word that comes from the program, for people: in English a code without underscores, else its translation."""
    if current() == "en":
        return text if column.shown_as == "title" else text.replace("_", " ")
    named = (column.name, text)
    return gettext(_OF_THEIR_COLUMN[named]) if named in _OF_THEIR_COLUMN else spoken(text)


#: How columns are declared whose words come from the program itself, in English. For people they are translated.
_SPOKEN: tuple[ShownAs, ...] = ("words", "reasons", "title", "state")
#: Shares (1 is the whole) are shown in percent. Those that say how much more or less have a sign.
_PERCENT: Mapping[ShownAs, str] = {"change": "+.1%", "share": ".0%"}


def human(value: object, column: Column = Column("")) -> str:  # noqa: B008  # it is immutable
    """One value of a column as people read it."""
    if column.shown_as in _PERCENT and isinstance(value, int | float | Decimal):
        return format(value, _PERCENT[column.shown_as])
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
        return f"{value:%Y-%m-%d}" if column.shown_as == "day" else value.isoformat(" ", "minutes")
    if isinstance(value, Decimal) and value.as_tuple().exponent == -2:
        # Money and rounded ratios keep both decimals, so that the decimal points of a column stand below each other.
        return format(value, "f")
    if isinstance(value, float):
        return f"{value:g}" if abs(value) >= 1e15 else f"{value:.6f}".rstrip("0").rstrip(".")
    if column.name == "hint" and value == "unknown":
        return ""  # no hint
    if isinstance(value, Message):
        value = say(value)
    if isinstance(value, str):
        value = _translated(value, column) if column.shown_as in _SPOKEN else value
        return clean(cell(value).removeprefix("'"), keep_lines=True)
    return clean(cell(flat(value, terminal.json_text)), keep_lines=True)
