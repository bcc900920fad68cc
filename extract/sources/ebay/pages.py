"""Parser of answers of eBay's item search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from gpuledger.extract import source
from gpuledger.extract.markup.links import with_parameter
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Issue, Link, ListingTotal, Offer, Parsed

#: The condition for each of eBay's condition ids. 7000 is an item for parts or not working.
CONDITIONS: Mapping[str, Condition] = {
    "1000": "new", "1500": "open_box", "1750": "open_box", "2000": "refurbished", "2010": "refurbished",
    "2020": "refurbished", "2030": "refurbished", "2500": "refurbished", "2750": "used", "3000": "used", "4000": "used",
    "5000": "used", "6000": "used",
}  # fmt: skip
#: How many items of one search eBay gives.
MOST = 10_000


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of one page of a search, and from the first page links to all other pages. Raises LayoutChanged."""
    with answers.understood(page, "no answer of eBay's item search"):
        answer = json.loads(page.content, parse_float=json_number)
        total, rows = int(answer["total"]), answer.get("itemSummaries", [])
        offset, limit = int(answer.get("offset", 0)), int(answer.get("limit", 200))
        if not isinstance(rows, list) or limit < 1:
            raise ValueError("itemSummaries is no list")
    yield ListingTotal(count=total, text=f"total {total}")
    for position, row in enumerate(rows):
        try:
            offer = _offer(row)
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
            message = f"the item cannot be read: {type(error).__name__} {error}"
            text = json.dumps(row, default=str)[:200]
            yield Issue(code="bad_card", message=message, where=f"itemSummaries[{offset + position}]", text=text)
            continue
        if offer is not None:
            yield offer
    if offset == 0:
        # Link to all pages at once and not to the next one: a page that fails then costs only its own items.
        yield from (
            Link(url=with_parameter(page.url, "offset", start), role="next_page")
            for start in range(limit, min(total, MOST), limit)
        )
        if total > MOST:
            message = f"the search has {total} items, of which eBay gives {MOST}: narrow it, by price or condition"
            yield Issue(code="search_too_wide", message=message, url=page.url)


def _offer(row: Mapping[str, Any]) -> Offer | None:
    """Return the offer of one item; None for an item for parts, and for an auction, whose price nobody knows yet."""
    condition_id = str(row.get("conditionId", ""))
    if condition_id == "7000" or "FIXED_PRICE" not in row.get("buyingOptions", ["FIXED_PRICE"]):
        return None
    price = row["price"]
    was = row.get("marketingPrice", {}).get("originalPrice", {})
    is_same_currency = was.get("currency") == price["currency"]
    shipping = next(
        (option["shippingCost"] for option in row.get("shippingOptions", []) if "shippingCost" in option), None
    )  # fmt: skip
    is_in_price_currency = shipping is not None and shipping.get("currency") == price["currency"]
    return Offer(
        title=row["title"],
        # Without the parameters that track a visitor.
        url=(row.get("itemWebUrl") or f"https://www.ebay.com/itm/{row['itemId']}").partition("?")[0],
        key=str(row["itemId"]),
        price=_amount(price["value"]),
        currency=price["currency"],
        price_kind="now",
        price_text=f"{price['value']} {price['currency']}",
        list_price=_amount(was["value"]) if is_same_currency else None,
        # Every item of a search can be bought. Only the item's own page says how many there are.
        availability="in_stock" if source.priced_is_in_stock("ebay") else "unknown",
        condition=CONDITIONS.get(condition_id, "unknown"),
        seller=row.get("seller", {}).get("username"),
        seller_kind="marketplace",
        sku=row.get("legacyItemId"),
        gtin=row.get("gtin"),
        mpn=row.get("mpn"),
        brand=row.get("brand"),
        shipping=_amount(shipping["value"]) if shipping is not None and is_in_price_currency else None,
    )


def _amount(value: object) -> Decimal:
    """Return an amount, which eBay writes as text. Raises ValueError."""
    amount = json_number(str(value))
    if amount is None:
        raise ValueError(f"{str(value)[:40]!r} is no amount")
    return amount
