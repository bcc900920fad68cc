"""HTML tables as caption, header words and rows, whatever the markup around them is.

Benchmark publishers move columns, drop captions and leave out `thead`; only the table element and its words stay. So this
module reads a table into a rectangle of cell texts (row and column spans filled in), and the sources find columns by word.

pandas.read_html is not used: it costs a second of import and drops the caption, the heading above and the widgets' borders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import PageElement, Tag

# Future's editor writes these texts into cells that an author left empty; they count from 0.
_PLACEHOLDER = re.compile(r"(?:row \d+ - cell \d+|header cell - column \d+)", re.IGNORECASE)
# A script fills these after the page has loaded: their text in the static page is not content of the cell.
_WIDGETS = "script, style, template, noscript, aside, button, [data-widget-type], .hawk-placeholder"
_BLOCKS = frozenset({"br", "div", "li", "ol", "p", "td", "th", "tr", "ul"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# A table of the spans that HTML allows (1000 columns, 65534 rows) would fill the memory from one line of markup.
_MAX_SPAN = 100
#: The most cells of one table, with spans filled in: 2,000 rows of 100 columns. 70 KB of spans make twenty million.
MAX_CELLS = 200_000

Row: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a page. Every row is as long as `header`; an empty or placeholder cell is the empty text.

    `caption` is the caption of the table (or of its figure), `heading` the nearest heading before it; both as printed, or
    empty. `position` counts the page's own tables from 0. `header` joins the rows of a header of several rows by a space.
    """

    position: int
    caption: str
    heading: str
    header: Row
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """What the page calls this table: its caption or, if it has none, the heading above it."""
        return self.caption or self.heading

    def find(self, pattern: re.Pattern[str]) -> int | None:
        """The index of the first column whose header matches `pattern`; None if there is no such column."""
        return next((i for i, cell in enumerate(self.header) if pattern.search(cell)), None)


class TableTooLarge(ValueError):
    """The table is larger than any that is meant to be read."""


def read_tables(page: BeautifulSoup) -> Iterator[Table]:
    """Every table with a header and at least one row, in the order of the page. A table inside a table counts as its own."""
    widgets = {id(widget) for widget in page.select(_WIDGETS)}
    tables = (table for table in page.find_all("table") if not any(id(parent) in widgets for parent in table.parents))
    for position, element in enumerate(tables):
        elements = [row for row in element.find_all("tr") if row.find_parent("table") is element]
        caption = _caption(element)
        while len(elements) > 1 and _is_banner(elements[0]):
            # A title over the whole width is not part of any column's name.
            caption = caption or cell_text(elements[0])
            elements = elements[1:]
        heads = sum(1 for _ in takewhile(_is_header, elements)) or 1
        grid = _grid(elements)
        if not any(any(row) for row in grid[:heads]):
            # The header has only placeholders: its words stand in the first row below it, as in a table without thead.
            grid, heads = grid[heads:], 1
        if len(grid) > heads:
            if not grid[0]:
                continue  # rows without a single cell
            header = tuple(clean(" ".join(dict.fromkeys(column))) for column in zip(*grid[:heads], strict=True))
            # Long tables repeat their header among the rows.
            rows = tuple(row for row in grid[heads:] if any(row) and row != grid[heads - 1])
            yield Table(position, caption, _heading(element), header, rows)


def cell_text(element: Tag) -> str:
    """The words of an element on one line, without widgets and placeholders."""
    skipped = {id(widget) for widget in element.select(_WIDGETS)}
    text = clean("".join(_text_pieces(element, skipped)))
    return "" if _PLACEHOLDER.fullmatch(text) else text


def clean(text: str) -> str:
    """The text on one line with single spaces. No-break spaces become spaces, zero-width spaces disappear."""
    return " ".join(text.replace("\u200b", "").replace("\ufeff", "").split())


def _text_pieces(element: Tag, skipped: set[int]) -> Iterator[str]:
    from bs4.element import Comment, NavigableString, Tag

    child: PageElement
    for child in element.children:
        if isinstance(child, Tag):
            if id(child) in skipped or child.name == "table":
                continue
            # Inline elements join without a space: `<b>1</b>,599` is one number.
            gap = " " if child.name in _BLOCKS else ""
            yield gap
            yield from _text_pieces(child, skipped)
            yield gap
        elif isinstance(child, NavigableString) and not isinstance(child, Comment):
            yield str(child)


def _grid(elements: list[Tag]) -> list[Row]:
    """The texts of the rows as a rectangle: a cell that spans rows or columns stands in each of its places."""
    places: dict[tuple[int, int], str] = {}
    for r, element in enumerate(elements):
        c = 0
        banner = _is_banner(element)
        for cell in _cells(element):
            while (r, c) in places:
                c += 1
            text = cell_text(cell)
            wide, high = _span(cell, "colspan"), min(_span(cell, "rowspan"), len(elements) - r)
            if len(places) + wide * high > MAX_CELLS:
                raise TableTooLarge(f"a table has more than {MAX_CELLS:,} cells, row and column spans filled in")
            for dc in range(wide):
                for dr in range(high):
                    # A title between the rows names a group, not a value of every column.
                    places[r + dr, c + dc] = "" if banner and dc else text
            c += wide
    width = max((c for _, c in places), default=-1) + 1
    if width * len(elements) > MAX_CELLS:
        raise TableTooLarge(f"a table of {len(elements)} rows and {width} columns is beyond {MAX_CELLS:,} cells")
    return [tuple(places.get((r, c), "") for c in range(width)) for r in range(len(elements))]


def _cells(row: Tag) -> list[Tag]:
    return row.find_all(["td", "th"], recursive=False)


def _span(cell: Tag, name: str) -> int:
    text = str(cell.get(name, "1")).strip()
    return min(max(int(text), 1), _MAX_SPAN) if text.isascii() and text.isdigit() else 1


def _is_header(row: Tag) -> bool:
    cells = _cells(row)
    return row.find_parent("thead") is not None or (bool(cells) and all(cell.name == "th" for cell in cells))


def _is_banner(row: Tag) -> bool:
    cells = _cells(row)
    return len(cells) == 1 and _span(cells[0], "colspan") > 1


def _caption(table: Tag) -> str:
    caption = table.find("caption")
    if caption is not None and caption.find_parent("table") is table:
        return cell_text(caption)
    figure = table.find_parent("figure")
    caption = figure.find("figcaption") if figure is not None else None
    return cell_text(caption) if caption is not None else ""


def _heading(table: Tag) -> str:
    heading = table.find_previous(_HEADINGS)
    return cell_text(heading) if heading is not None else ""
