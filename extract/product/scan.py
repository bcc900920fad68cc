"""One walk over a page for the elements that may hold a price or put the goods into the cart.

A page has thousands of elements and a price on twenty of them. So the walk asks the cheapest question first: does the
name hold one of a few syllables, does the text hold a digit; and each name is judged once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lxml.html import HtmlElement

from extract.html import UNSEEN, visible_text
from extract.product import signs

_SIGN = re.compile(
    r"[$€£¥￥₩₹₽₴₺₪฿₫₱]\s?\d"
    r"|\d\s?(?:[€£₩₹₽₴₺₪฿₫]|zł|Kč|kr\b|руб|р\.|тг|원|円|元|lei\b|Ft\b|лв|грн|TL\b|din|kn\b|CHF|EUR|USD|GBP|PLN|б\.)"
    r"|(?:EUR|USD|GBP|PLN|CHF|CZK|SEK|NOK|DKK|CAD|AUD|R\$|Rs\.?|kr\.?)\s?\d",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
#: Longest text that is a price with little else.
_MAX_OWN_TEXT = 60
_SKIPPED = UNSEEN | {"meta", "link", "option", "html", "body", "br", "img", "path", "source", "picture", "use"}


_STATUS_SYLLABLES = (
    "avail", "stock", "dispo", "lager", "verf", "sklad", "dostup", "dostep", "nalich", "zalog", "zaliha", "stoc", "saatav", "soldout", "sold-out",
    "lieferbar", "leverbaar", "voorraad", "raktar", "keszlet", "varasto", "epuise",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parts:
    """What a walk found, each list in the order of the page. `prices` come with their place from the top."""

    prices: list[tuple[int, HtmlElement]]
    statuses: list[HtmlElement]
    buttons: list[HtmlElement]


@lru_cache(maxsize=8192)
def _kind(name: str) -> str:
    """`price`, `status` (of the stock) or nothing, by what a class name and id speak of."""
    low = name.lower()
    if any(syllable in low for syllable in signs.PRICE_SYLLABLES) and signs.PRICE.search(low):
        return "price"
    return "status" if any(syllable in low for syllable in _STATUS_SYLLABLES) else ""


@lru_cache(maxsize=8192)
def traits_of(name: str) -> frozenset[str]:
    """Which kinds of part a class name and id speak of: `price`, `current`, `old`, `no_price`, `elsewhere`."""
    low = name.lower()
    found = [kind for kind, pattern in _KINDS if pattern.search(low)]
    return frozenset([*found, "price"] if _kind(name) == "price" else found)


_KINDS = (("current", signs.CURRENT), ("old", signs.OLD), ("no_price", signs.NO_PRICE), ("elsewhere", signs.ELSEWHERE))


def name_of(element: HtmlElement) -> str:
    """The element's class and id."""
    identifier = element.get("id")
    classes = element.get("class") or ""
    return f"{classes} {identifier}" if identifier else classes


def walk(tree: HtmlElement) -> Parts:
    """Elements that may be a price, that may say whether there is stock, and that may be a means of ordering."""
    found = Parts([], [], [])
    for order, element in enumerate(tree.iter("*")):
        tag = element.tag
        if tag in _SKIPPED:
            continue
        if tag in ("button", "input", "a", "form") and _is_button(element, str(tag)):
            found.buttons.append(element)
            continue
        text = element.text
        if text is not None and 1 < len(text) < _MAX_OWN_TEXT and _DIGIT.search(text) and _SIGN.search(text):
            found.prices.append((order, element))
            continue
        kind = _kind(name_of(element))
        if kind == "price" or element.get("itemprop") == "price":
            found.prices.append((order, element))
        elif kind == "status":
            found.statuses.append(element)
    return found


def _is_button(element: HtmlElement, tag: str) -> bool:
    """Whether the element orders the goods: by its name, by what it says, or as the field of their number."""
    name = f"{name_of(element)} {element.get('name') or ''}"
    if tag == "form":
        return _names_buying(f"{name} {element.get('action') or ''}")
    if tag == "a" and not _looks_pressed(name) and element.get("role") != "button":
        return False
    if tag == "input" and element.get("type") not in ("submit", "button", "image"):
        return bool(_QUANTITY.fullmatch(element.get("name") or ""))
    if _names_buying(name):
        return True
    text = element.get("value") if tag == "input" else visible_text(element, 60)
    return bool(text) and len(text or "") < 80 and _says_buying(str(text))


_QUANTITY = re.compile(
    r"(?:product_?|item_?|sku_?)?(?:qty|quantity|quantite|menge|anzahl|ilosc|cantidad|quantita|aantal|kolichestvo|antal|maara)(?:\[\])?",
    re.I,
)


@lru_cache(maxsize=4096)
def _looks_pressed(name: str) -> bool:
    low = name.lower()
    return "btn" in low or "button" in low or "cart" in low or "buy" in low or "basket" in low


@lru_cache(maxsize=4096)
def _names_buying(name: str) -> bool:
    return signs.BUY_NAME.search(name) is not None


@lru_cache(maxsize=4096)
def _says_buying(text: str) -> bool:
    return signs.BUY.search(text) is not None
