"""Six hundred price texts of real shops: each is read as a person would read it, or left open for a reason named here."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.money import Ambiguous, Money, read_price

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
