"""Any shop's product pages, at the addresses that the settings name (`product_urls`).

An address may also be a shop's list or `sitemap.xml`. Of its product pages the source reads those that name a graphics
card, up to `max_products` a night, beginning with those that were read longest ago. There is no list of shops and no rule
for a single shop: each page itself says what it sells, in structured data or in visible text. Where it does not say in
which condition, it is new, as in the feeds; `#condition=used` behind an address says otherwise for a shop of used goods.
A shop that is read often deserves a source of its own, which also knows the shop's sellers and listings.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="generic_shop",
    title="Product pages of any shop",
    homepage="",
    parse=parser_in(__name__),
    setting="product_urls",
    way_in="set product_urls",
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
