"""Microdata of a page in the shape of JSON-LD, through extruct on the tree that is there already."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

_ANY = etree.XPath("boolean(//@itemscope)")


@functools.cache
def _extractor() -> Any:
    # Imported when the first page with microdata comes: extruct brings the readers of all syntaxes, rdflib among them.
    from extruct.w3cmicrodata import MicrodataExtractor

    return MicrodataExtractor()


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Each item of the page, nested ones after their parents."""
    if not _ANY(tree):
        return
    try:
        top_level = _extractor().extract_items(tree, base_url=url)
    except (ValueError, RecursionError):
        # An address that is none (`http://[`), or items nested without end: the page's other syntaxes still count.
        return
    queue = list(top_level)
    for item in queue:
        if "properties" in item:
            queue.extend(_nested(item))
            yield _as_jsonld(item)


def _as_jsonld(item: Any, depth: int = 0) -> Any:
    if isinstance(item, list):
        return [_as_jsonld(one, depth) for one in item]
    if not isinstance(item, dict) or depth > 8:
        return item
    if "properties" not in item:
        return item.get("value", "")
    node = {name: _as_jsonld(value, depth + 1) for name, value in item["properties"].items()}
    return node | {"@type": item.get("type")} | ({"@id": item["id"]} if "id" in item else {})


def _nested(item: Any) -> Iterator[dict[str, Any]]:
    for value in item.get("properties", {}).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and "properties" in one:
                yield one
