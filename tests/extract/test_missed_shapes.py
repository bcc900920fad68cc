"""Product pages of the classes that used to be left open, and what must stay open beside them.

The markup is written for these tests in the shape of the systems' public themes and of the countries' habits; shops and
prices are invented. What a page states to machines stands in `stated` (JSON-LD) and `head`.
"""

# ruff: noqa: E501 - markup in lines as long as the themes write them
from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from gpuledger.items import Issue, Offer
from tests.support.html_page import ABOVE, BELOW, CART, TITLE, offer_on, price_of, shop_page, told


class Shape(NamedTuple):
    """One page: language, host, the markup beside its heading, what must be read, and what it states to machines.

    `NAME` in the head is the name of the goods.
    """

    lang: str
    host: str
    body: str
    price: str | None = None
    currency: str | None = None
    kind: str | None = "now"
    stated: str = ""
    head: str = ""
    path: str = "p/rtx-4070-vt4070"
    stock: str = ""
    sku: str | None = None


def read(shape: Shape) -> tuple[Offer, list[Issue]]:
    goods = f'{{"@type": "Product", "name": "{TITLE}", "offers": {shape.stated}}}'
    head = (told(goods) if shape.stated else "") + shape.head.replace("NAME", TITLE)
    html = shop_page(shape.body, shape.lang, head=head, above=ABOVE, below=BELOW)
    return offer_on(f"https://{shape.host}/{shape.path}", html)


def ld(price: str, currency: str = "EUR") -> str:
    return json.dumps({"@type": "Offer", "price": price, "priceCurrency": currency})


def meta(price: str, currency: str = "EUR") -> str:
    return f'<meta property="product:price:amount" content="{price}"><meta property="product:price:currency" content="{currency}">'


CART_DE = '<button class="btn-buy">In den Warenkorb</button>'

