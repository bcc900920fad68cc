"""The text of a price: the number's form, the word beside it, the currency that may be meant, what is left open."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words
from gpuledger.extract.price.amounts import Format, decimal_symbol, digits_to_ascii, page_format, readings, to_decimal
from gpuledger.extract.price.money import (
    MAX_LENGTH,
    Ambiguous,
    Money,
    label_in,
    read_price,
    read_typed,
    tokens,
    without_amounts,
)
from tests.support.generated_prices import Printed, check, prices

DOLLARS, EUROS, WON, DINARS = Format(".", 2), Format(",", 2), Format(",", 0), Format(".", 3)
UNKNOWN = Format(None, None)


@pytest.mark.parametrize(
    ("token", "how", "expected"),
    [
        ("1299", UNKNOWN, ["1299"]),
        ("1.299,00", UNKNOWN, ["1299.00"]),
        ("1,299.00", UNKNOWN, ["1299.00"]),
        ("1,299,000", UNKNOWN, ["1299000"]),
        ("1.29.5", UNKNOWN, []),
        ("1.29,5.0", UNKNOWN, []),
        ("12,34.50", UNKNOWN, []),
        ("1.299", UNKNOWN, ["1299", "1.299"]),
        ("1.299", EUROS, ["1299"]),
        ("1.299", DOLLARS, ["1299", "1.299"]),
        ("1.299", DINARS, ["1.299"]),
        ("1.299", Format(".", None), ["1.299"]),
        ("1.299", WON, ["1299"]),
        ("1.2", WON, []),
        ("1.0", WON, ["1.0"]),
        ("0.299", EUROS, ["0.299"]),
        (".299", EUROS, ["0.299"]),
        ("1234.567", EUROS, ["1234.567"]),
        ("12.34", EUROS, ["12.34"]),
        ("1,29999", DOLLARS, ["1299.99", "1.29999"]),
        ("123,29999", Format(".", None), ["123299.99", "123.29999"]),
        ("1234,29999", DOLLARS, ["1234.29999"]),
        ("1,29999", DINARS, ["1.29999"]),
        ("1 29.999", EUROS, []),
        ("1 299,99", EUROS, ["1299.99"]),
        ("123456789012345", UNKNOWN, ["123456789012345"]),
        ("1234567890123456", UNKNOWN, []),
    ],
)
def test_what_a_printed_number_may_mean(token: str, how: Format, expected: list[str]) -> None:
    found = readings(token, how)
    assert isinstance(found, tuple)
    assert [str(amount) for amount in found] == expected


@pytest.mark.parametrize(
    ("mark", "how", "expected"),
    [
        ("", EUROS, ["1299"]),
        (",", UNKNOWN, ["1299"]),
        (".", UNKNOWN, ["1299", "1.299"]),
        (".", EUROS, ["1299", "1.299"]),
        (",", DINARS, ["1299"]),
    ],
)
def test_a_dash_for_the_cents_says_which_separator_is_the_decimal_one(
    mark: str, how: Format, expected: list[str]
) -> None:
    assert [str(amount) for amount in readings("1.299", how, mark)] == expected


@pytest.mark.parametrize(
    ("language", "country", "expected"),
    [
        ("es", None, None), ("de", None, ","), ("en", None, "."), (None, None, None), ("", "", None), ("xx", None, None),
        ("es", "ES", ","), ("es", "MX", "."), ("es", "US", None), ("de", "US", None), ("en", "DE", None),
        ("de_DE", "de", ","),
        ("de-AT", "DE", ","), (None, "DE", ","), (None, "CH", None), (None, "US", "."), ("en", "GB", "."), ("it", "DE", ","),
        ("xx", "DE", ","), ("de", "CH", "."), ("en", "IE", "."), (None, "BR", ","), ("en", "ZZ", "."),
    ],
)  # fmt: skip
def test_the_decimal_symbol_of_a_page(language: str | None, country: str | None, expected: str | None) -> None:
    assert decimal_symbol(language, country) == expected


def test_the_format_of_a_page() -> None:
    assert page_format("EUR", "de", "DE") == Format(",", 2)
    assert page_format("KRW", "ko", "KR") == Format(".", 0)
    assert page_format("EUR", "de", "DE", ".") == Format(".", 2), "what the page was seen to do comes first"
    assert page_format("USD", None, None) == Format(".", 2), "the money's home"
    assert page_format("EUR", None, None) == Format(None, 2), "a money of many homes"
    assert page_format("MXN", "es", None) == Format(".", 2), "Spanish as in Mexico"
    assert page_format("ARS", "es", None) == Format(",", 2), "Spanish as in Argentina"
    assert page_format("USD", "es", None) == Format(".", 2), "Spanish of a country that has another language"
    assert page_format(None, None, None, sign="$") == Format(".", 2)
    assert page_format(None, None, None, sign="kr") == Format(None, 2)
    assert page_format(None, None, None) == Format(None, None)
    assert page_format(None, None, "CH", sign="$") == Format(None, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1299.5", "1299.5"), ("1,299.50", "1299.50"), ("1.299,50", "1299.50"), (Decimal("1E+3"), "1000"), (7, "7"),
        (True, None), (None, None), ("1,299", None), ("１２", None), ("12345678901,234.50", None), (" 5.00 ", "5.00"),
        ("24,90", "24.90"), ("0", "0"), ("978.0000", "978.0000"), (49.1, "49.1"), ("1e3", None), ("-5", None), ("NaN", None),
        ("Infinity", None), ("", None), ("12.3.4", None), ("$5", None), ("9" * 16, None), ("٥", None),
    ],
)  # fmt: skip
def test_a_number_for_machines(text: object, expected: str | None) -> None:
    found = to_decimal(text)  # type: ignore[arg-type]
    assert found == (None if expected is None else Decimal(expected))


def test_digits_of_other_scripts() -> None:
    assert digits_to_ascii("٤٬٩٩٩٫٥٠ ９，９．５ १२") == "4,999.50 9,9.5 12"
    assert digits_to_ascii("12 x½") == "12 x½"


def money(text: str, language: str = "en", country: str | None = "US", **more: str) -> Money:
    found = read_price(text, language=language, country=country, **more)
    assert isinstance(found, Money), found
    return found


@pytest.mark.parametrize(
    ("text", "amount", "kind", "old"),
    [
        ("$1,299.99", "1299.99", "now", None),
        ("From $499.00", "499", "from", None),
        ("starting at $499.00", "499", "from", None),
        ("$499.00+", "499", "from", None),
        ("$49.00 per month", "49", "monthly", None),
        ("12 monthly payments of $49.00", "49", "monthly", None),
        ("$599.00 or 12 payments of $49.92", "599", "now", None),
        ("was $599.00", "599", "list", None),
        ("$499.00 was $599.00", "499", "now", "599"),
        ("$499.00 was $599.00 was $699.00", "499", "now", None),
        ("$499.00 was $399.00", "499", "now", None),
        ("From $499.00 was $599.00", "499", "from", None),
        ("$599.00 excl. VAT", "599", "now", None),
        ("$499.00 excl. VAT $599.00 incl. VAT", "599", "now", None),
        ("2 for $50.00", "50", "bundle", None),
        ("$499.00, save $100.00", "499", "now", None),
        ("$49.00 or $49.00/mo", "49", "monthly", None),
    ],
)
def test_the_word_beside_an_amount_says_what_it_is(text: str, amount: str, kind: str, old: str | None) -> None:
    found = money(text)
    assert (found.amount, found.kind) == (Decimal(amount), kind)
    assert found.list_amount == (None if old is None else Decimal(old))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$499.00 $599.00 excl. VAT", "a price before tax that is higher than the price"),
        ("$4.99/lb", "a price by weight, length or time"),
        ("$499.00 $599.00", "several prices"),
        ("$499.00 €499.00", "several prices"),
        ("$229 99", "cents set apart from the amount, or another number behind it"),
        ("$499 to 599", "a range of prices"),
        ("$1.29.5", "digits grouped as in no price"),
        ("$1.299", "the separator can be read as decimal or as thousands"),
        ("Quantum 499.00", "words that are not known beside a number without a currency"),
        ("sold out $499.00 left", "an amount beside words that say there is no price"),
        ("$499.00 " + "a" * MAX_LENGTH, "a text this long is not that of a price element"),
        ("₩1,000 USD", "two currencies"),
        ("$499 8000 left", "a number right behind the currency"),
    ],
)
def test_why_a_price_cannot_be_told(text: str, reason: str) -> None:
    found = read_price(text, language="en", country="US")
    assert isinstance(found, Ambiguous), found
    assert found.reason == reason


def test_the_same_net_price_beside_the_price_is_no_contradiction() -> None:
    assert money("$499.00 $499.00 excl. VAT").amount == 499
    assert money("$499.00 $399.00 excl. VAT").amount == 499


def test_a_text_of_the_length_of_a_price_is_read() -> None:
    assert isinstance(read_price("x" * (MAX_LENGTH - 3) + " $5", country="US"), Money)
    assert isinstance(read_price("x" * (MAX_LENGTH - 2) + " $5", country="US"), Ambiguous)


@pytest.mark.parametrize(
    ("text", "currency", "country", "expected"),
    [
        ("$5.00", None, "US", "USD"), ("$5.00", None, "CA", "CAD"), ("$5.00", None, None, None),
        ("$5.00", "AUD", None, "AUD"),
        ("$5.00", "AUD", "US", "AUD"), ("now $5.00", "AUD", "US", "AUD"),
        ("5.00", "USD", None, "USD"), ("5.00", None, "US", None),
        ("€5.00", None, "US", "EUR"),
        ("€5.00", "USD", "US", "EUR"),
        ("US$5.00", None, "CA", "USD"), ("$5.00 AUD", None, "US", "AUD"), ("CAD 5.00", "USD", "US", "CAD"),
        ("12,000원", None, None, "KRW"), ("12,000 원", "USD", "US", "KRW"), ("₹500.00", None, None, "INR"),
    ],
)  # fmt: skip
def test_whose_money_it_is(text: str, currency: str | None, country: str | None, expected: str | None) -> None:
    found = read_price(text, currency=currency, country=country, language="en")
    assert isinstance(found, Money), found
    assert found.currency == expected


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("3,000,000", "3000000", None), ("300만원", "3000000", "KRW"), ("5천 원", "5000", "KRW"), ("$2,500", "2500", "USD"),
        ("2.500 €", "2500", "EUR"), ("2500 eur", "2500", "EUR"), ("C$2500", "2500", "CAD"), ("2.500 KWD", "2.5", "KWD"),
        ("2.500,50", "2500.5", None), ("30万円", "300000", "JPY"),
        *((text, None, None) for text in ("2.500", "2,500", "2,500 kr", "¥300000", "2500-3000 USD", "2500 EUR a month")),
    ],
)  # fmt: skip
def test_an_amount_that_a_person_types_is_never_guessed(text: str, amount: str | None, currency: str | None) -> None:
    found = read_typed(text)
    read = (found.amount, found.currency) if isinstance(found, Money) else (None, None)
    assert read == (amount and Decimal(amount), currency)


def test_a_sign_that_is_not_of_the_currency_that_is_known_is_left_open() -> None:
    found = read_price("$5.00", currency="EUR")
    assert isinstance(found, Ambiguous)
    assert found.reason == "a sign that is not of EUR"


def test_whether_the_text_itself_says_that_it_is_money() -> None:
    assert [money(text).signed for text in ("$5.00", "5.00", "1.299,-", "5 €", "12,000원")] == [
        True, False, True, True, True,
    ]  # fmt: skip
    assert [money(text).number for text in ("$1,299.99", "was $5.00 now $4.50", "12,000원")] == [
        "1,299.99",
        "4.50",
        "12,000",
    ]


def test_words_in_a_part_call_the_amount_that_is_asked_about() -> None:
    text = "was $599.00 now $499.00, $49.00/mo, save $50.00, $450.00 excl. VAT"
    parts = {
        "$599.00": "list",
        "499.00": "now",
        "$49.00": "monthly",
        "$50.00": "noise",
        "$450.00": "net",
        "$1.00": None,
    }
    assert {part: label_in(text, part) for part in parts} == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Unit price", True), ("Preis", True), ("판매가", True), ("Weight", False), ("surprise", False)],
)
def test_a_heading_of_a_price_has_a_word_for_it(text: str, expected: bool) -> None:
    assert price_words.is_of_price(text) is expected


def test_the_amounts_and_the_words_of_a_text() -> None:
    assert tokens("was $599.00 now $499.00") == {"599.00": "list", "499.00": "now"}
    assert tokens("4.50 stars, $499.00") == {"499.00": "now"}
    assert tokens("4.50") == {"4.50": "now"}
    assert tokens("RTX 4070 12GB") == {}
    assert without_amounts("was $599.00 now 499,00 €").split() == ["was", "now"]
    assert without_amounts("3 for 3080").split() == ["for"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", "now"), ("", "/mo", "monthly"), ("12 x ", "", "monthly"), ("", " off", "noise"), ("save ", "", "noise"),
        ("+ ", "", "noise"), ("", "/kg", "unit"), ("", " excl. VAT", "net"), ("netto ", "", "net"), ("was ", "", "list"),
        ("was 10 off, now ", "", "now"), ("now, was ", "", "list"), ("list price, save ", "", "noise"),
        ("from ", "", "from"), ("current bid ", "", "bid"), ("was 500, current bid ", "", "bid"),
        ("", " and up", "from"), ("bundle ", "", "bundle"), ("now from ", "", "from"), ("save, now from ", "", "from"),
        ("now ", "/mo", "monthly"), ("was ", " excl. VAT", "net"), ("was from ", "", "list"),
    ],
)  # fmt: skip
def test_what_the_words_before_and_behind_an_amount_call_it(before: str, after: str, expected: str) -> None:
    assert price_words.label(before, after) == expected


#: Examples of the properties here; `benchmarks.bench_product` draws many more of the same.
EXAMPLES = 2_000

#: text, language and country of the page, amount, currency, kind
_TABLES = tomllib.loads(Path(__file__).with_name("price_texts.toml").read_text(encoding="utf-8"))
PLAIN = [[word or None for word in line] for line in _TABLES["plain"]]


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
OPEN = [(text, language or None, country or None, set(found)) for text, language, country, found in _TABLES["open"]]


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


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(
    st.text(max_size=80) | st.text(alphabet="0123456789.,' €$-xмkr/%\u00a0", max_size=30),
    st.sampled_from((None, "USD", "KRW")),
    st.sampled_from((None, "US", "DE", "KR", "ZZ")),
)
def test_any_text_gives_a_positive_amount_or_none(text: str, currency: str | None, country: str | None) -> None:
    found = read_price(text, currency=currency, country=country)
    if isinstance(found, Money):
        assert found.amount > 0
        assert found.amount.is_finite()


Example = dict[str, Any]


def _numbers(example: Example) -> int:
    return len(re.findall(r"\d(?:[\d., ]*\d)?", example["price_raw"]))


#: Why an example may be left without the amount that its authors expect; the first that holds is the reason.
LEFT_OPEN: list[tuple[str, Callable[[Example], bool]]] = [
    ("zero is no price", lambda example: Decimal(example["amount"]) == 0),
    ("a currency without a number is no price", lambda example: not re.search(r"\d", example["price_raw"])),
    (
        "several amounts, and no word that says which is asked",
        lambda example: (
            len(re.findall(r"\d+[.,]\d\d|\d[\d,]{2,}|\d\d", example["price_raw"])) > 1 and _numbers(example) > 1
        ),
    ),
    (
        "one separator before three digits is decimal in one country and a group in another, and nothing names the country",
        lambda example: re.search(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![\d.,])", example["price_raw"]) is not None,
    ),
    (
        "separators that stand as in no number",
        lambda example: re.search(r"(?<!\d)[.,]\d+[.,]\d|[.]{2}", example["price_raw"]) is not None,
    ),
    (
        "an upper limit is no price",
        lambda example: re.search(r"under\b", example["price_raw"], re.IGNORECASE) is not None,
    ),
    (
        "letters that are no currency of ours: a unit, a word, a currency that one letter cannot name",
        lambda example: re.search(r"\d\s?[^\W\d]", example["price_raw"]) is not None,
    ),
]
#: At most this many of each may be left open; more would mean that the reader gives up too easily.
MOST = {
    "zero is no price": 12, "a currency without a number is no price": 6,
    "several amounts, and no word that says which is asked": 14,
    "one separator before three digits is decimal in one country and a group in another, and nothing names the country": 10,
    "separators that stand as in no number": 3, "an upper limit is no price": 1,
    "letters that are no currency of ours: a unit, a word, a currency that one letter cannot name": 12,
}  # fmt: skip


@pytest.fixture(scope="module")
def examples(shared_data: Path) -> list[Example]:
    lines = (shared_data / "price_strings" / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    return [example for line in lines if (example := json.loads(line))["price_raw"] is not None]


def test_every_price_is_read_or_left_open_for_a_reason(examples: list[Example]) -> None:
    left = Counter[str]()
    for example in examples:
        hint = currencies.find(example["currency_raw"] or "")
        found = read_price(example["price_raw"], currency=hint)
        if isinstance(found, Money):
            assert example["amount"] is not None, (example, found)
            assert found.amount == Decimal(example["amount"]), (example, found)
        elif example["amount"] is not None:
            reason = next((reason for reason, holds in LEFT_OPEN if holds(example)), None)
            assert reason is not None, (example, found)
            left[reason] += 1
    assert len(examples) > 580
    assert all(left[reason] <= MOST[reason] for reason in left), left
    assert not left.keys() - MOST.keys()


def test_what_has_two_readings_names_the_expected_one(examples: list[Example]) -> None:
    for example in examples:
        found = read_price(example["price_raw"], currency=currencies.find(example["currency_raw"] or ""))
        if isinstance(found, Ambiguous) and found.readings and example["amount"] and "decimal_separator" not in example:
            assert Decimal(example["amount"]) in found.readings, (example, found)


def test_the_currency_is_that_of_the_sign_in_the_text(examples: list[Example]) -> None:
    checked = 0
    for example in examples:
        found = read_price(example["price_raw"])
        if isinstance(found, Money) and found.signed and found.currency and example["currency"]:
            assert currencies.of_symbol(example["currency"]) in (found.currency, None), (example, found)
            checked += 1
    assert checked > 250
