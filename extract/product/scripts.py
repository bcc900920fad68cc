"""The price that the page's scripts state to its analytics and to its own form.

Nobody reads this on the page, and a script may speak of other goods, of the price before tax or of yesterday's. So scripts
are read only if the page's words to machines and to people do not settle the price. They may decide between amounts that
those words name. Alone they count only if all of them agree. What is read: the product view of Google's and Facebook's
analytics (`view_item`, `ecommerce.detail`, `ViewContent`), names that only a product page uses (`product_price`), and
fields of the form that orders. The state from which a shop's program draws a page is not read: of 600 pages it told none
a price that its words left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import money
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
    for price in (*_events(page.content), *_named(page.content)):
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
                code = currency[1] if currency and currencies.is_code(currency[1]) else None
                yield ScriptPrice(min(amounts, key=len), code)


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
