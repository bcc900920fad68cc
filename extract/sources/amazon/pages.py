"""Parser of Amazon's search pages and product pages.

Known of the site: many results of a search have no price, and unrelated goods are mixed in (a bracket, a charger, another
card). The parser yields offers of them too; another part of the program decides which GPU each offer means. The old price
stands beside the price and is marked `data-a-strike`. The price of other sellers stands under "More buying choices"; it is
not the price of the result itself.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.price.money import Money
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, attribute, clean, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Availability, Condition, Issue, Offer, Parsed, SellerKind

HOMEPAGE = source.get("amazon").homepage
CARD = 'div[data-component-type="s-search-result"][data-asin]:not([data-asin=""])'
PRODUCT = "#productTitle, #dp"
#: The elements that state the price of a product page, in the layouts of 2018 to 2024. All that a page has must agree.
PRICES = (
    "#corePriceDisplay_desktop_feature_div .a-price:not([data-a-strike]):not(.a-text-price)",
    "#corePrice_feature_div .a-price:not([data-a-strike]):not(.a-text-price)",
    "#price_inside_buybox, #newBuyBoxPrice",
    "#priceblock_ourprice, #priceblock_dealprice, #priceblock_saleprice",
)
LIST_PRICE = ".basisPrice .a-offscreen, #listPrice, .priceBlockStrikePriceString, #priceblock_listprice"
_SITES = {
    "amazon.com": Locale("US", "en", "USD"),
    "amazon.co.uk": Locale("GB", "en", "GBP"),
    "amazon.de": Locale("DE", "de", "EUR"),
    "amazon.co.jp": Locale("JP", "ja", "JPY"),
    "amazon.pl": Locale("PL", "pl", "PLN"),
    "amazon.ca": Locale("CA", "en", "CAD"),
    "amazon.fr": Locale("FR", "fr", "EUR"),
    "amazon.it": Locale("IT", "it", "EUR"),
    "amazon.es": Locale("ES", "es", "EUR"),
    "amazon.nl": Locale("NL", "nl", "EUR"),
    "amazon.com.au": Locale("AU", "en", "AUD"),
}
_SITE_OF_LANGUAGE = {f"{locale.language}-{locale.country}".lower(): site for site, locale in _SITES.items()}
_ASIN = re.compile(r"/(?:dp|gp/product|product)/([A-Z0-9]{10})\b")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a search and the link to its next page, or the offer of a product page.

    Raises LayoutChanged or Blocked.
    """
    root = tree(page.content, page.headers.get("content-type"))
    # The Amazon site of the page, by its address, else by its canonical link, else by its language.
    host = urlsplit(listing.address(page, root, "")).hostname or ""
    known = next((site for site in _SITES if host == site or host.endswith(f".{site}")), None)
    site = known or _SITE_OF_LANGUAGE.get(attribute(root, "lang").lower(), "amazon.com")
    if first(root, PRODUCT) is not None:
        yield from _product(page, root, site)
        return
    cards = listing.cards(root, CARD, page)
    yield from listing.read_cards(cards, partial(_card, page, site), page)
    base = listing.address(page, root, f"https://www.{site}/")
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base, "a.s-pagination-next, ul.a-pagination li.a-last a")


def _product(page: Page, root: HtmlElement, site: str) -> Iterator[Parsed]:
    locale = _SITES[site]
    match = _ASIN.search(listing.address(page, root, ""))
    asin = match.group(1) if match else attribute(first(root, "input#ASIN"), "value") or None
    title, seller = text(root, "#productTitle"), _seller(root)
    items = listing.product_page(
        page,
        locale,
        url=f"https://www.{site}/dp/{asin}" if asin else listing.address(page, root, HOMEPAGE),
        key=asin,
        sku=asin,
        condition=words.condition(title) or _condition(root),
        seller=seller,
        seller_kind=_seller_kind(seller),
    )
    price = _own_price(page, root, locale)
    old, _ = listing.read_money(text(root, LIST_PRICE), locale, title, page)
    for item in items:
        if price is None or not isinstance(item, Offer | Issue):
            yield item
        elif isinstance(item, Issue):
            # The page's own price elements give the price, so an Issue about the price is not needed.
            if item.code not in ("ambiguous_price", "no_price"):
                yield item
        elif item.price in (None, price.amount):
            is_higher = old and old.currency == price.currency and old.amount > price.amount
            yield dataclasses.replace(
                item,
                price=price.amount,
                currency=price.currency,
                price_kind="bundle" if words.is_bundle(title) else price.kind,
                price_text=price.text,
                list_price=old.amount if old and is_higher else None,
            )
        else:
            message = f"{title!r} shows {price.text!r} where Amazon prints its price, and {item.price_text!r} elsewhere"
            yield Issue(code="two_prices", message=message, text=price.text, url=item.url)
            yield dataclasses.replace(item, price=None, price_kind=None, list_price=None)


