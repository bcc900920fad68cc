"""The words by which shops state a condition, a bundle of goods, or whether goods can be bought, in many languages.

The words are searched for in a title, a badge or a status line, never in a whole page, as its menus name other conditions.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpuledger.extract.items import Availability, Condition


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# The order matters: "open box (used, like new)" is an open box, "renewed" is refurbished although it was used before.
_CONDITIONS: tuple[tuple[Condition, re.Pattern[str]], ...] = (
    (
        "refurbished",
        _any(
            r"\brefurb\w*",
            r"\brenewed\b",
            r"\bre-?certified\b",
            r"\breconditioned\b",
            # After another syllable it is part of a longer word, as in 그리퍼 (gripper).
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
            # Only with the article, because an occasion is an event in English.
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


_TAX = r"(?:vat|tax(?:es)?|gst|mwst|ust|mehrwertsteuer|umsatzsteuer|iva|tva|btw|moms|부가세|부가가치세|消費税|vat세)"
_BETWEEN = r"(?:of\s|der\s|\d+(?:[.,]\d+)?\s?%\s?)?"
#: Whether a price includes tax. Texts that exclude tax come first: "zzgl. MwSt." has no word of the other list.
_TAXED: tuple[tuple[bool, re.Pattern[str]], ...] = (
    (
        False,
        _any(
            rf"\b(?:excl?|exkl|excluding|without|before|ex|plus|zzgl|zuzüglich|ohne|bez|sin|hors|senza)\b\.?\s?{_BETWEEN}{_TAX}",
            rf"\+\s?(?:\d+\s?%\s?)?{_TAX}",
            rf"{_TAX}\s?(?:excl\w*|exkl\w*|not included|별도|미포함|제외|別)",
            r"\bnett?o?(?:preis|price)?\b",
            r"税抜|税別",
            r"\bHT\b",
        ),
    ),
    (
        True,
        _any(
            rf"\b(?:incl?|inkl|including|with|inklusive|einschl|mit|con|avec)\b\.?\s?{_BETWEEN}{_TAX}",
            rf"{_TAX}\s?(?:incl\w*|inkl\w*|inbegriffen|enthalten|포함)",
            r"\b(?:brutto|gross)(?:preis| price)?\b",
            r"税込",
            r"\bTTC\b",
        ),
    ),
)


def tax_included(text: str) -> bool | None:
    """Whether the text says that the price includes VAT or sales tax. None if it says nothing about tax."""
    if not any(map(str.isalpha, text)):
        return None  # most prices are an amount and a sign
    return next((included for included, pattern in _TAXED if pattern.search(text)), None)


_GREY_IMPORT = _any(
    r"해외\s?(?:구매|직구|배송|정품)",
    r"(?<![가-힣])직구",
    r"구매\s?대행",
    r"병행\s?수입",
    r"\b(?:parallel|gr[ea]y|direct)[ -]import",
    r"\bimport(?:ed|ware)?\b",
    r"\bnon[ -]?eu\b",
    r"\b(?:eu|us|uk|asia)[ -]import",
    r"\breimport\b",
    r"並行輸入",
    r"海外(?:版|限定|仕様|直輸入)",
    r"输入版|水货",
)


@lru_cache(maxsize=1 << 16)
def is_grey_import(title: str) -> bool:
    """Whether the title says that the goods bypass the maker's own distributor (해외구매, 병행수입, import, non-EU)."""
    return _GREY_IMPORT.search(title) is not None


def condition(text: str) -> Condition | None:
    """The condition that the text names. None if it names no condition, which means new in most shops."""
    return next((condition for condition, pattern in _CONDITIONS if pattern.search(text)), None)


def is_bundle(text: str) -> bool:
    """Whether the text says that several goods are sold together, so that the price is not the price of the card."""
    return _BUNDLE.search(text) is not None


def availability(text: str) -> Availability | None:
    """What the text says about buying now. None if it says nothing. 'Out of stock' wins over a button beside it."""
    return next((availability for availability, pattern in _AVAILABILITY if pattern.search(text)), None)


#: Words of a graphics card in a title or a category, in the languages of the shops.
_CARD = re.compile(
    r"""\b(?:rtx|gtx|geforce|radeon|quadro|tesla|firepro|instinct|rx\s?\d{3,4}|arc\s?[ab]\d{3}|[ahblv]\d{2,3}s?\s?(?:\d+gb|pcie|sxm)
        |graphics?\s?cards?|video\s?cards?|gpus?|grafikkarten?|cartes?\sgraphiques?|tarjetas?\s(?:gráficas?|de\svídeo)
        |sched[ae]\s(?:video|grafic(?:a|he))|placas?\s(?:de\svídeo|gráficas?)|videokaart(?:en)?|kart[ay]\sgraficzn[ae]
        |grafick[éáý]\skart[ay]|videokort|grafikkort|näytönohjai\w+|videokárty\w+)\b
        |видеокарт|відеокарт|그래픽\s?카드|グラフィック(?:ボード|カード)|ビデオカード|顯示卡|显卡""",
    re.IGNORECASE | re.VERBOSE,
)


def speaks_of_card(text: str) -> bool:
    """Whether a title, a category or the words of an address name a graphics card or a family of cards."""
    return _CARD.search(text) is not None
