"""Parser of tables of results.

A cell of several cards (`2x RTX 3090`, `RTX 3090 * 2`) makes the row's figure one of several cards. A card with two
different figures yields an issue and no score: the address must say which figure is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from urllib.parse import urldefrag

from gpuledger.errors import LayoutChanged
from gpuledger.extract.fetch import addresses
from gpuledger.extract.markup import markdown
from gpuledger.extract.markup.html import soup
from gpuledger.extract.markup.tables import Table, TableTooLarge, read_tables
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Parsed, Score

_KEYS = frozenset(("workload", "score", "table", "card", "rows", "unit", "published", "software", "precision"))
_CARD = re.compile(
    r"\b(?:gpus?|graphics cards?|cards?|accelerators?|devices?|chips?|systems?|hardware)\b", re.IGNORECASE
)
#: `111.74`, `13,761.87 ± 28.44`, `19.90 Tokens/s`.
_FIGURE = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*(?:(?:±|\+/-)\s*[\d.,]+)?\s*(?P<unit>[A-Za-z][\w/. ]*)?"
)
#: Cells that stand for no figure.
_NONE = re.compile(r"[-–—?]*|n/?a|oom|tbd|out of memory|(?:did not|does not|doesn't) (?:run|fit)", re.IGNORECASE)
_UNITS = {
    "t/s": "tokens/s", "tok/s": "tokens/s", "token/s": "tokens/s", "tokens/s": "tokens/s", "tps": "tokens/s",
    "toks/s": "tokens/s", "tokens/sec": "tokens/s", "tokens per second": "tokens/s", "tokens/second": "tokens/s",
    "it/s": "it/s", "its/s": "it/s", "iterations/s": "it/s", "fps": "fps", "images/s": "images/s", "img/s": "images/s",
}  # fmt: skip
_SEVERAL_BEFORE = re.compile(r"^(\d{1,3})\s*[x×*]\s*(?=\S)", re.IGNORECASE)
_SEVERAL_BEHIND = re.compile(r"\s*(?:[*×]|\bx(?=\s*\d))\s*(\d{1,3})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Request:
    """The part of an address behind its `#`: which table to read, and how."""

    workload: str
    score: str
    table: str
    card: str
    rows: tuple[str, str] | None
    unit: str | None
    published: date | None
    software: str | None
    precision: str | None


def parse(page: Page) -> Iterator[Parsed]:
    """Yield one Score for each row of the table that the address means.

    Raises LayoutChanged if the address means no table or several, or if no row of the table can be read.
    """
    fields = addresses.said_behind(page.url)
    if unknown := sorted(fields.keys() - _KEYS):
        raise _changed(page, f"{', '.join(unknown)} means nothing in its address; known are {', '.join(sorted(_KEYS))}")
    if missing := [key for key in ("workload", "score") if not fields.get(key)]:
        raise _changed(page, f"its address does not say {' and '.join(missing)}")
    column, colon, cell = fields.get("rows", "").partition(":")
    if "rows" in fields and not (colon and column and cell):
        raise _changed(page, f"rows={fields['rows']} is no column and words such as rows=FA:1")
    request = _Request(
        workload=fields["workload"], score=fields["score"], table=fields.get("table", ""), card=fields.get("card", ""),
        rows=(column, cell) if colon else None, unit=fields.get("unit"), published=_day(page, fields),
        software=fields.get("software"), precision=fields.get("precision"),
    )  # fmt: skip
    table, card, score = _table_and_columns(page, request)
    scores: dict[str, list[Score]] = {}
    for number, row in enumerate(table.rows, start=1):
        if request.rows is not None and not _holds(row[_column(page, table, request.rows[0])], request.rows[1]):
            continue
        where = f"row {number} of {table.title!r}"
        name, text = row[card], row[score]
        if not name or _NONE.fullmatch(text):
            continue
        figure = _figure(text, table.header[score], request)
        if figure is None:
            message = f"{where}: {text!r} is no figure with a unit; give unit= in the address where the page says none"
            yield Issue(code="unreadable_score", message=message, where=where, text=text, url=page.url)
            continue
        row_score = _score(page, request, (name, *figure), (table, score))
        scores.setdefault(f"{row_score.gpu_name.casefold()} {row_score.gpu_count}", []).append(row_score)
    if not scores:
        raise _changed(page, f"no row of {table.title!r} has a figure in {table.header[score]!r}")
    for same in scores.values():
        if len(same) > 1 and len({item.score for item in same}) > 1:
            figures = ", ".join(f"{item.score}" for item in same)
            message = (
                f"{same[0].gpu_name} has {len(same)} figures ({figures}): say which is meant with rows= in the address"
            )
            yield Issue(code="several_figures", message=message, where=table.title, url=page.url)
        else:
            yield same[0]


def _day(page: Page, fields: Mapping[str, str]) -> date | None:
    if "published" not in fields:
        return None
    try:
        return date.fromisoformat(fields["published"])
    except ValueError:
        raise _changed(page, f"published={fields['published']} is no day such as 2026-03-01") from None


def _table_and_columns(page: Page, request: _Request) -> tuple[Table, int, int]:
    """Return the one table that the address means, with the positions of its columns of cards and figures."""
    matches = []
    tables = list(_tables(page))
    for table in tables:
        score = next((at for at, header in enumerate(table.header) if _holds(header, request.score)), None)
        if score is None or (request.table and not _holds(table.title, request.table)):
            continue
        others = (at for at, header in enumerate(table.header) if at != score)
        card = next((at for at in others if _is_of_cards(table.header[at], request)), None)
        if card is not None:
            matches.append((table, card, score))
    if len(matches) != 1:
        titles = "; ".join(f"{table.title!r} ({', '.join(table.header)})" for table in tables[:8]) or "none"
        count = "no table" if not matches else f"{len(matches)} tables"
        raise _changed(page, f"{count} with a column {request.score!r} and one of cards; its tables are {titles}")
    return matches[0]


def _is_of_cards(header: str, request: _Request) -> bool:
    return _holds(header, request.card) if request.card else _CARD.search(header) is not None


def _tables(page: Page) -> Iterable[Table]:
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind in ("text/html", "application/xhtml+xml"):
            return list(read_tables(soup(page.content, page.headers.get("content-type"))))
        return list(markdown.read_tables(page.content.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise _changed(page, f"it is neither a page nor a text in UTF-8: {error.reason}") from error
    except TableTooLarge as error:
        raise _changed(page, str(error)) from error


def _column(page: Page, table: Table, words: str) -> int:
    position = next((at for at, header in enumerate(table.header) if _holds(header, words)), None)
    if position is None:
        raise _changed(page, f"{table.title!r} has no column {words!r}; it has {', '.join(table.header)}")
    return position


def _holds(text: str, words: str) -> bool:
    """Return whether the text contains the words as whole words: `FA 1` is not in `FA 10`."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


