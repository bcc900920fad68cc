"""One walk over a page for the elements that may hold a price or put the goods into the cart.

A page has thousands of elements and a price on twenty of them. So the walk asks the cheapest question first: does the
name hold one of a few syllables, does the text hold a digit; and each name is judged once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.product import signs
from gpuledger.extract.product.number_words import BEGINNINGS

#: Signs of money, looked for one by one because most texts hold none: a set of characters is found much faster than words.
_SIGN = re.compile(r"[$€£¥￥₩₹₽₴₺₪฿₫₱원円元]")
_MONEY_WORDS = "|".join(map(re.escape, currencies.money_words()))
_WORD_BESIDE = re.compile(
    rf"\d[\s\u00a0]?(?:{_MONEY_WORDS})(?![^\W\d_])|(?<![^\W\d_])(?:{_MONEY_WORDS})[\s\u00a0]?\d", re.IGNORECASE
)


#: A letter or a rare sign beside a number, at most a point and a space apart: texts without one need no closer look.
_WORD_OR_SIGN = re.compile(r"\d[\s\u00a0]?[^\s\d\x00-\x40]|[^\s\d\x00-\x2d\x3a-\x40][.]?[\s\u00a0]?\d")
#: What means money in capitals alone: codes, `RM`, `KM`, `Ft`, and South Africa's `R`.
_CAPITALS_BESIDE = re.compile(
    r"(?<![^\W\d_])([A-Z]{3}|RM|KM|R)[\s\u00a0]?\d|\d[\s\u00a0]?([A-Z]{3}|RM|KM|Ft)(?![^\W\d_])"
)


def _is_money(text: str) -> bool:
    """Whether a text with a digit in it looks like one that holds money."""
    if _SIGN.search(text):
        return True
    if not _WORD_OR_SIGN.search(text):
        return False
    if _WORD_BESIDE.search(text):
        return True
    return any(currencies.is_money_word(match.group(1) or match.group(2)) for match in _CAPITALS_BESIDE.finditer(text))


#: A number that may be an amount whose currency stands beside its element: with groups or cents, or of several digits.
_BARE = re.compile(r"\s*(?:\d{1,3}(?:[.,'’\s\u00a0]\d{3})*(?:[.,]\d{2})|\d{1,3}(?:[.,'’\s\u00a0]\d{3})+|\d{2,9})\s*")
#: A text that is a currency and little else: `元`, `zł / szt.`, `원~`.
_MAX_SIGN = 12


def sign_beside(element: HtmlElement, text: str) -> tuple[str, str] | None:
    """The currency before and the one behind an element with nothing but a number in it; None where there is neither.

    Behind it: in its tail or in the next element. Before it: in the text of its parent, or in the element before.
    """
    if not _BARE.fullmatch(text):
        return None
    tail = (element.tail or "").strip(SPACES)
    follower = element.getnext() if not tail else None
    if (
        follower is not None
        and isinstance(follower.tag, str)
        and len(follower.text or "") <= _MAX_SIGN
        and not len(follower)
    ):
        tail = (follower.text or "").strip(SPACES)
    behind = "" if tail[:1].isdigit() else currencies.at_start(tail) or ""
    before = element.getprevious()
    parent = element.getparent()
    if before is not None:
        head = (before.tail or "").strip(SPACES)
        if not head and isinstance(before.tag, str) and len(before.text or "") <= _MAX_SIGN and not len(before):
            head = (before.text or "").strip(SPACES)
    else:
        head = ((parent.text if parent is not None else None) or "").strip(SPACES)
    ahead = currencies.at_end(head) or ""
    if head.removesuffix(ahead).rstrip(SPACES)[-1:].isdigit():
        # `5 999 ₽` and an element with `7 499`: the sign is the first number's.
        ahead = ""
    if not (behind or ahead):
        return None
    return ahead, f"{behind}~" if behind and tail.removeprefix(behind)[:1] == "~" else behind


def _has_small_cents(element: HtmlElement, text: str) -> bool:
    """Whether an element with nothing but a number before it holds the sign over the cents: `99<sup>€90</sup>`."""
    if not len(element) or element[0].tag not in ("sup", "small") or not text.strip(SPACES).isdigit():
        return False
    return currencies.at_start((element[0].text or "").strip(SPACES)) is not None


SPACES = " \t\r\n\u00a0"
_BEFORE_WORD = " \t\r\n\u00a0([<〈"
_DIGIT = re.compile(r"\d")
#: Longest text that is a price with little else.
_MAX_OWN_TEXT = 60
#: With the spaces around it.
_MOST_PADDED = 300


class Names:
    """The elements of a page by class and id, to be searched for words in their names."""

    def __init__(self, elements: dict[tuple[str | None, str | None], list[tuple[int, HtmlElement]]]) -> None:
        self._elements = list(elements.values())
        # One text of all names: a call of the search for each of a thousand names costs more than the search itself.
        lines = [f"{classes or ''} {identifier or ''}".replace("\n", " ") + "\n" for classes, identifier in elements]
        text = "".join(lines)
        #: All names, in small letters.
        self.text = low if len(low := text.lower()) == len(text) else text
        self._ends = list(accumulate(map(len, lines)))

    def find(self, pattern: re.Pattern[str]) -> list[tuple[int, HtmlElement]]:
        """The elements whose class or id the pattern finds, with their places, in the order of the page."""
        places = {bisect_right(self._ends, match.start()) for match in pattern.finditer(self.text)}
        return sorted((one for place in places for one in self._elements[place]), key=lambda one: one[0])


@dataclass(frozen=True, slots=True)
class Parts:
    """What a walk found: elements whose text may be a price (with their place) or a label, and all elements by name."""

    priced: list[tuple[int, HtmlElement]]
    labels: list[HtmlElement]
    names: Names


def walk(part: HtmlElement) -> Parts:
    """Look once at every element of a part of a page that may hold text."""
    priced, labels, names = [], [], defaultdict(list)
    # lxml makes an object for each element that Python sees: it is told which tags are worth one.
    own = set(part.iter(*OWN_TAGS))
    for order, element in enumerate(part.iter(*HOLD_TEXT)):
        text = element.text
        if text is not None and (length := len(text)) >= _MAX_OWN_TEXT:
            # Templates put a text and its number on lines of their own, far from the margin.
            text = " ".join(text.split()) if length < _MOST_PADDED else None
        if text is not None and len(text) < _MAX_OWN_TEXT and not text.isspace():
            start = text.lstrip(_BEFORE_WORD)[:3].lower()
            if start in BEGINNINGS or start[:2] in BEGINNINGS:
                # `Kód: RF1245` begins like francs of Rwanda too.
                labels.append(element)
            if _DIGIT.search(text) and (
                _is_money(text) or sign_beside(element, text) or _has_small_cents(element, text)
            ):
                priced.append((order, _whole(element, text)))
                if element.tag in CROSSED and (behind := _tail_apart(element)) is not None:
                    priced.append((order, behind))
                continue
            is_word = text.rstrip(SPACES)[-1:] in _COLONS and price_words.PRICE_LABEL.fullmatch(text)
            if is_word and (behind := _tail_apart(element)) is not None:
                priced.append((order, behind))
        identifier = str(element.tag) if own and element in own else element.get("id") or element.get("data-testid")
        names[element.get("class"), identifier].append((order, element))
        if element.get("itemprop") == "price":
            priced.append((order, element))
    names.pop((None, None), None)
    return Parts(priced, labels, Names(names))


def _tail_apart(element: HtmlElement) -> HtmlElement | None:
    """A price that stands as bare text behind an element, put into an element of its own; None where none stands there.

    `<b>Price:</b> $45.00<br>`, `<s>259,00 EUR</s> nur 219,00 EUR`: the part around them may hold a paragraph.
    """
    text = element.tail
    if text is None or len(text) >= _MAX_OWN_TEXT or not _DIGIT.search(text) or not _is_money(text):
        return None
    behind = element.makeelement("span")
    behind.text, element.tail = text, None
    element.addnext(behind)
    return behind


#: What is struck out is an old price.
CROSSED = ("del", "s", "strike")
_COLONS = frozenset((":", "："))
#: How the end of an amount begins: with the mark before the cents, or as two digits behind it.
_AMOUNT_END = re.compile(r"\s*([.,€]?)\d\d(?![.,]?\d)")


def _whole(element: HtmlElement, text: str) -> HtmlElement:
    """The part that prints the amount of which this element has the end alone; the element itself where it has all of it.

    `<b>649</b><i>,00 zł</i>`, `89,<i>99</i> zł`, `149<sup>€99</sup>`: the cents alone would be a price too.
    """
    end = _AMOUNT_END.match(text)
    if end is None:
        return element
    here, parent = element, element.getparent()
    for _ in range(3):
        before = here.getprevious()
        if parent is None:
            return element
        if before is None:
            head = parent.text or ""
        elif (before.tail or "").strip() or not isinstance(before.tag, str):
            head = before.tail or ""
        else:
            head = visible_text(before, _MAX_SIGN) + (before.tail or "")
        if head.strip():
            return parent if _BEGINNING_BEFORE[end.group(1)].search(head) else element
        here, parent = parent, parent.getparent()
    return element


_DIGIT_LAST = re.compile(r"\d$")
#: What the beginning of an amount looks like, by what its end begins with. `89,` stands right before the cents, or with
#: nothing else before them: in `Box of 3. <b>99 zł</b>` it ends a sentence.
_BEGINNING_BEFORE = {
    ".": _DIGIT_LAST,
    ",": _DIGIT_LAST,
    "€": re.compile(r"^\s*\d{1,3}(?:[ .'’\u00a0]?\d{3})*$"),
    "": re.compile(r"\d[.,]$|^[\s\d.,'’]*[.,]\s*$"),
}


def labelled(part: HtmlElement) -> Iterator[HtmlElement]:
    """The elements of a part whose text may begin with a word for a number, as `walk` finds them, without its other work."""
    for element in part.iter(*HOLD_TEXT):
        text = element.text
        if text is not None and len(text) < _MOST_PADDED and not text.isspace():
            start = text.lstrip(_BEFORE_WORD)[:3].lower()
            if start in BEGINNINGS or start[:2] in BEGINNINGS:
                yield element


#: Elements that themes in wide use define themselves; what they are called says what they hold.
OWN_TAGS = ("sale-price", "compare-at-price", "unit-price", "price-list", "product-price", "variant-sku", "product-sku")
#: Elements that hold text which people read.
HOLD_TEXT = (
    "div", "span", "p", "b", "strong", "em", "ins", "del", "s", "strike", "td", "th", "dt", "dd", "li", "label", "font",
    "bdi", "data", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "output", "small", "big", "u", "meter",
    "price", "center", "fieldset", "a", "button",
    *OWN_TAGS,
)  # fmt: skip


@lru_cache(maxsize=4096)
def traits_of(name: str) -> frozenset[str]:
    """Which kinds of part a class name and id speak of: `price`, `current`, `old`, `usual`, `no_price`, `elsewhere`."""
    low = name.lower()
    return frozenset(kind for kind, pattern in _TRAITS if pattern.search(low))


_TRAITS = (
    ("price", signs.PRICE),
    ("current", signs.CURRENT),
    ("old", signs.OLD),
    ("usual", signs.USUAL),
    ("no_price", signs.NO_PRICE),
    ("elsewhere", signs.ELSEWHERE),
)


def name_of(element: HtmlElement) -> str:
    """The element's class and its id, else the name that the shop's own tests know it by: it outlives made-up classes.

    A class that says plainly what the element is (`productPrice`) is not doubted for a script's id (`js_unitPrice`).
    """
    identifier = element.get("id") or element.get("data-testid") or (element.tag if element.tag in OWN_TAGS else None)
    classes = element.get("class") or ""
    if identifier and classes and _PLAIN_NAME.search(classes):
        return classes
    return f"{classes} {identifier}" if identifier else classes


_PLAIN_NAME = re.compile(r"(?<!\S)(?:product|prod|item|goods|selling|current|final)[-_]?price(?!\S)", re.IGNORECASE)


BUTTONS = ("button", "input", "form", "a")


def is_named_order(element: HtmlElement) -> bool:
    """Whether the element orders the goods by its name or address, or is the field for the number of pieces."""
    tag = element.tag
    if tag == "input" and element.get("type") not in ("submit", "button", "image"):
        return _QUANTITY.fullmatch(element.get("name") or "") is not None
    name = name_of(element)
    if tag == "form":
        name = f"{name} {element.get('name') or ''} {element.get('action') or ''}"
    elif tag != "a":
        name = f"{name} {element.get('name') or ''}"
    return len(name) > 3 and signs.BUY_NAME.search(name.lower()) is not None


def is_worded_order(element: HtmlElement) -> bool:
    """Whether the element orders the goods by what it says."""
    if element.tag == "input":
        is_button = element.get("type") in ("submit", "button", "image")
        # A picture of a button says what it does in the words for those who do not see it.
        text = element.get("value") or element.get("alt") if is_button else None
    elif element.tag == "button" or (element.tag == "a" and is_pressed(element)):
        text = visible_text(element, 60)
    else:
        return False
    text = text or ""
    return 0 < len(text) < 80 and signs.BUY.search(text) is not None and signs.WISH.search(text) is None


def is_pressed(link: HtmlElement) -> bool:
    """Whether a link is made to look like a button; a page has hundreds of others."""
    name = name_of(link)
    words = "btn" in name or "utton" in name or "art" in name or "buy" in name or "asket" in name or "add" in name
    return words or link.get("role") == "button"


_QUANTITY = re.compile(
    r"(?:product_?|item_?|sku_?)?(?:qty|quantity|quantite|menge|anzahl|ilosc|cantidad|quantita|aantal|kolichestvo|antal"
    r"|maara)(?:\[\])?",
    re.IGNORECASE,
)
