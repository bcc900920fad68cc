"""JSON-LD scripts of a page to plain objects, mended where shops break them.

extruct's reader gives up the whole page at the first script that is no JSON; here each script stands alone. The order of
mending goes from what changes nothing to what changes more: the text as it is with control characters allowed; without
wrappers (CDATA, HTML comments, a closing semicolon); without comments and trailing commas (jstyleson).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import jstyleson
from lxml.html import HtmlElement

#: How deep objects are followed. Deeper ones are no description of goods, and a hostile page nests without end.
MAX_DEPTH = 12
#: Objects looked at in one page at most.
MAX_NODES = 20_000

#: Characters of a script that is mended: jstyleson walks them one by one.
_MENDABLE = 300_000

_OPENINGS = ("//", "/*", "*/", "<![CDATA[", "<!--")
_CLOSINGS = ("//", "/*", "*/", "]]>", "-->", ";")
_COMMENT_LINE = re.compile(r"^[ \t]*(?://[^\n]*|<!--[^\n]*-->)[ \t\r]*$", re.MULTILINE)


def scripts(tree: HtmlElement) -> Iterator[Any]:
    """The value of each JSON-LD script, None where no mending makes it JSON."""
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield loads(script.text or "")


def loads(text: str) -> Any:
    """The value of one script, None where it holds none or cannot be mended. Numbers stay text, as written. Never raises."""
    for mend in (_as_is, _unwrapped, _uncommented, _unescaped) if len(text) <= _MENDABLE else (_as_is,):
        try:
            return json.loads(mend(text), strict=False, parse_constant=_no_constant, parse_float=str, parse_int=str)
        except (ValueError, RecursionError, IndexError):
            # jstyleson looks before the first character of a text that begins with a bracket.
            continue
    return None


def _no_constant(name: str) -> None:
    """NaN and Infinity are no JSON and no price."""
    return


def _as_is(text: str) -> str:
    return text


def _unwrapped(text: str) -> str:
    """The text without what is wrapped around it. No regular expression: on a page of white space it would take for ever."""
    text = text.strip()
    while opening := next((one for one in _OPENINGS if text.startswith(one)), None):
        text = text[len(opening) :].lstrip()
    while closing := next((one for one in _CLOSINGS if text.endswith(one)), None):
        text = text[: -len(closing)].rstrip()
    return text


def _uncommented(text: str) -> str:
    return _unwrapped(str(jstyleson.dispose(_COMMENT_LINE.sub("", text))))


def _unescaped(text: str) -> str:
    return _uncommented(html.unescape(text))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the value, the outermost first: lists, `@graph` and properties are all followed."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for place in range(MAX_NODES):
        if place >= len(queue):
            return
        node, depth = queue[place]
        if isinstance(node, dict):
            yield node
            inner = list(node.values())
        elif isinstance(node, list):
            inner = node
        else:
            continue
        if depth < MAX_DEPTH:
            queue.extend((one, depth + 1) for one in inner if isinstance(one, dict | list))


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Every object of the page's scripts. `url` is not needed: addresses stay as written."""
    for value in scripts(tree):
        yield from nodes(value)
