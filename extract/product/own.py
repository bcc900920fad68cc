"""Finds the page's own product among the products that the page describes to machines.

Related goods are described in the same words. The own product is the one whose address, number or name agrees with what the
page says about itself. If none agrees, the page's structured data is not used, unless the page has no heading to agree with
and describes only one thing for sale. Of goods with variants, the variant counts that the address, the heading or the shown
price names: price, stock, title and numbers of two variants are never mixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from gpuledger.extract.markup.structured import StructuredOffer, StructuredProduct
from gpuledger.extract.product.context import Context

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
    """The products with those variants alone whose price is shown; a product with one such variant becomes that variant."""
    narrower = []
    for product in products:
        shown = tuple(variant for variant in product.variants if any(map(is_shown, variant.offers)))
        if len(shown) == 1:
            product = _as_variant(product, shown[0])
        elif shown:
            product = replace(product, variants=shown)
        narrower.append(product)
    return narrower


def _as_named(page: Context, product: StructuredProduct) -> StructuredProduct:
    named = [variant for variant in product.variants if _names(page, variant.url, variant.sku) or
             any(_names(page, offer.url, offer.sku) for offer in variant.offers)]  # fmt: skip
    if not named and product.variants:
        common = frozenset[str].intersection(*(_word_set(variant.name or "") for variant in product.variants))
        headed = [
            variant for variant in product.variants
            if (own := _word_set(variant.name or "") - common) and any(own <= _word_set(text) for _, text in page.headings)
        ]  # fmt: skip
        named = headed
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
    if url is None or "?" not in url:
        return False
    parameters = set(url.partition("#")[0].partition("?")[2].split("&"))
    return any(
        _path(url) == _path(address) and parameters <= set(address.partition("#")[0].partition("?")[2].split("&"))
        for address in (page.url, page.canonical or "")
    )


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
    shared = len(name_words & title_words) / (2 if _are_siblings(name_words, title_words) else 1)
    # A document's title adds the shop's name and advertising. A name within it is as good as the same name.
    return max(
        2 * shared / (len(name_words) + len(title_words)),
        0.9 * shared / len(name_words) if len(name_words) > 1 else 0.0,
    )


#: Words that turn a name into that of another model: the page of a `4070` also describes a `4070 Ti`, in nearly these words.
_MODEL_WORDS = frozenset(
    ("ti", "super", "xt", "xtx", "gre", "pro", "max", "plus", "mini", "ultra", "lite", "se", "fe", "oc")
)


def are_siblings(name: str, other: str) -> bool:
    """Whether two names are of two models of one family."""
    return _are_siblings(_word_set(name), _word_set(other))


def _are_siblings(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two names are of two models: only one has a model word, or each has a number that the other does not have."""
    if (first ^ second) & _MODEL_WORDS:
        return True
    first_numbers, second_numbers = (
        {number for word in name for number in re.findall(r"\d+", word)} for name in (first, second)
    )
    return bool(first_numbers - second_numbers) and bool(second_numbers - first_numbers)


# Cached, because the page's titles are compared with each of the goods that it describes.
@lru_cache(maxsize=64)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
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