READ: dict[str, Shape] = {
    # A charge or a price by weight beside the structured price.
    "a delivery charge larger than life": Shape(
        "de", "laden.example.de",
        f"""<div class="x1"><div class="current-price">6,90 €</div><p>per Spedition nach Hause</p></div>
        <div class="x2"><b>549,00 €</b></div>{CART_DE}""",
        "549.00", "EUR", stated=ld("549.00"),
    ),
    "a price by weight, per piece in words": Shape(
        "fr", "magasin.example.fr",
        """<p class="prix">24,90 €</p><p class="prix-unitaire">soit 2,49 € l'unité</p><button>Ajouter au panier</button>""",
        "24.90", "EUR", stated=ld("24.90"),
    ),
    # A net or a member's price in meta tags.
    # Group buys and daily deals.
    "Taiwan, a discount in tenths": Shape(
        "zh-TW", "shop.example.com.tw",
        """<table><tr><td><strong>特價</strong><b><font color="red">72</font> 折</b> <span style="font-size:27px">12320</span>
        <span>元</span></td></tr></table><button>放入購物車</button>""",
        "12320", "TWD",
    ),
    # The country's habit.
    # Auctions.
    "an auction in Germany": Shape(
        "de", "auktion.example.de",
        """<p>Aktuelles Gebot: <b>210,00 €</b></p><p>Mindestgebot: 215,00 €</p><button>Bieten</button>""",
        "210.00", "EUR", "from",
    ),
    # The price in a script alone, or the script as the third word.
    "the data layer": Shape(
        "fr", "magasin.example.fr", "<button>Ajouter au panier</button>", "549.99", "EUR",
        head="<script>dataLayer.push({event: 'view_item', ecommerce: {currency: 'EUR', value: 549.99, items: [{item_id: 'VT4070',"
        " item_name: 'Veltor', price: 549.99, quantity: 1}]}});</script>",
    ),
    "the older data layer": Shape(
        "fr", "magasin.example.fr", "<button>Ajouter au panier</button>", "549.99", "EUR",
        head='<script>dataLayer = [{"ecommerce": {"currencyCode": "EUR", "detail": {"products": [{"id": "VT4070", "price":'
        ' "549.99"}]}, "impressions": [{"price": "19.90"}]}}];</script>',
    ),
    # One price near the title and nothing else.
    "a classified advertisement": Shape(
        "en-GB", "ads.example.co.uk", "<h2><span>Veltor RTX 4070</span> <span>£350</span></h2><p>Hardly used, pick up.</p>",
        "350", "GBP",
    ),
    "a saving as a share and a sum": Shape(
        "de", "laden.example.de",
        f"""<div class="current-price-container"><span class="productOldPrice">Unser bisheriger Preis 1.049,00 EUR</span><br>
        Nur 949,00 EUR<br>Sie sparen 10% / 100,00 EUR</div>{CART_DE}""",
        "949.00", "EUR",
    ),
    # Amounts that stand beside a price and are none, or are that of another choice.
    "a price by area beside that of a pack": Shape(
        "de", "baumarkt.example.de", f"""<div data-testid="price"><div class="main-price">9,95 €*/m²</div>
        <div class="pack-price">22,09 €*/Pak. (2,22 m²)</div></div>{CART_DE}""", "22.09", "EUR",
    ),
    "sizes of which one is chosen": Shape(
        "en-US", "shop.example.com", f"""<p><b>$70.00</b></p><div><button>0.85 oz<span>$42.00</span></button>
        <button aria-selected="true">1.7 oz<span>$70.00</span></button></div>{CART}""", "70.00", "USD",
    ),
    "the cents under the sign, small": Shape(
        "pt", "loja.example.pt", f"""<div class="p"><span class="p__old">699€</span><span class="p__main-price">599</span><sup>
        <span class="p__price__currency">€</span><span class="p__price__dec">99</span></sup></div>{CART}""", "599.99", "EUR",
    ),
    "what others sold it for": Shape(
        "en-US", "exchange.example.com", """<div><p>Buy for</p><h2>$412</h2></div><a role="button" href="/sell">Sell for $395</a>
        <div><p>Last Sale:</p><p>$405</p></div>""", "412", "USD",
    ),
    "rand of South Africa on a site of no country": Shape(
        "en", "shop.example.com", f"""<div class="price">R 449</div>{CART}""", "449", "ZAR",
    ),
    "the Danish now, which is no ngultrum": Shape(
        "da", "bolig.example.dk", f"""<div class="prices"><span class="before">Før 1.299,00 kr.</span><span class="now">Nu 899,00 kr.
        </span><span class="save">Spar 400,00 kr.</span></div>{CART}""", "899.00", "DKK",
    ),
    "with and without tax in sentences, in Korean": Shape(
        "ko", "biz.example.co.kr", """<ul><li>공급가 799,000원 (VAT 별도)</li><li>판매가 878,900원 (VAT 포함)</li></ul>
        <button>장바구니 담기</button>""", "878900", "KRW",
    ),
    "a raised sign before the amount": Shape(
        "en-US", "shop.example.com", f"""<span id="pricing"><sup>$</sup>829.99</span><p>Open Box: from <b>$746.99</b></p>{CART}""",
        "829.99", "USD",
    ),
    "euros and small cents in parts of no name": Shape(
        "fr", "brico.example.fr", """<div><span class="px-old">129<sup>€90</sup></span><span class="px-now">99<sup>€90</sup></span></div>
        <button>Ajouter au panier</button>""", "99.90", "EUR",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_is_read(name: str) -> None:
    shape = READ[name]
    offer, issues = read(shape)
    assert price_of(offer) == (shape.price, shape.currency, shape.kind), [issue.message for issue in issues]


OPEN: dict[str, Shape] = {
    "two prices with nothing to tell them apart, and a script of both": Shape(
        "en-US", "shop.example.com",
        f'<div class="a"><span class="price">$549.99</span></div><div class="b"><span class="price">$599.99</span></div>{CART}',
        head="<script>dataLayer.push({event: 'view_item', ecommerce: {value: 549.99}}); var product_price = 599.99;</script>",
    ),
    "a list of goods in the data layer": Shape(
        "fr", "magasin.example.fr", "<button>Ajouter au panier</button>",
        head="<script>dataLayer.push({event: 'view_item', ecommerce: {items: [{price: 549.99}, {price: 19.90}]}});</script>",
    ),
    "an opening bid alone": Shape(
        "en-GB", "auction.example.co.uk", "<dl><dt>Opening bid</dt><dd>£100.00</dd></dl><button>Place bid</button>",
    ),
    "a saving that is still to be taken off": Shape(
        "en-US", "shop.example.com",
        f"""<div class="your-price">Online Price <span>$319.99</span></div><div class="less">Less <span>- $40.00</span></div>
        <div class="final">Your Price <span>$</span><span class="value">279.99</span></div>{CART}""",
    ),
    "like rows of which nothing says that they are kinds of the goods": Shape(
        "en-US", "shop.example.com", f"""<ul><li>Lamp <b class="price">$120.00</b></li><li>Handling <b class="price">$60.00</b></li>
        </ul>{CART}""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_stays_open(name: str) -> None:
    offer, issues = read(OPEN[name])
    assert offer.price is None
    assert issues


OFFERS = [
    {"@type": "Offer", "sku": sku, "price": price, "priceCurrency": "USD", "availability": stock,
     "url": f"https://shop.example.com/products/rtx-4070?variant={sku}"}
    for sku, price, stock in (("BLK-4070", "549.00", "InStock"), ("WHT-4070", "579.00", "OutOfStock"))
]  # fmt: skip

#: Pages of which the shop's number for the goods is read, and whether they can be bought.
STOCK_AND_NUMBER: dict[str, Shape] = {
    "a code that begins like the money of another country": Shape(
        "cs", "obchod.example.cz", '<span class="code">Kód: RF1245a1</span><div class="price">28 990 Kč</div>'
        '<a class="btn buy" href="#">Koupit</a>', "28990", "CZK", path="rtx-4080-d7977755.htm", stock="in_stock", sku="RF1245a1",
    ),
    "Magento: a number of two words": Shape(
        "en-GB", "shop.example.co.uk",
        f"""<span class="price">£724.99</span><div class="stock available"><span>In stock</span></div><div><strong
        class="type">SKU</strong><div class="value" itemprop="sku">GV-R79XTGAMING OC-20GD</div></div>{CART}""",
        "724.99", "GBP", stock="in_stock", sku="GV-R79XTGAMING OC-20GD",
    ),
    "a number in the middle of a line": Shape(
        "en-AU", "shop.example.com.au", f"""<div>Model: <span>VT4070-O12G</span> | Code: <span>105678</span></div>
        <p class='price'>$549.00</p>{CART}""", "549.00", "AUD", path="product/rtx-4070", stock="in_stock", sku="105678",
    ),
    "an auction that is over": Shape(
        "en-US", "auctions.example.com", """<p><span>This listing ended on Wed, Nov 11 at 5:12 PM.</span></p><div>Winning bid:
        <span class="price">US $231.50</span></div><p>Item number: 174512345678</p>""", "231.50", "USD", stock="out_of_stock", sku="174512345678",
    ),
    "a status that is marked for machines on a page that is not": Shape(
        "it", "shop.example.it", """<span class="price">EUR 350,00</span><span itemprop="availability"
        content="https://schema.org/OutOfStock"></span><p>Codice: 18451</p>""", "350.00", "EUR", stock="out_of_stock", sku="18451",
    ),
    "goods that are gone, above a part with other goods": Shape(
        "en-US", "glass.example.com", """<p>This piece is no longer available.</p><p>Code: GV-118</p></div><div><div
        class="product-card"><h4>Blue Vase</h4><p class="price">$65.00</p><form action="/cart/add"><button>Add to cart</button>
        </form></div>""", stock="out_of_stock", sku="GV-118",
    ),
    "goods that are gone, above what replaces them": Shape(
        "cs", "obchod.example.cz", """<p>Kód: 4412-AT</p><p>Tento produkt nelze objednat</p><div><h2>Náhradní produkt</h2><a>Veltor
        RTX 4080</a><strong class="price">9 490 Kč</strong><button>Do košíku</button></div>""", stock="out_of_stock", sku="4412-AT",
    ),
    "gone on a button, above another's": Shape(
        "tr", "dukkan.example.com.tr", """<p>Ürün kodu: 4412-AT</p><p class="price">16.450,00 TL</p><button disabled>Stokta Yok</button>
        <div>Palit RTX 4060 <button>Sepete Ekle</button></div>""", "16450.00", "TRY", stock="out_of_stock", sku="4412-AT",
    ),
    "none left, as a number": Shape(
        "en-US", "rails.example.com", """<p>Item: 4412-AT</p><p class="price">$31.98</p><p class="stock">Stock: 0</p>""", "31.98",
        "USD", path="boxcar", stock="out_of_stock", sku="4412-AT",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOCK_AND_NUMBER)
def test_stock_and_number(name: str) -> None:
    shape = STOCK_AND_NUMBER[name]
    offer, issues = read(shape)
    assert price_of(offer)[:2] == (shape.price, shape.currency), [issue.message for issue in issues]
    assert (offer.availability, offer.sku) == (shape.stock, shape.sku)
