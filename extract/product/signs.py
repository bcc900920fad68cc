"""What names and labels on a product page say: the patterns of `words/names.toml`, in which the words stand."""

from __future__ import annotations

import re
from typing import Literal

from gpuledger.extract.words import anywhere, at_word_start, entries, table

#: Names that speak of a price, of stock, of the price that is asked now, of an old one, of the usual one, of money that is
#: no price of the goods, and of parts with other goods.
PRICE, STATUS, CURRENT, OLD, USUAL, NO_PRICE, ELSEWHERE = (
    anywhere(table("names", kind)) for kind in ("price", "status", "current", "old", "usual", "no_price", "elsewhere")
)
#: The beginning of a heading above other goods.
RELATED = at_word_start(table("names", "related"))
#: A name or an address of what puts the goods into the cart, and a name of what holds only the shop's number.
BUY_NAME, CODE_NAME = anywhere(table("names", "buy")), anywhere(table("names", "code"))


# ── labels ────────────────────────────────────────────────────────────────────────────────────────────────────────────

Field = Literal["sku", "mpn", "gtin"]

#: The first letters of the labels, up to three of each. A text that begins otherwise is not looked at closer.
BEGINNINGS: set[str] = set()
_LITERAL = re.compile(r"[^\W\d_](?:/?(?:[^\W\d_]|°))*")


def labels(words: str, behind: str = "") -> re.Pattern[str]:
    """A pattern for a text that begins with one of these words, which ` | ` and line ends separate.

    `behind` is a pattern for what must stand behind the word. Raises ValueError if a word does not begin with a letter: the
    first letters of a text decide whether it is looked at closer.
    """
    patterns = entries(words)
    for word in patterns:
        beginning = _LITERAL.match(word)
        if beginning is None:
            raise ValueError(f"the label {word!r} begins with no letter")
        BEGINNINGS.add(beginning.group()[:3].lower())
    return re.compile(r"[\s(〈<\[]*(?:" + "|".join(patterns) + r")(?![^\W\d_])" + behind, re.IGNORECASE)


#: The number or nothing stands behind the word for a number, so that in `Code article: 12` the word is not `Code`.
_A_NUMBER = (
    r"(?:\s?[/(]\s?(?:sku|ref\.?|id|code|item (?:no|number)\.?|ean|gtin|upc)\)?)?"
    r"(?=[\W_]{0,8}(?:$|\S*\d|(?-i:[A-Z]{2,}[-_.][A-Z])))"
)
_FIELDS: tuple[Field, ...] = ("gtin", "mpn", "sku")
#: Tried in this order, because a maker's number is often called an article number too.
LABELS = tuple((field, labels(table("names", field), _A_NUMBER)) for field in _FIELDS)
#: A number without a digit, which a shop makes of words: `CC-GRD-PRO`. It counts only behind a word for a number.
OF_WORDS = re.compile(r"(?=.{5,30}$)[A-Z]{2,}(?:[-_.][A-Z]+)+")
