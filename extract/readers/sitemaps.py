"""Reader of a shop's `sitemap.xml` (https://www.sitemaps.org/protocol.html): the addresses of its product pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from lxml import etree

from gpuledger.extract import words
from gpuledger.extract.markup import xml
from gpuledger.extract.markup.links import joined
from gpuledger.extract.readers import feeds
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Link, Parsed

_START = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*|<\?[^>]{0,300}\?>\s*)*<(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}


def is_sitemap(page: Page) -> bool:
    """Return whether the page is a sitemap or an index of sitemaps, plain or as a gzip file."""
    return _START.match(feeds.unpacked(page)[:5_000]) is not None


def links(page: Page) -> Iterator[Parsed]:
    """Yield a Link to each product page whose address names a graphics card, and to each further sitemap.

    Only addresses on the sitemap's own host are followed, as the protocol requires. Raises LayoutChanged for broken XML.
    """
    root = xml.root_of(feeds.unpacked(page).lstrip(), page.url, "ask the shop to mend its sitemap")
    kind = etree.QName(root).localname
    role = "product" if kind == "urlset" else "next_page"
    link_count = foreign_count = 0
    for entry in root.iterchildren("{*}" + _ENTRIES[kind]):
        address = (entry.findtext("{*}loc") or "").strip()
        parts = urlsplit(joined("", address))
        if parts.scheme not in ("http", "https") or parts.hostname != urlsplit(page.final_url).hostname:
            foreign_count += 1
            continue
        if role == "next_page" or words.speaks_of_card(re.sub(r"[-_/+.]", " ", unquote(parts.path))):
            link_count += 1
            yield Link(url=address, role=role)
    if foreign_count:
        message = f"{foreign_count} addresses are not of the sitemap's own host, and are left out"
        yield Issue(code="foreign_address", message=message, severity="info", url=page.url)
    if role == "product" and not link_count:
        message = "no address in the sitemap names a graphics card"
        yield Issue(code="not_a_card", message=message, severity="info", url=page.url)
