"""The words behind which shops of many countries print a product's numbers, and where else a number stands.

Each word is the shop's own, the maker's or the trade's; `code article` must not be read as `code`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gpuledger.extract.words import entries
from gpuledger.items import Offer
from tests.support.html_page import offer_on, shop_page, told

NUMBERS = {"sku": "KX-20417", "mpn": "KX-20417", "gtin": "4006381333931"}
_TABLE = tomllib.loads(Path(__file__).with_name("number_words.toml").read_text(encoding="utf-8"))
WORDS = [(field, word) for field, table in _TABLE.items() for word in entries(table)]
#: In one text, and in two cells.
FORMS = (
    "<p>{word}: {number}</p>",
    "<table><tr><th>{word}</th><td>{number}</td></tr></table>",
)


def read(markup: str, head: str = "", path: str = "p/kompressor") -> Offer:
    """The offer of a page with this markup beside its price."""
    body = f'<p class="price">189,90 €</p>{markup}<button class="btn-buy">In den Warenkorb</button>'
    return offer_on(f"https://werk.example.de/{path}", shop_page(body, "de", title="Kompressor Alu", head=head))[0]


@pytest.mark.parametrize("form", FORMS)
def test_the_number_behind_each_word(form: str) -> None:
    missed = []
    for field, word in WORDS:
        number = NUMBERS[field]
        offer = read(form.format(word=word, number=number))
        found = [name for name in NUMBERS if getattr(offer, name) == number]
        if found != [field]:
            missed.append((word, field, found))
    assert missed == []


def ld(**numbers: str) -> str:
    """A JSON-LD product that is the page's own."""
    offer = {"@type": "Offer", "price": "189.90", "priceCurrency": "EUR"}
    return told({"@type": "Product", "name": "Kompressor Alu", **numbers, "offers": offer})


#: name: the markup, the head, and the shop's number.
PLACES = {
    "on a line of its own, far from the margin": (
        f"<span>{' ' * 40}SKU:\n{' ' * 30}746423\n{' ' * 30}</span>",
        "",
        "746423",
    ),
    "in a part that is named after a product's specification, and not after products": (
        '<div class="productSpecificationBox--3x5"><ul><li><strong>Product Code - </strong>39139301</li></ul></div>',
        "",
        "39139301",
    ),
    "in an element that only the shop's tests know by name": (
        '<p><span data-qa-qualifier="product-reference">0210/088</span></p>',
        ld(sku="56256011-999-99", mpn="56256011-999-99"),
        "0210/088",
    ),
    "one of several, which the address names": (
        "<p>Art.-Nr.: 903.294.89</p><p>Art.-Nr.: 992.775.08</p>",
        "",
        "992.775.08",
    ),
    "in an element that a theme defines": ("<variant-sku>SKU: KG-CH-01</variant-sku>", "", "KG-CH-01"),
    "behind a colon in an element of its own": (
        "<span>Artikelnummer</span><span>: </span><span>KG-117</span>",
        "",
        "KG-117",
    ),
    "in Cyrillic": ("<p>Артикул: ДУ-650</p>", "", "ДУ-650"),
    "to machines, where none is printed": ("", ld(sku="11-22", mpn="KX-9"), "11-22"),
    "of the maker to machines, of the shop for people": ("<p>Artikelnummer: 4711</p>", ld(mpn="KX-9"), "4711"),
}


@pytest.mark.parametrize("name", PLACES)
def test_where_a_number_stands(name: str) -> None:
    markup, head, number = PLACES[name]
    path = "p/kompressor-s99277508" if "address" in name else "p/kompressor"
    assert read(markup, head, path).sku == number


@pytest.mark.parametrize(
    "markup",
    [
        "<p>Code promo: SAVE10</p>",
        "<p>Codes: 20 % mit SAVE10</p>",
        "<p>Referenzen: seit 1998 im Handel</p>",
        "<p>Typ: A1</p>",
    ],
)
def test_other_words_name_no_number(markup: str) -> None:
    assert read(markup).sku is None
