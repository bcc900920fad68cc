"""Whether the page's goods can be bought now."""

from __future__ import annotations

from extract import wording
from extract.items import Availability
from extract.product.context import Context
from extract.product.visible import Visible
from extract.schema_org import availability
from extract.structured import StructuredOffer, StructuredProduct


def of_page(page: Context, products: list[StructuredProduct], seen: Visible) -> Availability:
    """What structured data says first, then `meta`, then the words near the title, then a buy button; else `unknown`."""
    offers = [offer for product in products for offer in _offers(product) if offer.availability]
    if offers:
        said = {offer.availability for offer in offers}
        # Sizes and sellers are offers of their own: the goods can be bought while one of them can.
        return next(one for one in ("in_stock", "preorder", "out_of_stock", "unknown") if one in said)
    stated = availability(page.first_meta("product:availability", "og:availability", "og:product:availability"))
    if stated:
        return stated
    if seen.button is not None:
        said_by = wording.availability(seen.button.text_content() or "")
        return said_by if said_by in ("out_of_stock", "preorder") else "in_stock"
    return "unknown"


def _offers(product: StructuredProduct) -> list[StructuredOffer]:
    return [*product.offers, *(offer for variant in product.variants for offer in variant.offers)]
