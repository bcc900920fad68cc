"""Reads the text of a price element: an amount, a currency and a kind, or the reason why they cannot be decided.

A price is never guessed: if the text has two readings, the answer is `Ambiguous`; if it holds no price, the answer is None.
The text is that of the price element alone, not of a whole card. price-parser is not used: it knows no ambiguous readings,
takes the first number that it meets (`RTX 5090 32GB $1,999.99`) and drops the words that make an amount a monthly rate or an
old price. Number formats and currencies come from CLDR, through babel.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from gpuledger.extract import words
from gpuledger.extract.price import amounts
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.amounts import to_decimal
from gpuledger.extract.price.choice import SEPARATOR, SET_APART, Ambiguous, Locale, Money, choose
from gpuledger.extract.price.numbers import MONEY_LIKE, PrintedNumber, numbers, tidy

__all__ = ["SEPARATOR", "SET_APART", "Ambiguous", "Money", "read_price", "to_decimal"]

#: A price element is short. A longer text is a card or a page, whose first number says nothing.
MAX_LENGTH = 200


def read_price(
    text: str, *, currency: str | None = None, country: str | None = None, language: str | None = None,
    decimal: str | None = None,
) -> Money | Ambiguous | None:  # fmt: skip
    """Read the text of one price element. None if there is no price in it at all (no number, 0, `일시품절`, `Save $50`).

    `country` (ISO 3166) and `language` (ISO 639) decide what `1.299` means and which country's dollar `$` is. `currency`
    (ISO 4217) is the currency that the page states elsewhere; it counts if the text has no currency, or only a sign that
    several share. `decimal` is the decimal symbol (`.` or `,`) that other prices of the same page use.
    """
    tidy_text = tidy(text)
    if not any(map(str.isdigit, tidy_text)):
        return None
    if len(tidy_text) > MAX_LENGTH:
        return Ambiguous(text[:MAX_LENGTH], "a text this long is not that of a price element")
    printed = numbers(tidy_text)
    if not printed:
        return None
    if _BACKWARDS in text:
        return Ambiguous(text, "a sign turns the amount round: people read other digits than stand there")
    if _INEXACT.search(tidy_text):
        return Ambiguous(text, "a sign beside the amount says that it is not exact")
    if _UNFINISHED.search(tidy_text):
        return Ambiguous(text, "what stands behind the amount may make another one of it")
    if words.says_no_price(tidy_text):
        return Ambiguous(text, "an amount beside words that say there is no price")

    return choose(text, printed, Locale(tidy_text, currency, country, language, decimal))


#: What multiplies an amount in front of money: `300만원`.
_TIMES = {"천": 10**3, "千": 10**3, "만": 10**4, "万": 10**4, "萬": 10**4, "백만": 10**6}
_MULTIPLE = re.compile(rf"(?<=\d)\s*({'|'.join(_TIMES)})(?=\s*[원円元])")


def read_typed(text: str) -> Money | Ambiguous | None:
    """Read an amount that a person types, with the currency of its sign: `3,000,000`, `2.500 €`, `300만원`. A mere `$` is
    the dollar of the USA; another sign of several currencies is ambiguous, without readings. None if it is no amount.
    """
    times = math.prod(_TIMES[word] for word in _MULTIPLE.findall(text))
    bare = _MULTIPLE.sub("", text)
    signs = {sign for number in numbers(tidy(bare)) for sign in number.symbols}
    code = "USD" if signs == {"$"} else currencies.explicit(min(signs)) if len(signs) == 1 else None
    group = re.search(r"\d([.,])\d{3}(?!\d)", bare)
    # Nobody writes three decimals beside the sign of a currency that has two.
    decimal = ",."[group[1] == ","] if group and code and currencies.minor_digits(code) < 3 else None
    found = read_price(bare, currency=code, decimal=decimal)
    if not isinstance(found, Money) or found.kind != "now":
        return found if isinstance(found, Ambiguous) else None
    if signs and not code:
        return Ambiguous(text, "its sign is of several currencies")
    return replace(found, amount=found.amount * times)


#: Unicode's override from right to left: behind it, a text with 9951 shows 1599.
_BACKWARDS = "\u202e"

#: Texts whose amount is not exact. `~1599`, `<1599`, `≈ $1,599`, `1599?`: about, below, or not sure. `>` with a space does
#: not count, because bullets are made of it. Words right before the amount count (`about $1,599`, `약 1,599,000원`; `CA$` is
#: Canada) and right behind it (`1599 USD or so`), as do digits that are left out (`$1,5xx`), a minus behind the currency, a
#: half behind it, and a sign for more or less wherever it stands (`1599 USD ±10`). So do numbers that only look like an
#: amount: of a telephone (`+1 599 1599`), a part (`1599-15-99`), or with two points (`1599..00`). An amount in brackets
#: alone is a credit to a bookkeeper; beside a price (`€1,499 ($1,599)`) it is the same price in another currency.
_INEXACT = re.compile(
    r"""^(?:[~≈≃∼〜±<≤≥＜]\s?|[>＞])[^\d\s]{0,3}\s?\d[\d.,\s]*[^\d\s]{0,3}\s*[?？]*$
    |^\D{0,6}\d[\d.,\s]*[^\d\s]{0,4}[?？]+$
    |(?<![^\W\d_])(?:ca\.|ca(?!\s?\$)|circa|about|around|roughly|etwa|ungefähr|rund|unter|under|below|less\sthan|more\sthan
        |above|at\sleast|mindestens|between|zwischen|est\.|estimated?:?|env\.|environ|provisional|vorläufig|indicative|budgetary
        |target(?:\sprice)?:?|약|約|约|およそ|暫定|예상)
        \s*(?:[^\w\s]{1,2}|US\$|USD|EUR|GBP)?\s?\d
    |\d\s?(?:[^\w\s]{1,2}|[A-Z]{3}|[원円元])?\s?[-(]?(?:(?:ish|or\sso|more\sor\sless|roughly|approximately|provisional|indicative
        |rounded|tolerance|subject\sto\sconfirmation|unverbindlich|estimated?\)?$)(?![^\W\d_])|左右|前後|前后|내외|정도|안팎|가량)
    |[±∓⁺]|\+\s?/?\s?[-−–]\s?\d|[-−–]\s?/\s?\+\s?\d|\d[?？]{2,}|plus[\s/-]?(?:or\s)?minus|\d\s?[.,]\s?[.,]+\s?\d
    |^\(\s?[^\w\s]{1,3}\s?\d[\d.,\s]*\)$|\d[xX]{2,}|\d[.,][*＊\#•●_xX]{2,}|[$€£₩¥]\s?[-−–]\s?\d|\d[½⅓⅔¼¾⅛]|^\+\s?\d|(?<![\d.,])\d+[-‐]\d+[-‐]\d""",
    re.IGNORECASE | re.VERBOSE,
)


