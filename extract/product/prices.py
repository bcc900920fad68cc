"""Reads the price in the text of one element, and tells its kind by names in and around the element and words beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import UNSEEN, is_hidden, visible_text
from gpuledger.extract.price import amounts, money
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.money import Ambiguous, Money
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.scan import CROSSED, SPACES, name_of, sign_beside, traits_of
from gpuledger.items import PriceKind

#: The longest text of an element that may be a price with its label.
MAX_TEXT = 90


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the prices of one page. `currency` is what its structured data states, `marked` its price elements."""

    page: Context
    currency: str | None
    marked: list[tuple[int, HtmlElement]]
    #: Elements that were read as the end of an amount before them.
    joined: set[HtmlElement] = field(default_factory=set)

    def read_element(self, element: HtmlElement, text: str) -> Money | Ambiguous | None:
        """The reading of an element with this text. What is struck out in it is an old price, whatever the words say."""
        behind = _behind(element)
        if _CENTS_ALONE.fullmatch(behind) and text[-1:].isdigit():
            small = element.getnext()
            if behind[0] not in ".," and small is not None and small.tag in ("sup", "small"):
                # `<sup>$</sup> <b>1499</b> <sup>99</sup>`: the eye joins cents that are set above the line.
                self.joined.add(small)
                behind = f".{behind}"
            if behind[0] not in ".,":
                # `$549` and `99` are the parts of one price, and neither may count as the whole.
                return Ambiguous(f"{text} {behind}", money.SET_APART)
            beside = sign_beside(element, text)
            ahead = beside[0] if beside else ""
            return self._text(f"{ahead} {text}{behind} {self._sign_behind(element, behind)}".strip())
        if _GOES_ON.match(behind) and text[-1:].isdigit():
            # `R$ 12` is the beginning of `12` `.` `299` `,` `90`.
            return Ambiguous(f"{text}{behind}", money.SET_APART)
        cents = _SIGN_AND_CENTS.fullmatch(behind)
        if (
            cents is not None
            and _WHOLE.fullmatch(text)
            and (small := element.getnext()) is not None
            and _is_small(small)
        ):
            # `599`, and small above the line `€` over `99`; `599` and `99 zł`.
            self.joined.add(small)
            return self._text(f"{text},{cents.group(1) or cents.group(2)} {cents.group(3) or '€'}")
        if beside := sign_beside(element, text):
            text = f"{beside[0]} {text} {beside[1]}".strip()
        if _FOOTNOTE.search(text) and any(len(visible_text(sup, 3)) == 1 for sup in element.iterdescendants("sup")):
            # `299 €<sup>1</sup>`
            text = text[:-1].rstrip(SPACES)
        reading = self._range(text) or self._text(text)
        crossed = next(element.iterdescendants(*CROSSED), None)
        if crossed is None or reading is None:
            return reading
        old = self._text(visible_text(crossed, MAX_TEXT))
        old_amount = old.amount if isinstance(old, Money) else None
        if isinstance(reading, Ambiguous) or reading.amount == old_amount:
            # `<s>$599</s> $549`, `<s>$599</s> or $22.92/mo`: read again without the part that is struck out.
            remainder = self._text(visible_text(element, MAX_TEXT + 60, CROSSED))
            if not isinstance(remainder, Money):
                return replace(reading, kind="list") if isinstance(reading, Money) else reading
            # `van <s>24,95</s> voor 18,50`: the word for an old price described the part that is gone.
            reading = replace(remainder, kind="now") if remainder.kind == "list" else remainder
        return replace(reading, list_amount=reading.list_amount or old_amount)

    def _sign_behind(self, element: HtmlElement, behind: str) -> str:
        """The currency in an element behind the cents; empty if there is none. The cents count as read with the amount."""
        for follower in element.itersiblings():
            if not isinstance(follower.tag, str):
                continue
            text = visible_text(follower, 10)
            if behind.startswith(text):
                self.joined.add(follower)
                behind = behind.removeprefix(text)
            else:
                return text if not behind and currencies.at_start(text) == text else ""
        return ""

    def _text(self, text: str) -> Money | Ambiguous | None:
        page = self.page
        reading = money.read_price(text, currency=self.currency, country=page.country, language=page.language)
        if isinstance(reading, Ambiguous) and reading.reason == money.SEPARATOR:
            return money.read_price(
                text, currency=self.currency, country=page.country, language=page.language, decimal=self._habit()
            )
        return reading

    def _range(self, text: str) -> Money | None:
        """The lower end of a range of prices as a `from` price; None if the text is no range.

        An offer that states several prices to machines is a `from` price at its lowest as well.
        """
        numbers = [*amounts.NUMBER.finditer(text)]
        if len(numbers) != 2:
            return None
        low, high = numbers
        gap = text[low.end() : high.start()]
        separator = _RANGE_SEPARATOR.search(gap)
        if separator is None:
            return None
        behind, before = gap[: separator.start()], gap[separator.end() :]
        if any(
            sign.strip(SPACES) and currencies.at_start(sign.strip(SPACES)) != sign.strip(SPACES)
            for sign in (behind, before)
        ):
            return None
        start = self._text(_FROM.sub("", text[: low.end()] + behind))
        end = self._text(before + text[high.start() :])
        if not isinstance(start, Money) or not isinstance(end, Money) or not (start.signed or end.signed):
            return None
        if (
            start.kind not in ("now", "from")
            or end.kind != "now"
            or not start.amount < end.amount <= _WIDEST * start.amount
        ):
            return None
        if start.signed and end.signed and start.currency != end.currency:
            return None
        currency = start.currency if start.signed else end.currency
        return replace(start, kind="from", currency=currency, signed=True, text=text, high_amount=end.amount)

    def _habit(self) -> str | None:
        """The symbol before the cents in the page's prices; None if no price has cents, or if both symbols are used."""
        texts = [element.text or "" for _, element in self.marked]
        marks = {match.group(1) for text in texts if (match := _CENTS.search(text))}
        return marks.pop() if len(marks) == 1 else None


