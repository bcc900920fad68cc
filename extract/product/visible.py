"""The prices that a reader of the page sees, and how likely each one is the asked price of the page's own goods.

Only prices in the part of the page that is about the goods (see `layout`) count. The signs of the asked price among these,
in the order of their weight (each is a term of the score in `_ranked`):

1. The element stands near the title: the smallest part of the page that holds both holds few other prices.
2. It stands near the button that puts the goods into the cart.
3. Its name or its parent's name speaks of a price (`price`, `cena`, `prix`) or of the current price (`our-price`, `final`),
   or the element is marked as schema.org's `price`.
4. Its text carries a currency.
5. It comes first.
6. A word for `price` and nothing else stands right before it.

Signs against it: a part of the page that shows other goods (related, cart, menu), an old price (`del`, `was`), a monthly
rate, a saving, a price of delivery. Such a price is never the asked one; an old price is kept as the old price.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import money, vat
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.money import Ambiguous, Money
from gpuledger.extract.product import claims, scan
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.layout import Layout
from gpuledger.extract.product.prices import MAX_TEXT, Reader, VisiblePrice, classified, is_for_members

#: A tile that shows other goods has fewer elements than this: a picture, a name, a price, a button.
_MAX_TILE = 60
#: The most elements that are read as price elements. A page with more is a listing.
_MAX_ELEMENTS = 400


@dataclass(frozen=True, slots=True)
class Visible:
    """What people see: prices of this page's goods, the likeliest first, and texts that cannot be read as one price."""

    prices: tuple[VisiblePrice, ...]
    unclear: tuple[Ambiguous, ...]
    #: Elements whose amounts are not prices of these goods: prices of other goods, savings, costs of delivery.
    set_aside: tuple[HtmlElement, ...]
    #: Amounts that the page calls prices before tax.
    net: frozenset[Decimal]
    #: Amounts that only members of a club pay.
    for_members: frozenset[Decimal]
    #: The part of the page that was searched.
    part: HtmlElement


def visible_prices(page: Context, layout: Layout, currency: str | None) -> Visible:
    """The prices on the page, best first. `currency` is what the page's structured data states."""
    unclear: list[Ambiguous] = []
    set_aside: list[HtmlElement] = []
    marked = layout.prices[:_MAX_ELEMENTS]
    reader = Reader(page, currency, marked)
    for_members: set[Decimal] = set()
    net: set[Decimal] = set()
    prices: list[VisiblePrice] = []
    labelled_away: list[tuple[HtmlElement, int, Money]] = []
    handled_elements: set[HtmlElement] = set()
    for order, element in marked:
        if any(up in handled_elements or up in reader.joined for up in [element, *element.iterancestors()]):
            continue
        if layout.is_elsewhere(element) or (layout.button is None and layout.is_in_another_section(element)):
            set_aside.append(element)
            continue
        _take_off_title(element, layout)
        for part in element.iterchildren("span", "div", "p", "b", "i", "small"):
            if len(part) == 0 and "old" in scan.traits_of(scan.name_of(part)) and not layout.is_elsewhere(part):
                part.tag = "s"  # what is named so is struck out: `32 499 ₽ <span class="prev">35 999</span>`
        text = visible_text(element, MAX_TEXT + 60)
        if not any(map(str.isdigit, text)) or len(text) > MAX_TEXT:
            continue
        if _on_tile(element, layout) or _is_of_another_card(element, layout):
            set_aside.append(element)
            continue
        reading = reader.read_element(element, text)
        set_aside += element.iterdescendants(*scan.CROSSED)
        if isinstance(reading, Money):
            price = classified(element, order, reading)
            holds_several = price is None and len(money.tokens(text)) > 1
            if holds_several and "no_price" not in scan.traits_of(scan.name_of(element)):
                # Words about one of its amounts do not hold for all of them: the parts are read one by one.
                continue
            handled_elements.add(element)
            if price is None or price.kind == "monthly":
                labelled_away.append((element, order, reading))
            if price is None and is_for_members(element, reading):
                for_members.add(reading.amount)
            elif price is None and money.label_in(reading.text, reading.number) == "net":
                net.add(reading.amount)
            if price is None:
                # `or 219.90 in 4 x 54.97`: one of several amounts may be a price after all, and nothing else explains it.
                set_aside += [] if holds_several else [element]
            else:
                prices.append(price)
        elif reading is None:
            for_members |= {vat.value_of(one) for one, label in money.tokens(text).items() if label == "member"}
        elif isinstance(reading, Ambiguous):
            unclear.append(reading)
            if reading.reason == money.SET_APART and len(money.tokens(text)) <= 1:
                # `$229 99` are the parts of one price, and none of them may count as the whole.
                handled_elements.add(element)
    if all(price.kind in ("list", "monthly") for price in prices):
        again = (classified(*one, alone=True) for one in labelled_away)
        found = [
            price for price in again if price is not None and price.named and price.kind not in ("list", "monthly")
        ]
        set_aside = [element for element in set_aside if element not in {price.element for price in found}]
        prices = found + [price for price in prices if price.order not in {one.order for one in found}]
    prices, before_tax, others = _for_everybody(prices, for_members, net, layout)
    set_aside += others
    return Visible(
        tuple(_ranked(prices, layout)),
        tuple(unclear),
        tuple(set_aside),
        before_tax,
        frozenset(for_members),
        layout.part,
    )


