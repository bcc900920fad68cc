"""The price that each source on the page claims, in one form, so that the claims can be compared with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.extract.items import PriceKind
from gpuledger.extract.markup.structured import StructuredOffer, StructuredProduct
from gpuledger.extract.price import amounts, money
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.money import Ambiguous, Money
from gpuledger.extract.price.no_price import is_stated_mark
from gpuledger.extract.product import own
from gpuledger.extract.product.context import Context


@dataclass(frozen=True, slots=True)
class Claim:
    """The price of one source. `readings` has several values if the source's text can be read in two ways.

    `others` are further amounts that the same source states for variants or sellers of the same product.
    """

    source: str
    readings: tuple[Decimal, ...]
    currency: str | None
    kind: PriceKind
    text: str
    list_price: Decimal | None = None
    others: frozenset[Decimal] = frozenset()

    def may_be(self, amount: Decimal) -> bool:
        """Whether the claim can be read as this amount."""
        return amount in self.readings

    def as_text(self) -> str:
        """The claim as text for an Issue."""
        return f"{self.source}: {self.text} {self.currency or ''}".strip()


_THREE_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def of_page(page: Context, products: list[StructuredProduct]) -> list[Claim]:
    """All claims: of the page's structured data, of its `meta` properties, or else of its order forms."""
    stated = of_products(page, products)
    if (meta := of_meta(page)) is not None:
        stated.append(meta)
    if not stated and (ordered := of_order(page)) is not None:
        stated.append(ordered)
    return stated


def of_products(page: Context, products: list[StructuredProduct]) -> list[Claim]:
    """One claim for each syntax that states a price of the page's own product."""
    stated: list[Claim] = []
    for syntax in dict.fromkeys(product.syntax for product in products):
        offers = [offer for product in products if product.syntax == syntax for offer in _all_offers(product)]
        has_variants = any(product.variants for product in products)
        claim = _of_offers(page, syntax, offers, has_variants)
        if claim is not None:
            stated.append(claim)
    return stated


def _all_offers(product: StructuredProduct) -> Iterator[StructuredOffer]:
    yield from product.offers
    for variant in product.variants:
        yield from variant.offers


def _of_offers(page: Context, syntax: str, offers: list[StructuredOffer], of_variants: bool) -> Claim | None:
    """The claim of all offers together: their one price, or the lowest of several as a `from` price."""
    priced = [(offer, readings) for offer in offers if (readings := _offer_readings(page, offer))]
    if not priced:
        return None
    currencies_named = {offer.currency for offer, _ in priced if offer.currency}
    if len(currencies_named) > 1:
        # The page has prices for visitors from several countries, so the lowest number is not the lowest price.
        at_home = currencies.of_country(page.country)
        if at_home not in currencies_named:
            readings = tuple(dict.fromkeys(value for _, values in priced for value in values))
            return Claim(syntax, readings, None, "now", " or ".join(_price_text(offer) for offer, _ in priced))
        priced = [pair for pair in priced if pair[0].currency in (at_home, None)]
    new = [pair for pair in priced if pair[0].condition in (None, "new")]
    available = [pair for pair in (new or priced) if pair[0].availability in ("in_stock", None)]
    chosen = available or new or priced
    offer, readings = min(chosen, key=lambda pair: min(pair[1]))
    # Another variant is another thing, whether it can be bought or not.
    several = len({readings for _, readings in (priced if of_variants else chosen)}) > 1
    return Claim(
        source=syntax,
        readings=readings,
        currency=offer.currency if offer.currency and currencies.is_code(offer.currency) else None,
        kind="from" if several and offer.kind == "now" else offer.kind,
        text=" or ".join((str(offer.price), *offer.more_prices)),
        list_price=next(iter(amounts_of(page, offer.list_price, offer.currency)), None),
        others=frozenset(value for _, values in priced for value in values)
        | frozenset(value for offer, _ in priced for value in amounts_of(page, offer.high_price, offer.currency)),
    )


