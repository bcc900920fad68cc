"""Chooses which of the numbers in a text is its price, or says why that cannot be decided.

The numbers come from `numbers`, with their currencies and with the label that the words around them give. The page's country
and language decide what their digits mean (`amounts`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from gpuledger.extract import words
from gpuledger.extract.price import amounts, vat
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.numbers import MONEY_LIKE, PrintedNumber
from gpuledger.items import PriceKind

#: The reason of an Ambiguous whose digits are one price in parts (`$229 99`), or a price and another number.
SET_APART = "cents set apart from the amount, or another number behind it"
#: The reason of an Ambiguous with two readings of one number.
SEPARATOR = "the separator can be read as decimal or as thousands"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount above zero. `currency` is ISO 4217, or None if neither text nor country names one; `text` is as printed.

    `signed` says whether the text itself shows that it is money, by a currency or a dash for the cents. If the text names no
    currency, `currency` is the one that the caller knows. `number` is the amount's own digits as printed, to find it again
    in a longer text. `list_amount` is the old price that the same text names beside it. If the text is a range, `amount` is
    its lower end and `high_amount` its upper end.
    """

    amount: Decimal
    currency: str | None
    kind: PriceKind
    text: str
    signed: bool = False
    number: str = ""
    list_amount: Decimal | None = None
    high_amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A text with a price that cannot be decided. `readings` are the amounts that it may mean, if they are known."""

    text: str
    reason: str
    readings: tuple[Decimal, ...] = ()


#: What stands between two numbers of a range.
_RANGE = re.compile(r"[\s\u00a0]*(?:[-–—~〜]|to|bis|do|до|až|à|al|a|até|hasta|tot|till|til)[\s\u00a0]*", re.IGNORECASE)
_TWO_DIGITS = re.compile(r"\d{2}")


def _prices(tidy_text: str, printed: list[PrintedNumber]) -> list[PrintedNumber] | str:
    """The numbers that are amounts of money, or the reason why that cannot be decided."""
    priced = [number for number in printed if number.is_signed]
    if not priced:
        without_numbers = amounts.NUMBER.sub(" ", tidy_text)
        return (
            printed
            if price_words.only_neutral(without_numbers)
            else "words that are not known beside a number without a currency"
        )
    if len({number.token for number in printed}) == 1:
        return priced
    for number, following in pairwise(printed):
        if not (number.symbols or following.symbols):
            continue
        if following.follows and _TWO_DIGITS.fullmatch(following.token) and not MONEY_LIKE.fullmatch(number.token):
            return SET_APART
        if not (number.symbols and following.symbols) and _RANGE.fullmatch(number.after):
            return "a range of prices"
        if number.symbols and not following.is_signed and not number.after.strip(" \u00a0"):
            return "a number right behind the currency"
    return [
        number
        for number in printed
        if number.is_signed or (number.label == "now" and MONEY_LIKE.fullmatch(number.token))
    ]


def _of_first_label(prices: list[PrintedNumber]) -> list[PrintedNumber]:
    """The amounts with the label that counts most: savings never count, and an old price counts only if it stands alone."""
    by_label: dict[str, list[PrintedNumber]] = {}
    for price in prices:
        by_label.setdefault(price.label, []).append(price)
    return next(
        (
            by_label[label]
            for label in ("now", "bundle", "from", "bid", "net", "unit", "list", "monthly")
            if label in by_label
        ),
        [],
    )


@dataclass(frozen=True, slots=True)
class Locale:
    """What decides the meaning of a number in a text: the text itself, and what the caller knows (see `read_price`)."""

    tidy_text: str
    currency: str | None
    country: str | None
    language: str | None
    decimal: str | None

    def possible_amounts(self, price: PrintedNumber) -> tuple[tuple[Decimal, ...], str | None]:
        """The amounts that a number may mean, and its currency. Raises ValueError if text and hints contradict."""
        code = self._code(price)
        sign = price.symbols[0] if price.symbols else ""
        return _readings(price, amounts.page_format(code, self.language, self.country, self.decimal, sign)), code

    def _code(self, price: PrintedNumber) -> str | None:
        codes = {code for symbol in price.symbols if (code := currencies.of_symbol(symbol, self.country))}
        explicit = {code for symbol in price.symbols if (code := currencies.explicit(symbol))}
        if len(codes) > 1 and len(explicit) == 1:
            # `$1,190.00 AUD`: the code says which country's dollar it is, if the sign may mean that dollar.
            (code,) = explicit
            if all(currencies.may_mean(symbol, code) for symbol in price.symbols):
                return code
        if len(explicit or codes) > 1:
            raise ValueError("two currencies")
        if explicit:
            return explicit.pop()
        hint = self.currency
        if not price.symbols:
            return currencies.find(self.tidy_text, self.country) or hint
        if hint and all(currencies.may_mean(symbol, hint) for symbol in price.symbols):
            return hint
        if hint and not codes:
            raise ValueError(f"a sign that is not of {hint}")
        return codes.pop() if codes else None


def choose(text: str, printed: list[PrintedNumber], locale: Locale) -> Money | Ambiguous | None:
    """The one price among the numbers of the text."""
    prices = _prices(locale.tidy_text, printed)
    if isinstance(prices, str):
        return Ambiguous(text, prices)
    values: dict[tuple[Decimal, ...], PrintedNumber] = {}
    codes: set[str | None] = set()
    for price in _of_first_label(prices):
        try:
            readings, code = locale.possible_amounts(price)
        except ValueError as error:
            return Ambiguous(text, str(error))
        if readings == (Decimal(0),) and len(prices) > 1:
            # `8,250円（税0円）`
            continue
        codes.add(code)
        values.setdefault(readings, price)
    if not values:
        return None
    if len(codes) == 2 and codes - {"EUR"} <= currencies.REPLACED:
        values, codes = _in_euro(values, locale), {"EUR"}
    if len(codes) > 1 and (home := currencies.of_country(locale.country)) in codes:
        in_brackets = " ".join(_BRACKETS.findall(locale.tidy_text))
        at_home = {readings: one for readings, one in values.items() if locale.possible_amounts(one)[1] == home}
        if in_brackets and all(one.token in in_brackets for readings, one in values.items() if readings not in at_home):
            # `4 299,00 zł (999,00 €)`: the money in brackets is a conversion.
            values, codes = at_home, {home}
    if len(values) == 2 and len(codes) == 1:
        values = _with_tax(values, locale)
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
        # The text prints the amount once more and calls it a monthly rate there.
        kind = "monthly"
    signed = price.is_signed
    old = {value for value in _amounts(prices, "list", code, locale) if value > amount} if kind == "now" else set()
    return Money(amount, code, kind, text.strip(), signed, price.token, old.pop() if len(old) == 1 else None)


#: A part of a text in brackets.
_BRACKETS = re.compile(r"[(（]([^)）]*)[)）]")


def _with_tax(
    values: dict[tuple[Decimal, ...], PrintedNumber], locale: Locale
) -> dict[tuple[Decimal, ...], PrintedNumber]:
    """The readings without a price that is repeated with tax, in brackets that say so: `49,800円（税込54,780円）`."""
    low, high = sorted(values)
    is_said = any(
        values[high].token in inside and values[low].token not in inside and words.tax_included(inside)
        for inside in _BRACKETS.findall(locale.tidy_text)
    )
    if is_said and len(low) == len(high) == 1 and vat.is_before_tax(low[0], high[0], locale.country):
        return {high: values[high]}
    return values


#: Either price may be the rounded one.
_CENT = Decimal("0.01")


def _in_euro(
    values: dict[tuple[Decimal, ...], PrintedNumber], locale: Locale
) -> dict[tuple[Decimal, ...], PrintedNumber]:
    """The readings without those that repeat another one in the currency that the euro has replaced."""
    stated = {readings: locale.possible_amounts(price)[1] for readings, price in values.items()}
    euros = {amount for readings, code in stated.items() if code == "EUR" for amount in readings}

    def repeats(readings: tuple[Decimal, ...], code: str | None) -> bool:
        converted = [in_euro for amount in readings if (in_euro := currencies.in_euro(amount, code or ""))]
        return any(abs(one - euro) <= max(_CENT, euro / 10_000) for one in converted for euro in euros)

    return {readings: price for readings, price in values.items() if not repeats(readings, stated[readings])}


def _amounts(prices: list[PrintedNumber], label: str, code: str | None, locale: Locale) -> set[Decimal]:
    """The amounts in the currency `code` that the words of the text call `label`, without those that have two readings."""
    values: set[Decimal] = set()
    for price in prices:
        if price.label == label:
            try:
                readings, its_code = locale.possible_amounts(price)
            except ValueError:
                continue
            if its_code == code and len(readings) == 1:
                values.update(readings)
    return values


def _readings(price: PrintedNumber, number_format: amounts.Format) -> tuple[Decimal, ...]:
    """The amounts that the number may mean. Digits joined by a space, beside a strange word, may be two numbers."""
    if " " in price.token.replace(". ", ".").replace(", ", ","):
        after_name = not price_words.explains(price.before)
        if price.follows or after_name or (price.after[:1].isalpha() and not price.symbols):
            return ()
    return amounts.readings(price.token, number_format, price.cents_mark)
