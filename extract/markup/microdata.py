"""Microdata of a page in the shape of JSON-LD. extruct reads it from the tree that exists already."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

_SCOPES = etree.XPath("//*[@itemscope]")
#: Shops nest four or five deep. extruct calls itself for each level. If Python's stack ends in the middle of an XPath,
#: lxml keeps its lock: see `parse_process.leaves_locks`.
_MAX_DEPTH = 50


@functools.cache
def _extractor() -> Any:
    # Imported when the first page with microdata comes: extruct imports the readers of all syntaxes, and rdflib with them.
    from extruct.w3cmicrodata import MicrodataExtractor

    class Extractor(MicrodataExtractor):  # type: ignore[misc]
        """Saves time: extruct cleans a copy of each property's element, which takes half as long as all other reading."""

        def _extract_textContent(self, node: HtmlElement) -> str:
            if len(node) or node.tag in ("script", "style"):
                return str(super()._extract_textContent(node))
            # There is nothing to clean: extruct would return the same text.
            return " ".join((node.text or "").split())

    return Extractor()


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Each item of the page, nested items after their parents. Yields nothing if items are nested without end.

    Raises RecursionError if items refer to each other without end.
    """
    scopes = _SCOPES(tree)
    if not scopes or _is_too_deep(scopes):
        return
    try:
        top_level = _extractor().extract_items(tree, base_url=url)
    except ValueError:
        return  # an invalid address (`http://[`): the page's other syntaxes still count
    queue = list(top_level)
    for item in queue:
        if "properties" in item:
            queue.extend(_nested(item))
            yield _as_jsonld(item)


def _is_too_deep(scopes: list[HtmlElement]) -> bool:
    """Whether items are nested deeper than those of any shop. `scopes` are in the order of the page."""
    depths: dict[HtmlElement, int] = {}
    for scope in scopes:
        parent = next((ancestor for ancestor in scope.iterancestors() if ancestor in depths), None)
        depths[scope] = depths[parent] + 1 if parent is not None else 1
        if depths[scope] > _MAX_DEPTH:
            return True
    return False


def _as_jsonld(item: Any, depth: int = 0) -> Any:
    if isinstance(item, list):
        return [_as_jsonld(entry, depth) for entry in item]
    if not isinstance(item, dict) or depth > 8:
        return item
    if "properties" not in item:
        return item.get("value", "")
    node = {name: _as_jsonld(value, depth + 1) for name, value in item["properties"].items()}
    return node | {"@type": item.get("type")} | ({"@id": item["id"]} if "id" in item else {})


def _nested(item: Any) -> Iterator[dict[str, Any]]:
    for value in item.get("properties", {}).values():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and "properties" in entry:
                yield entry
