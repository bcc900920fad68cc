"""The numbers by which a shop and a maker name the goods: sku, mpn, gtin.

The sku is the first of these that the page has:

1. the only number printed behind a word for it beside the title (`Item no. 12-345`), or anywhere on the page if the
   structured data name no number, or the same as the maker's;
2. the structured `sku`, in the form in which the page prints it;
3. among several printed numbers, the one that the address holds;
4. among several printed numbers, the nearest;
5. the only number that scripts name;
6. the number in the address.

A gtin counts only if its check digit is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.markup.links import parts_of
from gpuledger.extract.markup.structured import StructuredProduct
from gpuledger.extract.product import scan
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.layout import Layout
from gpuledger.extract.product.signs import CODE_NAME, LABELS, OF_WORDS, Field

_CODE = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9А-ЯЁ][\w./-]{1,29}")
_NUMBER_BEHIND = re.compile(r"[\s:#№º°.\-–—：]*[([]?((?=\S*\d)[A-Za-z0-9А-ЯЁ][\w./-]{1,29})(?=$|[\s,;|)〉>\]])")

#: A number of several words with nothing behind it: words that each have capitals and digits, `GV-R79XTGAMING OC-20GD`, or
#: groups of digits and capitals, `T84 1120`.
_WORDS = re.compile(
    r"(?=.{4,30}$)(?=\S*\d)[A-Z][A-Z\d./-]{3,}(?: (?=\S*\d)(?=\S*[A-Z])[A-Z\d][A-Z\d./-]+)+"
    r"|(?=\S*\d)[A-Z\d]{2,8}(?: (?=\S*\d)[A-Z\d]{3,8}){1,3}"
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The goods' numbers. Each is None if the page does not show it."""

    sku: str | None = None
    mpn: str | None = None
    gtin: str | None = None


def of_page(page: Context, products: list[StructuredProduct], layout: Layout) -> Numbers:
    """The numbers of the page's own goods."""
    printed: dict[Field, list[str]] = {"sku": [], "mpn": [], "gtin": []}
    for field, value in _printed(layout):
        printed[field].append(value)
    if not products:
        for field, value in _marked(layout):
            printed[field].insert(0, value)
    codes = list(dict.fromkeys(printed["sku"]))
    stated = (_first(products, "sku") or "").strip(" ()[]") or None
    if not codes and stated in (None, _first(products, "mpn")):
        # If both fields have the same number, it comes from the template's database: the shop may show buyers another one.
        number = _printed_anywhere(page, layout) or _in_data_name(layout)
        codes = [number] if number else []
    if stated is not None and " " in stated.strip() and _of_address(page):
        # This is a maker's designation in the wrong field.
        stated = None
    # If a number has two words, the text of the page was read only up to the space.
    codes = [stated if stated is not None and stated.startswith(f"{code} ") else code for code in codes]
    # The page shows people one number; for machines it often has the number of a variant or of a database.
    sku = codes[0] if len(codes) == 1 and codes[0] not in _others(products, printed) else None
    sku = sku or (stated and _as_printed(stated, codes, layout)) or _of_several(page, codes)
    sku = sku or next(iter(codes), None)
    if sku is None:
        # To look at all lines of the part takes long, so this happens only if nothing else names the goods.
        lines = dict(reversed(list(_in_lines(layout))))
        if "mpn" in lines and not printed["mpn"]:
            printed["mpn"].append(lines["mpn"])
        sku = lines.get("sku")
    mpns = [mpn for mpn in (_first(products, "mpn"), *printed["mpn"]) if mpn]
    sku = sku or _of_scripts(page) or _of_address(page) or _in_address(page)
    gtins = [product.gtin for product in products if product.gtin] + printed["gtin"]
    return Numbers(
        # A shop that uses the maker's number in its addresses has no other number.
        sku=sku or next((mpn for mpn in mpns if mpn.lower() in page.address_words), None),
        mpn=next(iter(mpns), None),
        gtin=next((gtin for text in gtins if (gtin := valid_gtin(text))), None),
    )


