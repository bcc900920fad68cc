"""Product pages of shop systems and countries, each with the numbers, taxes, rates and other goods that stand around a price.

Written from the systems' public themes and the countries' habits before anyone looked at how the reader takes them. Of the
61 of which these are left it then gave the price of 48 and none wrongly; a page that is left open still (`price` is None)
says why in its name or in a comment. Shops, goods and prices are invented.
"""

# ruff: noqa: E501 - markup in lines as long as the themes write them
from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from gpuledger.items import Issue, Offer
from tests.support.html_page import TITLE, offer_on, price_of, told


class Shop(NamedTuple):
    """One page: language, address, title, markup, and what a person reads there; `old` is a list price that is asked for."""

    lang: str
    url: str
    title: str
    body: str
    price: str | None
    currency: str | None
    sku: str | None
    stock: str = "in_stock"
    kind: str | None = "now"
    head: str = ""
    old: str | None = None


def ld(name: str, price: str | float, currency: str, *, stock: str = "InStock", offer: Any = None, **more: Any) -> str:
    """A JSON-LD block of one product."""
    offers = offer or {
        "@type": "Offer", "price": price, "priceCurrency": currency, "availability": f"https://schema.org/{stock}",
    }  # fmt: skip
    return told({"@type": "Product", "name": name, "offers": offers, **more})


def tile(href: str, price: str, extra: str = "") -> str:
    """Another product, as shops show it below."""
    return f'<div class="card"><a href="{href}"><img src="o.jpg" alt=""></a><a href="{href}">Other</a><span class="price">{price}</span>{extra}</div>'


