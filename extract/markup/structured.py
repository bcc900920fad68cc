"""What a page tells machines about its goods: schema.org in JSON-LD and microdata. For `meta` see `product.claims`.

All syntaxes get the same shape here. Prices stay text: shops write `1.299` and `1,299.00 €` where the vocabulary wants 1299,
and only the reader of the whole page knows its country.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from lxml.html import HtmlElement

from gpuledger.extract.markup import jsonld, microdata
from gpuledger.extract.markup.links import joined
from gpuledger.extract.markup.schema_org import availability, condition, first_text, local_name, texts
from gpuledger.extract.price.amounts import to_decimal
from gpuledger.extract.price.currency import of_symbol
from gpuledger.items import Availability, Condition, PriceKind

Syntax = Literal["json-ld", "microdata", "rdfa"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredOffer:
    """One offer as the page states it to machines. `price` is the text as written; `high_price` is the end of an aggregate.

    `more_prices` are further prices that the same offer states without saying how they differ: it may mean any of them.
    """

    price: str | None = None
    more_prices: tuple[str, ...] = ()
    currency: str | None = None
    kind: PriceKind = "now"
    high_price: str | None = None
    list_price: str | None = None
    availability: Availability | None = None
    condition: Condition | None = None
    seller: str | None = None
    #: Whether a person sells it, and no firm.
    is_private: bool = False
    url: str | None = None
    sku: str | None = None
    #: Whether VAT is in the price; None if the offer does not say.
    tax_included: bool | None = None
    #: The cost of shipping, in `currency`, if every destination has the same rate.
    shipping: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredProduct:
    """One product as one syntax of the page describes it."""

    syntax: Syntax
    name: str | None = None
    url: str | None = None
    sku: str | None = None
    mpn: str | None = None
    gtin: str | None = None
    brand: str | None = None
    offers: tuple[StructuredOffer, ...] = ()
    variants: tuple[StructuredProduct, ...] = ()


#: Types that are goods or are described like goods. The ticket of an Event is an offer too.
_GOODS = frozenset(
    re.findall(
        r"\w+",
        """Product ProductModel ProductGroup IndividualProduct SomeProducts Vehicle Car Motorcycle Book MusicAlbum Movie
        VideoGame SoftwareApplication MobileApplication Event MusicEvent Course""",
    )
)
_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "ean13", "upc", "isbn")

#: Yields each described thing of a page, in the shape of JSON-LD.
_Reader = Callable[[HtmlElement, str], Iterable[dict[str, Any]]]
_READERS: tuple[tuple[Syntax, _Reader], ...] = (
    ("json-ld", jsonld.items),
    ("microdata", microdata.items),
    ("rdfa", partial(microdata.items, called=microdata.RDFA)),
)


def products(tree: HtmlElement, url: str) -> list[StructuredProduct]:
    """All products of the page in the order JSON-LD, microdata, RDFa, each in the order of the page. Never raises.

    Related products are among them: the caller has to find the page's own product.
    """
    on_page: list[StructuredProduct] = []
    for syntax, items_of in _READERS:
        items = list(items_of(tree, url))
        # An offer may hold its goods, instead of the goods holding the offer.
        items += [
            goods | {"offers": node}
            for node in items
            for goods in _as_list(node.get("itemOffered"))
            if isinstance(goods, dict) and "offers" not in goods and ("price" in node or "priceSpecification" in node)
        ]
        known = {str(node["@id"]): node for node in items if node.get("@id") and len(node) > 2}
        items += _groups(items, known)
        on_page.extend(_product(node, syntax, url, known) for node in items if is_goods(node))
    return on_page


def _groups(items: list[dict[str, Any]], known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The groups that are named only by their variants (`isVariantOf`, `inProductGroupWithID`), each with these."""
    members: dict[str, list[dict[str, Any]]] = {}
    for node in items:
        group = node.get("isVariantOf")
        name = (
            first_text(group.get("@id")) or first_text(group.get("productGroupID")) if isinstance(group, dict) else None
        )
        if name := name or first_text(node.get("inProductGroupWithID")):
            members.setdefault(name, []).append(node)
    for name, variants in members.items():
        if len(variants) > 1:
            yield (
                {"@type": "ProductGroup", "name": variants[0].get("name")}
                | known.get(name, {})
                | {"hasVariant": variants}
            )


def is_goods(node: dict[str, Any]) -> bool:
    """Whether the node is goods that may be for sale: by its type, or by an offer if the type is not only for goods."""
    types = {local_name(name) for name in texts(node.get("@type"))}
    only_goods = bool(types & {"Product", "ProductGroup", "ProductModel"})
    return only_goods or ("offers" in node and bool(types & _GOODS))


