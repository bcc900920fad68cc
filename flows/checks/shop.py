"""Read one address of any shop as a night would, and say which addresses to set. Nothing is archived or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract import source as sources
from gpuledger.extract.collect import Reading, parse_page
from gpuledger.extract.pages import as_page
from gpuledger.extract.readers import lists
from gpuledger.extract.source import Page
from gpuledger.flows.night.gather import Reader
from gpuledger.items import Link, Parsed


class Seen(NamedTuple):
    """What is at an address: the goods themselves, or links to goods and what the first of them gives.

    `is_list` says that a night follows the links by itself; otherwise each link is an address to set.
    """

    first: Sequence[Parsed]
    links: Sequence[str]
    is_list: bool


def look(reader: Reader, url: str) -> Seen:
    """What is at the address of a shop. Raises ExtractError if it is refused or not understood."""
    source = sources.get("generic_shop")
    fetching = reader.fetching(Reading(source, [url]))

    def fetched(address: str) -> Page:
        return as_page(fetching.answer(address), reader.context.as_of)

    page = fetched(url)
    try:
        found = parse_page(source, page)
        links = [item.url for item in found if isinstance(item, Link) and item.role == "product"]
        is_list = bool(links)
    except LayoutChanged:
        _, mark, settings = url.partition("#")
        links = [f"{link.url}{mark}{settings}" for link in lists.product_links(page)[0]]
        is_list = False
        if not links:
            raise
    return Seen(parse_page(source, fetched(links[0])) if links else found, links, is_list)
