"""Parser of product feeds, whose form `readers.feeds` reads.

A shop's feed holds all its goods. The parser counts the entries whose title and category speak of no graphics card, and
leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract import words
from gpuledger.extract.fetch import addresses
from gpuledger.extract.markup import schema_org
from gpuledger.extract.markup.links import joined
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.amounts import to_decimal
from gpuledger.extract.price.no_price import is_stated_mark
from gpuledger.extract.product.numbers import valid_gtin
from gpuledger.extract.readers import feeds
from gpuledger.extract.source import Page
from gpuledger.items import Availability, Issue, Offer, Parsed

#: An amount with its currency, as Google requires it (`15.00 USD`). Some shops write the currency first.
_MONEY = re.compile(r"\s*(?:([A-Z]{3})\s*)?([\d.,]{1,18})(?:\s*([A-Z]{3}))?\s*", re.IGNORECASE)
#: The most entries that get an issue of their own because they cannot be read. One more issue counts all of them.
_MOST_ISSUES = 20


class Price(NamedTuple):
    """An amount with its currency."""

    amount: Decimal
    currency: str


def parse(page: Page) -> Iterator[Parsed]:
    """Yield an Offer for each graphics card of the feed and an Issue for an entry that cannot be read.

    Raises the errors of `feeds.rows`.
    """
    read = left_out = bad = 0
    for place, row in feeds.rows(page):
        if row and not words.speaks_of_card(f"{row.get('title', '')} {row.get('category', '')}"):
            left_out += 1
            continue
        try:
            offer = _offer(page, row)
        except ValueError as error:
            bad += 1
            if bad <= _MOST_ISSUES:
                yield Issue(code="bad_entry", message=str(error), where=place, text=str(row)[:200], url=page.url)
            continue
        read += 1
        yield offer
    if bad > _MOST_ISSUES:
        yield Issue(
            code="bad_entries",
            message=f"{bad} entries cannot be read; the first {_MOST_ISSUES} are named",
            url=page.url,
        )
    if left_out:
        message = f"{left_out} of {left_out + read + bad} entries speak of no graphics card"
        # If the feed gave no offer at all, a person has to know why.
        yield Issue(code="not_a_card", message=message, severity="info" if read else "warning", url=page.url)


def _offer(page: Page, row: dict[str, str]) -> Offer:
    """Return one entry as an Offer.

    Raises ValueError, saying what is wrong, if the entry cannot be read without guessing.
    """
    if not row:
        raise ValueError("the line has more or fewer fields than the header")
    if missing := [name for name in ("id", "title") if name not in row]:
        raise ValueError(f"the entry has no {' and no '.join(missing)}")
    price, sale = (_price(row.get(name), row.get("currency")) for name in ("price", "sale_price"))
    old = _price(row.get("list_price"), row.get("currency")) if "list_price" in row else None
    if sale and price and sale.currency != price.currency:
        raise ValueError(f"the price is in {price.currency} and the sale price in {sale.currency}")
    if (
        sale
        and (price is None or sale.amount < price.amount)
        and _is_on(row.get("sale_price_effective_date"), page.fetched_at)
    ):
        price, old, text = sale, price, row["sale_price"]
    else:
        text = row.get("price", "")
    title = row["title"]
    is_bundle = words.is_bundle(title) or row.get("is_bundle", "").lower() in ("yes", "true")
    if row.get("multipack", "0") not in ("", "0", "1"):
        is_bundle = True
    is_higher = price and old and old.currency == price.currency and old.amount > price.amount
    url = joined(page.final_url, row.get("link", "")) or page.url
    return Offer(
        title=title,
        url=url,
        # Two shops may use the same number for different goods.
        key=f"{addresses.shop_of(url)}/{row['id']}",
        price=price.amount if price else None,
        currency=price.currency if price else None,
        price_kind=None if price is None else "bundle" if is_bundle else "now",
        price_text=text or None,
        list_price=old.amount if old and is_higher else None,
        availability=_availability(row),
        # Google takes goods without a stated condition for new ones.
        condition=words.condition(title) or schema_org.condition(row.get("condition")) or "new",
        sku=row["id"],
        mpn=row.get("mpn"),
        gtin=valid_gtin(row["gtin"]) if "gtin" in row else None,
        brand=row.get("brand"),
    )


def _price(text: str | None, currency: str | None) -> Price | None:
    """Return the amount of a text such as `1299.00 USD`; None for 0 and a placeholder.

    Raises ValueError for any other text.
    """
    if text is None:
        return None
    match = _MONEY.fullmatch(text)
    amount = to_decimal(match.group(2)) if match else None
    if match is None or amount is None:
        raise ValueError(f"the price {text!r} is no plain amount with a currency")
    codes = {code.upper() for code in (match.group(1), match.group(3)) if code} or {(currency or "").strip().upper()}
    code = codes.pop()
    if codes or not currencies.is_code(code):
        raise ValueError(f"the price {text!r} has no currency")
    return None if not amount or is_stated_mark(amount, code) else Price(amount, code)


def _is_on(interval: str | None, now: datetime) -> bool:
    """Return whether a sale with an interval such as `2024-02-24T11:07+0100/2024-02-29T23:07+0100` is on now.

    A sale without an interval is on.
    """
    if not interval:
        return True
    try:
        first, last = (datetime.fromisoformat(text.strip()) for text in interval.split("/"))
    except ValueError:
        return False
    zone = now.tzinfo
    first, last = (time if time.tzinfo else time.replace(tzinfo=zone) for time in (first, last))
    return first <= now <= last


def _availability(row: dict[str, str]) -> Availability:
    if row.get("pre_order", "").lower() in ("1", "yes", "true"):
        return "preorder"
    return schema_org.availability(row.get("availability")) or "unknown"
