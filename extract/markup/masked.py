"""A page without its words: its tags, its classes and the shapes of its texts, to show to a person who mends a parser.

Only texts that are known to be harmless stay: those that were read of the goods. In every other text a letter becomes an x
and a digit a 9, so `Hello Jane, 3 items` becomes `Xxxxx Xxxx, 9 xxxxx`: a person sees where a price stands, and no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from lxml.html import HtmlElement

from gpuledger.extract.markup.around import clean
from gpuledger.extract.markup.html import UNSEEN

#: Attributes that stay: their values are the page's own names for its parts.
_NAMING_ATTRIBUTES = frozenset(
    ("class", "id", "itemprop", "itemtype", "itemscope", "name", "property", "rel", "role", "type")
)
#: Attributes by which scripts and tests find an element.
_MARKS = re.compile(r"data-[a-z-]*(?:test|selenium|qa|role|cy|automation)[a-z-]*")
#: A name that a program generates anew at each visit. Such a name is masked like a text.
_GENERATED = re.compile(r"[0-9a-fA-F]{12,}|(?=[A-Za-z+/_=-]*\d)[A-Za-z0-9+/_=-]{32,}")
#: The most lines of markup, and the most letters of each line.
MOST_LINES, MOST_LETTERS = 150, 300


def shape(text: str) -> str:
    """The text with x, X and 9 in place of its letters and digits. A letter of a script without capitals becomes an x."""
    return re.sub(r"[^\W\d_]", lambda letter: "X" if letter.group().isupper() else "x", re.sub(r"\d", "9", text))


def markup(element: HtmlElement, known: Collection[str]) -> list[str]:
    """The markup of an element, one indented line per tag. Texts and attributes that are part of a `known` text stay."""
    known_texts = [clean(text) for text in known if clean(text)]
    lines: list[str] = []
    for line in _lines(element, 0, known_texts):
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
    if (name in _NAMING_ATTRIBUTES or _MARKS.fullmatch(name)) and not _GENERATED.search(value):
        # The digits of an id may be the number of the goods, or of the visitor.
        return (re.sub(r"\d", "9", value) if name == "id" else value).replace('"', "'")
    return _text(value, known).replace('"', "'")


def _text(text: str, known: list[str]) -> str:
    text = clean(text)
    # A part of a known text stays too: the cents of a price may stand in an element of their own.
    return text if any(text in known_text for known_text in known) else shape(text)


def plain(text: str, known: Collection[str]) -> list[str]:
    """The first lines of a page without markup. JSON keeps its keys and two items of each list; other texts are masked."""
    known_texts = [clean(known_text) for known_text in known]
    try:
        lines = json.dumps(_json(json.loads(text), known_texts, 0), ensure_ascii=False, indent=1).splitlines()
    except (ValueError, RecursionError):
        lines = [shape(line) for line in text.splitlines()[:5]]
    return [line[:MOST_LETTERS] for line in lines[:MOST_LINES]]


def _json(value: Any, known: list[str], depth: int) -> Any:
    if depth > 30:
        return "…"
    if isinstance(value, dict):
        # A key may itself be somebody's number.
        return {
            (shape(key) if _GENERATED.search(key) else key): _json(inner, known, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_json(inner, known, depth + 1) for inner in value[:2]]
    if isinstance(value, bool) or value is None:
        return value
    text = str(value)
    return text if text in known else shape(text)
