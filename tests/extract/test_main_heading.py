"""Which element names the goods of a page: the right heading, or what stands for one where the page has none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpuledger.extract.items import Offer
from tests.support.html_page import TITLE, offer_on

SOLD = '<div class="kosten">549,00 €</div><p>Artikelnummer: VT-4070</p><a class="btn">In den Warenkorb</a>'
OTHERS = (
    '<div class="other"><a href="/p/fan"><img src="fan.png">Leiser Lüfter mit 120 mm und Schrauben</a> 19,90 €</div>'
    '<div class="other"><a href="/p/cable"><img src="cable.png">Kabel mit vergoldeten Steckern</a> 7,90 €</div>'
)


def read(body: str, title: str = f"{TITLE} kaufen | Kartenhaus") -> Offer:
    head = f'<meta charset="utf-8"><title>{title}</title>'
    html = f'<!doctype html><html lang="de"><head>{head}</head><body>{body}</body></html>'
    return offer_on("https://kartenhaus.example.de/artikel/veltor", html)[0]


@pytest.mark.parametrize(
    "body",
    [
        # The path to the page and its own link say the same further up.
        f'<div class="breadcrumb"><span>{TITLE}</span></div><p><a href="?">{TITLE}</a></p>{OTHERS}'
        f'<div class="shell"><b>{TITLE}</b>{SOLD}</div>',
        # Another element prints a shorter part of the title.
        f'{OTHERS}<div class="shell"><p>Kartenhaus</p><p>Veltor</p><div>{TITLE}</div>{SOLD}</div>',
        f'<div hidden><div>{TITLE}</div></div>{OTHERS}<div class="shell"><div>{TITLE}</div>{SOLD}</div>',
    ],
)
def test_goods_without_a_heading_are_found_by_the_title(body: str) -> None:
    offer = read(body)
    assert (offer.title, offer.price, offer.sku) == (TITLE, Decimal("549.00"), "VT-4070")
    assert offer.availability == "in_stock"


@pytest.mark.parametrize("name", ["data-hook", "data-qa", "data-test", "data-test-id", "data-cy"])
def test_names_that_only_the_shop_s_tests_use_say_which_price_is_old(name: str) -> None:
    prices = (
        f'<p><b {name}="price-old" class="x1">649,00 €</b> <b {name}="price-now" class="x2">549,00 €</b></p>'
        '<button class="x3">In den Warenkorb</button>'
    )
    offer = read(f'<div class="shell"><h1 {name}="product-title">{TITLE}</h1>{prices}</div>{OTHERS}')
    assert (offer.price, offer.list_price) == (Decimal("549.00"), Decimal("649.00"))


def test_a_heading_of_its_own_is_believed_before_the_title() -> None:
    body = f'<p>Kartenhaus Grafikkarten</p><div class="shell"><h1>Veltor 4070</h1>{SOLD}</div>{OTHERS}'
    offer = read(body, "Kartenhaus Grafikkarten Veltor")
    assert (offer.title, offer.price) == ("Veltor 4070", Decimal("549.00"))


def test_a_page_that_prints_no_part_of_its_title_keeps_the_title_s_own() -> None:
    assert read(f'<div class="shell"><div>Grafikkarte</div>{SOLD}</div>').title == f"{TITLE} kaufen | Kartenhaus"
