"""Parser of any shop's product page or sitemap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args
from urllib.parse import urlsplit

from gpuledger.errors import LayoutChanged
from gpuledger.extract import market, product
from gpuledger.extract.fetch import addresses
from gpuledger.extract.readers import lists, sitemaps
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Issue, Link, Offer, Parsed


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the page's own product as one Offer with its Issues, or the Links of a sitemap or of a list.

    A shop's own page is of new goods unless something on it says otherwise, or its address in the settings does
    (`https://shop.example/sitemap.xml#condition=used&country=de`). Raises LayoutChanged if the page is neither, or the
    address names no condition, and Blocked.
    """
    fragment = urlsplit(page.url).fragment
    stated = addresses.said_behind(page.url).get("condition", "new")
    usual = next((one for one in get_args(Condition) if one == stated), None)
    if usual is None:
        known = ", ".join(get_args(Condition))
        raise LayoutChanged(page.url, f"the address says condition={stated}", f"write one of {known}")
    for item in sitemaps.links(page) if sitemaps.is_sitemap(page) else _goods(page, usual):
        if isinstance(item, Link) and fragment:
            item = replace(item, url=f"{item.url}#{fragment}")
        if isinstance(item, Offer) and item.price is not None and item.seller_kind == "marketplace":
            yield _not_counted(item)
        if isinstance(item, Offer):
            # Two shops often give goods the same number, namely the maker's. A setting in the address begins no new offer.
            key = f"{addresses.shop_of(item.url)}/{item.sku}" if item.sku else _SETTINGS.sub("", item.key).rstrip("#&")
            item = replace(item, key=key)
        yield item


#: What the settings say behind the `#` of an address; a shop's own words there (`#variant=22`) name a variant.
_SETTINGS = re.compile(r"(?<=[#&])(?:condition|country)=[^&]*&?")


def _not_counted(offer: Offer) -> Issue:
    """Why the price of a marketplace or of classified ads does not count, and what to set."""
    if offer.seller is None:
        way = "if you trust it, drop it as a quote into inbox/"
    else:
        way = f"if you trust {offer.seller!r}, name it in marketplace_sellers"
        if offer.condition == "unknown":
            way += " and write #condition=used behind the address"
    message = (
        f"the price is not that of a shop but of a person or of a seller on a marketplace, so it does not count: {way}"
    )
    return Issue(code="marketplace_seller", message=message, url=offer.url)


#: A title without such a number is that of a category: `Graphics cards (412 products)`.
_MODEL = re.compile(r"^[^(]*\d{3}")


def _goods(page: Page, usual: Condition) -> Iterator[Parsed]:
    """The page's own product, or Links to the products of a list. Raises LayoutChanged if it is neither."""
    items: list[Parsed] = []
    refused: LayoutChanged | None = None
    try:
        items = list(product.parse(page, country=market.country_told(page.url), usual=usual))
    except LayoutChanged as error:
        refused = error
    found: list[Link] = []
    is_list = False
    if not any(isinstance(item, Offer) and _MODEL.search(item.title) for item in items):
        found, is_list = lists.product_links(page)
    if is_list:
        yield from found
    elif refused is None:
        yield from items
    elif found:
        raise LayoutChanged(
            page.url,
            refused.seen,
            f"set the products that you want, such as {', '.join(link.url for link in found[:3])}",
        )
    else:
        raise refused