SHOPS: dict[str, Shop] = {
    "Shopify, an older theme and cents in its script": Shop(
        "en-US", "https://goods.example.com/products/desk-lamp", "Brass Desk Lamp",
        f"""<div class="grid__item product-single__meta"><h1 class="product-single__title">Brass Desk Lamp</h1><p class="product-single__vendor">Norden</p>
        <p class="product-single__sku">SKU: <span class="variant-sku">LMP-BR-01</span></p><div class="product__price"><dl class="price" data-price><div class="price__regular"><dt>
        <span class="visually-hidden visually-hidden--inline">Regular price</span></dt><dd><span class="price-item price-item--regular" data-regular-price>$1,149.00</span></dd></div>
        <div class="price__sale"><dt>Sale price</dt><dd><span class="price-item price-item--sale" data-sale-price>$1,149.00</span></dd><dt>Regular price</dt><dd><s class="price-item" data-regular-price></s></dd></div>
        <div class="price__unit"><dt>Unit price</dt><dd class="price-unit-price"><span data-unit-price></span>/<span>per</span></dd></div></dl></div>
        <form action="/cart/add"><button name="add" id="AddToCart">Add to cart</button></form></div><script type="application/json" id="ProductJson-product-template">
        {{"id":1,"title":"Brass Desk Lamp","vendor":"Norden","price":114900,"variants":[{{"id":40,"sku":"LMP-BR-01","price":114900,"barcode":"5012345678900"}}]}}</script>
        <section>{tile("/products/shade", "$49.00")}</section>""",
        "1149.00", "USD", "LMP-BR-01",
        head='<meta property="og:type" content="product"><meta property="og:price:amount" content="1,149.00"><meta property="og:price:currency" content="USD">',
    ),
    "WooCommerce, Spain, a range of variants": Shop(
        "es-ES", "https://muebles.example.es/producto/mesa-roble/", "Mesa de roble",
        f"""<div id="product-9" class="product type-product instock product-type-variable"><div class="summary entry-summary"><h1 class="product_title entry-title">Mesa de roble</h1>
        <p class="price"><span class="woocommerce-Price-amount amount"><bdi>1.299,00<span class="woocommerce-Price-currencySymbol">€</span></bdi></span> – <span class="woocommerce-Price-amount amount"><bdi>1.499,00<span
        class="woocommerce-Price-currencySymbol">€</span></bdi></span></p><form class="variations_form cart"><button class="single_add_to_cart_button button alt">Añadir al carrito</button></form>
        <div class="product_meta"><span class="sku_wrapper">SKU: <span class="sku">MR-180</span></span> <span class="posted_in">Categoría: <a href="/c/mesas">Mesas</a></span></div></div>
        <section class="related products">{tile("/producto/silla/", "89,00€")}</section></div>""",
        "1299.00", "EUR", "MR-180", kind="from",
        head=ld("Mesa de roble", 0, "EUR", sku="MR-180", offer={"@type": "AggregateOffer", "lowPrice": "1299.00", "highPrice": "1499.00", "offerCount": 2, "priceCurrency": "EUR", "availability": "http://schema.org/InStock"}),
    ),
    "Magento, Hyvä, names of styles alone": Shop(
        "nl", "https://winkel.example.nl/boormachine-18v.html", "Boormachine 18V",
        f"""<section class="product-info"><div class="lg:w-1/2"><h1 class="text-3xl font-medium" itemprop="name">Boormachine 18V</h1><div class="my-2 text-sm text-gray-600"><span>Artikelnummer</span> <span itemprop="sku">BM18-0042</span></div>
        <div class="flex"><div x-data="initPrice()" class="price-box price-final_price"><div class="price-container"><div class="final-price inline-block" itemprop="offers" itemscope itemtype="http://schema.org/Offer"><span class="price-label block">Speciale prijs</span>
        <span id="product-price-5" class="price-wrapper title-font font-medium text-2xl text-gray-900"><span class="price" x-html="x">€ 129,95</span></span><meta itemprop="price" content="129.95"><meta itemprop="priceCurrency" content="EUR"></div>
        <div class="old-price flex"><span class="price-label">Normale prijs</span> <span class="price-wrapper"><span class="price">€ 159,95</span></span></div></div></div></div>
        <p class="stock">Op voorraad, voor 23:59 besteld morgen in huis</p><button class="btn btn-primary" id="product-addtocart-button">In winkelwagen</button></div></section>{tile("/accu.html", "€ 49,95")}""",
        "129.95", "EUR", "BM18-0042",
    ),
    "Shopware 5, wine by the litre": Shop(
        "de", "https://wein.example.de/rot/123/merlot-trocken", "Merlot trocken 2019",
        f"""<section class="product--detail"><header class="product--header"><h1 class="product--title">Merlot trocken 2019</h1></header><div class="product--buybox"><div class="product--price price--default"><span class="price--content content--default"><meta itemprop="price" content="8.95">8,95&nbsp;&euro; *</span></div>
        <div class="product--price price--unit"><span class="price--label label--purchase-unit">Inhalt:</span> 0.75 Liter (11,93&nbsp;&euro; * / 1 Liter)</div><p class="product--tax">inkl. MwSt. <a href="/versand">zzgl. Versandkosten</a></p>
        <div class="product--delivery"><span class="delivery--text delivery--text-available">Sofort versandfertig</span></div><form><button class="buybox--button">In den Warenkorb</button></form>
        <ul class="product--base-info"><li class="base-info--entry entry--sku"><strong class="entry--label">Artikel-Nr.:</strong> <span class="entry--content" itemprop="sku">W-0123.19</span></li></ul></div></section>{tile("/rot/124/syrah", "9,95 € *")}""",
        "8.95", "EUR", "W-0123.19",
    ),
    "OXID, Flow": Shop(
        "de", "https://kite.example.de/Kiteboarding/Kites/Kite-CORE-GTS.html", "Kite CORE GTS",
        f"""<div id="productinfo"><div class="detailsInfo" itemscope itemtype="http://schema.org/Product"><h1 id="productTitle" itemprop="name">Kite CORE GTS</h1><span class="small text-muted">Artikelnummer: 1302</span><div class="additionalInfo"></div>
        <form class="js-oxProductForm"><div class="price-wrapper"><del class="price-old" title="UVP">UVP <span>999,00 €</span></del><div><label id="productPrice" class="price h2"><span itemprop="offers" itemscope itemtype="http://schema.org/Offer"><span><span class="price-from"></span><span class="price">879,00</span>
        <span class="currency">€</span> <span class="price-markup">*</span></span><span class="d-none"><span itemprop="price" content="879.0">879,00 €</span><meta itemprop="priceCurrency" content="EUR"></span></span></label></div></div>
        <div class="tobasket"><button id="toBasket" class="btn btn-primary submitButton largeButton">In den Warenkorb</button></div><span class="stockFlag">Sofort lieferbar</span></form></div></div>{tile("/Kites/Kite-NBK.html", "699,00 € *")}""",
        "879.00", "EUR", "1302",
    ),
    "Cafe24, list price, sale price, points and delivery": Shop(
        "ko", "https://shop.example.co.kr/product/wool-coat/1842/category/24/display/1/", "울 더블 코트",
        f"""<div class="xans-element- xans-product xans-product-detail"><div class="headingArea"><h2>울 더블 코트</h2></div><div class="infoArea"><div class="xans-element- xans-product xans-product-detaildesign"><table summary=""><caption>기본 정보</caption><tbody>
        <tr class="xans-record-"><th scope="row"><span style="font-size:16px;">상품명</span></th><td><span>울 더블 코트</span></td></tr><tr><th scope="row"><span>소비자가</span></th><td><span><span id="span_product_price_custom"><strike>258,000원</strike></span></span></td></tr>
        <tr><th scope="row"><span>판매가</span></th><td><span><strong id="span_product_price_text">198,000원 </strong><input id="product_price" name="product_price" value="" type="hidden"></span></td></tr><tr><th scope="row"><span>적립금</span></th><td><span>1,980원 (1%)</span></td></tr>
        <tr><th scope="row"><span>상품코드</span></th><td><span>P0000CSW</span></td></tr><tr><th scope="row"><span>배송비</span></th><td><span class="delv_price_B"><strong>3,000원</strong> (100,000원 이상 구매 시 무료)</span></td></tr></tbody></table></div>
        <div id="totalPrice" class="totalPrice"><strong>총 상품금액(수량) : </strong><span class="total"><strong><em>0</em></strong> (0개)</span></div><div class="ec-base-button"><a href="#none" class="btnSubmit"><span>바로구매</span></a><a href="#none">장바구니</a><span class="displaynone">SOLD OUT</span></div></div></div>
        {tile("/product/knit/1843/", "59,000원")}""",
        "198000", "KRW", "P0000CSW",
        head='<meta property="og:type" content="product"><meta property="product:price:amount" content="258000"><meta property="product:price:currency" content="KRW"><meta property="product:sale_price:amount" content="198000"><meta property="product:sale_price:currency" content="KRW">',
    ),
    "Korea, an open market with a coupon": Shop(
        "ko", "https://item.example.co.kr/Item?goodscode=2718281828", "무선 청소기 V12",
        """<div class="item-topinfo"><h1 class="itemtit">무선 청소기 V12</h1><p class="code">상품번호 : 2718281828</p><div class="price"><span class="price_original"><span class="text__price">459,000</span>원</span><span class="price_innerwrap"><strong class="price_real">389,000<span class="text__unit">원</span></strong></span></div>
        <div class="box__coupon"><span>쿠폰적용가</span> <strong>369,550원</strong></div><div>배송비 3,000원</div><div>무이자 최대 12개월, 월 32,416원</div><button class="btn_primary">구매하기</button><button>장바구니</button></div>""",
        "389000", "KRW", "2718281828",
    ),
    "Korea, a market's own shop with hashed names": Shop(
        "ko", "https://store.example.com/mystore/products/5123456789", "접이식 캠핑 의자",
        """<div class="_2-I30XS1lA"><h3 class="_22kNQuEXmb">접이식 캠핑 의자</h3><div class="WrkQhIlUY0"><strong class="_2pgHN-ntx6"><del class="_1LY7"><span>45,900</span>원</del></strong><span class="blind">할인율</span><strong>30%</strong> <strong class="aICRqgP9zw"><span class="_1LY7DqCnwR">32,130</span><span class="won">원</span></strong></div>
        <div>최대 적립포인트 1,606원</div><div>배송비 3,500원</div><table><tr><th>상품번호</th><td>5123456789</td><th>상품상태</th><td>신상품</td></tr><tr><th>제조사</th><td>캠프원</td><th>모델명</th><td>CM-CH2</td></tr></table><a href="#" role="button">구매하기</a></div>""",
        "32130", "KRW", "5123456789",
        head=ld("접이식 캠핑 의자", 32130, "KRW", sku="5123456789", productID="5123456789"),
    ),
    "BigCommerce, Cornerstone": Shop(
        "en-AU", "https://tools.example.com.au/impact-driver-18v/", "Impact Driver 18V",
        f"""<div class="productView"><section class="productView-details product-data"><div class="productView-product"><h1 class="productView-title">Impact Driver 18V</h1><h2 class="productView-brand"><a href="/brands/torq">Torq</a></h2><div class="productView-price"><div class="price-section price-section--withTax rrp-price--withTax"><span>RRP:</span> <span data-product-rrp-with-tax class="price price--rrp">$299.00</span></div>
        <div class="price-section price-section--withTax"><span class="price-label">Now:</span> <span data-product-price-with-tax class="price price--withTax">$249.00</span> <abbr title="Including Tax">(Inc. Tax)</abbr></div><div class="price-section price-section--withoutTax"><span data-product-price-without-tax class="price price--withoutTax">$226.36</span> <abbr title="Excluding Tax">(Ex. Tax)</abbr></div>
        <div class="price-section price-section--saving price"><span class="price">(You save</span> <span data-product-price-saved class="price price--saving">$50.00</span> <span class="price">)</span></div></div><dl class="productView-info"><dt class="productView-info-name sku-label">SKU:</dt><dd class="productView-info-value" data-product-sku>TQ-ID18</dd>
        <dt class="productView-info-name upc-label">UPC:</dt><dd class="productView-info-value">036000291452</dd><dt>Shipping:</dt><dd>$12.00 (Fixed Shipping Cost)</dd></dl></div></section><section class="productView-details product-options"><form data-cart-item-add><input id="form-action-addToCart" class="button button--primary" type="submit" value="Add to Cart"></form></section></div>
        {tile("/battery/", "$89.00")}""",
        "249.00", "AUD", "TQ-ID18",
    ),
    "Salesforce Commerce, an item number": Shop(
        "en-US", "https://apparel.example.com/s/Site/wool-blazer/25686364M.html", "Wool Blazer",
        f"""<div class="container product-detail product-wrapper" data-pid="25686364M"><h1 class="product-name">Wool Blazer</h1><div class="product-number">Item No. <span class="product-id">25686364M</span></div><div class="prices"><div class="price"><span><del><span class="strike-through list"><span class="value" content="199.00">
        <span class="sr-only">Price reduced from</span>$199.00<span class="sr-only">to</span></span></span></del><span class="sales"><span class="value" content="139.30">$139.30</span></span></span></div></div><button class="add-to-cart btn btn-primary">Add to Cart</button></div>{tile("/s/Site/skirt/1.html", "$59.00")}""",
        "139.30", "USD", "25686364M",
        head=ld("Wool Blazer", "139.30", "USD", sku="25686364M", mpn="25686364M"),
    ),
    "OpenCart, a code, points and the price before tax": Shop(
        "en-gb", "https://demo.example.com/index.php?route=product/product&product_id=42", "Cinema Display 30",
        """<div id="product"><div class="col-sm-4"><h1>Cinema Display 30</h1><ul class="list-unstyled"><li>Brand: <a href="/apple">Orchard</a></li><li>Product Code: Product 15</li><li>Reward Points: 100</li><li>Availability: In Stock</li></ul>
        <ul class="list-unstyled"><li><span style="text-decoration: line-through;">$122.00</span></li><li><h2>$110.00</h2></li><li>Ex Tax: $90.00</li><li>Price in reward points: 400</li></ul><button type="button" id="button-cart">Add to Cart</button></div></div>""",
        # Nothing says whose dollars these are, and two words with a digit are no number.
        None, None, None, "in_stock", None,
    ),
    "VTEX, Brazil, instalments and a price by pix": Shop(
        "pt-BR", "https://www.loja.example.com.br/geladeira-frost-free-400l/p", "Geladeira Frost Free 400L",
        f"""<div class="vtex-flex-layout"><h1 class="vtex-store-components-3-x-productNameContainer"><span>Geladeira Frost Free 400L</span></h1><span class="vtex-product-identifier"><span class="vtex-product-identifier__label">Cód. do produto</span><span class="vtex-product-identifier__separator">: </span><span class="vtex-product-identifier__value">117209</span></span>
        <span class="vtex-product-price-1-x-listPriceValue strike"><span class="currencyContainer"><span class="currencyCode">R$</span><span> </span><span class="currencyInteger">3</span><span class="currencyGroup">.</span><span class="currencyInteger">299</span><span class="currencyDecimal">,</span><span class="currencyFraction">00</span></span></span>
        <span class="vtex-product-price-1-x-sellingPriceValue"><span class="currencyContainer"><span class="currencyCode">R$</span><span> </span><span class="currencyInteger">2</span><span class="currencyGroup">.</span><span class="currencyInteger">799</span><span class="currencyDecimal">,</span><span class="currencyFraction">00</span></span></span>
        <span class="installments">10x de R$ 279,90 sem juros</span><button class="vtex-button"><span>Comprar</span></button></div>{tile("/fogao/p", "R$ 999,00")}""",
        # What the page prints as the product's is the maker's to machines.
        "2799.00", "BRL", "50211",
        head=ld("Geladeira Frost Free 400L", 0, "BRL", sku="50211", mpn="117209", offer={"@type": "AggregateOffer", "lowPrice": 2799, "highPrice": 2799, "priceCurrency": "BRL", "offerCount": 1, "offers": [{"@type": "Offer", "price": 2799, "priceCurrency": "BRL", "availability": "http://schema.org/InStock", "sku": "50211"}]}),
    ),
    "a Latin American market, used or new in a line of its own": Shop(
        "es-AR", "https://articulo.example.com.ar/MLA-912345678-auriculares-_JM", "Auriculares Inalámbricos",
        """<div class="ui-pdp-header"><span class="ui-pdp-subtitle">Nuevo  |  +100 vendidos</span><h1 class="ui-pdp-title">Auriculares Inalámbricos</h1></div><div class="ui-pdp-price"><s class="andes-money-amount andes-money-amount--previous" aria-label="Antes: 89999 pesos"><span class="andes-money-amount__currency-symbol">$</span><span class="andes-money-amount__fraction">89.999</span></s>
        <div class="ui-pdp-price__second-line"><span class="andes-money-amount" aria-label="71999 pesos"><meta itemprop="price" content="71999"><span class="andes-money-amount__currency-symbol">$</span><span class="andes-money-amount__fraction">71.999</span></span><span class="ui-pdp-price__discount">20% OFF</span></div><p>en 6x <span>$</span><span>11.999</span> <sup>83</sup></p></div>
        <p>Envío gratis a todo el país</p><button>Comprar ahora</button><button>Agregar al carrito</button><p>Publicación #912345678</p>""",
        "71999", "ARS", "912345678",
    ),
    "Japan, a model's number, tax in brackets": Shop(
        "ja", "https://denki.example.jp/item/g88127", "ワイヤレスヘッドホン WH-77",
        f"""<div class="goodsDetail"><h1>ワイヤレスヘッドホン WH-77</h1><dl><dt>メーカー</dt><dd>オトワ</dd><dt>型番</dt><dd>WH-77BK</dd><dt>商品コード</dt><dd>88127</dd></dl><p class="price">販売価格 <strong>12,800円</strong><span>（税込14,080円）</span></p><p>在庫：あり</p><a class="btn cart" href="#">カートに入れる</a></div>{tile("/item/g88128", "9,800円")}""",
        "14080", "JPY", "88127",
    ),
    "Switzerland, instead of": Shop(
        "de-CH", "https://www.shop.example.ch/de/s1/product/staubsauger-5512", "Staubsauger Zyklon",
        f"""<main><h1>Staubsauger Zyklon</h1><div><strong><button type="button">CHF</button> 259.–</strong> <span>statt 329.–</span></div><p>Artikelnummer <span>9911823</span></p><p>Herstellernr. <span>ZYK-5</span></p><p>Morgen geliefert, mehr als 10 Stück an Lager</p><button>In den Warenkorb</button></main>{tile("/de/s1/product/beutel-1", "CHF 12.–")}""",
        "259", "CHF", "9911823",
        head=ld("Staubsauger Zyklon", 259, "CHF", sku="9911823", mpn="ZYK-5"),
    ),
    "Hungary, gross and net": Shop(
        "hu", "https://bolt.example.hu/termek/furogep-600w", "Fúrógép 600W",
        """<main><h1>Fúrógép 600W</h1><div>Cikkszám: <b>FG-600</b></div><div>Bruttó ár: <b class="price">24 990 Ft</b></div><div>Nettó ár: 19 677 Ft</div><div>Raktáron</div><button>Kosárba</button></main>""",
        "24990", "HUF", "FG-600",
    ),
    "Greece": Shop(
        "el", "https://eshop.example.gr/ypologistes/laptop-15", "Laptop 15 ιντσών",
        """<main><h1>Laptop 15 ιντσών</h1><p>Κωδικός προϊόντος: <b>123.456</b></p><div class="price"><span>649,00 €</span></div><p>Άμεσα διαθέσιμο</p><button>Προσθήκη στο καλάθι</button></main>""",
        "649.00", "EUR", "123.456",
    ),
    "an auction in Japan that can be bought at once": Shop(
        "ja", "https://auction.example.jp/jp/auction/k1234567890", "レンズ 50mm F1.4",
        """<main><h1>レンズ 50mm F1.4</h1><dl><dt>現在価格</dt><dd>8,250円（税0円）</dd><dt>即決価格</dt><dd>12,000円（税0円）</dd></dl><p>オークションID k1234567890</p><button>入札する</button><button>今すぐ落札する</button></main>""",
        # Each amount has the other one's word in the same list.
        None, None, "k1234567890", "in_stock", None,
    ),
    "a group buy in China beside the price for one": Shop(
        "zh-CN", "https://pin.example.cn/goods.html?goods_id=81726354", "折叠电风扇",
        """<div><h1>折叠电风扇</h1><div class="group"><span>¥89</span><span>拼单价</span></div><div class="single"><span>¥109</span><span>单独购买</span></div><p>已拼2.3万件</p><button>发起拼单</button></div>""",
        None, None, "81726354", "in_stock", None,
    ),
    "a member's price beside everybody's": Shop(
        "en-US", "https://club.example.com/p/blender-900/88213", "Blender 900",
        """<main><h1>Blender 900</h1><p>Item 88213 | Model BL-900</p><div class="price-member">Member Price <span class="amt">$79.99</span></div><div class="price">Price <span class="amt">$99.99</span></div><p>In stock</p><button>Add to cart</button></main>""",
        "99.99", "USD", "88213",
        head='<meta property="product:price:amount" content="79.99"><meta property="product:price:currency" content="USD">' + ld("Blender 900", "99.99", "USD", sku="88213"),
    ),
    "a number with a decimal comma to machines": Shop(
        "de", "https://garten.example.de/hochbeet-xl", "Hochbeet XL",
        """<main><h1>Hochbeet XL</h1><div class="preis">1.299,00 €</div><p>zzgl. 49,00 € Speditionsversand</p><p>Bestellnummer: 4711-XL</p><p>lieferbar in 5 Tagen</p><button>In den Warenkorb</button></main>""",
        "1299.00", "EUR", "4711-XL",
        head=ld("Hochbeet XL", "1.299,00", "EUR"),
    ),
    "a state in a script alone": Shop(
        "en-CA", "https://www.outdoor.example.ca/p/tent-4/5031-994", "Tent for Four",
        '<div id="app"><h1>Tent for Four</h1><div class="skeleton"></div><button>Add to Cart</button></div>',
        "389.99", "CAD", "5031-994",
        head="""<script>window.__INITIAL_STATE__ = {"page":{"type":"product"},"product":{"name":"Tent for Four","sku":"5031-994","upc":"629144052225","price":{"current":{"value":389.99,"currency":"CAD"},"list":{"value":449.99,"currency":"CAD"}},"isSellable":true},"recommended":[{"name":"Stove","price":{"current":{"value":59.99}}}]};</script>""",
    ),
    "Vietnam": Shop(
        "vi", "https://www.dienmay.example.vn/may-giat-9kg", "Máy giặt 9kg",
        """<main><h1>Máy giặt 9kg</h1><p>Mã sản phẩm: <b>MG9-2031</b></p><p class="box-price-present">6.990.000₫</p><p class="box-price-old">8.490.000₫</p><p>Trả góp 0%: 582.500₫/tháng</p><p>Còn hàng</p><button>MUA NGAY</button></main>""",
        "6990000", "VND", "MG9-2031",
    ),
    "Thailand": Shop(
        "th", "https://www.ran.example.co.th/p/phat-lom-16", "พัดลมตั้งพื้น 16 นิ้ว",
        """<main><h1>พัดลมตั้งพื้น 16 นิ้ว</h1><p>รหัสสินค้า: <span>FN16-77</span></p><p><span class="price">฿1,290.00</span> <del>฿1,590.00</del></p><p>มีสินค้า</p><button>หยิบใส่ตะกร้า</button></main>""",
        "1290.00", "THB", "FN16-77",
    ),
    "Israel": Shop(
        "he", "https://www.hanut.example.co.il/items/55123-toaster", "טוסטר אובן 30 ליטר",
        """<main dir="rtl"><h1>טוסטר אובן 30 ליטר</h1><p>מק"ט: <span>55123</span></p><p class="price"><span>₪ 349</span></p><p>במלאי</p><button>הוסף לסל</button></main>""",
        # Read as one text, the sign may belong to the number before it.
        None, None, "55123", "in_stock", None,
    ),
    "Taiwan, a shop's number": Shop(
        "zh-TW", "https://www.mai.example.com.tw/goods/detail.jsp?gcode=9087123", "除濕機 12公升",
        """<main><h1>除濕機 12公升</h1><p>商品編號：9087123</p><ul><li>建議售價 <del>9,900元</del></li><li>促銷價 <b class="price">7,980</b> 元</li><li>折扣後價格 <b>7,580</b> 元</li></ul><p>型號：DH-12L</p><button>加入購物車</button></main>""",
        None, None, "9087123", "in_stock", None,
    ),
    "Ukraine": Shop(
        "uk", "https://kramnytsia.example.ua/ua/p382519", "Мікрохвильова піч 20 л",
        """<main><h1>Мікрохвильова піч 20 л</h1><p class="product__code">Код товару: 382519123</p><p class="product-price__big">3 299₴</p><p class="product-price__small">3 999₴</p><p>Є в наявності</p><button>Купити</button></main>""",
        "3299", "UAH", "382519123",
    ),
    "Saudi Arabia, the code and the number": Shop(
        "en", "https://www.souk.example.com.sa/en/p/air-fryer", "Air Fryer 5L",
        """<main><h1>Air Fryer 5L</h1><p>Model No: AF-5L</p><p>SKU: 100771234</p><p><span class="price">SAR 249.00</span> <span class="vat">Inclusive of VAT</span> <s>SAR 349.00</s></p><p>or 4 payments of SAR 62.25</p><button>Add to cart</button></main>""",
        "249.00", "SAR", "100771234",
    ),
    # Written when the pages above were read: of 18 such pages the price of 14 of 17 was given, and none wrongly.
    "UK department store, React names": Shop(
        "en-GB", "https://www.dept.example.co.uk/p/wool-throw/88112", "Wool Throw",
        """<main><div class="ProductHeader_root__x1"><h1>Wool Throw</h1><span class="ProductHeader_price__y2">£45.00</span><span class="ProductHeader_was__z3">Was £60.00</span></div><div class="ProductActions_root"><button data-testid="add-to-bag">Add to bag</button></div><div class="Accordion"><h3>Details</h3><p>Product number: T84 1120</p><p>Product code: 6051234</p></div></main>"""+tile("/p/rug/1","£95.00",
    ),
        "45.00", "GBP", "T84 1120",
    ),
    "Poland, electronics with rates and a club": Shop(
        "pl", "https://www.sklep.example.pl/telewizory/tv-55-cali-1234567.bhtml", "Telewizor 55 cali",
        """<main><h1>Telewizor 55 cali</h1><span>nr kat. 1234567</span><div class="price-template"><div class="price-template__large--total">2 299</div><div class="price-template__large--decimal">00</div><div class="price-template__large--currency">zł</div></div><div>Rata 0%: 30 x 76,64 zł</div><div>Najniższa cena z 30 dni: 2 499,00 zł</div><button>Do koszyka</button></main>""",
        "2299.00", "PLN", "1234567",
    ),
    "Italy, fashion with camel case": Shop(
        "it", "https://www.moda.example.it/it/borsa-pelle_cod12345678.html", "Borsa in pelle",
        """<main><div class="itemInfo"><h1>Borsa in pelle</h1><div class="itemPrice"><span class="fullPrice"><span class="currency">€</span> <span class="value">320,00</span></span> <span class="discountedPrice"><span class="currency">€</span> <span class="value">192,00</span></span></div><button class="addToCart">Aggiungi al carrello</button><div class="productCode">COD. ART. 12345678QT</div></div></main>""",
        "192.00", "EUR", "12345678QT",
    ),
    "Russia, electronics": Shop(
        "ru", "https://www.magaz.example.ru/product/3361234/", "Пылесос 2000 Вт",
        """<main><h1>Пылесос 2000 Вт</h1><div class="product-code">Код товара: 3361234</div><div class="product-buy__price-wrap"><div class="product-buy__price">5 999 ₽<span class="product-buy__prev">7 499</span></div></div><div>от 300 ₽/ мес.</div><button class="buy-btn">Купить</button></main>""",
        "5999", "RUB", "3361234",
    ),
    "Czech electronics": Shop(
        "cs", "https://www.obchod.example.cz/notebook-15-d7123456.htm", "Notebook 15",
        """<main><h1>Notebook 15</h1><span>Objednací kód: NB123x4</span><span>Part No.: 82RK00X</span><div class="price-box"><span class="price-box__price">15 990,-</span><span>bez DPH 13 215,-</span></div><div>Skladem &gt; 5 ks</div><a class="btnx buy" href="#">Do košíku</a></main>""",
        "15990", "CZK", "NB123x4",
    ),
    # Of the systems' public themes, without a word to machines: prices for quantities, before tax, other goods in the same markup.
    "Magento, as its theme draws it": Shop(
        "en-US", "https://cards.example.com/veltor-rtx-4070.html", TITLE,
        f"""<div class="page-title-wrapper product"><h1 class="page-title"><span class="base">{TITLE}</span></h1></div>
        <div class="product-info-main"><div class="product-info-price"><div class="price-box price-final_price" data-product-id="77">
        <span class="special-price"><span class="price-container price-final_price"><span class="price-label">Special Price</span> <span
        data-price-amount="549" data-price-type="finalPrice" class="price-wrapper"><span class="price">$549.00</span></span></span></span>
        <span class="old-price"><span class="price-container"><span class="price-label">Regular Price</span> <span data-price-amount="599"
        data-price-type="oldPrice" class="price-wrapper"><span class="price">$599.00</span></span></span></span></div>
        <div class="product-info-stock-sku"><div class="stock available" title="Availability"><span>In stock</span></div><div
        class="product attribute sku"><strong class="type">SKU</strong><div class="value">VT4070-T</div></div></div></div>
        <ul class="prices-tier items"><li class="item">Buy 5 for <span class="price">$529.00</span> each and <strong>save
        <span>4</span>%</strong></li></ul><form id="product_addtocart_form"><button id="product-addtocart-button" class="action primary
        tocart">Add to Cart</button></form></div><div class="block related"><div class="products-related"><div class="price-box"><span
        class="price">$39.00</span></div></div></div>""",
        "549.00", "USD", "VT4070-T", "in_stock", "now", head='<script type="text/x-magento-init">{}</script>', old="599.00",
    ),
    "Shopware, as its theme draws it": Shop(
        "de-DE", "https://laden.example.de/veltor-rtx-4070/VT4070", TITLE,
        f"""<div class="header-cart"><span class="header-cart-total">0,00 €*</span></div><div class="product-detail">
        <div class="product-detail-headline"><h1 class="product-detail-name">{TITLE}</h1></div><div class="product-detail-buy">
        <div class="product-detail-price-container"><p class="product-detail-price with-list-price">549,00 €*</p><span
        class="list-price-price">599,00 €*</span><span class="list-price-percentage">(8.35% gespart)</span></div>
        <div class="product-detail-price-unit"><span>Inhalt:</span> <span>1 Stück</span></div>
        <p class="product-detail-tax">Preise inkl. MwSt. zzgl. Versandkosten</p><div class="product-detail-delivery-information"><p
        class="delivery-information delivery-available"><span class="delivery-status-indicator"></span>Sofort verfügbar,
        Lieferzeit: 1-3 Tage</p></div><form action="/checkout/line-item/add"><button class="btn btn-primary btn-buy">In den
        Warenkorb</button></form><div class="product-detail-ordernumber-container"><span
        class="product-detail-ordernumber-label">Produktnummer:</span> <span class="product-detail-ordernumber">VT4070</span></div></div>
        </div><div class="cms-element-product-slider"><div class="product-box"><a href="/fan"><img src="f.png"></a>
        <span class="product-price">39,00 €*</span></div></div>""",
        None, None, "VT4070", "in_stock", None, head='<link href="/theme/shopware/css/all.css">', old=None,
    ),
    "Shopware, by quantity, as its theme draws it": Shop(
        "de-DE", "https://laden.example.de/veltor-rtx-4070/VT4070", TITLE,
        f"""<div class="product-detail"><h1 class="product-detail-name">{TITLE}</h1><div class="product-detail-buy">
        <div class="product-block-prices"><table class="product-block-prices-grid"><tr><th>Anzahl</th><th>Stückpreis</th></tr>
        <tr class="product-block-prices-row"><th>Bis 4</th><td>549,00 €*</td></tr><tr class="product-block-prices-row"><th>Ab 5</th>
        <td>529,00 €*</td></tr></table></div><form action="/checkout/line-item/add"><button class="btn-buy">In den Warenkorb</button>
        </form><span class="product-detail-ordernumber-label">Produktnummer:</span> <span
        class="product-detail-ordernumber">VT4070</span></div></div>""",
        None, None, "VT4070", "in_stock", None, head='<link href="/theme/shopware/css/all.css">', old=None,
    ),
    "PrestaShop, as its theme draws it": Shop(
        "fr", "https://cartes.example.fr/cartes/77-veltor-rtx-4070.html", TITLE,
        f"""<div id="content"><h1 class="h1">{TITLE}</h1><div class="product-prices"><div class="product-discount"><span
        class="regular-price">649,90&nbsp;€</span></div><div class="product-price h5 has-discount"><div class="current-price"><span
        class="current-price-value" content="599.9">599,90&nbsp;€</span><span class="discount discount-amount">Économisez 50,00&nbsp;€
        </span></div><p class="product-unit-price sub">(49,99 € par Go)</p></div><div class="tax-shipping-delivery-label">TTC
        <span>dont 0,84&nbsp;€ d'écotaxe</span></div></div><div class="product-actions"><form action="/panier"><input type="hidden"
        name="id_product" value="77"><section class="product-discounts"><table><tr><th>Quantité</th><th>Remise</th></tr><tr><td>5</td>
        <td>10,00&nbsp;€</td></tr></table></section><span id="product-availability">En stock</span><button class="add-to-cart">Ajouter au
        panier</button></form></div><div class="product-reference"><label class="label">Référence </label><span>VT4070</span></div>
        </div><section class="product-accessories"><article class="product-miniature"><a href="/p/9"><img src="f.png"></a><span
        class="price">39,90&nbsp;€</span></article></section>""",
        "599.90", "EUR", "VT4070", "in_stock", "now", head="<script>var prestashop = {};</script>", old="649.90",
    ),
    "SAP Commerce, as its theme draws it": Shop(
        "en-US", "https://cards.example.com/p/1391319", TITLE,
        f"""<div class="product-details page-title"><div class="name"><h1>{TITLE}</h1><span class="sku">ID</span><span
        class="code">1391319</span></div></div><div class="product-main-info"><div class="product-details"><p class="price">$549.00</p>
        <table class="volume-prices"><tr><th>Quantity</th><th>Price</th></tr><tr><td>1-4</td><td>$549.00</td></tr></table></div>
        <div class="stock-wrapper clearfix">12 In Stock</div><form class="add_to_cart_form" action="/cart/add"><button
        class="btn btn-primary js-enable-btn">Add to cart</button></form></div><div class="carousel__component"><a href="/p/9"><img
        src="f.png"></a><div class="carousel__item--price">$39.00</div></div>""",
        "549.00", "USD", "1391319", "in_stock", "now", head="<script>var ACC = {config: {}};</script>", old=None,
    ),
}  # fmt: skip


def read(shop: Shop) -> tuple[Offer, list[Issue]]:
    html = f"""<!doctype html><html lang="{shop.lang}"><head><meta charset="utf-8"><title>{shop.title} | Shop</title>{shop.head}</head>
        <body><header><a href="/">Shop</a><nav><a href="/a">A</a><a href="/b">B</a></nav></header>{shop.body}<footer><p>Shop</p></footer></body></html>"""
    return offer_on(shop.url, html)


@pytest.mark.parametrize("name", SHOPS)
def test_its_product_page(name: str) -> None:
    shop = SHOPS[name]
    offer, issues = read(shop)
    assert price_of(offer) == (shop.price, shop.currency, shop.kind), issues
    assert (offer.availability, offer.sku) == (shop.stock, shop.sku)
    assert shop.old is None or offer.list_price == Decimal(shop.old)
