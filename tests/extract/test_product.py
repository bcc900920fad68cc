"""Product pages of invented shops: what is read, and what is left open because the page does not agree with itself."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.errors import Blocked, EmptyBody, ExtractError, LayoutChanged
from gpuledger.extract import product, source
from gpuledger.extract.product.numbers import valid_gtin
from gpuledger.items import Issue, Link, Offer
from tests.extract.pages import page
from tests.support.html_page import CART, TITLE, offer_on, price_of, shop_page, told

URL = "https://cards.example.com/p/norvik-rtx-4070"
NAME = "Norvik RTX 4070 12GB"
GENERIC = source.get("generic_shop")
ASKED = {"@type": "Offer", "price": "599", "priceCurrency": "USD"}


def read(html: str, url: str = URL) -> tuple[Offer, list[Issue]]:
    return offer_on(url, html)


def shop(body: str = "", jsonld: str = "", head: str = "", lang: str = "en-US") -> str:
    return shop_page(body, lang, title=NAME, head=head + (told(jsonld) if jsonld else ""))


def offers(value: str) -> str:
    return f'{{"@type": "Product", "name": "{NAME}", "sku": "NV4070", "offers": {value}}}'


USD_549 = offers('{"@type": "Offer", "price": "549.99", "priceCurrency": "USD"}')


# ── what is told to machines ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_offer_that_the_address_names_is_the_one() -> None:
    listed = offers("""[{"price": "549", "priceCurrency": "USD", "sku": "NV4070-BLACK"},
                        {"price": "579", "priceCurrency": "USD", "sku": "NV4070-WHITE"}]""")
    assert price_of(read(shop(jsonld=listed), f"{URL}?variant=nv4070-white")[0]) == ("579", "USD", "now")


@pytest.mark.parametrize(
    ("own", "named", "price"),
    [
        ("NVIDIA L40 48GB", "NVIDIA L40S 48GB", None),
        ("", "NVIDIA L40S 48GB", None),
        ("MSI RTX 4070 Ti Ventus", "MSI GeForce RTX 4070 Ventus", None),
        ("MSI RTX4070Ti Super Ventus", "MSI GeForce RTX 4070 Ti SUPER Ventus 16GB", "7499.00"),
    ],
)
def test_a_price_is_of_neither_where_the_page_and_its_markup_name_two_variants(
    own: str, named: str, price: str | None
) -> None:
    url = "https://cards.example.com/p/nvidia-l40-48gb"
    jsonld = {"@type": "Product", "name": named, "url": url, "offers": {**ASKED, "price": "7499.00"}}
    offer, issues = read(shop_page(f"<p>$7,499.00</p>{CART}", title=own, head=told(jsonld)), url)
    assert price_of(offer)[0] == price
    assert [issue.code for issue in issues] == ([] if price else ["other_variant"])


def test_markup_in_capitals_is_read_too() -> None:
    """Without its markup this page has no product at all, and would be refused."""
    html = shop(jsonld=USD_549)
    for written in (html, html.replace("application/ld+json", "application/LD+JSON")):
        assert price_of(read(written)[0]) == ("549.99", "USD", "now")


RELATED = '{"@type": "Product", "name": "Quiet Case Fan", "offers": {"price": "14.99", "priceCurrency": "USD"}}'
PLACEHOLDERS = ("0", "0.00", "9999.00", "9999.99", "99999", "0.01", "null")


@pytest.mark.parametrize(
    "jsonld", [RELATED, *(offers(f'{{"price": "{price}", "priceCurrency": "USD"}}') for price in PLACEHOLDERS)]
)
def test_a_placeholder_and_the_price_of_related_goods_are_no_price(jsonld: str) -> None:
    offer, issues = read(shop(CART, jsonld))
    assert (offer.price, [issue.code for issue in issues]) == (None, ["no_price"])


def test_what_stands_beside_the_goods_has_not_their_price() -> None:
    beside = "<aside>Alternative: Norvik RTX 4070 White <b>$719</b></aside>"
    offer, _ = read(shop(f"<p>Sold out. Price unknown.</p><button disabled>Add to cart</button>{beside}"))
    assert (offer.price, offer.availability) == (None, "out_of_stock")


def test_nines_that_data_and_page_agree_on_are_a_price() -> None:
    nines = offers('{"price": "9999.00", "priceCurrency": "USD"}')
    shown = '<p class="price">$9,999.00</p>'
    assert [price_of(read(shop(shown + CART, jsonld))[0])[0] for jsonld in (nines, "")] == ["9999.00", None]
    assert price_of(read(shop(f'<p class="price">$599</p>{CART}', nines))[0])[0] == "599"


def test_a_list_price_stands_beside() -> None:
    specified = offers("""{"price": "549.99", "priceCurrency": "USD", "priceSpecification":
        [{"priceType": "https://schema.org/ListPrice", "price": "599.99", "priceCurrency": "USD"}]}""")
    replaced = """<meta property="product:price:amount" content="599.99">
        <meta property="product:price:currency" content="USD"><meta property="product:sale_price:amount" content="549.99">"""
    for html in (shop(jsonld=specified), shop(CART, head=replaced)):
        offer, _ = read(html)
        assert (price_of(offer), offer.list_price) == (("549.99", "USD", "now"), Decimal("599.99"))


def offer(price: str, condition: str, stock: str, seller: str) -> str:
    return f"""{{"price": "{price}", "priceCurrency": "USD", "itemCondition": "https://schema.org/{condition}Condition",
        "availability": "https://schema.org/{stock}", "seller": {{"name": "{seller}"}}}}"""


@pytest.mark.parametrize(
    ("shown", "price", "condition", "availability", "seller_kind"),
    [
        ('<p class="price">$399</p>', "399", "used", "in_stock", "unknown"),
        ('<p class="price">$599</p>', "599", "new", "out_of_stock", "first_party"),
        ("", "599", "new", "out_of_stock", "first_party"),
    ],
)
def test_stock_condition_and_seller_are_those_of_the_offer_with_the_price(
    shown: str, price: str, condition: str, availability: str, seller_kind: str
) -> None:
    """A new card that is gone and a used one in stock are two things: together they would be a cheap new card."""
    two = ", ".join((offer("599", "New", "OutOfStock", "Cards"), offer("399", "Used", "InStock", "TechDeals")))
    found, _ = read(shop(shown, jsonld=offers(f"[{two}]")))
    assert (str(found.price), found.condition, found.availability, found.seller_kind) == (
        price, condition, availability, seller_kind,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("button", "availability"),
    [
        ("<button disabled>Add to cart</button>", "unknown"),
        ('<button disabled onclick="add()">Add to cart</button>', "in_stock"),
        ("<select><option>8GB</option></select><button disabled>Add to cart</button>", "in_stock"),
        ("<button disabled>-</button><button>Add to cart</button>", "in_stock"),
        ('<p class="stock">Back in stock soon</p><button disabled>Add to cart</button>', "out_of_stock"),
    ],
)
def test_a_button_that_cannot_be_pressed_is_a_veto(button: str, availability: str) -> None:
    stated = told({"@type": "Product", "name": NAME, "offers": {**ASKED, "availability": "InStock"}})
    offer, issues = read(shop(f'<p class="price">$599</p>{stated}{button}'))
    assert (offer.availability, bool(issues)) == (availability, availability == "unknown")


@pytest.mark.parametrize(
    ("url", "body", "condition"),
    [
        ("https://shop.example.com/p/1", "", "new"),
        ("https://shop.example.com/p/1", "<p>État : En stock</p>", "new"),
        ("https://shop.example.com/p/1#condition=used", "", "used"),
        ("https://shop.example.com/used-cards/1", "", "used"),
        ("https://shop.example.com/p/1", "<p>Condition: like new</p>", "used"),
        ("https://shop.example.com/p/1#condition=refurbished", "<p>Condition: very good</p>", "refurbished"),
        (
            "https://shop.example.com/p/1",
            "<p>Prodám grafickou kartu, hraná jen o víkendech, doklad mám.</p>",
            "unknown",
        ),
        ("https://shop.example.com/p/1", '<a href="/new">Plaats zoekertje</a>', "unknown"),
        ("https://shop.example.com/p/1", "<table><tr><td>Usado</td><td>$599</td></tr></table>", "new"),
        ("https://shop.example.com/p/1", "<h3>Used Corner</h3><p>RTX 3090 - $720.00</p>", "new"),
        ("https://shop.example.com/p/1", "<p>Fyndvara – öppnad förpackning, ångrat köp</p>", "open_box"),
        ("https://shop.example.com/p/1", "<select><option>New</option><option selected>Used</option></select>", "used"),
        ("https://shop.example.com/p/1", '<span class="badge">Refurbished</span>', "refurbished"),
        ("https://shop.example.com/p/1", '<ol class="breadcrumb"><li>Home</li><li>Second hand</li></ol>', "used"),
        ("https://shop.example.com/p/1", "<p>Open box: from $299.99</p>", "new"),
        ("https://shop.example.com/p/1", "<div>Occasion-Angebote: keine</div>", "new"),
        ("https://shop.example.com/p/1", '<a href="/used">Used from another shop</a>', "new"),
        ("https://shop.example.com/p/1", "<p><b>Outlet:</b> piece no. 4711</p>", "new"),
        ("https://shop.example.com/p/1", "<button>Contact the seller</button>", "unknown"),
        ("https://shop.example.com/p/1#condition=used", "<button>Contact the seller</button>", "used"),
        ("https://www.ebay.com/itm/1", "", "unknown"),
        (
            "https://shop.example.com/p/1",
            told(
                {"@type": "Product", "name": TITLE, "offers": {**ASKED, "seller": {"@type": "Person", "name": "Ann"}}}
            ),
            "unknown",
        ),
        (
            "https://shop.example.com/p/1",
            told({"@type": "Product", "name": TITLE, "itemCondition": "UsedCondition", "offers": ASKED}),
            "used",
        ),
    ],
)
def test_a_shop_sells_new_goods_where_nothing_says_otherwise(url: str, body: str, condition: str) -> None:
    found = list(GENERIC.parse(page(shop_page(f'<p class="price">$599</p>{body}{CART}'), url)))
    (offer,) = [item for item in found if isinstance(item, Offer)]
    assert (str(offer.price), offer.condition) == ("599", condition)
    assert offer.key == url.partition("#")[0], "its history goes on"
    told = [item.code for item in found if isinstance(item, Issue) and "does not count: if you trust" in item.message]
    assert told == ["marketplace_seller"] * (offer.seller_kind == "marketplace")


def test_the_condition_of_an_address_goes_with_the_links_of_its_sitemap() -> None:
    sitemap = "<urlset><url><loc>https://shop.example.com/rtx-4070</loc></url></urlset>"
    links = GENERIC.parse(page(sitemap, "https://shop.example.com/sitemap.xml#condition=refurbished"))
    assert [link.url for link in links if isinstance(link, Link)] == [
        "https://shop.example.com/rtx-4070#condition=refurbished"
    ]
    with pytest.raises(LayoutChanged, match="condition=mint"):
        list(GENERIC.parse(page(sitemap, "https://shop.example.com/sitemap.xml#condition=mint")))


@pytest.mark.parametrize(
    ("lower", "price"),
    [
        ("$349 with trade-in", "549.99"),
        ("$499 with code SAVE50", "549.99"),
        ("$499", "499"),
        ("$499 <a>Have a coupon?</a>", "499"),
    ],
)
def test_a_lower_price_beside_a_struck_one_counts_if_everybody_pays_it(lower: str, price: str) -> None:
    found, issues = read(shop(f'<div class="price"><s>$549.99</s> <span>{lower}</span></div>{CART}', jsonld=USD_549))
    assert (price_of(found)[0], issues) == (price, [])


def test_seller_condition_and_maker() -> None:
    full = """{"@type": ["Product"], "name": "Norvik RTX 4070 12GB", "mpn": "4070-12", "gtin13": "4006381333931",
        "brand": {"name": "Norvik"}, "offers": {"price": 549, "priceCurrency": "USD", "availability": "SoldOut",
        "itemCondition": "https://schema.org/RefurbishedCondition",
        "seller": {"@type": "Organization", "name": "Otto's GPUs"}}}"""
    offer, _ = read(shop(jsonld=full))
    assert (offer.seller, offer.seller_kind, offer.condition) == ("Otto's GPUs", "unknown", "refurbished")
    assert (offer.mpn, offer.gtin, offer.brand) == ("4070-12", "4006381333931", "Norvik")
    assert offer.availability == "out_of_stock"


def test_the_eye_against_json_ld() -> None:
    offer, issues = read(shop(f'<p class="price">$599.99</p>{CART}', USD_549))
    assert (price_of(offer), [issue.code for issue in issues]) == ((None, None, None), ["price_disagreement"])
    assert "json-ld: 549.99 USD" in issues[0].message
    assert "$599.99" in issues[0].message


@pytest.mark.parametrize(
    ("seen", "price", "kind"),
    [
        # One variant of several, of which the page names the cheapest to machines; above all of them; below.
        ("$549.99", "549.99", "now"), ("$949.99", None, None), ("$1.99", None, None),
        # One seller of several, beside the cheapest.
        ('<span class="low">from $399.99</span></p><p class="final-price">$549.99', "399.99", "from"),
    ],
)  # fmt: skip
def test_a_price_within_the_range_that_is_told_to_machines(seen: str, price: str | None, kind: str) -> None:
    several = offers('{"@type": "AggregateOffer", "lowPrice": 399.99, "highPrice": 899, "priceCurrency": "USD"}')
    offer, issues = read(shop(f'<p class="product-price">{seen}</p>{CART}', several))
    assert (offer.price, offer.price_kind) == (None if price is None else Decimal(price), kind), issues


# ── country, language and currency ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "lang", "url", "price", "currency"),
    [
        ("1.299 €", "de", URL, "1299", "EUR"),
        ("1.299 €", "en", "https://shop.example.de/p/1", None, None),
        ("1,299 €", "en-IE", URL, "1299", "EUR"),
        ("$1,299", "en", "https://shop.example.ca/p/1", "1299", "CAD"),
        ("$1.299", "es", "https://shop.example.cl/p/1", "1299", "CLP"),
        ("$1.299", "en-US", URL, None, None),
        ("12 990 kr", "sv", "https://shop.example.se/p/1", "12990", "SEK"),
        ("12 990 kr", "en", "https://shop.example.com/no/en/p/1", "12990", "NOK"),
        ("￥1,299.00", "zh-CN", URL, "1299.00", "CNY"),
        ("502,20 руб.", "ru", "https://shop.example.by/p/1", "502.20", "BYN"),
        ("12 990 kr", "sv", URL, "12990", "SEK"),
        ("1 299", "pl", "https://shop.example.pl/p/1", "1299", "PLN"),
    ],
)  # fmt: skip
def test_country_and_language_of_the_page_decide(
    text: str, lang: str, url: str, price: str | None, currency: str | None
) -> None:
    offer, issues = read(shop(f'<p class="product-price">{text}</p>{CART}', lang=lang), url)
    assert (offer.price, offer.currency) == (None if price is None else Decimal(price), currency)
    assert (issues == []) == (price is not None)


def test_other_prices_of_the_page_and_the_caller_say_what_a_point_means() -> None:
    body = f'<p class="product-price">1.299 €</p>{CART}<section class="related"><b class="price">24,90 €</b></section>'
    assert read(shop(body, lang="en"), "https://shop.example.de/p/1")[0].price == 1299
    known = page(shop(f'<p class="price">1.299 €</p>{CART}', lang="en"), URL)
    assert [getattr(item, "price", None) for item in product.parse(known, country="DE", language="de")] == [1299]


@pytest.mark.parametrize(
    ("source", "currency"),
    [
        ("", None),
        # An address says nothing of a currency, and does not overrule one.
        ("<footer>12 Main St, Austin, TX 78701</footer>", None),
        ('<script>window.state = {"currencyCode": "EUR"}</script><footer>Austin, TX 78701</footer>', None),
        ('<script>window.state = {"currencyCode": "EUR"}</script>', None),
        ('<script>window.state = {"currencyCode": "USD"}</script>', "USD"),
        ('<script>window.state = {"currencyCode": "NZD"}</script>', "NZD"),
        # Of several the chosen one counts, or the only dollar.
        ('<script>Shopify.currency = {"active":"AUD","rate":"1.0"}; x = {"currency": "USD"}</script>', "AUD"),
        ('<script>x = [{"currency": "EUR"}, {"currency": "USD"}]</script>', "USD"),
        ('<script>x = [{"currency": "CAD"}, {"currency": "USD"}]</script>', None),
    ],
)
def test_whose_dollar_it_is(source: str, currency: str | None) -> None:
    offer, issues = read(shop(f'<p class="product-price">$549.99</p>{CART}{source}', lang="en"))
    assert price_of(offer)[:2] == (currency and "549.99", currency)
    assert (issues == []) == (currency is not None)
    assert offer.price_text == "$549.99" or "EUR" in source


def test_the_currency_that_the_source_names_tells_what_a_point_means() -> None:
    body = f'<p>Precios: $549.000</p><script>event = {{"currency": "CLP"}}</script>{CART}'
    assert price_of(read(shop(body, lang="es"))[0]) == ("549000", "CLP", "now")


def test_a_page_in_another_charset() -> None:
    html = shop(f'<p class="product-price">1.299,00 €</p>{CART}', lang="de").replace('"utf-8"', '"windows-1252"')
    assert price_of(offer_on(URL, html.encode("cp1252"), "text/html")[0]) == ("1299.00", "EUR", "now")


# ── what people see ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "markup",
    [
        '<span class="price">$549.99</span>',
        '<div id="our-price">$549<sup>99</sup></div>',
        '<p class="price"><b>$</b><span class="whole">549<span>.</span></span><span class="fraction">99</span></p>',
        '<div class="price">$549<span class="price-decimals">99</span></div>',
        '<p class="price">Was <s>$599.99</s> Now $549.99</p>',
        '<div class="price-box"><span class="old-price">$599.99</span> <span class="special-price">$549.99</span></div>',
        '<div class="price-box"><span class="price">$549.99</span><p class="rate">or $22.92/mo for 24 months</p></div>',
        '<p class="price">$549.99</p><div class="warranty"><span class="price">+ $49.99</span> 2 year plan</div>',
        '<p class="price">$549.99</p><p class="price-save">You save $50.00</p>',
        '<p class="price">$549.99</p><p>Shipping: $9.99</p>',
        '<section class="related"><p class="price">$14.99</p></section><p class="product-price">$549.99</p>',
        '<p class="price">$549.99</p><h2>Or</h2><div><a href="/fan"><img src="f.png"></a><b class="price">$9</b></div>',
        '<p class="product-price">$549.99</p><p class="price" style="display: none">$1.00</p>',
        # Programs that draw pages part a text's pieces by comments.
        "<p><b>$<!-- -->549.99</b> <b>$<!-- -->599.99</b> <b>8<!-- -->% off</b></p>",
        '<div class="prices"><b class="origin-price">$599.99</b> <b class="total-price">$549.99</b></div>',
        '<p class="price">$549.99</p><p class="price"><a href="/p/other-edition">$399.99</a></p>',
        '<p class="price">$549.99</p><p class="price">$499.99 member price</p>',
        '<p>Mat. 002.638.50 <b class="price">$549.99</b></p>',
        # Microdata of an offer that belongs to no product.
        '<div itemscope itemtype="http://schema.org/Offer"><b class="price" itemprop="price">549.99</b></div>',
    ],
)
def test_the_price_that_is_asked(markup: str) -> None:
    offer, issues = read(shop(f"{markup}{CART}"))
    assert (offer.price, offer.currency, offer.price_kind) == (Decimal("549.99"), "USD", "now"), issues


@pytest.mark.parametrize(
    "markup",
    [
        # Two amounts and nothing that tells them apart.
        '<p class="product-price"><b>$549.99</b> <b>$599.99</b></p>',
        '<p class="product-price">$549.99</p><p class="product-price">$599.99</p>',
        # The cents may be cents, or not.
        '<p class="product-price">$549 99</p>',
        # Only a rate, a saving, an old price, a threshold, an amount in the text.
        '<p class="price">$22.92/mo.</p>',
        '<p class="price">Save $50.00</p>',
        '<p class="price"><del>$599.99</del></p>',
        "<p>Free shipping on orders over $50.00</p>",
        "<p>The card cost $549.99 when it came out, says a review.</p>",
        # A bare number, in a part that is named after prices but not as the price.
        '<p class="price-alerts">12</p>',
        # Only the price of another product.
        '<h2>More cards</h2><div><a href="/p/other"><img src="o.png"></a><span class="price">$399.99</span></div>',
        '<header><div class="mini-cart"><span class="price">$25.00</span></div></header>',
        '<p class="price">Call for price</p>',
    ],
)
def test_what_is_not_clearly_the_price_is_left_open(markup: str) -> None:
    offer, issues = read(shop(f"{markup}{CART}"))
    assert (offer.price, offer.price_kind) == (None, None)
    assert issues != []


@pytest.mark.parametrize(("block", "price"), [("product-card", Decimal("549.99")), ("shop-head", None)])
def test_parts_of_the_block_that_holds_the_title_are_the_goods_own(block: str, price: Decimal | None) -> None:
    prices = '<b class="price__old">$599.99</b> <b class="price__now">$549.99</b>'
    body = f'<div class="product-card__prices">{prices}</div>{CART}'
    offer, _ = read(shop(body).replace("<h1>", f'<h1 class="{block}__title">'))
    assert offer.price == price


def test_a_bundle_is_not_the_price_of_the_card() -> None:
    html = shop(f'<p class="price">$949.99</p>{CART}').replace("RTX 4070 12GB", "RTX 4070 12GB and power supply bundle")
    offer, _ = read(html)
    assert (offer.price, offer.price_kind) == (Decimal("949.99"), "bundle")


@pytest.mark.parametrize(
    ("markup", "lang", "expected"),
    [
        (CART, "en", "in_stock"),
        ('<p class="stock">Out of stock</p>' + CART, "en", "out_of_stock"),
        ('<p class="availability">Nicht auf Lager</p>', "de", "out_of_stock"),
        ('<p class="availability">Sofort lieferbar</p>', "de", "in_stock"),
        ('<p class="disponibilite-stock">Rupture de stock</p>', "fr", "out_of_stock"),
        ('<p class="dostepnosc-stock">Produkt niedostępny</p>', "pl", "out_of_stock"),
        ('<p class="stock-status">在庫あり</p>', "ja", "in_stock"),
        ('<p class="stock">품절</p>', "ko", "out_of_stock"),
        ('<button class="buy-button">Pre-order now</button>', "en", "preorder"),
        ('<button class="buy-btn">Sold out</button>', "en", "out_of_stock"),
        ("<button>Do koszyka</button>", "pl", "in_stock"),
        (f'<p class="stock">Nicht auf Lager. {"Wir bestellen es nach und melden uns. " * 3}</p>', "de", "out_of_stock"),
    ],
)  # fmt: skip
def test_words_and_buttons(markup: str, lang: str, expected: str) -> None:
    offer, _ = read(shop(f'<p class="product-price">$549.99</p>{markup}', lang=lang))
    assert offer.availability == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<section class="related"><button class="add-to-cart">Add to cart</button></section>', "unknown"),
        ("<button>Aggiungi alla lista dei desideri</button>", "unknown"),
        ("<p>Attualmente non disponibile.</p><button>Aggiungi alla Lista</button>", "out_of_stock"),
    ],
)
def test_without_a_price_other_goods_and_lists_of_wishes_sell_nothing(markup: str, expected: str) -> None:
    offer, _ = read(shop(f"<p>Call for price</p>{markup}"))
    assert offer.availability == expected


@pytest.mark.parametrize(
    ("body", "stocks", "expected"),
    [(CART, ("OutOfStock",), "out_of_stock"), ("", ("OutOfStock", "InStock"), "in_stock")],
    ids=["it comes before a button", "while one size can be had"],
)
def test_what_machines_are_told_of_stock(body: str, stocks: tuple[str, ...], expected: str) -> None:
    told_offers = [f'{{"price": "5", "priceCurrency": "USD", "availability": "{stock}"}}' for stock in stocks]
    assert read(shop(body, offers(f"[{', '.join(told_offers)}]")))[0].availability == expected


@pytest.mark.parametrize(
    ("markup", "sku", "mpn", "gtin"),
    [
        ("<p>SKU: NV-4070</p>", "NV-4070", None, None),
        ("<p><b>Artikelnummer:</b> 12.345</p>", "12.345", None, None),
        ("<table><tr><th>Item no.</th><td>AB 12</td></tr></table>", None, None, None),
        ("<table><tr><th>Item no.</th><td>AB12</td></tr></table>", "AB12", None, None),
        ("<p>商品編號：M1487</p>", "M1487", None, None),
        ("<dl><dt>MPN</dt><dd>4070-12G</dd><dt>EAN</dt><dd>4006381333931</dd></dl>", None, "4070-12G", "4006381333931"),
        ("<p>EAN: 4006381333930</p>", None, None, None),
        ("<p>Objednávací kód: <b>LO60321</b></p>", "LO60321", None, None),
        ('<section class="related"><p>SKU: FAN-1</p></section>', None, None, None),
        # Shops make numbers of words too; behind a word for a number only, and with nothing behind them.
        ("<p><b>SKU:</b> <b>KAM-L-ANT</b></p>", "KAM-L-ANT", None, None),
        ("<p>SKU: MUG-CUS</p>", "MUG-CUS", None, None),
        ("<p>Code: WI-FI ready</p>", None, None, None),
        ("<p>Stok Kodu : <b>(BHR-ISOT-500)</b></p>", "BHR-ISOT-500", None, None),
        ("<p>In stock.<br>Item# twin4070<br>Ships in 3 days</p>", "twin4070", None, None),
        ('<div class="skuReference">LV8-B</div>', "LV8-B", None, None),
    ],
)  # fmt: skip
def test_printed_numbers(markup: str, sku: str | None, mpn: str | None, gtin: str | None) -> None:
    offer, _ = read(shop(f'<p class="product-price">$549.99</p>{markup}{CART}'))
    assert (offer.sku, offer.mpn, offer.gtin) == (sku, mpn, gtin)
    assert offer.key == (sku or URL)


@pytest.mark.parametrize(
    ("address", "sku"),
    [("p/card/9300000112233445/", "9300000112233445"), ("MLM-1234567890-card-_JM", "MLM-1234567890"),
     ("card-p-HBCV00001XYZ12", "HBCV00001XYZ12"),
     ("dp/B07K1QXYZA?th=1", "B07K1QXYZA"), ("card/N12345678A/p", "N12345678A"), ("i?products_id=4412", "4412"),
     ("card-RTX4070SUPER", None), ("card-of-2024", None)],
)  # fmt: skip
def test_the_number_in_an_address(address: str, sku: str | None) -> None:
    offer, _ = read(shop(f'<p class="product-price">$549.99</p>{CART}'), f"https://shop.example.com/{address}")
    assert offer.sku == sku


@pytest.mark.parametrize(
    ("text", "gtin"),
    [("4006381333931", "4006381333931"), ("0 36000 29145 2", "036000291452"), ("4006381333932", None),
     ("12345670", "12345670"),         ("0000000000000", None), ("", None), ("40063813339", None)],
)  # fmt: skip
def test_check_digit(text: str, gtin: str | None) -> None:
    assert valid_gtin(text) == gtin


def test_odd_files_give_the_product_where_there_is_one(shared_data: Path) -> None:
    for file in sorted((shared_data / "structured_data").glob("*.html")):
        if not file.name.startswith("product"):
            with pytest.raises(LayoutChanged):
                list(product.parse(page(file.read_bytes(), f"file:{file.name}")))
            continue
        offer, _ = offer_on(f"file:{file.name}", file.read_bytes())
        assert (offer.title, *price_of(offer)[:2]) == ("Executive Anvil", "119.99", "USD")
        assert (offer.condition, offer.availability) == ("used", "in_stock")
        assert (offer.seller, offer.mpn, offer.brand) == ("Executive Objects", "925872", "ACME")


LISTING = "".join(f'<div><h3>Card {n}</h3><span class="price">${n}99.99</span></div>' for n in range(1, 9))


@pytest.mark.parametrize(
    ("html", "error", "said"),
    [
        ("<html><head><title>News</title></head><body><h1>News</h1><p>Up</p></body></html>", LayoutChanged, "no product"),
        ("not a page", LayoutChanged, "no product"),
        ("{}", LayoutChanged, "no product"),
        ("<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>", Blocked, ""),
        ("  ", EmptyBody, ""),
        (shop(LISTING), LayoutChanged, "listing"),
    ],
)  # fmt: skip
def test_what_is_no_page_of_goods(html: str, error: type[ExtractError], said: str) -> None:
    with pytest.raises(error, match=said):
        list(product.parse(page(html, URL)))


SOLD = '<div class="kosten">549,00 €</div><p>Artikelnummer: VT-4070</p><a class="btn">In den Warenkorb</a>'
OTHERS = (
    '<div class="other"><a href="/p/fan"><img src="fan.png">Leiser Lüfter mit 120 mm und Schrauben</a> 19,90 €</div>'
    '<div class="other"><a href="/p/cable"><img src="cable.png">Kabel mit vergoldeten Steckern</a> 7,90 €</div>'
)


def offer_named(body: str, title: str = f"{TITLE} kaufen | Kartenhaus") -> Offer:
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
    offer = offer_named(body)
    assert (offer.title, offer.price, offer.sku) == (TITLE, Decimal("549.00"), "VT-4070")
    assert offer.availability == "in_stock"


def test_a_heading_of_its_own_is_believed_before_the_title() -> None:
    body = f'<p>Kartenhaus Grafikkarten</p><div class="shell"><h1>Veltor 4070</h1>{SOLD}</div>{OTHERS}'
    offer = offer_named(body, "Kartenhaus Grafikkarten Veltor")
    assert (offer.title, offer.price) == ("Veltor 4070", Decimal("549.00"))


def test_a_page_that_prints_no_part_of_its_title_keeps_the_title_s_own() -> None:
    assert offer_named(f'<div class="shell"><div>Grafikkarte</div>{SOLD}</div>').title == f"{TITLE} kaufen | Kartenhaus"