def _figure(text: str, header: str, request: _Request) -> tuple[Decimal, str] | None:
    """Return the number and its unit, from the cell, the header or the address; None if either is missing."""
    match = _FIGURE.fullmatch(text)
    if match is None:
        return None
    own = (match["unit"] or "").strip().casefold()
    if own and own not in _UNITS:
        return None
    in_header = next((unit for words, unit in _UNITS.items() if _holds(header, words)), None)
    unit = _UNITS.get(own) or in_header or request.unit
    return (Decimal(match["number"].replace(",", "")), unit) if unit else None


def _score(page: Page, request: _Request, figure: tuple[str, Decimal, str], place: tuple[Table, int]) -> Score:
    name, number, unit = figure
    table, column = place
    name, count = _cards(name)
    return Score(
        gpu_name=name, table=table.title, column=table.header[column], workload_id=request.workload, score=number, unit=unit,
        published_on=request.published, article_url=urldefrag(page.url).url, gpu_count=count, software=request.software,
        precision=request.precision,
    )  # fmt: skip


def _cards(name: str) -> tuple[str, int]:
    """Return a card's name and how many of that card a cell means."""
    for pattern in (_SEVERAL_BEFORE, _SEVERAL_BEHIND):
        if match := pattern.search(name):
            return pattern.sub("", name).strip(), int(match[1])
    return name, 1


def _changed(page: Page, why: str) -> LayoutChanged:
    return LayoutChanged(page.url, why, "correct the setting result_tables, or take the address out")