def _for_everybody(
    prices: list[VisiblePrice], for_members: Set[Decimal], net: Set[Decimal], layout: Layout
) -> tuple[list[VisiblePrice], frozenset[Decimal], list[HtmlElement]]:
    """The prices that everybody pays for the chosen goods, the amounts before tax, and the elements of the other prices."""
    set_aside: list[HtmlElement] = []
    if any(price.amount not in for_members for price in prices):
        # What only members pay stands at the top of some pages without a word.
        prices = [price for price in prices if price.amount not in for_members]
    if len({price.amount for price in prices}) > 1:
        unchosen = [price for price in prices if price.kind != "list" and _is_unchosen(price.element, layout)]
        set_aside += [price.element for price in unchosen]
        prices = [price for price in prices if price not in unchosen]
    own = [price for price in prices if not _is_of_another_offer(price, layout)]
    if len(own) < len(prices) and any(price.kind == "now" for price in own):
        set_aside += [price.element for price in prices if price not in own]
        prices = own
    if any(price.money.signed for price in prices):
        # If prices carry their currency, a bare number in a part named after prices is something else. But in a part named
        # after the current price it counts against the other prices: `Rs. 1,299` and, under `final-price`, 449.
        prices = [
            candidate
            for candidate in prices
            if candidate.money.signed or candidate.kind == "list" or (candidate.named and candidate.current)
        ]
    before_tax = [
        price for price in prices if price.net or money.label_in(price.money.text, price.money.number) == "net"
    ]
    net = net | {price.amount for price in before_tax}
    gross = [price for price in prices if price not in before_tax]
    if gross:
        # A price before tax is the asked one only if the page shows no other price.
        set_aside += [price.element for price in prices if price not in gross]
        prices = gross
    if all(price.kind in ("list", "monthly") for price in prices):
        prices = [replace(price, kind="now") if price.usual else price for price in prices]
    return prices, frozenset(net), set_aside


def _is_of_another_offer(price: VisiblePrice, layout: Layout) -> bool:
    """Whether the words before the price name a condition, and the goods' name none: `Open Box: from $746.99`."""
    part = price.element.getparent()
    text = "" if part is None or part in layout.above_title else visible_text(part, MAX_TEXT)
    before = text.partition(price.money.text.strip())[0]
    of_used = words.condition(before) is not None and not money.tokens(before)
    return of_used and (layout.title is None or words.condition(visible_text(layout.title)) is None)


def _take_off_title(element: HtmlElement, layout: Layout) -> None:
    """Take words of the title off the beginning of a price: `VENTUS 2X 309,90 €` is no rate, two of which are paid."""
    if layout.title is None or element in layout.above_title:
        return
    title, own = f" {visible_text(layout.title).lower()} ", (element.text or "").split()
    begun = [place for place in range(1, len(own)) if f" {' '.join(own[:place]).lower()} " in title]
    taken = own[: begun[-1]] if begun else []
    if any(len(word) > 2 and word.isalpha() for word in taken) and not words.speaks_of_card(" ".join(taken)):
        element.text = " ".join(own[begun[-1] :])


def _on_tile(element: HtmlElement, layout: Layout) -> bool:
    """Whether the price stands on a tile that links to other goods: a small part with a linked picture, or a link itself.

    A price element that holds only a link counts too, as in a table of a book's other editions.
    """
    link = element.find(".//a")
    if link is not None and layout.leads_away(link) and visible_text(link) == visible_text(element):
        return True
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


def _is_of_another_card(element: HtmlElement, layout: Layout) -> bool:
    """Whether the price stands in the row or column of another card, as in a comparison, in the row of several pieces
    (`2-4`), or on a line with the number of another card or the size of another variant: `8GB 379 €`, where the goods' name
    has 16GB.
    """
    if layout.title is None:
        return False
    own = visible_text(layout.title)
    own_numbers = {*_MODEL.findall(own)}
    for up in [element, *element.iterancestors()][: 5 * bool(own_numbers)]:
        if up in layout.above_title or len(text := visible_text(up, MAX_TEXT + 60)) > MAX_TEXT:
            break
        sizes, own_sizes = _SIZE.findall(text), _SIZE.findall(own)
        if own_sizes and sizes and set(own_sizes).isdisjoint(sizes):
            return True
        if words.speaks_of_card(text):
            numbers = _MODEL.findall(text)
            if numbers and own_numbers.isdisjoint(numbers):
                return True
            break
    cell = next((up for up in [element, *element.iterancestors()][:5] if up.tag in ("td", "th")), None)
    row = cell.getparent() if cell is not None else None
    if cell is None or row is None or row.tag != "tr" or row in layout.above_title:
        return False
    if cell is not row[0] and _PIECES.fullmatch(visible_text(row[0], MAX_TEXT)):
        return True
    place = row.index(cell)
    heads = [
        next(iter(table), None) for table in islice(row.iterancestors(), 2) if table.tag in ("tbody", "thead", "table")
    ]
    headings = [head[place] for head in heads if head is not None and head is not row and len(head) == len(row)]
    headings += [one for one in row if one is not cell]
    texts = [visible_text(one, MAX_TEXT) for one in headings]
    return any(words.speaks_of_card(text) and claims.are_siblings(text, own) for text in texts)


