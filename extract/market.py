"""The market of an offer: the country or region whose shoppers it is for, in lower case (`us`, `kr`, `de`, `eu`).

It is the shop's own country, or else the country that its page or its address names, or else the only country that uses the
currency of the price. A price in euros without a country has the market `eu`. Otherwise the offer has no market.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from gpuledger.errors import LayoutChanged
from gpuledger.extract import words
from gpuledger.extract.fetch import addresses
from gpuledger.extract.markup.links import parts_of
from gpuledger.items import Channel, Issue, Offer, Parsed

#: Top-level domains that formally belong to a country but are sold to everybody.
_SOLD_TO_ALL = frozenset(
    ("ai", "cc", "co", "fm", "gg", "gl", "io", "la", "ly", "me", "sh", "so", "st", "su", "to", "tv", "vc", "ws")
)
#: Below these second levels, a domain that is sold to everybody means its country after all: `shop.com.co`.
_SECOND_LEVELS = frozenset(("com", "net", "org", "gov", "edu"))
_DOMAIN_COUNTRY = {
    "uk": "GB", "рф": "RU", "xn--p1ai": "RU", "укр": "UA", "xn--j1amh": "UA", "бел": "BY", "xn--90ais": "BY",
}  # fmt: skip


def with_market(item: Parsed, country: str | None) -> Parsed:
    """The item. An offer without a market gets the market of its shop (`country`, ISO 3166), address or currency.

    An offer also gets `tax_included` from its printed price, and `channel` from its title, seller and condition.
    """
    if not isinstance(item, Offer):
        return item
    country = country or country_of_domain(item.url)
    market = item.market or (country or "").lower() or _of_currency(item.currency)
    taxed = _taxed(item) if item.tax_included is None else item.tax_included
    return dataclasses.replace(item, market=market, tax_included=taxed, channel=item.channel or _channel(item))


def country_told(url: str) -> str | None:
    """The shop's country (ISO 3166) that the settings say behind an address: `https://shop.example/feed.csv#country=de`.

    Raises LayoutChanged if it is none.
    """
    code = addresses.said_behind(url).get("country", "").upper()
    if not code:
        return None
    from gpuledger.extract.price import currency

    if not currency.is_country(code):
        raise LayoutChanged(url, f"the address says country={code}", "write the two letters of a country, such as de")
    return code


def without_country(items: Sequence[Parsed], url: str) -> Iterator[Issue]:
    """An Issue if prices of a shop without a country are in euros: how much tax is in them is not known, and what to set."""
    taxed = [one for one in items if isinstance(one, Offer) and one.market == "eu" and one.tax_included is not False]
    if any(one.price is not None for one in taxed):
        way = "write the shop's country behind its address, such as #country=de"
        message = f"in which country the shop is, and so how much tax is in its euros, is not said: {way}"
        yield Issue(code="no_country", message=message, url=url)


def _taxed(offer: Offer) -> bool | None:
    """Whether the printed price includes tax. If the text has several amounts, the offer's price counts."""
    text = offer.price_text or ""
    is_included = words.tax_included(text)
    if is_included is None or offer.price is None:
        return is_included
    from gpuledger.extract.price import vat

    return vat.included(text, offer.price)


def _channel(offer: Offer) -> Channel:
    if words.is_grey_import(offer.title):
        return "grey_import"
    if offer.seller_kind == "marketplace":
        return "marketplace"
    return "refurbished" if offer.condition == "refurbished" else "official"


def country_of_domain(url: str) -> str | None:
    """The country (ISO 3166) to which the top-level domain of an address belongs, `EU` for the union; None if to none."""
    from gpuledger.extract.price import currency

    _, second, last = ["", "", "", *(parts_of(url).hostname or "").lower().split(".")][-3:]
    if last in _SOLD_TO_ALL and second not in _SECOND_LEVELS:
        return None
    code = _DOMAIN_COUNTRY.get(last, last.upper())
    return code if currency.is_country(code) else None


def _of_currency(code: str | None) -> str | None:
    if code == "EUR":
        return "eu"
    # Imported here, because `status` needs the names of the sources but not the countries of currencies.
    from gpuledger.extract.price import currency

    home = currency.home(code)
    return home.lower() if home else None
