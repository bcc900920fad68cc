"""Structured data as shops write it: broken JSON, references, aggregates, several products on a page."""

from __future__ import annotations

import re

import pytest

from gpuledger.extract.markup import jsonld, structured
from gpuledger.extract.markup.html import tree
from gpuledger.extract.markup.structured import StructuredProduct

URL = "https://shop.example.com/p/1"


def read(html: str) -> list[StructuredProduct]:
    return structured.products(tree(html.encode(), "text/html; charset=utf-8"), URL)


def script(text: str) -> str:
    return f'<html><head><script type="application/ld+json">{text}</script></head><body></body></html>'


@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "Product", /* a comment */ "name": "Card", "offers": {"price": "5",},}',
        '<!--{"@type": "Product", "name": "Card", "offers": {"price": "5"}}-->',
        '[{"@type": "Product", "name": "Card", "offers": {"@id": "#o"}}, {"@type": "Offer", "@id": "#o", "price": "5"}]',
    ],
)
def test_json_ld_however_it_is_written(text: str) -> None:
    (found,) = [product for product in read(script(text)) if product.name]
    assert (found.name, [offer.price for offer in found.offers]) == ("Card", ["5"])


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", "][", "true", "NaN", '{"price": 1e999}', "[" * 10_000, '"', "undefined"]
)
def test_json_ld_that_says_nothing(text: str) -> None:
    assert read(script(text)) == []


def test_numbers_stay_as_they_are_written() -> None:
    assert jsonld.loads('{"price": 1299.90, "big": 12345678901234567890}') == {
        "price": "1299.90",
        "big": "12345678901234567890",
    }


def test_a_missing_value_may_be_the_word_null() -> None:
    text = '{"@type": "Product", "name": "Card", "sku": "null", "brand": {"name": "undefined"}, "offers": null}'
    (found,) = read(script(text))
    assert (found.sku, found.brand, found.offers) == (None, None, ())


@pytest.mark.parametrize(
    ("word", "expected"),
    [("https://schema.org/InStock", "in_stock"), ("http://schema.org/OutOfStock", "out_of_stock"),
     ("SoldOut", "out_of_stock"), ("schema:PreOrder", "preorder"), ("in stock", "in_stock"),
     ("Sold out", "out_of_stock"), ("BackOrder", "preorder"),
     ("LimitedAvailability", "in_stock"), ("true", "in_stock"), ("whatever", None), ("null", None)],
)  # fmt: skip
def test_availability_as_address_or_word(word: str, expected: str | None) -> None:
    text = f'{{"@type": "Product", "name": "Card", "offers": {{"price": "5", "availability": "{word}"}}}}'
    assert read(script(text))[0].offers[0].availability == expected


def test_aggregates() -> None:
    (outer,) = read(
        script("""{"@type": "Product", "name": "Card", "offers": {"@type": "AggregateOffer", "lowPrice": "5",
        "highPrice": 9, "priceCurrency": "eur"}}""")
    )
    assert [(o.price, o.high_price, o.currency, o.kind) for o in outer.offers] == [("5", "9", "EUR", "from")]
    (inner,) = read(
        script("""{"@type": "Product", "name": "Card", "offers": {"@type": "AggregateOffer", "lowPrice": "5",
        "offers": [{"price": "5"}, {"price": "9"}]}}""")
    )
    assert [(o.price, o.kind) for o in inner.offers] == [("5", "now"), ("9", "now")]


def test_variants_of_a_group() -> None:
    found = read(
        script("""{"@type": "ProductGroup", "name": "Card", "hasVariant": [
        {"@type": "Product", "name": "Card 8GB", "offers": {"price": "5"}},
        {"@type": "Product", "name": "Card 16GB", "offers": {"price": "9"}}]}""")
    )
    assert [variant.name for variant in found[0].variants] == ["Card 8GB", "Card 16GB"]


def test_a_price_by_weight_is_not_the_price() -> None:
    (found,) = read(
        script("""{"@type": "Product", "name": "Paste", "offers": {"priceCurrency": "EUR", "priceSpecification": [
        {"price": "600", "referenceQuantity": {"value": "1", "unitCode": "KGM"}}, {"price": "6.00"}]}}""")
    )
    assert found.offers[0].price == "6.00"


MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Card</h1>
    <div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="5.00">
    <meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock"></div></div>"""
RDFA = re.sub(r'itemscope itemtype="https://schema.org/(\w+)"', r'typeof="\1"', MICRODATA).replace(
    "itemprop", "property"
)


@pytest.mark.parametrize(
    ("html", "syntax"),
    [
        (MICRODATA, "microdata"),
        (RDFA, "rdfa"),
        (re.sub(r'(property|typeof)="', r'\1="schema:', RDFA), "rdfa"),
        (RDFA.replace("<link", "<span").replace("href", "resource"), "rdfa"),
    ],
)
def test_attributes_of_elements(html: str, syntax: str) -> None:
    (found,) = read(html)
    assert (found.syntax, found.name) == (syntax, "Card")
    assert [(o.price, o.currency, o.availability) for o in found.offers] == [("5.00", "EUR", "in_stock")]


def test_what_is_no_goods_is_left_out() -> None:
    assert read(script('{"@type": "Organization", "name": "Shop", "offers": {"price": "5"}}')) == []
    assert read(script('{"@type": "Event", "name": "Fair"}')) == []