def _others(products: list[StructuredProduct], printed: dict[Field, list[str]]) -> set[str | None]:
    """The numbers that are known to be the maker's or trade numbers, whatever word they are printed behind."""
    known = {number for product in products for number in (product.mpn, product.gtin) if number != product.sku}
    return known | set(printed["mpn"]) | set(printed["gtin"])


def _of_several(page: Context, codes: list[str]) -> str | None:
    """The only one of several printed numbers that the page's address holds, with or without what separates its digits."""
    address = _letters(page.address_words)
    codes_in_address = [code for code in codes if len(_letters(code)) > 4 and _letters(code) in address]
    return codes_in_address[0] if len(codes_in_address) == 1 else None


def _in_data_name(layout: Layout) -> str | None:
    """The only number in an element whose `data-` attribute, for tests or programs, names it: `data-qa="product-code"`."""
    codes: set[str] = set()
    for element in layout.part.iter(*scan.HOLD_TEXT):
        text = (element.text or "").strip()
        if len(text) <= 30 and _CODE.fullmatch(text) and not layout.is_elsewhere(element):
            names = (value.lower() for name, value in element.items() if name.startswith("data-"))
            if any(CODE_NAME.search(name) for name in names):
                codes.add(text)
    return codes.pop() if len(codes) == 1 else None


def _printed_anywhere(page: Context, layout: Layout) -> str | None:
    """The only number that the whole page prints behind a word for it, for example in a specification far below."""
    if layout.part is page.tree:
        return None
    codes = {
        labelled[1]
        for element in scan.label_elements(page.tree)
        if (labelled := _labelled(element)) is not None and labelled[0] == "sku" and not layout.is_elsewhere(element)
    }
    return codes.pop() if len(codes) == 1 else None


def _as_printed(stated: str, printed: list[str], layout: Layout) -> str:
    """The structured number in the form in which it is printed: `466/7999` for 4667999, `AB12` for the variant `AB12-1`."""
    if stated in printed:
        return stated
    core = _letters(stated)
    labelled = next((code for code in printed if len(_letters(code)) > 3 and core.startswith(_letters(code))), None)
    return labelled or _in_groups(stated, layout) or stated


_GROUPED = re.compile(r"\w[-/.]\d|\d[-/.]\w")


def _in_groups(stated: str, layout: Layout) -> str | None:
    """The structured number as it is printed in groups, whatever word stands before it; None if the page prints none."""
    if not stated.isalnum() or not stated.isascii() or not 6 <= len(stated) <= 30:
        return None
    pattern = re.compile(r"(?<![\w/.-])" + "[-/.]?".join(stated) + r"(?![\w/-]|\.\d)", re.IGNORECASE)
    for element in layout.part.iter(*scan.HOLD_TEXT):
        text = element.text
        if text and len(text) <= _LONGEST_LINE and _GROUPED.search(text) and (match := pattern.search(text)):
            return match.group()
    return None


def _letters(code: str) -> str:
    return re.sub(r"[^a-z0-9]", "", code.lower())


def _first(products: list[StructuredProduct], field: str) -> str | None:
    return next((value for product in products if (value := getattr(product, field))), None)


def _printed(layout: Layout) -> Iterator[tuple[Field, str]]:
    """Numbers printed behind a word for them, or in an element named after one, the nearest to the title first."""
    labelled_numbers: list[tuple[int, int, Field, str]] = []
    for place, element in enumerate(layout.parts.labels):
        labelled = _labelled(element)
        if labelled is not None and not layout.is_elsewhere(element):
            labelled_numbers.append((layout.title_level(element), place, *labelled))
    for place, element in layout.parts.named(CODE_NAME):
        text = (element.text or "").strip()
        if len(text) <= 30 and _CODE.fullmatch(text) and not layout.is_elsewhere(element):
            labelled_numbers.append((layout.title_level(element), place, "sku", text))
    for _, _, field, value in sorted(labelled_numbers):
        yield field, value


