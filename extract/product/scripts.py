"""The price that the page's scripts state: to its analytics, and in the state from which the shop's program draws the page.

Nobody reads this on the page, and a script may speak of other goods, of the price before tax or of yesterday's. So scripts
are read only if the page's words to machines and to people do not settle the price. They may decide between amounts that
those words name. Alone they count only if all of them agree. What is read: the product view of Google's and Facebook's
analytics (`view_item`, `ecommerce.detail`, `ViewContent`), names that only a product page uses (`product_price`), fields of
the form that orders, and the objects of an application's state (`__NEXT_DATA__`, Apollo, `__INITIAL_STATE__`) that
carry the page's own name or number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import money
from gpuledger.extract.product import claims as stated
from gpuledger.extract.product.claims import Claim, amounts_of
from gpuledger.extract.product.context import Context


class ScriptPrice(NamedTuple):
    """One price as a script states it, with the currency beside it if there is one. A whole number may be in cents."""

    text: str
    currency: str | None = None
    may_be_cents: bool = False


def claims_of_scripts(page: Context) -> list[Claim]:
    """The different prices that scripts state for the page's own goods, those for analytics first."""
    claims: dict[tuple[Decimal, ...], Claim] = {}
    for price in (*_events(page.content), *_named(page.content), *_states(page)):
        values = amounts_of(page, price.text, price.currency)
        if price.may_be_cents:
            values += tuple(value / 100 for value in values)
        if values and values not in claims:
            claims[values] = Claim("script", values, price.currency, "now", price.text)
    return [*claims.values(), *_descriptions(page)]


#: The source of a claim that may only decide between several amounts, because a description may name other amounts too.
DESCRIPTION = "description"


def _descriptions(page: Context) -> Iterator[Claim]:
    """The amounts of money in the page's description for search engines. The price may be any of them."""
    for name in ("og:description", "description"):
        text = (page.first_meta(name) or "")[:_LONGEST_DESCRIPTION]
        values: list[Decimal] = []
        for piece in re.split(r"(?<!\d)[.,;。，；|!]|[.,;。，；|!](?!\d)", text):
            reading = money.read_price(piece, country=page.country, language=page.language) if piece else None
            if isinstance(reading, money.Money) and reading.signed:
                values.append(reading.amount)
        if values:
            yield Claim(DESCRIPTION, tuple(dict.fromkeys(values)), None, "now", text)
            return


_LONGEST_DESCRIPTION = 1_000


#: The words of a product view, as Facebook's pixel and Google's two generations of e-commerce events name it, and what must
#: stand around them. The plain word is searched for first: a page has a million letters, and a pattern is tried at each one.
_EVENTS = tuple(
    (word, re.compile(pattern, re.VERBOSE))
    for word, pattern in (
        (b"ViewContent", rb"""ViewContent["']\s*,\s*(?=\{)"""),
        (b"view_item", rb"""view_item["']\s*(?:,\s*(?=\{)|[,}])"""),
        (b"detail", rb"""detail["']?\s*:\s*(?=\{)"""),
        (b"roductDetail", rb"""roductDetail["']\s*[,}]"""),
        (b"product_detail", rb"""product_detail["']\s*[,}]"""),
    )
)
_LONGEST_EVENT = 4_000
_PRICE_IN_EVENT = re.compile(
    r"""["']?(?<![\w-])(?:price|value)["']?\s*:\s*(?:parseFloat\(|Number\()?["']?\s*([\d.,]*\d)"""
)
_CURRENCY_IN_EVENT = re.compile(r"""["']?currency(?:_?[Cc]ode)?["']?\s*:\s*["']([A-Z]{3})["']""")
#: A word that occurs on the page more often than this belongs to a template.
_MOST_FINDS = 2_000


def _events(content: bytes) -> Iterator[ScriptPrice]:
    """Product views that name one price. A view that names several is a list of goods."""
    for word, pattern in _EVENTS:
        for at in _places(content, word):
            match = pattern.match(content, at)
            if match is None:
                continue
            text = _braced(content[match.end() : match.end() + _LONGEST_EVENT].decode("utf-8", "replace"))
            amounts = set(_PRICE_IN_EVENT.findall(text)) - {"0", "0.00", "0,00"}
            currency = _CURRENCY_IN_EVENT.search(text)
            if len({_plain(amount) for amount in amounts}) == 1:
                yield ScriptPrice(min(amounts, key=len), _code(currency and currency.group(1)))


def _places(content: bytes, word: bytes) -> Iterator[int]:
    at = -1
    for _ in range(_MOST_FINDS):
        at = content.find(word, at + 1)
        if at < 0:
            return
        yield at


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".,") if "." in number[-3:] or "," in number[-3:] else number


def _braced(text: str) -> str:
    """The text up to the end of the first object in it, or of the one that it begins in; all of it if neither ends."""
    depth = 0
    for match in re.finditer(r"[{}]", text):
        depth += 1 if match.group() == "{" else -1
        if depth <= 0:
            return text[: match.end()]
    return text


#: Names that a page of one product uses for its price. `price` alone may be that of any goods.
_NAMED = re.compile(
    rb"""(?:^|[^\w-])(?:product_?(?:sale|final|current|unit)?_?price(?:_?(?:number|value|amount))?|prod_?price|item_?price
        |current_?price|final_?price|price_amount|ecomm_totalvalue|product_value)["']?\s*[:=]\s*(?:parseFloat\(|Number\()?\[?["']?
        \s*(\d[\d.,]{0,14})(?=["'\]\s,;})])""",
    re.VERBOSE | re.IGNORECASE,
)
_MARKS = (b"rice", b"ecomm_totalvalue", b"product_value")


