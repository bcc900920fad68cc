"""The prices that a reader of the page sees, and how likely each is the one that is asked for the page's own goods.

The signals, in the order of their weight (each is a term of `_score`):

1. The element stands near the title: the smallest part of the page that holds both holds few other prices.
2. It stands near the button that puts the goods into the cart.
3. Its name, or its parent's, speaks of a price (`price`, `cena`, `prix`), of the current one (`our-price`, `final`), or it
   is marked as schema.org's `price`.
4. Its text carries a currency.
5. It comes first.

What speaks against: a part of the page that shows other goods (related, cart, menu), an old price (`del`, `was`), a
monthly rate, a saving, a price of delivery. Such a price is never the one that is asked; an old one is kept as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from lxml.html import HtmlElement

from extract import money
from extract.html import UNSEEN, is_hidden, visible_text
from extract.items import PriceKind
from extract.money import Ambiguous, Money
from extract.product import signs
from extract.product.context import Context

#: Longest text of an element that may be a price element with its label.
_MAX_TEXT = 90
#: Elements looked at as price elements at most; a page with more is a listing.
_MAX_ELEMENTS = 400
_SIGN = re.compile(
    r"[$€£¥￥₩₹₽₴₺₪฿₫₱]\s?\d|\d\s?(?:[€£₩₹₽₴₺₪฿₫]|zł|Kč|kr\b|руб|р\.|тг|원|円|元|lei\b|Ft\b|лв|грн|TL\b|din|kn\b|CHF|EUR|USD|GBP|PLN|б\.)"
    r"|(?:EUR|USD|GBP|PLN|CHF|CZK|SEK|NOK|DKK|CAD|AUD|R\$|Rs\.?|kr\.?)\s?\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VisiblePrice:
    """One price on the page. `order` counts elements from the top; `kind` is what name and words call it."""

    element: HtmlElement
    order: int
    money: Money
    kind: PriceKind
    named: bool
    current: bool
    score: float = 0.0

    @property
    def amount(self) -> Decimal:
        """The amount, above zero."""
        return self.money.amount


@dataclass(frozen=True, slots=True)
class Visible:
    """What was seen: prices of this page's goods with the likeliest first, and texts that could not be read as one price."""

    prices: tuple[VisiblePrice, ...]
    unclear: tuple[Ambiguous, ...]
    button: HtmlElement | None


@lru_cache(maxsize=4096)
def _traits(name: str) -> frozenset[str]:
    """Which kinds of part a class name and id speak of."""
    low = name.lower()
    kinds = (("price", signs.PRICE), ("current", signs.CURRENT), ("old", signs.OLD), ("no_price", signs.NO_PRICE),
             ("elsewhere", signs.ELSEWHERE))  # fmt: skip
    return frozenset(kind for kind, pattern in kinds if pattern.search(low))


def _name(element: HtmlElement) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def read(page: Context, currency: str | None) -> Visible:
    """The prices on the page, best first. `currency` is what the page's structured data states."""
    marked, buttons = _scan(page.tree)
    title = main_heading(page)
    above_title = _levels(title)
    found, unclear = [], []
    taken: set[HtmlElement] = set()
    for order, element in marked[:_MAX_ELEMENTS]:
        if any(up in taken for up in element.iterancestors()):
            continue
        text = visible_text(element, _MAX_TEXT + 60)
        if not any(map(str.isdigit, text)) or _hidden_or_elsewhere(element, above_title):
            continue
        reading = _read(text, page, currency) if len(text) <= _MAX_TEXT else None
        if isinstance(reading, Money):
            taken.add(element)
            price = _classified(element, order, reading, page, currency)
            if price is not None:
                found.append(price)
        elif isinstance(reading, Ambiguous):
            unclear.append(reading)
    button = _main_button(buttons, above_title)
    return Visible(tuple(_ranked(found, above_title, _levels(button), title)), tuple(unclear), button)


def _read(text: str, page: Context, currency: str | None) -> Money | Ambiguous | None:
    return money.read_price(text, currency=currency, country=page.country, language=page.language)


def main_heading(page: Context) -> HtmlElement | None:
    """The `h1` that names the goods: the one that shares most words with the document's title; None without an `h1`."""
    words = set(re.findall(r"\w+", (page.document_title + " " + (page.first_meta("og:title") or "")).lower()))
    best, most = None, -1.0
    for h1, text in page.headings:
        own = set(re.findall(r"\w+", text.lower()))
        shared = len(own & words) / (len(own) + 2)
        if shared > most:
            best, most = h1, shared
    return best


def _scan(tree: HtmlElement) -> tuple[list[tuple[int, HtmlElement]], list[HtmlElement]]:
    """One walk over the page: elements that may be a price, with their place, and buttons that may be the buy button."""
    marked, buttons = [], []
    for order, element in enumerate(tree.iter("*")):
        tag = element.tag
        if tag in UNSEEN or tag in ("meta", "link", "option", "html", "body", "br", "img"):
            continue
        name = _name(element)
        if tag in ("button", "input", "a", "form") and _is_button(element, tag, name):
            buttons.append(element)
            continue
        text = element.text
        if (
            (name != " " and "price" in _traits(name))
            or element.get("itemprop") == "price"
            or (text is not None and 1 < len(text) < 60 and _SIGN.search(text))
        ):
            marked.append((order, element))
    return marked, buttons


