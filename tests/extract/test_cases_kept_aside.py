"""Pages and quotes that an earlier program read wrongly, each with what is right."""

from __future__ import annotations

import re
import shlex
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract import words
from gpuledger.items import Issue, Offer
from tests.extract.pages import quoted
from tests.support.html_page import offer_on

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases" / "pages"
PAGES = sorted(CASES.glob("*/page.html"))
QUOTES = sorted(CASES.glob("[01]*/quote.csv"))

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not on this machine")


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.parent.name)
def test_a_page(file: Path) -> None:
    url = shlex.split((file.parent / "command").read_text(encoding="utf-8"))[-1]
    offer, issues = offer_on(url, file.read_text(encoding="utf-8"))
    expected = (file.parent / "expected.txt").read_text(encoding="utf-8").strip()
    assert _is_accepted(expected, offer, issues), f"expected {expected}, got {offer} and {issues}"


def _is_accepted(expected: str, offer: Offer, issues: list[Issue]) -> bool:
    """Whether the offer is what the sentence asks: the amount, the variant and the status that it names."""
    if expected.startswith("no price"):
        return offer.price is None
    first = re.split(r";|: ", expected)[0]
    checks = []
    if "tax_included" in first:
        checks.append(offer.price is not None and offer.tax_included is not False)
    if amount := re.search(r"(\d+(?:\.\d\d)?) ([A-Z]{3})\b", first):
        is_left_open = "none with an issue" in expected and offer.price is None and issues
        checks.append(
            is_left_open or (offer.price, offer.currency, offer.price_kind) == (Decimal(amount[1]), amount[2], "now")
        )
    if sku := re.search(r"sku (\w+)", first, re.IGNORECASE):
        checks.append(offer.sku == sku.group(1))
    if size := re.search(r"\b(\d+GB)", first):
        checks.append(size.group(1) in offer.title)
    if first == "used":
        checks.append(offer.condition == "used")
    statuses = re.findall(r"\b(?:in_stock|out_of_stock|preorder|unknown)\b", first)
    if statuses:
        checks.append(offer.availability in statuses and (offer.availability != "unknown" or bool(issues)))
    if "with an availability_disagreement issue" in expected and offer.availability == "unknown":
        checks.append("availability_disagreement" in [issue.code for issue in issues])
    return bool(checks) and all(checks)


@pytest.mark.parametrize("file", QUOTES, ids=lambda file: file.parent.name)
def test_a_quote(file: Path) -> None:
    content = file.read_bytes()
    items = quoted(content)
    (offer,) = [item for item in items if isinstance(item, Offer)]
    if "bundle" in file.parent.name:
        assert offer.price_kind == "bundle"
        assert words.is_bundle(offer.title)
    else:
        assert (offer.price_kind, offer.quantity, [item for item in items if isinstance(item, Issue)]) == ("now", 2, [])
        assert f"{int(offer.price):,}" in content.decode().replace(" ", ",").replace(".", ",")
