"""A page of a shop that a test writes, read as it comes from the web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gpuledger.extract import product
from gpuledger.items import Issue, Offer
from tests.extract.pages import page

TITLE = "Veltor RTX 4070 Twin 12GB"
CART = '<button class="add-to-cart">Add to cart</button>'
#: What a page of a shop has above its goods and below them: a cart, and other goods.
ABOVE = '<header><nav><a href="/">Home</a></nav><div class="mini-cart"><span class="amount">0,00</span></div></header>'
BELOW = """<section class="related"><a href="/p/fan"><img src="fan.png"><span class="price">19,90</span></a></section>
    <footer><p>Shop</p></footer>"""


def told(thing: Mapping[str, Any] | str) -> str:
    """What a page tells machines as JSON-LD; a text stands there as it is."""
    text = thing if isinstance(thing, str) else json.dumps({"@context": "https://schema.org", **thing})
    return f'<script type="application/ld+json">{text}</script>'


def shop_page(
    body: str, lang: str = "en-US", *, title: str = TITLE, head: str = "", above: str = "", below: str = ""
) -> str:
    """A page whose goods stand under their name, `title`."""
    named = f'<meta charset="utf-8"><title>{title} | Shop</title>{head}'
    goods = f"<main><h1>{title}</h1>{body}</main>"
    return f'<!doctype html><html lang="{lang}"><head>{named}</head><body>{above}{goods}{below}</body></html>'


def offer_on(url: str, html: str | bytes, content_type: str = "text/html; charset=utf-8") -> tuple[Offer, list[Issue]]:
    """The one offer of a page that was fetched from `url`, and its issues."""
    items = list(product.parse(page(html, url, content_type)))
    (offer,) = [item for item in items if isinstance(item, Offer)]
    return offer, [item for item in items if isinstance(item, Issue)]


def price_of(offer: Offer) -> tuple[str | None, str | None, str | None]:
    """Amount, currency and kind of an offer's price; three times nothing where it is left open."""
    return None if offer.price is None else str(offer.price), offer.currency, offer.price_kind
