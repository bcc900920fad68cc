"""Microdata of a page in the shape of JSON-LD, through extruct on the tree that is there already."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

_SCOPES = etree.XPath("//*[@itemscope]")
#: Shops nest four or five deep. extruct calls itself for each; where Python's stack ends in the middle of an XPath,
#: lxml keeps its lock: see `parse_process.leaves_locks`.
_MAX_DEPTH = 50


@functools.cache
def _extractor() -> Any:
    # Imported when the first page with microdata comes: extruct brings the readers of all syntaxes, rdflib among them.
    from extruct.w3cmicrodata import MicrodataExtractor

    class Extractor(MicrodataExtractor):  # type: ignore[misc]
        """extruct cleans a copy of each property's element, which takes as long as half of a page's other reading."""

        def _extract_textContent(self, node: HtmlElement) -> str:
            if len(node) or node.tag in ("script", "style"):
                return str(super()._extract_textContent(node))
            # Nothing to clean: extruct would say the same.
            return " ".join((node.text or "").split())

    return Extractor()


def items(tree: HtmlElement, url: str) -> Iterator[dict[str, Any]]:
    """Each item of the page, nested ones after their parents; none where they are nested without end.

    Raises RecursionError where they refer to each other without end.
    """
    scopes = _SCOPES(tree)
    if not scopes or _is_too_deep(scopes):
        return
    try:
        top_level = _extractor().extract_items(tree, base_url=url)
    except ValueError:
        return  # an address that is none (`http://[`): the page's other syntaxes still count
    queue = list(top_level)
    for item in queue:
        if "properties" in item:
            queue.extend(_nested(item))
            yield _as_jsonld(item)


def _is_too_deep(scopes: list[HtmlElement]) -> bool:
    """Whether items, in the order of the page, are nested deeper than any shop's."""
    depths: dict[HtmlElement, int] = {}
    for scope in scopes:
        parent = next((one for one in scope.iterancestors() if one in depths), None)
        depths[scope] = depths[parent] + 1 if parent is not None else 1
        if depths[scope] > _MAX_DEPTH:
            return True
    return False


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
