"""The text of a price element: what it means where it is plain, and that it is left open where it is not."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuledger.extract.price.money import Ambiguous, Money, read_price
from tests.support.generated_prices import Printed, check, prices

#: Examples of the properties here; `benchmarks.bench_product` draws many more of the same.
EXAMPLES = 2_000

#: text, language and country of the page, amount, currency, kind
PLAIN = [
    ("$1,299.99", "en", "US", "1299.99", "USD", "now"),
    ("$1,299.99", "en", "CA", "1299.99", "CAD", "now"),
    ("$1,299", "en", "US", "1299", "USD", "now"),
    ("$24.990", "es", "CL", "24990", "CLP", "now"),
    ("2,190.00 ARS", "en", "AR", "2190", "ARS", "now"),
    ("1.299,00 €", "de", "DE", "1299", "EUR", "now"),
    ("1.299 €", "de", "DE", "1299", "EUR", "now"),
    ("1.299,- €", None, None, "1299", "EUR", "now"),
    ("1 299,00\u00a0€", "fr", "FR", "1299", "EUR", "now"),
    ("35€ 99", "fr", "FR", "35.99", "EUR", "now"),
    ("CHF 1'299.–", "de", "CH", "1299", "CHF", "now"),
    ("12 990:-", "sv", "SE", "12990", None, "now"),
    ("kr 12 990,-", "nb", "NO", "12990", "NOK", "now"),
    ("1 349,00 zł", "pl", "PL", "1349", "PLN", "now"),
    ("9 472 Ft", "hu", "HU", "9472", "HUF", "now"),
    ("63.07 Lei", "ro", "RO", "63.07", "RON", "now"),
    ("R$ 1.759,99", "pt", "BR", "1759.99", "BRL", "now"),
    ("₹1,23,456", "en", "IN", "123456", "INR", "now"),
    ("502,20 руб.", "ru", "BY", "502.20", "BYN", "now"),
    ("44 890 тг.", "ru", "KZ", "44890", "KZT", "now"),
    ("¥129,800 (税込)", "ja", "JP", "129800", "JPY", "now"),
    ("￥1,299.00", "zh", "CN", "1299", "CNY", "now"),
    ("12,000원", "ko", "KR", "12000", "KRW", "now"),
    ("₩1,234,000", None, None, "1234000", "KRW", "now"),
    ("１２，８００円", "ja", "JP", "12800", "JPY", "now"),
    ("423.923 KD", "en", "KW", "423.923", "KWD", "now"),
    ("$1,190.00 AUD", "en", "US", "1190", "AUD", "now"),
    ("1,299. 99 $", "en", "US", "1299.99", "USD", "now"),
    ("109€ 109€ 109€", "pt", "PT", "109", "EUR", "now"),
    # Words and marks say what the amount is.
    ("$54.16/mo.", "en", "US", "54.16", "USD", "monthly"),
    ("54,16 € mtl.", "de", "DE", "54.16", "EUR", "monthly"),
    ("$54.16 or $54.16/mo.", "en", "US", "54.16", "USD", "monthly"),
    ("499,99 € netto 599,99 € brutto", "de", "DE", "599.99", "EUR", "now"),
    ("12,800円（税込14,080円）", "ja", "JP", "14080", "JPY", "now"),
    ("14,080円（税抜12,800円）", "ja", "JP", "14080", "JPY", "now"),
    ("£299.99 (£359.99 inc. VAT)", "en", "GB", "359.99", "GBP", "now"),
    ("119,00 € (netto 100,00 €)", "de", "DE", "119", "EUR", "now"),
    ("100,00 € (exkl. MwSt.) 119,00 €", "de", "DE", "119", "EUR", "now"),
    ("11 569 Kč bez DPH 13 999 Kč", "cs", "CZ", "13999", "CZK", "now"),
    ("1 299€99 Livraison gratuite", "fr", "FR", "1299.99", "EUR", "now"),
    ("De: R$ 4.999,00 Por: R$ 3.999,90", "pt", "BR", "3999.90", "BRL", "now"),
    ("7 990:- Ord. pris 8 990:-", "sv", "SE", "7990", None, "now"),
    ("12x de R$ 44,00 sem juros", "pt", "BR", "44", "BRL", "monthly"),
    ("월 54,160원", "ko", "KR", "54160", "KRW", "monthly"),
    ("From $109.90", "en", "CA", "109.90", "CAD", "from"),
    ("ab 1.299,00 €*", "de", "DE", "1299", "EUR", "from"),
    ("12,000원~", "ko", "KR", "12000", "KRW", "from"),
    ("alkaen 74,95 €", "fi", "FI", "74.95", "EUR", "from"),
    ("MSRP $1,599.99", "en", "US", "1599.99", "USD", "list"),
    ("UVP 1.499,00 €", "de", "DE", "1499", "EUR", "list"),
    ("2 for $5.00", "en", "US", "5", "USD", "bundle"),
    # Several amounts, all but one of which the words set aside.
    ("was $899.99 now $749.99", "en", "US", "749.99", "USD", "now"),
    ("1.299,00 € UVP 1.499,00 €", "de", "DE", "1299", "EUR", "now"),
    ("$1,299.99 or $54.16/mo. for 24 months", "en", "US", "1299.99", "USD", "now"),
    ("$1,299.99 (You save $200.00)", "en", "US", "1299.99", "USD", "now"),
    ("$1,299.99 + $9.99 shipping", "en", "US", "1299.99", "USD", "now"),
    ("1.299,00 € inkl. MwSt., zzgl. 4,99 € Versand", "de", "DE", "1299", "EUR", "now"),
    ("40.00€ Brez DDV: 36.53€", "sl", "SI", "40", "EUR", "now"),
    ("RTX 5090 32GB $1,999.99", "en", "US", "1999.99", "USD", "now"),
    ("CA$1,299.00", "en", "CA", "1299", "CAD", "now"),  # Canada, and not "about"
    ("CA $1,299.00", "en", "CA", "1299", "CAD", "now"),
    ("RTX 4090 $1,599.99", "en", "US", "1599.99", "USD", "now"),
    # Words for an old price, as shops of many countries print them.
    ("MRP ₹1,999", "en", "IN", "1999", "INR", "list"),
    ("reg $10.00", "en", "US", "10.00", "USD", "list"),
    ("Rek. pris: 299,00 kr", "sv", "SE", "299.00", "SEK", "list"),
    ("Förpris 6 490.-", "sv", "SE", "6490", None, "list"),
    ("Norm. 159,00 €", "fi", "FI", "159.00", "EUR", "list"),
    ("Piyasa Fiyatı : ₺240,00", "tr", "TR", "240.00", "TRY", "list"),
    ("Liste fiyatı 459,00 TL", "tr", "TR", "459.00", "TRY", "list"),
    ("Listenpreis: 89,95 €", "de", "DE", "89.95", "EUR", "list"),
    ("Prix habituel 44,90 €", "fr", "FR", "44.90", "EUR", "list"),
    ("Prezzo originale 24,00 €", "it", "IT", "24.00", "EUR", "list"),
    ("Precio habitual 9,95 €", "es", "ES", "9.95", "EUR", "list"),
    ("Cena rynkowa 199 zł", "pl", "PL", "199", "PLN", "list"),
    ("メーカー希望小売価格 6,600円", "ja", "JP", "6600", "JPY", "list"),
    ("할인 전 35,000원", "ko", "KR", "35000", "KRW", "list"),
    ("할인 후 가격 28,000원", "ko", "KR", "28000", "KRW", "now"),
    ("할인된 가격 28,000원", "ko", "KR", "28000", "KRW", "now"),
]


@pytest.mark.parametrize(("text", "language", "country", "amount", "currency", "kind"), PLAIN)
def test_plain_price(
    text: str, language: str | None, country: str | None, amount: str, currency: str | None, kind: str
) -> None:
    found = read_price(text, language=language, country=country)
    assert isinstance(found, Money), found
    assert (found.amount, found.currency, found.kind) == (Decimal(amount), currency, kind)
    assert found.text == text.strip()


NO_PRICE = [
    "", "일시품절", "가격비교예정", "See price in cart", "TBA", "Free!", "0", "$0.00", "0,00 EUR", "Save $50", "-$50.00",
    "-38%", "NaN", "40% OFF", "Was: $124.95 Now: $0.00", "Free Shipping on Orders $49+.", "Sheet Set", "1 299 500GB",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_PRICE)
def test_no_price(text: str) -> None:
    assert read_price(text, country="US", language="en") is None


#: text, language, country, readings that must be named
OPEN = [
    ("1.299", None, None, {"1299", "1.299"}),
    ("1,299 €", None, None, {"1299", "1.299"}),
    ("1.299 €", "en", "DE", {"1299", "1.299"}),
    ("$1.299", "en", "US", {"1299", "1.299"}),
    ("1,299 €", "de", "DE", {"1299", "1.299"}),
    ("$1,29999", "en", "US", {"1299.99", "1.29999"}),
    ("£6.95 - £9.95", "en", "GB", {"6.95", "9.95"}),
    ("$399.99 $449.99", "en", "US", {"399.99", "449.99"}),
    ("11,000円 10,000円（税込）", "ja", "JP", {"11000", "10000"}),
    ("15,000円（税込11,000円）", "ja", "JP", {"15000", "11000"}),
    ("AED 8000 (USD 2179)", None, None, {"8000", "2179"}),
    ("From 26 to 50 €", "fr", "FR", set()),
    ("$229 99", "en", "US", set()),
    ("1250€ 600", "fr", "FR", set()),
    ("RX 580 599,00 zł", "pl", "PL", set()),
    ("$.75,333", "en", "US", set()),
    ("11번가_24,790|쿠팡_26,950", "ko", "KR", set()),
    ("일시품절 1,234,000원", "ko", "KR", set()),
    ("1,99 €/100 g", "de", "DE", {"1.99"}),
    ("12.5円", "ja", "JP", set()),
    ("x" * 300 + " $5.00", "en", "US", set()),
]


@pytest.mark.parametrize(("text", "language", "country", "readings"), OPEN)
def test_what_can_be_read_in_two_ways_says_so(
    text: str, language: str | None, country: str | None, readings: set[str]
) -> None:
    found = read_price(text, language=language, country=country)
    assert isinstance(found, Ambiguous), found
    assert found.reason
    assert set(found.readings) == {Decimal(one) for one in readings}


def test_the_locale_decides_what_a_point_before_three_digits_means() -> None:
    german, english = read_price("1.299", language="de"), read_price("1.299", language="en")
    assert isinstance(german, Money)
    assert isinstance(english, Money)
    assert (german.amount, english.amount) == (Decimal(1299), Decimal("1.299"))


def test_the_habit_of_the_page_beats_its_language() -> None:
    found = read_price("1.299 €", language="en", country="DE", decimal=",")
    assert isinstance(found, Money)
    assert found.amount == 1299


@settings(max_examples=EXAMPLES, deadline=None)
@given(prices())
def test_generated_prices_come_back(price: Printed) -> None:
    check(price)


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(st.text(max_size=80), st.sampled_from((None, "USD", "KRW")), st.sampled_from((None, "US", "DE", "KR", "ZZ")))
def test_any_text_gives_a_positive_amount_or_none(text: str, currency: str | None, country: str | None) -> None:
    found = read_price(text, currency=currency, country=country)
    if isinstance(found, Money):
        assert found.amount > 0
        assert found.amount.is_finite()


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(st.text(alphabet="0123456789.,' €$-xмkr/%\u00a0", max_size=30))
def test_digits_and_signs_never_raise(text: str) -> None:
    found = read_price(text, country="DE")
    assert not isinstance(found, Money) or found.amount > 0
