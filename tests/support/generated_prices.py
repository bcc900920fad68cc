"""Prices as shops of many countries print them, written by CLDR and put among the words that stand beside prices.

What is generated knows its own answer: the amount, the currency and the locale are drawn first and printed by babel, which
the reader does not use to read. The tests draw a few thousand, `benchmarks.bench_product` fifty thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from babel.numbers import format_decimal
from hypothesis import strategies as st

from gpuledger.extract.price.money import Ambiguous, Money, read_price

#: Language and country, the currency of the country, and how it is printed before or behind the amount.
LOCALES: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("en", "US", "USD", ("$", "US$", "USD ", "$ "), (" USD",)),
    ("en", "GB", "GBP", ("£", "GBP ", "£ "), (" GBP",)),
    ("en", "CA", "CAD", ("$", "CA$", "C$", "CAD "), (" CAD",)),
    ("fr", "CA", "CAD", (), (" $", "$", " CAD")),
    ("en", "AU", "AUD", ("$", "AU$", "A$"), (" AUD",)),
    ("en", "IN", "INR", ("₹", "Rs. ", "Rs "), (" INR",)),
    ("en", "IE", "EUR", ("€", "€ "), ("€",)),
    ("de", "DE", "EUR", ("€ ", "EUR "), (" €", "€", " EUR", "\u00a0€", " Euro")),
    ("de", "AT", "EUR", ("€ ",), (" €",)),
    ("de", "CH", "CHF", ("CHF ", "Fr. "), (" CHF",)),
    ("fr", "FR", "EUR", (), (" €", "€", "\u00a0€", "\u202f€")),
    ("it", "IT", "EUR", ("€ ", "€"), (" €",)),
    ("es", "ES", "EUR", (), (" €", "€")),
    ("es", "MX", "MXN", ("$", "MX$", "$ "), (" MXN",)),
    ("es", "CL", "CLP", ("$", "$ "), (" CLP",)),
    ("es", "AR", "ARS", ("$", "$ ", "AR$"), (" ARS",)),
    ("pt", "BR", "BRL", ("R$ ", "R$"), ()),
    ("pt", "PT", "EUR", (), (" €", "€")),
    ("nl", "NL", "EUR", ("€ ", "€"), ()),
    ("pl", "PL", "PLN", (), (" zł", "zł", " PLN")),
    ("cs", "CZ", "CZK", (), (" Kč", " CZK")),
    ("sk", "SK", "EUR", (), (" €",)),
    ("hu", "HU", "HUF", (), (" Ft", " HUF")),
    ("ro", "RO", "RON", (), (" lei", " Lei", " RON")),
    ("bg", "BG", "EUR", (), (" €",)),
    ("sv", "SE", "SEK", ("SEK ",), (" kr", " SEK")),
    ("nb", "NO", "NOK", ("kr ", "NOK "), (" kr",)),
    ("da", "DK", "DKK", ("DKK ",), (" kr.", " kr")),
    ("fi", "FI", "EUR", (), (" €",)),
    ("ru", "RU", "RUB", (), (" ₽", " руб.", " р.")),
    ("uk", "UA", "UAH", (), (" ₴", " грн", " грн.")),
    ("ru", "KZ", "KZT", (), (" ₸", " тг", " тг.")),
    ("tr", "TR", "TRY", ("₺",), (" TL", " ₺")),
    ("ja", "JP", "JPY", ("¥", "￥"), ("円", " 円")),
    ("zh", "CN", "CNY", ("¥", "￥"), ("元",)),
    ("zh", "TW", "TWD", ("NT$", "$", "NT$ "), ("元",)),
    ("ko", "KR", "KRW", ("₩",), ("원", " 원")),
    ("vi", "VN", "VND", (), (" ₫", "₫", " đ")),
    ("id", "ID", "IDR", ("Rp ", "Rp"), ()),
    ("th", "TH", "THB", ("฿",), (" บาท",)),
    ("he", "IL", "ILS", ("₪", "₪ "), (" ₪",)),
    ("el", "GR", "EUR", (), (" €", "€")),
    ("hr", "HR", "EUR", (), (" €", "\u00a0€")),
    ("sl", "SI", "EUR", (), (" €",)),
    ("lt", "LT", "EUR", (), (" €",)),
    ("lv", "LV", "EUR", ("€ ",), (" €",)),
    ("et", "EE", "EUR", (), (" €", "€")),
    ("es", "CO", "COP", ("$", "$ "), (" COP",)),
    ("en", "NZ", "NZD", ("$", "NZ$"), (" NZD",)),
    ("en", "SG", "SGD", ("S$", "$"), (" SGD",)),
    ("zh", "HK", "HKD", ("HK$", "$"), (" HKD",)),
    ("en", "ZA", "ZAR", ("R ", "R"), (" ZAR",)),
    ("en", "PH", "PHP", ("₱",), (" PHP",)),
    ("ms", "MY", "MYR", ("RM", "RM "), ()),
    ("en", "AE", "AED", ("AED ",), (" AED",)),
    ("sr", "RS", "RSD", (), (" RSD", " din.")),
)
#: Currencies that shops print without decimals.
WHOLE = frozenset(("JPY", "KRW", "CLP", "VND", "IDR", "HUF", "COP", "RSD"))
#: What stands for the cents of a whole amount, by currency.
DASHES = {
    "EUR": (",-", ",–", ",--"),
    "CHF": (".-", ".–"),
    "SEK": (":-",),
    "DKK": (",-",),
    "NOK": (",-",),
    "THB": (".-",),
}
#: What stands around a price and changes nothing about it.
BEFORE = (
    "",
    "",
    "Price: ",
    "Our price ",
    "Preis: ",
    "Cena: ",
    "Prix : ",
    "Now ",
    "Jetzt nur ",
    "판매가 ",
    "価格 ",
    " \n\t ",
)
AFTER = ("", "", " *", " incl. VAT", " inkl. MwSt.", " TTC", " (税込)", "  ", " brutto", ", free shipping")
#: Names of goods with numbers in them. A reader of price elements should not meet them, but pages do as they like.
TITLES = (
    "GeForce RTX 4090 24GB ", "RTX 3060 Ti 8G - ", "Radeon RX 7900 XTX 24 GB: ", "RX 580 ", "GTX 1660 6GB, ",
    "RTX 5090 32GB ", "GIGABYTE RTX 4070 Ti 12GB rev. 2.0 | ", "2x DisplayPort 1.4, 1x HDMI 2.1 ", "i7-14700K + RTX 4080 ",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Printed:
    """A price as printed and what it means. `is_titled` where the name of goods stands before it.

    `language` and `country` are what the reader is told; `is_told` says whether they are those of the printed price.
    """

    text: str
    amount: Decimal
    currency: str
    language: str | None
    country: str | None
    is_titled: bool
    is_told: bool


@st.composite
def prices(draw: st.DrawFn) -> Printed:
    """A price of one of the locales, with or without groups, decimals, words and a product's name."""
    language, country, currency, prefixes, suffixes = draw(st.sampled_from(LOCALES))
    whole = currency in WHOLE or draw(st.booleans())
    cents = draw(st.integers(1, 2_000_000_00))
    amount = Decimal(max(1, cents // 100)) if whole else Decimal(cents).scaleb(-2)
    pattern = draw(st.sampled_from(("#,##0", "0") if whole else ("#,##0.00", "0.00")))
    if currency == "INR":
        # Lakh and crore: groups of two before the last three.
        pattern = pattern.replace("#,##0", "#,##,##0")
    number = format_decimal(amount, format=pattern, locale=f"{language}_{country}")
    dashes = [dash for dash in DASHES.get(currency, ()) if dash[0] not in number] if whole else []
    if dashes and draw(st.integers(0, 4)) == 0:
        number += draw(st.sampled_from(dashes))
    if draw(st.booleans()):
        number = number.replace("\u202f", " ").replace("\u00a0", " ")
    side = draw(st.sampled_from([(sign, "") for sign in prefixes] + [("", sign) for sign in suffixes]))
    title = draw(st.sampled_from(("",) * 4 + TITLES))
    before = "" if title else draw(st.sampled_from(BEFORE))
    text = title + before + side[0] + number + side[1] + draw(st.sampled_from(AFTER))
    told = draw(st.sampled_from(("right",) * 6 + ("foreign", "nothing")))
    if told == "foreign":
        language, country = draw(st.sampled_from(LOCALES))[:2]
    elif told == "nothing":
        language = country = None
    return Printed(text, amount, currency, language, country, bool(title), told == "right")


def check(price: Printed) -> None:
    """The price is read as it was meant: never as another amount, and left open only where two readings are possible.

    That is behind the name of goods, and where the reader is told another country or none.
    """
    found = read_price(price.text, country=price.country, language=price.language)
    if isinstance(found, Ambiguous) and (price.is_titled or not price.is_told):
        return
    assert isinstance(found, Money), (price, found)
    assert (found.amount, found.kind) == (price.amount, "now"), (price, found)
    assert found.currency == price.currency or not price.is_told, (price, found)
