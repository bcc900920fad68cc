"""What a page says to machines: which of the described products is its own, and the price that each syntax claims.

Related goods are described in the same words. The own product is the one whose address, number or name agrees with what the
page says about itself. If none agrees, the page's structured data is not used, unless the page has no heading to agree with
and describes only one thing for sale. Of goods with variants, the variant counts that the address, the heading or the shown
price names: price, stock, title and numbers of two variants are never mixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from urllib.parse import unquote

from gpuledger.extract.markup.links import parts_of
from gpuledger.extract.markup.structured import StructuredOffer, StructuredProduct
from gpuledger.extract.price import amounts, money
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.money import Ambiguous, Money
from gpuledger.extract.price.no_price import is_nothing
from gpuledger.extract.product.context import Context
from gpuledger.items import PriceKind


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
    """All claims: of the page's structured data and of its `meta` properties."""
    # One claim for each syntax that states a price of the page's own product.
    stated: list[Claim] = []
    for syntax in dict.fromkeys(product.syntax for product in products):
        offers = [offer for product in products if product.syntax == syntax for offer in _all_offers(product)]
        has_variants = any(product.variants or _are_variants(product.offers) for product in products)
        claim = _of_offers(page, syntax, offers, has_variants)
        if claim is not None:
            stated.append(claim)
    if (meta := of_meta(page)) is not None:
        stated.append(meta)
    return stated


def _are_variants(offers: Sequence[StructuredOffer]) -> bool:
    """Whether the offers of one product are of several sizes or colours: each has a number or an address of its own."""
    names = {offer.sku or offer.url for offer in offers}
    return len(offers) > 1 and len(names) == len(offers) and None not in names


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
        if is_nothing(amount):
            return ()
        digits = currencies.minor_digits(currency) if currency and currencies.is_code(currency) else 2
        if digits != 3 and _THREE_DECIMALS.fullmatch(text.strip()):
            # `2.449` pesos: two and a half by the vocabulary, two thousand by the country's habit. The page will tell.
            whole = Decimal(text.strip().replace(".", ""))
            return (whole,) if digits == 0 else (amount, whole)
        return (amount,)
    reading = money.read_price(text, currency=currency, country=page.country, language=page.language)
    if isinstance(reading, Money):
        return (reading.amount,) if reading.kind in ("now", "from") and not is_nothing(reading.amount) else ()
    return reading.readings if isinstance(reading, Ambiguous) and reading.reason == money.SEPARATOR else ()


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


# ── the page's own product ──────────────────────────────────────────────────────────────────────────────────────────────

#: A shorter name or number occurs in an address by chance.
_MIN_CODE = 4


def own_products(page: Context, products: list[StructuredProduct]) -> list[StructuredProduct]:
    """The descriptions of the page's own product, one or more per syntax, the best first; empty if none agrees."""
    # Variants are described once more on their own: they count as parts of their group.
    variants = {variant for product in products for variant in product.variants}
    products = [product for product in products if product not in variants]
    scored = [
        (max(agreement(page, one) for one in (product, *product.variants)), -place, product)
        for place, product in enumerate(products)
    ]
    scored = [entry for entry in scored if entry[0] >= 2]
    if not scored:
        # If a page without a heading describes only one thing for sale, that is its product.
        priced = [product for product in products if any(offer.price for offer in product.offers)]
        return priced if len(priced) == 1 and not page.headings else []
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    best = scored[0][2]
    return [product for score, _, product in scored if product is best or _same(best, product)]


def narrowed(page: Context, products: list[StructuredProduct]) -> list[StructuredProduct]:
    """The products as the one variant of each that the page's address, or else its heading, names.

    Every fact of such a product is that of the variant. A product of which none is named, or several, stays as it is.
    """
    return [_as_named(page, product) for product in products]


