"""The market of an offer, the way to its buyer, and whether tax and shipping are in its price: only what is printed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gpuledger.errors import LayoutChanged
from gpuledger.extract import source, words
from gpuledger.extract.collect import parse_page
from gpuledger.extract.market import with_market
from gpuledger.items import Issue, Offer
from tests.extract.pages import page
from tests.support.html_page import CART, TITLE, offer_on, shop_page, told


def offer(**fields: Any) -> Offer:
    facts = {"title": "Norvik RTX 4070", "url": "https://shop.example/p/1", "key": "1", **fields}
    return Offer(**facts)


def marked(country: str | None = None, **fields: Any) -> Offer:
    found = with_market(offer(**fields), country)
    assert isinstance(found, Offer)
    return found


EURO = {"price": Decimal(100), "price_kind": "now", "currency": "EUR"}
WON = {"price": Decimal(100000), "price_kind": "now", "currency": "KRW"}


@pytest.mark.parametrize(
    ("country", "fields", "market"),
    [
        ("US", EURO, "us"),
        (None, {**EURO, "url": "https://shop.de/p/1"}, "de"),
        (None, {"url": "https://shop.co.uk/p/1"}, "gb"),
        (None, {**WON, "url": "https://shop.io/p/1"}, "kr"),
        (None, WON, "kr"),
        (None, EURO, "eu"),
        (None, {}, None),
        ("US", {"market": "jp"}, "jp"),
    ],
)
def test_a_market_follows_from_what_is_printed(country: str | None, fields: dict[str, Any], market: str | None) -> None:
    assert marked(country, **fields).market == market


@pytest.mark.parametrize(
    ("behind", "lang", "market", "codes"),
    [("", "de", "eu", ["no_country"]), ("#country=at", "de", "at", []), ("", "de-DE", "de", [])],
)
def test_a_shop_of_the_euro_area_says_its_country_or_is_told_how(
    behind: str, lang: str, market: str, codes: list[str]
) -> None:
    euros = page(shop_page('<p class="price">599,00 €</p>' + CART, lang), f"https://shop.example.com/p/1{behind}")
    found = parse_page(source.get("generic_shop"), euros)
    assert [one.market for one in found if isinstance(one, Offer)] == [market]
    assert [one.code for one in found if isinstance(one, Issue)] == codes


def test_dollars_are_those_of_the_country_that_the_address_is_told() -> None:
    """A text that names no country is refused, as a country that there is not."""
    dollars = shop_page('<p class="price">$599.00</p>' + CART, "en")
    generic = source.get("generic_shop")
    untold, in_canada = (
        parse_page(generic, page(dollars, f"https://shop.example.com/1{n}")) for n in ("", "#country=ca")
    )
    assert [item.currency for item in in_canada if isinstance(item, Offer)] == ["CAD"]
    assert any("#country=us" in item.message for item in untold if isinstance(item, Issue))
    with pytest.raises(LayoutChanged, match="country=XX"):
        parse_page(generic, page(dollars, "https://shop.example.com/1#country=xx"))


@pytest.mark.parametrize(
    ("fields", "channel"),
    [
        ({"title": "MSI 지포스 RTX 4080 게이밍 해외구매"}, "grey_import"),
        ({"title": "ZOTAC RTX 4070 병행수입"}, "grey_import"),
        ({"title": "Palit RTX 4070 (non-EU)"}, "grey_import"),
        ({"title": "Gainward RTX 4070, EU-Import"}, "grey_import"),
        ({"title": "玄人志向 RTX 4070 並行輸入品"}, "grey_import"),
        ({"seller": "Someone", "seller_kind": "marketplace"}, "marketplace"),
        ({"condition": "refurbished"}, "refurbished"),
        ({"title": "NVIDIA RTX 4070: important features"}, "official"),
        ({"title": "이엠텍 RTX 4070 정품"}, "official"),
    ],
)
def test_the_way_to_the_buyer(fields: dict[str, Any], channel: str) -> None:
    assert marked(**fields).channel == channel


@pytest.mark.parametrize(
    ("text", "taxed"),
    [
        ("1.234,00 € inkl. MwSt.", True), ("1.037,00 € zzgl. 19 % MwSt.", False), ("£899.00 ex VAT", False),
        ("£1,078.80 inc VAT", True), ("890,000원 (VAT 별도)", False), ("부가세 포함 979,000원", True),
        ("89,800円(税込)", True),
        ("81,636円(税抜)", False), ("999,00 € TTC", True), ("832,50 € HT", False), ("$599.99", None), ("+ VAT 500", False),
        ("prix TTC", True), ("prix HT", False), ("moms ingår", True), ("uden moms", False), ("s DPH", True),
        ("bez DPH", False), ("IVA incluido", True), ("без НДС", False), ("alv 0 %", False), ("alv 25,5 %", None),
        ("Haltbarkeit", None),
    ],
)  # fmt: skip
def test_what_a_price_says_of_tax(text: str, taxed: bool | None) -> None:
    assert words.tax_included(text) is taxed


def shop(**more: Any) -> Offer:
    stated = {"@type": "Offer", "price": "100.00", "priceCurrency": "EUR", "availability": "InStock", **more}
    head = told({"@type": "Product", "name": TITLE, "offers": stated})
    return offer_on("https://shop.de/p/1", shop_page('<div class="price">100,00 €</div>', "de", head=head))[0]


def rate(value: str, currency: str = "EUR") -> dict[str, Any]:
    return {"shippingRate": {"@type": "MonetaryAmount", "value": value, "currency": currency}}


@pytest.mark.parametrize(
    ("details", "shipping"),
    [
        (rate("6.90"), Decimal("6.90")),
        ([rate("0"), rate("0")], Decimal(0)),
        ([rate("6.90"), rate("14.90")], None),
        (rate("6.90", "USD"), None),
        ({"shippingRate": "free"}, None),
    ],
)
def test_shipping_is_taken_where_the_page_gives_one_sum(details: Any, shipping: Decimal | None) -> None:
    assert shop(shippingDetails=details).shipping == shipping


@pytest.mark.parametrize(("said", "taxed"), [("true", True), (False, False), ("", None)])
def test_tax_is_taken_from_structured_data(said: Any, taxed: bool | None) -> None:
    assert shop(priceSpecification={"price": "100.00", "valueAddedTaxIncluded": said}).tax_included is taxed


@pytest.mark.parametrize(
    ("text", "price", "taxed"),
    [
        ("£359.99 inc. VAT £299.99 ex. VAT", "359.99", True),
        ("£359.99 inc. VAT £299.99 ex. VAT", "299.99", False),
        ("€ 304,- € 251,24 excl. btw", "304", True),
        ("1.149,00 € 1.249,00 € zzgl. 19 % USt.", "1149", False),
        ("649,00 EUR jetzt nur 589,00 EUR inkl. MwSt", "589", True),
        ("₹28,750 ₹43,000 Ex Tax: ₹24,364", "28750", True),
        ("$549.00 $599.00", "549", None),
    ],
)
def test_of_several_amounts_the_words_of_tax_speak_of_the_asked_one(text: str, price: str, taxed: bool | None) -> None:
    assert marked(**{**EURO, "price": Decimal(price), "price_text": text}).tax_included is taxed