def _product(
    node: dict[str, Any], syntax: Syntax, url: str, known: dict[str, Any], deep: bool = True
) -> StructuredProduct:
    address = first_text(node.get("url")) or first_text(node.get("@id"))
    name, size = first_text(node.get("name")), first_text(node.get("size"))
    if name and size and size.lower() not in name.lower():
        name = f"{name} - {size}"
    own_condition = condition(first_text(node.get("itemCondition")))
    offers = _offers(node.get("offers"), url, known)
    return StructuredProduct(
        syntax=syntax,
        name=name,
        url=_absolute(url, address),
        sku=first_text(node.get("sku")) or first_text(node.get("productID")),
        mpn=first_text(node.get("mpn")) or first_text(node.get("model")),
        gtin=next((text for name in _GTINS if (text := first_text(node.get(name)))), None),
        brand=first_text(node.get("brand")) or first_text(node.get("manufacturer")),
        offers=tuple(replace(offer, condition=offer.condition or own_condition) for offer in offers),
        variants=tuple(
            _product(known.get(str(variant.get("@id")), variant), syntax, url, known, deep=False)
            for variant in (_as_list(node.get("hasVariant")) or _as_list(node.get("model")))
            if isinstance(variant, dict)
            and ("offers" in known.get(str(variant.get("@id")), variant) or "hasVariant" in node)
        )
        if deep
        else (),
    )


def _offers(value: Any, url: str, known: dict[str, Any], depth: int = 0) -> Iterator[StructuredOffer]:
    """Each offer in `offers`: an object, a list, an aggregate with its own offers, or a reference to one of these."""
    for node in _as_list(value):
        if not isinstance(node, dict) or depth > 3:
            continue
        if set(node) <= {"@id", "@type"} and node.get("@id") in known:
            node = known[node["@id"]]
        inner = [offer for offer in _offers(node.get("offers"), url, known, depth + 1) if offer.price]
        if inner and first_text(node.get("price")) is None:
            low = first_text(node.get("lowPrice"))
            # The aggregate repeats the range of its offers, unless it sums up more offers than it lists.
            if low is None or to_decimal(low) in {to_decimal(offer.price) for offer in inner}:
                yield from inner
                continue
        yield _offer(node, url)


def _offer(node: dict[str, Any], url: str) -> StructuredOffer:
    if any(local_name(text) == "LeaseOut" for text in texts(node.get("businessFunction"))):
        # The cost of renting the goods for some time is not a price of the goods.
        node = {
            name: value for name, value in node.items() if not name.lower().endswith(("price", "pricespecification"))
        }
    specified = _specified_price(node.get("priceSpecification"))
    stated = {to_decimal(text) or text: text for text in texts(node.get("price"))}
    prices = tuple(stated.values()) or specified.prices or ((specified.monthly,) if specified.monthly else ())
    price = prices[0] if prices else None
    low, high = first_text(node.get("lowPrice")), first_text(node.get("highPrice"))
    kind: PriceKind = "monthly" if price is not None and price == specified.monthly else "now"
    if price is None and low is not None:
        price = low
        one_price = high is not None and to_decimal(high) == to_decimal(low) is not None
        kind = "now" if one_price else "from"
    currency = first_text(node.get("priceCurrency")) or specified.currency or first_text(node.get("currency"))
    code = currency.strip().upper() if currency and len(currency.strip()) == 3 else None
    return StructuredOffer(
        price=price,
        more_prices=prices[1:],
        currency=of_symbol(code) or code if code else None,
        kind=kind,
        high_price=high,
        list_price=specified.list_price,
        availability=availability(first_text(node.get("availability"))),
        condition=condition(first_text(node.get("itemCondition"))),
        seller=first_text(node.get("seller")) or first_text(node.get("offeredBy")),
        is_private=any(
            local_name(text) == "Person"
            for seller in _as_list(node.get("seller") or node.get("offeredBy"))
            if isinstance(seller, dict)
            for text in texts(seller.get("@type"))
        ),
        url=_absolute(url, first_text(node.get("url"))),
        sku=first_text(node.get("sku")),
        tax_included=_tax_included(node),
        shipping=_shipping(node.get("shippingDetails"), currency),
    )


def _tax_included(node: dict[str, Any]) -> bool | None:
    """Whether the offer, or its only kind of price, says that VAT is included; None if it says nothing, or both."""
    nodes = [node, *(part for part in _as_list(node.get("priceSpecification")) if isinstance(part, dict))]
    values = {str(part["valueAddedTaxIncluded"]).strip().lower() for part in nodes if "valueAddedTaxIncluded" in part}
    return values == {"true"} if values in ({"true"}, {"false"}) else None


