"""Reads XML from outside: product feeds, sitemaps, exchange rates."""

from __future__ import annotations

from lxml import etree

from gpuledger.errors import LayoutChanged


def root_of(content: bytes, url: str, action: str | None = None) -> etree._Element:
    """The root element. Raises LayoutChanged, with the `action` that helps, if the bytes are no well-formed XML.

    The parser neither expands entities nor loads anything from elsewhere, so a bomb of entities stays small.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise LayoutChanged(url, f"no well-formed XML: {error}", action) from error