def as_shown(products: list[StructuredProduct], is_shown: Callable[[StructuredOffer], bool]) -> list[StructuredProduct]:
    """The products with those variants or offers alone whose price is shown; a single variant takes its product's place."""
    narrower = []
    for product in products:
        shown = tuple(variant for variant in product.variants if any(map(is_shown, variant.offers)))
        if len(shown) == 1:
            product = _as_variant(product, shown[0])
        elif shown:
            product = replace(product, variants=shown)
        elif _are_variants(product.offers) and (offers := tuple(filter(is_shown, product.offers))):
            product = replace(product, offers=offers)
        narrower.append(product)
    return narrower


def at_price(page: Context, products: list[StructuredProduct], price: Decimal | None) -> list[StructuredProduct]:
    """The products with those offers alone that state this price: their stock, condition and seller are those of the price.

    The products as they are if none of their offers states it.
    """

    def states(offer: StructuredOffer) -> bool:
        return price in _offer_readings(page, offer)

    def narrowed_to_price(product: StructuredProduct) -> StructuredProduct:
        variants = tuple(map(narrowed_to_price, product.variants))
        return replace(product, offers=tuple(filter(states, product.offers)), variants=variants)

    is_stated = any(states(offer) for product in products for offer in _all_offers(product))
    return [narrowed_to_price(product) for product in products] if is_stated else products


def _as_named(page: Context, product: StructuredProduct) -> StructuredProduct:
    stated = [
        [(variant.url, variant.sku), *((offer.url, offer.sku) for offer in variant.offers)]
        for variant in product.variants
    ]
    paths = [{_path(url) for url, _ in names if url} for names in stated]
    own_paths = [path - set[str]().union(*paths[:place], *paths[place + 1 :]) for place, path in enumerate(paths)]
    named = [
        variant
        for variant, names, own in zip(product.variants, stated, own_paths, strict=True)
        if _path(page.url) in own or any(_names(page, url, sku) for url, sku in names)
    ]
    if not named and product.variants:
        common = frozenset[str].intersection(*(_word_set(variant.name or "") for variant in product.variants))
        texts = [*map(_word_set, page.titles), page.chosen]
        named = [
            variant for variant in product.variants
            if (own := _word_set(variant.name or "") - common) and any(own <= text for text in texts)
        ]  # fmt: skip
    if len(named) == 1:
        return _as_variant(product, named[0])
    offers = [offer for offer in product.offers if _names(page, offer.url, offer.sku)]
    if len(offers) == 1 and len(product.offers) > 1:
        return replace(product, offers=tuple(offers), sku=offers[0].sku or product.sku)
    return product


def _names(page: Context, url: str | None, sku: str | None) -> bool:
    """Whether the page's address names a variant: by its number, or by all parameters of the variant's own address."""
    if sku is not None and len(sku) >= _MIN_CODE and sku.lower() in page.address_words:
        return True
    addresses = (page.url, page.canonical or "")
    if sku and any(
        value.partition("=")[2].lower() == sku.lower() for address in addresses for value in _values(address)
    ):
        return True
    parameters = _values(url or "")
    return bool(parameters) and any(
        _path(url or "") == _path(address) and parameters <= _values(address) for address in addresses
    )


def _values(url: str) -> set[str]:
    """The parameters of an address, also those behind `#`: `variant=22`."""
    return set(filter(None, re.split("[?#&]", url)[1:]))


def _as_variant(product: StructuredProduct, variant: StructuredProduct) -> StructuredProduct:
    """The variant as a product of its own. What only the group says of all variants (the brand) is kept."""
    name = variant.name or product.name
    if product.name and name and not _word_set(product.name) & _word_set(name):
        # The variant's name is the size or the colour alone.
        name = f"{product.name} - {name}"
    return replace(variant, name=name, brand=variant.brand or product.brand, variants=())


def agreement(page: Context, product: StructuredProduct) -> float:
    """How well a description agrees with the page: 3 for its address, 2 for its name, 2 for its number; offers add 0.5."""
    score = 0.0
    if product.url and _path(product.url) in {
        _path(page.url),
        _path(page.canonical or ""),
        _path(page.first_meta("og:url") or ""),
    }:
        score += 4 if _names(page, product.url, None) else 3
    codes = [code for code in (product.sku, product.mpn, product.gtin) if code]
    codes += [offer.sku for offer in product.offers if offer.sku]
    if any(len(code) >= _MIN_CODE and code.lower() in page.address_words for code in codes):
        score += 2
    if product.name:
        score += 2 * max((similarity(product.name, title) for title in page.titles), default=0.0)
    if any(offer.price for offer in product.offers):
        score += 0.5
    return score


