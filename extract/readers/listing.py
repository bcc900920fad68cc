"""What the shop parsers share: the cards of a listing, text of an element, and an offer made of a card's words.

A selector is an assertion. A listing whose cards are not found raises LayoutChanged; one card that cannot be read becomes
an Issue and the others go on.
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

from gpuledger.extract import looks, wording
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.fetch import blocks
from gpuledger.extract.items import Issue, Link, ListingTotal, Offer, Parsed, PriceKind
from gpuledger.extract.markup.links import joined
from gpuledger.extract.markup.mojibake import mend
from gpuledger.extract.price.money import Ambiguous, Money, read_price
from gpuledger.extract.price.no_price import is_shown_mark
from gpuledger.extract.source import Page


class Locale(NamedTuple):
    """How a shop's site writes prices: ISO 3166 country, ISO 639 language, ISO 4217 currency of a bare number.

    All are None for a site that sells in several currencies: there only a price that names its own can be read.
    """

    country: str | None
    language: str | None
    currency: str | None


class BadCard(ValueError):
    """A card lacks what every card has. Its message becomes the Issue's."""


@functools.cache
def _compiled(css: str) -> CSSSelector:
    return CSSSelector(css, translator="html")


def select(element: HtmlElement, css: str) -> list[HtmlElement]:
    """All descendants that match the CSS selector, in document order."""
    elements: list[HtmlElement] = _compiled(css)(element)
    looks.note(css, found=bool(elements))
    return elements


def first(element: HtmlElement, css: str) -> HtmlElement | None:
    """The first descendant that matches, or None."""
    return next(iter(select(element, css)), None)


def clean(text: str) -> str:
    """Text with every run of white space, no-break spaces included, as one space, and twice-encoded letters mended."""
    return " ".join(mend(text).split())


def text(element: HtmlElement | None, css: str | None = None) -> str:
    """The element's text (or that of its first descendant that matches `css`), cleaned; empty where there is none."""
    if element is not None and css is not None:
        element = first(element, css)
    return "" if element is None else clean(element.text_content())


def attribute(element: HtmlElement | None, name: str) -> str:
    """The attribute's value, cleaned; empty where the element or the attribute is missing."""
    return "" if element is None else clean(element.get(name) or "")


def address(page: Page, root: HtmlElement, homepage: str) -> str:
    """The page's own address, against which its links stand and which tells the country's site.

    It is where the page came from; for a saved file without one, its canonical link, else the shop's homepage.
    """
    canonical = attribute(first(root, 'link[rel="canonical"]'), "href")
    open_graph = attribute(first(root, 'meta[property="og:url"]'), "content")
    candidates = (page.final_url, page.url, canonical, open_graph)
    return next((url for url in candidates if urlsplit(joined("", url)).scheme in ("http", "https")), homepage)


