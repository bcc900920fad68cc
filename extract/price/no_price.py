"""Amounts that are no price but a mark that there is none, as pages write them.

The price gate has a rule of its own (`is_placeholder` in `transform/gate/rules.py`) for what gets through: it looks at the
prices of every source, quotes and files included, knows their currency, and holds what it suspects instead of dropping it.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SHOWN = re.compile(r"9{4,}\.99")
_STATED = re.compile(r"0*(?:\.0*)?|0\.01|9{4,}(?:\.9+|\.0+)?")


def is_shown_mark(amount: Decimal) -> bool:
    """What a listing shows people: nines with cents of nines ($9,999.99). Whole nines are prices there: 99,999 won."""
    return _SHOWN.fullmatch(format(amount, "f")) is not None


def is_stated_mark(amount: Decimal) -> bool:
    """What a product page states where a form wanted a number: 0, one cent, and nines of any kind."""
    return _STATED.fullmatch(format(amount, "f")) is not None


#: Letters of a number: a float in full has up to 25.
LONGEST_NUMBER = 40


def is_writable(number: Decimal) -> bool:
    """Whether the number is finite and has no more than some dozens of digits when it is written out."""
    return number.is_finite() and (not number or -LONGEST_NUMBER < number.adjusted() < LONGEST_NUMBER)
