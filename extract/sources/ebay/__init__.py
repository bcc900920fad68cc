"""eBay's Browse API: fixed-price offers of graphics cards, new, refurbished and used, 200 a page.

`GET /buy/browse/v1/item_summary/search`, in the marketplace that the address names (sent as X-EBAY-C-MARKETPLACE-ID). The
API gives at most 10,000 items of a search. The prices are those that sellers ask, not those that buyers paid: sold prices
are another interface, which eBay opens to few. https://developer.ebay.com/api-docs/buy/browse/overview.html
"""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Access, Publishing, Source, parser_in

SOURCE = Source(
    name="ebay",
    title="eBay",
    homepage="https://www.ebay.com/",
    parse=parser_in(__name__),
    kinds=("offer",),
    interface="ebay",
    # Category 27386 holds graphics and video cards. One search for each marketplace of the setting.
    start=(
        "https://api.ebay.com/buy/browse/v1/item_summary/search?category_ids=27386&limit=200&marketplace={ebay_marketplaces}",
    ),
    freshness_hours=48,
    max_pages=60,
    access=Access(
        credentials=("ebay_client_id", "ebay_client_secret"),
        token_url="https://api.ebay.com/identity/v1/oauth2/token",
        scope="https://api.ebay.com/oauth/api_scope",
        as_header={"marketplace": "X-EBAY-C-MARKETPLACE-ID"},
    ),
    publishing=Publishing(
        allowed=False,
        sentence="eBay Content in a Public Display may not be co-mingled or combined with non-eBay Content.",
        page="https://developer.ebay.com/join/api-license-agreement",
        read=date(2026, 11, 27),
    ),
)
