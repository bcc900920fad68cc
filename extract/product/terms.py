"""What the page prints about the goods' condition, their seller (`Condition: Used`, `Sold by X`), and tax in the price.

Structured data comes first. A used card that counts as new looks like a bargain, so the printed words count on pages that
tell machines nothing about the condition. If labels of the page's own goods differ, the page offers a choice:
none counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import money, vat
from gpuledger.extract.product.layout import Layout
from gpuledger.extract.product.prices import VisiblePrice
from gpuledger.extract.product.scan import CROSSED, HOLD_TEXT
from gpuledger.extract.product.signs import labels
from gpuledger.items import Condition

_CONDITION = labels(words.table("condition", "label"))
#: Who sells stands behind the verb, whatever else he does (`Sold and shipped by X`). These need no colon behind them.
_SOLD_BY = labels(
    r"""
    dispatched from and sold by | ships from and sold by | shipped and sold by | fulfilled and sold by
    sold (?:(?:and|&) \w+ )?by | verkauf(?: und versand)? durch | verkauft (?:(?:und|&) \w+ )?(?:von|durch)
    vendue?s? (?:et \w+ )?par | vendid[oa] (?:[ye] \w+ )?por | vendut[oa] (?:e \w+ )?da
    verkoop door | verkocht (?:en \w+ )?door | sprzedaż i wysyłka | sprzedawane przez | säljs av | selges av | sælges af
    vândut (?:și livrat )?de
    """
)
_SELLER = labels(
    """
    seller | merchant | verkäufer | vendeur | vendedor | venditore | verkoper | sprzedawca | sprzedający | prodejce
    predajca | säljare | selger | sælger | myyjä | müüja | pardavėjas | pārdevējs | vânzător | prodavač
    satıcı | продавец | 판매자 | 販売元 | 卖家 | 賣家
    """,
    r"(?=\s*[:：])",
)
#: Longer texts are sentences about conditions or sellers.
_MAX_VALUE = 60
_NAME_END = re.compile(r"\s*(?:[|•·(,;]|\s[-–—]\s| and | und | et | y | e | i ).*$")


def condition(layout: Layout, usual: Condition) -> Condition | None:
    """The condition that the page prints of its goods; None if it prints none, `unknown` if it is not clear which one.

    It stands behind a label. It may also stand alone in a badge, in the way that the page has in the shop (`Home > Used >
    Graphics cards`) or in its address, unless `usual`, the condition of the shop's goods, is unknown: known shops have used
    goods of others there. A grade behind a label (`Condition: very good`) is one of used goods, or of the shop's refurbished
    ones. Other words there do not say that goods are new, unless they speak of stock.
    """
    values = [text for text in _values(layout, _CONDITION) if words.availability(text) is None]
    stated: set[Condition] = {words.stated_condition(text) or "unknown" for text in values}
    if stated == {"used"} and usual == "refurbished" and not any(map(words.condition, values)):
        stated = {usual}
    if not stated and usual != "unknown":
        stated = set(_badges(layout))
    return stated.pop() if len(stated) == 1 else "unknown" if stated else None


#: The longest text that is a condition and nothing else: `Gebraucht - sehr gut`.
_LONGEST_BADGE = 30
_GOES_ON = re.compile(r"\s[-–—]\s|, ")
_COLONS = (":", "：")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CHOICES = ("option", "label", "a", "button")
_AMOUNT = re.compile(r"\d\d")
_WAY = re.compile(r"bread-?crumb", re.IGNORECASE)


def _badges(layout: Layout) -> Iterator[Condition]:
    """The conditions other than new that stand alone around the title, are chosen, or stand in the way to the page or in
    its address.
    """
    if kind := words.condition(re.sub(r"[-_/+.%\d]+", " ", urlsplit(layout.url).path)):
        yield kind
    for element in layout.part.iter(*HOLD_TEXT):
        text = " ".join((element.text or "").split())
        if not 0 < len(text) <= _MAX_VALUE or element.tag in _HEADINGS or element.tag in _CHOICES:
            continue
        # Before a colon stands what is asked, behind it the answer: `Used offers: none`.
        begin = _GOES_ON.split(text.rstrip("".join(_COLONS)).rpartition(":")[2].strip())[0]
        kind = words.condition(begin) if 0 < len(begin) <= _LONGEST_BADGE else None
        if kind is None or layout.is_elsewhere(element):
            continue
        # `Open-box: from $483.99` is another offer, as is a row of a table with prices.
        around = next(element.iterancestors(), element) if text.endswith(_COLONS) else element
        whole = next(element.iterancestors("tr"), around)
        if not _AMOUNT.search(visible_text(whole, _LONGEST_AROUND)):
            yield kind
    for option in layout.part.iter("option"):
        if option.get("selected") is not None and (kind := words.condition(visible_text(option, _LONGEST_BADGE))):
            yield kind
    for way in layout.tree.iter("nav", "ol", "ul", "div"):
        if _WAY.search(f"{way.get('class')} {way.get('id')} {way.get('aria-label')}"):
            kind = words.condition(visible_text(way, _LONGEST_AROUND))
            yield from (kind,) if kind else ()
            break


#: A page on which somebody sells one thing says so in a short line.
_LONGEST_LINE = 60


def is_of_a_person(layout: Layout) -> bool:
    """Whether the page is of a site on which many people sell, or says that a person sells: `Contact the seller`, `I sell`,
    `Post an ad`.
    """
    labels_of_host = set((urlsplit(layout.url).hostname or "").split("."))
    if not labels_of_host.isdisjoint(words.listed("names", "marketplace")):
        return True
    texts = (" ".join((element.text or "").split()) for element in layout.part.iter(*HOLD_TEXT))
    person, sale = words.pattern("order", "of_a_person"), words.pattern("order", "i_sell")
    if any(sale.match(text) or (3 < len(text) <= _LONGEST_LINE and person.search(text)) for text in texts):
        return True
    around = ((one.text or "").strip() for one in layout.tree.iter("a", "button", "h2", "h3", "h4", "footer"))
    advertisement = words.pattern("order", "advertisement")
    return any(3 < len(text) <= _LONGEST_LINE and advertisement.search(text) for text in around)


def seller(layout: Layout) -> str | None:
    """The seller that the page names (`Sold by X`); None if it prints none, or several."""
    texts = [*_values(layout, _SOLD_BY, bare=True), *_values(layout, _SELLER, bare=True)]
    names = {name for text in texts if (name := _NAME_END.sub("", text).strip(" :.")) and name[0].isalnum()}
    return names.pop() if len(names) == 1 else None


#: A longer text around a price describes more than the price.
_LONGEST_AROUND = 200


def tax_included(price: VisiblePrice, country: str | None) -> bool | None:
    """Whether the words around the shown price say that VAT or sales tax is in it; None if they do not say.

    The search ends at the smallest part that also holds another amount which is not struck out: words further out may
    describe that amount.
    """
    before = ""
    for up in [price.element, *price.element.iterancestors()][:5]:
        text = visible_text(up, _LONGEST_AROUND + 1)
        if len(text) > _LONGEST_AROUND:
            break
        if text == before:
            continue
        before = text
        is_included = vat.included(text, price.amount, country)
        if is_included is not None or len(money.tokens(visible_text(up, _LONGEST_AROUND, CROSSED))) > 1:
            return is_included
    return None


def _values(layout: Layout, label: re.Pattern[str], *, bare: bool = False) -> Iterator[str]:
    """The texts behind a label. Without `bare`, words right behind it make it another label (`Seller information`)."""
    for element in layout.parts.labels:
        text = " ".join((element.text or "").split())
        match = label.match(text)
        if match and not layout.is_elsewhere(element):
            text_after = text[match.end() :].strip()
            value = _behind(element, text_after) if bare or not text_after or text_after[0] in ":：" else None
            if value:
                yield value


def _behind(label: HtmlElement, text_after: str) -> str | None:
    """What stands behind a label: in the same text, in its children, behind the element, in the next element."""
    own = visible_text(label, _MAX_VALUE + 40)
    if not text_after.strip(" :：") and len(label) and (first := visible_text(label[0], _MAX_VALUE + 1)):
        value = first  # `Sold by <a>X</a> (98 %)`
    elif text_after.strip(" :：") or len(label):
        # `Condition: Used - good`.
        start = " ".join((label.text or "").split())
        value = text_after + own.removeprefix(start)
    elif (label.tail or "").strip():
        value = label.tail or ""
    else:
        behind = label.getnext()
        value = visible_text(behind, _MAX_VALUE + 1) if behind is not None else ""
    value = value.strip(" :：\u00a0")
    return value if 0 < len(value) <= _MAX_VALUE else None