def next_page(root: HtmlElement, base: str, css: str = "") -> Iterator[Link]:
    """The link to the listing's next page, where there is one. `css` is a shop's own selector for it."""
    every = 'link[rel="next"], a[rel="next"]' + (f", {css}" if css else "")
    yield from link_to(
        base, next((address for link in select(root, every) if (address := attribute(link, "href"))), "")
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
    """How many goods the listing says that it holds (`1-36 of 1,204 results`); nothing where it does not, or says several.

    `over 1,000` is no number, and words for something else behind it (`1-5 of 240 reviews`) are no goods.
    """
    shown = clean(" ".join(root.xpath("//body//text()[not(parent::script or parent::style)]")))
    found = {
        int(re.sub(r"\D", "", match.group(3) or match.group(4))): match.group() for match in _TOTAL.finditer(shown)
    }
    if len(found) == 1:
        yield from (ListingTotal(count=count, text=text) for count, text in found.items())


def link_to(base: str, href: str) -> Iterator[Link]:
    """The link to the listing's next page, unless it leads nowhere or to the page itself."""
    url = absolute(base, href)
    if url and url != base and not href.startswith(("#", "javascript:")):
        yield Link(url=url, role="next_page")


def not_understood(page: Page, seen: str) -> LayoutChanged:
    """The error of a page without what it should hold. Raises Blocked instead where the page is a wall and no shop page."""
    blocks.detect(page.content, page.final_url, page.headers, page.status)
    return LayoutChanged(page.final_url or page.url, seen)


def cards(root: HtmlElement, css: str, page: Page) -> list[HtmlElement]:
    """The listing's cards. Raises LayoutChanged (or Blocked) where there is none."""
    elements = select(root, css)
    if not elements:
        raise not_understood(page, f"no listing card matches {css!r}")
    return elements


def read_cards(
    elements: Iterable[HtmlElement], read: Callable[[HtmlElement], Iterable[Parsed]], page: Page
) -> Iterator[Parsed]:
    """What `read` gives for each card; a card that it cannot read (ValueError) becomes an Issue with the card's text.

    Raises LayoutChanged where no card at all can be read: then it is not the card that is wrong.
    """
    issues: list[Issue] = []
    read_some = False
    for position, card in enumerate(elements, start=1):
        try:
            items = list(read(card))
        except ValueError as error:
            shown = text(card)[:200]
            issues.append(
                Issue(code="bad_card", message=str(error), where=f"card {position}", text=shown, url=page.final_url)
            )
            continue
        read_some = read_some or any(isinstance(item, Offer) for item in items)
        yield from items
    if issues and not read_some:
        raise not_understood(page, f"none of {len(issues)} listing cards could be read; the first: {issues[0].message}")
    yield from issues


def read_money(shown: str, locale: Locale, title: str, page: Page) -> tuple[Money | None, Issue | None]:
    """What a price element's text says, and an Issue where it holds a number that is no price to be relied on.

    `title` is for the Issue's message.
    """
    money = read_price(shown, currency=locale.currency, country=locale.country, language=locale.language)
    if isinstance(money, Money) and money.currency is None:
        money = Ambiguous(shown, "its currency is not named")
    if isinstance(money, Ambiguous):
        message = f"the price {clean(shown)!r} of {title!r} cannot be told: {money.reason}"
        return None, Issue(code="ambiguous_price", message=message, text=shown, url=page.final_url)
    if money and is_shown_mark(money.amount):
        message = f"{clean(shown)!r} stands where {title!r} has no price"
        return None, Issue(code="no_price", severity="info", message=message, text=shown, url=page.final_url)
    return money, None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What one card of a listing shows, as it is written there; a text is empty where the card has none."""

    title: str
    url: str
    #: What the shop calls the listing by for as long as it keeps it.
    key: str
    #: The text of the price element alone.
    price_text: str = ""
    #: A number written for programs, `1599.99` in an attribute.
    machine_price: str = ""
    #: The text of a was-price.
    list_text: str = ""
    price_kind: PriceKind = "now"


def offer(page: Page, locale: Locale, card: Card, **facts: Any) -> Iterator[Parsed]:
    """One Offer of a card, and an Issue for each of its amounts that cannot be read without guessing.

    Where the price in the text and the one for programs disagree, neither is taken. `facts` are further fields of Offer. A
    condition that the title names wins over none; a title that names a set of goods makes the price a `bundle` price.
    Raises BadCard where title, url or key is missing.
    """
    title, price_text, machine_price = clean(card.title), card.price_text, card.machine_price
    if not (title and card.url and card.key):
        missing = [name for name, value in (("title", title), ("address", card.url), ("key", card.key)) if not value]
        raise BadCard(f"the card has no {' and no '.join(missing)}")
    money, issue = read_money(price_text, locale, title, page)
    stated = _machine(machine_price, locale)
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
        price_kind = "bundle" if wording.is_bundle(title) else money.kind
    facts["condition"] = wording.condition(title) or facts.get("condition") or "new"
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


def _machine(number: str, locale: Locale) -> Money | None:
    """The amount of a plain decimal written for programs; None where there is none, 0, or a placeholder of nines."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,4})?", number) or locale.currency is None:
        return None
    amount = Decimal(number)
    return Money(amount, locale.currency, "now", number) if amount and not is_shown_mark(amount) else None


def refine(items: Iterable[Parsed], url: str, **known: Any) -> Iterator[Parsed]:
    """The items of a product page with what the shop's own markup says of its offer; absent values change nothing.

    `url` is the address that stays the same from night to night. The shops read here sell new goods and say so of others,
    so a condition that nothing names is new.
    """
    facts = {name: value for name, value in known.items() if value is not None}
    for item in items:
        if isinstance(item, Offer):
            condition = "new" if item.condition == "unknown" else item.condition
            item = dataclasses.replace(item, **{"url": url, "condition": condition} | facts)
        yield item


def absolute(base: str, href: str) -> str:
    """The address of a link, without fragment; empty where the link has none."""
    return joined(base, href).partition("#")[0] if href else ""
