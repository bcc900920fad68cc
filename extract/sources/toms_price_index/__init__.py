"""Tom's Hardware's monthly index of used graphics card prices on eBay, and its price lists.

One page a month, the newest first, with two tables each.
"""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Publishing, Source, parser_in

SOURCE = Source(
    name="toms_price_index",
    title="Tom's Hardware eBay price index and price lists",
    homepage="https://www.tomshardware.com/news/gpus-historical-ebay-pricing",
    parse=parser_in(__name__),
    kinds=("index_price",),
    interface="ebay",
    start=("https://www.tomshardware.com/news/gpus-historical-ebay-pricing",),
    sample=("/news/gpus-historical-ebay-pricing",),
    country="US",
    language="en",
    publishing=Publishing(
        allowed=False,
        sentence="eBay Content in a Public Display may not be co-mingled or combined with non-eBay Content.",
        page="https://developer.ebay.com/join/api-license-agreement",
        read=date(2026, 11, 27),
    ),
)
