"""Any shop's product page to one Offer and the Issues met on the way.

Signals, in the order in which they are believed: JSON-LD, microdata and RDFa of the page's own product (`own`), `meta`
properties (`claims`), prices that are seen near the title and the buy button (`visible`). `decide` holds them against
each other: where they disagree, the offer comes without a price and an Issue says which source said what.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.extract.items import Parsed
from gpuledger.extract.source import Page

__all__ = ["parse"]


def parse(page: Page, *, country: str | None = None, language: str | None = None) -> Iterator[Parsed]:
    """The page's own product as one Offer, with the Issues that its signals raise.

    `country` (ISO 3166) and `language` (ISO 639) are those of the shop where the caller knows them; else the page's own
    address and markup say. Raises LayoutChanged where the page shows no goods for sale or is a listing, and Blocked or
    EmptyBody where it is a wall or empty.
    """
    # Imported by who parses: a night knows every source and leaves parsing to processes of its own. Some 300 patterns.
    from gpuledger.extract.product.page import read

    return read(page, country, language)
