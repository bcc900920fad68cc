"""What the cloud sources share: the words that tell GPU variants apart, and a term's price as an hour's."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

#: Hours of a year of 365 days, as providers count reservations: 3 years are 26,280 hours.
HOURS_A_YEAR = 8760

_FORM_FACTOR = re.compile(r"(?<![A-Za-z])(SXM\d?|PCI-?E|NVL\d*)(?![A-Za-z])", re.IGNORECASE)
_MICRO = Decimal("0.000001")
_RATE = re.compile(
    r"(?P<before>US\$|\$|₩|USD|KRW)?\s?(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)\s?(?P<after>USD|KRW|원|달러)?",
    re.IGNORECASE,
)
# These providers price in US dollars; a price list in other dollars says which.
_CURRENCIES = {"US$": "USD", "$": "USD", "USD": "USD", "달러": "USD", "₩": "KRW", "KRW": "KRW", "원": "KRW"}


class Rate(NamedTuple):
    """A price of one hour: an amount, which may be 0, and its ISO 4217 currency."""

    amount: Decimal
    currency: str


def read_rate(text: str) -> Rate | None:
    """`$4.234`, `1,632원` or `0.31 USD`; None where it is not one such price.

    Not the reader of shop prices: an hour's rate has three and more decimals, where a shop's `1.460` could be a thousand.
    """
    match = _RATE.fullmatch(text.strip())
    signs = {_CURRENCIES[sign.upper()] for sign in match.group("before", "after") if sign} if match else set()
    return Rate(Decimal(match["number"].replace(",", "")), signs.pop()) if match and len(signs) == 1 else None


def with_form_factor(gpu_name: str, *printed: str | None) -> str:
    """The GPU's name with the SXM, PCIe or NVL word that the offer prints elsewhere, so that variants are never merged.

    A catalogue may call a card `H100` whose instance is `gpu_8x_h100_sxm5`. A name that has such a word, and an offer that
    prints none or two different ones, keep the name as it is.
    """
    if _FORM_FACTOR.search(gpu_name) or re.search(r"\dNVL", gpu_name):
        return gpu_name
    form_factors = {_spelled(word) for text in printed if text for word in _FORM_FACTOR.findall(text.replace("_", " "))}
    return f"{gpu_name} {form_factors.pop()}" if len(form_factors) == 1 else gpu_name


def _spelled(word: str) -> str:
    return "PCIe" if word.upper().startswith("PCI") else word.upper()


def hourly(total: Decimal, years: int) -> Decimal:
    """A price for a whole term of `years`, by the hour, to six decimals half up."""
    return to_micro(total / (HOURS_A_YEAR * years))


def to_micro(price: Decimal) -> Decimal:
    """A price with six decimals, half up: finer than any provider's list, and the same number always the same text."""
    return price.quantize(_MICRO, ROUND_HALF_UP)
