"""Tables of words in the text of a module. ` | ` and line ends separate the words, and each word is a regular expression."""

from __future__ import annotations

import re


def entries(table: str) -> list[str]:
    """The words of a table."""
    return [word for line in table.split("\n") for word in line.strip().split(" | ") if word]


def anywhere(table: str) -> re.Pattern[str]:
    """Matches each word anywhere. `^` and `$` match at lines. For names in lower case (`product-price`)."""
    return re.compile("|".join(entries(table)), re.MULTILINE)


def at_word_start(table: str) -> re.Pattern[str]:
    """Matches each word at the beginning of a word of the text, in any case."""
    return re.compile(r"(?<![^\W\d_])(?:" + "|".join(entries(table)) + ")", re.IGNORECASE)
