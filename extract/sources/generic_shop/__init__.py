"""Any shop's product pages, at the addresses that the settings name (`product_urls`).

An address may also be a shop's `sitemap.xml`: the product pages in it whose addresses name a graphics card are read, so many
a night, the stalest first. There is no list of shops and no rule for one: the page says itself what it sells, in structured
data or to the eye. A shop that is read often deserves a source of its own, which also knows its sellers and its listings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuledger.extract import product
from gpuledger.extract.fetch import addresses
from gpuledger.extract.items import Offer, Parsed
from gpuledger.extract.readers import sitemaps
from gpuledger.extract.source import Page, Source


def parse(page: Page) -> Iterator[Parsed]:
    """The page's own product as one Offer with its Issues, or the Links of a sitemap.

    Raises LayoutChanged where the page is neither, and Blocked.
    """
    if sitemaps.is_sitemap(page):
        yield from sitemaps.links(page)
        return
    for item in product.parse(page):
        # Two shops may number their goods alike, and often do: by the maker's own number.
        if isinstance(item, Offer) and item.sku is not None:
            item = replace(item, key=f"{addresses.shop_of(item.url)}/{item.sku}")
        yield item


SOURCE = Source(
    name="generic_shop",
    title="Product pages of any shop",
    homepage="",
    parse=parse,
    kinds=("offer",),
    sample=(
        "/products/rtx-3060-ti/",
        "/products/rtx-3070-ti/",
        "/products/rtx-3060-12gb/",
        "/products/rtx-4070/",
        "/products/rtx-3080-renewed/",
    ),
    max_pages=500,
    max_products=100,
    has_lists=False,
    is_of_many_shops=True,
)
