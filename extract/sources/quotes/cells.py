"""Readers of one cell of a vendor's table, one for each kind of column.

Each raises Unreadable, whose message is the reason.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

from gpuledger.extract import words
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.money import Ambiguous, Money, read_price
from gpuledger.extract.sources.quotes.sheets import Cell
from gpuledger.items import Condition


class Unreadable(ValueError):
    """The cell does not hold a value of its column's kind. The message tells a person what to mend."""


#: `4`, `1,000 ea`, `5-9`, `10+`, `ab 10 Stk.`, `10개 이상`.
_QUANTITY = re.compile(
    r"(?P<above>from|ab|min\.?|>=|≥|à partir de|a partir de|desde|od|vanaf)?\s*(\d{1,3}(?:,\d{3})+|\d+)"
    r"(?:\s*(?:-|–|~|to|bis)\s*(\d+))?\s*(?:ea|pcs?|pieces?|units?|stk|stück|개|대|장|매|個|台|枚)?\.?"
    r"\s*(?P<on>\+|以上|이상|or more|and up|and above|und mehr)?",
    re.IGNORECASE,
)
_EXCEL_ERROR = re.compile(r"#(?:N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)")
_DATES = (
    "%Y-%m-%d",
    "%Y.%m.%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d %Y",
    "%B %d %Y",
    "%d-%b-%Y",
)


def cell_text(cell: Cell) -> str:
    """Return the cell as text: dates in ISO 8601, numbers without exponent, an empty text for an empty cell."""
    if cell is None:
        return ""
    if isinstance(cell, Decimal):
        return format(cell, "f")
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == datetime.min.time() else cell.isoformat(sep=" ")
    return str(cell)


def read_currency(cell: Cell) -> str | None:
    """Return the ISO 4217 code of a code, sign or word; None for an empty cell."""
    text = cell_text(cell).strip()
    if not text:
        return None
    code = text.upper() if currencies.is_code(text.upper()) else currencies.of_symbol(text)
    if code is None:
        raise Unreadable(
            f"the currency {text!r} is none that is known for sure: write its ISO code, such as USD or KRW"
        )
    return code


def read_amount(cell: Cell, currency: str | None) -> Money:
    """Return the price of one piece.

    `currency` is what the row or the column states. A price in another currency is refused.
    """
    text = cell_text(cell).strip()
    if isinstance(cell, bool | date) or _EXCEL_ERROR.search(text):
        raise Unreadable(f"the price {text!r} is no number")
    if not text:
        raise Unreadable("there is no price (a formula must be saved with its value)")
    if re.fullmatch(r"\(.*\)", text):
        raise Unreadable(f"the price {text!r} stands in brackets, as accountants write what is below zero")
    if currency is None and re.fullmatch(r"[\d.,\s]+", text):
        raise Unreadable(f"the price {text!r} has no currency: add a column 'currency' or write it beside the amount")
    if isinstance(cell, int | Decimal):
        money: Money | Ambiguous | None = Money(Decimal(cell), currency, "now", text)
    else:
        money = read_price(text, currency=currency, country=currencies.home(currency))
        alone = read_price(text)
        if isinstance(alone, Money) and currency and alone.currency not in (None, currency):
            raise Unreadable(f"the price {text!r} is in {alone.currency}, its row or column says {currency}")
    if isinstance(money, Ambiguous):
        raise Unreadable(f"the price {text!r} cannot be told: {money.reason}")
    if money is None or money.amount <= 0:
        raise Unreadable(f"the price {text!r} is no amount above zero")
    if money.currency is None and _SIGN.search(text):
        raise Unreadable(
            f"the price {text!r} has a sign of several currencies: add a column 'currency' with USD, CAD …"
        )
    if money.currency is None:
        raise Unreadable(f"the price {text!r} has no currency: add a column 'currency' or write it beside the amount")
    if money.kind != "now":
        raise Unreadable(f"the price {text!r} is a {money.kind} price, not that of one piece")
    return money


_SIGN = re.compile(r"[$¥￥£]|kr\b")


def read_condition(cell: Cell, title: str, *, otherwise: Condition = "unknown") -> Condition:
    """Return the condition that the cell names, else the one that the title names, else `otherwise`."""
    text = cell_text(cell).strip()
    stated = words.stated_condition(text)
    if text and stated is None:
        raise Unreadable(f"the condition {text!r} is not known: write new, used, refurbished or open box")
    return stated or words.condition(title) or otherwise


_RATE_OR_AMOUNT = re.compile(r"\d{1,2}(?:[.,]\d+)?\s?%|(?!\d$)[^\w\s]?\s?\d[\d.,'\s]*\s?(?:원|円|[^\w\s]|[A-Z]{3})?")