#: What separates the two ends of a range, with the currency of either end around it: `10 € – 20 €`, `od 10 zł do 20 zł`.
_RANGE_SEPARATOR = re.compile(
    r"(?<![.,:])[-–—~〜](?![-–—])|(?<![^\W\d_])(?:to|bis|do|до|až|à|al?|até|hasta|tot|till|til)(?![^\W\d_])",
    re.IGNORECASE,
)
_FROM = re.compile(r"(?<![^\W\d_])(?:from|von|ab|od|от|від|de|da|dès|van|från|fra|between)(?![^\W\d_])", re.IGNORECASE)
#: A sale may take most of a price off. Variants that cost more than so many times another are other goods.
_WIDEST = 20
#: A digit alone behind the currency is not an amount.
_FOOTNOTE = re.compile(r"[^\d\s.,]\s?\d$")
_CENTS_ALONE = re.compile(r"[.,]?\d\d")
_SIGN_AND_CENTS = re.compile(r"€\s?(\d\d)|(\d\d)\s?(\D{1,3})")
_WHOLE = re.compile(r"\d{1,3}(?:[ .\u00a0]?\d{3})*")
_SMALL = re.compile(r"cent|dec|frac|sup(?![a-z])")


def _is_small(element: HtmlElement) -> bool:
    """Whether an element is set in small type, or named after cents."""
    return element.tag in ("sup", "small") or _SMALL.search(name_of(element).lower()) is not None


_GOES_ON = re.compile(r"[.,]\d")


def _behind(element: HtmlElement) -> str:
    """The text of the element that follows, if nothing stands in between."""
    follower = element.getnext()
    if follower is None or (element.tail or "").strip() or not isinstance(follower.tag, str):
        return ""
    text = visible_text(follower, 10)
    # The point may have an element of its own: `<b>$549</b><i>.</i><sup>99</sup>`.
    return text + _behind(follower) if text in (".", ",") else text


_CENTS = re.compile(r"\d([.,])\d\d(?![\d.,])")


# ── kinds of prices ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class VisiblePrice:
    """One price on the page. `order` counts elements from the top; `kind` is what names and words call the price.

    `named` says whether a name or a label speaks of a price, `current` whether a name speaks of the price that is asked now.
    """

    element: HtmlElement
    order: int
    money: Money
    kind: PriceKind
    named: bool
    current: bool
    #: Whether it is `list` only because of a name (`regular-price`) that pages without a sale use too.
    usual: bool
    score: float = 0.0
    #: How far above the title the smallest part lies that holds both the title and the price.
    distance: int = 99
    #: Whether words around it say that tax comes on top.
    net: bool = False
    #: Whether a word for `price` and nothing else stands right before it, in a line or a table.
    labelled: bool = False
    #: Whether it is marked for machines as schema.org's `price`, though not as part of a product.
    marked: bool = False

    @property
    def amount(self) -> Decimal:
        """The amount, above zero."""
        return self.money.amount


