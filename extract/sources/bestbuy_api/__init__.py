"""Best Buy's Products API: the graphics cards of its category, 100 a page.

The pages follow each other by cursor, since numbered pages end at the tenth. The API's terms let nobody keep an answer for
more than 72 hours, so the archive keeps the items that were read from a page and not the page.
https://bestbuyapis.github.io/api-documentation/
"""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Access, Publishing, Source, parser_in

SOURCE = Source(
    name="bestbuy_api",
    title="Best Buy (Products API)",
    homepage="https://developer.bestbuy.com/",
    parse=parser_in(__name__),
    kinds=("offer",),
    interface="bestbuy_api",
    start=(
        "https://api.bestbuy.com/v1/products(categoryPath.id=abcat0507002)?format=json&pageSize=100&cursorMark=%2A&show="
        "sku,name,type,regularPrice,salePrice,onlineAvailability,orderable,upc,modelNumber,manufacturer,condition,preowned,"
        "marketplace,url",
    ),
    country="US",
    language="en",
    max_pages=120,
    access=Access(credentials=("bestbuy_key",), parameter="apiKey"),
    keep_hours=72,
    publishing=Publishing(
        allowed=False,
        sentence="its interface may be cached for a short time only",
        page="https://developer.bestbuy.com/legal",
        read=date(2026, 11, 26),
    ),
)
