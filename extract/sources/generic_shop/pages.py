"""Parser of any shop's product page or sitemap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuledger.extract import product
from gpuledger.extract.fetch import addresses
from gpuledger.extract.items import Offer, Parsed
from gpuledger.extract.readers import sitemaps
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the page's own product as one Offer with its Issues, or the Links of a sitemap.

    Raises LayoutChanged if the page is neither, and Blocked.
    """
    if sitemaps.is_sitemap(page):
        yield from sitemaps.links(page)
        return
    for item in product.parse(page):
        # Two shops often give goods the same number, namely the maker's.
        if isinstance(item, Offer) and item.sku is not None:
            item = replace(item, key=f"{addresses.shop_of(item.url)}/{item.sku}")
        yield item