#: Texts behind an amount that may change it, or that show that a part of it is lost. `1599/`: per what? `1599-`: below zero
#: to a bookkeeper, or a range whose end is cut off (cents are a dash behind a sign: `1599,-`, `1599:-`, in India `1599/-`).
#: `1599…`: digits are left out. `1599"`: a length. `$1599k`, `¥1.6万`: thousands. `$1599/10`, `$1599*2`: a sum to work out.
#: The sign of a footnote (`*`, `†`, `¹`, `^`) is none of these: shops set one behind every price.
_UNFINISHED = re.compile(
    r"""\d\s?[^\d\s]{0,4}\s?(?:/|(?<![.,:/\s\-–—−])\s?[-–—−]{1,2}|(?<!/)=|:|\.{2,}|…|\+\s?/\s?[-–—−]|[±≈≃<≤≥＜\\]|(?<=\S)[>＞])$
    |^[^\d"“″'‘′]*\d[\d.,]*(?:["″”]|''|['′’])$
    |[$€£¥￥₩₹]\s?\d[\d.,]*(?:[kKmM](?![^\W\d_])|\s?[xX]$|\s?(?:[lL](?:akhs?)?|crores?|[cC]r|thousand|million|mio|mln|mn)\b|\s?[백천만억百千万萬亿億])
    |^\D{0,6}\d[\d.,]*\s?[^\d\s]{0,3}\s?[/*÷]\s?\d[\d.,]*$""",
    re.VERBOSE,
)


def label_in(text: str, part: str) -> price_words.Label | None:
    """The label that the words of `text` give the amount that is printed as `part` in it; None if the amount is not there.

    For the words that stand around a price element: `/mo.` or `instead of` in the text of its parent.
    """
    tidy_text = tidy(text)
    tokens = amounts.NUMBER.findall(tidy(part))
    return next((number.label for number in numbers(tidy_text) if number.token in tokens), None)


def tokens(text: str) -> dict[str, price_words.Label]:
    """The different numbers in the text that carry a currency or look like money, each labelled by its words."""
    printed = numbers(tidy(text))
    signed = any(number.is_signed for number in printed)
    return {
        number.token: number.label
        for number in printed
        if number.is_signed or (MONEY_LIKE.fullmatch(number.token) and not (signed and _is_no_amount(number)))
    }


def _is_no_amount(number: PrintedNumber) -> bool:
    """Whether a number without a currency, beside amounts that carry theirs, is a rating or a day (`15.12.`)."""
    is_day = number.after.startswith(".") and _DAY.fullmatch(number.token)
    return bool(is_day or _RATING.fullmatch(number.token))


_DAY = re.compile(r"[0-3]?\d\.[01]?\d")


#: A rating of up to five stars, beside prices that carry their currency.
_RATING = re.compile(r"[0-5][.,]\d\d")


def without_amounts(text: str) -> str:
    """The words of the text, without its numbers and their currencies."""
    tidy_text = tidy(text)
    for number in numbers(tidy_text):
        for piece in (number.token, *number.symbols):
            tidy_text = tidy_text.replace(piece, " ", 1)
    return tidy_text
