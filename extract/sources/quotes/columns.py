"""What each column of a vendor's table holds.

A column is matched by its name, in the languages of `words/columns.toml`, never by its position.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from gpuledger.extract import words
from gpuledger.extract.price import currency

#: Names of columns that hold sums over a quantity, which are never the price of one piece.
TOTALS = words.listed("columns", "total")
_NO_PRODUCTS = TOTALS | words.listed("columns", "no_product")
_FIELD_OF = {
    name: field
    for field in words.meanings("columns")
    if field not in ("total", "no_product")
    for name in words.listed("columns", field)
}
_RATE = re.compile(r"\d+(?:[.,]\d+)?\s?%")


def is_no_product(text: str) -> bool:
    """Return whether a cell in the product column names a sum, a tax or a charge: `Grand total`, `MwSt. 19%`, `소계`."""
    return (
        len(text) < _LONGEST_NAME
        and re.sub(r"[\W_]+", "", _BRACKETS.sub("", _RATE.sub("", text)).lower()) in _NO_PRODUCTS
    )


#: Words in a column's name that say in which multiple of the currency its amounts are.
_SCALES = (
    (re.compile(r"천\s?원|千円|千元|천\s?단위|in thousands|\bTEUR\b|\bT€|\bk(?:usd|eur)\b|\$k\b|\bTsd"), 1_000),
    (re.compile(r"만\s?원|万円|萬元|万元|만\s?단위"), 10_000),
    (re.compile(r"백만\s?원|百万円|in millions"), 1_000_000),
)


def scale(header: str) -> int:
    """Return the factor for a price column's amounts: 10,000 for `단가(만원)` (in ten thousand won), 1 for most columns."""
    return max((factor for pattern, factor in _SCALES if pattern.search(header)), default=1)


#: The most letters of a column's name. A longer text is not a name, and the search for brackets would start at each letter.
_LONGEST_NAME = 300
_BRACKETS = re.compile(r"[(\[{（]([^)\]}）]*)[)\]}）]")


def field_of(header: str) -> str | None:
    """Return the field that a column of this name holds, or None."""
    if len(header) > _LONGEST_NAME:
        return None
    name = unicodedata.normalize("NFC", _BRACKETS.sub("", header).lower())
    bare = re.sub(r"[\W_]+", "", name)
    if bare in _FIELD_OF:
        return _FIELD_OF[bare]
    bare = re.sub(r"[\W_]+", "", words.without_tax(name)) or bare
    if bare in _FIELD_OF:
        return _FIELD_OF[bare]
    # The currency may stand without brackets: "Price USD", "단가 KRW", "Unit price US$".
    name_words = name.split()
    if len(name_words) > 1 and (
        currency.is_code(name_words[-1].upper()) or currency.of_symbol(name_words[-1].upper()) or name_words[-1] == "$"
    ):
        return _FIELD_OF.get(re.sub(r"[\W_]+", "", "".join(name_words[:-1])))
    return _FIELD_OF.get(re.sub(r"(usd|krw|eur|gbp|jpy|pln|cny)$", "", bare))


def fields(headers: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of each field's columns; a field may have several.

    Without a product column, the model stands for it.
    """
    positions: dict[str, list[int]] = {}
    for position, header in enumerate(headers):
        field = field_of(header)
        if field:
            positions.setdefault(field, []).append(position)
    if "product" not in positions and "mpn" in positions:
        positions["product"] = positions["mpn"]
    return positions


#: `cadauno`, each, is no Canadian dollar.
_EACH = re.compile(r"\bcad\.", re.IGNORECASE)


def stated_currency(header: str) -> str | None:
    """Return the currency that a price column's name states, as in `단가(원)`; None if it states none or several."""
    header = _EACH.sub("", header)
    inside = " ".join(_BRACKETS.findall(header))
    codes = {code for word in (inside, header) if (code := currency.find(word))}
    return codes.pop() if len(codes) == 1 else None
