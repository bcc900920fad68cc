"""Reader of one product of Best Buy's official Products API, in the API's answers and in saved ones.

`salePrice` is the price that a buyer pays now, `regularPrice` the price without the sale. `onlineAvailability` is true for a
pre-order too; only `orderable` distinguishes a pre-order. `marketplace` is true for a card that another seller sells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from gpuledger.extract import words
from gpuledger.extract.items import Availability, Condition, Issue, Parsed, SellerKind
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, absolute
from gpuledger.extract.source import Page

HOMEPAGE = "https://www.bestbuy.com/"
LOCALE = Locale("US", "en", "USD")
#: The kind of seller, by whether the offer is on the marketplace.
SELLERS: Mapping[bool, SellerKind] = {True: "marketplace", False: "first_party"}
_ORDERABLE: Mapping[str, Availability] = {
    "Available": "in_stock",
    "PreOrder": "preorder",
    "ComingSoon": "preorder",
    "SoldOut": "out_of_stock",
    "NotOrderable": "out_of_stock",
}


def offers(page: Page, rows: Sequence[Mapping[str, Any]], url: str | None = None) -> Iterator[Parsed]:
    """Yield the offers of products, and for each row that is not a product an Issue, which names the address `url`."""
    for position, row in enumerate(rows):
        try:
            yield from _offer(page, row)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            message, text = f"the API's product cannot be read: {error}", json.dumps(row, default=str)[:200]
            yield Issue(code="bad_card", message=message, where=f"products[{position}]", text=text, url=url)


def _offer(page: Page, row: Mapping[str, Any]) -> Iterator[Parsed]:
    """Yield the offer of one product. Raises ValueError, TypeError, AttributeError or KeyError if `row` is not a product."""
    sku = str(row["sku"])
    online = row.get("onlineAvailability")
    online_status: Availability = "unknown" if online is None else "in_stock" if online else "out_of_stock"
    yield from listing.offer(
        page,
        LOCALE,
        listing.Card(
            title=row["name"],
            url=absolute(HOMEPAGE, (row.get("url") or f"/site/{sku}.p").partition("?")[0]),
            key=sku,
            machine_price=_number(row.get("salePrice")),
            list_text=f"${row['regularPrice']}" if row.get("regularPrice") else "",
            price_kind="bundle" if row.get("type") == "Bundle" else "now",
        ),
        availability=_ORDERABLE.get(str(row.get("orderable")), online_status),
        condition=_condition(row),
        seller_kind=SELLERS[bool(row.get("marketplace"))],
        sku=sku,
        mpn=row.get("modelNumber"),
        gtin=row.get("upc"),
        brand=row.get("manufacturer"),
    )


def _number(value: object) -> str:
    return format(Decimal(value), "f") if isinstance(value, Decimal | int) else str(value or "")


def _condition(row: Mapping[str, Any]) -> Condition | None:
    stated = str(row.get("condition") or "")
    return words.condition(stated) or ("used" if row.get("preowned") else "new" if stated.lower() == "new" else None)
