"""Finds which dollar a page means that names no country: by its words about its prices, and by the addresses at its foot."""

from __future__ import annotations

import re

#: `Austin, TX 78701`, `Toronto, ON M5V 2T6`, `Fitzroy VIC 3065`, `Auckland 1010, New Zealand`, `Singapore 238823`.
_ADDRESSES = {
    "US": re.compile(
        rb"[A-Za-z.]{3},\s+(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]"
        rb"|T[NX]|UT|V[AT]|W[AIVY])\.?,?\s+\d{5}(?:-\d{4})?(?![\w-])"
    ),
    "CA": re.compile(
        rb"(?<![\w-])(?:AB|BC|MB|N[BLSTU]|ON|PE|QC|SK|YT),?\s+[ABCEGHJ-NPRSTVXY]\d[A-Z]\s?\d[A-Z]\d(?![\w-])"
    ),
    "AU": re.compile(rb"[A-Za-z],?\s+(?:NSW|VIC|QLD|TAS),?\s+\d{4}(?![\w-])"),
    "NZ": re.compile(rb"\d{4},?\s+New Zealand(?!\w)"),
    "SG": re.compile(rb"Singapore,?\s+\d{6}(?![\w-])"),
    "HK": re.compile(rb"(?:Kowloon|New Territories),?\s+Hong Kong(?!\w)"),
}
#: `All prices are in USD`, `prices shown in Canadian dollars`.
_OF_PRICES = re.compile(
    rb"(?i:prices?|amounts?)\s+(?:[a-z]+\s+){0,3}?in\s+(?:(USD|CAD|AUD|NZD|SGD|HKD)(?!\w)"
    rb"|(?i:(US|U\.S\.|United States|Canadian|Australian|New Zealand|Singapore|Hong Kong) dollars))"
)
_DOLLARS = {
    "us": "USD", "u.s.": "USD", "united states": "USD", "canadian": "CAD", "australian": "AUD", "new zealand": "NZD",
    "singapore": "SGD", "hong kong": "HKD",
}  # fmt: skip


#: Where a shop prints its own address. An address among the goods is that of their maker.
_FOOT = re.compile(rb"<footer\b|(?:class|id)=[\"']?(?:[a-z]+[-_])?footer", re.IGNORECASE)


def dollar(content: bytes) -> str | None:
    """The currency that the page names for its prices, else the dollar of the only country with an address at its foot.

    As an ISO 4217 code. None if the page says nothing, or names several.
    """
    codes = {(code or b"").decode() or _DOLLARS[name.decode().lower()] for code, name in _OF_PRICES.findall(content)}
    if codes:
        return codes.pop() if len(codes) == 1 else None
    foot = _FOOT.search(content)
    if foot is None:
        return None
    countries = [country for country, pattern in _ADDRESSES.items() if pattern.search(content, foot.start())]
    return f"{countries[0]}D" if len(countries) == 1 else None