#: schema.org's names for the numbers. Templates leave these on a page that no longer describes its product as one.
_PROPERTIES: dict[str, Field] = {"sku": "sku", "productID": "sku", "mpn": "mpn", "gtin13": "gtin", "gtin": "gtin"}
_LONGEST = 40


def _marked(layout: Layout) -> Iterator[tuple[Field, str]]:
    """Numbers in elements that are marked as schema.org's, on a page that describes no product to machines."""
    for element in layout.part.iterfind(".//*[@itemprop]"):
        field = _PROPERTIES.get(element.get("itemprop") or "")
        if field is not None and not layout.is_elsewhere(element):
            text = (element.get("content") or visible_text(element, _LONGEST + 1)).strip(" \t\r\n\u00a0()[]")
            if len(text) <= _LONGEST and any(map(str.isdigit, text)):
                yield field, text


#: A longer text is no line of numbers.
_LONGEST_LINE = 160
#: The places where another number of the line may begin: behind a stroke or a comma, and behind a word with a digit in it.
_PIECE = re.compile(r"(?:^|[|/•·,;(–—-]\s+|(?<!\S)\S*\d\S*\s+)(?=[^\W\d_])")
_MAY_NAME = re.compile(r"\d|[:：#№.]\s*$")
#: In the middle of a line a word for a number counts only with a colon, `#` or full stop behind it, or before a long number.
_SEPARATOR = re.compile(r"(?<=[.#])\s*|\s*[:：#№]")


def _in_lines(layout: Layout) -> Iterator[tuple[Field, str]]:
    """Numbers in the middle of a line: `Model: AB-1 | Code: 105678`, `Product: MX1 Part #: GV-2`."""
    for element in layout.part.iter(*scan.HOLD_TEXT, "br"):
        for place, text in (("in", element.text), ("behind", element.tail)):
            if not text or not 3 < len(text) <= _LONGEST_LINE or not _MAY_NAME.search(text):
                continue
            line = " ".join(text.split())
            for piece in _PIECE.finditer(line):
                labelled = _of_line(element, place, line[piece.end() :])
                if labelled is not None and not layout.is_elsewhere(element):
                    yield labelled


def _of_line(element: HtmlElement, place: str, text: str) -> tuple[Field, str] | None:
    """The number whose label begins the text. It stands behind the label, or in the next element."""
    if not scan.may_be_label(text):
        return None
    for field, pattern in LABELS:
        match = pattern.match(text)
        if match is None:
            continue
        value = text[match.end() :]
        has_separator = _SEPARATOR.match(text, match.end()) is not None
        if not value.strip(" :：#№.") and place == "in" and len(element):
            value = visible_text(element[0], _LONGEST)
        elif not value.strip(" :：#№."):
            behind = element.getnext()
            value = visible_text(behind, _LONGEST) if behind is not None else ""
        number = _number_at_start(value) or ""
        return (field, number) if len(number) >= (4 if has_separator else 6) else None
    return None


def _labelled(element: HtmlElement) -> tuple[Field, str] | None:
    text = " ".join((element.text or "").split())
    for field, pattern in LABELS:
        match = pattern.match(text)
        if match and (value := _value(element, text[match.end() :])):
            return field, value
    return None


_COLONS = frozenset((":", "：", "-", "–"))


