"""Parser of Best Buy's listing and product pages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from functools import partial

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, absolute, attribute, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Offer, Parsed, SellerKind

HOMEPAGE = source.get("bestbuy").homepage
LOCALE = Locale("US", "en", "USD")
#: The kind of seller, by whether the offer is on the marketplace.
SELLERS: Mapping[bool, SellerKind] = {True: "marketplace", False: "first_party"}
#: A card in the lists of 2018 to 2024, then in those of 2025.
CARD = "li.sku-item, li.product-list-item"
PRODUCT = ".shop-product-title, .sku-title h1, [data-testid='pdp-title'], h1.heading"
_SKU = re.compile(r"/(\d{7,8})\.p\b|skuId=(\d{7,8})|/sku/(\d{7,8})\b")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a list or a product page, and the link to the next page. Raises LayoutChanged or Blocked."""
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, CARD) is None and first(root, PRODUCT) is not None:
        yield from _product(page, base)
        return
    yield from listing.read_cards(listing.cards(root, CARD, page), partial(_card, page, base), page)
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base, "a.sku-list-page-next, a.pagination-arrow[aria-label*='ext']")


def _product(page: Page, base: str) -> Iterator[Parsed]:
    condition: Condition | None = "open_box" if "openbox" in base.lower() else None
    sku = _sku(base)
    for item in listing.product_page(page, LOCALE, url=base.partition("?")[0], key=sku, sku=sku, condition=condition):
        if isinstance(item, Offer):
            item = dataclasses.replace(item, seller_kind=SELLERS[item.seller not in (None, "Best Buy", "BestBuy")])
        yield item


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    link = first(card, ".sku-title a, h4.sku-header a, a.product-list-item-link")
    url = absolute(base, attribute(link, "href"))
    title = text(card, ".product-title, .sku-title, h4.sku-header")
    sku = attribute(card, "data-sku-id") or attribute(card, "data-product-id") or _sku(url) or ""
    price = text(card, '.priceView-customer-price [aria-hidden="true"], [data-testid="price-block-customer-price"]')
    price = price or text(card, '.priceView-customer-price span, [data-testid="customer-price"]')
    sold_by = re.search(r"Sold by (.+)", text(card, ".marketplace-seller, [data-testid='seller-name']"))
    status = " ".join(text(element) for element in select(card, ".fulfillment-add-to-cart-button, button"))
    yield from listing.offer(
        page,
        LOCALE,
        listing.Card(
            title=title,
            url=url.partition("?")[0],
            key=sku,
            price_text=price,
            list_text=text(card, '.pricing-price__regular-price, [data-testid="price-block-regular-price"]'),
        ),
        availability=words.availability(status) or "unknown",
        condition="open_box" if "openbox" in url.lower() else None,
        seller=sold_by.group(1) if sold_by else None,
        seller_kind=SELLERS[bool(sold_by)],
        sku=sku,
        mpn=_labelled(card, "Model"),
    )


def _sku(url: str) -> str | None:
    match = _SKU.search(url)
    return next((group for group in match.groups() if group), None) if match else None


def _labelled(card: HtmlElement, name: str) -> str | None:
    """Return the value after a label such as `Model:` among the card's product attributes."""
    attributes = [text(item) for item in select(card, ".sku-attribute-title, .attribute")]
    return next((line.partition(":")[2].strip() for line in attributes if line.startswith(f"{name}:")), None)
