"""Puts together what is read of a whole product page: the offer, and the Issues that its signals raise."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from gpuledger.errors import LayoutChanged
from gpuledger.extract import words
from gpuledger.extract.fetch import blocks
from gpuledger.extract.markup import html, structured
from gpuledger.extract.markup.structured import StructuredOffer, StructuredProduct
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.currency import of_country
from gpuledger.extract.product import (
    claims,
    context,
    decide,
    layout,
    numbers,
    scan,
    scripts,
    stock,
    terms,
    visible,
)
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.prices import VisiblePrice
from gpuledger.extract.source import Page
from gpuledger.items import Availability, Condition, Issue, Offer, Parsed, SellerKind

#: A page with more different prices than this that describes no product to machines is a listing.
_MAX_PRICES = 5


def offer_and_issues(page: Page, country: str | None, language: str | None, usual: Condition) -> Iterator[Parsed]:
    """The items that `product.parse` yields; raises the same errors."""
    tree = html.tree(page.content, page.headers.get("content-type"))
    here = context.build(page, tree, country, language)
    products = claims.narrowed(here, claims.own_products(here, structured.products(tree, here.url)))
    stated = claims.of_page(here, products)
    page_layout = layout.layout_of(here)
    currency = next((claim.currency for claim in stated if claim.currency), None) or context.stated_currency(here)
    seen = visible.visible_prices(here, page_layout, currency)
    if any(product.variants or len(product.offers) > 1 for product in products) and seen.prices:
        amount = seen.prices[0].amount
        products = claims.as_shown(
            products, lambda offer: amount in claims.amounts_of(here, offer.price, offer.currency)
        )
        stated = claims.of_page(here, products)
    if seen.prices and seen.for_members:
        stated = [claim for claim in stated if not seen.for_members.issuperset(claim.readings)]
    available, contradiction = _stock(here, products, page_layout, seen)
    title = _title(here, page_layout, products)
    is_ordered = available != "unknown" or _on_request(page_layout)
    if title is None or not (products or stated or seen.prices or is_ordered):
        raise _no_product(page, here, "neither structured data nor a title with a price or a means of ordering")
    amounts = {price.amount for price in seen.prices if price.kind == "now"}
    is_product = (here.first_meta("og:type") or "").lower().startswith(("product", "og:product"))
    if not (products or stated or is_product) and len(amounts) > _MAX_PRICES:
        raise _no_product(page, here, f"{len(amounts)} prices and no product of its own, as on a listing")
    decision = decide.decide(here, stated, seen, functools.cache(lambda: scripts.claims_of_scripts(here)))
    if decision.price is not None and (differing := claims.other_variant(here, products)):
        titled, named = differing
        message = (
            f"the page is titled {titled!r} and describes {named!r} to machines, so its price is taken for neither"
        )
        decision = decide.Decision(issues=(Issue(code="other_variant", message=message, url=here.url),))
    yield from decision.issues
    if decision.price is None and not decision.issues:
        message = "the page shows no price: drop one that is given on request or after a login as a quote into inbox/"
        yield Issue(code="no_price", message=message, severity="info", url=here.url)
    if len({offer.price for product in products for variant in product.variants for offer in variant.offers}) > 1:
        names = "; ".join(variant.name or "?" for product in products for variant in product.variants[:5])
        message = f"the page sells variants at several prices, and nothing on it names one of them: {names}"
        yield Issue(code="several_variants", message=message, severity="info", url=here.url)
    of_price = claims.at_price(here, products, decision.price)
    if of_price != products:
        # Of a new card that is gone and a used one in stock, only the one with this price can be bought for it.
        available, contradiction = _stock(here, of_price, page_layout, seen)
    if contradiction is not None:
        yield Issue(code="availability_disagreement", message=contradiction, url=here.url)
    shown_price = next((price for price in seen.prices if price.amount == decision.price), None)
    offers = [offer for product in of_price for one in (product, *product.variants) for offer in one.offers]
    yield _offer(here, _Goods(title, products, offers, page_layout, available, shown_price), decision, usual)


def _stock(
    page: Context, products: list[StructuredProduct], page_layout: layout.Layout, seen: visible.Visible
) -> stock.Answer:
    answer = stock.of_page(page, products, page_layout)
    if answer.contradiction is not None and page_layout.button is None and not seen.prices:
        # Nothing on the page sells: what it tells machines is of yesterday.
        return answer._replace(availability="out_of_stock")
    return answer


_LONGEST_REQUEST = 60


def _on_request(page_layout: layout.Layout) -> bool:
    """Whether the goods' part gives their price on request, behind a login or by bids. It is still a page of goods."""

    def asks(element: HtmlElement) -> bool:
        text = " ".join((element.text or "").split())
        if _LOGIN.search(element.get("href") or "") and (parent := element.getparent()) is not None:
            return price_words.is_of_price(html.visible_text(parent, _LONGEST_REQUEST))
        bids = words.pattern("order", "bid").search(text)
        return 3 < len(text) <= _LONGEST_REQUEST and (bids is not None or words.is_on_request(text))

    return any(asks(one) and not page_layout.is_elsewhere(one) for one in page_layout.part.iter(*scan.HOLD_TEXT))


