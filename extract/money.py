"""The text of a price element to an amount, a currency and a kind, or the reason why it cannot be told.

A price is never guessed: where the text allows two readings the answer is `Ambiguous`, where it holds no price, None.
The text is that of the price element alone, not of a whole card. price-parser is not used: it has no notion of "two
readings", takes the first number it meets (`RTX 5090 32GB $1,999.99`) and drops the words that make an amount a monthly
rate or an old price. Number formats and currencies are CLDR's, through babel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from extract import amounts, price_words
from extract import currency as currencies
from extract.amounts import to_decimal
from extract.items import PriceKind
from extract.price_numbers import MONEY_LIKE, Found, numbers, tidy

__all__ = ["Ambiguous", "Money", "read_price", "to_decimal"]

#: The reason of an Ambiguous whose digits are one price in parts (`$229 99`), or a price and another number.
SET_APART = "cents set apart from the amount, or another number behind it"
#: The reason of an Ambiguous with two readings of one number.
SEPARATOR = "the separator can be read as decimal or as thousands"
#: A price element is short; a longer text is a card or a page, whose first number says nothing.
MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Money:
    """An amount above zero. `currency` is ISO 4217, None where the text and its country name none; `text` is as printed.

    `signed` says whether the text itself says that it is money, by a currency or a dash for the cents; where it names no
    currency, `currency` is what the caller knows. `number` is the amount's own digits as printed, to find it again in a
    longer text. `list_amount` is the old price that the same text names beside it.
    """

    amount: Decimal
    currency: str | None
    kind: PriceKind
    text: str
    signed: bool = False
    number: str = ""
    list_amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A text that holds a price which cannot be told. `readings` are the amounts that it may mean, where they are known."""

    text: str
    reason: str
    readings: tuple[Decimal, ...] = ()


def read_price(
    text: str, *, currency: str | None = None, country: str | None = None, language: str | None = None,
    decimal: str | None = None,
) -> Money | Ambiguous | None:  # fmt: skip
    """Read the text of one price element. None where there is no price in it at all (no number, 0, `일시품절`, `Save $50`).

    `country` (ISO 3166) and `language` (ISO 639) decide what `1.299` means and whose dollar `$` is; `currency` (ISO 4217)
    is the currency that the page states elsewhere, used where the text has none or a sign shared by several. `decimal`
    is the decimal symbol (`.` or `,`) that other prices of the same page were seen to use.
    """
    plain = _plain(text, currency, country)
    if plain is not None:
        return plain
    shown = tidy(text)
    if not any(map(str.isdigit, shown)):
        return None
    if len(shown) > MAX_LENGTH:
        return Ambiguous(text[:MAX_LENGTH], "a text this long is not that of a price element")
    found = numbers(shown)
    if not found:
        return None
    if price_words.says_no_price(shown):
        return Ambiguous(text, "an amount beside words that say there is no price")

    return _choose(text, found, _Locale(shown, currency, country, language, decimal))


def label_in(text: str, part: str) -> price_words.Label | None:
    """What the words of `text` call the amount that is printed as `part` in it; None where it is not found there.

    For the words that stand around a price element: `/mo.` or `instead of` in the text of its parent.
    """
    shown = tidy(text)
    tokens = amounts.NUMBER.findall(tidy(part))
    return next((number.label for number in numbers(shown) if number.token in tokens), None)


def tokens(text: str) -> dict[str, price_words.Label]:
    """The different numbers in the text that carry a currency or look like money, each with what the words call it."""
    found = numbers(tidy(text))
    signed = any(number.is_signed for number in found)
    return {
        number.token: number.label
        for number in found
        if number.is_signed or (MONEY_LIKE.fullmatch(number.token) and not (signed and _RATING.fullmatch(number.token)))
    }


#: Up to five stars, beside prices that carry their currency.
_RATING = re.compile(r"[0-5][.,]\d\d")


def without_amounts(text: str) -> str:
    """The words of the text, without its numbers and their currencies."""
    shown = tidy(text)
    for number in numbers(shown):
        for piece in (number.token, *number.symbols):
            shown = shown.replace(piece, " ", 1)
    return shown


_PLAIN = re.compile(r"\s*(?:([$€£₹])\s?)?([0-9]{1,3}(?:,[0-9]{3})*\.[0-9]{2}|[0-9]{1,6}\.[0-9]{2})\s*")
_PLAIN_WON = re.compile(r"\s*([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})\s?원\s*")


def _plain(text: str, currency: str | None, country: str | None) -> Money | None:
    """The two commonest forms, `$1,299.99` and `12,000원`, which read the same everywhere; None for any other text."""
    if match := _PLAIN.fullmatch(text):
        sign, number = match.groups()
        code, signed = currency, sign is not None
        if sign and (currency is None or not currencies.may_mean(sign, currency)):
            code = currencies.of_symbol(sign, country)
        if (sign and currency and code != currency) or (code and currencies.minor_digits(code) == 0):
            return None
    elif match := _PLAIN_WON.fullmatch(text):
        number, code, signed = match.group(1), "KRW", True
    else:
        return None
    amount = Decimal(number.replace(",", ""))
    return Money(amount, code, "now", text.strip(), signed, number) if amount else None


#: What stands between two numbers of a range.
_RANGE = re.compile(r"[\s\u00a0]*(?:[-–—~〜]|to|bis|do|до|až|à|al|a|até|hasta|tot|till|til)[\s\u00a0]*", re.IGNORECASE)
_TWO_DIGITS = re.compile(r"\d{2}")


