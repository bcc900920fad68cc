"""schema.org's `priceSpecification`: finds the price in it that any buyer pays for one piece.

Shops list several prices: the old one, the one before tax, those for members or for ten pieces, the cost of delivery, a

monthly rate. A price that is none of these is the asked one. If two different ones remain, both are kept, and the rest of
the page has to show which one it means.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gpuledger.extract.markup.schema_org import first_text, local_name, texts
from gpuledger.extract.price.amounts import to_decimal


@dataclass(frozen=True, slots=True)
class Specified:
    """What a specification adds to its offer. `prices` are different texts; if there are several, the price stays open."""

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


def specified_price(value: Any) -> Specified:
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
    return Specified(tuple(prices.values()), old, monthly, currency)


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
