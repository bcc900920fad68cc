"""Value-added tax: the rates that turn a price before tax into one with tax, and what words say about the tax in a price."""

from __future__ import annotations

import re
from decimal import Decimal

from gpuledger.extract import words
from gpuledger.extract.price.numbers import numbers, tidy

_CH, _CH_UNTIL_2023 = Decimal("8.1"), Decimal("7.7")

#: Standard rates in per cent, with a reduced rate if one is in wide use. The rates of the European Union come from the
#: Commission's list "VAT rates applied in the Member States". Earlier rates are listed if they changed after 2020, because
#: archived pages are read too.
_RATES: dict[str, tuple[int | Decimal, ...]] = {
    "AT": (20, 10), "AU": (10,), "BE": (21, 6), "BG": (20, 9),
    "CH": (_CH, _CH_UNTIL_2023), "CY": (19,), "CZ": (21, 12, 15), "DE": (19, 7, 16),
    "DK": (25,), "EE": (24, 22, 20), "ES": (21, 10), "FI": (24, 14), "FR": (20, 10), "GB": (20, 5), "GR": (24, 13),
    "HR": (25, 13), "HU": (27, 5), "IE": (23, 21), "IN": (18, 12, 28), "IT": (22, 10), "JP": (10, 8), "KR": (10,),
    "LT": (21, 9), "LU": (17, 16), "LV": (21, 12), "MT": (18,), "MX": (16,), "NL": (21, 9), "NO": (25, 15), "NZ": (15,),
    "PL": (23, 8), "PT": (23, 13), "RO": (21, 19, 9), "SE": (25, 12), "SG": (9, 8, 7), "SI": (22, Decimal("9.5")),
    "SK": (23, 20, 10), "TR": (20, 18), "UA": (20,), "ZA": (15,),
}  # fmt: skip


def rates(country: str | None) -> tuple[int | Decimal, ...]:
    """The rates of a country (ISO 3166) in per cent; empty if the country is unknown."""
    return _RATES.get(country or "", ())


def is_before_tax(net: Decimal, gross: Decimal, country: str | None) -> bool:
    """Whether `gross` is `net` plus a value-added tax of the country, as shops round it.

    From a thousand on, a shop may round a price to whole crowns or yen before it takes off the tax.
    """
    is_whole = gross >= _IN_WHOLE and net == net.to_integral_value() and gross == gross.to_integral_value()
    rounding = Decimal(1) if is_whole else Decimal("0.01")
    return any(abs(net * (100 + rate) / 100 - gross) <= rounding for rate in rates(country) if gross > net)


_IN_WHOLE = 1_000


def included(text: str, price: Decimal, country: str | None = None) -> bool | None:
    """Whether the words of a text say that VAT or sales tax is in the price that the text prints; None if they do not say.

    In `£359.99 inc. VAT £299.99 ex. VAT` the first price is with tax and the second without, whatever stands in between.
    """
    statement = words.tax_included(text)
    if statement is None:
        return None
    printed = numbers(tidy(text))
    if len({number.token for number in printed}) < 2:
        return statement
    if any(is_before_tax(value_of(number.token), price, country) for number in printed):
        return True  # whichever of the two the words describe: `7 490,- bez DPH 6 190,-`
    own = [number for number in printed if value_of(number.token) == price]
    net = [value_of(number.token) for number in printed if number.label == "net"]
    if net and own:
        # Words behind an old price describe the new one too. Only a lower amount can be this price without tax.
        return price not in net and min(net) < price
    return statement or None


_CENTS = re.compile(r"[.,]\s?(\d{1,2})$")


def value_of(number: str) -> Decimal:
    """The amount of a printed number, whichever separator stands before the cents."""
    digits, cents = re.sub(r"\D", "", number), _CENTS.search(number)
    return Decimal(digits) / (10 ** len(cents.group(1)) if cents else 1)