def _is_button(element: HtmlElement, tag: str, name: str) -> bool:
    if tag == "form":
        return False
    if signs.BUY_NAME.search(name) or signs.BUY_NAME.search(element.get("name") or ""):
        return True
    if tag == "input":
        return element.get("type") in ("submit", "button", "image") and bool(
            signs.BUY.search(element.get("value") or "")
        )
    if tag == "a":
        text = element.text or ""
        return 2 < len(text) < 40 and bool(signs.BUY.search(text.strip()))
    return bool(signs.BUY.search(visible_text(element, 60)[:60]))


def _levels(anchor: HtmlElement | None) -> dict[HtmlElement, int]:
    """Each element that holds the anchor, with its distance from it."""
    return {} if anchor is None else {up: level for level, up in enumerate(anchor.iterancestors(), 1)} | {anchor: 0}


def _level(element: HtmlElement, levels: dict[HtmlElement, int]) -> int:
    """How far above the anchor the smallest part lies that holds both the anchor and the element."""
    here: HtmlElement | None = element
    while here is not None:
        if here in levels:
            return levels[here]
        here = here.getparent()
    return 99


def _main_button(buttons: list[HtmlElement], above_title: dict[HtmlElement, int]) -> HtmlElement | None:
    """The buy button nearest to the title; buttons of other goods' tiles are further away."""
    own = [button for button in buttons if not _hidden_or_elsewhere(button, above_title)]
    return min(own, key=lambda button: _level(button, above_title), default=None)


def _hidden_or_elsewhere(element: HtmlElement, above_title: dict[HtmlElement, int]) -> bool:
    """Whether the element is not shown, or lies in a part of the page that shows other goods; a part with the title does not."""
    here: HtmlElement | None = element
    while here is not None and here not in above_title:
        if here.tag in ("header", "footer", "nav", "template", "noscript") or is_hidden(here):
            return True
        if here is not element and "elsewhere" in _traits(_name(here)):
            return True
        here = here.getparent()
    return False


def _classified(
    element: HtmlElement, order: int, reading: Money, page: Context, currency: str | None
) -> VisiblePrice | None:
    """The price with its kind; None where names or words say that it is no price of the goods."""
    kind = reading.kind
    traits = set(_traits(_name(element)))
    own_text = visible_text(element, _MAX_TEXT)
    for level, up in enumerate(element.iterancestors()):
        text = visible_text(up, _MAX_TEXT + 10)
        if level > 3 or len(text) > _MAX_TEXT:
            break
        traits |= _traits(_name(up))
        if text == own_text:
            continue
        around = _read(text, page, currency)
        if around is None:
            return None
        if isinstance(around, Money) and around.amount == reading.amount:
            kind = around.kind if kind == "now" else kind
        elif isinstance(around, Ambiguous):
            break
    if "no_price" in traits:
        return None
    crossed = any(up.tag in ("del", "s", "strike") for up in [element, *element.iterancestors()][:4]) or (
        len(element) == 1 and element[0].tag in ("del", "s", "strike")
    )
    if crossed or ("old" in traits and "current" not in _traits(_name(element))):
        kind = "list"
    named = "price" in traits or element.get("itemprop") == "price"
    return VisiblePrice(element, order, reading, kind, named, "current" in traits)


def _ranked(
    found: list[VisiblePrice],
    above_title: dict[HtmlElement, int],
    above_button: dict[HtmlElement, int],
    title: HtmlElement | None,
) -> list[VisiblePrice]:
    title_levels = {price.order: _level(price.element, above_title) for price in found}
    button_levels = {price.order: _level(price.element, above_button) for price in found}
    title_ranks = {level: rank for rank, level in enumerate(sorted(set(title_levels.values())))}
    button_ranks = {level: rank for rank, level in enumerate(sorted(set(button_levels.values())))}
    scored = []
    for rank, price in enumerate(found):
        score = 2.0 / (1 + title_ranks[title_levels[price.order]])
        if above_button:
            score += 1.5 / (1 + button_ranks[button_levels[price.order]])
        score += 1.0 * price.named + 0.7 * price.current + 0.5 * (price.money.currency is not None) + 0.5 / (1 + rank)
        if price.kind in ("list", "monthly"):
            score -= 3
        scored.append(replace(price, score=score))
    return sorted(scored, key=lambda price: -price.score)


def by_amount(prices: tuple[VisiblePrice, ...]) -> Iterator[VisiblePrice]:
    """The best price of each amount, in the order of their scores."""
    seen: set[Decimal] = set()
    for price in prices:
        if price.amount not in seen:
            seen.add(price.amount)
            yield price