def classified(element: HtmlElement, order: int, reading: Money, *, alone: bool = False) -> VisiblePrice | None:
    """The price with its kind; None if names or words say that it is not a price of the goods.

    `alone`: the page has no other price, so that a label in a block of its own (`Extended warranty`) is a promise or a badge
    if it has no colon.
    """
    heading_label = _heading(element)
    kind, is_net, is_called_usual = reading.kind, heading_label == "net", price_words.is_usual(reading.text)
    if heading_label in ("noise", "member", "monthly"):
        return None
    if heading_label == "list" and kind == "now":
        kind = "list"
    inside = _down_to(element, reading.number)
    own_name = frozenset[str]().union(*(traits_of(name_of(part)) for part in inside))
    traits, around = set(own_name), inside
    own_text = visible_text(element, MAX_TEXT)
    for up in list(element.iterancestors())[:4]:
        text = visible_text(up, MAX_TEXT + 10)
        if len(text) > MAX_TEXT:
            break
        if text != own_text:
            others = [label for token, label in money.tokens(text).items() if token not in reading.number]
            holds_others = len(others) > 0
            own_label = money.label_in(_words_around(up, element, alone=alone), reading.number)
            if own_label in ("noise", "member", "unit"):
                return None
            is_net = is_net or own_label == "net"
            is_called_usual = is_called_usual or (own_label == "list" and price_words.is_usual(text))
            if own_label is not None and kind == "now":
                kind = price_words.KINDS.get(own_label, kind)
            if holds_others and any(label != "noise" for label in others):
                # The part holds another price too, so its name may describe that one.
                break
        around.append(up)
        traits |= traits_of(name_of(up))
    if "no_price" in traits:
        return None
    if kind in ("now", "from") and _is_a_month(element, own_text):
        kind = "monthly"
    crossed = any(part.tag in CROSSED or "line-through" in (part.get("style") or "") for part in around)
    is_current = "current" in own_name
    is_old = crossed or "old" in own_name or ("old" in traits and not is_current)
    usual_name = "usual" in own_name or ("usual" in traits and not is_current)
    usual_words = kind == "list" and is_called_usual
    is_usual = not is_old and (usual_words or (usual_name and kind == "now"))
    if is_old or is_usual:
        kind = "list"
    labelled = _is_labelled(element)
    marked = any(part.get("itemprop") == "price" for part in inside)
    named = "price" in traits or marked or labelled
    if not named and not price_words.explains(money.without_amounts(own_text)):
        # The amount stands in a sentence.
        return None
    return VisiblePrice(
        element,
        order,
        reading,
        kind,
        named,
        "current" in traits,
        is_usual,
        net=is_net,
        labelled=labelled,
        marked=marked,
    )


def _is_a_month(element: HtmlElement, own_text: str) -> bool:
    """Whether a text of its own right behind the price says that it is paid each month: `per month for 12 months`."""
    whole = [up for up in [element, *element.iterancestors()][:4] if visible_text(up, MAX_TEXT) == own_text][-1]
    follower = whole.getnext()
    behind = (whole.tail or "").strip()
    if not behind and follower is not None:
        behind = (visible_text(follower, MAX_TEXT) or follower.tail or "").strip()
    return _PER.match(behind) is not None and price_words.label("", behind) == "monthly" and not money.tokens(behind)


#: What begins a unit. `Monthly payments available` behind a price is none.
_PER = re.compile(r"/|(?:p(?:er|ro|ar|or)?|a[lou]|na|в)\b", re.IGNORECASE)


def is_for_members(element: HtmlElement, reading: Money) -> bool:
    """Whether names or words around an amount say that only members of a club pay it."""
    if _heading(element) == "member":
        return True
    for up in [element, *element.iterancestors()][:4]:
        text = visible_text(up, MAX_TEXT + 10)
        if len(text) > MAX_TEXT:
            return False
        if _MEMBERS.search(name_of(up).lower()) is not None:
            return True
        if money.label_in(_words_around(up, element), reading.number) == "member":
            return True
    return False


_MEMBERS = re.compile(r"(?:members?|club|prime|loyalty)[-_]?price|price[-_]?(?:members?|club)")
_LONGEST_LABEL = 30
#: Chinese, Japanese and Korean headings of two signs often have a space between them, to fill their cell: `運 費`.
_PARTED_SIGNS = re.compile(r"(?<=[\u3040-\u9fff\uac00-\ud7a3])[\s\u3000]+(?=[\u3040-\u9fff\uac00-\ud7a3])")


