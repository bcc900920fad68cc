"""One walk over a page for the elements that may hold a price or put the goods into the cart.

A page has thousands of elements and a price on twenty of them. So the walk asks the cheapest question first: does the
name hold one of a few syllables, does the text hold a digit; and each name is judged once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from lxml.html import HtmlElement

from extract.html import visible_text
from extract.product import signs
from extract.product.number_words import BEGINNINGS, CODE_NAME

#: Signs of money, looked for one by one because most texts hold none: a set of characters is found much faster than words.
_SIGN = re.compile(r"[$€£¥￥₩₹₽₴₺₪฿₫₱원円元]")
_WORD_BEHIND = re.compile(
    r"\d[\s\u00a0]?(?:zł|ZŁ|Kč|KČ|kč|kr|Kr|KR|руб|Руб|р\.|Р|тг|lei|Lei|LEI|Ft|лв|грн|TL|din|дин|kn|б\."
    r"|CHF|EUR|USD|GBP|PLN|CAD|AUD|SEK|NOK|DKK|RON)"
)
_WORD_BEFORE = re.compile(r"(?:EUR|USD|GBP|PLN|CHF|CZK|SEK|NOK|DKK|CAD|AUD|Rs|kr|RM|Rp)\.?[\s\u00a0]?\d")


def _is_money(text: str) -> bool:
    """Whether a text with a digit in it looks like one that holds money."""
    return bool(_SIGN.search(text) or _WORD_BEHIND.search(text) or _WORD_BEFORE.search(text))


_FIRST_WORD = re.compile(r"[\s(〈<\[]*([^\W\d_]+)")
_DIGIT = re.compile(r"\d")
#: Longest text that is a price with little else.
_MAX_OWN_TEXT = 60


@dataclass(frozen=True, slots=True)
class Parts:
    """What a walk found, each list in the order of the page. `prices` come with their place from the top."""

    prices: list[tuple[int, HtmlElement]]
    statuses: list[HtmlElement]
    labels: list[HtmlElement]


def walk(tree: HtmlElement) -> Parts:
    """Elements that may be a price, that may speak of stock, that may name one of the goods' numbers."""
    found = Parts([], [], [])
    by_name: dict[str, list[tuple[int, HtmlElement]]] = {}
    # lxml makes an object for each element that Python sees: it is told which tags are worth one.
    for order, element in enumerate(tree.iter(*_HOLD_TEXT)):
        text = element.text
        if text is not None and len(text) < _MAX_OWN_TEXT and not text.isspace():
            if _DIGIT.search(text) and _is_money(text):
                found.prices.append((order, element))
                continue
            if (match := _FIRST_WORD.match(text)) and _may_be_label(match.group(1)):
                found.labels.append(element)
        classes, identifier = element.get("class"), element.get("id")
        if classes or identifier:
            by_name.setdefault(f"{classes or ''} {identifier or ''}", []).append((order, element))
        if element.get("itemprop") == "price":
            found.prices.append((order, element))
    for name, kind in _kinds(by_name):
        if kind == "price":
            found.prices.extend(by_name[name])
        else:
            (found.statuses if kind == "status" else found.labels).extend(element for _, element in by_name[name])
    found.prices.sort(key=lambda one: one[0])
    return found


_HOLD_TEXT = (
    "div", "span", "p", "b", "strong", "em", "ins", "del", "s", "strike", "td", "th", "dt", "dd", "li", "label", "font",
    "bdi", "data", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "output", "small", "big", "u", "meter",
    "price", "center", "fieldset",
)  # fmt: skip


def _may_be_label(word: str) -> bool:
    start = word[:3].lower()
    return start in BEGINNINGS or start[:2] in BEGINNINGS


def _kinds(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that speak of a price, of stock or of the shop's number, with what they speak of.

    All names are searched as one text: a call for each of a thousand names costs more than the search itself.
    """
    lines = list(names)
    text = "\n".join(lines).lower()
    if text.count("\n") != len(lines) - 1 or len(text) != sum(map(len, lines)) + len(lines) - 1:
        # A name with a line end in it, or a letter whose small form is longer.
        lines = [name for name in lines if "\n" not in name and len(name.lower()) == len(name)]
        text = "\n".join(lines).lower()
    ends = list(accumulate(len(name) + 1 for name in lines))
    for place in dict.fromkeys(bisect_right(ends, match.start()) for match in _SYLLABLES.finditer(text)):
        low = lines[place].lower()
        if signs.PRICE.search(low):
            yield lines[place], "price"
        elif signs.STATUS.search(low):
            yield lines[place], "status"
        elif CODE_NAME.search(low):
            yield lines[place], "code"


_SYLLABLES = re.compile(signs.SYLLABLES)


@lru_cache(maxsize=4096)
def traits_of(name: str) -> frozenset[str]:
    """Which kinds of part a class name and id speak of: `price`, `current`, `old`, `no_price`, `elsewhere`."""
    low = name.lower()
    return frozenset(kind for kind, pattern in _TRAITS if pattern.search(low))


_TRAITS = (
    ("price", signs.PRICE),
    ("current", signs.CURRENT),
    ("old", signs.OLD),
    ("no_price", signs.NO_PRICE),
    ("elsewhere", signs.ELSEWHERE),
)


def name_of(element: HtmlElement) -> str:
    """The element's class and id."""
    identifier = element.get("id")
    classes = element.get("class") or ""
    return f"{classes} {identifier}" if identifier else classes


def buttons(tree: HtmlElement, by_text: bool) -> Iterator[HtmlElement]:
    """Elements that order the goods by their names, or as the field of their number; with `by_text` by what they say."""
    orders = _says_order if by_text else _named_order
    for element in tree.iter("button", "input", "form", "a"):
        if (element.tag != "a" or _is_pressed(element)) and orders(element):
            yield element


def _is_pressed(link: HtmlElement) -> bool:
    """Whether a link is made to look like a button; a page has hundreds of others."""
    name = f"{link.get('class') or ''} {link.get('id') or ''}"
    if len(name) < 3:
        return link.get("role") == "button"
    return "btn" in name or "utton" in name or "art" in name or "buy" in name or "asket" in name or "add" in name


def _named_order(element: HtmlElement) -> bool:
    name = f"{name_of(element)} {element.get('name') or ''}"
    if element.tag == "form":
        return _names_buying(f"{name} {element.get('action') or ''}")
    if element.tag == "input" and element.get("type") not in ("submit", "button", "image"):
        return _QUANTITY.fullmatch(element.get("name") or "") is not None
    return _names_buying(name)


def _says_order(element: HtmlElement) -> bool:
    if element.tag == "form":
        return False
    text = element.get("value") if element.tag == "input" else visible_text(element, 60)
    return text is not None and 0 < len(text) < 80 and signs.BUY.search(text) is not None


_QUANTITY = re.compile(
    r"(?:product_?|item_?|sku_?)?(?:qty|quantity|quantite|menge|anzahl|ilosc|cantidad|quantita|aantal|kolichestvo|antal|maara)(?:\[\])?",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _names_buying(name: str) -> bool:
    return signs.BUY_NAME.search(name) is not None
