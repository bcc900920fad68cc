"""Parser of vendor quotes: it matches the columns of a table by their names.

A row that cannot be read for sure goes back to the person with a reason, and nothing is guessed: an amount that can mean two
things, a price without a currency, a condition that is not known. `rejects_csv` writes those rows to a file that a person
can mend and drop again. Prices are taken as printed. The vendor says whether they include tax, in a column of its own or in
the name of the price column.
"""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract import words
from gpuledger.extract.source import Page
from gpuledger.extract.sources.quotes import columns as quote_columns
from gpuledger.extract.sources.quotes.cells import (
    Unreadable,
    cell_text,
    check_unit,
    read_amount,
    read_condition,
    read_currency,
    read_date,
    read_market,
    read_quantity,
    read_shipping,
    read_tax,
)
from gpuledger.extract.sources.quotes.sheets import Cell, Table, tables
from gpuledger.items import Availability, Issue, Offer, Parsed

#: A vendor may write name, address and date above the table, so the header is one of the first 30 rows.
_HEADER_WITHIN = 30


class Rejected(NamedTuple):
    """A row that is not an offer. `row` counts from 1 as a spreadsheet does. `cells` are pairs of column name and text."""

    sheet: str
    row: int
    reason: str
    cells: tuple[tuple[str, str], ...]

    @property
    def where(self) -> str:
        """`sheet Quotation, row 8`, or `row 8` of a CSV."""
        return f"sheet {self.sheet}, row {self.row}" if self.sheet else f"row {self.row}"


def read_quotes(page: Page) -> tuple[list[Offer], list[Rejected]]:
    """Return the file's offers, and its rows that are not offers, each with its reason.

    Raises LayoutChanged if the file is neither CSV nor XLSX, or if no sheet has a column for the product and one for the
    price. Raises TooLarge if the file exceeds a bound.
    """
    rows: list[tuple[Offer, Rejected]] = []
    rejected: list[Rejected] = []
    sheets = [table for table in tables(page.content, page.url) if table.rows]
    names = [sheet.name for sheet in sheets]
    if all(_header(sheet) is None for sheet in sheets):
        seen = f"no sheet has a column for the product and one for the price of a piece{_hint(sheets)}"
        action = "name its columns: product, price, currency, tax, condition, quantity, vendor …"
        raise LayoutChanged(page.url, seen, action)
    for sheet in sheets:
        start = _header(sheet)
        if start is None:
            number, cells = sheet.rows[0]
            reason = "the sheet has no column for the product and the price: it was not read"
            rejected.append(Rejected(sheet.name, number, reason, _cells_by_name([], cells)))
            continue
        headers = [cell_text(cell) for cell in sheet.rows[start][1]]
        if not sheet.rows[start + 1 :]:
            number, cells = sheet.rows[start]
            reason = "there is no row below the names of the columns"
            rejected.append(Rejected(sheet.name, number, reason, _cells_by_name([], cells)))
        for number, cells in sheet.rows[start + 1 :]:
            row = Rejected(sheet.name, number, "", _cells_by_name(headers, cells))
            try:
                rows.append((_offer(page, headers, cells), row))
            except ValueError as error:
                rejected.append(row._replace(reason=str(error)))
    offers, contradicted = merge_offers(rows)
    return offers, sorted(rejected + contradicted, key=lambda row: (names.index(row.sheet), row.row))


def cell_of(content: bytes, name: str, title: str, price: str) -> tuple[str, str, str] | None:
    """The sheet, the cell (`D6`) and the row, as text, of the price of a product in the file, or None.

    `title` and `price` are as printed. Raises as `read_quotes` does.
    """
    from openpyxl.utils import get_column_letter

    for sheet in tables(content, name):
        start = _header(sheet)
        if start is None:
            continue
        columns = quote_columns.fields([cell_text(cell) for cell in sheet.rows[start][1]])
        for number, cells in sheet.rows[start + 1 :]:
            texts = [cell_text(cell).strip() for cell in cells]
            at = next((at for at in columns["price"] if at < len(texts) and texts[at] == price.strip()), None)
            if at is not None and title in texts:
                return sheet.name, f"{get_column_letter(at + 1)}{number}", ", ".join(filter(None, texts))
    return None


def unread_columns(page: Page) -> list[str]:
    """The names of the columns of which nothing is read."""
    found = [(sheet, start) for sheet in tables(page.content, page.url) if (start := _header(sheet)) is not None]
    names = [cell_text(cell) for sheet, start in found for cell in sheet.rows[start][1]]
    return [name for name in dict.fromkeys(names) if name and quote_columns.field_of(name) is None]


