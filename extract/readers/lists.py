"""Reader of the list of a shop that nobody described: what its cards have in common says which links lead to products."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from urllib.parse import urldefrag, urlsplit

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup import html
from gpuledger.extract.markup.links import joined
from gpuledger.extract.price import money
from gpuledger.extract.readers import listing
from gpuledger.extract.source import Page
from gpuledger.items import Link

#: Fewer cards of one shape are offers beside the goods of a page.
_FEWEST = 3
#: The share of cards of one shape that must show a price.
_WHOLE = 0.75
#: A class of all cards: the others may hold a card's number and whether it is in stock (`product post-71 instock`).
_OF_ALL = re.compile(r"(?<!\S)[^\s\d]+(?!\S)")
#: The most text of one card.
_LONGEST = 6_000


def product_links(page: Page) -> tuple[list[Link], bool]:
    """Links to the pages on the shop's own host that are called after graphics cards, and whether they are those of a list.

    They are if at least three of their cards have one shape (the same element with the same first class), and three quarters
    of these show a price. Then they are those of its cards alone, and one to the list's next page.
    """
    tree = html.tree(page.content, page.headers.get("content-type"))
    named: dict[str, HtmlElement] = {}
    host = urlsplit(page.final_url).hostname
    for anchor in tree.iter("a"):
        if words.speaks_of_card(html.visible_text(anchor, _LONGEST)):
            address = urldefrag(joined(page.final_url, anchor.get("href") or "")).url
            if urlsplit(address).hostname == host:
                named.setdefault(address, anchor)
    inside = Counter(up for anchor in named.values() for up in anchor.iterancestors())
    shapes: dict[tuple[str, str], list[tuple[str, HtmlElement]]] = defaultdict(list)
    for address, anchor in named.items():
        card = anchor
        while (up := card.getparent()) is not None and inside[up] == 1:
            card = up
        shapes[str(card.tag), next(_OF_ALL.finditer(card.get("class") or ""), [""])[0]].append((address, card))
    lists = [[address for address, _ in cards] for cards in shapes.values() if _is_list([card for _, card in cards])]
    links = [Link(url=address, role="product") for address in max(lists, key=len, default=named)]
    return [*links, *(listing.next_page(tree, page.final_url, "a.next, .next > a") if lists else ())], bool(lists)


def _is_list(cards: list[HtmlElement]) -> bool:
    priced = sum(bool(money.tokens(html.visible_text(card, _LONGEST))) for card in cards)
    return len(cards) >= _FEWEST and priced >= _WHOLE * len(cards)
