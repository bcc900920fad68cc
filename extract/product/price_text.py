"""Reads the price that is asked in the text of one element, together with the old price if that is struck out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import amounts, money
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.money import Ambiguous, Money
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.scan import CROSSED, SPACES, name_of, sign_beside

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
            # `599`, and small above the line `€` over `99`.
            self.joined.add(small)
            return self._text(f"{text},{cents.group(1)} €")
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
_SIGN_AND_CENTS = re.compile(r"€\s?(\d\d)")
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
