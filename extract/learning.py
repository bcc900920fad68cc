"""Selectors for a page that nobody has written a parser for: proposed from one price that a person saw on it.

A proposal is a starting point. Each says how often it matches, so that a person sees at once which of them hold for the
whole page; none of them is ever used to read a price by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from gpuledger.extract import wording
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.markup import around
from gpuledger.extract.markup.html import tree, visible_text
from gpuledger.extract.price.money import Money, read_price
from gpuledger.extract.readers.listing import clean, select, text
from gpuledger.extract.source import Page, Source


class NotOnPage(ExtractError):
    """The page does not show the price."""

    default_action = (
        "give the price as it stands on the page, and look whether a script puts it there: then it is in no markup"
    )


@dataclass(frozen=True, slots=True)
class Proposal:
    """A selector for one thing. `found` of `asked` cards, or pages, have it; `attribute` is where the value stands where it
    is no text. `example` is of the card with the price that was given.
    """

    what: str
    selector: str
    found: int
    asked: int
    example: str
    attribute: str | None = None


def learn(source: Source, page: Page, price: str) -> list[Proposal]:
    """Selectors for the card, the price and what stands beside it, the best first of each. `price` is as printed.

    Raises NotOnPage.
    """
    root = tree(page.content, page.headers.get("content-type"))
    places = [one for one in around.holders(root, price) if price in text(one) or price in visible_text(one)]
    if not places:
        raise NotOnPage(page.url, f"no element shows {price!r}")
    prices = _prices(source, root, places[:_MOST_PLACES])
    if not prices:
        raise NotOnPage(page.url, f"{price!r} stands in the page itself, in no element of it")
    best, place = prices[0]
    card = _card(root, best.selector, place)
    proposals = []
    if card is not None:
        selector, element = card
        cards = [one for one in select(root, selector) if select(one, best.selector)]
        proposals.append(Proposal("card", selector, len(cards), len(select(root, selector)), _short(element)))
    else:
        element, cards = root, [root]
    for one in list({one.selector: one for one, _ in prices}.values())[:_MOST]:
        having = sum(bool(select(found, one.selector)) for found in cards)
        proposals.append(Proposal("price", one.selector, having, len(cards), one.example))
    for what, accept, of in _WANTED:
        proposals += _for(what, accept, of, element, cards)
    return proposals + _keys(element, cards)


#: Proposals for one thing, and places of the price that are looked at.
_MOST, _MOST_PLACES = 3, 5


def _prices(source: Source, root: HtmlElement, places: Sequence[HtmlElement]) -> list[tuple[Proposal, HtmlElement]]:
    """Selectors of the places, those whose matches are most often a price first."""
    found: list[tuple[float, Proposal, HtmlElement]] = []
    for place in places:
        for selector in dict.fromkeys(_selectors(place)):
            shown = [visible_text(one) for one in select(root, selector)]
            read = sum(_is_price(source, one) for one in shown)
            proposal = Proposal("price", selector, read, len(shown), _short(place))
            # One that also matches other things is worse than one that misses none.
            found.append((read * read / max(len(shown), 1), proposal, place))
    found.sort(key=lambda one: (-one[0], _is_made(one[1].selector), len(one[1].selector)))
    return [(proposal, place) for _, proposal, place in found]


def _is_price(source: Source, shown: str) -> bool:
    return isinstance(read_price(shown, country=source.country, language=source.language), Money)


def _card(root: HtmlElement, price: str, place: HtmlElement) -> tuple[str, HtmlElement] | None:
    """The largest element with one price alone of which the page has several, and its selector; None for a page of one."""
    best = None
    for up in place.iterancestors():
        if up.tag in ("body", "html") or len(select(up, price)) > 1:
            break
        for selector in dict.fromkeys(_selectors(up)):
            alike = select(root, selector)
            if sum(len(select(one, price)) == 1 for one in alike) >= 2:
                best = selector, up
                break
    return best


def _selectors(element: HtmlElement) -> Iterator[str]:
    """Ways to name an element: by what programs read, its classes, and its parent's where it has none."""
    own = [*_own(element)]
    yield from own
    if not own and isinstance(element.tag, str) and (up := element.getparent()) is not None:
        yield from (f"{one} > {element.tag}" for one in _own(up))


