"""What the cloud sources share: reading rates, and words that distinguish GPU variants."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

_FORM_FACTOR = re.compile(r"(?<![A-Za-z])(SXM\d?|PCI-?E|NVL\d*)(?![A-Za-z])", re.IGNORECASE)
_RATE = re.compile(
    r"(?P<before>US\$|\$|₩|USD|KRW)?\s?(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)\s?(?P<after>USD|KRW|원|달러)?",
    re.IGNORECASE,
)
# These providers price in US dollars. A price list in other dollars names them.
_CURRENCIES = {"US$": "USD", "$": "USD", "USD": "USD", "달러": "USD", "₩": "KRW", "KRW": "KRW", "원": "KRW"}


class Rate(NamedTuple):
    """The price of one hour: an amount, which may be 0, and its ISO 4217 currency."""

    amount: Decimal
    currency: str


def read_rate(text: str) -> Rate | None:
    """Return the rate of a text such as `$4.234`, `1,632원` or `0.31 USD`; None for any other text.

    This is not the reader of shop prices: an hourly rate has three and more decimals, but a shop's `1.460` could be a
    thousand.
    """
    match = _RATE.fullmatch(text.strip())
    signs = {_CURRENCIES[sign.upper()] for sign in match.group("before", "after") if sign} if match else set()
    return Rate(Decimal(match["number"].replace(",", "")), signs.pop()) if match and len(signs) == 1 else None


def with_form_factor(gpu_name: str, *printed: str | None) -> str:
    """Add to the GPU's name the SXM, PCIe or NVL word that the offer prints elsewhere, so that variants are never merged.

    A catalogue may call the card `H100` and its instance `gpu_8x_h100_sxm5`. The name stays as it is if it already has such
    a word, or if the offer prints no such word or two different ones.
    """
    if _FORM_FACTOR.search(gpu_name) or re.search(r"\dNVL", gpu_name):
        return gpu_name
    form_factors = {
        _spelling(word) for text in printed if text for word in _FORM_FACTOR.findall(text.replace("_", " "))
    }
    return f"{gpu_name} {form_factors.pop()}" if len(form_factors) == 1 else gpu_name


def _spelling(word: str) -> str:
    return "PCIe" if word.upper().startswith("PCI") else word.upper()
