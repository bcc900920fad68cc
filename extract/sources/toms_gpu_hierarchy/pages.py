"""Parser of the GPU benchmarks hierarchy.

Over the years the tables have moved their columns, dropped their captions and changed their names, so the parser knows every
column by the words of its header: a resolution makes a score column, and `Lowest Price` or `MSRP` makes a price column. A
column that fits no rule becomes an issue and is not guessed. A table that lists no cards with figures (the legacy tiers) is
passed over.

A later part of the split article shows the test suite of earlier years. Its frame rates cannot be compared with those of the
first part, so its scores have no workload; their caption and column, as printed, say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup.tables import Row, Table, read_tables
from gpuledger.extract.readers.toms import article, index_price, month_of, next_page, page_number, split_name
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Issue, Parsed, Score

_CARD = re.compile(r"\b(?:graphics|video) cards?\b", re.IGNORECASE)
_CARD_LOOSE = re.compile(r"^(?:gpus?|cards?|models?|products?|product name)\b", re.IGNORECASE)
_SPECS = re.compile(r"\bspec(?:ification)?s?\b", re.IGNORECASE)
# Older pages spread the specification over several columns. `GPU` is the chip if another column has the card's name.
_SPEC_PARTS = re.compile(
    r"^(?:gpu|architecture|base|boost|clocks?|memory|vram|shaders|(?:board )?power|tdp|bus|bandwidth)\b", re.IGNORECASE
)
_PRICE = re.compile(r"\bprices?\b|\bmsrp\b|\bcost\b", re.IGNORECASE)
_USED = re.compile(r"\bused\b|\bebay\b|\bsecond[- ]hand\b", re.IGNORECASE)
# Columns without figures of the card: a shop's button, ranks, changes.
_IGNORED = re.compile(r"^(?:buy|links?|review|rank|#|where to buy)\b|\bchange\b|\bdiscount\b", re.IGNORECASE)
# Quotients of other columns. A table of quotients prints bare numbers under the same resolutions.
_QUOTIENT = re.compile(r"/\s*\$|\bper (?:dollar|watt|frame|fps)\b|\bvalue\b", re.IGNORECASE)

_RESOLUTION = re.compile(
    r"\b(?:(1080p|1440p|4k|2160p)|1920\s?[x×]\s?1080|2560\s?[x×]\s?1440|3840\s?[x×]\s?2160)\b", re.IGNORECASE
)
_PRESET = re.compile(r"\b(low|medium|high|ultra)\b", re.IGNORECASE)
#: The settings that the hierarchy of any year measures, each with and without ray tracing.
_WORKLOADS = frozenset(("gaming-1080p-medium", "gaming-1080p-ultra", "gaming-1440p-ultra", "gaming-4k-ultra"))
_RAY_TRACING = re.compile(r"\bray[- ]?trac|\bDXR\b|\bRT\b", re.IGNORECASE)
_EARLIER_SUITE = re.compile(
    r"\b(?:legacy|older|old|previous) (?:gpu )?(?:test|suite|benchmark|hierarchy)", re.IGNORECASE
)
_FPS = re.compile(r"\bfps\b|\bframes per second\b", re.IGNORECASE)

_NUMBER = r"[0-9]{1,6}(?:\.[0-9]+)?"
_UNIT = r"fps|it/s|tokens/s|images/min(?:ute)?|samples/min(?:ute)?"
_FIGURES = re.compile(
    rf"(?:(?P<percent>{_NUMBER})\s*%)?\s*(?:\(?\s*(?P<score>{_NUMBER})\s*(?P<unit>{_UNIT})?\s*\)?)?", re.IGNORECASE
)
_NO_FIGURE = re.compile(r"[-–—]*|n/?a|tbd|\?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The positions of one table's columns, by what their headers say."""

    name: int
    scores: tuple[int, ...]
    prices: tuple[int, ...]
    specs: tuple[int, ...]
    unknown: tuple[int, ...]


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the Score and IndexPrice items of every table of cards, and the link to the next part of the article.

    Raises LayoutChanged if the first part has no table with a column of graphics cards and figures.
    """
    tree = article(page)
    table_count = 0
    for table in read_tables(tree):
        columns = _columns(table)
        if columns is None:
            yield Issue(
                code="table_skipped",
                message=f"the table {table.title!r} lists no graphics cards with figures",
                severity="info",
                where=f"table {table.position}",
                text=" | ".join(table.header),
                url=page.url,
            )
            continue
        table_count += 1
        yield from _table(table, columns, page)
    if not table_count:
        if page_number(page.final_url) == 1:
            raise LayoutChanged(page.url, "no table with a graphics-card column and scores or prices")
        # The last parts of a split article may be prose and charts only.
        yield Issue(code="no_table", message="this part of the article has no table of graphics cards", url=page.url)
    yield from next_page(tree, page.final_url)


def _columns(table: Table) -> _Columns | None:
    column = table.find(_CARD)
    # A first column without a name holds the cards' names.
    name = column if column is not None else 0 if not table.header[0] else table.find(_CARD_LOOSE)
    if name is None:
        return None
    scores, prices, specs, unknown = [], [], [], []
    for i, header in enumerate(table.header):
        if i == name or _IGNORED.search(header) or _QUOTIENT.search(header):
            continue
        if _SPECS.search(header) or _SPEC_PARTS.search(header):
            specs.append(i)
        elif _PRICE.search(header):
            prices.append(i)
        elif _RESOLUTION.search(header) or _holds_percentages(table, i):
            if not _QUOTIENT.search(table.title):
                scores.append(i)
        elif any(row[i] and row[i] != row[name] for row in table.rows):
            unknown.append(i)
    if not scores and not prices:
        return None
    return _Columns(name, tuple(scores), tuple(prices), tuple(specs), tuple(unknown))


def _holds_percentages(table: Table, column: int) -> bool:
    """Return whether most cells of a column without a resolution (`Score`, a program's name) are figures such as `97.3%`."""
    cells = [row[column] for row in table.rows if row[column]]
    return bool(cells) and 2 * sum("%" in cell and bool(_FIGURES.fullmatch(cell)) for cell in cells) > len(cells)


def _table(table: Table, columns: _Columns, page: Page) -> Iterator[Parsed]:
    for column in columns.unknown:
        yield Issue(
            code="column_ignored",
            message=f"the column {table.header[column]!r} of {table.title!r} is of no known kind",
            severity="info",
            where=f"table {table.position}, column {column}",
            url=page.url,
        )
    for row in table.rows:
        name, price_in_name = split_name(row[columns.name])
        if not name:
            continue
        specs = ", ".join(row[i] for i in columns.specs if row[i]) or None
        if price_in_name is not None:
            yield from _price(table, columns.name, price_in_name, name, page)
        for column in columns.prices:
            yield from _price(table, column, row[column], name, page)
        for column in columns.scores:
            yield from _score(table, column, row, _Card(name, specs), page)


def _price(table: Table, column: int, text: str, name: str, page: Page) -> Iterator[Parsed]:
    condition: Condition = "used" if _USED.search(table.header[column]) else "new"
    yield from index_price(table, column, name, text, page, condition=condition, period=month_of(table.title))


class _Card(NamedTuple):
    """The card of a row, and the specification that the row gives."""

    name: str
    specs: str | None


def _score(table: Table, column: int, row: Row, card: _Card, page: Page) -> Iterator[Parsed]:
    text, header = row[column], table.header[column]
    if _NO_FIGURE.fullmatch(text):
        return
    figures = _FIGURES.fullmatch(text)
    percent, score, unit = figures.group("percent", "score", "unit") if figures else (None, None, None)
    if score is not None and unit is None and _RESOLUTION.search(header):
        if percent is not None or _FPS.search(f"{table.title} {header}"):
            # Later pages print `99.0% (195.6)`: the number beside the percentage is the frame rate.
            unit = "fps"
        elif "%" in header:
            percent, score = score, None
    if percent is None and (score is None or unit is None):
        where = f"{table.title!r}, {header!r}, {card.name}"
        message = f"{where}: {text!r} is no percentage and no figure with a unit"
        yield Issue(code="unreadable_score", message=message, where=where, text=text, url=page.url)
        return
    yield Score(
        gpu_name=card.name,
        table=table.title,
        column=header,
        workload_id=_workload(table, header, page),
        score=Decimal(score) if score is not None and unit is not None else None,
        unit=unit.lower() if score is not None and unit is not None else None,
        relative_percent=Decimal(percent) if percent is not None else None,
        article_url=page.url,
        specs=card.specs,
    )


def _workload(table: Table, header: str, page: Page) -> str | None:
    """Return `gaming-1440p-ultra`, with `-rt` for ray tracing; None if resolution, preset or test suite is not certain."""
    heading = f"{table.title} {header}"
    resolution, preset = _RESOLUTION.search(header), _PRESET.search(header)
    if not resolution or not preset or page_number(page.final_url) > 1 or _EARLIER_SUITE.search(heading):
        return None
    size = resolution[0].lower()
    lines = "1080p" if "1080" in size else "1440p" if "1440" in size else "4k"
    workload = f"gaming-{lines}-{preset[1].lower()}"
    if workload not in _WORKLOADS:
        return None
    return f"{workload}-rt" if _RAY_TRACING.search(heading) else workload
