"""The market of an offer: the country or region whose shoppers it is made for, in small letters (`us`, `kr`, `de`, `eu`).

It follows from what is printed: the shop's own country, else the country of its address, else the one country that uses the
currency of the price. Euros of an address without a country are `eu`. Where none of them says, there is none.
"""

from __future__ import annotations

import dataclasses
from urllib.parse import urlsplit

from gpuledger.extract import wording
from gpuledger.extract.items import Channel, Offer, Parsed

#: Endings of addresses that are countries' on paper and sold to everybody.
_SOLD_TO_ALL = frozenset(("ai", "cc", "co", "fm", "gg", "io", "ly", "me", "sh", "so", "to", "tv", "ws"))


def with_market(item: Parsed, country: str | None) -> Parsed:
    """The item; an offer without a market with the one of its shop (`country`, ISO 3166), its address or its currency.

    What the printed price says of tax is noted with it, and the way to the buyer that title, seller and condition tell.
    """
    if not isinstance(item, Offer):
        return item
    market = item.market or (country or "").lower() or _of_address(item.url) or _of_currency(item.currency)
    taxed = _taxed(item) if item.tax_included is None else item.tax_included
    return dataclasses.replace(item, market=market, tax_included=taxed, channel=item.channel or _channel(item))


def _taxed(offer: Offer) -> bool | None:
    """What the printed price says of tax; of several amounts in it, of the one that is asked."""
    text = offer.price_text or ""
    said = wording.tax_included(text)
    if said is None or offer.price is None:
        return said
    from gpuledger.extract.price import vat

    return vat.included(text, offer.price)


def _channel(offer: Offer) -> Channel:
    if wording.is_grey_import(offer.title):
        return "grey_import"
    if offer.seller_kind == "marketplace":
        return "marketplace"
    return "refurbished" if offer.condition == "refurbished" else "official"


def _of_address(url: str) -> str | None:
    ending = (urlsplit(url).hostname or "").rpartition(".")[2]
    if len(ending) != 2 or ending in _SOLD_TO_ALL:
        return None
    return "gb" if ending == "uk" else ending


def _of_currency(code: str | None) -> str | None:
    if code == "EUR":
        return "eu"
    # Imported here: `status` needs the names of the sources, and not the countries of currencies.
    from gpuledger.extract.price import currency

    home = currency.home(code)
    return home.lower() if home else None
