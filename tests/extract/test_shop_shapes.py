"""Product pages shaped like those of shop systems and countries: what is the price there, and what stays open.

The markup is that of the systems' own templates, the shops and prices are invented. Each page has the furniture of a real
one: a cart in the header, other goods below.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gpuledger.items import Issue, Offer
from tests.support.html_page import ABOVE, BELOW, CART, TITLE, offer_on, shop_page, told


def read(
    body: str, lang: str = "en-US", host: str = "shop.example.com", offers: Any = None, **product_fields: Any
) -> tuple[Offer, list[Issue]]:
    described = {"@type": "Product", "name": TITLE, "offers": offers} | product_fields
    head = told(described) if offers or product_fields else ""
    return offer_on(f"https://{host}/p/rtx-4070", shop_page(body, lang, head=head, above=ABOVE, below=BELOW))


#: name: language, host, markup, price, currency, kind, old price.
SYSTEMS: dict[str, tuple[str, str, str, str, str, str, str | None]] = {
    "Germany, net and gross": (
        "de", "laden.example.de",
        """<div class="price">545,38 € <small>netto</small></div><div class="price-gross">649,00 € brutto</div>
            <button>In den Warenkorb</button>""",
        "649.00", "EUR", "now", None,
    ),
    "Czechia, before tax first": (
        "cs", "obchod.example.cz",
        """<div class="ceny"><span>11 569 Kč bez DPH</span> <strong class="cena">13 999 Kč</strong></div>
            <button>Do košíku</button>""",
        "13999", "CZK", "now", None,
    ),
    "Korea": (
        "ko", "shop.example.co.kr",
        """<dl><dt>정가</dt><dd><del>1,099,000원</del></dd><dt>판매가</dt><dd class="price"><strong>949,000</strong>원</dd>
            <dt>적립금</dt><dd>9,490원</dd><dt>배송비</dt><dd>3,000원</dd></dl><button class="btn_buy">바로구매</button>""",
        "949000", "KRW", "now", "1099000",
    ),
    "India": (
        "en-IN", "dukaan.example.in",
        """<div class="price-info"><span class="mrp">M.R.P.: <del>₹1,49,999</del></span> <span
            class="selling-price">₹1,29,999</span> <span>13% off</span></div>
            <p class="emi">EMI from ₹4,599/month</p><button>Buy Now</button>""",
        "129999", "INR", "now", "149999",
    ),
    "Brazil, instalments": (
        "pt-BR", "loja.example.com.br",
        """<div class="preco"><span class="de">De: R$ 2.999,00</span> <strong>Por: R$ 2.398,80</strong>
            <span>12x de R$ 199,90 sem juros</span></div><button>Comprar</button>""",
        "2398.80", "BRL", "now", "2999.00",
    ),
    "Switzerland": (
        "de-CH", "laden.example.ch",
        """<div class="price"><strong>1'299.–</strong> <span>statt 1’499.–</span></div><p>inkl. vRG CHF 0.50</p>
            <button>In den Warenkorb</button>""",
        "1299", "CHF", "now", "1499",
    ),
    "Sweden": (
        "sv", "butik.example.se",
        """<div class="price"><span>7 990:-</span> <span>Ord. pris 8 990:-</span></div><p>eller 333 kr/mån</p>
            <button>Lägg i varukorgen</button>""",
        "7990", "SEK", "now", "8990",
    ),
    "United States, an old price struck out beside the bare one": (
        "en-US", "shop.example.com", f'<div class="price"><s>$599.99</s> $549.99</div>{CART}',
        "549.99", "USD", "now", "599.99",
    ),
    "Turkey": (
        "tr", "magaza.example.com.tr",
        """<div class="fiyat"><span class="eski">29.999,00 TL</span> <span class="yeni">24.999,00 TL</span></div>
            <p>3 taksit x 8.333,00 TL</p><button>Sepete Ekle</button>""",
        "24999.00", "TRY", "now", "29999.00",
    ),
    "no names at all": (
        "en-US", "shop.example.com",
        '<div class="sc-b2"><span class="sc-c3">$599.99</span></div><button class="sc-d4">Add to cart</button>',
        "599.99", "USD", "now", None,
    ),
    "the cents with their point in an element of their own": (
        "en-US", "shop.example.com", f"<div><span>$549</span><span>.99</span></div>{CART}", "549.99", "USD", "now", None,
    ),
    "an old price by the name of its class alone": (
        "sv", "butik.example.se", f'<p><span class="prisREA">699 kr</span> <span class="prisORD">899 kr</span></p>{CART}',
        "699", "SEK", "now", "899",
    ),
    "an old price by its name in German": (
        "de", "laden.example.de",
        f'<p><span class="alter-preis">69,95 €</span> <span class="preis_neu">54,95 €</span></p>{CART}',
        "54.95", "EUR", "now", "69.95",
    ),
    "a range of prices": (
        "en-GB", "shop.example.co.uk", f'<p class="price"><b>£549.00</b> &ndash; <b>£649.00</b></p><p>Ref: AZ-P44</p>{CART}',
        "549.00", "GBP", "from", None,
    ),
    "a range of prices whose currency stands once": (
        "uk", "magazyn.example.ua", f'<p class="price">від 502,20 до 558,00 грн</p>{CART}', "502.20", "UAH", "from", None,
    ),
    "a table that names the old price": (
        "ja", "mise.example.jp",
        f"<table><tr><th>定価</th><td>1,650円</td></tr><tr><th>販売価格</th><td>1,320円</td></tr></table>{CART}",
        "1320", "JPY", "now", "1650",
    ),
    "the price as bare text behind its word": (
        "en-US", "shop.example.com", f"<div><b>Price:</b> $45.00<br>Weight: 2 lb {'and packing ' * 12}</div>{CART}",
        "45.00", "USD", "now", None,
    ),
    "the price as bare text behind the one that is struck out": (
        "de", "laden.example.de",
        f"<p>Statt <s>259,00 EUR</s> nur 219,00 EUR<br>{'mit Karton und Anleitung ' * 4}</p>{CART}",
        "219.00", "EUR", "now", "259.00",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_price_of(name: str) -> None:
    lang, host, markup, price, currency, kind, old = SYSTEMS[name]
    offer, issues = read(markup, lang, host)
    assert (offer.price, offer.currency, offer.price_kind) == (Decimal(price), currency, kind), issues
    assert offer.list_price == (old and Decimal(old))
    assert issues == []


@pytest.mark.parametrize(
    ("lang", "host", "markup"),
    [
        ("en-US", "shop.example.com", '<div class="price">$50.00 deposit</div>'),
        ("en-US", "shop.example.com", "<div><label>12GB $549.99</label><label>16GB $649.99</label></div>"),
        # Cents that a style sheet may set small, or digits of the number: 549.99 or 54999.
        ("en-US", "shop.example.com", "<div><span>$549</span><span>99</span></div>"),
        ("en", "shop.example.com", '<div class="price">599.99</div>'),
        # Each part of an amount in an element of its own, `12.299,90`: the first is not the price.
        ("pt-BR", "loja.example.com.br", "<p><b>R$</b><b>12</b><i>.</i><b>299</b><i>,</i><b>90</b></p>"),
        # A price before tax beside an old price that is not this one with a tax of the country.
        ("bg", "magazin.example.bg", '<div class="price">1 299.00 лв. / 764.17 €</div>'),
        # A bare number that is named after the price of now, beside an amount with a currency.
        ("en-IN", "bazaar.example.in", '<p><b class="cut-price">Rs. 1,299</b> <b class="final-price">449</b></p>'),
        # No ranges: an amount less a saving, a range of deliveries, two currencies, prices of different goods.
        ("de", "laden.example.de", '<p class="price">549,00 € - $599.00</p>'),
    ],
)
def test_open_with_an_issue(lang: str, host: str, markup: str) -> None:
    offer, issues = read(f"{markup}{CART}", lang, host)
    assert (offer.price, offer.currency) == (None, None)
    assert issues


def specified(*prices: dict[str, Any]) -> dict[str, Any]:
    return {
        "@type": "Offer",
        "priceCurrency": "USD",
        "priceSpecification": [{"priceCurrency": "USD"} | p for p in prices],
    }


MEMBER = {"price": "559.99", "validForMemberTier": {"@type": "MemberProgramTier", "name": "gold"}}


@pytest.mark.parametrize(
    ("offers", "price", "kind", "old"),
    [
        (specified({"price": "649.99"}, {"price": "599.99", "priceType": "https://schema.org/SalePrice"}), "599.99",
         "now", None),
        (specified({"price": 699.99, "priceType": "https://schema.org/StrikethroughPrice"}) | {"price": 599.99}, "599.99",
         "now", "699.99"),
        (specified({"price": "504.19", "valueAddedTaxIncluded": "false"},
                   {"price": "599.99", "valueAddedTaxIncluded": True}), "599.99", "now", None),
        (specified({"@type": "DeliveryChargeSpecification", "price": "9.99"}, {"price": "599.99"}), "599.99", "now", None),
        (specified({"price": "579.99", "eligibleQuantity": {"minValue": 10}}, {"price": "599.99"}), "599.99", "now", None),
        (specified({"price": "24.99", "unitCode": "MON"}), "24.99", "monthly", None),
        # Two prices and no word for the difference.
        ({"price": "29", "priceCurrency": "USD", "businessFunction": "http://purl.org/goodrelations/v1#LeaseOut"},
         None, None, None),
        ({"price": "<b>$599.99</b>", "priceCurrency": "USD"}, "599.99", "now", None),
        ({"@type": "AggregateOffer", "lowPrice": "499", "highPrice": "699", "priceCurrency": "USD",
          "offers": [{"price": "599", "priceCurrency": "USD"}, {"price": "699", "priceCurrency": "USD"}]},
         "499", "from", None),
        # The lowest number is not the lowest price.
        ([{"price": "599.99", "priceCurrency": "USD"}, {"price": "549.99", "priceCurrency": "EUR"}], "599.99", "now", None),
        ([{"price": "599.99", "priceCurrency": "CAD"}, {"price": "549.99", "priceCurrency": "EUR"}], None, None, None),
    ],
)  # fmt: skip
def test_offers_to_machines(offers: Any, price: str | None, kind: str | None, old: str | None) -> None:
    offer, issues = read(CART, offers=offers)
    assert (offer.price, offer.price_kind) == (price and Decimal(price), kind), issues
    assert offer.list_price == (old and Decimal(old))
    assert (issues == []) == (price is not None)


def test_of_several_prices_to_machines_the_page_shows_which_is_asked() -> None:
    offer, _ = read(
        f'<p class="price">$649.99</p>{CART}', offers={"price": ["599.99", "649.99"], "priceCurrency": "USD"}
    )
    assert (offer.price, offer.currency) == (Decimal("649.99"), "USD")


@pytest.mark.parametrize(
    "name", ["Veltor RTX 4070 Ti Twin 12GB", "Veltor RTX 4070 SUPER Twin 12GB", "Veltor RTX 4070 Twin 16GB"]
)
def test_another_model_in_nearly_the_same_words_is_not_the_page_s_own(name: str) -> None:
    other = {"price": "749.99", "priceCurrency": "USD"}
    offer, issues = read(CART, offers=other, name=name)
    assert offer.price is None
    assert issues
    beside, _ = read(f'<p class="price">$549.99</p>{CART}', offers=other, name=name)
    assert beside.price == Decimal("549.99")


def test_an_offer_that_holds_its_goods() -> None:
    goods = {"@type": "Product", "name": TITLE}
    offered: dict[str, Any] = {"@type": "Offer", "price": "599", "priceCurrency": "USD", "itemOffered": goods}
    offer, _ = read(CART, **offered)
    assert (offer.title, offer.price) == (TITLE, Decimal(599))


def test_cents_to_machines_against_dollars_to_the_eye() -> None:
    offer, issues = read(f'<p class="price">$599.99</p>{CART}', offers={"price": 59999, "priceCurrency": "USD"})
    assert offer.price is None
    assert [issue.code for issue in issues] == ["price_disagreement"]


@pytest.mark.parametrize(
    ("stated", "printed", "availability", "codes"),
    [
        ("InStock", "Out of stock", "unknown", ["availability_disagreement"]),
        ("OutOfStock", "In stock", "out_of_stock", ["availability_disagreement"]),
        ("InStock", "In stock", "in_stock", []),
    ],
)
def test_stock_to_machines_against_stock_to_the_eye(
    stated: str, printed: str, availability: str, codes: list[str]
) -> None:
    offers = {"price": "599", "priceCurrency": "USD", "availability": f"https://schema.org/{stated}"}
    offer, issues = read(f'<p class="stock">{printed}</p>{CART}', offers=offers)
    assert offer.availability == availability
    assert [issue.code for issue in issues] == codes


class TestTerms:
    @pytest.mark.parametrize(
        ("markup", "condition"),
        [
            ("<p>Condition: Used - Very Good</p>", "used"),
            ("<dl><dt>Condition</dt><dd>Certified Refurbished</dd></dl>", "refurbished"),
            ("<p><b>Zustand:</b> Gebraucht</p>", "used"),
            ("<p>Stan: nowy</p>", "new"),
            ("<p>상품상태: 중고</p>", "used"),
            ("<p>État : Reconditionné - bon état</p>", "refurbished"),
            ("<p>Estado: Usado</p>", "used"),
            ("<p>Состояние: б/у</p>", "used"),
            ("<p>Condition: New</p><p>Condition: Used</p>", "unknown"),
            ("<p>Nuevo modelo de 2024</p>", "unknown"),
            ("<p>Condition report on request</p>", "unknown"),
            ("<p>Zustand: wie neu</p>", "used"),
            ('<section class="related"><p>Condition: Used</p></section>', "unknown"),
        ],
    )
    def test_the_condition_that_is_printed(self, markup: str, condition: str) -> None:
        offer, _ = read(f'<p class="price">$349.99</p>{markup}{CART}')
        assert offer.condition == condition

    @pytest.mark.parametrize(
        ("markup", "taxed"),
        [
            ('<p class="price">$349.99</p><small>plus 8% tax</small>', False),
            ('<div><span class="price">$349.99</span> <del>$399.99</del></div><small>excl. VAT</small>', False),
            ('<div><span class="price">$349.99</span> <span>$291.66 ex VAT</span></div>', True),
            ('<div class="price"><span>$349.99</span> incl. VAT</div>', True),
            ('<p class="price">$349.99</p>', None),
        ],
    )
    def test_the_tax_that_is_printed_around_the_price(self, markup: str, taxed: bool | None) -> None:
        offer, _ = read(f"<div>{markup}</div>{CART}")
        assert (offer.price, offer.tax_included) == (Decimal("349.99"), taxed)

    def test_the_lower_of_two_is_without_tax_whichever_the_words_stand_beside(self) -> None:
        offer, _ = read(
            f"<div><b class='price'>7 490,-</b><i class='price'>bez DPH 6 190,-</i></div>{CART}",
            "cs-CZ",
            "obchod.example.cz",
        )
        assert (offer.price, offer.tax_included) == (Decimal(7490), True)

    @pytest.mark.parametrize(
        ("markup", "seller", "kind"),
        [
            ('<p>Sold by <a href="/s/1">Card Barn LLC</a></p>', "Card Barn LLC", "marketplace"),
            ("<p>Verkauf und Versand durch Kartenhof GmbH</p>", "Kartenhof GmbH", "marketplace"),
            ("<p>Sold and shipped by Example Shop</p>", "Example Shop", "first_party"),
            ("<p>Satıcı: <b>TeknoBurada</b> <i>9,4</i></p>", "TeknoBurada", "marketplace"),
            ("<p>Vendido e enviado por <a>Reparatudo</a> · 4,4/5</p>", "Reparatudo", "marketplace"),
            ("<p>Seller information</p>", None, "unknown"),
            ("<p>Sold by A-Cards</p><p>Sold by B-Cards</p>", None, "unknown"),
        ],
    )
    def test_the_seller_that_is_printed(self, markup: str, seller: str | None, kind: str) -> None:
        offer, _ = read(f'<p class="price">$349.99</p>{markup}{CART}', host="exampleshop.com")
        assert (offer.seller, offer.seller_kind) == (seller, kind)
