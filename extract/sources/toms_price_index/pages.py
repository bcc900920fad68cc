"""Parser of the monthly price index.

The headers of the tables changed 17 times in 25 months, so the parser recognises a column by its words. `Avg eBay Price` and
`Sept eBay Price` are used prices of the page's month, or of the month that they name. `Last Price` is the used price of the
month before. `Retail Price`, `MSRP` and `Lowest Price` are prices of new cards. The parser does not read quotients, changes
and turnover, which only repeat figures of other columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup.tables import Row, Table, cell_text, read_tables
from gpuledger.extract.readers.toms import (
    MONTH_WORD,
    article,
    index_price,
    month_number,
    month_of,
    next_page,
    page_number,
    page_titles,
    split_name,
)
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Issue, Parsed

_NAME = re.compile(r"^(?:gpus?|(?:graphics |video )?cards?|models?|products?)\b", re.IGNORECASE)
_QUANTITY = re.compile(r"\bqty\b|\bquantity\b|(?:\bunits?|\bnumber|#) sold\b|^sold$", re.IGNORECASE)
_NO_PRICE = re.compile(
    r"\bgross\b|\bchange\b|\bdiff|\bdelta\b|\bdrop\b|\bdiscount\b|\bsavings?\b|\bfps\b|\bper\b|/\s*\$|%|\bpercent",
    re.IGNORECASE,
)
_LAST = re.compile(r"\b(?:last|previous|prior)\b", re.IGNORECASE)
_NEW = re.compile(
    r"\bretail\b|\bmsrp\b|\bnew\b|\blowest\b|\bnewegg\b|\bamazon\b|\bbest buy\b|\blaunch\b", re.IGNORECASE
)
_USED = re.compile(r"\bebay\b|\bused\b|\bsecond[- ]hand\b", re.IGNORECASE)
_PRICE = re.compile(r"\bprices?\b|\bmsrp\b|\bcost\b", re.IGNORECASE)
#: A launch price belongs to no month of the index.
_TIMELESS = re.compile(r"\bmsrp\b|\blaunch\b", re.IGNORECASE)
_NOTHING = re.compile(r"[-–—]*|n/?a|none|sold out", re.IGNORECASE)


class _PriceColumn(NamedTuple):
    column: int
    condition: Condition
    period: str | None
    #: Whether the quantity sold belongs to this price. It belongs only to the used price of the page's month.
    is_sold: bool


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the IndexPrice items of every table of cards with prices, and the link to the next month's page.

    Raises LayoutChanged if the first page has no such table.
    """
    tree = article(page)
    titles, headlines = page_titles(tree, page.final_url), {cell_text(element) for element in tree.find_all("h1")}
    table_count = 0
    for table in read_tables(tree):
        name = table.find(_NAME)
        if name is None:
            name = 0 if not table.header[0] else None
        # The month of a table: from its caption, else from its heading, else from the page's own titles.
        # The headline `… 2023: November 2023 Update` stands over every part of the article, including the part of March.
        heading = "" if table.heading in headlines else table.heading
        month = next((month for text in (table.caption, heading, *titles) if (month := month_of(text))), None)
        columns = list(_price_columns(table, month, titles)) if name is not None else []
        if name is None or not columns:
            continue
        table_count += 1
        if month is None and any(column.period is None for column in columns):
            message = f"no month is named for {table.title!r}: its prices have no period"
            yield Issue(code="no_period", message=message, where=f"table {table.position}", url=page.url)
        for row in table.rows:
            yield from _row(table, row, name, columns, page)
    if not table_count:
        if page_number(page.final_url) == 1:
            raise LayoutChanged(page.url, "no table with a column of cards and one of prices")
        yield Issue(code="no_table", message="this part of the article has no table of prices", url=page.url)
    yield from next_page(tree, page.final_url)


def _price_columns(table: Table, month: str | None, titles: list[str]) -> Iterator[_PriceColumn]:
    for i, header in enumerate(table.header):
        if _NO_PRICE.search(header) or _QUANTITY.search(header):
            continue
        # In some months the header is only the month or the marketplace.
        if not (_PRICE.search(header) or _USED.search(header) or MONTH_WORD.fullmatch(header) or month_of(header)):
            continue
        condition = _condition(header, table, titles)
        period = _period(header, month)
        yield _PriceColumn(i, condition, period, is_sold=condition == "used" and period == month)


def _condition(header: str, table: Table, titles: list[str]) -> Condition:
    """Return new or used, by the words of the column, else of the table, else of the page; unknown if no words say it."""
    for text in (header, table.title, *titles):
        new, used = bool(_NEW.search(text)), bool(_USED.search(text))
        if new != used:
            return "new" if new else "used"
    return "unknown"


def _period(header: str, month: str | None) -> str | None:
    """Return the month of a column, as `2023-10`.

    It is the month that the header names, the month before for `Last Price`, else the table's month.
    """
    if _TIMELESS.search(header):
        return None
    if month_and_year := month_of(header):
        return month_and_year
    if month is None:
        return None
    year, number = int(month[:4]), int(month[5:])
    if named_month := MONTH_WORD.search(header):
        # A column may name a month before the table's month, which in January is one of the year before. It never names a
        # later one.
        month_in_header = month_number(named_month[0])
        return f"{year - (month_in_header > number)}-{month_in_header:02d}"
    if _LAST.search(header):
        return f"{year - (number == 1)}-{(number - 2) % 12 + 1:02d}"
    return month


def _row(table: Table, row: Row, name_column: int, columns: list[_PriceColumn], page: Page) -> Iterator[Parsed]:
    name, price_in_name = split_name(row[name_column])
    if not name:
        return
    quantity = _quantity(table, row)
    if isinstance(quantity, str):
        message = f"{table.title!r}, {name}: {quantity!r} is no number of cards sold"
        yield Issue(code="unreadable_quantity", message=message, where=name, text=quantity, url=page.url)
        quantity = None
    if price_in_name is not None:
        # These pages do not say whether the price beside a name is a list price or the cheapest of the day.
        yield from index_price(table, name_column, name, price_in_name, page, condition="unknown")
    for column, condition, period, is_sold in columns:
        if not _NOTHING.fullmatch(row[column]):
            facts = {"condition": condition, "period": period, "quantity_sold": quantity if is_sold else None}
            yield from index_price(table, column, name, row[column], page, **facts)


def _quantity(table: Table, row: Row) -> int | str | None:
    column = table.find(_QUANTITY)
    text = row[column].replace(",", "") if column is not None else ""
    if _NOTHING.fullmatch(text):
        return None
    return int(text) if text.isascii() and text.isdigit() else text
