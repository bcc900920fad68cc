"""Reads the JSON-LD scripts of a page into plain objects, and mends scripts that shops broke.

Each script is read on its own. The attempts go from the one that changes nothing to those that change more: the text as it
is, with control characters allowed; without wrappers (CDATA, HTML comments, a closing semicolon); without comments and
trailing commas.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from lxml.html import HtmlElement

#: How deep objects are followed. Deeper objects do not describe goods, and a hostile page nests without end.
MAX_DEPTH = 12
#: The most objects that are looked at in one page.
MAX_NODES = 20_000

#: The longest script, in characters, that is mended.
_MENDABLE = 300_000

_OPENINGS = ("//", "/*", "*/", "<![CDATA[", "<!--")
_CLOSINGS = ("//", "/*", "*/", "]]>", "-->", ";")
_COMMENT_LINE = re.compile(r"^[ \t]*(?://[^\n]*|<!--[^\n]*-->)[ \t\r]*$", re.MULTILINE)

_STRING = r'(?P<string>"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))'
_COMMENT = re.compile(_STRING + r"|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*+[}\]])", re.DOTALL)


def loads(text: str) -> Any:
    """The value of one script, or None if it is empty or cannot be mended. Numbers stay text, as written. Never raises."""
    mends = (str, _unwrapped, _uncommented, lambda escaped: _uncommented(html.unescape(escaped)))
    for mend in mends if len(text) <= _MENDABLE else (str,):
        try:
            # NaN and Infinity are neither JSON nor a price.
            return json.loads(mend(text), strict=False, parse_constant=lambda _: None, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            continue
    return None


def _unwrapped(text: str) -> str:
    """The text without its wrappers. Uses no regular expression: on a page of white space that would take for ever."""
    text = text.strip()
    while opening := next((mark for mark in _OPENINGS if text.startswith(mark)), None):
        text = text[len(opening) :].lstrip()
    while closing := next((mark for mark in _CLOSINGS if text.endswith(mark)), None):
        text = text[: -len(closing)].rstrip()
    return text


def _uncommented(text: str) -> str:
    bare = _COMMENT.sub(lambda match: match["string"] or "", _COMMENT_LINE.sub("", text))
    return _unwrapped(_LAST_COMMA.sub(lambda match: match["string"] or "", bare))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the value, the outermost first. Follows lists, `@graph` and properties."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for place in range(MAX_NODES):
        if place >= len(queue):
            return
        node, depth = queue[place]
        if isinstance(node, dict):
            # Some shops begin the vocabulary's names with a capital: `Offers`.
            yield {name[:1].lower() + name[1:]: child for name, child in node.items()}
            children = list(node.values())
        elif isinstance(node, list):
            children = node
        else:
            continue
        if depth < MAX_DEPTH:
            queue.extend((child, depth + 1) for child in children if isinstance(child, dict | list))


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Every object of the page's scripts. `url` is not used: addresses stay as written."""
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield from nodes(loads(script.text or ""))
