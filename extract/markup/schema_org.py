"""Values of the schema.org vocabulary as shops write them: addresses, bare words, nested objects, the word "null"."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from gpuledger.extract import words
from gpuledger.items import Availability, Condition

_MARKUP = re.compile(r"<[^>]{1,200}>")
#: Words that templates print if a value is missing.
_NOTHING = frozenset(("", "null", "none", "undefined", "nan", "n/a", "-", "false"))


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text in a value: the value itself, the items of a list, the name of an object. Numbers are text here already."""
    if isinstance(value, str):
        text = " ".join(html.unescape(_MARKUP.sub(" ", value) if "<" in value else value).split())
        if text.lower() not in _NOTHING:
            yield text
    elif isinstance(value, list) and depth < 4:
        for entry in value:
            yield from texts(entry, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        yield from texts(value.get("name") or value.get("@value") or value.get("value") or value.get("@id"), depth + 1)


def first_text(value: Any) -> str | None:
    """The first text of a value; None if it has no text, or only a word such as "null"."""
    return next(texts(value), None)


def local_name(address: str) -> str:
    """The last part of a name: `InStock` for `https://schema.org/InStock`, `schema:InStock` and `InStock`."""
    return re.split(r"[/#:]", address.strip())[-1]


_AVAILABILITY: dict[str, Availability] = {
    "instock": "in_stock", "instoreonly": "in_stock", "onlineonly": "in_stock", "limitedavailability": "in_stock",
    "available": "in_stock", "true": "in_stock", "yes": "in_stock", "1": "in_stock", "instocknow": "in_stock",
    "availablefororder": "in_stock", "lowstock": "in_stock",
    "outofstock": "out_of_stock", "soldout": "out_of_stock", "discontinued": "out_of_stock", "oos": "out_of_stock",
    "unavailable": "out_of_stock", "notavailable": "out_of_stock", "reserved": "out_of_stock", "no": "out_of_stock",
    "0": "out_of_stock",
    # Such goods are ordered now and sent when they arrive. A buyer has to know that they are not there yet.
    "preorder": "preorder", "presale": "preorder", "backorder": "preorder", "madetoorder": "preorder",
}  # fmt: skip

_CONDITION: dict[str, Condition] = {
    "newcondition": "new", "new": "new", "brandnew": "new", "usedcondition": "used", "used": "used",
    "refurbishedcondition": "refurbished", "refurbished": "refurbished", "damagedcondition": "used",
}  # fmt: skip


def availability(text: str | None) -> Availability | None:
    """What an `availability` says: an address of the vocabulary, its last word alone, or words that a shop prints."""
    if text is None:
        return None
    word = re.sub(r"[^a-z0-9]", "", local_name(text).lower())
    return _AVAILABILITY.get(word) or words.availability(text)


def condition(text: str | None) -> Condition | None:
    """What an `itemCondition` says; its words are read as `availability` reads them."""
    if text is None:
        return None
    word = re.sub(r"[^a-z]", "", local_name(text).lower())
    return _CONDITION.get(word) or words.condition(text)