def _shipping(details: Any, currency: str | None) -> Decimal | None:
    """The one rate of `shippingDetails`; None if there is no rate, or several, or if it is in another currency."""
    rates = [
        detail["shippingRate"] for detail in _as_list(details) if isinstance(detail, dict) and "shippingRate" in detail
    ]
    stated = {
        (to_decimal(first_text(rate.get("value"))), first_text(rate.get("currency")) or currency)
        for rate in rates
        if isinstance(rate, dict)
    }
    if len(stated) != 1:
        return None
    ((amount, code),) = stated
    return amount if amount is not None and amount >= 0 and code == currency else None


def _absolute(base: str, address: str | None) -> str | None:
    return (joined(base, address) or None) if address else None


def _as_list(value: Any) -> list[Any]:
    """The entries of a value; shops also write a list in a list."""
    if not isinstance(value, list):
        return [] if value is None else [value]
    return [entry for inner in value for entry in (inner if isinstance(inner, list) else [inner])]


# ── `priceSpecification` ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Specified:
    """What a specification adds to its offer. `prices` are different texts; if there are several, the price stays open.

    Shops list several prices: the old one, the one before tax, those for members or for ten pieces, the cost of delivery, a
    monthly rate. A price that is none of these is the asked one, which any buyer pays for one piece. If two different ones
    remain, both are kept, and the rest of the page has to show which one it means.
    """

    prices: tuple[str, ...] = ()
    list_price: str | None = None
    monthly: str | None = None
    currency: str | None = None


_OLD_TYPES = frozenset(("ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice", "InvoicePrice"))
#: Costs that come on top of the goods' price.
_CHARGES = frozenset(("DeliveryChargeSpecification", "PaymentChargeSpecification"))
#: UN/CEFACT codes of one piece, of a month, and of other time spans, which make a price a rent.
_PIECE = frozenset(("C62", "EA", "H87", "PCE", "PIECE", "NMP"))
_MONTH = frozenset(("MON", "MONTH"))
_SPAN = frozenset(("HUR", "DAY", "WEE", "ANN", "HOUR", "WEEK", "YEAR"))


def _specified_price(value: Any) -> _Specified:
    """The prices in `priceSpecification`, which is an object or a list of objects."""
    payable: list[tuple[str, dict[str, Any]]] = []
    old: str | None = None
    monthly: str | None = None
    currency: str | None = None
    for node in value if isinstance(value, list) else [value]:
        if not isinstance(node, dict):
            continue
        price = first_text(node.get("price")) or first_text(node.get("minPrice"))
        if price is None or _CHARGES & {local_name(name) for name in texts(node.get("@type"))}:
            continue
        currency = currency or first_text(node.get("priceCurrency"))
        unit = (first_text(node.get("unitCode")) or "").upper()
        if local_name(first_text(node.get("priceType")) or "") in _OLD_TYPES:
            old = old or price
        elif unit in _MONTH or first_text(node.get("billingDuration")) or first_text(node.get("billingIncrement")):
            monthly = monthly or price
        elif unit not in _SPAN and not _per_quantity(node) and not _for_some_buyers(node):
            payable.append((price, node))
    prices = {to_decimal(price) or price: price for price, _ in _narrowed(payable)}
    return _Specified(tuple(prices.values()), old, monthly, currency)


def _narrowed(payable: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """The prices with tax if the shop gives both kinds, and among these the ones that are called the sale price, if any."""
    with_tax = [str(node.get("valueAddedTaxIncluded")).lower() for _, node in payable]
    if "true" in with_tax:
        payable = [entry for entry, included in zip(payable, with_tax, strict=True) if included != "false"]
    sale = [entry for entry in payable if local_name(first_text(entry[1].get("priceType")) or "") == "SalePrice"]
    return sale or payable


def _for_some_buyers(node: dict[str, Any]) -> bool:
    """Whether the price is for members of a programme, or for two or more pieces."""
    quantity = node.get("eligibleQuantity")
    least = (quantity.get("minValue") or quantity.get("value")) if isinstance(quantity, dict) else None
    return bool(node.get("validForMemberTier")) or (to_decimal(first_text(least)) or Decimal(1)) > 1


def _per_quantity(node: dict[str, Any]) -> bool:
    """Whether the price is for 100 g or a metre. Shops must print such a price beside the price of the piece."""
    quantity = node.get("referenceQuantity")
    if not isinstance(quantity, dict):
        return False
    unit = (first_text(quantity.get("unitCode")) or first_text(quantity.get("unitText")) or "C62").upper()
    return unit not in _PIECE or to_decimal(first_text(quantity.get("value"))) not in (None, Decimal(1))
