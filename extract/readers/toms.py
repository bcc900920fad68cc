"""What the sources of Tom's Hardware share: split articles, names with footnote marks and prices, months in titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gpuledger.extract.markup.html import soup
from gpuledger.extract.markup.links import joined
from gpuledger.extract.markup.tables import Table, cell_text, clean
from gpuledger.extract.price.money import Ambiguous, read_price
from gpuledger.extract.source import Page
from gpuledger.items import IndexPrice, Issue, Link

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
#: `October`, `Sept`, `Sep`.
MONTH_WORD = re.compile(rf"\b{_MONTH}\b", re.IGNORECASE)
_MONTH_AND_YEAR = re.compile(rf"\b({_MONTH})\b\.?,?\s+(20\d\d)\b", re.IGNORECASE)

_FOOTNOTE = re.compile(r"[\s]*(?:[*†‡§¹²³⁴⁵⁶⁷⁸⁹]+|\[\w{1,2}\])$")
_PRICE = r"(?:[$€£]|US\$|USD )\s?\d[\d.,]*\d|[$€£]\d"
_PRICE_BEFORE = re.compile(rf"^({_PRICE})(?:\s*[-–—:]\s*|\s+)")
_PRICE_AFTER = re.compile(rf"\s*(?:[-–—:@,]\s*({_PRICE})|\(\s*({_PRICE})[^()]*\))$")

# The number at the end of `/reviews/gpu-hierarchy,4388-2.html` and `/news/gpus-historical-ebay-pricing/2`.
_PAGE_IN_PATH = re.compile(r"(?:(?<=,)(?P<article>\d+)-(?P<old>\d{1,3})(?=\.html$)|/(?P<new>\d{1,3})$)")


def article(page: Page) -> BeautifulSoup:
    """Return the page as a tree."""
    return soup(page.content, page.headers.get("content-type"))


def page_number(url: str) -> int:
    """Return which part of a split article an address names; 1 if it names none."""
    match = _PAGE_IN_PATH.search(urlsplit(url).path.rstrip("/"))
    return int(match["old"] or match["new"]) if match else 1


def next_page(tree: BeautifulSoup, url: str) -> Iterator[Link]:
    """Yield the link to the next part of the same article, if the list of parts or a `rel=next` has one."""
    here = page_number(url)
    candidates = [*tree.select("ul.pages a[href]"), *tree.select('a[rel~="next"][href], link[rel~="next"][href]')]
    for element in candidates:
        target = joined(url, str(element["href"])).partition("#")[0]
        if page_number(target) == here + 1 and _article(target) == _article(url):
            yield Link(url=target, role="next_page")
            return


def _article(url: str) -> tuple[str, str]:
    """Return what all parts of an article share: the host, and the path without the part's number."""
    parts = urlsplit(url)
    path = _PAGE_IN_PATH.sub(lambda match: match["article"] or "", parts.path.rstrip("/"))
    return parts.netloc.lower(), path


def split_name(text: str) -> tuple[str, str | None]:
    """Return a card's name without footnote marks and without the price that some tables add, and the text of that price.

    Only a text with a currency sign is a price: `(6GB)` and `(Founders Edition)` stay in the name.
    """
    name, price = _FOOTNOTE.sub("", clean(text)), None
    if before := _PRICE_BEFORE.search(name):
        name, price = name[before.end() :], before[1]
    elif after := _PRICE_AFTER.search(name):
        name, price = name[: after.start()], after[1] or after[2]
    return _FOOTNOTE.sub("", name).strip(), price


class Price(NamedTuple):
    """An amount above zero and its ISO 4217 currency."""

    amount: Decimal
    currency: str


def read_amount(text: str, where: str, url: str) -> Price | Issue | None:
    """Return the price of a cell on these English pages.

    Returns None for an empty cell or words, and an Issue if the price is not certain.
    """
    price = read_price(_FOOTNOTE.sub("", text), country="US", language="en")
    if isinstance(price, Ambiguous):
        return Issue(code="ambiguous_price", message=f"{where}: {price.reason}", where=where, text=text, url=url)
    if price is not None and price.currency is not None and price.kind != "monthly":
        return Price(price.amount, price.currency)
    if not re.search(r"[1-9]", text):
        return None
    message = f"{where}: no single price with a currency in {text!r}"
    return Issue(code="unreadable_price", message=message, where=where, text=text, url=url)


def index_price(
    table: Table, column: int, card: str, text: str, page: Page, **facts: Any
) -> Iterator[IndexPrice | Issue]:
    """Yield the price of a card's cell, or an Issue if it is not certain. `facts` are further fields of IndexPrice."""
    header = table.header[column]
    price = read_amount(text, f"{table.title!r}, {header!r}, {card}", page.url)
    if isinstance(price, Price):
        yield IndexPrice(
            gpu_name=card,
            price=price.amount,
            currency=price.currency,
            table=table.title,
            column=header,
            price_text=text,
            **facts,
        )
    elif price is not None:
        yield price


def month_of(text: str) -> str | None:
    """Return `2023-10` for `October 2023 …`; None if the text names no month with a year."""
    match = _MONTH_AND_YEAR.search(text)
    return f"{match[2]}-{month_number(match[1]):02d}" if match else None


def month_number(word: str) -> int:
    """Return 1 to 12 for a month's name or its first three letters."""
    return MONTHS.index(word[:3].lower()) + 1


def page_titles(tree: BeautifulSoup, url: str) -> list[str]:
    """Return the page's own titles, the most specific first: a part's title, the browser's title, the headline.

    All parts of a split article have the same headline, so it is left out for the parts after the first.
    """
    selectors = (".page-title", "title", "h1") if page_number(url) == 1 else (".page-title", "title")
    return [text for selector in selectors for element in tree.select(selector) if (text := cell_text(element))]
