"""Parser of morele.net's category and search lists and of its product pages.

Known of the site: the price is in the attribute `data-product-price` of the card. A monthly rate ("rata od"), the price of
other sellers ("14 ofert od") and an outlet price stand beside it as text. The maker's number stands in brackets at the end
of the name.
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
from gpuledger.items import Parsed

HOMEPAGE = source.get("morele").homepage
LOCALE = Locale("PL", "pl", "PLN")
CARD = "[data-product-id][data-product-price]"
PRODUCT = "h1.prod-name, .product-price[data-price], #product_price_brutto"
_ID = re.compile(r"-(\d+)/?$")
_SELLER = re.compile(r"(?:Sprzedawca|Sprzedaje):?\s*(.+)")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a list and the link to its next page, or the offer of a product page.

    Raises LayoutChanged or Blocked.
    """
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, PRODUCT) is not None:
        yield from _product(page, root, base)
        return
    cards = [card for card in listing.cards(root, CARD, page) if attribute(card, "data-product-name")]
    if not cards:
        raise listing.not_understood(page, "no listing card has a product name")
    yield from listing.read_cards(cards, partial(_card, page, base), page)
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base, ".pagination .next a")


def _product(page: Page, root: HtmlElement, base: str) -> Iterable[Parsed]:
    match = _ID.search(base.partition("?")[0])
    key = match.group(1) if match else attribute(first(root, "[data-product-id]"), "data-product-id") or None
    seller = _SELLER.search(text(root, ".product-seller, .prod-seller"))
    return listing.product_page(
        page,
        LOCALE,
        url=base.partition("?")[0],
        key=key,
        sku=key,
        seller=seller.group(1) if seller else None,
        seller_kind=("first_party" if "morele" in seller.group(1).lower() else "marketplace") if seller else None,
    )


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    name = attribute(card, "data-product-name")
    # The brackets at the end may also hold a word for the condition, such as Outlet.
    part_number = re.search(r"\(([^()]*\d[^()]*)\)$", name)
    buttons = " ".join(text(element) for element in select(card, ".cat-product-buttons, .cat-product-availability"))
    features = [text(feature) for feature in select(card, ".cat-product-feature")]
    yield from listing.offer(
        page,
        LOCALE,
        listing.Card(
            title=name,
            url=absolute(base, attribute(first(card, "a.productLink"), "href")).partition("?")[0],
            key=attribute(card, "data-product-id"),
            price_text=text(card, ".price-new"),
            machine_price=attribute(card, "data-product-price"),
            list_text=text(card, ".price-old"),
        ),
        availability=words.availability(buttons) or "unknown",
        sku=attribute(card, "data-product-id"),
        mpn=part_number.group(1) if part_number else None,
        brand=attribute(card, "data-product-brand") or None,
        specs=" / ".join(features) or None,
    )
