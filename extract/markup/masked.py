"""A page without anybody's words: its tags, classes and the shape of its texts, to be shown to who mends a parser.

Of the texts only those stay that are known to be harmless: what was read of the goods. Of every other a letter becomes an x
and a digit a 9, so that `Hello Jane, 3 items` is `Xxxxx Xxxx, 9 xxxxx`: a person sees where a price stands, and no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from lxml.html import HtmlElement

from gpuledger.extract.markup.around import clean
from gpuledger.extract.markup.html import UNSEEN

#: Attributes whose values are the page's own words for its parts.
_KEPT = frozenset(("class", "id", "itemprop", "itemtype", "itemscope", "name", "property", "rel", "role", "type"))
#: Attributes by which scripts and tests find an element.
_MARKS = re.compile(r"data-[a-z-]*(?:test|selenium|qa|role|cy|automation)[a-z-]*")
#: A name that a program makes anew at each visit is masked like a text.
_MADE = re.compile(r"[0-9a-fA-F]{12,}|(?=[A-Za-z+/_=-]*\d)[A-Za-z0-9+/_=-]{32,}")
#: Lines, and letters of each.
MOST_LINES, MOST_LETTERS = 150, 300


def shape(text: str) -> str:
    """The text with x, X and 9 for its letters and digits; a character of a script without capitals is an x."""
    return re.sub(r"[^\W\d_]", lambda letter: "X" if letter.group().isupper() else "x", re.sub(r"\d", "9", text))


def markup(element: HtmlElement, known: Collection[str]) -> list[str]:
    """The markup of an element, a line a tag, indented; texts and attributes of `known` words stay."""
    words = [clean(text) for text in known if clean(text)]
    lines: list[str] = []
    for line in _lines(element, 0, words):
        if len(lines) == MOST_LINES:
            lines.append("…")
            break
        lines.append(line[:MOST_LETTERS])
    return lines


def _lines(element: HtmlElement, depth: int, known: list[str]) -> Iterator[str]:
    if not isinstance(element.tag, str) or depth > 60:
        return
    attributes = "".join(f' {name}="{_attribute(name, value, known)}"' for name, value in element.attrib.items())
    unseen = element.tag in UNSEEN
    text = "" if unseen else _text(element.text or "", known)
    yield f"{' ' * depth}<{element.tag}{attributes}>{text}"
    for child in () if unseen else element:
        yield from _lines(child, depth + 1, known)
        if tail := _text(child.tail or "", known):
            yield f"{' ' * (depth + 1)}{tail}"


def _attribute(name: str, value: str, known: list[str]) -> str:
    value = clean(value)[:80]
    if (name in _KEPT or _MARKS.fullmatch(name)) and not _MADE.search(value):
        # The digits of an id are the number of the goods, or of the visitor.
        return (re.sub(r"\d", "9", value) if name == "id" else value).replace('"', "'")
    return _text(value, known).replace('"', "'")


def _text(text: str, known: list[str]) -> str:
    text = clean(text)
    # A part of a known word counts too: a price has its cents in an element of their own.
    return text if any(text in word for word in known) else shape(text)


def plain(text: str, known: Collection[str]) -> list[str]:
    """The first lines of a page that has no markup: of JSON the keys and two of each list, of others their shape."""
    words = [clean(word) for word in known]
    try:
        shown = json.dumps(_json(json.loads(text), words, 0), ensure_ascii=False, indent=1).splitlines()
    except (ValueError, RecursionError):
        shown = [shape(line) for line in text.splitlines()[:5]]
    return [line[:MOST_LETTERS] for line in shown[:MOST_LINES]]


def _json(value: Any, known: list[str], depth: int) -> Any:
    if depth > 30:
        return "…"
    if isinstance(value, dict):
        # A key may itself be a number of somebody's.
        return {
            (shape(key) if _MADE.search(key) else key): _json(inner, known, depth + 1) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_json(inner, known, depth + 1) for inner in value[:2]]
    if isinstance(value, bool) or value is None:
        return value
    text = str(value)
    return text if text in known else shape(text)
