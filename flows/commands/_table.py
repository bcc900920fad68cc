"""Lay out a table to fit the screen: numbers stay whole, names are shortened, and columns without room are left out.

Names are shortened in the middle, because cards differ at the ends of their names ("NVIDIA GeForce RTX 4070 Ti SUPER" and
"… 4070 Ti"). Widths are counted in cells of the terminal: a Korean letter takes two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

#: Cells between two columns.
GAP = 2
#: A name is never shortened below this width. The column is left out instead.
NAME_AT_LEAST = 16
#: The same for the name of a card, which needs more room as it says what the row is about.
CARD_AT_LEAST = 24
#: Columns that need more room: names that also differ in their middle ("Games with ray tracing, 1080p medium", "memory to
#: train with LoRA"), names that a person types again, and states, which stay whole.
_AT_LEAST = {"workload": 36, "workload_id": 40, "assumption": 40, "status": 24, "excluded": 16, "left_out_because": 16}
#: Columns whose texts are broken between words and never shortened.
_WRAPPED = ("quantity", "excluded", "left_out_because")
#: A text wider than this is a sentence. It is broken between words and not shortened.
SENTENCE = 44
#: A column of sentences is never narrower than this.
SENTENCE_AT_LEAST = 23
#: Columns with names of cards.
_CARDS = ("gpu", "what", "baseline_gpu")
#: Columns with names, which are shortened and never wrapped, however long they are.
_NAMES = (*_CARDS, "title", "url", "workload", "instance")
#: A figure in a column of texts. It is never shortened either.
_FIGURE = re.compile(r"[-+−]?\d[\d,.]*%?")
_FIGURE_PARTS = re.compile(r"[\d,.×]{2}")
_FIGURE_END, _FIGURE_START = re.compile(r"[\d,.×]+$"), re.compile(r"^[\d,.×]+")
#: Makers, which are left out of the names of cards on a narrow screen.
_MAKER = re.compile(r"\b(NVIDIA GeForce|NVIDIA|AMD Radeon|AMD|Intel|Apple) (?=\S)")


@dataclass(frozen=True, slots=True)
class Column:
    """One column as it is shown: the texts of its rows (`cells`), and its `width` in cells of the terminal."""

    name: str
    heading: str
    cells: tuple[str, ...]
    is_number: bool
    width: int = 0

    @property
    def natural(self) -> int:
        """The width at which only the heading may be wrapped, and nothing is shortened."""
        return max([_longest_word(self.heading), *map(cell_width, self.cells)])

    @property
    def is_sentence(self) -> bool:
        """Whether the column has sentences or lists of words: texts of several words that are longer than a name."""
        return (
            self.name not in _NAMES
            and not self.is_number
            and (self.natural > SENTENCE or self.name in _WRAPPED)
            and any(" " in text for text in self.cells)
        )

    @property
    def least(self) -> int:
        """The least width of the column. If it has less room, it is left out."""
        if self.is_number:
            return self.natural
        bound = SENTENCE_AT_LEAST if self.is_sentence else NAME_AT_LEAST
        bound = CARD_AT_LEAST if self.name in _CARDS else _AT_LEAST.get(self.name, bound)
        figures = max((cell_width(text) for text in self.cells if _FIGURE.fullmatch(text)), default=0)
        return max(_longest_word(self.heading), min(self.natural, bound), figures)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that fit, each with its width, and the headings of those that do not."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...]


def lay_out(columns: Sequence[Column], width: int, keep: Sequence[str] = ()) -> Layout:
    """Choose what fits into `width` cells.

    `keep` names columns, the most important first. Columns that it does not name follow in their own order. In this order
    each column is kept if it still fits. The first column is kept however narrow the screen is.
    """
    worth = [name for name in keep if any(column.name == name for column in columns)]
    worth += [column.name for column in columns if column.name not in worth]
    shown = list(columns)
    # Leaving out the makers of cards loses the least, so this is tried first.
    if any(has_maker(column) for column in shown) and _sum(column.least for column in shown) > width:
        shown = [without_maker(column) for column in shown]
    kept: list[Column] = []
    for column in sorted(shown, key=lambda column: worth.index(column.name)):
        # If a wide column does not fit, a narrower one behind it may still fit.
        if not kept or _sum(fitting.least for fitting in (*kept, column)) <= width:
            kept.append(column)
    shown = [column for column in shown if column in kept]
    if any(has_maker(column) for column in shown) and _sum(column.natural for column in shown) > width:
        shown = [without_maker(column) for column in shown]
    names = {column.name for column in shown}
    left_out = tuple(column.heading for column in columns if column.name not in names)
    return Layout(tuple(_share_out(shown, width)), left_out)


def _share_out(columns: Sequence[Column], width: int) -> list[Column]:
    """Give each column its least width, and the spare room of the screen first to names and then to sentences."""
    widths = {column.name: column.least for column in columns}
    spare = width - _sum(widths.values())
    for is_sentence in (False, True):
        growing = [column for column in columns if column.is_sentence is is_sentence and not column.is_number]
        # The narrowest column first, so that one long name does not take the room that would make three others whole.
        for count, column in enumerate(sorted(growing, key=lambda column: column.natural), 1):
            share = min(column.natural - widths[column.name], max(spare, 0) // (len(growing) - count + 1))
            widths[column.name] += share
            spare -= share
    for column in columns:  # and last to headings, which would otherwise be broken into lines
        more = min(max(cell_width(column.heading) - widths[column.name], 0), max(spare, 0))
        widths[column.name] += more
        spare -= more
    return [
        replace(
            column,
            width=widths[column.name],
            # Lines are broken here, because rich cuts off a letter of two cells at the end of a line that just fits.
            cells=tuple(
                (wrapped if column.is_sentence else shorten)(text, widths[column.name]) for text in column.cells
            ),
        )
        for column in columns
    ]


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` cells of the terminal, with "…" in the middle if a part is left out."""
    if cell_width(text) <= width:
        return text
    if width < 3:
        return "…"[:width]
    tail_width = (width - 1) // 2
    head = _take(text, width - 1 - tail_width)
    tail = _take(text[::-1], tail_width)[::-1]
    # A figure must not be cut, because its part would be another figure: 090 of `RTX 4090`, or 12 of `512×512`.
    before, after = (bool(_FIGURE_PARTS.fullmatch(text[at - 1 : at + 1])) for at in (len(head), len(text) - len(tail)))
    head = _FIGURE_END.sub("", head) if before else head
    tail = _FIGURE_START.sub("", tail) if after else tail
    return f"{head}…{tail}" if head else _take(text, width - 1) + "…"


