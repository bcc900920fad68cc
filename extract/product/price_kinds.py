"""Decides what kind of price one element holds, by its own name, the names in and around it, and the words beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from lxml.html import HtmlElement

from gpuledger.extract.items import PriceKind
from gpuledger.extract.markup.html import UNSEEN, is_hidden, visible_text
from gpuledger.extract.price import money
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.money import Money
from gpuledger.extract.product.price_text import CROSSED, MAX_TEXT
from gpuledger.extract.product.scan import name_of, traits_of


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
    #: Whether it stands where the shop's system is known to print it.
    by_system: bool = False
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


def classified(element: HtmlElement, order: int, reading: Money) -> VisiblePrice | None:
    """The price with its kind; None if names or words say that it is not a price of the goods."""
    kind, is_net, is_called_usual = reading.kind, False, price_words.is_usual(reading.text)
    heading_label = _heading(element)
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
            own_label = money.label_in(_without_other_prices(up, element) if holds_others else text, reading.number)
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


def is_for_members(element: HtmlElement, reading: Money) -> bool:
    """Whether the words around an amount say that only members of a club pay it."""
    if _heading(element) == "member":
        return True
    for up in [element, *element.iterancestors()][:4]:
        text = visible_text(up, MAX_TEXT + 10)
        if len(text) > MAX_TEXT:
            return False
        if money.label_in(_without_other_prices(up, element), reading.number) == "member":
            return True
    return False


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
    if not text or len(text) > _LONGEST_LABEL or any(map(str.isdigit, text)) or price_words.is_of_price(text):
        return None
    return price_words.label(_PARTED_SIGNS.sub("", text), "")


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
        row = heading.getparent()
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


def _without_other_prices(part: HtmlElement, element: HtmlElement) -> str:
    """The text of a part without the children that hold another price, whose words describe that price."""
    line = {element, *element.iterancestors()}
    pieces = [part.text or ""]
    for child in part:
        if isinstance(child.tag, str) and child.tag not in UNSEEN and not is_hidden(child):
            text = visible_text(child, MAX_TEXT + 10)
            # A bare digit takes the place of the other price, so that words before it describe it, not the price before.
            pieces.append(text if child in line or not money.tokens(text) else "0 ¦")
        pieces.append(child.tail or "")
    return " ".join(pieces)