def read_tax(cell: Cell) -> bool | None:
    """Return whether the price includes tax.

    Returns None for an empty cell, and for a mere rate or amount (`19%`), which does not say so.
    """
    text = cell_text(cell).strip()
    if not text or _RATE_OR_AMOUNT.fullmatch(text):
        return None
    plain = text.lower().rstrip(".")
    for answer, meaning in ((True, "yes"), (False, "no")):
        if plain in words.listed("tax", meaning):
            return answer
    is_included = words.tax_included(text)
    if is_included is None:
        raise Unreadable(f"the tax {text!r} is not known: write included or excluded")
    return is_included


def read_market(cell: Cell) -> str | None:
    """Return the country or region in small letters (`kr`, `eu`); None for an empty cell."""
    text = cell_text(cell).strip()
    if not text:
        return None
    code = _COUNTRIES.get(text.lower(), text.lower())
    if not re.fullmatch(r"[a-z]{2}", code):
        raise Unreadable(f"the market {text!r} is not known: write a country's code, such as US, KR or DE, or EU")
    return code


#: Names of countries that vendors write out.
_COUNTRIES = {
    "usa": "us", "united states": "us", "미국": "us", "アメリカ": "us", "米国": "us",
    "korea": "kr", "south korea": "kr", "한국": "kr",
    "대한민국": "kr", "韓国": "kr", "germany": "de", "deutschland": "de", "독일": "de", "ドイツ": "de",
    "japan": "jp", "일본": "jp",
    "日本": "jp", "uk": "gb", "united kingdom": "gb", "europe": "eu", "europa": "eu", "유럽": "eu",
}  # fmt: skip


def read_shipping(cell: Cell, currency: str | None) -> Decimal | None:
    """Return the cost of shipping, 0 if it is free; None for an empty cell."""
    text = cell_text(cell).strip()
    if not text:
        return None
    if re.fullmatch(r"0+(?:[.,]0+)?", text) or words.pattern("delivery", "free").fullmatch(text):
        return Decimal(0)
    return read_amount(cell, currency).amount


_PIECE = re.compile(
    r"(?:1\s*)?(?:ea(?:ch)?|pcs?|pieces?|units?|no\.?s?|stk|stück|st|karte|card|개|대|장|매|본|個|台|枚|本)\.?|1",
    re.IGNORECASE,
)


def check_unit(cell: Cell) -> None:
    """Check that the price is for one piece. An empty cell passes.

    Raises Unreadable if the price is for a set, a box or ten pieces.
    """
    text = cell_text(cell).strip()
    if text and not _PIECE.fullmatch(text):
        raise Unreadable(
            f"the price is of one {text!r}, not of one piece: write the price of a piece, and EA as its unit"
        )


def read_quantity(cell: Cell) -> tuple[int | None, int | None]:
    """Return for how many pieces the price is: the fewest (None: no range is named) and the most (None: it is open)."""
    text = cell_text(cell).strip()
    if not text:
        return None, None
    if isinstance(cell, Decimal) and cell == cell.to_integral_value() and cell >= 0:
        return None, int(cell)
    match = _QUANTITY.fullmatch(text)
    if match is None or isinstance(cell, bool):
        raise Unreadable(f"the quantity {text!r} is no whole number of pieces")
    pieces = int(match[2].replace(",", ""))
    if match["above"] or match["on"]:
        return pieces, None
    return (pieces, int(match[3])) if match[3] else (None, pieces)


def read_date(cell: Cell) -> date | None:
    """Return a day; None for an empty cell. `03/04/2024` can be two days, so it is refused."""
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    text = cell_text(cell).strip()
    if not text:
        return None
    if len(text) > 100:
        raise Unreadable(f"the date {text[:30]!r}… is none: write it as 2024-01-31")
    plain = re.sub(r"\s*(?:년|월|年|月)\s*", "-", text).replace("일", "").replace("日", "").strip(" -~.까지まで")
    plain = re.sub(r"[,\s]+", " ", re.sub(r"\s*([./-])\s*", r"\1", plain))
    days = {day for form in _DATES if (day := _day(plain, form))}
    # `31/01/2024` and `01/31/2024` can be one day only.
    days = days or {day for form in ("%d/%m/%Y", "%m/%d/%Y") if (day := _day(plain, form))}
    if len(days) == 1:
        return days.pop()
    raise Unreadable(f"the date {text!r} is none that is clear: write it as 2024-01-31")


def _day(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()  # noqa: DTZ007  a day has no time zone
    except ValueError:
        return None