#: Where a link leads that shows the price after a login.
_LOGIN = re.compile(r"log-?in|sign-?in|account|konto|anmeld|regist", re.IGNORECASE)


def _no_product(page: Page, here: Context, finding: str) -> LayoutChanged:
    """The error for a page without a product. Raises Blocked or EmptyBody instead if the page is a wall or empty."""
    blocks.detect(page.content, here.url, page.headers, page.status)
    return LayoutChanged(here.url or page.url, f"no product: {finding}", "give the address of one product's page")


def _title(page: Context, page_layout: layout.Layout, products: list[StructuredProduct]) -> str | None:
    """The goods' name: from structured data, else the heading, else OpenGraph's title, else the document's title."""
    name = next((product.name for product in products if product.name), None)
    heading = html.visible_text(page_layout.title) if page_layout.title is not None else None
    return name or heading or page.first_meta("og:title", "twitter:title") or page.document_title or None


class _Goods(NamedTuple):
    """What a page sells, without its price."""

    title: str
    products: list[StructuredProduct]
    #: The offers that state the price; all offers if none does.
    offers: list[StructuredOffer]
    page_layout: layout.Layout
    available: Availability
    #: The price that people see on the page, if there is one.
    shown_price: VisiblePrice | None


#: What ends the goods' name in a document's title, before the shop's.
_AFTER_NAME = re.compile(r"\s[|–—:·-]\s|\|")


def _offer(page: Context, goods: _Goods, decision: decide.Decision, usual: Condition) -> Offer:
    title, products, offers, page_layout, available, shown_price = goods
    codes = numbers.of_page(page, products, page_layout)
    seller = _only({offer.seller for offer in offers if offer.seller})
    printed = terms.seller(page_layout)
    is_private = any(offer.is_private for offer in offers)
    conditions = {offer.condition for offer in offers if offer.condition}
    condition: Condition | None = "unknown" if len(conditions) > 1 else _only(conditions)
    if condition in (None, "new"):
        # Many shops call all that they sell new for machines. What people read there says of which piece it is.
        head = _AFTER_NAME.split(page.document_title)[0]
        printed_condition = words.condition(title) or terms.condition(page_layout, usual) or words.condition(head)
        condition = condition if condition and printed_condition == "unknown" else printed_condition or condition
    kind_of_seller = _seller_kind(page, seller, printed, of_a_person=is_private or terms.is_of_a_person(page_layout))
    if condition is None or (condition == "unknown" and usual != "new"):
        condition = "unknown" if kind_of_seller == "marketplace" and usual == "new" else usual
    url = page.url if page.url.startswith("http") else page.canonical or page.url
    # What an offer says of tax holds for its own price: beside a price before tax the page may show the one with tax.
    of_price = [one for one in offers if decision.price in claims.amounts_of(page, one.price, one.currency)]
    taxed = next((offer.tax_included for offer in of_price if offer.tax_included is not None), None)
    kind = "bundle" if decision.kind == "now" and words.is_bundle(title) else decision.kind
    return Offer(
        title=title,
        url=url,
        key=codes.sku or url,
        price=decision.price,
        currency=decision.currency,
        price_kind=kind,
        price_text=decision.price_text,
        list_price=decision.list_price,
        availability=available,
        condition=condition,
        seller=seller or printed,
        seller_kind=kind_of_seller,
        sku=codes.sku,
        mpn=codes.mpn,
        gtin=codes.gtin,
        brand=next((product.brand for product in products if product.brand), None),
        # Euros are of many countries, and how much tax is in them depends on which.
        market=page.country.lower()
        if page.country and decision.currency == of_country(page.country) == "EUR"
        else None,
        tax_included=terms.tax_included(shown_price, page.country)
        if taxed is None and shown_price is not None
        else taxed,
        shipping=_shipping(offers, decision.currency),
    )


_Stated = TypeVar("_Stated")


def _only(stated: set[_Stated]) -> _Stated | None:
    """What all offers state; None if none states anything, or they differ."""
    return next(iter(stated)) if len(stated) == 1 else None


def _shipping(offers: Sequence[StructuredOffer], currency: str | None) -> Decimal | None:
    """The cost of shipping, if the page's structured data give one sum in the currency of the price."""
    return _only({offer.shipping for offer in offers if offer.shipping is not None and offer.currency == currency})


def _seller_kind(page: Context, stated: str | None, printed: str | None, *, of_a_person: bool) -> SellerKind:
    """Whether the shop itself sells the goods; `of_a_person`: the page is one of a marketplace or of classified ads.

    Another name in structured data does not prove a marketplace, because firms trade under brands. But a shop that prints
    `Sold by` and another name tells its buyers that it is not the seller.
    """
    if (name := stated or printed) and _is_shop(page, name):
        return "first_party"
    return "marketplace" if printed or of_a_person else "unknown"


def _is_shop(page: Context, seller: str) -> bool:
    """Whether the seller's name is the name of the site."""
    name = re.sub(r"[\W_]", "", seller.lower())
    host = re.sub(r"^www\.", "", urlsplit(page.url).hostname or "")
    names = (host.partition(".")[0], (page.first_meta("og:site_name") or "").lower())
    sites = [re.sub(r"[\W_]", "", one) for one in names]
    return len(name) > 2 and any(len(site) > 2 and (site in name or name in site) for site in sites)
