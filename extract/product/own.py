"""Finds the page's own product among the products that the page describes to machines.

Related goods are described in the same words. The own product is the one whose address, number or name agrees with what the
page says about itself. If none agrees, the page's structured data is not used, unless the page has no heading to agree with
and describes only one thing for sale.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from gpuledger.extract.markup.structured import StructuredProduct
from gpuledger.extract.product.context import Context

#: A shorter name or number occurs in an address by chance.
_MIN_CODE = 4


def own_products(page: Context, products: list[StructuredProduct]) -> list[StructuredProduct]:
    """The descriptions of the page's own product, one or more per syntax, the best first; empty if none agrees."""
    scored = [(agreement(page, product), -place, product) for place, product in enumerate(products)]
    scored = [entry for entry in scored if entry[0] >= 2]
    if not scored:
        # If a page without a heading describes only one thing for sale, that is its product.
        priced = [product for product in products if any(offer.price for offer in product.offers)]
        return priced if len(priced) == 1 and not page.headings else []
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    best = scored[0][2]
    return [product for score, _, product in scored if product is best or _same(best, product)]


def agreement(page: Context, product: StructuredProduct) -> float:
    """How well a description agrees with the page: 3 for its address, 2 for its name, 2 for its number; offers add 0.5."""
    score = 0.0
    if product.url and _path(product.url) in {
        _path(page.url),
        _path(page.canonical or ""),
        _path(page.first_meta("og:url") or ""),
    }:
        score += 3
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
