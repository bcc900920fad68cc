"""Parser of Newegg's listing pages, in the old and the new layout, and of its product pages.

Known of the site: a card is `div.item-container`, since 2020 inside `div.item-cell`. An item number that begins with `9SI`
belongs to a marketplace seller, one that begins with `N82E168` to Newegg itself. The price is a `strong` of whole units and
a `sup` of cents. The same element holds a link "(3 Offers)" and a dash, which are not part of the price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from lxml.html import HtmlElement

from gpuledger.extract import source, words
from gpuledger.extract.markup.html import tree
from gpuledger.extract.readers import listing
from gpuledger.extract.readers.listing import Locale, absolute, attribute, first, select, text
from gpuledger.extract.source import Page
from gpuledger.items import Availability, Parsed, SellerKind

HOMEPAGE = source.get("newegg").homepage
CARD = "div.item-container"
#: Elements of product pages only. A product page also has a listing's cards, as related items.
PRODUCT = "h1.product-title, .product-buy-box, #ProductBuy, #grpDescrip_h, #landingpage-price"

# Sites that sell in the country's own currency. Other sites show US dollars or several currencies, so a bare "$" there may
# mean any of them.
_CURRENCIES = {
    "AU": "AUD", "NZ": "NZD", "GB": "GBP", "IE": "EUR", "NL": "EUR", "DE": "EUR", "FR": "EUR", "IT": "EUR", "ES": "EUR",
    "SG": "SGD", "HK": "HKD", "KR": "KRW", "JP": "JPY", "PL": "PLN", "IL": "ILS", "CA": "CAD", "US": "USD",
}  # fmt: skip
_GLOBAL_SITE = re.compile(r"newegg\.com/global/([a-z]{2})-([a-z]{2})\b", re.IGNORECASE)
_ITEM = (re.compile(r"[?&]Item=([\w-]+)"), re.compile(r"[?&]ItemList=([\w.-]+)"), re.compile(r"/p/([\w-]+)/?(?:[?]|$)"))
_NO_SPECIFICATION = ("item #", "model #", "return policy")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of a listing and the link to its next page, or the offer of a product page.

    Raises LayoutChanged or Blocked.
    """
    root = tree(page.content, page.headers.get("content-type"))
    base = listing.address(page, root, HOMEPAGE)
    if first(root, PRODUCT) is not None:
        yield from _product(page, root, base)
        return
    cards = listing.cards(root, CARD, page)
    yield from listing.read_cards(cards, partial(_card, page, base), page)
    yield from listing.listing_total(root)
    yield from listing.next_page(root, base, 'a[title="Next"]')


def _product(page: Page, root: HtmlElement, base: str) -> Iterable[Parsed]:
    locale = _locale(base)
    item = _item_number(base)
    sold_by = re.search(r"Sold by:?\s*(.+?)(?:\s*Ships from|$)", text(root, ".product-seller, .product-seller-sold-by"))
    return listing.product_page(
        page,
        locale,
        url=_plain(base),
        key=item,
        sku=item,
        seller=sold_by.group(1) if sold_by else None,
        seller_kind=_seller_kind(item),
    )


def _card(page: Page, base: str, card: HtmlElement) -> Iterator[Parsed]:
    link = first(card, "a.item-title")
    url = absolute(base, attribute(link, "href"))
    features = [text(item) for item in select(card, ".item-features li")]
    item = _item_number(url) or _feature(features, "Item #")
    price = _price_text(first(card, "li.price-current"))
    yield from listing.offer(
        page,
        _locale(base),
        listing.Card(
            title=text(link),
            url=_plain(url),
            key=item or "",
            # The element price-map holds "See price in cart". On all other cards it is empty.
            price_text=text(card, "li.price-map") or price,
            list_text=text(card, "li.price-was"),
            price_kind="bundle" if item and item.lower().startswith("combo") else "now",
        ),
        availability=_availability(card, bool(price)),
        seller_kind=_seller_kind(item) or "unknown",
        sku=item,
        mpn=_feature(features, "Model #"),
        brand=attribute(first(card, ".item-brand img"), "title") or None,
        specs=" / ".join(line for line in features if not line.lower().startswith(_NO_SPECIFICATION)) or None,
    )


def _price_text(price: HtmlElement | None) -> str:
    """Return the amount alone, as `$1,599.99`: currency sign, whole units and cents, without the offers link beside them."""
    if price is None:
        return ""
    whole, cents = text(price, "strong"), text(price, "sup")
    if not whole:
        return ""
    before = price.xpath("(.//strong)[1]/preceding-sibling::node()/descendant-or-self::text()")
    sign = listing.clean("".join(before))
    # If the cents are left out, "1,599" alone would be ambiguous. On this site the comma only separates thousands.
    if not cents and re.fullmatch(r"\d{1,3}(,\d{3})+", whole):
        cents = ".00"
    last = first(price, "sup" if cents and first(price, "sup") is not None else "strong")
    tail = listing.clean((last.tail or "") if last is not None else "").strip("–-— ")
    return f"{sign}{whole}{cents} {tail}".strip()


def _availability(card: HtmlElement, has_price: bool) -> Availability:
    """Return the stock that promotion line and button state. What a price without a mark means is in the contract."""
    status = " ".join(text(element) for element in select(card, ".item-promo, .item-operate, .item-button-area"))
    return words.availability(status) or (
        "in_stock" if has_price and source.priced_is_in_stock("newegg") else "unknown"
    )


def _seller_kind(item: str | None) -> SellerKind | None:
    if item and item.startswith("9SI"):
        return "marketplace"
    return "first_party" if item and re.match(r"N82E\d|\d{2}-\d{3}-\d{3}", item) else None


def _item_number(url: str) -> str | None:
    return next((match.group(1) for pattern in _ITEM if (match := pattern.search(url))), None)


def _plain(url: str) -> str:
    """Return the address without the parameters that only track a visit, so that it stays the same from night to night."""
    path, _, query = url.partition("?")
    parameters = [part for part in query.split("&") if part.startswith(("Item=", "ItemList="))]
    return f"{path}?{parameters[0]}" if parameters else path


def _feature(features: list[str], name: str) -> str | None:
    return next((line.partition(":")[2].strip() for line in features if line.startswith(name)), None) or None


def _locale(url: str) -> Locale:
    site = _GLOBAL_SITE.search(url)
    country = site.group(1).upper() if site else "CA" if "newegg.ca" in url else "US"
    country = {"UK": "GB"}.get(country, country)
    if country not in _CURRENCIES:
        return Locale(None, None, None)
    return Locale(country, site.group(2).lower() if site else "en", _CURRENCIES[country])