def has_maker(column: Column) -> bool:
    """Whether the column has names of cards with their makers."""
    return column.name in _CARDS and any(_MAKER.search(text) for text in column.cells)


def without_maker(column: Column) -> Column:
    """The column with "2 × RTX 4090" in the place of "2 × NVIDIA GeForce RTX 4090"."""
    if not has_maker(column):
        return column
    return replace(column, cells=tuple(_MAKER.sub("", text) for text in column.cells))


def wrapped(text: str, width: int) -> str:
    """`text` in lines of at most `width` cells, broken between words. A word longer than a line is broken too."""
    lines: list[str] = []
    for word in _parts(text, width):
        if lines and cell_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _parts(text: str, width: int) -> Iterator[str]:
    """The words of a text, each in pieces that fit a line."""
    for word in text.split():
        tail = word
        while cell_width(tail) > width and (piece := _take(tail, width)):
            yield piece
            tail = tail[len(piece) :]
        yield tail


def _take(text: str, width: int) -> str:
    start = ""
    for letter in text:
        if cell_width(start + letter) > width:
            break
        start += letter
    return start


def _sum(widths: Iterable[int]) -> int:
    all_widths = list(widths)
    return sum(all_widths) + GAP * (len(all_widths) - 1)


def _longest_word(heading: str) -> int:
    return max((cell_width(word) for word in heading.split()), default=1)


def cell_width(text: str) -> int:
    """The number of cells of the terminal that `text` takes."""
    # Imported here, because an answer for a program draws no table and does not need it.
    from rich.cells import cell_len

    return cell_len(text)
