"""Product pages of the classes that used to be left open, and what must stay open beside them.

The markup is written for these tests in the shape of the systems' public themes and of the countries' habits; shops and
prices are invented. What a page states to machines stands in `stated` (JSON-LD) and `head`.
"""

# ruff: noqa: E501 - markup in lines as long as the themes write them
from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from gpuledger.extract.items import Issue, Offer
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
    "a delivery charge under a row's head": Shape(
        "de", "laden.example.de",
        f"""<div class="preisbox"><span class="preis">549,00 €</span></div>{CART_DE}
        <table><tr><th>Versandkosten</th><td><span class="price">6,90 €</span></td></tr></table>""",
        "549.00", "EUR", stated=ld("549.00"),
    ),
    "a delivery charge larger than life": Shape(
        "de", "laden.example.de",
        f"""<div class="x1"><div class="current-price">6,90 €</div><p>per Spedition nach Hause</p></div>
        <div class="x2"><b>549,00 €</b></div>{CART_DE}""",
        "549.00", "EUR", stated=ld("549.00"),
    ),
    "a price by weight named as the price": Shape(
        "de", "laden.example.de",
        f"""<div class="product-price"><span class="price">15,96 €</span><small>Grundpreis: <span class="price">31,92 €</span>
        / 1 kg</small></div>{CART_DE}""",
        "15.96", "EUR", stated=ld("15.96"),
    ),
    "a price by weight, per piece in words": Shape(
        "fr", "magasin.example.fr",
        """<p class="prix">24,90 €</p><p class="prix-unitaire">soit 2,49 € l'unité</p><button>Ajouter au panier</button>""",
        "24.90", "EUR", stated=ld("24.90"),
    ),
    "a price of a square metre, and of the pack": Shape(
        "pl", "sklep.example.pl",
        """<div class="price-box"><span class="price">89,50 zł</span> <span>/ opak.</span></div>
        <div class="price-box"><span class="price">44,75 zł</span> <span>/ m²</span></div><button>Do koszyka</button>""",
        "89.50", "PLN", stated=ld("89.50", "PLN"),
    ),
    # A net or a member's price in meta tags.
    "net in meta, gross for people": Shape(
        "de", "laden.example.de", f'<div class="price">649,00 € <small>inkl. MwSt.</small></div>{CART_DE}',
        "649.00", "EUR", head=meta("545.38"),
    ),
    "net in meta, gross in structured data": Shape(
        "de", "laden.example.de", f'<div class="price">649,00 €</div>{CART_DE}', "649.00", "EUR",
        stated=ld("649.00"), head=meta("545.38"),
    ),
    "net in structured data and called so": Shape(
        "en-GB", "shop.example.co.uk", f'<div class="price">£599.00 inc VAT</div><div class="price">£499.17 ex VAT</div>{CART}',
        "599.00", "GBP", stated=ld("499.17", "GBP"),
    ),
    "a member's price in meta": Shape(
        "en-US", "shop.example.com", f'<div class="price">$599.99</div>{CART}', "599.99", "USD",
        stated=ld("599.99", "USD"), head=meta("569.99", "USD"),
    ),
    "yesterday's price in structured data": Shape(
        "en-US", "shop.example.com", f'<div class="price">$569.99</div>{CART}', "569.99", "USD",
        stated=ld("599.99", "USD"), head=meta("569.99", "USD"),
    ),
    # Group buys and daily deals.
    "Taiwan, a discount in tenths": Shape(
        "zh-TW", "shop.example.com.tw",
        """<table><tr><td><strong>特價</strong><b><font color="red">72</font> 折</b> <span style="font-size:27px">12320</span>
        <span>元</span></td></tr></table><button>放入購物車</button>""",
        "12320", "TWD",
    ),
    "Taiwan, dollars": Shape(
        "zh-TW", "shop.example.com.tw",
        """<ul><li>建議售價 <del>$25,900</del></li><li>網路價 <b class="price">$<span>19,900</span></b></li></ul>
        <button>立即購買</button>""",
        "19900", "TWD",
    ),
    "Taiwan, a group's price by the set": Shape(
        "zh-TW", "shop.example.com.tw",
        """<div class="group-buy"><span>原價 $3,600</span> <span class="price">團購價 $1,980</span> <span>/ 組</span>
        <span>55折</span></div><button>我要購買</button>""",
        "1980", "TWD",
    ),
    "Korea, from, with a wave": Shape(
        "ko", "shop.example.co.kr",
        """<div class="deal"><span class="dc">15%</span> <strong class="price"><em>949,000</em>원~</strong></div>
        <button>구매하기</button>""",
        "949000", "KRW", "from",
    ),
    "Korea, the wave in an element of its own": Shape(
        "ko", "shop.example.co.kr",
        """<div class="deal"><del>1,099,000원</del> <span class="price"><em>949,000</em><i>원</i><i>~</i></span></div>
        <button>구매하기</button>""",
        "949000", "KRW", "from",
    ),
    # The country's habit.
    "Chile, without decimals": Shape(
        "es-CL", "tienda.example.cl", '<div class="precio">$ 649.990</div><button>Agregar al carro</button>', "649990", "CLP",
    ),
    "Argentina, a point before three digits to machines": Shape(
        "es-AR", "tienda.example.com.ar", '<div class="precio">$ 649.990</div><button>Comprar</button>', "649990", "ARS",
        stated=ld("649.990", "ARS"),
    ),
    "Indonesia": Shape(
        "id", "toko.example.co.id", '<div class="harga"><span>Rp</span><b>9.499.000</b></div><button>Beli</button>',
        "9499000", "IDR",
    ),
    "Vietnam": Shape(
        "vi", "cuahang.example.vn", '<div class="gia"><span class="price">15.990.000 ₫</span></div><button>Mua ngay</button>',
        "15990000", "VND",
    ),
    "Hungary": Shape(
        "hu", "bolt.example.hu", '<div class="ar"><strong>249 990 Ft</strong></div><button>Kosárba</button>',
        "249990", "HUF",
    ),
    "Switzerland, an apostrophe": Shape(
        "de-CH", "laden.example.ch", "<div><span>CHF</span> <b>1’299.00</b></div><button>In den Warenkorb</button>",
        "1299.00", "CHF",
    ),
    # Auctions.
    "an auction with a current and a next bid": Shape(
        "en-GB", "auction.example.co.uk",
        """<dl><dt>Current bid</dt><dd>£210.00</dd><dt>Next minimum bid</dt><dd>£215.00</dd></dl>
        <form action="/bid"><input name="bid"><button>Place bid</button></form>""",
        "210.00", "GBP", "from",
    ),
    "an auction in one line": Shape(
        "en-US", "auction.example.com", '<div class="price">Current bid: $210.00</div><button>Place bid</button>',
        "210.00", "USD", "from",
    ),
    "an auction in Germany": Shape(
        "de", "auktion.example.de",
        """<p>Aktuelles Gebot: <b>210,00 €</b></p><p>Mindestgebot: 215,00 €</p><button>Bieten</button>""",
        "210.00", "EUR", "from",
    ),
    "an auction that can be bought at once": Shape(
        "en-GB", "auction.example.co.uk",
        """<dl><dt>Current bid</dt><dd>£210.00</dd><dt>Buy it now</dt><dd class="price">£400.00</dd></dl>
        <button>Buy it now</button>""",
        "400.00", "GBP", "now",
    ),
    # The price in a script alone, or the script as the third word.
    "Next": Shape(
        "en-US", "shop.example.com", f'<div id="__next"></div>{CART}', "549.99", "USD",
        head='<script id="__NEXT_DATA__" type="application/json">{"props": {"pageProps": {"product": {"name": "NAME", "sku":'
        ' "VT4070", "price": {"amount": "549.99", "currencyCode": "USD"}}, "related": [{"name": "Fan", "price": {"amount":'
        ' "19.90"}}]}}}</script>',
    ),
    "Nuxt 3": Shape(
        "de", "laden.example.de", CART_DE, "549.99", "EUR",
        head='<script id="__NUXT_DATA__" type="application/json">[{"state": 1}, {"product": 2}, {"name": 3, "price": 4,'
        f' "currency": 5}}, "{TITLE}", "549.99", "EUR"]</script>',
    ),
    "Apollo": Shape(
        "en-GB", "shop.example.co.uk", CART, "549.99", "GBP",
        head='<script>window.__APOLLO_STATE__ = {"Product:77": {"__typename": "Product", "name": "NAME", "price_range":'
        ' {"minimum_price": {"final_price": {"value": 549.99, "currency": "GBP"}}}}, "Product:78": {"name": "Fan",'
        ' "price_range": {"minimum_price": {"final_price": {"value": 19.9}}}}};</script>',
    ),
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
    "two prices for people, and the pixel": Shape(
        "en-US", "shop.example.com",
        f'<div class="a"><span class="price">$549.99</span></div><div class="b"><span class="price">$599.99</span></div>{CART}',
        "549.99", "USD",
        head="<script>fbq('track', 'ViewContent', {content_ids: ['7'], value: 549.99, currency: 'USD'});</script>",
    ),
    # One price near the title and nothing else.
    "a classified advertisement": Shape(
        "en-GB", "ads.example.co.uk", "<h2><span>Veltor RTX 4070</span> <span>£350</span></h2><p>Hardly used, pick up.</p>",
        "350", "GBP",
    ),
    "a number and its sign in two elements": Shape(
        "pl", "sklep.example.pl", "<div><span>2 499,00</span> <span>zł</span></div><button>Do koszyka</button>",
        "2499.00", "PLN",
    ),
    "a sign before the element of the number": Shape(
        "en-US", "shop.example.com", f"<p>Our price: $<b>549.99</b></p>{CART}", "549.99", "USD",
    ),
    "a saving as a share and a sum": Shape(
        "de", "laden.example.de",
        f"""<div class="current-price-container"><span class="productOldPrice">Unser bisheriger Preis 1.049,00 EUR</span><br>
        Nur 949,00 EUR<br>Sie sparen 10% / 100,00 EUR</div>{CART_DE}""",
        "949.00", "EUR",
    ),
    "another product's address ends with a digit of this one's": Shape(
        "ja", "shop.example.jp",
        """<table><tr><td>価格：</td><td><span class="productPrice">￥82,500</span></td></tr></table><p>販売を終了しました</p>
        <div class="box"><a href="/product/4/"><img src="x.jpg">TUF-RTX4070</a><span class="productPrice">￥98,800</span></div>""",
        "82500", "JPY",
    ),
    "a class that says plainly what it is, and a script's id for a unit price": Shape(
        "ja", "shop.example.co.jp",
        """<table id="js_price"><tr><th id="js_unitPriceName">価格：</th><td><span id="js_unitPrice" class="productPrice">￥119,800</span>
        <span>（税込）</span></td></tr><tr><th>ポイント：</th><td><span>11,980</span> ポイント（10%還元）（11,980円相当）</td></tr></table>
        <a href="javascript:;" class="btn">カートに入れる</a>""",
        "119800", "JPY",
    ),
    "the share between two amounts tells the old one, where no name does": Shape(
        "en", "shop.example.in",
        """<div class="x1"><div class="x2"><div class="Nx9bqj">₹29,799</div><div class="yRaY8j">₹52,000</div><div>42% off</div></div></div>
        <div>No cost EMI ₹4,967/month</div><button class="QqFHMw">Add to cart</button>""",
        "29799", "INR",
    ),
    "a price in a part that is named after delivery too": Shape(
        "cs", "obchod.example.cz",
        """<div class="pd-price-delivery"><div class="total"><span class="price"><span class="price-before">14 290 Kč</span>
        <span class="price-vatin">12 990 Kč</span></span><span class="price-vatno">10 736 Kč bez DPH</span></div>
        <a class="btn btn-buy"><span>Koupit</span></a></div>""",
        "12990", "CZK",
    ),
    "cents with their sign in small type": Shape(
        "fr", "magasin.example.fr",
        """<div class="offer-price"><span class="offer-price__price">859<sup>€99</sup></span> <span class="offer-price__old">899€99</span>
        </div><button class="add-to-cart">Ajouter au panier</button>""",
        "859.99", "EUR", stated=ld("859.99"),
    ),
    "an old price with its sign between euros and cents": Shape(
        "fr", "magasin.example.fr",
        """<div class="fpPriceBloc"><span class="fpPrice">309€<sup>99</sup></span> <span class="fpStriked">349€99</span></div>
        <div>ou 4x 79,05€</div><input type="button" value="Ajouter au panier">""",
        "309.99", "EUR",
    ),
    "a model's name that begins like a currency": Shape(
        "en-AU", "shop.example.com.au",
        f'<div class="line"><span class="model">VT 4070</span> <span class="price">$899.00</span></div>{CART}',
        "899.00", "AUD",
    ),
    "a lower price for a way to pay": Shape(
        "es-AR", "tienda.example.com.ar",
        """<span id="price_display" class="js-price-display">$425.000,00</span><div><strong class="js-payment-discount-price">
        $382.500,00</strong> con Transferencia</div><form action="/comprar/"><input type="submit" class="js-addtocart"
        value="Agregar al carrito"></form>""",
        "425000.00", "ARS",
    ),
    "an usual price behind its abbreviation": Shape(
        "sv", "butik.example.se",
        """<div class="p-price"><span data-test-id="price">12 490 kr</span><span class="b1">Ord. 13 490 kr</span></div>
        <button class="buy">Köp</button>""",
        "12490", "SEK",
    ),
    # Amounts that stand beside a price and are none, or are that of another choice.
    "a volume and a price by volume beside the price": Shape(
        "de", "markt.example.de", f"""<div><div data-dmid="price-localized">0,95 €</div><div>0,3 l (3,17 € je 1 l)</div>
        <div>inkl. MwSt. zzgl. Versandkosten ab 4,95 €</div></div>{CART_DE}""", "0.95", "EUR",
    ),
    "a price by area beside that of a pack": Shape(
        "de", "baumarkt.example.de", f"""<div data-testid="price"><div class="main-price">9,95 €*/m²</div>
        <div class="pack-price">22,09 €*/Pak. (2,22 m²)</div></div>{CART_DE}""", "22.09", "EUR",
    ),
    "a price for a unit that is sold, by its name": Shape(
        "en-GB", "groceries.example.co.uk", f"""<div class="price-details"><div class="price-per-sellable-unit"><span>£</span>
        <span class="value">3.80</span></div><div class="price-per-quantity-weight"><span>£</span><span class="value">1.67</span>
        <span>/100g</span></div></div><p>£3.00 Clubcard Price</p>{CART}""", "3.80", "GBP",
    ),
    "a price for those who buy six": Shape(
        "en-GB", "wines.example.co.uk", f"""<div><span class="price-text">£10.99</span> <span>per bottle</span>
        <div><span>£8.99</span> <span>Mix Six price per bottle</span></div></div>{CART}""", "10.99", "GBP",
    ),
    "sizes of which one is chosen": Shape(
        "en-US", "shop.example.com", f"""<p><b>$70.00</b></p><div><button>0.85 oz<span>$42.00</span></button>
        <button aria-selected="true">1.7 oz<span>$70.00</span></button></div>{CART}""", "70.00", "USD",
    ),
    "bids beside the price": Shape(
        "nl", "markt.example.nl", """<div><span class="price">€ 175,00</span></div><div class="bidding"><h3>Biedingen</h3><ul>
        <li>€ 150,00</li><li>€ 120,00</li></ul><button>Plaats bod</button></div>""", "175.00", "EUR",
    ),
    "the cents under the sign, small": Shape(
        "pt", "loja.example.pt", f"""<div class="p"><span class="p__old">699€</span><span class="p__main-price">599</span><sup>
        <span class="p__price__currency">€</span><span class="p__price__dec">99</span></sup></div>{CART}""", "599.99", "EUR",
    ),
    "a number of goods in three groups beside the price": Shape(
        "ja", "kagu.example.jp", """<div class="price-module"><span class="price">¥1,499</span><div class="stock">在庫切れ</div>
        <span>304.499.08</span></div>""", "1499", "JPY",
    ),
    "the goods themselves in a part that is named like a tile": Shape(
        "en-US", "parts.example.com", """<div class="pdp-product-card"><p class="price">$0.36</p><button id="btnBuy">Buy</button>
        </div>""", "0.36", "USD",
    ),
    "the currency behind cents that have an element of their own": Shape(
        "it", "negozio.example.it", f"""<div class="price"><span class="strike">449,00 €</span> <span class="p__price--current">349</span><span
        class="p__price--current">,90</span> <span>€</span></div>{CART}""", "349.90", "EUR",
    ),
    "a saving in the part of the old price": Shape(
        "pl", "sklep.example.pl", f"""<div class="old-price"><span>Taniej o 1000 zł</span><span class="price">4 999,00 zł</span></div>
        <div class="main-price"><span class="whole">3 999</span><span class="rest"><span class="cents">00</span><span>zł</span></span>
        </div>{CART}""", "3999.00", "PLN",
    ),
    "an old price without a currency beside one that has it": Shape(
        "ru-BY", "shop.example.by", f"""<div class="item-price"><span class="g-price price_old">1 029,00</span> <span class="g-price">
        <span>949,00</span> <small>р.</small></span></div>{CART}""", "949.00", "BYN",
    ),
    "a price for members": Shape(
        "en-US", "games.example.com", f"""<div class="prices"><span class="actual-price">$59.99</span><div><span>$56.99</span> for
        PowerUp Rewards Pros</div></div>{CART}""", "59.99", "USD",
    ),
    "a price with the shop's own card, by its name": Shape(
        "es-CL", "tienda.example.cl", f"""<div class="box"><div class="price cmr"><span>$24.990</span> C/U</div><div class="price
        primary"><span>$29.990</span> C/U</div><div>Normal: $39.990</div></div>{CART}""", "29990", "CLP",
    ),
    "what others sold it for": Shape(
        "en-US", "exchange.example.com", """<div><p>Buy for</p><h2>$412</h2></div><a role="button" href="/sell">Sell for $395</a>
        <div><p>Last Sale:</p><p>$405</p></div>""", "412", "USD",
    ),
    "rand of South Africa on a site of no country": Shape(
        "en", "shop.example.com", f"""<div class="price">R 449</div>{CART}""", "449", "ZAR",
    ),
    "a price before tax beside the one with tax, whose name speaks of a unit": Shape(
        "de", "elektronik.example.de", f"""<div class="priceBox"><p id="productPriceUnitPrice">19,99 €</p><p>inkl. MwSt., <a>zzgl.
        Versand</a></p><p class="netto">16,80 € netto</p></div>{CART_DE}""", "19.99", "EUR",
    ),
    "exc. VAT": Shape(
        "en-GB", "parts.example.co.uk", f"""<div>Price Each</div><div class="ex"><span>£3.12</span> <small>(exc. VAT)</small></div>
        <div class="inc"><span>£3.74</span> <small>(inc. VAT)</small></div>{CART}""", "3.74", "GBP",
    ),
    "the price before tax in brackets, in Japanese": Shape(
        "ja", "utsuwa.example.jp", """<p class="price">価格 3,300円<span class="tax">（本体価格 3,000円）</span></p><button>カートに入れる
        </button>""", "3300", "JPY",
    ),
    "the Danish now, which is no ngultrum": Shape(
        "da", "bolig.example.dk", f"""<div class="prices"><span class="before">Før 1.299,00 kr.</span><span class="now">Nu 899,00 kr.
        </span><span class="save">Spar 400,00 kr.</span></div>{CART}""", "899.00", "DKK",
    ),
    "a price for those who come to the shop": Shape(
        "ru-KZ", "shop.example.kz", f"""<ul><li><span>Цена в интернет-магазине</span><span class="price">239 990 ₸</span></li><li>
        <span>Цена в магазинах</span><span class="price">249 990 ₸</span></li></ul>{CART}""", "239990", "KZT",
    ),
    "a sale's lowest price, which is no old one": Shape(
        "en-US", "store.example.com", f"""<div class="price-wrapper"><div class="lowest-sale-price"><span>$19.99</span> (50% off)</div>
        <div class="c-strike">$39.99</div></div>{CART}""", "19.99", "USD",
    ),
    "nothing on top of the price": Shape(
        "en-US", "parts.example.com", f"""<table><tr><td>Price</td><td>$48.79</td></tr><tr><td>Core</td><td>$0.00</td></tr><tr><td>
        Total</td><td>$48.79</td></tr></table>{CART}""", "48.79", "USD",
    ),
    "with and without tax in brackets before the price, in Japanese": Shape(
        "ja", "kougu.example.jp", """<div class="prices"><p>販売価格（税別）<span>￥299</span></p><p>販売価格（税込）<span>￥328</span></p>
        </div><button>カートに入れる</button>""", "328", "JPY",
    ),
    "with and without tax in the headings of a table": Shape(
        "en-GB", "trade.example.co.uk", f"""<table><tr><th>Price (ex VAT)</th><td>£449.99</td></tr><tr><th>Price (inc VAT)</th>
        <td>£539.99</td></tr><tr><th>Delivery</th><td>£5.99</td></tr></table>{CART}""", "539.99", "GBP",
    ),
    "with and without tax in sentences, in Korean": Shape(
        "ko", "biz.example.co.kr", """<ul><li>공급가 799,000원 (VAT 별도)</li><li>판매가 878,900원 (VAT 포함)</li></ul>
        <button>장바구니 담기</button>""", "878900", "KRW",
    ),
    "the price of a shop's site beside the maker's, in Chinese": Shape(
        "zh-TW", "shop.example.tw", "<p>建議售價 NT$21,990</p><p>網路價 <b>NT$19,990</b></p><p>售完，補貨中</p>", "19990", "TWD",
    ),
    "our price, in Dutch, and a lease by the month": Shape(
        "nl", "fietsen.example.nl", """<p>Adviesprijs € 749,-</p><p class="actie">Onze prijs € 649,-</p><p>Leasen vanaf € 19 p/m</p>
        <a class="button" href="/bestel?id=9">Bestellen</a>""", "649", "EUR",
    ),
    "a form that orders something else": Shape(
        "en-US", "farm.example.com", """<p>Price: $11.00</p><form action="https://www.paypal.com/cgi-bin/webscr"><input type="hidden"
        name="cmd" value="_xclick"><input type="hidden" name="item_name" value="Donation to our bee fund"><input type="hidden"
        name="amount" value="25.00"><input type="image" alt="Donate"></form>""", "11.00", "USD",
    ),
    "a charge for posting beside the price, in French": Shape(
        "fr", "jouets.example.fr", """<div class="prix"><span>19</span><sup>€90</sup></div><p>Port 4<sup>€90</sup></p>
        <button>Ajouter au panier</button>""", "19.90", "EUR",
    ),
    "a rate in small type below the price": Shape(
        "ru-RU", "mebel.example.ru", f"""<div class="price__big">45 990 ₽</div><div class="price__small">от 3 833 ₽/мес.</div>{CART}""",
        "45990", "RUB",
    ),
    "euros and small cents in parts of no name": Shape(
        "fr", "brico.example.fr", """<div><span class="px-old">129<sup>€90</sup></span><span class="px-now">99<sup>€90</sup></span></div>
        <button>Ajouter au panier</button>""", "99.90", "EUR",
    ),
    "another size that is cheaper by the piece": Shape(
        "en-US", "bolts.example.com", f"""<div class="tiers"><div class="tier active"><span>Each</span><b>$0.42</b></div><div
        class="tier"><span>Box of 50</span><b>$14.99</b></div></div>{CART}""", "0.42", "USD",
    ),
    "the currency before an amount whose cents have an element of their own": Shape(
        "en-AE", "souq.example.ae", f"""<div><span>AED</span> <strong>189</strong><sup>.00</sup></div><div><s>AED 249.00</s></div>{CART}""",
        "189.00", "AED",
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
        head='<script>var state = {"product": {"name": "NAME", "price": 549.99}}; var product_price = 599.99;</script>',
    ),
    "a script of another product": Shape(
        "en-US", "shop.example.com", CART,
        head='<script type="application/json">{"name": "Another fan", "price": "19.90", "currency": "USD"}</script>',
    ),
    "a script that may count in cents": Shape(
        "en-US", "shop.example.com", CART,
        head='<script type="application/json">{"name": "NAME", "price": 54999, "currency": "USD"}</script>',
    ),
    "a list of goods in the data layer": Shape(
        "fr", "magasin.example.fr", "<button>Ajouter au panier</button>",
        head="<script>dataLayer.push({event: 'view_item', ecommerce: {items: [{price: 549.99}, {price: 19.90}]}});</script>",
    ),
    "an opening bid alone": Shape(
        "en-GB", "auction.example.co.uk", "<dl><dt>Opening bid</dt><dd>£100.00</dd></dl><button>Place bid</button>",
    ),
    "a lower price for people that the stated one may be before": Shape(
        "en-US", "shop.example.com", f'<div class="price current-price">$499.99</div>{CART}',
        stated=ld("599.99", "USD"),
    ),
    "a saving that is still to be taken off": Shape(
        "en-US", "shop.example.com",
        f"""<div class="your-price">Online Price <span>$319.99</span></div><div class="less">Less <span>- $40.00</span></div>
        <div class="final">Your Price <span>$</span><span class="value">279.99</span></div>{CART}""",
    ),
    "a price in a bookkeeper's brackets": Shape(
        "en-US", "shop.example.com", f'<div class="price">($1,599.00)</div>{CART}',
    ),
    "a share for those who have a card": Shape(
        "ko", "mall.example.kr",
        "<div><div>415,900원</div><div>374,310원</div><div>카드 10% 할인</div></div><button>장바구니 담기</button>",
    ),
    "two charges in a part that is named after delivery": Shape(
        "en-US", "shop.example.com",
        f"""<div class="delivery-price">Delivery <span>$5.99</span> was <span>$9.99</span></div>{CART}""",
    ),
    "the price of a member beside that of the others, each with its sign alone": Shape(
        "en-US", "shop.example.com", f"""<div class="a"><span>$5.99</span> <span>$9.99</span></div>{CART}""",
    ),
    "a stated price that is far below the shown one": Shape(
        "de", "laden.example.de", f'<div class="price">649,00 €</div>{CART_DE}', stated=ld("54.90"),
    ),
    "two forms with two prices": Shape(
        "en-US", "nursery.example.com", "".join(f"""<form action="https://www.paypal.com/cgi-bin/webscr"><input name="cmd"
        value="_cart"><input name="amount" value="{amount}"><input type="image" alt="Add to Cart"></form><p>pot: ${amount}</p>"""
        for amount in ("8.95", "12.95")),
    ),
    "like rows of which nothing says that they are kinds of the goods": Shape(
        "en-US", "shop.example.com", f"""<ul><li>Lamp <b class="price">$120.00</b></li><li>Handling <b class="price">$60.00</b></li>
        </ul>{CART}""",
    ),
    "like rows of what is added to the price": Shape(
        "en-US", "signs.example.com", f"""<form><div class="opt"><label><input type="checkbox">Grommets</label><span
        class="price">$4.50</span></div><div class="opt"><label><input type="checkbox">Rush printing</label><span class="price">$15.00
        </span></div>{CART}</form>""",
    ),
    "like rows of things that cost too differently to be one": Shape(
        "en-US", "tv.example.com", """<form><div class="row">TV <span class="price">$799.00</span><button>Buy</button></div>
        <div class="row">Cable <span class="price">$9.00</span><button>Buy</button></div></form>""",
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
    "Cafe24: a hidden mark of what is sold out, and a code whose head stands in a cell of its own": Shape(
        "ko", "mall.example.kr",
        """<div class="xans-product-detail"><table><tr><th><span>판매가</span></th><td><strong id="span_product_price_text">
        899,000원</strong></td></tr><tr><th scope="row"><span>상품코드</span></th><td><span>P0000DIJ</span></td></tr></table>
        <a href="#none" class="btn first">바로구매하기</a><span class="displaynone soldout">SOLD OUT</span></div>""",
        "899000", "KRW", stock="in_stock", sku="P0000DIJ",
    ),
    "WooCommerce: in stock, and more can be backordered": Shape(
        "en-CA", "shop.example.ca",
        """<p class="price">$549.99</p><p class="stock in-stock">Only 2 left in stock (can be backordered)</p>
        <button class="single_add_to_cart_button">Add to cart</button><p>SKU: <span class="sku">900-5G133</span></p>""",
        "549.99", "CAD", stock="in_stock", sku="900-5G133",
    ),
    "the variant that the address names": Shape(
        "en-US", "shop.example.com", f'<div class="price">$579.00</div>{CART}', "579.00", "USD",
        stated=json.dumps(OFFERS), path="products/rtx-4070?variant=WHT-4070", stock="out_of_stock", sku="WHT-4070",
    ),
    "nothing to order with but a button to wait by": Shape(
        "pl", "sklep.example.pl", "<div>2 499,00 zł</div><button>Powiadom o dostępności</button>", "2499.00", "PLN", stock="out_of_stock",
    ),
    "a button to be told of a lower price": Shape(
        "pl", "sklep.example.pl", "<div>2 499,00 zł</div><button>Powiadom o niższej cenie</button>", "2499.00", "PLN", stock="unknown",
    ),
    "SAP Commerce: the code in the form alone": Shape(
        "it", "negozio.example.it",
        """<p class="price">€ 449,00</p><form class="add_to_cart_form" action="/cart/add"><input type="hidden"
        name="productCodePost" value="MG4471920"/><button>Aggiungi al carrello</button></form>""",
        "449.00", "EUR", path="it/schede/p/MG4471920", stock="in_stock", sku="MG4471920",
    ),
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
    "an item's number without a word for number": Shape(
        "en-US", "shop.example.com", f"<p>Item 1780444 | Model RTX-4070</p><p class='price'>$549.99</p>{CART}", "549.99", "USD", stock="in_stock", sku="1780444",
    ),
    "a number in the middle of a line": Shape(
        "en-AU", "shop.example.com.au", f"""<div>Model: <span>VT4070-O12G</span> | Code: <span>105678</span></div>
        <p class='price'>$549.00</p>{CART}""", "549.00", "AUD", path="product/rtx-4070", stock="in_stock", sku="105678",
    ),
    "a number that is marked for machines on a page that is not": Shape(
        "en-US", "shop.example.com", f"""<p>Mfg # <span itemprop="mpn">VCN4070</span> Ours # <span itemprop="sku">7345678</span></p>
        <p class='price'>$549.00</p>{CART}""", "549.00", "USD", path="product/rtx-4070", stock="in_stock", sku="7345678",
    ),
    "the address names the number": Shape(
        "ko", "mall.example.co.kr", "<p class='price'>425,000원</p><button>장바구니</button>", "425000", "KRW",
        path="shop/detail.html?branduid=1234567", stock="in_stock", sku="1234567",
    ),
    "a price that is told to whoever asks": Shape(
        "en-US", "shop.example.com", """<p>MPN: VCN4070-PB</p><p>Item #: E12345678</p><p class="price">Contact us for pricing</p>
        <a class="btn">Request a Quote</a>""", path="product/rtx-4070", stock="unknown", sku="E12345678",
    ),
    "a page that sells nothing any more, above others that do": Shape(
        "de", "laden.example.de", """<p class="hint">Dieser Artikel ist nicht mehr verfügbar.</p><p>Artikelnummer: 99812</p>
        <section><h2>Alternativen</h2><div><a href="/artikel/1">RTX 4060</a><b class="price">299,00 €</b><button>In den
        Warenkorb</button></div></section>""", path="artikel/rtx-4070", stock="out_of_stock", sku="99812",
    ),
    "an auction that is over": Shape(
        "en-US", "auctions.example.com", """<p><span>This listing ended on Wed, Nov 11 at 5:12 PM.</span></p><div>Winning bid:
        <span class="price">US $231.50</span></div><p>Item number: 174512345678</p>""", "231.50", "USD", stock="out_of_stock", sku="174512345678",
    ),
    "a listing that has expired, in Italian": Shape(
        "it", "aste.example.it", """<p>L'inserzione è scaduta.</p><span class="price">EUR 350,00</span>
        <p>Codice Minsan: <b>931459184</b></p>""", "350.00", "EUR", stock="out_of_stock", sku="931459184",
    ),
    "a status that is marked for machines on a page that is not": Shape(
        "it", "shop.example.it", """<span class="price">EUR 350,00</span><span itemprop="availability"
        content="https://schema.org/OutOfStock"></span><p>Codice: 18451</p>""", "350.00", "EUR", stock="out_of_stock", sku="18451",
    ),
    "a button that is switched off below a line that says why": Shape(
        "en-GB", "toys.example.co.uk", """<span class="price">£499.99</span><div class="instore">Out Of Stock</div>
        <button id="addToCartButton" disabled="disabled">Add To Basket</button><p>Code: 191259</p>""", "499.99", "GBP", stock="out_of_stock", sku="191259",
    ),
    "a button that waits for a size to be chosen": Shape(
        "en-GB", "toys.example.co.uk", """<span class="price">£49.99</span><div class="instore">Choose your size</div>
        <button id="addToCartButton" disabled="disabled">Add To Basket</button><p>Code: 191259</p>""", "49.99", "GBP", stock="unknown", sku="191259",
    ),
    "a label for goods that are gone, in the button of those that are there": Shape(
        "pl", "market.example.pl", """<span class="price">32,00 zł</span><a href="#" class="add-to-basket">Dodaj do koszyka<span
        class="unavailable-label">Produkt niedostępny</span></a><div class="stock-box">Dostępne szt. 14</div><p>Kod: 45979556</p>""",
        "32.00", "PLN", stock="in_stock", sku="45979556",
    ),
    "a price for those who have signed in": Shape(
        "en-US", "club.example.com", """<p>Item 1600311 | Model 298677-01</p><div class="price-container"><p>Sign In to see
        price</p></div>""", path="product/rtx-4070", stock="unknown", sku="1600311",
    ),
    "a number in a preview of the description, which is no review": Shape(
        "en-US", "shop.example.com", """<span class="price">$95.97</span><div class="description-preview"><ul><li>Style:
        CN8490-002</li></ul></div><button>Add to cart</button>""", "95.97", "USD", path="t/rtx-4070", stock="in_stock", sku="CN8490-002",
    ),
    "a word for what is sold, alone in its line": Shape(
        "en-US", "pottery.example.com", """<p class="price">$240.00</p><p class="end">SOLD</p><p>Code: 24017</p>""", "240.00",
        "USD", stock="out_of_stock", sku="24017",
    ),
    "a line and a button to wait by": Shape(
        "en-GB", "books.example.co.uk", """<p class="price">£3.49</p><p>Out of stock</p><button>Notify me</button><p>SKU:
        GOR001234567</p>""", "3.49", "GBP", stock="out_of_stock", sku="GOR001234567",
    ),
    "one size that is gone": Shape(
        "en-GB", "shoes.example.co.uk", """<p class="price">£34.90</p><ul><li>6</li><li>7 <span>Sold out</span></li><li>8</li></ul>
        <p>Code: 34901</p>""", "34.90", "GBP", stock="unknown", sku="34901",
    ),
    "an advertisement that is not there any more": Shape(
        "de", "kleinmarkt.example.de", """<h2 id="price">120 €</h2><p>Anzeigen-ID 2212345678</p><p>Diese Anzeige ist nicht mehr
        verfügbar.</p>""", "120", "EUR", stock="out_of_stock", sku="2212345678",
    ),
    "an advertisement's number, in Turkish": Shape(
        "tr", "ilan.example.com.tr", """<h3>7.500 TL</h3><ul><li><strong>İlan No</strong> <span>1034567890</span></li></ul>
        <button>Mesaj Gönder</button>""", "7500", "TRY", path="ilan/koltuk", stock="unknown", sku="1034567890",
    ),
    "goods that are gone, above a part with other goods": Shape(
        "en-US", "glass.example.com", """<p>This piece is no longer available.</p><p>Code: GV-118</p></div><div><div
        class="product-card"><h4>Blue Vase</h4><p class="price">$65.00</p><form action="/cart/add"><button>Add to cart</button>
        </form></div>""", stock="out_of_stock", sku="GV-118",
    ),
    "none left, as a number": Shape(
        "en-US", "rails.example.com", """<p>Item: 4412-AT</p><p class="price">$31.98</p><p class="stock">Stock: 0</p>""", "31.98",
        "USD", path="boxcar", stock="out_of_stock", sku="4412-AT",
    ),
    "what the shop does no longer": Shape(
        "en-GB", "tea.example.co.uk", """<p class="price">£9.50</p><p>No longer ships to the EU.</p><p>Code: AS-250</p>""", "9.50",
        "GBP", stock="unknown", sku="AS-250",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOCK_AND_NUMBER)
def test_stock_and_number(name: str) -> None:
    shape = STOCK_AND_NUMBER[name]
    offer, issues = read(shape)
    assert price_of(offer)[:2] == (shape.price, shape.currency), [issue.message for issue in issues]
    assert (offer.availability, offer.sku) == (shape.stock, shape.sku)
