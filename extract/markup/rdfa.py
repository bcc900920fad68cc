"""RDFa of a page in the shape of JSON-LD: the part that shops use (`vocab`, `typeof`, `property`, as in RDFa Lite).

extruct reads RDFa through pyRdfa and rdflib, which need a tree of their own kind. The page would be parsed a second time, at
many times the cost of everything else. The shops that mark up goods in RDFa do it with these three attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from gpuledger.extract.markup.schema_org import local_name

_ANY = etree.XPath("boolean(//@typeof)")
_TYPED = etree.XPath("//*[@typeof][@vocab or @property or contains(@typeof, ':') or ancestor::*[@vocab]]")
_ADDRESSES = {"a": "href", "link": "href", "area": "href", "img": "src"}
_MAX_DEPTH = 8


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Each typed thing of the page. `url` is not used: addresses stay as written."""
    for element in _TYPED(tree) if _ANY(tree) else ():
        yield _thing(element, 0)


def _thing(element: HtmlElement, depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"@type": [local_name(name) for name in (element.get("typeof") or "").split()]}
    if address := element.get("resource") or element.get("about"):
        node["@id"] = address
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if not isinstance(child.tag, str):
            continue
        typed, names = child.get("typeof") is not None, (child.get("property") or child.get("rel") or "").split()
        if names and depth < _MAX_DEPTH:
            value = _thing(child, depth + 1) if typed else _value(child)
            for name in names:
                node.setdefault(local_name(name), []).append(value)
        if not typed:
            waiting.extend(reversed(child))
    return node


def _value(element: HtmlElement) -> str:
    content = element.get("content") or element.get("datetime") or element.get("resource")
    address = element.get(_ADDRESSES.get(str(element.tag), "resource"))
    return content or address or str(element.text_content())