def _own(element: HtmlElement) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    for name, value in element.attrib.items():
        if _MARK.fullmatch(name) and re.fullmatch(r"[\w -]{2,60}", value):
            yield f'[{name}="{value}"]'
    classes = [one for one in (element.get("class") or "").split() if re.fullmatch(r"[A-Za-z_][\w-]*", one)]
    yield from (f"{element.tag}.{one}" for one in sorted(classes, key=_is_made))


#: Attributes by which programs find an element: they outlive a new design.
_MARK = re.compile(r"itemprop|data-[a-z-]*(?:test|selenium|qa|role|name|type|cy|automation)[a-z-]*")


def _is_made(name: str) -> bool:
    """A program made the name, and makes another at the next release: `css-1q2w3e`, `sc-bdVaJa`."""
    return bool(re.search(r"(?:^|[-_.])(?:css|sc|jsx|emotion|svelte)-|__[A-Za-z0-9]{5,}$|(?=\w*\d)\w{8,}$", name))


def _for(
    what: str, accept: Callable[[HtmlElement], bool], of: str | None, card: HtmlElement, cards: Sequence[HtmlElement]
) -> list[Proposal]:
    """Selectors of the elements of a card that are taken for `what`, those that most cards have once and otherwise first."""
    found: dict[str, tuple[float, Proposal]] = {}
    for element in card.iter():
        if not isinstance(element.tag, str) or not accept(element):
            continue
        for selector in _selectors(element):
            if selector in found:
                continue
            having = [hits[0] for one in cards if (hits := [hit for hit in select(one, selector) if accept(hit)])]
            values = {_value(one, of) for one in having}
            example = _value(element, of)
            distinct = len(values) if what == "title" else len(having)
            found[selector] = (float(distinct), Proposal(what, selector, len(having), len(cards), example, of))
    ranked = sorted(found.values(), key=lambda one: (-one[0], -len(one[1].example), _is_made(one[1].selector)))
    return [proposal for _, proposal in ranked[:_MOST]]


def _value(element: HtmlElement, of: str | None) -> str:
    return clean(element.get(of) or "")[:80] if of else _short(element)


def _short(element: HtmlElement) -> str:
    return visible_text(element)[:80]


def _is_title(element: HtmlElement) -> bool:
    own = clean(" ".join([element.text or "", *(child.tail or "" for child in element)]))
    return 12 <= len(own) <= 300 and " " in own and element.tag in ("a", "h1", "h2", "h3", "h4", "p", "span", "div")


def _is_link(element: HtmlElement) -> bool:
    """A link with the words of a title: others lead to ratings, makers and carts."""
    href = element.get("href") or ""
    return element.tag == "a" and bool(href) and not href.startswith(("#", "java")) and len(text(element)) >= 12


def _is_stock(element: HtmlElement) -> bool:
    shown = text(element)
    return 0 < len(shown) <= 60 and wording.availability(shown) is not None


def _is_brand(element: HtmlElement) -> bool:
    names = f"{element.get('class') or ''} {element.get('itemprop') or ''}".lower()
    return bool(re.search(r"brand|manufacturer|maker|vendor|hersteller", names)) and bool(
        re.fullmatch(r"[^\W\d][\w .&-]{1,40}", text(element))
    )


_WANTED: tuple[tuple[str, Callable[[HtmlElement], bool], str | None], ...] = (
    ("title", _is_title, None), ("link", _is_link, "href"), ("stock", _is_stock, None), ("brand", _is_brand, None),
)  # fmt: skip


def _keys(card: HtmlElement, cards: Sequence[HtmlElement]) -> list[Proposal]:
    """Attributes whose value tells the cards apart: numbers that a shop gives its goods."""
    found = []
    for element in card.iter():
        for name, value in element.attrib.items() if isinstance(element.tag, str) else ():
            if not re.search(r"^id$|sku|asin|product|item|code|pid|model", name) or not re.search(r"\d{3}", value):
                continue
            selector = next(_own(element), str(element.tag))
            on_card = element is card
            values = [
                one.get(name) if on_card else next((x.get(name) for x in select(one, selector)), None) for one in cards
            ]
            if len({*values} - {None}) == len(cards):
                found.append(Proposal("key", selector, len(cards), len(cards), clean(value)[:80], name))
    return list({(one.selector, one.attribute): one for one in found}.values())[:_MOST]
