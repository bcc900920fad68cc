"""Which of the products that a page describes to machines is the page's own.

Related goods are described in the same words. The own product is the one whose address, number or name agrees with what
the page says of itself; where none does, the page's structured data is not used, unless the page has no heading that it
could agree with and describes one thing for sale.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from gpuledger.extract.markup.structured import StructuredProduct
from gpuledger.extract.product.context import Context

#: A name shorter than this, or a number, is found in an address by chance.
_MIN_CODE = 4


def own_products(page: Context, products: list[StructuredProduct]) -> list[StructuredProduct]:
    """The descriptions of the page's own product, one or more a syntax, best first; empty where none agrees."""
    scored = [(agreement(page, product), -place, product) for place, product in enumerate(products)]
    scored = [one for one in scored if one[0] >= 2]
    if not scored:
        # A page without a heading that sells one thing sells that.
        priced = [product for product in products if any(offer.price for offer in product.offers)]
        return priced if len(priced) == 1 and not page.headings else []
    scored.sort(key=lambda one: one[:2], reverse=True)
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
    """Share of words in common, from 0 to 1: all words of the shorter count fully if they are most of the longer."""
    one, other = _word_set(name), _word_set(title)
    if not one or not other:
        return 0.0
    shared = len(one & other) / (2 if _are_siblings(one, other) else 1)
    # A document's title adds the shop's name and advertising; a name within it is as good as the same name.
    return max(2 * shared / (len(one) + len(other)), 0.9 * shared / len(one) if len(one) > 1 else 0.0)


#: Words that make another model of a name: the page of a `4070` describes a `4070 Ti` too, in nearly the same words.
_MODEL_WORDS = frozenset(
    ("ti", "super", "xt", "xtx", "gre", "pro", "max", "plus", "mini", "ultra", "lite", "se", "fe", "oc")
)


def _are_siblings(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names are of two models: a word for it is in one alone, or each has a number that the other has not."""
    if (one ^ other) & _MODEL_WORDS:
        return True
    numbers, others = ({number for word in name for number in re.findall(r"\d+", word)} for name in (one, other))
    return bool(numbers - others) and bool(others - numbers)


# Asked for the page's titles again for each of the goods that it describes.
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


def _same(best: StructuredProduct, other: StructuredProduct) -> bool:
    """Whether two descriptions are of one product: the same number, address or name."""
    if best.sku and other.sku and best.syntax == other.syntax:
        return best.sku == other.sku
    if best.url and other.url and _path(best.url) == _path(other.url):
        return True
    return bool(best.name and other.name and similarity(best.name, other.name) >= 0.8)
