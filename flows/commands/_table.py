"""A table that fits the screen: numbers whole, names shortened in the middle, and what does not fit named below it.

Shortening in the middle keeps both ends of a name, where cards differ ("NVIDIA GeForce RTX 4070 Ti SUPER" and "… 4070 Ti").
Widths are counted in cells of the terminal: a Korean letter takes two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

#: Between two columns.
GAP = 2
#: A name is never shortened below this; the column goes instead.
NAME_AT_LEAST = 16
#: A card's name is what the row is about.
CARD_AT_LEAST = 24
#: Names that differ in their middle too: "Games with ray tracing, 1080p medium", "memory to train with LoRA".
#: A name that is typed again stands whole, and so does a state.
_AT_LEAST = {"workload": 36, "workload_id": 40, "assumption": 40, "status": 24, "excluded": 16, "left_out_because": 16}
#: Names that are broken between words and never shortened.
_WRAPPED = ("quantity", "excluded", "left_out_because")
#: From this width on a text is a sentence, which is wrapped at its words instead of shortened.
SENTENCE = 44
#: A sentence column never gets narrower than this.
SENTENCE_AT_LEAST = 23
#: Columns in which cards stand.
_CARDS = ("gpu", "what", "baseline_gpu")
#: Columns of names, which are shortened however long they are.
_NAMES = (*_CARDS, "title", "url", "workload", "instance")
#: A figure in a column of texts, which is never shortened either.
_FIGURE = re.compile(r"[-+−]?\d[\d,.]*%?")
_FIGURE_PARTS = re.compile(r"[\d,.×]{2}")
_FIGURE_END, _FIGURE_START = re.compile(r"[\d,.×]+$"), re.compile(r"^[\d,.×]+")
#: Makers, which a name of a card can do without where the screen is narrow.
_MAKER = re.compile(r"\b(NVIDIA GeForce|NVIDIA|AMD Radeon|AMD|Intel|Apple) (?=\S)")


@dataclass(frozen=True, slots=True)
class Column:
    """One column as it is to be shown: what stands in the cells, and how many cells of the terminal it gets."""

    name: str
    heading: str
    cells: tuple[str, ...]
    is_number: bool
    width: int = 0

    @property
    def natural(self) -> int:
        """Width at which nothing is shortened or wrapped but the heading."""
        return max([_longest_word(self.heading), *map(cell_width, self.cells)])

    @property
    def is_sentence(self) -> bool:
        """It holds sentences, or lists of words: several words, and longer than a name is."""
        return (
            self.name not in _NAMES
            and not self.is_number
            and (self.natural > SENTENCE or self.name in _WRAPPED)
            and any(" " in text for text in self.cells)
        )

    @property
    def least(self) -> int:
        """Width below which the column goes rather than be split."""
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

    `keep` names columns in the order of their worth; those that it does not name come behind, in their own order. Each gets
    its room in that order where it still fits. The first stays however narrow the screen is.
    """
    worth = [name for name in keep if any(column.name == name for column in columns)]
    worth += [column.name for column in columns if column.name not in worth]
    shown = list(columns)
    # Without its maker a card may just fit: the cheapest loss comes first.
    if any(has_maker(column) for column in shown) and _sum(column.least for column in shown) > width:
        shown = [without_maker(column) for column in shown]
    kept: list[Column] = []
    for column in sorted(shown, key=lambda column: worth.index(column.name)):
        # A wide column that does not fit leaves its room to those behind it.
        if not kept or _sum(one.least for one in (*kept, column)) <= width:
            kept.append(column)
    shown = [column for column in shown if column in kept]
    if any(has_maker(column) for column in shown) and _sum(column.natural for column in shown) > width:
        shown = [without_maker(column) for column in shown]
    names = {column.name for column in shown}
    left_out = tuple(column.heading for column in columns if column.name not in names)
    return Layout(tuple(_share_out(shown, width)), left_out)


def _share_out(columns: Sequence[Column], width: int) -> list[Column]:
    """Each column at its least width, and what is left of the screen to names first and then to sentences."""
    widths = {column.name: column.least for column in columns}
    spare = width - _sum(widths.values())
    for is_sentence in (False, True):
        wanting = [column for column in columns if column.is_sentence is is_sentence and not column.is_number]
        # The smallest want first, so that one long name does not take what would make three others whole.
        for count, column in enumerate(sorted(wanting, key=lambda one: one.natural), 1):
            share = min(column.natural - widths[column.name], max(spare, 0) // (len(wanting) - count + 1))
            widths[column.name] += share
            spare -= share
    for column in columns:  # and then to headings, which are else broken into lines
        more = min(max(cell_width(column.heading) - widths[column.name], 0), max(spare, 0))
        widths[column.name] += more
        spare -= more
    return [
        replace(
            column,
            width=widths[column.name],
            # Broken here: rich cuts a letter of two cells off a line that it just fits.
            cells=tuple(
                (wrapped if column.is_sentence else shorten)(text, widths[column.name]) for text in column.cells
            ),
        )
        for column in columns
    ]


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` cells of the terminal, with "…" in its middle where something is left out."""
    if cell_width(text) <= width:
        return text
    if width < 3:
        return "…"[:width]
    tail_width = (width - 1) // 2
    head = _take(text, width - 1 - tail_width)
    tail = _take(text[::-1], tail_width)[::-1]
    # A part of a figure would be another figure: `RTX 4090` is no 090, and 512×512 no 12.
    before, after = (bool(_FIGURE_PARTS.fullmatch(text[at - 1 : at + 1])) for at in (len(head), len(text) - len(tail)))
    head = _FIGURE_END.sub("", head) if before else head
    tail = _FIGURE_START.sub("", tail) if after else tail
    return f"{head}…{tail}" if head else _take(text, width - 1) + "…"


def has_maker(column: Column) -> bool:
    """Whether cards stand in the column with their maker."""
    return column.name in _CARDS and any(_MAKER.search(text) for text in column.cells)


def without_maker(column: Column) -> Column:
    """The column with "2 × RTX 4090" for "2 × NVIDIA GeForce RTX 4090"."""
    if not has_maker(column):
        return column
    return replace(column, cells=tuple(_MAKER.sub("", text) for text in column.cells))


def wrapped(text: str, width: int) -> str:
    """`text` in lines of at most `width` cells, broken between words; a longer word is broken where the line ends."""
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
        rest = word
        while cell_width(rest) > width and (piece := _take(rest, width)):
            yield piece
            rest = rest[len(piece) :]
        yield rest


def _take(text: str, width: int) -> str:
    taken = ""
    for letter in text:
        if cell_width(taken + letter) > width:
            break
        taken += letter
    return taken


def _sum(widths: Iterable[int]) -> int:
    counted = list(widths)
    return sum(counted) + GAP * (len(counted) - 1)


def _longest_word(heading: str) -> int:
    return max((cell_width(word) for word in heading.split()), default=1)


def cell_width(text: str) -> int:
    """Cells of the terminal that `text` takes."""
    # Imported here: an answer for a program draws no table.
    from rich.cells import cell_len

    return cell_len(text)
