"""Walks once over a page to find the elements that may hold a price or put the goods into the cart.

A page has thousands of elements, and a price on twenty of them. So the walk makes the cheapest checks first: whether a name
holds one of a few syllables, and whether a text holds a digit. Each name is judged once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.product import signs
from gpuledger.extract.product.signs import BEGINNINGS

#: Signs of money. Most texts hold none, and a set of characters is found much faster than words.
_SIGN = re.compile(r"[$€£¥￥₩₹₽₴₺₪฿₫₱원円元]")
_MONEY_WORDS = "|".join(map(re.escape, currencies.money_words()))
_WORD_BESIDE = re.compile(
    rf"\d[\s\u00a0]?(?:{_MONEY_WORDS})(?![^\W\d_])|(?<![^\W\d_])(?:{_MONEY_WORDS})[\s\u00a0]?\d", re.IGNORECASE
)


#: A letter or a rare sign beside a number, with at most a point and a space between. Texts without one need no closer look.
_WORD_OR_SIGN = re.compile(r"\d[\s\u00a0]?[^\s\d\x00-\x40]|[^\s\d\x00-\x2d\x3a-\x40][.]?[\s\u00a0]?\d")
#: What means money only in capitals: codes, `RM`, `KM`, `Ft`, and South Africa's `R`.
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


#: A number that may be an amount whose currency stands beside its element: it has groups or cents, or several digits.
_BARE = re.compile(r"\s*(?:\d{1,3}(?:[.,'’\s\u00a0]\d{3})*(?:[.,]\d{2})|\d{1,3}(?:[.,'’\s\u00a0]\d{3})+|\d{2,9})\s*")
#: The longest text that is a currency and little else: `元`, `zł / szt.`, `원~`.
_MAX_SIGN = 12


def sign_beside(element: HtmlElement, text: str) -> tuple[str, str] | None:
    """The currency before and the one behind an element that holds only a number; None if there is neither.

    The currency behind stands in the element's tail or in the next element. The currency before stands in the text of the
    parent or in the element before.
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
        # `5 999 ₽` and an element with `7 499`: the sign belongs to the first number.
        ahead = ""
    if not (behind or ahead):
        return None
    return ahead, f"{behind}~" if behind and tail.removeprefix(behind)[:1] == "~" else behind


def _has_small_cents(element: HtmlElement, text: str) -> bool:
    """Whether an element holds only a number and, behind it, the sign over the small cents: `99<sup>€90</sup>`."""
    if not len(element) or element[0].tag not in ("sup", "small") or not text.strip(SPACES).isdigit():
        return False
    return currencies.at_start((element[0].text or "").strip(SPACES)) is not None


SPACES = " \t\r\n\u00a0"
_BEFORE_WORD = " \t\r\n\u00a0([<〈"
_DIGIT = re.compile(r"\d")
#: The longest text that is a price with little else.
_MAX_OWN_TEXT = 60
#: The longest such text with the spaces around it.
_MOST_PADDED = 300


@dataclass(frozen=True, slots=True)
class Parts:
    """The results of a walk: elements whose text may be a price or a label, and all elements by class and id.

    Of those that may be a price, and of those with a name, the place on the page stands before the element.
    """

    priced: list[tuple[int, HtmlElement]]
    labels: list[HtmlElement]
    names: dict[str, list[tuple[int, HtmlElement]]]

    def named(self, pattern: re.Pattern[str]) -> list[tuple[int, HtmlElement]]:
        """The elements whose class or id matches the pattern, in the order of the page."""
        matching = (placed for name, elements in self.names.items() if pattern.search(name) for placed in elements)
        return sorted(matching, key=lambda placed: placed[0])


def walk(part: HtmlElement) -> Parts:
    """Look once at every element of a part of a page that may hold text."""
    priced, labels, names = [], [], defaultdict(list)
    for raised in list(part.iter("sup")):  # `<sup>$</sup>829.99`: a raised sign begins the amount behind it
        sign, amount, parent = raised.text or "", raised.tail or "", raised.getparent()
        begins = parent is not None and raised.getprevious() is None and not (parent.text or "").strip()
        if begins and 0 < len(sign) <= _MAX_SIGN and _DIGIT.search(amount) and _SIGN.search(sign + amount):
            raised.tag, raised.text, raised.tail = "span", sign + amount, None
    # lxml makes an object for each element that Python sees, so the walk visits only tags that may hold text.
    own = set(part.iter(*OWN_TAGS))
    for order, element in enumerate(part.iter(*HOLD_TEXT)):
        text = element.text
        if text is not None and (length := len(text)) >= _MAX_OWN_TEXT:
            # Templates put a text and its number on separate lines, far from the margin.
            text = " ".join(text.split()) if length < _MOST_PADDED else None
        if text is not None and len(text) < _MAX_OWN_TEXT and not text.isspace():
            if may_be_label(text.lstrip(_BEFORE_WORD)):
                # The text may be a price as well: `Kód: RF1245` looks like francs of Rwanda too.
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
        names[f"{element.get('class') or ''} {identifier or ''}".replace("\n", " ").lower()].append((order, element))
        if element.get("itemprop") == "price":
            priced.append((order, element))
    names.pop(" ", None)
    return Parts(priced, labels, names)


