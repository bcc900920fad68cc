"""Tables of words in a module's text: ` | ` and the end of a line part the words, and each word is a regular expression."""

from __future__ import annotations

import re


def entries(table: str) -> list[str]:
    """The words of a table."""
    return [word for line in table.split("\n") for word in line.strip().split(" | ") if word]


def anywhere(table: str) -> re.Pattern[str]:
    """Finds each word wherever it stands, `^` and `$` meaning a line's. For names in small letters (`product-price`)."""
    return re.compile("|".join(entries(table)), re.MULTILINE)


def at_word_start(table: str) -> re.Pattern[str]:
    """Finds each word where a word of the text begins, in any case."""
    return re.compile(r"(?<![^\W\d_])(?:" + "|".join(entries(table)) + ")", re.IGNORECASE)
