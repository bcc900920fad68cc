"""Decides which ISO 4217 currency a symbol, word or code in a shop's text means, given the shop's country.

Only the country decides what a symbol means that several countries share (`$`, `kr`, `Rs`). Without a country such a symbol
names no currency.
"""

from __future__ import annotations

import functools
import re
import tomllib
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from babel.numbers import get_currency_precision, get_territory_currencies, list_currencies

from gpuledger.extract import words

_TABLES: dict[str, dict[str, Any]] = tomllib.loads(
    Path(words.__file__).with_name("money.toml").read_text(encoding="utf-8")
)
#: Signs and words that mean one currency wherever they are printed.
_UNIQUE: dict[str, str] = {sign: code for code, signs in _TABLES["unique"].items() for sign in signs}
#: Signs that several countries use: country to currency. "" is the meaning for an unknown country, if the sign has one.
_BY_COUNTRY: dict[str, dict[str, str]] = _TABLES["by_country"]
_BY_COUNTRY |= {sign: _BY_COUNTRY[like] for sign, like in _TABLES["same_as"].items()}
#: The one country whose habits a currency's prices follow.
_HOME: dict[str, str] = _TABLES["home"]
#: Words that mean something else in another case, and letters too short to be searched for in any case.
_EXACT_CASE: dict[str, str] = _TABLES["exact_case"]

#: Units of a withdrawn currency that are one euro, where shops print both prices. Bulgaria's law asked for that until August
#: 2026 (novinite.com, 2025-12-31 and 2026-02-01), Croatia's until the end of 2023.
_FIXED_TO_EURO = {"BGN": Decimal("1.95583"), "HRK": Decimal("7.53450")}
REPLACED = frozenset(_FIXED_TO_EURO)


def in_euro(amount: Decimal, code: str) -> Decimal | None:
    """What an amount in a currency that the euro has replaced is in euros, at the fixed rate; None for other currencies."""
    rate = _FIXED_TO_EURO.get(code)
    return (amount / rate).quantize(Decimal("0.01"), ROUND_HALF_UP) if rate else None


_CODES = frozenset(list_currencies()) - {"XXX", "XTS"}


def is_code(code: str) -> bool:
    """Whether `code` is an ISO 4217 code, current or withdrawn, that CLDR lists."""
    return code in _CODES


@functools.lru_cache(maxsize=512)
def of_symbol(symbol: str, country: str | None = None) -> str | None:
    """The ISO 4217 currency of one printed symbol, word or code; None if it is none, or needs a country that is unknown.

    `country` is an ISO 3166 code. A code (`CAD`, `cad`) needs no country.
    """
    sign = symbol.strip().lower()
    if sign in _UNIQUE:
        return _UNIQUE[sign]
    if sign in _BY_COUNTRY:
        meanings = _BY_COUNTRY[sign]
        return meanings.get((country or "").upper(), meanings.get(""))
    code = sign.upper().removesuffix("$")
    return code if code in _CODES else None


@functools.lru_cache(maxsize=512)
def minor_digits(currency: str) -> int:
    """The most digits after the decimal symbol that prices in the currency have (CLDR, with the habit of shops).

    CLDR gives 2 for currencies whose minor unit went out of use. In these `1.299` cannot be a decimal either, so 2 will do.
    """
    return get_currency_precision(currency)


def home(currency: str | None) -> str | None:
    """The country whose number format prices in this currency follow; None if several countries use it."""
    return _HOME.get(currency or "")


@functools.lru_cache(maxsize=512)
def of_country(country: str | None) -> str | None:
    """The one currency that is legal tender in the country today; None if there are several or the country is unknown."""
    if not country:
        return None
    tenders = get_territory_currencies(country.upper(), tender=True)
    return str(tenders[0]) if len(tenders) == 1 else None


