"""Parser of answers of eBay's item search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Condition, Issue, Link, ListingTotal, Offer, Parsed
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.source import Page

#: What eBay's condition ids mean here; 7000 is for parts or not working.
CONDITIONS: Mapping[str, Condition] = {
    "1000": "new", "1500": "open_box", "1750": "open_box", "2000": "refurbished", "2010": "refurbished",
    "2020": "refurbished", "2030": "refurbished", "2500": "refurbished", "2750": "used", "3000": "used", "4000": "used",
    "5000": "used", "6000": "used",
}  # fmt: skip
#: Items of one search that can be had.
MOST = 10_000


def parse(page: Page) -> Iterator[Parsed]:
    """Offers of one page of a search; from the first page, links to all others. Raises LayoutChanged."""
    try:
        answer = json.loads(page.content, parse_float=json_number)
        total, rows = int(answer["total"]), answer.get("itemSummaries", [])
        offset, limit = int(answer.get("offset", 0)), int(answer.get("limit", 200))
        if not isinstance(rows, list) or limit < 1:
            raise ValueError("itemSummaries is no list")
    except (ValueError, KeyError, TypeError) as error:
        raise LayoutChanged(page.url, f"no answer of eBay's item search: {type(error).__name__} {error}") from error
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
        # All at once, and not one after the other: a page that fails then costs its own items and no others.
        yield from (Link(url=_at(page.url, start), role="next_page") for start in range(limit, min(total, MOST), limit))
        if total > MOST:
            message = f"the search has {total} items, of which eBay gives {MOST}: narrow it, by price or condition"
            yield Issue(code="search_too_wide", message=message, url=page.url)


def _offer(row: Mapping[str, Any]) -> Offer | None:
    """The offer of one item; None for what is for parts, or an auction, of which nobody knows the price."""
    condition_id = str(row.get("conditionId", ""))
    if condition_id == "7000" or "FIXED_PRICE" not in row.get("buyingOptions", ["FIXED_PRICE"]):
        return None
    price = row["price"]
    was = row.get("marketingPrice", {}).get("originalPrice", {})
    same = was.get("currency") == price["currency"]
    shipping = next(
        (one["shippingCost"] for one in row.get("shippingOptions", []) if "shippingCost" in one), None
    )  # fmt: skip
    same_money = shipping is not None and shipping.get("currency") == price["currency"]
    return Offer(
        title=row["title"],
        url=_bare(row.get("itemWebUrl") or f"https://www.ebay.com/itm/{row['itemId']}"),
        key=str(row["itemId"]),
        price=_amount(price["value"]),
        currency=price["currency"],
        price_kind="now",
        price_text=f"{price['value']} {price['currency']}",
        list_price=_amount(was["value"]) if same else None,
        # What the search gives can be bought; how many there are is told on the item's own page alone.
        availability="in_stock",
        condition=CONDITIONS.get(condition_id, "unknown"),
        seller=row.get("seller", {}).get("username"),
        seller_kind="marketplace",
        sku=row.get("legacyItemId"),
        gtin=row.get("gtin"),
        mpn=row.get("mpn"),
        brand=row.get("brand"),
        shipping=_amount(shipping["value"]) if shipping is not None and same_money else None,
    )


def _amount(value: object) -> Decimal:
    """An amount, which eBay writes as text. Raises ValueError."""
    amount = json_number(str(value))
    if amount is None:
        raise ValueError(f"{str(value)[:40]!r} is no amount")
    return amount


def _bare(url: str) -> str:
    """The item's address without the parameters that follow a visitor."""
    return url.partition("?")[0]


def _at(url: str, offset: int) -> str:
    """The search from another item on."""
    parts = urlsplit(url)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "offset"]
    return urlunsplit(parts._replace(query=urlencode([*kept, ("offset", str(offset))], quote_via=quote)))