def _own_price(page: Page, root: HtmlElement, locale: Locale) -> Money | None:
    """Return the price on which all of the page's price elements agree; None if they do not agree."""
    prices: set[Money] = set()
    for css in PRICES:
        for element in select(root, css):
            price_text = text(element, ".a-offscreen") or text(element)
            money, issue = listing.read_money(price_text, locale, "the product", page)
            if issue:
                return None
            if money:
                prices.add(dataclasses.replace(money, text=price_text))
    amounts = {(money.amount, money.currency, money.kind) for money in prices}
    return min(prices, key=lambda money: money.text) if len(amounts) == 1 else None


def _seller(root: HtmlElement) -> str | None:
    """Return the seller, who is not always the shipper: `Sold by Kettle Parts and Fulfilled by Amazon`."""
    seller = text(root, "#sellerProfileTriggerId") or text(root, "#merchant-info a")
    match = re.search(r"sold by (.+?)(?: and |\.?$)", text(root, "#merchant-info"), re.IGNORECASE)
    return seller or (match.group(1) if match else None)


def _seller_kind(seller: str | None) -> SellerKind | None:
    if not seller:
        return None
    return "first_party" if seller.lower().startswith("amazon") else "marketplace"


def _condition(root: HtmlElement) -> Condition | None:
    """Return the condition by the rows of the box to buy from: used if no row of new goods stands beside one of used."""
    used = select(root, '[id^="used"]')
    new = select(root, '[id^="newAccordion"], [id^="newBuyBox"], #buyNewSection, #corePrice_feature_div')
    is_used_alone = all(any(up in used for up in one.iterancestors()) for one in new)
    return ("used" if is_used_alone else "new") if used else None


def _card(page: Page, site: str, card: HtmlElement) -> Iterator[Parsed]:
    asin = attribute(card, "data-asin")
    # The brand may stand in a separate heading above the title.
    title = max((text(heading) for heading in select(card, "h2")), key=len, default="")
    yield from listing.offer(
        page,
        _SITES[site],
        listing.Card(
            title=title,
            url=f"https://www.{site}/dp/{asin}",
            key=asin,
            price_text=_price_text(card),
            list_text=text(card, '.a-price[data-a-strike="true"] .a-offscreen'),
        ),
        availability=_availability(card),
        condition=words.condition(text(card, '.s-price-instructions-style, [data-cy="price-recipe"]')),
        sku=asin,
    )


def _price_text(card: HtmlElement) -> str:
    """Return the text of the result's own price: not struck out, not a price per piece, not a price of other sellers."""
    for price in select(card, ".a-price:not([data-a-strike]):not(.a-text-price)"):
        is_of_others = any(up.get("data-cy") == "secondary-offer-recipe" for up in price.iterancestors())
        # Some pages leave the text for screen readers empty. The visible text has sign, units and cents in separate
        # elements.
        if not is_of_others and (price_text := text(price, ".a-offscreen") or text(price, '[aria-hidden="true"]')):
            return price_text
    return ""


def _availability(card: HtmlElement) -> Availability:
    """Return what the result says about stock, which it says beside the price or nowhere.

    Amazon promises a delivery date only for goods that can be bought now.
    """
    lines = (clean(element.text or "") for element in card.iter("span", "div", "button", "p"))
    stated = next((status for line in lines if line and (status := words.status_of_line(line))), None)
    if stated in (None, "in_stock") and _price_text(card):
        promises = words.pattern("delivery", "promise").search(clean(card.text_content()))
        return "in_stock" if promises or stated else "unknown"
    return stated or "unknown"
