"""Pages damaged at random: bytes lost, doubled and flipped, tags and digits changed, other encodings. Seeded, so repeatable.

A damaged page must give what the reader promises for any bytes: an answer or one of the project's errors, and never a price
that is negative, not a number, or a monthly rate in the place of a price.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterator, Sequence

from gpuledger.errors import ExtractError
from gpuledger.extract import product
from gpuledger.extract.markup.html import TooManyAttributes
from gpuledger.extract.price import money
from gpuledger.extract.source import Page
from gpuledger.items import Offer

Mutation = Callable[[bytes, random.Random], bytes]
_ODD = (
    b"NaN", b"-5", b"1e309", b"0", b"-1.299,00", b"$54.16/mo.", b"null", b"{", b"}", b"]", b'"', b"<", b">", b"</div>",
    b"\x00",    b"\xff\xfe", b"<!--", b"<script type=\"application/ld+json\">", b"itemscope itemtype=\"http://schema.org/Product\"",
    b"\xe2\x80\xae", b"999999999999999999999", b"<div>" * 300, b"&#x200b;", b"https://[",
)  # fmt: skip


def _cut(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    return content[:start] + content[start + chance.choice((1, 10, 100, 10_000)) :]


def _double(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    piece = content[start : start + chance.choice((10, 300, 5_000))]
    return content[:start] + piece + content[start:]


def _end(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def _flip(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 20, 500))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def _insert(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 5))):
        start = chance.randrange(len(content))
        content = content[:start] + chance.choice(_ODD) + content[start:]
    return content


def _change_numbers(content: bytes, chance: random.Random) -> bytes:
    share = chance.choice((0.02, 0.5))
    return re.sub(rb"\d[\d.,]*", lambda m: chance.choice(_ODD) if chance.random() < share else m.group(), content)


def _swap_words(content: bytes, chance: random.Random) -> bytes:
    one, other = chance.sample(
        (b"price", b"old", b"offers", b"name", b"class", b"Product", b"content", b"h1", b"availability"), 2
    )
    return content.replace(one, b"\x01").replace(other, one).replace(b"\x01", other)


def _encode(content: bytes, chance: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-16", "latin-1", "cp1251", "cp949", "utf-8-sig")), "replace")


def _say_monthly(content: bytes, _: random.Random) -> bytes:
    return re.sub(rb"(\$|\xc2\xa3|\xe2\x82\xac)(\s?)(\d[\d.,]*\d)", rb"\1\2\3/mo.", content)


#: Damage to single bytes and charsets is done to the beginning of a page: what is shown is that the reader stands it, and
#: what a large page in an odd charset costs to decode is for `extract.markup.charset` to bound.
_MOST_BYTES = 8_000
_OF_BYTES = (_flip, _encode)
MUTATIONS: tuple[Mutation, ...] = (
    _cut, _double, _end, _flip, _insert, _change_numbers, _swap_words, _encode, _say_monthly,
)  # fmt: skip


def mutated(pages: Sequence[Page], count: int, seed: int = 20231116) -> Iterator[Page]:
    """`count` damaged pages, each of one of `pages` with one to three mutations."""
    chance = random.Random(seed)
    for _ in range(count):
        page = chance.choice(pages)
        content = page.content
        for mutation in chance.choices(MUTATIONS, k=chance.choice((1, 1, 2, 3))):
            content = damaged(content, mutation, chance)
        yield dataclasses.replace(page, content=content)


def damaged(content: bytes, mutation: Mutation, chance: random.Random) -> bytes:
    """One mutation of a page; what cuts text leaves no half letters."""
    if mutation in _OF_BYTES:
        return mutation(content[:_MOST_BYTES], chance) or b" "
    return mutation(content, chance).decode("utf-8", "ignore").encode() or b" "


def check(page: Page) -> Offer | None:
    """What a damaged page gives. Raises AssertionError for a price that no page may give; lets any error but ours out."""
    try:
        items = list(product.parse(page))
    except (ExtractError, TooManyAttributes):  # a refusal with its words, which a night takes for a changed layout
        return None
    offer = next((item for item in items if isinstance(item, Offer)), None)
    if offer is not None and offer.price is not None:
        assert offer.price.is_finite(), offer
        assert offer.price > 0, offer
        if offer.price_text is not None and offer.price_kind != "monthly":
            labels = [
                label
                for token, label in money.tokens(offer.price_text).items()
                if _digits(token) == _digits(offer.price)
            ]
            assert not labels or set(labels) != {"monthly"}, offer
    return offer


def _digits(amount: object) -> str:
    """The digits of an amount, printed or not, without the zeros at its end."""
    return re.sub(r"\D", "", str(amount)).rstrip("0")