def _tail_apart(element: HtmlElement) -> HtmlElement | None:
    """Put a price that stands as bare text behind an element into an element of its own. None if no price stands there.

    `<b>Price:</b> $45.00<br>`, `<s>259,00 EUR</s> nur 219,00 EUR`: the part around them may hold a whole paragraph.
    """
    text = element.tail
    if text is None or len(text) >= _MAX_OWN_TEXT or not _DIGIT.search(text) or not _is_money(text):
        return None
    behind = element.makeelement("span")
    behind.text, element.tail = text, None
    element.addnext(behind)
    return behind


#: The tags of text that is struck out, such as an old price.
CROSSED = ("del", "s", "strike")
_COLONS = frozenset((":", "："))
#: How the end of an amount begins: with the mark before the cents, or as two digits behind it.
_AMOUNT_END = re.compile(r"\s*([.,€]?)\d\d(?![.,]?\d)")


def _whole(element: HtmlElement, text: str) -> HtmlElement:
    """The part that prints the whole amount if this element has only its end; otherwise the element itself.

    `<b>649</b><i>,00 zł</i>`, `89,<i>99</i> zł`, `149<sup>€99</sup>`: the cents alone would look like a price too.
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
#: What the beginning of an amount looks like, by what its end begins with. `89,` counts if it stands right before the cents,
#: or if nothing else stands before them: in `Box of 3. <b>99 zł</b>` the point ends a sentence.
_BEGINNING_BEFORE = {
    ".": _DIGIT_LAST,
    ",": _DIGIT_LAST,
    "€": re.compile(r"^\s*\d{1,3}(?:[ .'’\u00a0]?\d{3})*$"),
    "": re.compile(r"\d[.,]$|^[\s\d.,'’]*[.,]\s*$"),
}


def label_elements(part: HtmlElement) -> Iterator[HtmlElement]:
    """The elements of a part whose text may begin with a word for a number. `walk` finds them too, but does more."""
    for element in part.iter(*HOLD_TEXT):
        text = element.text
        if text is not None and len(text) < _MOST_PADDED and may_be_label(text.lstrip(_BEFORE_WORD)):
            yield element


def may_be_label(text: str) -> bool:
    """Whether a text begins like a word for a number, so that it is worth a closer look."""
    return text[:3].lower() in BEGINNINGS or text[:2].lower() in BEGINNINGS


#: Elements that widespread themes define themselves. Their tags say what they hold.
OWN_TAGS = ("sale-price", "compare-at-price", "unit-price", "price-list", "product-price", "variant-sku", "product-sku")
#: Elements that hold text for people.
HOLD_TEXT = (
    "div", "span", "p", "b", "strong", "em", "ins", "del", "s", "strike", "td", "th", "dt", "dd", "li", "label", "font",
    "bdi", "data", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "output", "small", "big", "u", "meter",
    "price", "center", "fieldset", "a", "button",
    *OWN_TAGS,
)  # fmt: skip


@lru_cache(maxsize=4096)
def traits_of(name: str) -> frozenset[str]:
    """The kinds of part that a class name and id speak of: `price`, `current`, `old`, `usual`, `no_price`, `elsewhere`."""
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
    """The element's class and its id or, without an id, the name in the shop's own tests: it outlives made-up classes.

    If a class says plainly what the element is (`productPrice`), the id of a script (`js_unitPrice`) does not count.
    """
    identifier = element.get("id") or element.get("data-testid") or (element.tag if element.tag in OWN_TAGS else None)
    classes = element.get("class") or ""
    if identifier and classes and _PLAIN_NAME.search(classes):
        return classes
    return f"{classes} {identifier}" if identifier else classes


_PLAIN_NAME = re.compile(r"(?<!\S)(?:product|prod|item|goods|selling|current|final)[-_]?price(?!\S)", re.IGNORECASE)


BUTTONS = ("button", "input", "form", "a")


def is_named_order(element: HtmlElement) -> bool:
    """Whether the element's name or address says that it orders the goods, or it is the field for the number of pieces."""
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
    """Whether the element's words say that it orders the goods."""
    if element.tag == "input":
        is_button = element.get("type") in ("submit", "button", "image")
        # The picture of a button has its words in the text for people who do not see it.
        text = element.get("value") or element.get("alt") if is_button else None
    elif element.tag == "button" or (element.tag == "a" and looks_like_button(element)):
        text = visible_text(element, 60)
    else:
        return False
    text = text or ""
    return 0 < len(text) < 80 and words.orders(text)


def looks_like_button(link: HtmlElement) -> bool:
    """Whether a link is made to look like a button. A page has hundreds of other links."""
    name = name_of(link)
    has_button_name = (
        "btn" in name or "utton" in name or "art" in name or "buy" in name or "asket" in name or "add" in name
    )
    return has_button_name or link.get("role") == "button"


_QUANTITY = re.compile(
    r"(?:product_?|item_?|sku_?)?(?:qty|quantity|quantite|menge|anzahl|ilosc|cantidad|quantita|aantal|kolichestvo|antal"
    r"|maara)(?:\[\])?",
    re.IGNORECASE,
)
