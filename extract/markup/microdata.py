"""Microdata and RDFa of a page in the shape of JSON-LD, after https://html.spec.whatwg.org/multipage/microdata.html and
https://www.w3.org/TR/rdfa-lite/, which says the same in other attributes.

As extruct did, `content` counts on every element, as shops write it on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement


class _Attributes(NamedTuple):
    """What a syntax calls an item, its type and its properties."""

    scope: str
    type: str
    name: str


_MICRODATA = _Attributes("itemscope", "itemtype", "itemprop")
RDFA = _Attributes("typeof", "typeof", "property")
_NAMED = {one: etree.XPath(f"//*[@{one.scope} or @{one.name}]") for one in (_MICRODATA, RDFA)}
_TEXTS = etree.XPath("descendant-or-self::*[not(self::script or self::style)]/text()")
#: Shops nest four or five deep.
_MAX_DEPTH = 50
#: The attribute that holds an element's value. Addresses are completed.
_ADDRESSES = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
}
_VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
_HTML_SPACE = " \t\n\r\f"
_JOINS_BEFORE = re.compile(r"[,:;.!?\")]")


def items(tree: HtmlElement, url: str, called: _Attributes = _MICRODATA) -> Iterator[dict[str, Any]]:
    """Each item of the page, nested items after their parents. Yields nothing if items are nested without end."""
    page = _Page(tree, url, called)
    try:
        queue = [item for scope in page.properties if isinstance(item := page.item(scope), dict)]
    except ValueError:
        return  # an invalid address (`http://[`), or too deep: the page's other syntaxes still count
    for item in queue:
        for value in item.values():
            queue.extend(
                nested for nested in (value if isinstance(value, list) else [value]) if isinstance(nested, dict)
            )
        yield item


class _Page:
    """The items of a page. `properties` are the elements of each item's properties, in the order of the page."""

    def __init__(self, tree: HtmlElement, url: str, called: _Attributes) -> None:
        self._url = url
        self._called = called
        self._seen: set[HtmlElement] = set()
        self.properties: dict[HtmlElement, list[HtmlElement]] = {}
        self._without_owner: list[HtmlElement] = []
        for element in _NAMED[called](tree):
            owner = next((above for above in element.iterancestors() if above in self.properties), None)
            if element.get(called.name) is not None:
                (self._without_owner if owner is None else self.properties[owner]).append(element)
            if element.get(called.scope) is not None:
                self.properties[element] = []

    def item(self, scope: HtmlElement, depth: int = 1) -> Any:
        """The item of an element, or its text if it has no properties; None if the item came already. Raises ValueError."""
        if scope in self._seen:
            return None
        if depth > _MAX_DEPTH:
            raise ValueError("items are nested too deep")
        self._seen.add(scope)
        values: dict[str, list[Any]] = {}
        for element in self._elements(scope):
            value = self.item(element, depth + 1) if element in self.properties else self._plain_value(element)
            for name in element.get(self._called.name, "").split():
                # RDFa may name the vocabulary before the property: `schema:price`.
                values.setdefault(name.removeprefix("schema:"), []).append(value)
        if not values:
            return self._plain_value(scope)
        types = scope.get(self._called.type, "").split()
        node: dict[str, Any] = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
        node["@type"] = (types[0] if len(types) == 1 else types) if types else None
        if types and (identifier := scope.get("itemid")):
            node["@id"] = identifier.strip()
        return node

    def _elements(self, scope: HtmlElement) -> Iterator[HtmlElement]:
        """The elements of an item's properties: those within it, then those that it names by `itemref`."""
        yield from self.properties[scope]
        for name in scope.get("itemref", "").split():
            for place in scope.xpath("id($name)[1]", name=name):
                if place in self.properties and place.get(self._called.name) is not None:
                    yield place
                    continue
                owner = next((up for up in (place, *place.iterancestors()) if up in self.properties), None)
                elements = self._without_owner if owner is None else self.properties[owner]
                yield from (one for one in elements if one is place or place in one.iterancestors())

    def _plain_value(self, element: HtmlElement) -> str:
        if element.tag in _ADDRESSES:
            return urljoin(self._url, element.get(_ADDRESSES[element.tag], "").strip(_HTML_SPACE))
        if element.tag in _VALUES:
            return str(element.get(_VALUES[element.tag], ""))
        return element.get("content") or element.get("resource") or _text(element)


def _text(element: HtmlElement) -> str:
    """The element's text. The texts of two elements are words apart, unless punctuation joins them."""
    text, before = "", ""
    for piece in _TEXTS(element):
        words = " ".join(piece.split())
        if words:
            joins = not before[-1:].isspace() and (before.endswith("(") or _JOINS_BEFORE.match(words))
            text += words if joins or not text else f" {words}"
            before = piece
    return text
