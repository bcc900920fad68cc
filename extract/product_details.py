"""Combines the offers of a listing page with those of the product pages behind it, which say more about each offer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from gpuledger.items import Item, Offer

#: Fields that are always taken from the listing, so that they are the same on nights when the product page is not read.
_OF_LISTING = frozenset(("key", "url", "title"))


def merged(listed: Sequence[tuple[Item, str]], followed: Sequence[tuple[Item, str]]) -> list[tuple[Item, str]]:
    """The rows of listings combined with those of product pages, each with the hash of the page that its price is from.

    If both pages have an offer, the product page's values count, and the listing fills the fields that the product page
    leaves open. If only the listing has a price, the listing's values count, and the product page fills its open fields
    and says whether it is in stock.
    """
    pages = {item.key: (item, sha256) for item, sha256 in followed if isinstance(item, Offer)}
    by_address = {item.url: item.key for item, _ in followed if isinstance(item, Offer)}
    rows: list[tuple[Item, str]] = []
    used: set[str] = set()
    for item, sha256 in listed:
        key = item.key if isinstance(item, Offer) and item.key in pages else by_address.get(getattr(item, "url", ""))
        if isinstance(item, Offer) and key is not None:
            used.add(key)
            page, page_sha256 = pages[key]
            if page.price is None and item.price is not None:
                told = (
                    item
                    if page.availability == "unknown"
                    else dataclasses.replace(item, availability=page.availability)
                )
                rows.append((_filled(told, page), sha256))
            else:
                rows.append(
                    (
                        _filled(dataclasses.replace(page, key=item.key, url=item.url, title=item.title), item),
                        page_sha256,
                    )
                )
        else:
            rows.append((item, sha256))
    rows += [row for row in followed if not (isinstance(row[0], Offer) and row[0].key in used)]
    return rows


def _filled(offer: Offer, second: Offer) -> Offer:
    """The offer with its open fields filled from another offer of the same goods. All fields of a price come together."""
    changes = {
        name: value
        for name in _OPEN
        if getattr(offer, name) in (None, "unknown") and (value := getattr(second, name)) not in (None, "unknown")
    }
    if offer.price is None and second.price is not None:
        changes |= {name: getattr(second, name) for name in _MONEY}
    return dataclasses.replace(offer, **changes)


_MONEY = ("price", "currency", "price_kind", "price_text", "list_price")
_OPEN = tuple(
    field.name for field in dataclasses.fields(Offer) if field.name not in _OF_LISTING and field.name not in _MONEY
)
