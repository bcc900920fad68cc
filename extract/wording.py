"""Words by which shops tell a condition, a set of goods and whether a thing can be bought, in the languages that are read.

A word is looked for in a title, a badge or a status line, never in a whole page: a page names other conditions in its menus.
"""

from __future__ import annotations

import re

from gpuledger.extract.items import Availability, Condition


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


# The order matters: "open box (used, like new)" is an open box, "renewed" is refurbished although it was used before.
_CONDITIONS: tuple[tuple[Condition, re.Pattern[str]], ...] = (
    (
        "refurbished",
        _any(
            r"\brefurb\w*",
            r"\brenewed\b",
            r"\bre-?certified\b",
            r"\breconditioned\b",
            # Preceded by another syllable it is part of a word, as in 그리퍼 (gripper).
            r"(?<![가-힣])리퍼(?:비시|브)?",
            r"리퍼비시",
            r"\bodnowion\w+",
            r"generalüberholt",
            r"整備済",
            r"再生品",
            r"\breconditionn\w+",
            r"\brea?condicionad\w+",
            r"\b(?:ricondizionat|rigenerat)\w+",
            r"\brepasovan\w+",
            r"восстановленн\w+",
            r"翻新",
        ),
    ),
    (
        "open_box",
        _any(
            r"\bopen[ -]?box\b",
            r"\bpowystawow\w+",
            r"\boutlet\b",
            r"\bB-Ware\b",
            r"전시(?:상품|품)",
            r"반품",
            r"開封済",
            r"展示品",
            r"\b(?:ausstellungsstück|vorführgerät|ex-?demo)\b",
            r"\bcaja abierta\b",
        ),
    ),
    (
        "used",
        _any(
            # "used for mining" and the like describe a purpose.
            r"\bused\b(?! (?:for|in|by|with|as|to)\b)",
            r"\bpre-?owned\b",
            r"\bsecond[- ]hand\b",
            r"중고",
            r"\bużywan\w+",
            r"\bgebraucht\w*",
            r"中古",
            # An occasion is an event in English.
            r"\bd['’]occasion\b",
            r"\b(?:usad[oa]s?|usat[oa])\b(?! (?:para|como|en|em|por|per)\b)",
            r"\bsegunda mano\b",
            r"\b(?:gebruikt|tweedehands)\b",
            r"\bpoužit[éýá]\b",
            r"\bbegagna[dt]\w*",
            r"\b(?:brukt|brugt|käytetty)\b",
            r"\bб/у\b",
            r"二手",
        ),
    ),
)

_BUNDLE = _any(
    r"\bbundles?\b",
    r"\bcombos?\b",
    r"번들",
    r"(?<![가-힣])세트(?![가-힣])",
    r"\bzestaw\b",
    r"バンドル",
    # Headset and chipset end in the same syllables.
    r"(?<!ヘッド)(?<!チップ)セット",
)

_AVAILABILITY: tuple[tuple[Availability, re.Pattern[str]], ...] = (
    (
        "out_of_stock",
        _any(
            r"\bout[ -]of[ -]stock\b",
            r"\bsold[ -]out\b",
            r"\bunavailable\b",
            r"\bnot (?:currently )?available\b",
            r"\bauto[ -]notify\b",
            r"\bnotify (?:me )?when\b",
            r"\bmore on the way\b",
            r"\bback-?ordered\b",
            r"\bdiscontinued\b",
            r"\bno longer available\b",
            r"품절",
            r"단종",
            r"판매\s?중지",
            r"\bniedostępn\w+",
            r"\bbrak (?:towaru|w magazynie)\b",
            r"nicht (?:verfügbar|auf lager)",
            r"ausverkauft",
            r"在庫切れ",
            r"取り扱いできません",
        ),
    ),
    (
        "preorder",
        _any(
            r"\bpre-?orders?\b",
            r"\bpre-?release\b",
            r"\bcoming soon\b",
            r"예약\s?(?:판매|구매)",
            r"출시\s?예정",
            r"\bprzedsprzedaż\b",
            r"vorbestell\w*",
            r"予約",
        ),
    ),
    (
        "in_stock",
        _any(
            r"\bin[ -]stock\b",
            r"\badd to (?:cart|basket)\b",
            r"\bonly \d+ left\b",
            r"\bdo koszyka\b",
            r"\bdostępny\b",
            r"auf lager",
            r"in den (?:einkaufs)?wagen",
            r"在庫あり",
            r"残り\d+点",
            r"カートに入れる",
            r"장바구니",
        ),
    ),
)


def condition(text: str) -> Condition | None:
    """The condition that the words name; None where they name none (which in most shops means new)."""
    return next((condition for condition, words in _CONDITIONS if words.search(text)), None)


def is_bundle(text: str) -> bool:
    """Whether the words say that several goods are sold together, so that the price is not the card's."""
    return _BUNDLE.search(text) is not None


def availability(text: str) -> Availability | None:
    """What the words say about buying now; None where they say nothing. 'Out of stock' wins over a button beside it."""
    return next((availability for availability, words in _AVAILABILITY if words.search(text)), None)