def _named(content: bytes) -> Iterator[ScriptPrice]:
    """The price under a name that only a product page uses, if all such names state the same price."""
    prices: set[str] = set()
    for mark in _MARKS:
        for at in _places(content, mark):
            match = _NAMED.search(content, max(0, at - 24), at + 60)
            if match is not None:
                prices.add(match.group(1).decode())
    prices -= {"0", "0.00", "0,00"}
    if len({_plain(text) for text in prices}) == 1:
        text = min(prices, key=len)
        yield ScriptPrice(text, may_be_cents=text.isdigit())


_STATE = re.compile(r"(?:__[A-Z_]+__|[Ss]tate|[Pp]roduct\w*|[Dd]ata)\s*=\s*(?=[{\[])")
_MAX_STATE = 3_000_000
_MAX_NODES = 60_000
_NAMES = ("name", "title", "productName", "product_name", "displayName", "productTitle", "pdpTitle")
_CODES = (
    "sku",
    "id",
    "productId",
    "product_id",
    "productID",
    "code",
    "partNumber",
    "itemId",
    "slug",
    "handle",
    "urlKey",
    "url_key",
)
#: Keys of a price that may be the asked one. If an object has several, the first of these counts.
_ASKED = (
    "finalPrice", "final_price", "salePrice", "sale_price", "currentPrice", "current_price", "specialPrice", "special_price",
    "discountedPrice", "discountPrice", "offerPrice", "sellingPrice", "nowPrice", "promoPrice", "price", "priceAmount",
    "priceValue", "gross", "grossPrice", "priceWithTax", "priceInclVat", "prices", "pricing", "priceRange", "price_range",
    "offers", "offer",
)  # fmt: skip
_AMOUNT = (
    "final", "finalPrice", "final_price", "sale", "current", "now", "gross", "withTax", "with_tax", "amount", "value",
    "price", "minimum_price", "minVariantPrice", "formatted", "formattedValue", "formattedPrice",
)  # fmt: skip
_CURRENCY = ("currency", "currencyCode", "currency_code", "priceCurrency", "currencyIso")


def _states(page: Context) -> Iterator[ScriptPrice]:
    """Prices of those objects in the page's embedded state that are the page's own goods."""
    for root in _roots(page):
        nodes_left, todo = _MAX_NODES, [root]
        while todo and nodes_left:
            nodes_left -= 1
            node = todo.pop()
            if isinstance(node, dict):
                if _is_own(page, node):
                    yield from _of_node(node)
                todo.extend(value for value in node.values() if isinstance(value, dict | list))
            elif isinstance(node, list):
                todo.extend(value for value in node if isinstance(value, dict | list))


def _roots(page: Context) -> Iterator[Any]:
    for script in page.tree.iter("script"):
        text = script.text or ""
        if not 40 < len(text) < _MAX_STATE or "rice" not in text or "ld+json" in (script.get("type") or ""):
            continue
        if "json" in (script.get("type") or ""):
            yield _decoded(text.strip())
        else:
            for match in _STATE.finditer(text):
                yield _decoded(text[match.end() :])


def _decoded(text: str) -> Any:
    """The JSON at the beginning of the text; None if there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _is_own(page: Context, node: dict[str, Any]) -> bool:
    """Whether an object is the page's goods: it has the page's name, or its number stands in the page's address."""
    if not any("rice" in name or name in ("offers", "offer", "gross") for name in node if isinstance(name, str)):
        return False
    for key in _NAMES:
        name = node.get(key)
        if isinstance(name, str) and any(stated.similarity(name, text) >= 0.8 for text in page.titles):
            return True
    codes = (str(node[key]) for key in _CODES if isinstance(node.get(key), str | int))
    return any(len(code) > 4 and any(map(str.isdigit, code)) and code.lower() in page.address_words for code in codes)


def _of_node(node: dict[str, Any]) -> Iterator[ScriptPrice]:
    for key in _ASKED:
        price = _amount(node.get(key))
        if price is not None:
            text, currency, is_whole = price
            currency = currency or _code(next((node[name] for name in _CURRENCY if name in node), None))
            yield ScriptPrice(text, currency, may_be_cents=is_whole)
            return


def _amount(value: Any, deep: int = 5) -> tuple[str, str | None, bool] | None:
    """A price in an application's state, whatever wraps it: its text, its currency, and whether it may be in cents."""
    if isinstance(value, bool) or value is None or not deep:
        return None
    if isinstance(value, int | float):
        return (str(value), None, isinstance(value, int)) if value > 0 else None
    if isinstance(value, str):
        return (value, None, False) if len(value) < 30 and any(map(str.isdigit, value)) else None
    if isinstance(value, list):
        return _amount(value[0], deep - 1) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    currency = _code(next((value[name] for name in _CURRENCY if name in value), None))
    cents, digits = value.get("centAmount"), value.get("fractionDigits", 2)
    if isinstance(cents, int) and isinstance(digits, int) and 0 <= digits <= 4:
        return str(Decimal(cents).scaleb(-digits)), currency, False
    for name in _AMOUNT:
        inner = _amount(value.get(name), deep - 1)
        if inner is not None:
            return inner[0], inner[1] or currency, inner[2]
    return None


def _code(text: Any) -> str | None:
    return text if isinstance(text, str) and currencies.is_code(text) else None
