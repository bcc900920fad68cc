"""Parser of B&H's listing pages and product pages.

Known of the site: class names are hashes that change with every release, but the `data-selenium` attributes stay. A product
page carries JSON-LD. The number in the address identifies the listing, and the end of the number tells a used card (`-USE`)
from a new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, absolute, attribute, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Parsed

HOMEPAGE = source.get("bhphoto").homepage
LOCALE = Locale("US", "en", "USD")
CARD = '[data-selenium="miniProductPage"], [data-selenium="miniProductPageProduct"]'
PRODUCT = '[data-selenium="productTitle"]'
_ID = re.compile(r"/c/product/(\d+-[A-Z]+)", re.IGNORECASE)
_STATUS = (
    '[data-selenium="stockStatus"], [data-selenium="miniProductPageQuantityContainer"], [data-selenium="stockInfo"]'
)


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a listing and the link to its next page, or the offer of a product page.

    Raises LayoutChanged or Blocked.
    """
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, PRODUCT) is not None:
        yield from _product(page, root, base)
        return
    # A card may contain an inner element that older pages used as the card itself.
    cards = [card for card in listing.cards(root, CARD, page) if not any(_is_card(up) for up in card.iterancestors())]
    yield from listing.read_cards(cards, partial(_card, page, base), page)
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base, '[data-selenium="listingPagingPageNext"]')


def _is_card(element: HtmlElement) -> bool:
    return element.get("data-selenium") in ("miniProductPage", "miniProductPageProduct")


def _product(page: Page, root: HtmlElement, base: str) -> Iterable[Parsed]:
    key = _key(base)
    return listing.product_page(
        page,
        LOCALE,
        url=base.partition("?")[0],
        key=key,
        condition=_condition(key, text(root, PRODUCT)),
        seller="B&H",
        seller_kind="first_party",
    )


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    url = absolute(base, attribute(first(card, '[data-selenium="miniProductPageProductNameLink"]'), "href"))
    title = text(card, '[data-selenium="miniProductPageProductName"]')
    numbers = text(card, '[data-selenium="miniProductPageProductSkuInfo"]')
    key = _key(url)
    yield from listing.offer(
        page,
        LOCALE,
        listing.Card(
            title=title,
            url=url.partition("?")[0],
            key=key or "",
            price_text=_price_text(card),
            list_text=text(card, '[data-selenium="preSavingsPrice"], [data-selenium="pricingWas"], del'),
        ),
        availability=words.availability(" ".join(text(element) for element in select(card, _STATUS))) or "unknown",
        condition=_condition(key, title),
        seller="B&H",
        seller_kind="first_party",
        sku=_number(numbers, "BH"),
        mpn=_number(numbers, "MFR"),
    )


def _price_text(card: HtmlElement) -> str:
    """Return the price as `$1,599.99`. On the page the cents are a superscript without a point."""
    units = text(card, '[data-selenium="uppedDecimalPriceFirst"]')
    cents = text(card, '[data-selenium="uppedDecimalPriceSecond"]')
    if units and re.fullmatch(r"\d\d", cents):
        return f"{units}.{cents}"
    return units + cents or text(card, '[data-selenium="pricingPrice"], [data-selenium="addToCartForPrice"]')


def _condition(key: str | None, title: str) -> Condition | None:
    return words.condition(title) or ("used" if key and key.endswith("-USE") else None)


def _key(url: str) -> str | None:
    match = _ID.search(url)
    return match.group(1).upper() if match else None


def _number(numbers: str, kind: str) -> str | None:
    """Return the number after `BH #` or `MFR #` in the line that holds both."""
    match = re.search(rf"\b{kind}\s*#\s*(\S+)", numbers)
    return match.group(1) if match else None
