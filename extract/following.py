"""Product pages behind a listing: what they say of an offer that the listing has told less of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from gpuledger.extract.items import Item, Offer

#: These stay the listing's, so that they are the same on nights on which the product page is not read.
_OF_LISTING = frozenset(("key", "url", "title"))


def merged(listed: Sequence[tuple[Item, str]], followed: Sequence[tuple[Item, str]]) -> list[tuple[Item, str]]:
    """The rows of listings with those of product pages put in, each with the hash of the page that its price is from.

    An offer that both have is the product page's, with what that page leaves open taken from the listing; where only the
    listing has a price, the row stays the listing's and takes what else the product page knows.
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
                rows.append((_filled(item, page), sha256))
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


def _filled(offer: Offer, other: Offer) -> Offer:
    """The offer with what it leaves open taken from another reading of the same goods; a price only as a whole."""
    changes = {
        name: value
        for name in _OPEN
        if getattr(offer, name) in (None, "unknown") and (value := getattr(other, name)) not in (None, "unknown")
    }
    if offer.price is None and other.price is not None:
        changes |= {name: getattr(other, name) for name in _MONEY}
    return dataclasses.replace(offer, **changes)


_MONEY = ("price", "currency", "price_kind", "price_text", "list_price")
_OPEN = tuple(
    field.name for field in dataclasses.fields(Offer) if field.name not in _OF_LISTING and field.name not in _MONEY
)
