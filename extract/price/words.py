"""Words with which shops say what an amount is: a monthly rate, an old price, a saving, a cost of delivery, a price from.

`before` patterns are tried on the text between the previous number and the amount, `after` patterns on the text right behind
the amount. The words are from the languages of the pages that are read. If a word is missing here, its amount has no label.
So if an amount stands beside another one, the reader refuses both and does not trust the list to be complete.
"""

from __future__ import annotations

import re
from typing import Literal

from gpuledger.extract import words
from gpuledger.extract.words import at_word_start
from gpuledger.items import PriceKind

#: What an amount may be. `now` is the label if no word says otherwise. `net` is a price before tax, if a word names the tax.
#: `bid` is the current bid of an auction. `member` is a price that only some buyers pay, and `noise` is no price of the
#: goods (saving, delivery, fee). The words are in extract/words/labels.toml.
Label = Literal["now", "list", "from", "monthly", "bundle", "unit", "net", "bid", "member", "noise"]
#: The kind of price for each label. An amount with a label that is missing here is no price.
KINDS: dict[Label, PriceKind] = {
    "now": "now",
    "net": "now",
    "list": "list",
    "from": "from",
    # The winner of an auction pays at least this much.
    "bid": "from",
    "monthly": "monthly",
    "bundle": "bundle",
}


def _begun(meaning: str) -> re.Pattern[str]:
    return at_word_start(words.table("labels", meaning))


def _phrase(meaning: str) -> re.Pattern[str]:
    return re.compile(words.table("labels", meaning), re.IGNORECASE | re.VERBOSE)


_MONTHLY_BEFORE = _begun("monthly_before")
_MONTHLY_AFTER = _phrase("monthly_after")
_LIST_BEFORE = _begun("list_before")
_NOISE_BEFORE = _begun("noise_before")
_MEMBER_BEFORE = _begun("member_before")
_NOISE_AFTER = _phrase("noise_after")
#: `+ 49.00 €` is added to a price.
_ON_TOP = re.compile(r"\+\s*$")
_FROM_BEFORE = _phrase("from_before")
_FROM_AFTER = re.compile(r"\W{0,2}(?:부터|から|より|起|alkaen|-?t[óő]l\b|and\sup|or\smore)|[~～〜+]\s*$", re.IGNORECASE)
_UNIT_AFTER = _phrase("unit_after")
_NET = words.net_source()
_NET_BEFORE = re.compile(rf"(?:{_NET}|{words.source('tax', 'net_before')})[\s:.：）]*$", re.IGNORECASE)
# `40.00 € excl. VAT: 36.53 €`: the words before a colon describe what follows, as those in brackets before an amount do:
# `54,780円（税抜49,800円）`, but not `100 € (ohne 19 % MwSt.)`.
_NET_AFTER = re.compile(
    rf"(?!\W{{0,2}}[(（]\s?{_NET}[^\w)）]{{0,4}}\d(?![\d.,]*\s?%))\W{{0,3}}{_NET}(?!\s*:)", re.IGNORECASE
)
_BUNDLE_BEFORE = _phrase("bundle_before")
_NOW_BEFORE = _begun("now_before")
_BID_BEFORE = _begun("bid_before")
_NEUTRAL = _phrase("neutral")
PRICE_LABEL = _phrase("price_label")
_PRICE_WORD = re.compile(
    r"price|pricing|preis|prix|precio|prezzo|preço|prijs|(?<!\w)pris|cen(?:a|ę|y|ie|u)(?!\w)|cijena|hinta|fiyat|pre[tț](?!\w)|цена|ціна|價|价|価格|가격|판매가",
    re.IGNORECASE,
)


def is_of_price(text: str) -> bool:
    """Whether a text has a word for `price` in it."""
    return _PRICE_WORD.search(text) is not None


_USUAL = _begun("usual")


def is_usual(text: str) -> bool:
    """Whether the words call an amount the usual price: the old one beside a sale price, the asked one if it is alone."""
    return _USUAL.search(text) is not None


def without_net_words(text: str) -> str:
    """The text without `excluding tax` or similar words at its beginning, which describe the amount before the text."""
    return _NET_AFTER.sub(" ", text, count=1) if _NET_AFTER.match(text) else text


def only_neutral(text: str) -> bool:
    """Whether every word of the text may stand beside a bare number that is a price."""
    return not re.search(r"[^\W\d_]", _NEUTRAL.sub(" ", text))


def explains(text: str) -> bool:
    """Whether the text holds only words that stand before prices, so that it cannot end with a product's name."""
    for pattern in (_OF_SHARE, _LIST_BEFORE, _NOW_BEFORE, _FROM_BEFORE):
        text = pattern.sub(" ", text)
    return only_neutral(text)


#: A share with its own word: in `10% off £419.99` it describes no amount.
_OF_SHARE = re.compile(rf"\d*\s?%(?:{words.table('labels', 'noise_after')})", re.IGNORECASE | re.VERBOSE)


#: If two patterns match up to the same place, the first of them counts.
_NEAREST: tuple[tuple[Label, re.Pattern[str]], ...] = (
    ("bid", _BID_BEFORE), ("member", _MEMBER_BEFORE), ("noise", _NOISE_BEFORE), ("list", _LIST_BEFORE), ("now", _NOW_BEFORE)
)  # fmt: skip


_WORDS_OF_LABELS = tuple(
    re.compile(rf"(?:{pattern.pattern})[^\W\d_\u3040-\uffff]*", pattern.flags)
    for pattern in (
        _MONTHLY_BEFORE, _LIST_BEFORE, _NOISE_BEFORE, _MEMBER_BEFORE, _NOW_BEFORE, _FROM_BEFORE, _BID_BEFORE, _NET_BEFORE,
    )
)  # fmt: skip


_TERM = _phrase("term")


def is_label(text: str) -> bool:
    """Whether a text labels the amount behind it: it ends with a colon, or has no words but those of labels and no number.

    `Shipping` is a label, `Free shipping`, `10% off` and `Coupon available` are not.
    """
    if text.rstrip().endswith((":", "：")):
        return True
    text = _TERM.sub(" ", text)
    if any(map(str.isdigit, text)):
        return False
    for pattern in _WORDS_OF_LABELS:
        text = pattern.sub(" ", text)
    return only_neutral(text)


def label(before: str, after: str) -> Label:
    """The label that the words around an amount give it. `before` starts at the previous number, `after` is the rest."""
    if _MONTHLY_AFTER.match(after) or _MONTHLY_BEFORE.search(before):
        return "monthly"
    if _NOISE_AFTER.match(after) or _ON_TOP.search(before):
        return "noise"
    if _UNIT_AFTER.match(after):
        return "unit"
    if _NET_AFTER.match(after) or _NET_BEFORE.search(before):
        return "net"
    before = _OF_SHARE.sub(" ", before)
    # The nearest word decides: the amount behind 'was 10 % off, now' is labelled `now`.
    places: dict[Label, int] = {name: last.end() for name, pattern in _NEAREST if (last := _last(pattern, before))}
    if places:
        nearest = max(places, key=lambda name: places[name])
        if nearest != "now":
            return nearest
    if _FROM_AFTER.match(after) or _FROM_BEFORE.search(before):
        return "from"
    return "bundle" if _BUNDLE_BEFORE.search(before) else "now"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007
        pass
    return match