# Codes that are English words in small letters. Buttons often print these words in capitals.
_ENGLISH = frozenset(("ALL", "TRY", "TOP", "CUP", "MAD", "SOS", "GEL", "PEN", "BAM", "COP", "LAK", "MOP", "ANG", "BAN"))
_LONGEST = max(map(len, (*_UNIQUE, *_BY_COUNTRY)))
# Korean, Japanese and Chinese write no space between an amount's currency and the next word (12,000원부터).
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def _is_symbol(symbol: str) -> bool:
    low = symbol.lower()
    if low in _UNIQUE or low in _BY_COUNTRY:
        return _EXACT_CASE.get(low, symbol) == symbol
    if len(symbol) == 4 and symbol[3] == "$":
        symbol = symbol[:3]
    if len(symbol) != 3 or not symbol.isalpha():
        return False
    return symbol in _CODES if symbol.isupper() else symbol.upper() in _HOME and symbol.upper() not in _ENGLISH


def _are_separate(inner: str, outer: str) -> bool:
    """Whether a symbol's edge character and its neighbour cannot be one word."""
    return not (inner.isalpha() and outer.isalpha()) or bool(_NO_SPACES.match(inner) or _NO_SPACES.match(outer))


def at_end(text: str) -> str | None:
    """The longest symbol, word or code that `text` ends with and that is separate from the letters before it."""
    for length in range(min(_LONGEST, len(text)), 0, -1):
        symbol = text[-length:]
        # `Nu 899` means "now 899" to a Dane. In Bhutan the currency is written with a full stop there: `Nu.`.
        if (
            _is_symbol(symbol)
            and symbol != "Nu"
            and (length == len(text) or _are_separate(symbol[0], text[-length - 1]))
        ):
            return symbol
    return None


def at_start(text: str) -> str | None:
    """The longest symbol, word or code that `text` begins with and that is separate from the letters after it."""
    for length in range(min(_LONGEST, len(text)), 0, -1):
        symbol = text[:length]
        if _is_symbol(symbol) and (length == len(text) or _are_separate(symbol[-1], text[length])):
            return symbol
    return None


_TOKEN = re.compile(r"[^\s\d(),:;|/]+")


def find(text: str, country: str | None = None) -> str | None:
    """The one currency that a text names (`Price in USD`, `zł`, `$`); None if it names none, or several."""
    codes: set[str] = set()
    for token in _TOKEN.findall(text):
        symbol = at_end(token) or at_start(token)
        code = of_symbol(symbol, country) if symbol else None
        if code and not (symbol in _ENGLISH and len(text) > len(token)):
            codes.add(code)
    return codes.pop() if len(codes) == 1 else None


def explicit(symbol: str) -> str | None:
    """The currency of a symbol or code that means the same in every country; None for `$`, `kr` and other shared ones."""
    return None if symbol.lower() in _BY_COUNTRY else of_symbol(symbol)


def may_mean(symbol: str, code: str) -> bool:
    """Whether the symbol can stand for the currency in some country."""
    shared = _BY_COUNTRY.get(symbol.lower())
    return code in shared.values() if shared is not None else of_symbol(symbol) == code


@functools.lru_cache(maxsize=512)
def is_country(code: str) -> bool:
    """Whether `code` is a territory of ISO 3166 that has money of its own or shares one."""
    return len(code) == 2 and bool(get_territory_currencies(code))


def money_words() -> list[str]:
    """All symbols, words and codes that stand for money, longest first, without those that also mean something else."""
    single = {
        symbol for symbol in (*_UNIQUE, *_BY_COUNTRY) if len(symbol) == 1 and symbol.isalpha() and symbol.isascii()
    }
    symbols = (
        {*_UNIQUE, *_BY_COUNTRY, *(code.lower() for code in _HOME)}
        - single
        - _EXACT_CASE.keys()
        - {"p.", "nu.", "um", "vt"}
    )
    return sorted(symbols, key=len, reverse=True)


def is_money_word(word: str) -> bool:
    """Whether letters, as printed, are a code or a word for money. A code that is an English word does not count."""
    return word not in _ENGLISH and _is_symbol(word)
