"""What the parsers of shops share: finding the cards of a listing, reading an element's text, making an offer of a card.

A selector is an assertion. If no card of a listing is found, the parser raises LayoutChanged. A single card that cannot be
read becomes an Issue, and the parser goes on with the other cards.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement

from gpuledger.errors import LayoutChanged
from gpuledger.extract import product, words
from gpuledger.extract.fetch import blocks
from gpuledger.extract.markup.links import joined
from gpuledger.extract.markup.mojibake import clean
from gpuledger.extract.price.money import Ambiguous, Money, read_price
from gpuledger.extract.price.no_price import is_shown_mark
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Link, ListingTotal, Offer, Parsed, PriceKind


class Locale(NamedTuple):
    """How a shop's site writes prices: ISO 3166 country, ISO 639 language, ISO 4217 currency of a number without a currency.

    All are None for a site that sells in several currencies. On such a site only prices that name their currency can be
    read.
    """

    country: str | None
    language: str | None
    currency: str | None


class BadCard(ValueError):
    """A card lacks a part that every card has. The message becomes the message of the Issue."""


@functools.cache
def _compiled(css: str) -> CSSSelector:
    return CSSSelector(css, translator="html")


def select(element: HtmlElement, css: str) -> list[HtmlElement]:
    """Return all descendants that match the CSS selector, in document order."""
    elements: list[HtmlElement] = _compiled(css)(element)
    return elements


def first(element: HtmlElement, css: str) -> HtmlElement | None:
    """Return the first descendant that matches, or None."""
    return next(iter(select(element, css)), None)


def text(element: HtmlElement | None, css: str | None = None) -> str:
    """Return the cleaned text of the element, or of its first descendant that matches `css`; empty if there is none."""
    if element is not None and css is not None:
        element = first(element, css)
    return "" if element is None else clean(element.text_content())


def attribute(element: HtmlElement | None, name: str) -> str:
    """Return the attribute's cleaned value; empty if the element or the attribute is missing."""
    return "" if element is None else clean(element.get(name) or "")


def address(page: Page, root: HtmlElement, homepage: str) -> str:
    """Return the page's own address, which resolves its links and shows which country's site it is.

    It is the address that the page came from. For a saved file without an address it is the canonical link, else the shop's
    homepage.
    """
    canonical = attribute(first(root, 'link[rel="canonical"]'), "href")
    open_graph = attribute(first(root, 'meta[property="og:url"]'), "content")
    candidates = (page.final_url, page.url, canonical, open_graph)
    return next((url for url in candidates if urlsplit(joined("", url)).scheme in ("http", "https")), homepage)


def next_page(root: HtmlElement, base: str, css: str = "") -> Iterator[Link]:
    """Yield the link to the listing's next page, if there is one. `css` is the shop's own selector for that link."""
    selectors = 'link[rel="next"], a[rel="next"]' + (f", {css}" if css else "")
    yield from link_to(
        base, next((address for link in select(root, selectors) if (address := attribute(link, "href"))), "")
    )


_TOTAL = re.compile(
    r"""(?<![\d.,])(\d[\d.,]{0,8})\s*(?:[-–—~〜]|to|bis)\s*(\d[\d.,]{0,8})\s*(?:of|von|z|ze|de|di|van|av|af|из|out\sof)\s*
        (\d{1,3}(?:[.,\s]\d{3})*|\d{1,9})(?!\d)\s*
        (?:total\s)?(?:results?|items?|products?|ergebnisse\w*|artikel\w*|produkt\w*|résultats|articles|produits|resultados|productos
        |produtos|risultati|prodotti|resultaten|producten|wynik\w*|резул\w*|товар\w*)\b
        |全?(\d[\d,]{0,8})\s*件\s?中""",
    re.IGNORECASE | re.VERBOSE,
)


def listing_total(root: HtmlElement) -> Iterator[ListingTotal]:
    """Yield the number of goods that the listing states (`1-36 of 1,204 results`); nothing if it states none or several.

    `over 1,000` is not a number of goods, and neither is a number of something else (`1-5 of 240 reviews`).
    """
    page_text = clean(" ".join(root.xpath("//body//text()[not(parent::script or parent::style)]")))
    totals = {
        int(re.sub(r"\D", "", match.group(3) or match.group(4))): match.group() for match in _TOTAL.finditer(page_text)
    }
    if len(totals) == 1:
        yield from (ListingTotal(count=count, text=text) for count, text in totals.items())


def link_to(base: str, href: str) -> Iterator[Link]:
    """Yield the link to the listing's next page, unless it leads nowhere or to the page itself."""
    url = absolute(base, href)
    if url and url != base and not href.startswith(("#", "javascript:")):
        yield Link(url=url, role="next_page")


def not_understood(page: Page, seen: str) -> LayoutChanged:
    """Return the error for a page that is not what it should be.

    Raises Blocked if the page is a wall instead of a shop's page.
    """
    blocks.detect(page.content, page.final_url, page.headers, page.status)
    return LayoutChanged(page.final_url or page.url, seen)


def cards(root: HtmlElement, css: str, page: Page) -> list[HtmlElement]:
    """Return the listing's cards. Raises LayoutChanged (or Blocked) if there are none."""
    elements = select(root, css)
    if not elements:
        raise not_understood(page, f"no listing card matches {css!r}")
    return elements


