"""Whether the page's goods can be bought now.

The first of these that says something counts: structured data of the own product; `meta` properties; the words of a part
that is named after stock and lies nearest to the title; a means of ordering (button, form, field for the number of pieces);
an offer with a price to machines or, if nothing else is said, a price to people, since both are offers to sell. Otherwise
the availability is `unknown`.
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from gpuledger.extract import wording
from gpuledger.extract.items import Availability
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.markup.schema_org import availability
from gpuledger.extract.markup.structured import StructuredOffer, StructuredProduct
from gpuledger.extract.product import claims, scan, stock_words
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.layout import Layout

#: A longer text is a paragraph about stock, not a status.
_MAX_STATUS = 90


def of_page(page: Context, products: list[StructuredProduct], layout: Layout) -> Availability:
    """The availability of the page's own goods."""
    offers = [offer for product in products for offer in _offers(product) if offer.availability]
    if offers:
        # The variant that the page's address names is the one that a visitor sees.
        tied = [offer for offer in offers if claims.is_named(page, offer)]
        statuses = {offer.availability for offer in tied or offers}
        # Sizes and sellers have offers of their own: the goods can be bought while one of these can.
        return next(
            candidate for candidate in ("in_stock", "preorder", "out_of_stock", "unknown") if candidate in statuses
        )
    stated = availability(page.first_meta("product:availability", "og:availability", "og:product:availability"))
    if stated:
        return stated
    marked = _marked(layout) or printed_status(layout)
    if marked is not None:
        return marked
    if (layout.button is None or layout.button.get("disabled") is not None) and _is_gone(layout):
        return "out_of_stock"
    if layout.button is not None:
        status = status_in(_text(layout.button))
        return status if status in ("out_of_stock", "preorder") else "in_stock"
    buttons = layout.part.iter("button", "a")
    if any(_is_waiting(button) and not layout.is_elsewhere(button) for button in buttons):
        return "out_of_stock"
    if any(offer.price for product in products for offer in _offers(product)):
        return "in_stock"
    return "unknown"


def _marked(layout: Layout) -> Availability | None:
    """What an element marked as schema.org's availability says, on a page that describes no product around it."""
    for element in layout.part.xpath(".//*[@itemprop='availability']"):
        if not layout.is_elsewhere(element):
            return availability(element.get("href") or element.get("content") or visible_text(element, _MAX_STATUS))
    return None


_LABEL = re.compile(
    r"(?:availability|in stock|stock(?: status)?|verfügbarkeit|lagerbestand|disponibilit[éàa]|disponibilidad\w*|dostępność"
    r"|dostupnost\w*|beschikbaarheid|tillgänglighet|наличие|在庫(?:状況)?|재고|库存|庫存)\s*[:：]",
    re.IGNORECASE,
)


def status_in_sentences(layout: Layout) -> Availability:
    """What a page without a price or a way to order says: in a sentence that its goods are gone, or behind a label."""
    for element in layout.part.iter(*scan.HOLD_TEXT):
        if not 3 < len((element.text or "").strip()) <= _MAX_STATUS or layout.is_elsewhere(element):
            continue
        text = visible_text(element, _MAX_STATUS + 30).strip()
        status = status_in(text)
        if status == "out_of_stock" or (status is not None and _LABEL.match(text)):
            return status
    return "unknown"


#: The longest line that is a status and nothing else.
_SHORT = 60


def _is_gone(layout: Layout) -> bool:
    """Whether a line says that the goods are gone or the sale is over, on a page on which nothing can be ordered.

    A line in a list, a table or a choice describes one size.
    """
    for element in layout.part.iter(*scan.HOLD_TEXT):
        text = " ".join((element.text or "").split())
        if not 3 < len(text) <= _MAX_STATUS:
            continue
        is_gone = len(text) <= _SHORT and stock_words.begins_gone(text)
        if is_gone and any(up.tag in _OF_ONE_SIZE for up in [element, *element.iterancestors()]):
            continue
        if (is_gone or stock_words.has_ended(text)) and not layout.is_elsewhere(element):
            return True
    return False


#: What holds the sizes or colours of one thing, each with a status of its own.
_OF_ONE_SIZE = ("li", "option", "label", "td", "th", "a", "button")


def printed_status(layout: Layout) -> Availability | None:
    """What the part named after stock that lies nearest to the title says; None if no such part says anything."""
    statuses = (
        status_in(visible_text(part, _MAX_STATUS + 30)) for part in sorted(layout.statuses, key=layout.title_level)[:10]
    )
    return next((status for status in statuses if status is not None), None)


def status_in(text: str) -> Availability | None:
    """What a status line, or the first sentence of a longer text, says; None if it says nothing about stock."""
    if len(text) > _MAX_STATUS:
        text = text[:_MAX_STATUS].partition(". ")[0] if ". " in text[:_MAX_STATUS] else ""
    if not text:
        return None
    if _NONE_LEFT.fullmatch(text):
        return "out_of_stock"
    return stock_words.availability(text) or wording.availability(text)


#: `Stock: 0`
_NONE_LEFT = re.compile(
    r"\W*(?:in stock|stock|qty|available|availability|lagerbestand|bestand|stan magazynowy)\s*[:：]?\s*0\W*", re.I
)


def _is_waiting(button: HtmlElement) -> bool:
    """Whether a button offers a message when the goods are back. A message about a lower price is a different thing."""
    if button.tag == "a" and not scan.looks_like_button(button):
        return False
    text = _text(button)
    return (
        0 < len(text) <= _MAX_STATUS and stock_words.availability(text) == "out_of_stock" and not _OF_PRICE.search(text)
    )


_OF_PRICE = re.compile(
    r"price|preis|prix|precio|prezzo|preço|prijs|pris\b|cen(?:a|ę|y|ie|u)\b|価格|가격|价格|價格", re.IGNORECASE
)


def _text(button: HtmlElement) -> str:
    return visible_text(button, _MAX_STATUS) or button.get("value") or ""


def _offers(product: StructuredProduct) -> list[StructuredOffer]:
    return [*product.offers, *(offer for variant in product.variants for offer in variant.offers)]
