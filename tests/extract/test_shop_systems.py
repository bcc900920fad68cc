"""Product pages of the shop systems, each as its public theme draws it, with what stands around the price there.

None of them says a word to machines, so that only the page itself tells: prices for quantities, ranges of variants, prices
before tax and by weight, other goods in the same markup, bars that repeat or contradict. The goods and prices are invented.
"""

# ruff: noqa: E501 - markup in lines as long as the themes write them
from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import pytest

from gpuledger.extract.items import Issue, Offer
from tests.support.html_page import TITLE, offer_on, price_of


class Shop(NamedTuple):
    """One page and what is read from it."""

    lang: str
    url: str
    head: str
    body: str
    price: str | None
    currency: str | None
    kind: str | None
    old: str | None
    sku: str
    stock: str


SHOPS: dict[str, Shop] = {
    "WooCommerce": Shop(
        "de-DE", "https://karten.example.de/produkt/veltor-rtx-4070/", '<meta name="generator" content="WooCommerce 8.9.1">',
        f"""<div class="site-header-cart"><span class="woocommerce-Price-amount amount">0,00&nbsp;&euro;</span></div>
        <div id="product-77" class="product type-product instock sale"><div class="summary entry-summary">
        <h1 class="product_title entry-title">{TITLE}</h1><p class="price"><del aria-hidden="true"><span
        class="woocommerce-Price-amount amount"><bdi>699,00&nbsp;<span class="woocommerce-Price-currencySymbol">&euro;</span></bdi></span>
        </del> <ins><span class="woocommerce-Price-amount amount"><bdi>649,00&nbsp;<span
        class="woocommerce-Price-currencySymbol">&euro;</span></bdi></span></ins></p><div class="wc-gzd-additional-info">inkl. 19 %
        MwSt. zzgl. <a href="/versand">Versandkosten</a></div><p class="stock in-stock">7 vorrätig</p><form class="cart"><input
        name="quantity" value="1"><button name="add-to-cart" class="single_add_to_cart_button">In den Warenkorb</button></form>
        <div class="product_meta"><span class="sku_wrapper">Artikelnummer: <span class="sku">VT-4070-T</span></span></div></div>
        <section class="related products"><ul class="products"><li class="product"><a href="/produkt/fan/"><img src="f.png"><span
        class="price"><span class="amount"><bdi>39,00&nbsp;&euro;</bdi></span></span></a></li></ul></section></div>""",
        "649.00", "EUR", "now", "699.00", "VT-4070-T", "in_stock",
    ),
    "Magento": Shop(
        "en-US", "https://cards.example.com/veltor-rtx-4070.html", '<script type="text/x-magento-init">{}</script>',
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
        "549.00", "USD", "now", "599.00", "VT4070-T", "in_stock",
    ),
    "Shopware": Shop(
        "de-DE", "https://laden.example.de/veltor-rtx-4070/VT4070", '<link href="/theme/shopware/css/all.css">',
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
        None, None, None, None, "VT4070", "in_stock",
    ),
    "Shopware, by quantity": Shop(
        "de-DE", "https://laden.example.de/veltor-rtx-4070/VT4070", '<link href="/theme/shopware/css/all.css">',
        f"""<div class="product-detail"><h1 class="product-detail-name">{TITLE}</h1><div class="product-detail-buy">
        <div class="product-block-prices"><table class="product-block-prices-grid"><tr><th>Anzahl</th><th>Stückpreis</th></tr>
        <tr class="product-block-prices-row"><th>Bis 4</th><td>549,00 €*</td></tr><tr class="product-block-prices-row"><th>Ab 5</th>
        <td>529,00 €*</td></tr></table></div><form action="/checkout/line-item/add"><button class="btn-buy">In den Warenkorb</button>
        </form><span class="product-detail-ordernumber-label">Produktnummer:</span> <span
        class="product-detail-ordernumber">VT4070</span></div></div>""",
        None, None, None, None, "VT4070", "in_stock",
    ),
    "PrestaShop": Shop(
        "fr", "https://cartes.example.fr/cartes/77-veltor-rtx-4070.html", "<script>var prestashop = {};</script>",
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
        "599.90", "EUR", "now", "649.90", "VT4070", "in_stock",
    ),
    "BigCommerce": Shop(
        "en-US", "https://cards.example.com/veltor-rtx-4070/", "<script>var BCData = {};</script>",
        f"""<div class="productView"><section class="productView-details product-data"><div class="productView-product"><h1
        class="productView-title">{TITLE}</h1><div class="productView-price"><div class="price-section price-section--withoutTax
        rrp-price--withoutTax"><span>MSRP:</span> <span data-product-rrp-price-without-tax class="price price--rrp">$649.00</span></div>
        <div class="price-section price-section--withoutTax non-sale-price--withoutTax"><span>Was:</span> <span class="price
        price--non-sale">$599.00</span></div><div class="price-section price-section--withoutTax"><span class="price-label"></span><span
        class="price-now-label">Now:</span> <span data-product-price-without-tax class="price price--withoutTax">$549.00</span></div>
        <div class="price-section price-section--saving price"><span class="price">(You save</span> <span
        class="price price--saving">$100.00</span> <span class="price">)</span></div></div><dl class="productView-info"><dt
        class="productView-info-name sku-label">SKU:</dt><dd class="productView-info-value" data-product-sku>VT4070T</dd><dt>Weight:</dt>
        <dd>2.50 LBS</dd></dl></div></section><section class="productView-details"><form data-cart-item-add><input id="form-action-addToCart"
        class="button button--primary" type="submit" value="Add to Cart"></form></section></div><section class="productCarousel"><article
        class="card"><a href="/fan"><img src="f.png"></a><span class="price price--withoutTax">$39.00</span></article></section>""",
        None, None, None, None, "VT4070T", "in_stock",
    ),
    "SAP Commerce": Shop(
        "en-US", "https://cards.example.com/p/1391319", "<script>var ACC = {config: {}};</script>",
        f"""<div class="product-details page-title"><div class="name"><h1>{TITLE}</h1><span class="sku">ID</span><span
        class="code">1391319</span></div></div><div class="product-main-info"><div class="product-details"><p class="price">$549.00</p>
        <table class="volume-prices"><tr><th>Quantity</th><th>Price</th></tr><tr><td>1-4</td><td>$549.00</td></tr></table></div>
        <div class="stock-wrapper clearfix">12 In Stock</div><form class="add_to_cart_form" action="/cart/add"><button
        class="btn btn-primary js-enable-btn">Add to cart</button></form></div><div class="carousel__component"><a href="/p/9"><img
        src="f.png"></a><div class="carousel__item--price">$39.00</div></div>""",
        "549.00", "USD", "now", None, "1391319", "in_stock",
    ),
    "Shopify, gone": Shop(
        "en", "https://cards.example.com.au/products/veltor-rtx-4070", '<link href="//cdn.shopify.com/s/files/1/base.css">',
        f"""<product-info><h1>{TITLE}</h1><p class="product__sku">SKU: VT4070T</p><div class="price price--sold-out"><div
        class="price__regular"><span class="visually-hidden">Regular price</span> <span class="price-item price-item--regular">$1,049.00
        AUD</span></div><span class="badge price__badge-sold-out">Sold out</span></div><form action="/cart/add"><button name="add"
        class="product-form__submit" disabled>Sold out</button></form></product-info>""",
        "1049.00", "AUD", "now", None, "VT4070T", "out_of_stock",
    ),
    "VTEX": Shop(
        "pt-BR", "https://placas.example.com.br/placa-veltor-4070/p", "",
        f"""<div class="product-info"><div class="fn productName"><h1>{TITLE}</h1></div><div class="productReference">VT4070T</div>
        <div class="plugin-preco"><div class="productPrice"><p class="descricao-preco"><em class="valor-de price-list-price">De:
        <strong class="skuListPrice">R$ 3.999,00</strong></em><em class="valor-por price-best-price">Por: <strong
        class="skuBestPrice">R$ 3.599,00</strong></em><em class="valor-dividido price-installments"><span>ou <label
        class="skuBestInstallmentNumber">6<span>x</span></label> de</span> <strong><label class="skuBestInstallmentValue">R$ 599,83
        </label></strong></em></p><p class="preco-a-vista price-cash">Preço a vista: <strong class="skuPrice">R$ 3.419,05</strong></p>
        <em class="economia-de price-saving">Economia de <span class="economy">R$ 400,00</span></em></div></div>
        <a class="buy-button buy-button-ref" href="/checkout/cart/add?sku=2231">Comprar</a></div>""",
        None, None, None, None, "VT4070T", "in_stock",
    ),
}  # fmt: skip


def read(shop: Shop) -> tuple[Offer, list[Issue]]:
    html = f"""<!doctype html><html lang="{shop.lang}"><head><meta charset="utf-8"><title>{TITLE} | Shop</title>{shop.head}</head>
        <body>{shop.body}<footer>Shop</footer></body></html>"""
    return offer_on(shop.url, html)


@pytest.mark.parametrize("name", SHOPS)
def test_its_product_page(name: str) -> None:
    shop = SHOPS[name]
    offer, issues = read(shop)
    assert price_of(offer) == (shop.price, shop.currency, shop.kind), issues
    assert offer.list_price == (shop.old and Decimal(shop.old))
    assert (offer.sku, offer.availability) == (shop.sku, shop.stock)
    assert (shop.price is None) == any(issue.code.endswith("_price") for issue in issues)
