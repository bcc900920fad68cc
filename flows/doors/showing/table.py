"""Lay out a table to fit the screen: numbers stay whole, names are shortened, and columns without room are left out.

Names are shortened in the middle, because cards differ at the ends of their names ("NVIDIA GeForce RTX 4070 Ti SUPER" and
"… 4070 Ti"). Widths are counted in cells of the terminal: a Korean letter takes two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gpuledger.warehouse.outputs.answer import UNIMPORTANT, ShownAs

#: Cells between two columns.
GAP = 2
#: A name is never shortened below this width. The column is left out instead.
NAME_AT_LEAST = 16
#: The same for the name of a card, which needs more room as it says what the row is about.
CARD_AT_LEAST = 24
#: A text wider than this is a sentence. It is broken between words and not shortened.
SENTENCE = 44
#: A column of sentences is never narrower than this.
SENTENCE_AT_LEAST = 23
#: How columns are declared whose texts are broken between words, however short, and whose texts never are, however long.
_WRAPPED: tuple[ShownAs, ...] = ("prose", "reasons")
_NAMES: tuple[ShownAs, ...] = ("name", "card", "title")
#: A figure in a column of texts. It is never shortened either.
_FIGURE = re.compile(r"[-+−]?\d[\d,.]*%?")
_FIGURE_PARTS = re.compile(r"[\d,.×]{2}")
_FIGURE_END, _FIGURE_START = re.compile(r"[\d,.×]+$"), re.compile(r"^[\d,.×]+")
#: Makers, which are left out of the names of cards on a narrow screen.
_MAKER = re.compile(r"\b(NVIDIA GeForce|NVIDIA|AMD Radeon|AMD|Intel|Apple) (?=\S)")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A column as it is drawn: the texts of its rows (`cells`), and its `width` in cells of the terminal.

    `shown_as`, `weight` and `at_least` are as the column of the answer declares them. `styles` has the style of each cell.
    """

    heading: str
    cells: tuple[str, ...]
    is_number: bool
    shown_as: ShownAs = "text"
    weight: int = UNIMPORTANT
    at_least: int = 0
    styles: tuple[str, ...] = ()
    width: int = 0

    @property
    def natural(self) -> int:
        """The width at which only the heading may be wrapped, and nothing is shortened."""
        return max([_longest_word(self.heading), *map(cell_width, self.cells)])

    @property
    def is_sentence(self) -> bool:
        """Whether the column has sentences or lists of words: texts of several words that are longer than a name."""
        return (
            self.shown_as not in _NAMES
            and not self.is_number
            and (self.natural > SENTENCE or self.shown_as in _WRAPPED)
            and any(" " in text for text in self.cells)
        )

    @property
    def least(self) -> int:
        """The least width of the column. If it has less room, it is left out."""
        if self.is_number:
            return self.natural
        bound = SENTENCE_AT_LEAST if self.is_sentence else NAME_AT_LEAST
        bound = self.at_least or (CARD_AT_LEAST if self.shown_as == "card" else bound)
        figures = max((cell_width(text) for text in self.cells if _FIGURE.fullmatch(text)), default=0)
        return max(_longest_word(self.heading), min(self.natural, bound), figures)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that fit, each with its width, and the headings of those that do not."""

    columns: tuple[Drawn, ...]
    left_out: tuple[str, ...]


def lay_out(columns: Sequence[Drawn], width: int) -> Layout:
    """Choose what fits into `width` cells.

    In the order of their weights, each column is kept if it still fits. The first is kept however narrow the screen is.
    """
    shown = dict(enumerate(columns))
    # Leaving out the makers of cards loses the least, so this is tried first.
    if any(has_maker(column) for column in shown.values()) and _sum(one.least for one in shown.values()) > width:
        shown = {place: without_maker(column) for place, column in shown.items()}
    kept: list[int] = []
    for place in sorted(shown, key=lambda place: shown[place].weight):
        # If a wide column does not fit, a narrower one behind it may still fit.
        if not kept or _sum(shown[fitting].least for fitting in (*kept, place)) <= width:
            kept.append(place)
    shown = {place: column for place, column in shown.items() if place in kept}
    if any(has_maker(column) for column in shown.values()) and _sum(one.natural for one in shown.values()) > width:
        shown = {place: without_maker(column) for place, column in shown.items()}
    left_out = tuple(column.heading for place, column in enumerate(columns) if place not in kept)
    return Layout(_share_out(shown, width), left_out)


def _share_out(columns: Mapping[int, Drawn], width: int) -> tuple[Drawn, ...]:
    """Give each column its least width, and the spare room of the screen first to names and then to sentences."""
    widths = {place: column.least for place, column in columns.items()}
    spare = width - _sum(widths.values())
    for is_sentence in (False, True):
        growing = [p for p, column in columns.items() if column.is_sentence is is_sentence and not column.is_number]
        # The narrowest column first, so that one long name does not take the room that would make three others whole.
        for count, place in enumerate(sorted(growing, key=lambda place: columns[place].natural), 1):
            share = min(columns[place].natural - widths[place], max(spare, 0) // (len(growing) - count + 1))
            widths[place] += share
            spare -= share
    for place, column in columns.items():  # and last to headings, which would otherwise be broken into lines
        more = min(max(cell_width(column.heading) - widths[place], 0), max(spare, 0))
        widths[place] += more
        spare -= more
    return tuple(
        replace(
            column,
            width=widths[place],
            # Lines are broken here, because rich cuts off a letter of two cells at the end of a line that just fits.
            cells=tuple((wrapped if column.is_sentence else shorten)(text, widths[place]) for text in column.cells),
        )
        for place, column in columns.items()
    )


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


def has_maker(column: Drawn) -> bool:
    """Whether the column has names of cards with their makers."""
    return column.shown_as == "card" and any(_MAKER.search(text) for text in column.cells)


def without_maker(column: Drawn) -> Drawn:
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
