"""Product feeds of any shop, at the addresses that the settings name (`product_feeds`).

A shop makes a feed for programs: it is the form in which the shop tells Google Merchant or an affiliate network its prices,
and it keeps working when the shop's pages change.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="product_feed",
    title="Product feeds of any shop",
    homepage="",
    parse=parser_in(__name__),
    setting="product_feeds",
    way_in="set product_feeds",
    kinds=("offer",),
    interface="product_feed",
    is_of_many_shops=True,
    max_pages=200,
)
