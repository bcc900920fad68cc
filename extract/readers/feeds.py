"""Product feeds: what shops give to price comparisons and advertisers, as rows of named texts whatever the file's form.

The forms: RSS 2.0 and Atom with Google Merchant's namespace, and tables with a header (tabs, commas, semicolons or bars),
each plain or as a gzip file. The names of the columns are Google's; those of affiliate networks (Awin, CJ, TradeDoubler and
their relatives) are brought to them. A column that has a name of the shop's own is named behind the feed's address:
`https://shop.example/feed.csv#price=our_price&id=artno`.

Google's names: https://support.google.com/merchants/answer/7052112; Awin's: its "product feed columns" help page.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from lxml import etree

from gpuledger.extract import local_files
from gpuledger.extract.errors import LayoutChanged, TooLarge, Truncated
from gpuledger.extract.markup import charset
from gpuledger.extract.source import Page

#: A feed of a large shop; a gzip file that grows beyond it is refused.
MAX_BYTES = 200_000_000

#: Google's name for what networks and shops call otherwise. A name on the left is looked for in this order.
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
    """Each entry of the feed: its place in the file (`item 3`, `line 12`) and its texts by Google's names.

    Raises LayoutChanged where the file is no feed, Truncated where a gzip file breaks off, TooLarge where it is too long.
    """
    content = unpacked(page)
    names = _names(page.url)
    if content.lstrip()[:1] == b"<":
        yield from _of_xml(page, content, names)
    else:
        yield from _of_table(page, content, names)


def unpacked(page: Page) -> bytes:
    """The page's bytes, of a gzip file those in it. Raises Truncated and TooLarge."""
    if page.content[:2] != b"\x1f\x8b":
        return page.content
    try:
        return local_files.gunzipped(page.content, MAX_BYTES)
    except local_files.TooMuch as error:
        raise TooLarge(page.url, f"the gzip file {error}", "ask the shop for a smaller feed") from None
    except ValueError as error:
        raise Truncated(page.url, f"the gzip file {error}") from error


def _names(url: str) -> dict[str, str]:
    """Google's name by the name in the file: those that the address gives, then those that are known."""
    known = {other: name for name, others in _OTHER_NAMES.items() for other in others}
    return known | {theirs.lower(): name for name, theirs in parse_qsl(urlsplit(url).fragment)}


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower().removeprefix("g:"))


def _named(entry: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """An entry by Google's names. Where the file has that name itself, another name for it does not count."""
    found: dict[str, tuple[int, str]] = {}
    for theirs, text in entry.items():
        text = text.strip()
        key = _key(theirs)
        name = names.get(key, key)
        # The shop's word first, then Google's own name, then the others in the order in which they are believed.
        others = _OTHER_NAMES.get(name, ())
        rank = -1 if name == key else others.index(key) if key in others else -2
        if text and (name not in found or rank < found[name][0]):
            found[name] = (rank, text)
    return {name: text for name, (_, text) in found.items()}


def _of_xml(page: Page, content: bytes, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    # Entities are left as they stand and nothing is loaded from elsewhere, so a bomb of entities stays small.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content.lstrip(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise LayoutChanged(page.url, f"no well-formed XML: {error}", "ask the shop to mend its feed") from error
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
                # Of several of one name the first is the main one, as of pictures.
                (googles if etree.QName(child).namespace == _GOOGLE else plain).setdefault(name, text)
        texts = plain | googles
        yield f"item {place}", _named(texts, names)


_GOOGLE = "http://base.google.com/ns/1.0"


def _of_table(page: Page, content: bytes, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    text = charset.decode(content, page.headers.get("content-type")).lstrip("\ufeff")
    header = text.partition("\n")[0]
    delimiter = max("\t,;|", key=header.count)
    # A field without an end would swallow the file; the csv module stops at its own limit, which is an error here.
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    keys = [_key(name) for name in reader.fieldnames or ()]
    known = {names.get(key, key) for key in keys}
    if missing := {"id", "title", "price"} - known:
        seen = f"a table without a column for {', '.join(sorted(missing))}; its header is {header.strip()[:200]!r}"
        way = "name the shop's own columns behind the feed's address: #price=our_price&id=artno"
        raise LayoutChanged(page.url, seen, way)
    try:
        for entry in reader:
            # More fields than the header has names for, or fewer: a delimiter in a text. Nothing behind it can be trusted.
            is_whole = None not in entry and None not in entry.values()
            yield f"line {reader.line_num}", _named(entry, names) if is_whole else {}
    except csv.Error as error:
        raise LayoutChanged(page.url, f"line {reader.line_num}: {error}", "ask the shop to mend its feed") from error
