"""Numbers as shops print them: which separator is the decimal one, and when a number can be read in two ways.

`1.299` is one thousand in Germany and one and a bit in Ireland. The country and language of the page decide. If they do not,
or if they contradict the currency (three decimals of a euro), both readings are returned and none is chosen.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from babel.core import Locale, UnknownLocaleError
from babel.languages import get_official_languages
from babel.numbers import get_decimal_symbol

from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.no_price import LONGEST_NUMBER, is_writable

#: More digits than any price has. A longer number is a code, or an attack on the arithmetic.
MAX_DIGITS = 15

#: A printed number. A space joins groups only if exactly three digits follow. Cents may stand behind a separator and a space
#: (`1.837, 32`), as they do when a page sets them in small type.
NUMBER = re.compile(
    r"""(?<!\d)(?<!\d[.,])                                                 # not in the middle of a number
        (?:\d{1,3}(?:[ \u00a0'’]\d{3})+(?![.,]?\d{3})(?:[.,][ ]?\d{1,2}(?!\d))?   # 1 299,00  1'299.00
        |\d+(?:[.,]\d+)*(?:[.,][ ]\d{2}(?![\d.,]))?                      # 1.299,00  1299  1.837, 32
        |(?<![\d.,])[.,]\d+(?:[.,]\d+)*)                                  # .75
        (?![.,]?\d)""",
    re.VERBOSE,
)

_MACHINE = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\.\d{1,2}|\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}")


def to_decimal(text: str | int | float | Decimal | None) -> Decimal | None:
    """A number meant for machines (JSON-LD `price`, `data-price`), such as `1299.99` or `1299`; None for any other text.

    The point is the decimal symbol there. Shops also write their printed form. `1,299.99`, `1.299,99` and `24,90` have only
    one reading, so they are read too. `1,299`, exponents, signs, NaN and infinity are refused. A point before three digits
    is read as the format says; the caller has to check whether the shop kept to the format.
    """
    if text is None or isinstance(text, bool):
        return None
    if isinstance(text, Decimal) and not is_writable(text):
        return None
    if isinstance(text, int) and abs(text) >= 10**MAX_DIGITS:
        return None
    clean = format(text, "f") if isinstance(text, Decimal) else str(text).strip()
    if _MACHINE.fullmatch(clean) and clean.isascii():
        return Decimal(clean)
    if _GROUPED.fullmatch(clean) and clean.isascii() and len(clean) <= MAX_DIGITS:
        last = max(clean.rfind("."), clean.rfind(","))
        return Decimal(re.sub(r"[.,]", "", clean[:last]) + "." + clean[last + 1 :])
    return None


def json_number(text: str) -> Decimal | None:
    """A number of a JSON feed exactly as written, for `json.loads(parse_float=…, parse_int=…)`.

    None if the text is no number, or has more digits than any amount: `1e999999999` becomes a billion digits as soon as
    somebody calculates with it.
    """
    if len(text) > LONGEST_NUMBER:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if is_writable(number) else None


class Format(NamedTuple):
    """How a page prints prices: the decimal symbol, if it is known, and the most decimals that the currency has."""

    decimal: str | None
    minor_digits: int | None


@functools.lru_cache(maxsize=1024)
def decimal_symbol(language: str | None, country: str | None) -> str | None:
    """`.` or `,` as CLDR gives it for the language and country; None if neither is known or if the two disagree.

    A page in a language foreign to the country (an English page of a German shop) may follow either habit, so both count.
    """
    language = (language or "").lower().replace("_", "-").split("-")[0] or None
    country = (country or "").upper() or None
    if country is None:
        # Spanish is written with a comma in Spain and Argentina and with a point in Mexico: the language alone says nothing.
        return None if language in (None, "es") else _symbol(str(language))
    if country == "ZA":
        return "."  # CLDR has the comma, which is the standard there; its shops print `R2,799.00`
    official = [code.split("_")[0] for code in get_official_languages(country, de_facto=True)]
    locales = [f"{language}_{country}"] if language in official else [f"{code}_{country}" for code in official]
    symbols = {_symbol(name) for name in locales}
    if language is not None and language not in official:
        symbols.add(_symbol(language))
    symbols.discard(None)
    return symbols.pop() if len(symbols) == 1 else None


def _symbol(name: str) -> str | None:
    try:
        symbol = get_decimal_symbol(Locale.parse(name))
    except (UnknownLocaleError, ValueError):
        return None
    return "," if symbol == "," else "."


def page_format(
    currency: str | None, language: str | None, country: str | None, decimal: str | None = None, sign: str = ""
) -> Format:
    """The number format of prices in `currency`, printed with `sign`, on a page of that language and country.

    `decimal` is the symbol that other prices of the page use. It counts more than what the language suggests.
    """
    symbol = decimal or decimal_symbol(language, country)
    if symbol is None and country is None and currency is not None:
        symbol = decimal_symbol(language if language != "es" else None, currencies.home(currency))
    if symbol is None and country is None and currency is None and sign == "$":
        # Whichever country's dollar it is, `$699,000` does not have three decimals: where the comma is the decimal symbol of
        # a dollar (Chile, Argentina) no such price exists. `$1.299` stays open: it is 1,299 there and a slip elsewhere.
        return Format(".", 2)
    # The sign means the dollar or crown of some country. None of these has prices with three decimals.
    unknown = 2 if sign else None
    return Format(symbol, currencies.minor_digits(currency) if currency else unknown)


def digits_to_ascii(text: str) -> str:
    """The text with 0 to 9 in place of Arabic-Indic, Devanagari, full-width and other digits, and with ASCII separators."""
    if text.isascii():
        return text
    text = text.replace("٫", ".").replace("٬", ",").replace("，", ",").replace("．", ".")
    return "".join(
        str(unicodedata.decimal(letter)) if letter.isdecimal() and not letter.isascii() else letter for letter in text
    )


def readings(token: str, number_format: Format, cents_mark: str = "") -> tuple[Decimal, ...]:
    """All values that a printed number may have in this format: one if it is clear, several if it is ambiguous.

    `cents_mark` is the separator before a dash (`1.299,-`): it can only be the decimal one. The result is empty if the
    digits are grouped as in no price (`.75,333`, `1.29.5`).
    """
    spaced = any(letter in " \u00a0'’" for letter in token.rstrip("0123456789").rstrip(" ").rstrip(".,"))
    compact = re.sub(r"[ \u00a0'’]", "", token)
    if sum(map(str.isdigit, compact)) > MAX_DIGITS:
        return ()
    kinds = {letter for letter in compact if letter in ".,"}
    if not kinds:
        return (Decimal(compact),)
    last = max(compact.rfind("."), compact.rfind(","))
    separator, head, tail = compact[last], compact[:last], compact[last + 1 :]
    grouped = re.sub(r"[.,]", "", compact)
    if len(kinds) == 2:
        if separator in head or not _are_groups(head):
            return ()
        return _with_decimals(head, tail, number_format)
    if separator in head:
        return (Decimal(grouped),) if _are_groups(compact) else ()
    if len(tail) == 5 and len(head) <= 3 and number_format.minor_digits in (None, 2):
        # `1,29999` is what remains of `1,299` and small `99` when a page's markup is removed.
        return (Decimal(f"{head}{tail[:3]}.{tail[3:]}"), Decimal(f"{head}.{tail}"))
    if len(tail) != 3 or not head or len(head) > 3 or head.startswith("0"):
        return _with_decimals(head, tail, number_format)
    if spaced:
        return ()
    # The readings of `1.299`: a group of three digits, or three decimals.
    whole, fraction = Decimal(head + tail), Decimal(f"{head}.{tail}")
    if number_format.minor_digits == 0 or (cents_mark and cents_mark != separator):
        return (whole,)
    if number_format.decimal is None or cents_mark == separator:
        return (whole, fraction)
    if separator != number_format.decimal:
        return (whole,)
    # The page's habit says decimals, but no price in dollars has three of them: one of the two assumptions is wrong.
    return (fraction,) if number_format.minor_digits in (None, 3) else (whole, fraction)


def _are_groups(text: str) -> bool:
    """Whether the separators of `text` stand at the ends of groups of digits. India groups by two before the last three."""
    return re.fullmatch(r"\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}", text) is not None


def _with_decimals(head: str, tail: str, number_format: Format) -> tuple[Decimal, ...]:
    value = Decimal(f"{re.sub('[.,]', '', head) or '0'}.{tail}")
    if number_format.minor_digits == 0 and value != value.to_integral_value():
        # Yen or won with decimals: either the currency or the separator is not what it seems.
        return ()
    return (value,)
