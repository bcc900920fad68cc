"""Parser of Danawa's category and search lists and of its product pages.

Known of the site: an item may hold several variants. Each variant has its own product code, label and lowest price, and is
an offer of its own. The popularity rank before a name is not part of the name. `일시품절` (sold out for now) and
`가격비교예정` (comparison planned) stand in the place of a price. Advertised items repeat ordinary items of the same page. A
price is the lowest of several shops, whose number `N몰` states, so the seller is unknown.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import partial

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import BadCard, Locale, absolute, attribute, clean, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Availability, Issue, Offer, Parsed

HOMEPAGE = source.get("danawa").homepage
LOCALE = Locale("KR", "ko", "KRW")
#: Ordinary items have the id `productItem<code>`, advertised items `adReaderProductItem<code>`.
CARD = 'li.prod_item[id*="roductItem"]'
PRODUCT = ".prod_tit, .top_summary"
VARIANT = '.prod_pricelist li[id^="productInfoDetail_"]'
_MALLS = re.compile(r"(\d[\d,]*)\s*몰")
_PCODE = re.compile(r"[?&]pcode=(\d+)")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a list, one for each variant, or the offer of a product page. Raises LayoutChanged or Blocked."""
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, PRODUCT) is not None and first(root, CARD) is None:
        yield from _product(page, base)
        return
    # The advertised cards come last.
    cards = sorted(
        listing.cards(root, CARD, page),
        key=lambda card: attribute(card, "id").startswith("ad") or "product-pot" in attribute(card, "class").split(),
    )
    yield from _once(listing.read_cards(cards, partial(_card, page, base), page))
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base)


def _product(page: Page, base: str) -> Iterator[Parsed]:
    """Yield the product's offer.

    A buyer pays the lowest price of the shops, as in the list, although the page's data calls that price a lower bound
    (`from`).
    """
    code = _PCODE.search(base)
    key = code.group(1) if code else None
    for item in listing.product_page(
        page, LOCALE, url=_address(base, key) if key else base, key=key, sku=key, seller_kind="unknown"
    ):
        if isinstance(item, Offer) and item.price_kind == "from":
            item = dataclasses.replace(item, price_kind="now", availability=_availability(item.availability, True))
        yield item


def _availability(stated: Availability | None, has_price: bool) -> Availability:
    if stated in (None, "unknown"):
        return "in_stock" if has_price and source.priced_is_in_stock("danawa") else "unknown"
    return stated


def _once(items: Iterator[Parsed]) -> Iterator[Parsed]:
    """Yield each product once. Ordinary items come first. A repeat with another price becomes an Issue."""
    seen: dict[str, Offer] = {}
    for item in items:
        if not isinstance(item, Offer) or (before := seen.setdefault(item.key, item)) is item:
            yield item
        elif before.price != item.price:
            message = f"{item.title!r} is listed twice, at {before.price_text} and {item.price_text}; the first stands"
            yield Issue(code="two_prices", message=message, where=f"product {item.key}", url=item.url)


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    link = first(card, '.prod_name a[name="productName"], .prod_name a')
    name = _without(link, "pop_rank")
    href = absolute(base, attribute(link, "href"))
    card_code = re.sub(r"\D", "", attribute(card, "id"))
    variants = select(card, VARIANT) or select(card, ".prod_pricelist")[:1]
    if not variants:
        raise BadCard(f"{name!r} has no price list")
    for variant in variants:
        code = re.sub(r"\D", "", attribute(variant, "id")) or card_code
        label = _label(variant)
        own = absolute(base, attribute(first(variant, ".price_sect a"), "href"))
        price = first(variant, ".price_sect")
        price_section = text(price)
        amount = text(price, "strong") or price_section
        malls = _MALLS.search(_without(variant, "price_sect", " "))
        yield from listing.offer(
            page,
            LOCALE,
            listing.Card(
                title=name if not label or label in name else f"{name} {label}",
                url=_address(own if code in own else href, code),
                key=code,
                price_text=f"{amount}원" if amount[-1:].isdigit() else amount,
            ),
            availability=_availability(words.availability(price_section), any(map(str.isdigit, price_section))),
            sku=code,
            specs=text(card, ".spec_list") or None,
            shop_count=int(malls.group(1).replace(",", "")) if malls else None,
        )


def _label(variant: HtmlElement) -> str:
    """Return the text that distinguishes the variant from the others (memory size, 중고), without rank and shop count."""
    section = first(variant, ".memory_sect")
    label = text(section, ".text") or _without(section, "rank")
    return clean(re.sub(r"^\d+\s*위|\d[\d,]*\s*몰", " ", label))


def _without(element: HtmlElement | None, class_name: str, between: str = "") -> str:
    """Return the element's text without the text of descendants that have the class.

    `between` joins the texts of the elements.
    """
    if element is None:
        return ""
    path = f"descendant::text()[not(ancestor::*[contains(concat(' ', @class, ' '), ' {class_name} ')])]"
    return clean(between.join(element.xpath(path)))


def _address(url: str, code: str) -> str:
    """Return the product's address without search words and tracking, so that it stays the same from night to night."""
    pcode = _PCODE.search(url)
    # An advertised item links to the advertising server, which redirects.
    return f"{url.partition('?')[0]}?pcode={code}" if pcode else f"{HOMEPAGE}info/?pcode={code}"
