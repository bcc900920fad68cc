"""Whether the page's goods can be bought now.

What the page says to machines (structured data of the own product, `meta`) is compared with what a buyer sees: a part that
is named after stock, a line that is a status and nothing else, and the button that orders. In stock needs one of these
signs: a price alone is none. Where one says that the goods can be bought and another denies it, the answer is never
`in_stock`, and an Issue names both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.markup.schema_org import availability
from gpuledger.extract.markup.structured import StructuredProduct
from gpuledger.extract.price import words as price_words
from gpuledger.extract.product import scan
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.layout import Layout
from gpuledger.items import Availability

#: A longer text is a paragraph about stock, not a status.
_MAX_STATUS = 90
#: The longest line that is a status and nothing else.
_SHORT = 60


class Sign(NamedTuple):
    """What one place of the page says about stock, and which place it is, in words for an Issue."""

    says: Availability
    place: str


class Answer(NamedTuple):
    """Whether the goods can be bought. `contradiction` names what says so and what denies it, if both are on the page."""

    availability: Availability
    contradiction: str | None = None


def of_page(page: Context, products: list[StructuredProduct], layout: Layout) -> Answer:
    """The availability of the page's own goods. Where the button that orders cannot be pressed, nothing is in stock, unless
    the buyer has to choose something first.
    """
    answer = _of_signs(page, products, layout)
    button = layout.button
    if (
        answer.availability not in ("in_stock", "preorder")
        or button is None
        or button.tag == "form"
        or not _is_disabled(button)
    ):
        return answer
    # What a press would do is written to a button that a script releases when the page has been loaded.
    is_released = button.get("onclick") is not None or next(layout.part.iter("select"), None) is not None
    if is_released or next(_further_orders(layout), None) is not None:
        return answer
    if answer.availability == "preorder":
        return Answer("out_of_stock")
    return Answer("unknown", "the page says in_stock, and its button that orders cannot be pressed")


def _of_signs(page: Context, products: list[StructuredProduct], layout: Layout) -> Answer:
    stated, seen = _to_machines(page, products, layout), _to_people(layout)
    if stated is None or seen is None:
        sign = stated or seen
        return Answer(sign.says if sign else "unknown")
    if stated.says == seen.says or seen.place == _BUTTON or "unknown" in (stated.says, seen.says):
        # A button that can be pressed is on every page of some templates: only words deny what the page says to machines.
        return Answer(stated.says)
    if stated.says == "preorder" or seen.says == "preorder":
        return Answer("preorder" if "in_stock" in (stated.says, seen.says) else "out_of_stock")
    denied = f"{stated.place} says {stated.says}, and {seen.place} {seen.says}"
    return Answer("unknown" if stated.says == "in_stock" else stated.says, denied)


_BUTTON = "the button that orders"
#: The classes that WooCommerce gives the part of a product (`wc_get_product_class`).
_OF_WOOCOMMERCE: dict[str, Availability] = {
    "instock": "in_stock", "outofstock": "out_of_stock", "onbackorder": "preorder",
}  # fmt: skip


def _to_machines(page: Context, products: list[StructuredProduct], layout: Layout) -> Sign | None:
    statuses = {
        offer.availability
        for product in products
        for one in (product, *product.variants)
        for offer in one.offers
        if offer.availability
    }
    # Sizes and sellers have offers of their own: the goods can be bought while one of these can.
    for status in ("in_stock", "preorder", "out_of_stock", "unknown"):
        if status in statuses:
            return Sign(status, "the page's structured data")
    classes = (name for up in layout.above_title for name in (up.get("class") or "").split())
    if named := next((_OF_WOOCOMMERCE[name] for name in classes if name in _OF_WOOCOMMERCE), None):
        return Sign(named, "a class of the shop's system")
    stated = availability(page.first_meta("product:availability", "og:availability", "og:product:availability"))
    if stated:
        return Sign(stated, "the page's meta data")
    for element in layout.part.xpath(".//*[@itemprop='availability']"):
        if not layout.is_elsewhere(element):
            text = element.get("href") or element.get("content") or visible_text(element, _MAX_STATUS)
            marked = availability(text)
            return Sign(marked, "the page's structured data") if marked else None
    return None


def _to_people(layout: Layout) -> Sign | None:
    """What a buyer sees: the part that is named after stock and lies nearest to the title, a line, the button."""
    button = layout.button
    pressable = button is not None and (not _is_disabled(button) or next(_further_orders(layout), None) is not None)
    for part in sorted(layout.statuses, key=layout.title_level)[:10]:
        text = visible_text(part, _MAX_STATUS + 30)
        status = _of_part(layout, part, text, pressable=pressable)
        if status is not None:
            # What is gone and can be ordered all the same comes later.
            on_order = pressable and status == "out_of_stock" and words.is_on_order(text)
            return Sign("preorder" if on_order else status, f"{text[:_SHORT]!r} on the page")
    if button is not None and pressable and (status := status_in(_text(button))) in ("out_of_stock", "preorder"):
        return Sign(status, f"{_text(button)[:_SHORT]!r} on the page")
    lines = [*_lines(layout)]
    if button is not None and pressable:
        if (gone := next(_gone_before(button, layout), None)) is not None:
            return Sign("out_of_stock", f"{_text(gone)!r} on the page")
        ordered = next((line for line in lines if line.says == "preorder" or words.is_on_order(line.place)), None)
        if ordered is not None:
            return ordered._replace(says="preorder")
        denials = (line for line in lines if words.status_of_places([line.place])[0] == "out_of_stock")
        if (denied := next(denials, None)) is not None and all(line.says != "in_stock" for line in lines):
            return denied
        bid = words.pattern("order", "bid")
        only_bids = all(bid.search(_text(one)) for one in (button, *_further_orders(layout)))
        return None if only_bids else Sign("in_stock", _BUTTON)
    lines += [
        Sign(status, f"{_text(waiting)[:_SHORT]!r} on the page")
        for waiting in layout.part.iter("button", "a", "input")
        if (status := _of_waiting(waiting)) is not None and not layout.is_elsewhere(waiting)
    ]
    return next((line for line in lines if line.says == "out_of_stock"), next(iter(lines), None))


_LINES = ("p", "li", "dd", "tr", "div")


def _of_part(layout: Layout, part: HtmlElement, text: str, *, pressable: bool) -> Availability | None:
    """What a part that is named after stock says, as a whole or in a line for each place that may have the goods.

    That no place has them says nothing of a shop whose button can be pressed.
    """
    leaves = (one for one in part.iter(*_LINES) if next(one.iterdescendants(*_LINES), None) is None)
    lines = [visible_text(leaf, _MAX_STATUS) for leaf in leaves if not layout.is_elsewhere(leaf)]
    if len(lines) < 2:
        return status_in(text)
    at_all, in_places = words.status_of_places(lines)
    if at_all is not None or in_places is None:
        return at_all or status_in(text)
    return None if in_places == "out_of_stock" and pressable else in_places


def _lines(layout: Layout) -> Iterator[Sign]:
    """The lines of the goods' part that are a status and nothing else, the first that says `gone` before all others.

    A line in a list, a table or a choice describes one size.
    """
    others: list[Sign] = []
    for element in layout.part.iter(*scan.HOLD_TEXT, "img", "br"):
        # An icon may stand before the words (`<b><i class="fa"></i> Sold out</b>`), or be a picture that says them.
        text = element.get("alt") if element.tag == "img" else element.tail if element.tag == "br" else element.text
        if (text is None or text.isspace()) and len(element):
            text = element[0].tail if not element[0].text else None
        if text is None or not 1 < len(text) < 300:
            continue
        text = " ".join(text.split())
        if len(text) > _SHORT:
            text = text.partition(". ")[0]
        if not 1 < len(text) <= _MAX_STATUS:
            continue
        status = words.status_of_line(text) if len(text) <= _SHORT else None
        if words.has_ended(text):
            status = "out_of_stock"
        elif (
            status
            and any(up.tag in _OF_ONE_SIZE for up in [element, *element.iterancestors()])
            and not words.is_of_stock_label(text)
        ):
            continue
        if status and not layout.is_elsewhere(element):
            sign = Sign(status, f"{text!r} on the page")
            if status == "out_of_stock":
                yield sign
            others.append(sign)
    yield from others


#: What holds the sizes or colours of one thing, each with a status of its own.
_OF_ONE_SIZE = ("li", "option", "label", "td", "th", "a", "button")


def status_in(text: str) -> Availability | None:
    """What a status line, or the first sentence of a longer text, says; None if it says nothing about stock."""
    if len(text) > _MAX_STATUS:
        text = text[:_MAX_STATUS].partition(". ")[0] if ". " in text[:_MAX_STATUS] else ""
    return words.availability(text) if text else None


def _is_disabled(button: HtmlElement) -> bool:
    """Whether a means of ordering cannot be used: the button itself, or every button of a form."""
    if button.tag == "form":
        inner = [one for one in button.iter("button", "input") if one.tag == "button" or one.get("type") == "submit"]
        return bool(inner) and all(map(_is_disabled, inner))
    classes = (button.get("class") or "").lower().split()
    is_named = any(re.search(r"(?:^|[-_])disabled$", name) for name in classes)
    return button.get("disabled") is not None or button.get("aria-disabled") == "true" or is_named


def _further_orders(layout: Layout) -> Iterator[HtmlElement]:
    """The buttons that can be pressed to order. The nearest one to the title may be a field for the number of pieces."""
    for one in layout.part.iter("button", "a", "input"):
        if scan.is_worded_order(one) and not _is_disabled(one) and not layout.is_elsewhere(one):
            yield one


def _gone_before(button: HtmlElement, layout: Layout) -> Iterator[HtmlElement]:
    """The buttons that cannot be pressed and say nothing but that the goods are gone, before the one that orders."""
    for one in layout.part.iter("button", "input"):
        if one is button:
            return
        if _is_disabled(one) and words.status_of_line(_text(one)) == "out_of_stock" and not layout.is_elsewhere(one):
            yield one


def _of_waiting(button: HtmlElement) -> Availability | None:
    """What a button says that offers no order: a message when the goods are back, `Sold out`, `Coming soon`.

    A message about a lower price is a different thing.
    """
    if (button.tag == "a" and not scan.looks_like_button(button)) or (
        button.tag == "input" and button.get("type") not in ("submit", "button")
    ):
        return None
    text = _text(button)
    if not 0 < len(text) <= _MAX_STATUS or price_words.is_of_price(text):
        return None
    status = words.availability(text)
    return status if status in ("out_of_stock", "preorder") else None


def _text(button: HtmlElement) -> str:
    return visible_text(button, _MAX_STATUS) or button.get("value") or ""