#: A number of pieces from two on, which heads a row: `2-4`, `ab 10 Stück`, `5+`.
_PIECES = re.compile(r"\D{0,6}(?!1\b)[1-9]\d{0,3}(?:\s?[-–+]\s?\d{0,4})?\s?[^\W\d]{0,8}\.?\s?", re.IGNORECASE)
#: The number of a card behind its family: `RTX 5070`, `RX9070`.
_SIZE = re.compile(r"(?<![\d.,])(\d{1,3})\s?gb(?![/\w])", re.IGNORECASE)
_MODEL = re.compile(r"(?:rtx|gtx|rx|arc\s[ab])\s?(\d{3,4})", re.IGNORECASE)


#: Names of the chosen one of several sizes, amounts or ways to buy, and attributes that mark it.
_CHOSEN = frozenset(("selected", "active", "is-active", "is-selected", "aktiv", "chosen", "checked", "isselected"))
_STATES = ("aria-selected", "aria-checked", "aria-pressed", "aria-current")


def _is_unchosen(element: HtmlElement, layout: Layout) -> bool:
    """Whether the price stands on one of several choices (sizes, ways to buy), and the page marks another one as chosen."""
    for up in [element, *element.iterancestors()][:5]:
        if up in layout.above_title:
            return False
        if up.tag in _CHOICES and not _is_chosen(up):
            siblings = (sibling for sibling in chain(up.itersiblings(up.tag, preceding=True), up.itersiblings(up.tag)))
            if any(
                _is_chosen(sibling) and _HAS_DIGIT.search(visible_text(sibling, MAX_TEXT))
                for sibling in islice(siblings, 20)
            ):
                return True
    return False


_CHOICES = ("li", "button", "label", "a", "div", "td", "tr")
_HAS_DIGIT = re.compile(r"\d")


def _is_chosen(part: HtmlElement) -> bool:
    if any(part.get(state) in ("true", "page") for state in _STATES):
        return True
    class_words = (part.get("class") or "").lower().split()
    return any(word in _CHOSEN for word in class_words) or any(
        box.get("checked") is not None for box in part.iter("input")
    )


def _ranked(prices: list[VisiblePrice], layout: Layout) -> list[VisiblePrice]:
    title_levels = {price.order: layout.title_level(price.element) for price in prices}
    button_levels = {price.order: layout.button_level(price.element) for price in prices}
    title_ranks = {level: rank for rank, level in enumerate(sorted(set(title_levels.values())))}
    button_ranks = {level: rank for rank, level in enumerate(sorted(set(button_levels.values())))}
    seen_often = Counter(price.amount for price in prices)
    scored = []
    for rank, price in enumerate(prices):
        score = 2.0 / (1 + title_ranks[title_levels[price.order]])
        if layout.button is not None:
            score += 1.5 / (1 + button_ranks[button_levels[price.order]])
        score += 1.0 * price.named + 0.7 * price.current + 0.5 * (price.money.currency is not None) + 0.5 / (1 + rank)
        score += 0.3 * min(seen_often[price.amount] - 1, 3)
        score += 0.7 * price.labelled
        if price.kind in ("list", "monthly"):
            score -= 3
        scored.append(replace(price, score=score, distance=title_levels[price.order]))
    return sorted(scored, key=lambda price: -price.score)


def beside(price: VisiblePrice, part: HtmlElement) -> dict[str, price_words.Label]:
    """The amounts, as printed, in the smallest part around a price that also holds others; empty if no other is near.

    `part` is the part of the page that is about the goods: amounts outside it (a cart in the page's header) are not near.
    """
    for up in list(price.element.iterancestors())[:4]:
        if up is part.getparent():
            break
        text = visible_text(up, MAX_TEXT + 10)
        if len(text) > MAX_TEXT:
            break
        tokens = money.tokens(text)
        if len(tokens) > 1:
            return tokens
    return {}


def by_amount(prices: tuple[VisiblePrice, ...]) -> Iterator[VisiblePrice]:
    """The best price of each amount, in the order of their scores."""
    seen: set[Decimal] = set()
    for price in prices:
        if price.amount not in seen:
            seen.add(price.amount)
            yield price