def merge_offers(rows: Sequence[tuple[Offer, Rejected]]) -> tuple[list[Offer], list[Rejected]]:
    """Return one offer for each vendor, product, condition and quantity, and the rows that repeat or contradict others."""
    groups: dict[tuple[str, int | None], list[tuple[Offer, Rejected]]] = {}
    for offer, row in rows:
        groups.setdefault((offer.key, offer.least_quantity or offer.quantity), []).append((offer, row))
    clear: list[Offer] = []
    rejected: list[Rejected] = []
    for group in groups.values():
        prices = sorted({f"{offer.price} {offer.currency}" for offer, _ in group})
        if len(prices) > 1:
            reason = f"the file has {len(prices)} prices for this product, condition and quantity: {', '.join(prices)}"
            rejected += [row._replace(reason=reason) for _, row in group]
            continue
        rejected += [row._replace(reason="the row repeats another one") for _, row in group[1:]]
        clear.append(group[0][0])
    offers: dict[str, Offer] = {}
    for offer in _in_steps(clear):
        # A price for a larger quantity is a listing of its own. Otherwise the key leaves the quantity out, since stock
        # changes.
        own = offer.key if offer.key not in offers else f"{offer.key} | {offer.least_quantity or offer.quantity}"
        offers[own] = dataclasses.replace(offer, key=own)
    return list(offers.values()), rejected


def _in_steps(offers: Sequence[Offer]) -> Iterator[Offer]:
    """The offers, those of a product that costs the less the more are taken each from its number of pieces on."""
    priced: dict[str, dict[int, Decimal]] = {}
    for offer in offers:
        if offer.quantity and offer.price:
            priced.setdefault(offer.key, {})[offer.quantity] = offer.price
    falling = {key: [prices[pieces] for pieces in sorted(prices)] for key, prices in priced.items() if len(prices) > 1}
    for offer in offers:
        prices = falling.get(offer.key)
        if offer.quantity and prices and prices == sorted(set(prices), reverse=True):
            least = offer.quantity if offer.price != prices[0] else None
            yield dataclasses.replace(offer, least_quantity=least, quantity=None)
        else:
            yield offer


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the file's offers, and an Issue for each row that is not an offer."""
    offers, rejected = read_quotes(page)
    yield from offers
    for row in rejected:
        text = ", ".join(f"{name}: {value}" for name, value in row.cells if value)[:300]
        yield Issue(code="quote_rejected", message=row.reason, where=row.where, text=text, url=page.url)


def give_back(page: Page, target: Path) -> bool:
    """Write the rows that are not offers to `target`, with their reasons.

    If every row is an offer, write nothing and return False.
    """
    rejected = read_quotes(page)[1]
    if rejected:
        target.parent.mkdir(exist_ok=True)
        rejects_csv(rejected, target)
    return bool(rejected)


def rejects_csv(rejected: Sequence[Rejected], target: Path) -> None:
    """Write the rows to `target`, as UTF-8 with Excel's mark. The file's own columns follow the reason.

    A spreadsheet cannot run any cell of the file as a formula.
    """
    columns = list(dict.fromkeys(name for row in rejected for name, _ in row.cells))
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sheet", "row", "reason", *map(_harmless, columns)])
        for row in rejected:
            cells = dict(row.cells)
            texts = (row.sheet, str(row.row), row.reason, *(cells.get(name, "") for name in columns))
            writer.writerow(map(_harmless, texts))


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _header(sheet: Table) -> int | None:
    """Return the position of the first row that names a product and a price column, or None."""
    for position, (_, cells) in enumerate(sheet.rows[:_HEADER_WITHIN]):
        if {"product", "price"} <= quote_columns.fields([cell_text(cell) for cell in cells]).keys():
            return position
    return None


def _hint(sheets: Sequence[Table]) -> str:
    names = [cell_text(cell) for sheet in sheets for _, cells in sheet.rows[:1] for cell in cells if cell is not None]
    totals = [name for name in names if "".join(name.lower().split()) in quote_columns.TOTALS]
    about_totals = f" ({', '.join(totals)} is a sum, not the price of a piece)" if totals else ""
    return f"; the first row says {', '.join(names)[:120]!r}{about_totals}" if names else "; the file is empty"