def similarity(name: str, title: str) -> float:
    """The share of words in common, from 0 to 1. All words of the shorter count fully if they are most of the longer."""
    name_words, title_words = _word_set(name), _word_set(title)
    if not name_words or not title_words:
        return 0.0
    shared = len(name_words & title_words) / (2 if are_siblings(name, title) else 1)
    # A document's title adds the shop's name and advertising. A name within it is as good as the same name.
    return max(
        2 * shared / (len(name_words) + len(title_words)),
        0.9 * shared / len(name_words) if len(name_words) > 1 else 0.0,
    )


#: Words that turn a name into that of another model: the page of a `4070` also describes a `4070 Ti`, in nearly these words.
_MODEL_WORDS = frozenset(
    ("ti", "super", "xt", "xtx", "gre", "pro", "max", "plus", "mini", "ultra", "lite", "se", "fe", "oc", "d", "sxm2", "sxm4",
     "sxm5", "nvl", "block", "waterblock")
)  # fmt: skip


def are_siblings(name: str, other: str) -> bool:
    """Whether two names are of two models of one family.

    Then only one has a model word, or each has a number that the other does not have.
    """
    first, second = _word_set(name), _word_set(other)
    if (first ^ second) & _MODEL_WORDS:
        return True
    first_numbers, second_numbers = (
        {number for word in words for number in re.findall(r"\d+", word)} for words in (first, second)
    )
    return bool(first_numbers - second_numbers) and bool(second_numbers - first_numbers)


#: The number of a model with the suffixes that make it another card: `L40S`, `4070 Ti Super`, `RX 7900-XTX`.
_MODEL = re.compile(r"\b(?:[a-z]|[a-z]*[ -]?(?=\d{3}))(\d{2,4})((?:[ -]?(?:ti|s|xtx|xt|gre|d))*)\b")


def other_variant(page: Context, products: Sequence[StructuredProduct]) -> tuple[str, str] | None:
    """The page's own title and the name in its structured data if these are of two variants of a model, as L40 and L40S.

    The title is the heading, or else what the address says.
    """
    own = [text for _, text in page.headings] or [unquote(_path(page.url).rpartition("/")[2])]
    for product in products:
        named = _models(product.name or "")
        titled = [_models(title) for title in own]
        if all(any(one[number].isdisjoint(named[number]) for number in one.keys() & named.keys()) for one in titled):
            return own[0], product.name or ""
    return None


def _models(text: str) -> dict[str, set[str]]:
    """The suffixes of each number of a model in a text."""
    found: dict[str, set[str]] = {}
    for number, suffixes in _MODEL.findall(text.lower().replace("super", "s")):
        found.setdefault(number, set()).add(re.sub(r"[ -]", "", suffixes))
    return found


# Cached, because the page's titles are compared with each of the goods that it describes.
@lru_cache(maxsize=64)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _SPACED_SIZE.sub(r"\1\2", text.lower())))


_SPACED_SIZE = re.compile(r"(\d)\s+([gt]b)(?!\w)")


def _path(url: str) -> str:
    parts = parts_of(url)
    return (
        (parts.hostname or "").removeprefix("www.") + unquote(parts.path).rstrip("/").lower()
        if parts.path.strip("/")
        else url
    )


def _same(best: StructuredProduct, candidate: StructuredProduct) -> bool:
    """Whether two descriptions are of one product: they have the same number, address or name."""
    if best.sku and candidate.sku and best.syntax == candidate.syntax:
        return best.sku == candidate.sku
    if best.url and candidate.url and _path(best.url) == _path(candidate.url):
        return True
    return bool(best.name and candidate.name and similarity(best.name, candidate.name) >= 0.8)
