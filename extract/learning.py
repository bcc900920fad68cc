"""Proposes selectors for a page without a parser, from one price that a person saw on the page.

A proposal is a starting point. It says how often it matches, so that a person sees at once which proposals hold for the
whole page. The program never reads a price by a proposal alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from gpuledger.extract import words
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
    """A selector for one thing (`what`). It matches in `match_count` of `card_count` cards or pages.

    `attribute` is the attribute that has the value, or None if the value is the text. `example` is the value of the card
    with the given price.
    """

    what: str
    selector: str
    match_count: int
    card_count: int
    example: str
    attribute: str | None = None


def learn(source: Source, page: Page, price: str) -> list[Proposal]:
    """Selectors for the card, its price and the other things on the card, each with the best first. `price` is as printed.

    Raises NotOnPage.
    """
    root = tree(page.content, page.headers.get("content-type"))
    places = [place for place in around.holders(root, price) if price in text(place) or price in visible_text(place)]
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
        cards = [match for match in select(root, selector) if select(match, best.selector)]
        proposals.append(Proposal("card", selector, len(cards), len(select(root, selector)), _short(element)))
    else:
        element, cards = root, [root]
    for proposal in list({proposal.selector: proposal for proposal, _ in prices}.values())[:_MOST]:
        having = sum(bool(select(each, proposal.selector)) for each in cards)
        proposals.append(Proposal("price", proposal.selector, having, len(cards), proposal.example))
    for what, accept, of in _THINGS:
        proposals += _for(what, accept, of, element, cards)
    return proposals + _keys(element, cards)


#: Most proposals for one thing, and most places of the price that are examined.
_MOST, _MOST_PLACES = 3, 5


def _prices(source: Source, root: HtmlElement, places: Sequence[HtmlElement]) -> list[tuple[Proposal, HtmlElement]]:
    """Selectors of the places. Those whose matches are most often a price come first."""
    ranked: list[tuple[float, Proposal, HtmlElement]] = []
    for place in places:
        for selector in dict.fromkeys(_selectors(place)):
            texts = [visible_text(match) for match in select(root, selector)]
            price_count = sum(_is_price(source, shown_text) for shown_text in texts)
            proposal = Proposal("price", selector, price_count, len(texts), _short(place))
            # A selector ranks lower the more other things it matches.
            ranked.append((price_count * price_count / max(len(texts), 1), proposal, place))
    ranked.sort(key=lambda entry: (-entry[0], _is_made(entry[1].selector), len(entry[1].selector)))
    return [(proposal, place) for _, proposal, place in ranked]


def _is_price(source: Source, shown_text: str) -> bool:
    return isinstance(read_price(shown_text, country=source.country, language=source.language), Money)


def _card(root: HtmlElement, price: str, place: HtmlElement) -> tuple[str, HtmlElement] | None:
    """The largest element that has exactly one price and occurs several times, with its selector.

    None if the page shows only one such element.
    """
    best = None
    for up in place.iterancestors():
        if up.tag in ("body", "html") or len(select(up, price)) > 1:
            break
        for selector in dict.fromkeys(_selectors(up)):
            alike = select(root, selector)
            if sum(len(select(match, price)) == 1 for match in alike) >= 2:
                best = selector, up
                break
    return best


def _selectors(element: HtmlElement) -> Iterator[str]:
    """Selectors of an element: by attributes for programs and by classes, or by those of its parent if it has neither."""
    own = [*_own(element)]
    yield from own
    if not own and isinstance(element.tag, str) and (up := element.getparent()) is not None:
        yield from (f"{selector} > {element.tag}" for selector in _own(up))


def _own(element: HtmlElement) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    for name, value in element.attrib.items():
        if _MARK.fullmatch(name) and re.fullmatch(r"[\w -]{2,60}", value):
            yield f'[{name}="{value}"]'
    classes = [part for part in (element.get("class") or "").split() if re.fullmatch(r"[A-Za-z_][\w-]*", part)]
    yield from (f"{element.tag}.{part}" for part in sorted(classes, key=_is_made))


#: Attributes by which programs find an element. They survive a new design.
_MARK = re.compile(r"itemprop|data-[a-z-]*(?:test|selenium|qa|role|name|type|cy|automation)[a-z-]*")


def _is_made(name: str) -> bool:
    """Whether a program made the name and will make another at the next release: `css-1q2w3e`, `sc-bdVaJa`."""
    return bool(re.search(r"(?:^|[-_.])(?:css|sc|jsx|emotion|svelte)-|__[A-Za-z0-9]{5,}$|(?=\w*\d)\w{8,}$", name))


def _for(
    what: str, accept: Callable[[HtmlElement], bool], of: str | None, card: HtmlElement, cards: Sequence[HtmlElement]
) -> list[Proposal]:
    """Selectors of the elements of a card that `accept` takes for `what`.

    Selectors that match in most cards come first. For a title, those with the most different values come first.
    """
    proposals: dict[str, tuple[float, Proposal]] = {}
    for element in card.iter():
        if not isinstance(element.tag, str) or not accept(element):
            continue
        for selector in _selectors(element):
            if selector in proposals:
                continue
            having = [hits[0] for each in cards if (hits := [hit for hit in select(each, selector) if accept(hit)])]
            values = {_value(hit, of) for hit in having}
            example = _value(element, of)
            distinct = len(values) if what == "title" else len(having)
            proposals[selector] = (float(distinct), Proposal(what, selector, len(having), len(cards), example, of))
    ranked = sorted(
        proposals.values(), key=lambda entry: (-entry[0], -len(entry[1].example), _is_made(entry[1].selector))
    )
    return [proposal for _, proposal in ranked[:_MOST]]


def _value(element: HtmlElement, of: str | None) -> str:
    return clean(element.get(of) or "")[:80] if of else _short(element)


def _short(element: HtmlElement) -> str:
    return visible_text(element)[:80]


def _is_title(element: HtmlElement) -> bool:
    own = clean(" ".join([element.text or "", *(child.tail or "" for child in element)]))
    return 12 <= len(own) <= 300 and " " in own and element.tag in ("a", "h1", "h2", "h3", "h4", "p", "span", "div")


def _is_link(element: HtmlElement) -> bool:
    """Whether the element is a link with the text of a title. Other links lead to ratings, makers and carts."""
    href = element.get("href") or ""
    return element.tag == "a" and bool(href) and not href.startswith(("#", "java")) and len(text(element)) >= 12


def _is_stock(element: HtmlElement) -> bool:
    status = text(element)
    return 0 < len(status) <= 60 and words.availability(status) is not None


def _is_brand(element: HtmlElement) -> bool:
    names = f"{element.get('class') or ''} {element.get('itemprop') or ''}".lower()
    return bool(re.search(r"brand|manufacturer|maker|vendor|hersteller", names)) and bool(
        re.fullmatch(r"[^\W\d][\w .&-]{1,40}", text(element))
    )


_THINGS: tuple[tuple[str, Callable[[HtmlElement], bool], str | None], ...] = (
    ("title", _is_title, None), ("link", _is_link, "href"), ("stock", _is_stock, None), ("brand", _is_brand, None),
)  # fmt: skip


def _keys(card: HtmlElement, cards: Sequence[HtmlElement]) -> list[Proposal]:
    """Attributes whose value differs from card to card: numbers that a shop gives its goods."""
    proposals = []
    for element in card.iter():
        for name, value in element.attrib.items() if isinstance(element.tag, str) else ():
            if not re.search(r"^id$|sku|asin|product|item|code|pid|model", name) or not re.search(r"\d{3}", value):
                continue
            selector = next(_own(element), str(element.tag))
            on_card = element is card
            values = [
                each.get(name) if on_card else next((hit.get(name) for hit in select(each, selector)), None)
                for each in cards
            ]
            if len({*values} - {None}) == len(cards):
                proposals.append(Proposal("key", selector, len(cards), len(cards), clean(value)[:80], name))
    return list({(proposal.selector, proposal.attribute): proposal for proposal in proposals}.values())[:_MOST]
