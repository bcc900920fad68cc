"""Trade numbers (GTIN) and their check digit."""

from __future__ import annotations

import re


def valid_gtin(text: str) -> str | None:
    """The GTIN of 8, 12, 13 or 14 digits without separators; None if the check digit is wrong.

    The check digit follows the GS1 General Specifications, section 7.9.
    """
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"\d{8}|\d{12,14}", digits) or not digits.isascii() or set(digits) == {"0"}:
        return None
    weighted = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits[:-1])))
    return digits if (10 - weighted % 10) % 10 == int(digits[-1]) else None
