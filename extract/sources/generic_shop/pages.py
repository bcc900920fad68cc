"""Parser of any shop's product page or sitemap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args
from urllib.parse import parse_qs, urlsplit

from gpuledger.extract import product
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.fetch import addresses
from gpuledger.extract.items import Condition, Link, Offer, Parsed
from gpuledger.extract.readers import sitemaps
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the page's own product as one Offer with its Issues, or the Links of a sitemap.

    A shop's own page is of new goods unless something on it says otherwise, or its address in the settings does
    (`https://shop.example/sitemap.xml#condition=used`). Raises LayoutChanged if the page is neither, or the address names
    no condition, and Blocked.
    """
    stated = parse_qs(urlsplit(page.url).fragment).get("condition", ["new"])[-1]
    usual = next((one for one in get_args(Condition) if one == stated), None)
    if usual is None:
        known = ", ".join(get_args(Condition))
        raise LayoutChanged(page.url, f"the address says condition={stated}", f"write one of {known}")
    if sitemaps.is_sitemap(page):
        for item in sitemaps.links(page):
            if isinstance(item, Link) and usual != "new":
                item = replace(item, url=f"{item.url}#condition={usual}")
            yield item
        return
    for item in product.parse(page, usual=usual):
        # Two shops often give goods the same number, namely the maker's.
        if isinstance(item, Offer) and item.sku is not None:
            item = replace(item, key=f"{addresses.shop_of(item.url)}/{item.sku}")
        yield item
