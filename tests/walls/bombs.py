"""Pages made to take a parser's time or memory, small as they are: by name, the source that reads them, and the bytes."""

# ruff: noqa: E501  a bomb is one line

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable

Bomb = tuple[str, Callable[[], bytes]]

_SHEET = '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
_PARTS = {
    "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml"'
    ' ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="a" sheetId="1" r:id="r1"/>'
    "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": '<?xml version="1.0"?><Relationships xmlns='
    '"http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}  # fmt: skip
_HEAD = '<row r="1"><c t="inlineStr"><is><t>product</t></is></c><c t="inlineStr"><is><t>price</t></is></c></row>'


def _xlsx(sheet: str, **more: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet, **more}.items():
            archive.writestr(name, text)
    return file.getvalue()


def _html(body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head><title>t</title>{head}</head><body>{body}</body></html>".encode()


def _spans(cells: int, span: int) -> str:
    row = "".join(f"<td colspan={span} rowspan={span}>1</td>" for _ in range(cells))
    return "<table><tr><th>Graphics card</th><th>fps</th></tr>" + f"<tr>{row}</tr>" * 2 + "<tr></tr>" * 200 + "</table>"


def _ld(text: str) -> bytes:
    return _html("x", f'<script type="application/ld+json">{text}</script>')


def _offer(price: str) -> str:
    return (
        '{"@type": "Product", "name": "GeForce RTX 4070", "offers": {"price": ' + price + ', "priceCurrency": "USD"}}'
    )


def _of_tokens(price: str) -> bytes:
    model = {"id": "a/b", "pricing": {"prompt": 0, "completion": "0.1"}}
    return json.dumps({"data": [model]}).replace('"prompt": 0', f'"prompt": {price}').encode()


_TABLES, _SHOP = "toms_gpu_hierarchy", "generic_shop"

BOMBS: dict[str, Bomb] = {
    "20,000 attributes": (_SHOP, lambda: _html("<p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">x</p>")),
    "40,000 attributes": (_SHOP, lambda: _html("<p " + " ".join(f"a{n}=1" for n in range(40_000)) + ">x</p>")),
    "40,000 attributes in a soup": (_TABLES, lambda: _html("<p " + " ".join(f"a{n}" for n in range(40_000)) + ">x</p>")),
    "70 KB of spans": (_TABLES, lambda: _html(_spans(1000, 100))),
    "spans of 65,534": (_TABLES, lambda: _html(_spans(1000, 65_534))),
    "tables of spans": (_TABLES, lambda: _html(_spans(10, 100) * 60)),
    "a price of 1e999999999, json-ld": (_SHOP, lambda: _ld(_offer("1e999999999"))),
    "a price of 1e999999999, of tokens": ("openrouter", lambda: _of_tokens("1e999999999")),
    "a price of '1e999999999', of tokens": ("openrouter", lambda: _of_tokens('"1e999999999"')),
    "a price of 4 MB of digits": ("openrouter", lambda: _of_tokens("9" * 4_000_000)),
    "a price of 1e-999999999": ("openrouter", lambda: _of_tokens("1e-999999999")),
    "a cell of 60 MB": (
        "quotes", lambda: _xlsx(_SHEET.format(_HEAD + f'<row><c t="inlineStr"><is><t>{"x" * 60_000_000}</t></is></c></row>')),
    ),
    "ten cells of 6 MB": (
        "quotes",
        lambda: _xlsx(_SHEET.format(_HEAD + f'<row>{f"""<c t="inlineStr"><is><t>{"x" * 6_000_000}</t></is></c>""" * 10}</row>')),
    ),
    "10 KB of nested XML": ("quotes", lambda: _xlsx(_SHEET.format("<a>" * 2_000_000 + "</a>" * 2_000_000))),
    "nested XML that never closes": ("quotes", lambda: _xlsx(_SHEET.format("<a>" * 9_000_000))),
    "nested rates": ("ecb_fx", lambda: b"<Cube>" * 700_000),
    "a laugh of entities": (
        "ecb_fx",
        lambda: (
            "<!DOCTYPE l [<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 20}'>" for n in range(1, 12)) + "]><l>&a11;</l>"
        ).encode(),
    ),
    "rows of a sheet without end": ("quotes", lambda: _xlsx(_SHEET.format(_HEAD + "<row/>" * 5_000_000))),
    "a CSV of one column a byte": ("quotes", lambda: b"product,price\n" + b"," * 4_000_000),
    "a CSV of quotes": ("quotes", lambda: b"product,price,currency\n" + b'"' * 4_000_000),
    "200,000 nested lists": (_SHOP, lambda: _ld("[" * 200_000)),
    "200,000 nested objects": (_SHOP, lambda: _ld('{"a":' * 200_000)),
    "comments without end": (_SHOP, lambda: _ld("/*" * 140_000)),
    "white space": (_SHOP, lambda: _ld(" \n" * 140_000)),
    "200,000 open tags": (_SHOP, lambda: _html("<div>" * 200_000)),
    "200,000 open tags in a soup": (_TABLES, lambda: _html("<div>" * 200_000)),
    "nested tables": (_TABLES, lambda: _html("<table><tr><td>" * 20_000)),
    "nested items": (_SHOP, lambda: _html("<div itemscope itemtype='https://schema.org/Product' itemprop=offers>" * 20_000)),
    "wide items": (_SHOP, lambda: _html("<div itemscope itemtype='https://schema.org/Product' itemref='a b c'>" * 200 + "<p id=a itemprop=name>" * 2000)),
    "formatting that is never closed": (_SHOP, lambda: _html("<b><i><a>" * 30_000 + "<p>" * 3000)),
    "a title of 4 MB": (_SHOP, lambda: _html("x", "<title>" + "GeForce RTX 4070 " * 240_000 + "</title>")),
    "prices without end": (_SHOP, lambda: _html("<p class=price>$1,299.00 </p>" * 60_000)),
    "a number of 2 MB": (_SHOP, lambda: _html(f"<p class=price>${'1,' * 1_000_000}</p>")),
    "one line of digits": (_SHOP, lambda: _html("<p class=price>$" + "1" * 4_000_000)),
    "points and commas": (_SHOP, lambda: _html("<span class=price>" + "1.1,1 " * 300_000 + "</span>")),
    "entities": (_SHOP, lambda: _html("&#x1f600;" * 400_000)),
    "zero bytes": (_SHOP, lambda: _html("<p>\0</p>" * 300_000)),
    "cells": (_TABLES, lambda: _html("<table>" + ("<tr>" + "<td>1" * 100) * 3000 + "</table>")),
    "headings before tables": (_TABLES, lambda: _html("<h2>x</h2><table><tr><th>a<tr><td>1</table>" * 5000)),
    "script": (_SHOP, lambda: _html("<script>" + "<!--<script>" * 200_000)),
    "a listing of 40,000 items": ("newegg", lambda: _html('<div class="item-cell"><a class="item-title" href="/p">x</a></div>' * 40_000)),
    "links": ("bhphoto", lambda: _html("<a href='https://www.bhphotovideo.com/c/product/1'>x</a>" * 60_000)),
    "nested CDATA": (_SHOP, lambda: _ld("<![CDATA[" * 30_000)),
    "half a comment": (_SHOP, lambda: _html("<!--" * 500_000)),
    "charsets": (_SHOP, lambda: b"<meta charset=utf-7>" * 200_000),
    "broken UTF-8": (_SHOP, lambda: _html("") + b"\xe2\x82" * 2_000_000),
    "UTF-16 attributes": (_SHOP, lambda: ("\ufeff<html><p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">x").encode("utf-16-le")),
    "attributes behind a quoted >": (_SHOP, lambda: _html("<p z='>' " + " ".join(f"a{n}=1" for n in range(40_000)) + ">x</p>")),
    "attributes apart by slashes": (_SHOP, lambda: _html("<p/" + "/".join(f"a{n}" for n in range(40_000)) + ">x</p>")),
    "classes": (_SHOP, lambda: _html("<p class='" + "price " * 600_000 + "'>$5</p>")),
}  # fmt: skip


def _rows(cell: str, times: int = 1) -> bytes:
    return (
        "product,price,currency,quantity,valid until,condition,tax,market\n"
        + f"RTX 4070 12GB,{cell},USD,{cell},{cell},{cell},{cell},{cell}\n" * times
    ).encode()


def _json(text: str) -> bytes:
    return text.encode()


#: Thought of after the code was done: of other readers, and made of long runs that a pattern may look through again from each
#: of its letters. All of a size that takes no second where nothing is wrong.
MORE_BOMBS: dict[str, Bomb] = {
    **{f"a header of {piece!r}": ("quotes", lambda p=piece: (p * 90_000).encode()) for piece in ("[", "(", "]", "（", "ex", "incl. ", "vat ", " ", "_", "usd", "-")},  # type: ignore[misc]
    **{f"cells of {piece!r}": ("quotes", lambda p=piece: _rows(p * (60_000 // len(p)), 2)) for piece in (" ", "1", "1 ", "9,", "1.", "$", "$ ", "년", "- ", "(", "~", "?", "1-", "xX", "a ", "％")},  # type: ignore[misc]
    **{f"a price element of {piece!r}": (_SHOP, lambda p=piece: _html(f"<p class=price>{p * (90_000 // len(p))}</p>")) for piece in ("1 ", "$ ", "about ", "1-1-", "x", "$1 ", "1.", "/mo ", "€", "½", "1xx")},  # type: ignore[misc]
    **{f"a title of {piece!r}": (_SHOP, lambda p=piece: _ld(json.dumps({"@type": "Product", "name": p * (90_000 // len(p)), "offers": {"price": "5", "priceCurrency": "USD"}}))) for piece in ("RTX ", "GeForce ", "4070 ", "GB ", "( ", "x ")},  # type: ignore[misc]
    **{f"{name}: a feed of {piece!r}": (name, lambda p=piece: _json(p * (200_000 // len(p)))) for name in ("openrouter", "gpuhunt_catalog", "ebay") for piece in ("[", '{"a":', "1", '"', "[1,")},  # type: ignore[misc]
    **{f"{name}: rows of {piece!r}": (name, lambda p=piece: (p * (200_000 // len(p))).encode()) for name in ("measurements", "own_rates", "product_feed", "result_tables", "danawa_daily", "ecb_fx_history") for piece in (",", '"', "a\n", "<a>", "[")},  # type: ignore[misc]
    **{f"a sitemap of {piece!r}": (_SHOP, lambda p=piece: ("<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + p * (200_000 // len(p))).encode()) for piece in ("<url>", "<url><loc>x</loc></url>", "&amp;", "<!--", "<![CDATA[")},  # type: ignore[misc]
}  # fmt: skip


def random_bomb(seed: int) -> Bomb:
    """A page of some fragments that each open something, repeated and mixed by chance."""
    chance = random.Random(seed)
    pieces = [
        "<div>", "<table><tr><td>", "<td colspan=1000 rowspan=1000>", "<b>", "<a href=x>", "<p itemprop=price content=9>", "<li>",
        "<span itemscope itemtype=http://schema.org/Offer>", "</p>", "<!--", "-->", "<script>", "</script>", "&amp;", "&#0;", "1,2", "$9.99 ",
        "<select><option>", "<svg>", "<math>", "<template>", "'", '"', "<font color=", ">", "<![CDATA[", "\x00", "<h1>", "<br/>",
        '<script type="application/ld+json">[[[{"a":', "x" * 50, "<p a=1 b=2 c=3 ", "</table>", "<noscript>", "€1.299,00", "원 ",
    ]  # fmt: skip
    source = chance.choice(
        [_SHOP, _TABLES, "newegg", "amazon", "danawa", "morele", "gpu_wiki_cloud", "toms_price_index"]
    )
    chosen = [chance.choice(pieces) * chance.choice((1, 3, 40)) for _ in range(chance.randrange(2, 9))]
    times = max(1, chance.choice((20_000, 300_000, 2_000_000)) // sum(map(len, chosen)))
    return source, lambda: _html("".join(chosen) * times)