def _value(label: HtmlElement, text_after: str) -> str | None:
    """The number behind a label: in the same text, in the first child, behind the element, in the next element."""
    if alone := text_after.strip(" :#№.-–—："):
        return alone if _is_of_words(alone) else _number_at_start(text_after)
    cell = label.getparent()
    behind = label.getnext()
    if behind is not None and visible_text(behind, 3) in _COLONS:
        # `<span>Code</span><span>: </span><span>…`
        behind = behind.getnext()
    if behind is None and not (label.tail or "").strip() and cell is not None and cell.tag in ("th", "td", "dt"):
        # `<th><span>Code</span></th><td>…`: the label is all that its cell holds.
        behind = cell.getnext()
    places = [
        visible_text(label[0], 40) if len(label) else None,
        label.tail,
        visible_text(behind, 40) if behind is not None else None,
    ]
    for text in places:
        if text and text.strip(" \t\r\n\u00a0:：#-–"):
            return text.strip() if _is_of_words(text.strip()) else _number_at_start(text.strip())
    return None


def _is_of_words(text: str) -> bool:
    return _WORDS.fullmatch(text) is not None or OF_WORDS.fullmatch(text) is not None


def _number_at_start(text: str) -> str | None:
    match = _NUMBER_BEHIND.match(text)
    return match.group(1).rstrip(".-/") if match else None


_IN_SCRIPT = re.compile(rb'"sku"\s*:\s*"([\w./-]{3,30})"')


def _of_scripts(page: Context) -> str | None:
    """The only `sku` that the page's source names; None if it names several."""
    in_scripts = set(_IN_SCRIPT.findall(page.content))
    return in_scripts.pop().decode("utf-8", "replace") if len(in_scripts) == 1 else None


_LAST_NUMBER = re.compile(r"(?:^|[^A-Za-z0-9])([A-Z]?\d{5,16})(?:\.\w{1,5})?/?$", re.IGNORECASE)


def _of_address(page: Context) -> str | None:
    """The number that ends the address' path (`/cardigan-12185160.html`)."""
    match = _LAST_NUMBER.search(unquote(parts_of(page.url).path))
    return match.group(1) if match else None


#: Names of the query parameters that carry the goods' number.
_QUERY = re.compile(
    r"[?&](?:\w*(?:goods|item|products?|prod|prd|brand|article|artikel|sku)_?(?:no|nr|code|id|num|number|uid)?|pid|asin|i_?code|id)"
    r"=(?=[^&]*\d)([A-Za-z0-9][\w-]{3,20})(?=&|$)",
    re.IGNORECASE,
)
#: An address that names goods by their ASIN.
_ASIN = re.compile(r"/(?:dp|gp/product)/([A-Z0-9]{10})(?=/|$)")
_IN_PATH = re.compile(r"(?<=/)(?:[A-Za-z]{3}-|[A-Za-z]{0,3})\d{5,18}[A-Z]?(?=[-_./]|$)(?![-_]?[mg]b\b)", re.IGNORECASE)
#: `/tornavida-seti-p-HBCV00001XYZ12`: capitals in an address are not words of a title.
_LAST_CODE = re.compile(r"[/-]((?=[A-Z\d]{8,20}/?$)[A-Z]{2,}\d{5,}[A-Z\d]*)/?$")


def _in_address(page: Context) -> str | None:
    """The number that the address gives as the goods' (`?goodscode=312`), or the only one that begins a part of its path.

    `/p/1203456-geforce` has a number of the second kind.
    """
    parts = parts_of(page.url)
    if match := _QUERY.search(f"?{unquote(parts.query)}"):
        return match.group(1)
    path = unquote(parts.path)
    if match := _ASIN.search(path):
        return match.group(1)
    numbers: set[str] = set(_IN_PATH.findall(path))
    if len(numbers) == 1:
        return numbers.pop()
    last = _LAST_CODE.search(path)
    return last.group(1) if last else None


def valid_gtin(text: str) -> str | None:
    """The GTIN of 8, 12, 13 or 14 digits without separators; None if the check digit is wrong.

    The check digit follows the GS1 General Specifications, section 7.9.
    """
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"\d{8}|\d{12,14}", digits) or not digits.isascii() or set(digits) == {"0"}:
        return None
    weighted = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits[:-1])))
    return digits if (10 - weighted % 10) % 10 == int(digits[-1]) else None