def read_cards(
    elements: Iterable[HtmlElement], read: Callable[[HtmlElement], Iterable[Parsed]], page: Page
) -> Iterator[Parsed]:
    """Yield the items that `read` gives for each card.

    A card that `read` refuses (ValueError) becomes an Issue with its text.

    Raises LayoutChanged if no card at all can be read, since the fault is then not in a single card.
    """
    issues: list[Issue] = []
    has_offer = False
    for position, card in enumerate(elements, start=1):
        try:
            items = list(read(card))
        except ValueError as error:
            card_text = text(card)[:200]
            issues.append(
                Issue(code="bad_card", message=str(error), where=f"card {position}", text=card_text, url=page.final_url)
            )
            continue
        has_offer = has_offer or any(isinstance(item, Offer) for item in items)
        yield from items
    if issues and not has_offer:
        raise not_understood(page, f"none of {len(issues)} listing cards could be read; the first: {issues[0].message}")
    yield from issues


def read_money(price_text: str, locale: Locale, title: str, page: Page) -> tuple[Money | None, Issue | None]:
    """Return the price in a price element's text, and an Issue if the text has a number that is not surely a price.

    `title` is for the Issue's message.
    """
    money = read_price(price_text, currency=locale.currency, country=locale.country, language=locale.language)
    if isinstance(money, Money) and money.currency is None:
        money = Ambiguous(price_text, "its currency is not named")
    if isinstance(money, Ambiguous):
        message = f"the price {clean(price_text)!r} of {title!r} cannot be told: {money.reason}"
        return None, Issue(code="ambiguous_price", message=message, text=price_text, url=page.final_url)
    if money and is_shown_mark(money.amount):
        message = f"{clean(price_text)!r} stands where {title!r} has no price"
        return None, Issue(code="no_price", severity="info", message=message, text=price_text, url=page.final_url)
    return money, None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The texts of one card of a listing, as the card prints them. A text is empty if the card does not have it."""

    title: str
    url: str
    #: The shop's identifier of the listing, which stays the same for as long as the shop keeps the listing.
    key: str
    #: The text of the price element alone.
    price_text: str = ""
    #: A number that the page states for programs, such as `1599.99` in an attribute.
    machine_price: str = ""
    #: The text of a was-price.
    list_text: str = ""
    price_kind: PriceKind = "now"


def offer(page: Page, locale: Locale, card: Card, **facts: Any) -> Iterator[Parsed]:
    """Yield the Offer of a card, and an Issue for each amount that cannot be read without guessing.

    If the price in the text and the price for programs disagree, the offer has no price. `facts` are further fields of
    Offer. A condition that the title names wins over the one in `facts`. A title that names a set of goods makes the price a
    `bundle` price. Raises BadCard if title, url or key is missing.
    """
    title, price_text, machine_price = clean(card.title), card.price_text, card.machine_price
    if not (title and card.url and card.key):
        missing = [name for name, value in (("title", title), ("address", card.url), ("key", card.key)) if not value]
        raise BadCard(f"the card has no {' and no '.join(missing)}")
    money, issue = read_money(price_text, locale, title, page)
    stated = _machine_money(machine_price, locale)
    if stated and money and (money.amount, money.currency) != (stated.amount, stated.currency):
        message = f"{title!r} shows {clean(price_text)!r} and says {machine_price} to programs: no price is taken"
        money, issue = None, Issue(code="two_prices", message=message, text=price_text, url=page.final_url)
    elif stated:
        money, issue = stated, None
    if issue:
        yield issue
    old, _ = read_money(card.list_text, locale, title, page)
    is_higher = money and old and old.currency == money.currency and old.amount > money.amount
    price_kind = card.price_kind
    if price_kind == "now" and money:
        price_kind = "bundle" if words.is_bundle(title) else money.kind
    facts["condition"] = words.condition(title) or facts.get("condition") or "new"
    yield Offer(
        title=title,
        url=card.url,
        key=card.key,
        price=money.amount if money else None,
        currency=money.currency if money else None,
        price_kind=price_kind if money else None,
        price_text=clean(price_text) or machine_price or None,
        list_price=old.amount if old and is_higher else None,
        **facts,
    )


def _machine_money(number: str, locale: Locale) -> Money | None:
    """Return the amount of a plain decimal meant for programs; None for any other text, 0, and a placeholder of nines."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,4})?", number) or locale.currency is None:
        return None
    amount = Decimal(number)
    return Money(amount, locale.currency, "now", number) if amount and not is_shown_mark(amount) else None


def product_page(page: Page, locale: Locale, url: str, **known: Any) -> Iterator[Parsed]:
    """Yield the items of a product page, after setting those fields of its offer that the shop's own markup gives.

    A value None in `known` changes nothing. `url` is the address that stays the same from night to night. These shops sell
    new goods and mark all others, so a condition that is not named is new.
    """
    facts = {name: value for name, value in known.items() if value is not None}
    for item in product.parse(page, country=locale.country, language=locale.language):
        if isinstance(item, Offer):
            condition = "new" if item.condition == "unknown" else item.condition
            item = dataclasses.replace(item, **{"url": url, "condition": condition} | facts)
        yield item


def absolute(base: str, href: str) -> str:
    """Return the address of a link without its fragment; empty if the link has no address."""
    return joined(base, href).partition("#")[0] if href else ""
