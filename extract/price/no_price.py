"""Amounts that are no prices: pages write them to mark that there is no price.

The price gate has a rule of its own (`is_placeholder` in `transform/gate/rules.py`) for marks that get through. It checks
the prices of every source, including quotes and files, knows their currency, and holds suspicious prices instead of dropping
them.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SHOWN = re.compile(r"9{4,}\.99")
_NINES = re.compile(r"9{4,}(?:\.9+)?")


def is_shown_mark(amount: Decimal) -> bool:
    """Whether a listing shows this for no price: nines with cents of nines ($9,999.99). 99,999 won is a real price."""
    return _SHOWN.fullmatch(format(amount, "f")) is not None


#: Nines below this are the price of a card, in money of which a dollar buys more than three: there shops end prices so.
_CARDS_IN_NINES = {
    **dict.fromkeys(("PLN", "BRL", "CNY", "RON", "SEK", "NOK", "DKK", "ILS", "MYR", "HKD", "AED", "SAR"), 10_000),
    **dict.fromkeys(("CZK", "INR", "TRY", "TWD", "THB", "PHP", "MXN", "ZAR", "RUB", "UAH"), 100_000),
    **dict.fromkeys(("HUF", "JPY", "KRW", "KZT", "ISK"), 1_000_000),
    **dict.fromkeys(("CLP", "ARS", "COP"), 10_000_000),
    **dict.fromkeys(("IDR", "VND"), 100_000_000),
}


def is_stated_mark(amount: Decimal, currency: str | None = None) -> bool:
    """Whether a product page states this because a form needed a number: 0, one cent, and nines of any kind, unless a card
    costs as much in this money (9 999 Kč, ₹99,999).
    """
    return is_nothing(amount) or is_nines(amount, currency)


def is_nothing(amount: Decimal) -> bool:
    """Whether the amount is 0 or one cent."""
    return amount in (0, Decimal("0.01"))


def is_nines(amount: Decimal, currency: str | None) -> bool:
    """Whether the amount is four nines or more, and no card costs as much in this money."""
    is_price = amount < _CARDS_IN_NINES.get(currency or "", 0)
    return not is_price and _NINES.fullmatch(format(amount.normalize(), "f")) is not None


#: The most characters of a number. A float that is written in full has up to 25.
LONGEST_NUMBER = 40


def is_writable(number: Decimal) -> bool:
    """Whether the number is finite and has no more than some dozens of digits when it is written out."""
    return number.is_finite() and (not number or -LONGEST_NUMBER < number.adjusted() < LONGEST_NUMBER)
