"""Parser of Micro Center's listing and product pages.

Known of the site: a card's link carries `data-id`, `data-name`, `data-price` and `data-brand`. An open-box price stands
beside the price of the new card and is not the card's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, absolute, attribute, clean, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Parsed

HOMEPAGE = source.get("microcenter").homepage
LOCALE = Locale("US", "en", "USD")
CARD = "li.product_wrapper"
LINK = "a[data-id][data-name][data-price]"
PRODUCT = "#product-details, #details [data-name], .product-header"
_STORE = re.compile(r"storeid=(\d+)", re.IGNORECASE)
_AT_STORE = re.compile(r"\bat (.+?) Store\b", re.IGNORECASE)
_ID = re.compile(r"/product/(\d+)")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a list and the link to its next page, or the offer of a product page.

    Raises LayoutChanged or Blocked.
    """
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, CARD) is None and first(root, PRODUCT) is not None:
        yield from _product(page, root, base)
        return
    yield from listing.read_cards(listing.cards(root, CARD, page), partial(_card, page, base), page)
    pages = [link for link in select(root, ".pagination a, ul.pages a") if text(link) in (">", "›", "Next")]
    for link in pages[:1]:
        yield from listing.link_to(base, attribute(link, "href"))


def _product(page: Page, root: HtmlElement, base: str) -> Iterable[Parsed]:
    match = _ID.search(base)
    return listing.product_page(
        page,
        LOCALE,
        url=base.partition("?")[0],
        key=_key(match.group(1), base) if match else None,
        seller=_seller(text(root, ".inventory, .stock")),
        seller_kind="first_party",
    )


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    link = first(card, LINK)
    number = attribute(link, "data-id")
    stock = text(card, ".stock")
    sku = re.search(r"\d{6,}", text(card, ".sku"))
    yield from listing.offer(
        page,
        LOCALE,
        # The attribute data-name leaves the brand out; the text of the heading does not.
        listing.Card(
            title=text(card, ".h2, h2") or clean(f"{attribute(link, 'data-brand')} {attribute(link, 'data-name')}"),
            url=absolute(base, attribute(link, "href")).partition("?")[0],
            key=_key(number, base) if number else "",
            price_text=text(card, '[itemprop="price"], .price'),
            machine_price=attribute(link, "data-price").replace(",", ""),
            list_text=text(card, ".price_wrapper del, .price_wrapper .ObsValue, .price_wrapper strike"),
        ),
        availability=words.availability(stock) or "unknown",
        seller=_seller(stock),
        seller_kind="first_party",
        sku=sku.group() if sku else None,
        brand=attribute(link, "data-brand") or None,
    )


def _key(number: str, base: str) -> str:
    """Return the product's number, with the number of the store if the address names one: each store has its own price."""
    store = _STORE.search(base)
    return f"{number}@{store.group(1)}" if store else number


def _seller(stock: str) -> str:
    store = _AT_STORE.search(stock)
    return f"Micro Center {store.group(1)}" if store else "Micro Center"