def _offer(page: Page, headers: list[str], cells: list[Cell]) -> Offer:
    fields = quote_columns.fields(headers)

    def cell(field: str) -> Cell:
        filled = [cells[at] for at in fields.get(field, []) if at < len(cells) and cells[at] not in (None, "")]
        if field == "price" and len(filled) > 1:
            raise Unreadable(f"the row has {len(filled)} prices: {', '.join(map(cell_text, filled))}")
        if field == "product":  # a column of article numbers may stand before the column of articles
            filled = [value for value in filled if any(map(str.isalpha, cell_text(value)))] or filled
        return filled[0] if filled else None

    title = cell_text(cell("product")).strip()
    if not title:
        raise Unreadable("there is no product")
    if quote_columns.is_no_product(title):
        raise Unreadable(f"{title!r} is a sum, a tax or a charge, and no product")
    check_unit(cell("unit"))
    amount = cell("price")
    column = next(
        (headers[at] for at in fields["price"] if at < len(cells) and cells[at] is amount), headers[fields["price"][0]]
    )
    stated, of_column = read_currency(cell("currency")), quote_columns.stated_currency(column)
    if stated and of_column and stated != of_column:
        raise Unreadable(f"the currency is {stated} in its column and {of_column} in the name of the price column")
    money = read_amount(amount, stated or of_column)
    was = cell("list_price")
    times = quote_columns.scale(column)
    list_price = None
    if was is not None:
        list_price = read_amount(was, money.currency).amount * quote_columns.scale(headers[fields["list_price"][0]])
    # A file without a column for the condition quotes new goods. An empty cell in such a column leaves the condition
    # unknown.
    condition = read_condition(cell("condition"), title, otherwise="unknown" if "condition" in fields else "new")
    taxed, (least, pieces) = read_tax(cell("tax")), read_quantity(cell("quantity"))
    if (moq := read_quantity(cell("least_quantity"))) != (None, None):
        least = moq[0] or moq[1]
    stock = cell_text(cell("availability")).strip()
    delivery = _delivery(cell_text(cell("delivery")).strip(), headers, fields)
    if stock.isdecimal():
        stock, pieces = "", int(stock) if pieces is None else pieces
    vendor, sku, mpn = (cell_text(cell(field)).strip() or None for field in ("vendor", "sku", "mpn"))
    return Offer(
        title=title,
        url=cell_text(cell("url")).strip() or page.final_url or page.url,
        key=" | ".join((vendor or "-", sku or mpn or title, condition)),
        price=money.amount * times,
        currency=money.currency,
        price_kind="bundle" if words.is_bundle(title) else "now",
        price_text=cell_text(amount),
        list_price=list_price,
        availability=_availability(f"{stock}; {delivery}", pieces),
        condition=condition,
        seller=vendor,
        seller_kind="quote",
        sku=sku,
        mpn=mpn,
        gtin=cell_text(cell("gtin")).strip() or None,
        brand=cell_text(cell("brand")).strip() or None,
        specs=_specs_text(cell_text(cell("specs")), cell_text(cell("memory")), headers, fields) or None,
        quantity=pieces,
        least_quantity=least,
        valid_until=read_date(cell("valid_until")),
        delivery=delivery or (None if words.availability(stock) else stock) or None,
        market=read_market(cell("market")),
        tax_included=words.tax_included(column) if taxed is None else taxed,
        shipping=read_shipping(cell("shipping"), money.currency),
    )


def _availability(text: str, pieces: int | None) -> Availability:
    """Return `quoted`, unless the file says that the product is not available now, or that there are no pieces."""
    stated = "out_of_stock" if pieces == 0 else words.availability(text)
    return stated if stated in ("out_of_stock", "preorder") else "quoted"


def _delivery(text: str, headers: list[str], fields: dict[str, list[int]]) -> str:
    """When it is delivered: `4-6 weeks`, and of `Lead time (weeks)` a mere `4` too."""
    unit = re.search(r"[(\[]([^\W\d]+)[)\]]", headers[fields["delivery"][0]]) if text else None
    return f"{text} {unit[1]}" if unit and not any(map(str.isalpha, text)) else text


def _specs_text(specs: str, memory: str, headers: list[str], fields: dict[str, list[int]]) -> str:
    if memory.isdecimal():
        header = headers[fields["memory"][0]].lower()
        memory += "GB" if "gb" in header or "기가" in header else ""
    return " / ".join(part.strip() for part in (specs, memory and f"memory {memory}") if part.strip())


def _cells_by_name(headers: list[str], cells: list[Cell]) -> tuple[tuple[str, str], ...]:
    """Return column names with the cells' texts. A repeated name gets a number in brackets, which `field_of` ignores."""
    names: list[str] = []
    for at in range(len(cells)):
        name = headers[at] if at < len(headers) and headers[at] else f"column {at + 1}"
        names.append(f"{name} ({at + 1})" if name in names else name)
    return tuple(zip(names, map(cell_text, cells), strict=True))