def _prices(shown: str, found: list[Found]) -> list[Found] | str:
    """The numbers that are amounts of money, or why that cannot be told."""
    priced = [number for number in found if number.is_signed]
    if not priced:
        words = amounts.NUMBER.sub(" ", shown)
        return (
            found if price_words.only_neutral(words) else "words that are not known beside a number without a currency"
        )
    if len({number.token for number in found}) == 1:
        return priced
    for number, following in pairwise(found):
        if not (number.symbols or following.symbols):
            continue
        if following.follows and _TWO_DIGITS.fullmatch(following.token) and not MONEY_LIKE.fullmatch(number.token):
            return SET_APART
        if not (number.symbols and following.symbols) and _RANGE.fullmatch(number.after):
            return "a range of prices"
        if number.symbols and not following.is_signed and not number.after.strip(" \u00a0"):
            return "a number right behind the currency"
    return [
        number for number in found if number.is_signed or (number.label == "now" and MONEY_LIKE.fullmatch(number.token))
    ]


def _wanted(prices: list[Found]) -> list[Found]:
    """The amounts that the words do not set aside for another one: savings never count, an old price only alone."""
    by_label: dict[str, list[Found]] = {}
    for price in prices:
        by_label.setdefault(price.label, []).append(price)
    return next(
        (by_label[label] for label in ("now", "bundle", "from", "net", "unit", "list", "monthly") if label in by_label),
        [],
    )


@dataclass(frozen=True, slots=True)
class _Locale:
    """What decides the meaning of a number in a text: the text itself, and what the caller knows (see `read_price`)."""

    shown: str
    currency: str | None
    country: str | None
    language: str | None
    decimal: str | None

    def read(self, price: Found) -> tuple[tuple[Decimal, ...], str | None]:
        """What a number may mean, and its currency. Raises ValueError where text and hints contradict on the currency."""
        code = self._code(price)
        sign = price.symbols[0] if price.symbols else ""
        return _readings(price, amounts.page_format(code, self.language, self.country, self.decimal, sign)), code

    def _code(self, price: Found) -> str | None:
        codes = {code for symbol in price.symbols if (code := currencies.of_symbol(symbol, self.country))}
        explicit = {code for symbol in price.symbols if (code := currencies.explicit(symbol))}
        if len(codes) > 1 and len(explicit) == 1:
            # `$1,190.00 AUD`: the code says whose dollar it is, where the sign may be that dollar.
            (code,) = explicit
            if all(currencies.may_mean(symbol, code) for symbol in price.symbols):
                return code
        if len(explicit or codes) > 1:
            raise ValueError("two currencies")
        if explicit:
            return explicit.pop()
        hint = self.currency
        if not price.symbols:
            return currencies.find(self.shown, self.country) or hint
        if hint and all(currencies.may_mean(symbol, hint) for symbol in price.symbols):
            return hint
        if hint and not codes:
            raise ValueError(f"a sign that is not of {hint}")
        return codes.pop() if codes else None


def _choose(text: str, found: list[Found], locale: _Locale) -> Money | Ambiguous | None:
    """The one price among the numbers of the text."""
    prices = _prices(locale.shown, found)
    if isinstance(prices, str):
        return Ambiguous(text, prices)
    values: dict[tuple[Decimal, ...], Found] = {}
    codes: set[str | None] = set()
    for price in _wanted(prices):
        try:
            readings, code = locale.read(price)
        except ValueError as error:
            return Ambiguous(text, str(error))
        codes.add(code)
        values.setdefault(readings, price)
    if not values:
        return None
    if len(values) > 1 or len(codes) > 1:
        several = tuple(dict.fromkeys(value for readings in values for value in readings))
        return Ambiguous(text, "several prices", several)
    ((readings, price),) = values.items()
    if len(readings) != 1:
        return Ambiguous(text, SEPARATOR if readings else "digits grouped as in no price", readings)
    kind = price_words.KINDS.get(price.label)
    if kind is None:
        return Ambiguous(text, "a price by weight, length or time", readings)
    (amount,), code = readings, codes.pop()
    if amount == 0:
        return None
    if price.label == "now" and any(net > amount for net in _amounts(prices, "net", code, locale)):
        return Ambiguous(text, "a price before tax that is higher than the price", readings)
    if amount in _amounts(prices, "monthly", code, locale):
        # Called a rate where it is printed once more.
        kind = "monthly"
    signed = price.is_signed
    old = {value for value in _amounts(prices, "list", code, locale) if value > amount} if kind == "now" else set()
    return Money(amount, code, kind, text.strip(), signed, price.token, old.pop() if len(old) == 1 else None)


def _amounts(prices: list[Found], label: str, code: str | None, locale: _Locale) -> set[Decimal]:
    """The amounts, in the currency, that the words of the text call so; without those that can be read in two ways."""
    found: set[Decimal] = set()
    for price in prices:
        if price.label == label:
            try:
                readings, its_code = locale.read(price)
            except ValueError:
                continue
            if its_code == code and len(readings) == 1:
                found.update(readings)
    return found


def _readings(price: Found, how: amounts.Format) -> tuple[Decimal, ...]:
    """What the number may mean. Digits that a space joins, with a strange word beside them, may be two numbers."""
    if " " in price.token.replace(". ", ".").replace(", ", ","):
        after_name = not price_words.explains(price.before)
        if price.follows or after_name or (price.after[:1].isalpha() and not price.symbols):
            return ()
    return amounts.readings(price.token, how, price.cents_mark)
