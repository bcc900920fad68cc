"""The prices that a reader of the page sees, and how likely each is the one that is asked for the page's own goods.

Only prices in the part of the page that is about the goods (see `layout`) are looked at. The signals among these, in the
order of their weight (each is a term of the score in `_ranked`):

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
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from lxml.html import HtmlElement

from extract import money, price_words
from extract.html import visible_text
from extract.items import PriceKind
from extract.money import Ambiguous, Money
from extract.product.context import Context
from extract.product.layout import Layout
from extract.product.scan import name_of, traits_of

_CROSSED = ("del", "s", "strike")
#: Longest text of an element that may be a price element with its label.
_MAX_TEXT = 90
#: A tile that shows other goods has fewer elements than this: a picture, a name, a price, a button.
_MAX_TILE = 60
#: Elements looked at as price elements at most; a page with more is a listing.
_MAX_ELEMENTS = 400


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
    #: Elements whose amounts are no price of these goods: prices of other goods, savings, costs of delivery.
    set_aside: tuple[HtmlElement, ...]


def read(page: Context, layout: Layout, currency: str | None) -> Visible:
    """The prices on the page, best first. `currency` is what the page's structured data states."""
    found: list[VisiblePrice] = []
    unclear: list[Ambiguous] = []
    set_aside: list[HtmlElement] = []
    taken: set[HtmlElement] = set()
    marked = layout.prices[:_MAX_ELEMENTS]
    for order, element in marked:
        if any(up in taken for up in element.iterancestors()):
            continue
        if layout.is_elsewhere(element):
            set_aside.append(element)
            continue
        text = visible_text(element, _MAX_TEXT + 60)
        if not any(map(str.isdigit, text)) or len(text) > _MAX_TEXT:
            continue
        if _on_tile(element, layout):
            set_aside.append(element)
            continue
        reading = _read(text, page, currency, marked)
        if isinstance(reading, Money):
            taken.add(element)
            price = _classified(element, order, reading)
            if price is None:
                set_aside.append(element)
            else:
                found.append(price)
        elif isinstance(reading, Ambiguous):
            unclear.append(reading)
            if reading.reason == money.SET_APART:
                # `$229 99`: the parts of one price, of which none may be taken for the whole.
                taken.add(element)
    if any(price.money.signed for price in found):
        # Where prices carry their currency, a bare number in a part named after prices is something else.
        found = [price for price in found if price.money.signed]
    return Visible(tuple(_ranked(found, layout)), tuple(unclear), tuple(set_aside))


def _read(
    text: str, page: Context, currency: str | None, marked: list[tuple[int, HtmlElement]]
) -> Money | Ambiguous | None:
    reading = money.read_price(text, currency=currency, country=page.country, language=page.language)
    if isinstance(reading, Ambiguous) and reading.reason == money.SEPARATOR:
        habit = _decimal_habit(element.text or "" for _, element in marked)
        return money.read_price(text, currency=currency, country=page.country, language=page.language, decimal=habit)
    return reading


_CENTS = re.compile(r"\d([.,])\d\d(?![\d.,])")


def _decimal_habit(texts: Iterable[str]) -> str | None:
    """The symbol before the cents in the page's prices; None where there are none, or both are used."""
    found = {match.group(1) for text in texts for match in [_CENTS.search(text)] if match}
    return found.pop() if len(found) == 1 else None


def _on_tile(element: HtmlElement, layout: Layout) -> bool:
    """Whether the price stands on a tile that links to other goods: a small part with a linked picture, or a link itself."""
    for up in [element, *element.iterancestors()][:7]:
        if up in layout.above_title:
            return False
        if up.tag == "a":
            return layout.leads_away(up)
        if sum(1 for _ in islice(up.iter("*"), _MAX_TILE)) == _MAX_TILE:
            return False
        if any(layout.leads_away(link) and link.find(".//img") is not None for link in up.iter("a")):
            return True
    return False


def _classified(element: HtmlElement, order: int, reading: Money) -> VisiblePrice | None:
    """The price with its kind; None where names or words say that it is no price of the goods."""
    kind = reading.kind
    own_name = traits_of(name_of(element))
    traits, around = set(own_name), [element]
    own_text = visible_text(element, _MAX_TEXT)
    for up in list(element.iterancestors())[:4]:
        text = visible_text(up, _MAX_TEXT + 10)
        if len(text) > _MAX_TEXT:
            break
        if text != own_text:
            called = money.label_in(text, reading.number)
            if called in ("noise", "unit", "net"):
                return None
            if called is not None and kind == "now":
                kind = price_words.KINDS.get(called, kind)
            if len(money.tokens(text)) > 1:
                # The part holds another price too, so that its name may speak of the other.
                break
        around.append(up)
        traits |= traits_of(name_of(up))
    if "no_price" in traits:
        return None
    inner = [visible_text(child, _MAX_TEXT) for child in element.iterchildren(*_CROSSED)]
    crossed = any(part.tag in _CROSSED for part in around) or own_text in inner
    if crossed or "old" in own_name or ("old" in traits and "current" not in own_name):
        kind = "list"
    named = "price" in traits or element.get("itemprop") == "price"
    if not named and not price_words.explains(money.without_amounts(own_text)):
        # An amount in a sentence.
        return None
    return VisiblePrice(element, order, reading, kind, named, "current" in traits)


def _ranked(found: list[VisiblePrice], layout: Layout) -> list[VisiblePrice]:
    title_levels = {price.order: layout.title_level(price.element) for price in found}
    button_levels = {price.order: layout.button_level(price.element) for price in found}
    title_ranks = {level: rank for rank, level in enumerate(sorted(set(title_levels.values())))}
    button_ranks = {level: rank for rank, level in enumerate(sorted(set(button_levels.values())))}
    seen_often = Counter(price.amount for price in found)
    scored = []
    for rank, price in enumerate(found):
        score = 2.0 / (1 + title_ranks[title_levels[price.order]])
        if layout.button is not None:
            score += 1.5 / (1 + button_ranks[button_levels[price.order]])
        score += 1.0 * price.named + 0.7 * price.current + 0.5 * (price.money.currency is not None) + 0.5 / (1 + rank)
        score += 0.3 * min(seen_often[price.amount] - 1, 3)
        if price.kind in ("list", "monthly"):
            score -= 3
        scored.append(replace(price, score=score))
    return sorted(scored, key=lambda price: -price.score)


def beside(price: VisiblePrice) -> dict[str, price_words.Label]:
    """The amounts, as printed, in the smallest part around a price that holds others too; empty where none is near."""
    for up in list(price.element.iterancestors())[:4]:
        text = visible_text(up, _MAX_TEXT + 10)
        if len(text) > _MAX_TEXT:
            break
        found = money.tokens(text)
        if len(found) > 1:
            return found
    return {}


def by_amount(prices: tuple[VisiblePrice, ...]) -> Iterator[VisiblePrice]:
    """The best price of each amount, in the order of their scores."""
    seen: set[Decimal] = set()
    for price in prices:
        if price.amount not in seen:
            seen.add(price.amount)
            yield price