def _price_text(offer: StructuredOffer) -> str:
    return f"{offer.price} {offer.currency or ''}".strip()


def _offer_readings(page: Context, offer: StructuredOffer) -> tuple[Decimal, ...]:
    """The amounts that one offer's price may mean: several if it can be read in two ways, or if the offer states several."""
    texts = (offer.price, *offer.more_prices)
    return tuple(dict.fromkeys(value for text in texts for value in amounts_of(page, text, offer.currency)))


def amounts_of(page: Context, text: str | None, currency: str | None) -> tuple[Decimal, ...]:
    """The amounts that a price in structured data may mean: the vocabulary's plain number, or the shop's printed form."""
    if text is None:
        return ()
    amount = amounts.to_decimal(text)
    if amount is not None:
        if is_stated_mark(amount):
            return ()
        digits = currencies.minor_digits(currency) if currency and currencies.is_code(currency) else 2
        if digits != 3 and _THREE_DECIMALS.fullmatch(text.strip()):
            # `2.449` pesos: two and a half by the vocabulary, two thousand by the country's habit. The page will tell.
            whole = Decimal(text.strip().replace(".", ""))
            return (whole,) if digits == 0 else (amount, whole)
        return (amount,)
    reading = money.read_price(text, currency=currency, country=page.country, language=page.language)
    if isinstance(reading, Money):
        return (reading.amount,) if reading.kind in ("now", "from") and not is_stated_mark(reading.amount) else ()
    return reading.readings if isinstance(reading, Ambiguous) and reading.reason == money.SEPARATOR else ()


#: The share of words that the name in an order form must have in common with the name of the page's goods.
_SAME_GOODS = 0.5


def of_order(page: Context) -> Claim | None:
    """The claim of the forms and buttons that order by PayPal or Snipcart, if all of them order the same thing.

    The claimed amount is what a buyer pays. On pages without a shop system it is all that the page states to machines.
    """
    orders: set[tuple[str, str | None, str]] = set()
    if b"paypal.com/" in page.content:
        for form in page.tree.iter("form"):
            fields = {field.get("name"): field.get("value") or "" for field in form.iter("input")}
            if fields.get("cmd") in ("_cart", "_xclick") and fields.get("amount"):
                orders.add((fields["amount"], fields.get("currency_code"), fields.get("item_name", "")))
    if b"data-item-price" in page.content:
        buttons = page.tree.iterfind(".//*[@data-item-price]")
        orders |= {(button.get("data-item-price", ""), None, button.get("data-item-name", "")) for button in buttons}
    if len(orders) != 1:
        return None
    ((text, code, name),) = orders
    if name and not any(own.similarity(name, title) >= _SAME_GOODS for title in page.titles):
        # A donation, or other goods.
        return None
    currency = code if code and currencies.is_code(code) else None
    readings = amounts_of(page, text, currency)
    return Claim("order form", readings, currency, "now", text) if readings else None


#: `meta` properties in the order of trust: a sale price before the price that it replaces.
_META = (
    ("product:sale_price:amount", "product:sale_price:currency"),
    ("product:price:amount", "product:price:currency"),
    ("og:price:amount", "og:price:currency"),
    ("og:product:price:amount", "og:product:price:currency"),
    ("twitter:price:amount", "twitter:price:currency"),
)
_META_OLD = ("product:original_price:amount", "og:price:standard_amount", "product:pretax_price:amount")


def of_meta(page: Context) -> Claim | None:
    """The claim of the page's `meta` properties (OpenGraph's product names and their relatives)."""
    currency = page.first_meta(*(name for _, name in _META))
    currency = currency.strip().upper() if currency and currencies.is_code(currency.strip().upper()) else None
    for name, _ in _META:
        text = page.first_meta(name)
        readings = amounts_of(page, text, currency)
        if text is not None and readings:
            regular = page.first_meta("product:price:amount") if "sale" in name else page.first_meta(*_META_OLD)
            old = amounts_of(page, regular, currency)
            return Claim("meta", readings, currency, "now", text, old[0] if old else None)
    return None
