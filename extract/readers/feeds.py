"""Reader of product feeds, which shops give to price comparisons and advertisers.

It yields rows of named texts, whatever the file's form.

The forms are RSS 2.0 and Atom with Google Merchant's namespace, and tables with a header (tabs, commas, semicolons or bars),
each plain or as a gzip file. The reader uses Google's names of columns and translates the names of affiliate networks (Awin,
CJ, TradeDoubler and their relatives). If a shop has its own name for a column, the feed's address gives it behind a `#`:
`https://shop.example/feed.csv#price=our_price&id=artno`.

Google's names: https://support.google.com/merchants/answer/7052112; Awin's: its "product feed columns" help page.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping

from lxml import etree

from gpuledger import local_files
from gpuledger.errors import LayoutChanged, TooLarge, Truncated
from gpuledger.extract.fetch import addresses
from gpuledger.extract.markup import charset, xml
from gpuledger.extract.source import Page

#: The size of a large shop's feed. A gzip file that unpacks to more is refused.
MAX_BYTES = 200_000_000

#: For each of Google's names, the names that networks and shops use instead, in the order in which the reader prefers them.
_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("merchant_product_id", "aw_product_id", "sku", "product_id", "artikelnummer", "tduid"),
    "title": ("product_name", "name", "product_title", "productname"),
    "link": ("merchant_deep_link", "aw_deep_link", "product_url", "url", "deeplink", "buy_url", "buyurl", "deep_link"),
    "price": ("search_price", "store_price", "current_price", "product_price", "display_price"),
    "sale_price": ("saleprice", "discounted_price"),
    "list_price": ("rrp_price", "product_price_old", "base_price_rrp", "retail_price", "msrp"),
    "currency": ("currency_code", "currencyid"),
    "availability": ("stock_status", "instock", "in_stock", "is_for_sale"),
    "condition": ("product_condition",),
    "gtin": ("ean", "upc", "product_gtin", "barcode", "ean13"),
    "mpn": ("product_model", "model_number", "manufacturer_part_number", "manufacturer_id"),
    "brand": ("brand_name", "manufacturer", "manufacturer_name", "merchant_brand"),
    "category": (
        "product_type", "google_product_category", "merchant_category", "category_name", "merchant_product_category_path",
        "advertisercategory",
    ),
}  # fmt: skip


def rows(page: Page) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each entry of the feed: its place in the file (`item 3`, `line 12`) and its texts by Google's names.

    Raises LayoutChanged if the file is not a feed, Truncated if a gzip file breaks off, TooLarge if the file is too long.
    """
    content = unpacked(page)
    names = _names(page.url)
    if content.lstrip()[:1] == b"<":
        yield from _of_xml(page, content, names)
    else:
        yield from _of_table(page, content, names)


def unpacked(page: Page, most: int = 0, remedy: str = "ask the shop for a smaller feed") -> bytes:
    """Return the page's bytes, unpacked if the page is a gzip file, to at most so many bytes, or MAX_BYTES.

    Raises Truncated, and TooLarge with what to do.
    """
    if not page.content.startswith(local_files.GZIP):
        return page.content
    try:
        return local_files.gunzipped(page.content, most or MAX_BYTES)
    except local_files.TooMuch as error:
        raise TooLarge(page.url, f"the gzip file {error}", remedy) from None
    except ValueError as error:
        raise Truncated(page.url, f"the gzip file {error}") from error


def _names(url: str) -> dict[str, str]:
    """Map names in the file to Google's names. The names that the address gives win over the known ones."""
    known = {other: name for name, others in _OTHER_NAMES.items() for other in others}
    told = addresses.said_behind(url)
    return known | {_key(theirs): name for name, theirs in told.items() if name in _OTHER_NAMES}


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower().removeprefix("g:"))


def _by_googles_names(entry: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of an entry by Google's names.

    Of several names in the file for one of them, the preferred one counts.
    """
    texts: dict[str, tuple[int, str]] = {}
    for theirs, text in entry.items():
        text = text.strip()
        key = _key(theirs)
        name = names.get(key, key)
        # Prefer a name that the address gives, then Google's own name, then the others in their order.
        others = _OTHER_NAMES.get(name, ())
        rank = -1 if name == key else others.index(key) if key in others else -2
        if text and (name not in texts or rank < texts[name][0]):
            texts[name] = (rank, text)
    return {name: text for name, (_, text) in texts.items()}


def _of_xml(page: Page, content: bytes, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    root = xml.root_of(content.lstrip(), page.url, "ask the shop to mend its feed")
    entries = [node for node in root.iter("{*}item", "{*}entry", "item", "entry") if isinstance(node.tag, str)]
    if not entries and etree.QName(root).localname not in ("rss", "feed"):
        raise LayoutChanged(page.url, f"XML of {etree.QName(root).localname!r}, which is no RSS or Atom feed of goods")
    for place, entry in enumerate(entries, start=1):
        plain: dict[str, str] = {}
        googles: dict[str, str] = {}
        for child in entry.iterchildren("*"):
            name = etree.QName(child).localname
            text = "".join(child.itertext()).strip() or (child.get("href", "") if name == "link" else "")
            if text:
                # Of several elements with one name, such as pictures, the first is the main one.
                (googles if etree.QName(child).namespace == _GOOGLE else plain).setdefault(name, text)
        texts = plain | googles
        yield f"item {place}", _by_googles_names(texts, names)


_GOOGLE = "http://base.google.com/ns/1.0"


def _of_table(page: Page, content: bytes, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    text = charset.decode(content, page.headers.get("content-type")).lstrip("\ufeff")
    header = text.partition("\n")[0]
    delimiter = max("\t,;|", key=header.count)
    # A field without an end would take in the rest of the file. The csv module stops at its own limit with an error.
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    keys = [_key(name) for name in reader.fieldnames or ()]
    known = {names.get(key, key) for key in keys}
    if missing := {"id", "title", "price"} - known:
        seen = f"a table without a column for {', '.join(sorted(missing))}; its header is {header.strip()[:200]!r}"
        way = "name the shop's own columns behind the feed's address: #price=our_price&id=artno"
        raise LayoutChanged(page.url, seen, way)
    try:
        for entry in reader:
            # More or fewer fields than the header has names mean a delimiter inside a text, so no field after it can be
            # trusted.
            is_whole = None not in entry and None not in entry.values()
            yield f"line {reader.line_num}", _by_googles_names(entry, names) if is_whole else {}
    except csv.Error as error:
        raise LayoutChanged(page.url, f"line {reader.line_num}: {error}", "ask the shop to mend its feed") from error
