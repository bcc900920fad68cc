# ruff: noqa: E501  tables of cases
"""What is taken for a price: texts that were thought of after the code was done."""

from __future__ import annotations

from gpuledger.extract.price.money import Money, read_price
from gpuledger.extract.sources.quotes.cells import Unreadable, read_amount
from tests.walls.cases import failing

#: In an element of a price, and none, or none that is exact, of one piece and known.
NO_PRICE = [
    "ca. $1,599", "approx. $1,599", "about $1,599", "around 1599 USD", "circa 1.599 €", "etwa 1.599,00 €", "약 1,599,000원", "約159,900円", "environ 1 599 €", "up to $1,599",
    "starting at $1,599?", "$1,599 - $1,899", "$1,599–$1,899", "1.599 bis 1.899 €", "1,599,000 ~ 1,899,000원", "1599/1899", "$1,599 or $1,899", "under $1,600", "over $1,600", "less than $1,600",
    "$1,5xx", "$1,***", "$x,xxx.xx", "$—", "$-1,599.00", "-1599", "+$1,599", "$0.00", "0원", "$1.599.00.00", "$1,59,9", "1,599.000,00", "1'5'99",
    "$1 599 99", "1e3", "1.599e3", "0x63F", "$1599%", "15% off", "Save $100", "$100 off", "-20 %", "$59.99/mo", "$59.99 per month", "$59.99 x 24", "24 x $59.99", "ab 1.599 €",
    "TBA", "TBD $1,599", "N/A", "Call for price", "Price on request 1599", "sold out 1599", "가격문의", "품절 1,599,000원", "ask", "RTX 4090", "24GB", "24 GB GDDR6X", "450W", "4.8 (1,599)", "1,599 reviews",
    "#1599", "SKU 1599", "2023-11-16", "16.11.2023", "11/16/2023", "16:59", "+1 599 1599", "1599-1599-1599", "NaN", "Infinity", "∞", "①⑤⑨⑨", "Ⅿ", "½", "$½", "$1,599½",
    "9" * 40, "$" + "9" * 30, "$1," + "000," * 30 + "000", "", " ", "$", "€ ", "USD",
]  # fmt: skip


#: Below zero to whoever made the sheet; in a shop the brackets may be just brackets.
OF_A_QUOTE = ("($1,599.00)", "(1599)")


def test_texts_that_are_no_price_of_one_piece() -> None:
    def none(text: str) -> None:
        if text not in OF_A_QUOTE:
            found = read_price(text, currency="USD", country="US")
            assert not isinstance(found, Money) or found.kind != "now", found
        try:
            money = read_amount(text, "USD")
        except Unreadable:
            return
        raise AssertionError(f"a quote of {money}")

    assert failing({ascii(text)[:60]: lambda t=text: none(t) for text in (*NO_PRICE, *OF_A_QUOTE)}) == {}  # type: ignore[misc]