def _cell_before(element: HtmlElement) -> HtmlElement | None:
    """The heading of the table row, or the term of the list, to which the cell around the element belongs."""
    cell = next((up for up in [element, *element.iterancestors()][:4] if up.tag in ("td", "dd")), None)
    heading = cell.getprevious() if cell is not None else None
    return heading if heading is not None and heading.tag in ("th", "td", "dt") else None


def _heading(element: HtmlElement) -> price_words.Label | None:
    """The label that the heading of a row gives its amounts (`Delivery`, `運 費`); other numbers may stand in between."""
    heading = _cell_before(element)
    text = visible_text(heading, _LONGEST_LABEL + 1) if heading is not None else ""
    if not text or len(text) > _LONGEST_LABEL or any(map(str.isdigit, text)):
        return None
    label = price_words.label(_PARTED_SIGNS.sub("", text).rstrip(")"), "")
    # The heading of a price calls no amount another thing, but it may say which price: `Price (ex VAT)`.
    return label if label == "net" or not price_words.is_of_price(text) else None


def _is_labelled(element: HtmlElement) -> bool:
    """Whether a word for `price` and nothing else stands before the element.

    A word before several amounts in a row (`Price`, for 1, for 5, for 10) does not count as the label of a single one.
    """
    before, parent, heading = element.getprevious(), element.getparent(), _cell_before(element)
    if before is not None and before is not heading and isinstance(before.tag, str):
        text = (before.tail or "").strip() or visible_text(before, _LONGEST_LABEL + 1)
    elif parent is not None and (parent.text or "").strip():
        text = parent.text or ""
    elif heading is not None:
        row = heading.getnext() if heading.tag == "dt" else heading.getparent()
        if row is not None and len(money.tokens(visible_text(row, MAX_TEXT))) > 1:
            return False
        text = visible_text(heading, _LONGEST_LABEL + 1)
    else:
        return False
    return len(text) <= _LONGEST_LABEL and price_words.PRICE_LABEL.fullmatch(text) is not None


def _down_to(element: HtmlElement, number: str) -> list[HtmlElement]:
    """The element and, each inside the one before, the only parts that hold the number: their names describe it too."""
    path = [element]
    while holders := [part for part in path[-1].iterchildren("*") if number in visible_text(part, MAX_TEXT)]:
        if len(holders) > 1:
            break
        path.append(holders[0])
    return path


_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: Parts of a line, in which a label adjoins its amount; other elements are blocks of their own.
_INLINE = frozenset(
    (
        "a",
        "abbr",
        "b",
        "bdi",
        "dt",
        "em",
        "font",
        "i",
        "label",
        "meta",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "td",
        "th",
        "u",
    )
)


def _words_around(part: HtmlElement, element: HtmlElement, *, alone: bool = False) -> str:
    """The text of a part without what describes no price or another one.

    Left out are children that hold another price, whose words describe that price, and before the element headings and texts
    that are no labels; with `alone` also labels in blocks of their own that have no colon.
    """
    line = {element, *element.iterancestors()}
    pieces, is_before = [part.text or ""], True
    for child in part:
        if child in line:
            is_before = False
        if isinstance(child.tag, str) and child.tag not in UNSEEN and not is_hidden(child):
            in_line = child in line and child is not element
            text = _words_around(child, element, alone=alone) if in_line else visible_text(child, MAX_TEXT + 10)
            if child not in line and money.tokens(text):
                # A bare digit takes the place of the other price, so that words before it describe it, not the price before.
                text = "0 ¦"
            elif is_before and not _is_label(child, text, alone=alone):
                text = ""
            pieces.append(text)
        pieces.append(child.tail or "")
    return " ".join(pieces)


def _is_label(child: HtmlElement, text: str, *, alone: bool) -> bool:
    if child.tag in ("label", "dt", "th", "td"):
        return True
    if (child.tag in _HEADINGS and not price_words.is_of_price(text)) or not price_words.is_label(text):
        return False
    is_apart = child.tag not in _INLINE or _BADGE.search(child.get("class") or "") is not None
    return not (alone and is_apart and not text.rstrip().endswith((":", "：")))


_BADGE = re.compile(r"badge|ribbon|sticker|flag|pill|(?<![a-z])tag(?![a-z])|promo", re.IGNORECASE)
