"""Turns any shop's product page into one Offer, and into Issues about what is doubtful on it.

The signals, the most trusted first: JSON-LD and microdata of the page's own product and `meta` properties
(`claims`); prices that are seen near the title and the buy button (`visible`). `decide` compares them. If they disagree, the
offer has no price, and an Issue lists what each source says.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.extract.source import Page
from gpuledger.items import Condition, Parsed

__all__ = ["parse"]


def parse(
    page: Page, *, country: str | None = None, language: str | None = None, usual: Condition = "unknown"
) -> Iterator[Parsed]:
    """The page's own product as one Offer, with the Issues that its signals raise.

    `country` (ISO 3166) and `language` (ISO 639) are those of the shop, if the caller knows them. Otherwise the page's own
    address and markup decide. `usual` is the condition of the shop's goods where its page says nothing of it; that they are
    new does not count on a page of a marketplace or of classified ads. Raises LayoutChanged if the page shows no goods for
    sale or is a listing, and Blocked or EmptyBody if it is a wall or empty.
    """
    # Imported only by a process that parses, because the import compiles some 300 patterns. The process of a night knows
    # every source and leaves parsing to others.
    from gpuledger.extract.product.page import offer_and_issues

    return offer_and_issues(page, country, language, usual)
