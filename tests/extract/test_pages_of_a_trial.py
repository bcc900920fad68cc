"""Pages that somebody wrote who had not seen the reader: signs of stock, variants, and amounts that are not the price.

Each table is one kind. A page shows one card, its price, and what the row adds; the row says what must come of it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpuledger.errors import LayoutChanged
from tests.support import html_page
from tests.support.html_page import offer_on

CARD = "Norvik Storm 2X GeForce RTX 5080 16GB"
FAMILY = "Norvik RTX 5060 Ti"
ADDRESS = "https://shop.example/p/1"
CART = "<button>Add to cart</button>"
NOT_SOLD = ("out_of_stock", "unknown")


def told(*things: dict[str, Any]) -> str:
    """What a page tells machines."""
    return html_page.told({"@graph": things})


def an_offer(price: str, stock: str = "InStock", currency: str = "EUR", **more: Any) -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": stock, **more}


def of_card(offer: dict[str, Any]) -> str:
    return told({"@type": "Product", "name": CARD, "offers": offer})


def page(body: str, head: str = "", lang: str = "en-us", heading: str = CARD) -> str:
    return f'<html lang="{lang}"><head>{head}</head><body><h1>{heading}</h1>{body}</body></html>'


# ── stock ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

IN_STOCK = of_card(an_offer("999.00", currency="USD"))
OTHERS = (
    '<section class="related"><h2>Similar products</h2><div class="card"><a href="/p/2">Norvik RTX 5070 12GB</a>'
    "<span>{}</span></div></section>"
)
SIGNS = [
    # (what the page shows, what it tells machines, what may be said of stock)
    ('<button aria-label="Sold out" disabled></button>', "", NOT_SOLD),
    ('<a class="btn" aria-disabled="true">Add to cart</a>', "", NOT_SOLD),
    ('<img alt="Out of stock" src="x.png">', IN_STOCK, NOT_SOLD),
    ('<span style="display:none">In stock</span><span>Out of stock</span>', "", NOT_SOLD),
    (f'<span style="display:none">Out of stock</span>{CART}', "", ("in_stock",)),
    (CART + OTHERS.format("Sold out"), "", ("in_stock",)),
    ("<p>Sold out</p>" + OTHERS.format("In stock</span><button>Add to cart</button><span>"), "", NOT_SOLD),
    ("<select><option>Choose</option><option disabled>16GB - Sold out</option></select>", "", NOT_SOLD),
    ("<p>Not available online</p><p>Available in store only</p>", "", NOT_SOLD),
    ("<p>Quantity available: 0</p><button disabled>Add to cart</button>", "", NOT_SOLD),
    ("<table><tr><td>Main store</td><td>0</td></tr><tr><td>Online</td><td>0</td></tr></table>", "", NOT_SOLD),
    ("<p>Get an email when it's back in stock</p>", "", NOT_SOLD),
    ("<p>Orders for items in stock ship within 24 hours.</p>", "", ("unknown",)),
    ('<div class="reviews"><p>Finally in stock again! Bought it.</p></div>', "", ("unknown",)),
    (f'{CART}<div class="reviews"><p>It was sold out everywhere, glad I got one</p></div>', "", ("in_stock",)),
    ("<button>Add to wishlist</button><button>Find in store</button>", "", ("unknown",)),
    ("<button>Place bid</button>", "", ("unknown",)),
    ('<a class="btn btn-disabled">Add to cart</a>', "", NOT_SOLD),
    (f"<p>Lagerstatus: Bestillingsvare – 10-14 hverdage</p>{CART}", "", ("preorder",)),
    (f"<p>Ikke på lager nå – restordre, forventet 09.01.2027. Du kan bestille.</p>{CART}", "", ("preorder",)),
    (f'<div class="stock"><p>Ei varastossa</p><p>Tilaustuote</p></div>{CART}', "", ("preorder",)),
    (f'<div class="stock"><p>In stock</p><p>Haifa: sold out</p></div>{CART}', "", ("in_stock",)),
    (f'<div class="stock"><p>Pick up in Lyon: out of stock</p><p>In Lille: today</p></div>{CART}', "", ("in_stock",)),
    (f"<p>Magazzino: 0</p><p>Ordinabile, consegna tra 3-4 settimane</p>{CART}", "", ("preorder",)),
    (f"<p>Délai de livraison : 3 à 4 semaines</p>{CART}", "", ("preorder",)),
    (f"<p>Op voorraad</p><p>Verzending naar het buitenland: 2-3 weken</p>{CART}", "", ("in_stock",)),
    (f'<p class="lager">Beställd, väntas in 2026-12-09</p>{CART}', "", ("preorder",)),
    (f"{CART}<p>120 sold in the last 24 hours</p>", "", ("in_stock",)),
    ("<p>Delivery: unavailable for your postcode</p>", "", NOT_SOLD),
    ("<button disabled>Sold out</button>", '<meta property="product:availability" content="instock">', NOT_SOLD),
    ("", '<meta property="product:availability" content="in stock">', ("in_stock",)),
    ("", '<meta property="og:availability" content="oos">', NOT_SOLD),
    ("", of_card(an_offer("999.00", "LimitedAvailability", "USD")), ("in_stock",)),
    (CART, of_card(an_offer("999.00", "SoldOut", "USD")), NOT_SOLD),
    (f"<p>Sold out</p>{CART}", "", NOT_SOLD),
    (f"<b>Currently unavailable</b>{CART}", IN_STOCK, NOT_SOLD),
    (f"<p>In stock</p><div>Store pickup</div><div>Out of stock</div>{CART}", "", ("in_stock",)),
    ("<p>In-store only</p><p>Not sold online</p>", IN_STOCK, NOT_SOLD),
    ("<div>Price incl. VAT<br>Out of stock</div>", IN_STOCK, NOT_SOLD),
    ("<p>Unfortunately this card is no longer available. Have a look at our others.</p>", IN_STOCK, NOT_SOLD),
    ('<input type="submit" value="Sold out" disabled>', IN_STOCK, NOT_SOLD),
    ('<a class="button" href="/waitlist">Join the waiting list</a>', IN_STOCK, NOT_SOLD),
    ("<p>\u274c Out of stock</p>", IN_STOCK, NOT_SOLD),
    ("<dl><dt>Availability</dt><dd>In stock</dd></dl>", "", ("in_stock",)),
    (CART, of_card({"@type": "Offer", "price": "999", "priceCurrency": "USD"}), ("in_stock",)),
    ("", of_card({"@type": "Offer", "price": "999", "priceCurrency": "USD"}), ("unknown",)),
]


@pytest.mark.parametrize(("body", "head", "may_be"), SIGNS)
def test_stock(body: str, head: str, may_be: tuple[str, ...]) -> None:
    offer, _ = offer_on(ADDRESS, page(f'<p class="price">$999.00</p>{body}', head))
    assert offer.availability in may_be


def test_a_button_of_the_shops_own_cart_is_no_sign() -> None:
    header = '<header><button>Cart</button><a href="/cart">Basket (0)</a></header>'
    html = f'<html lang="en-us"><body>{header}<h1>{CARD}</h1><p class="price">$999.00</p></body></html>'
    assert offer_on(ADDRESS, html)[0].availability == "unknown"
    # … and what WooCommerce calls the part that holds the goods is one.
    assert offer_on(ADDRESS, html.replace("<h1>", '<h1 class="onbackorder">'))[0].availability == "preorder"


# ── variants ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def variant(name: str, sku: str, price: str, stock: str = "InStock", **more: Any) -> dict[str, Any]:
    offer = an_offer(price, stock, url=f"{ADDRESS}?variant={sku}")
    return {"@type": "Product", "name": f"{FAMILY} - {name}", "sku": sku, "offers": offer, **more}


EIGHT, SIXTEEN = variant("8GB", "A8", "379.00"), variant("16GB", "B16", "469.00", "OutOfStock")
GROUP = {"@type": "ProductGroup", "name": FAMILY}
BOTH = told({**GROUP, "hasVariant": [EIGHT, SIXTEEN]})
OLD_FORM = [
    an_offer(price, stock, sku=sku, url=f"{ADDRESS}?variant={sku}")
    for price, stock, sku in [("379.00", "InStock", "A8"), ("469.00", "OutOfStock", "B16")]
]
OLD_GROUP = told({"@type": "Product", "name": FAMILY, "offers": OLD_FORM})
PATHS = [
    {**one, "url": f"{ADDRESS}/{one['sku']}", "offers": an_offer(price, stock)}
    for one, price, stock in [(EIGHT, "379.00", "InStock"), (SIXTEEN, "469.00", "OutOfStock")]
]
BY_SIZE = [(EIGHT, "8GB"), (SIXTEEN, "16GB")]
SHOWN = '<p class="price">€469.00</p>'
BOXES = "".join(
    f'<input type="radio" name="m" id="m{size}" {"checked" * (size == 16)}><label for="m{size}">{size} GB</label>'
    for size in (8, 16)
)
VARIANTS = [
    # (what the page tells machines, what it shows, the end of its address): each names the 16GB card, which is sold out.
    (BOTH, SHOWN, ""),
    (BOTH, "", "?variant=B16"),
    (BOTH, "", "#variant=B16"),
    (BOTH, BOXES, ""),
    (BOTH, '<select><option value="A8">8GB</option><option value="B16" selected>16GB</option></select>', ""),
    (BOTH, f"<p>SKU: B16</p>{SHOWN}<button>Sold out</button>", ""),
    (f'<link rel="canonical" href="{ADDRESS}?variant=B16">{BOTH}', "", ""),
    (told({**GROUP, "hasVariant": PATHS}), "", "/B16"),
    (told({**GROUP, "hasVariant": [{"@id": "a"}, {"@id": "b"}]}, EIGHT | {"@id": "a"}, SIXTEEN | {"@id": "b"}), SHOWN, ""),
    (told(*(one | {"isVariantOf": {"@id": "#g"}} for one in (EIGHT, SIXTEEN)), GROUP | {"@id": "#g"}), SHOWN, ""),
    (told(*(one | {"inProductGroupWithID": "g"} for one in (EIGHT, SIXTEEN))), SHOWN, ""),
    (OLD_GROUP, SHOWN, "?variant=B16"),
    (BOTH, '<div role="radio" aria-checked="false">8GB</div><div role="radio" aria-checked="true">16GB</div>', ""),
    ('<meta property="og:title" content="Norvik RTX 5060 Ti - 16GB">' + BOTH, "", ""),
    (told({"@type": "Product", "name": FAMILY, "model": [EIGHT, SIXTEEN]}), "", "?variant=B16"),
    (told({**GROUP, "hasVariant": [one | {"name": FAMILY, "size": size} for one, size in BY_SIZE]}), SHOWN, ""),
    (told({**GROUP, "hasVariant": [one | {"name": FAMILY, "size": size} for one, size in BY_SIZE]}), BOXES, ""),
]  # fmt: skip


@pytest.mark.parametrize(("head", "body", "end"), VARIANTS)
def test_every_fact_is_that_of_the_variant(head: str, body: str, end: str) -> None:
    offer, _ = offer_on(ADDRESS + end, page(body, head, "en-ie", FAMILY))
    assert (offer.sku, str(offer.price), offer.availability) == ("B16", "469.00", "out_of_stock")


def test_a_heading_names_the_size_with_a_space() -> None:
    offer, _ = offer_on(ADDRESS, page(SHOWN, BOTH, "en-ie", f"{FAMILY} 16 GB"))
    assert (offer.sku, str(offer.price), offer.availability) == ("B16", "469.00", "out_of_stock")


def test_offers_of_several_sizes_of_which_none_is_named() -> None:
    offer, _ = offer_on(ADDRESS, page("", OLD_GROUP, "en-ie", FAMILY))
    assert (str(offer.price), offer.price_kind) == ("379.00", "from")
    offer, _ = offer_on(ADDRESS, page(f"{SHOWN}<button>Sold out</button>", OLD_GROUP, "en-ie", FAMILY))
    assert (str(offer.price), offer.availability) == ("469.00", "out_of_stock")


# ── amounts that are not the price ────────────────────────────────────────────────────────────────────────────────────

EURO, ZLOTY, CROWN, YEN = "999,00 €", "4 299,00 zł", "24 990 Kč", "109,800円"
#: By language: the price as it is printed, and amounts beside it that only members pay, that are without tax, that are
#: rates, plans, or the lowest of 30 days.
BESIDE: dict[str, tuple[str, list[str]]] = {
    "en-us": ("$999.00", ["or 4 interest-free payments of $249.75", "As low as $83.25/mo with financing", "Shipping: $9.99",
                          "$949.00 with code SAVE50", "Get $50.00 cashback", "Trade in and pay $699.00",
                          "Student price $899.00", "Open-box from $849.00", "Deal of the day: Norvik RTX 5070 $499.00"]),
    "en-gb": ("£999.00 inc VAT", ["£832.50 ex VAT"]),
    "de-de": (EURO, ["Clubpreis: 899,00 €", "839,50 € exkl. MwSt.", "oder 12 x 89,90 € monatlich"]),
    "fr-fr": ("999,00 € TTC", ["Prix adhérent : 949,00 €", "832,50 € HT", "Payez en 4 fois dès 249,75 €",
                               "Extension de garantie 2 ans 69,99 €",
                               "Prix le plus bas des 30 derniers jours : 949,00 €"]),
    "es-es": (EURO, ["Precio socios: 949,00 €", "825,62 € sin IVA", "o 12 cuotas de 91,00 €",
                     "Ampliación de garantía 3 años 79,00 €"]),
    "it-it": (EURO, ["Prezzo per i soci: 949,00 €", "818,85 € IVA esclusa", "oppure 3 rate da 333,00 €",
                     "Prezzo più basso degli ultimi 30 giorni: 949,00 €"]),
    "pt-pt": (EURO, ["812,20 € sem IVA", "ou 10x de 99,90 € sem juros"]),
    "pt-br": ("R$ 8.999,00", ["Preço para membros: R$ 8.499,00", "em até 12x de R$ 749,92 sem juros"]),
    "nl-nl": ("€ 999,00 incl. btw", ["Ledenprijs € 949,00", "€ 825,62 excl. btw", "of 12 x € 89,90 per maand"]),
    "pl-pl": (ZLOTY, ["3 495,12 zł netto", "Raty od 107,48 zł / mies.", "Przedłużona gwarancja +2 lata 399,00 zł",
                      "Najniższa cena z 30 dni przed obniżką: 4 199,00 zł"]),
    "cs-cz": (CROWN, ["Cena pro členy: 23 990 Kč", "20 652,89 Kč bez DPH", "Na splátky od 999 Kč měsíčně"]),
    "sv-se": ("9 990 kr inkl. moms", ["Medlemspris 9 490 kr", "7 992 kr exkl. moms", "Delbetala från 347 kr/mån"]),
    "da-dk": ("6.999 kr. inkl. moms", ["Medlemspris: 6.499 kr.", "5.599,20 kr. ekskl. moms", "Fra 249 kr./md."]),
    "fi-fi": (EURO, ["Jäsenhinta 949,00 €", "796,02 € alv 0 %", "tai 36 kk alk. 34,90 €/kk"]),
    "ru-ru": ("99 990 ₽", ["Цена с картой клуба: 94 990 ₽", "83 325 ₽ без НДС", "от 8 333 ₽/мес. в рассрочку"]),
    "ja": (YEN, ["会員価格：104,800円", "99,818円（税抜）", "月々9,150円×12回", "延長保証 5年 5,490円"]),
    "ko": ("1,399,000원", ["회원가 1,349,000원", "회원할인가 1,349,000원", "멤버십 전용가 1,349,000원",
                         "1,271,818원 (부가세 별도)", "월 116,583원 (12개월 무이자)"]),
    "zh-tw": ("NT$35,990", ["會員價 NT$34,990", "12期 0利率 每期 NT$2,999"]),
    "zh-cn": ("¥8999", ["会员价：¥8799", "花呗分期 ¥749.92 x 12期"]),
    "tr-tr": ("45.999,00 TL", ["12 taksit x 3.833,25 TL"]),
}  # fmt: skip


def _amount(printed: str) -> str:
    return re.sub(r"\D", "", re.sub(r"[.,]00(?!\d)", "", printed))


@pytest.mark.parametrize(
    ("lang", "printed", "beside"),
    [(lang, printed, one) for lang, (printed, others) in BESIDE.items() for one in others],
)
def test_an_amount_beside_the_price(lang: str, printed: str, beside: str) -> None:
    # What an English shop adds to its price it does not call a price; many templates do so with all else.
    for name in ("", ' class="price"')[: 1 if lang == "en-us" else 2]:
        offer, issues = offer_on(ADDRESS, page(f'<p class="price">{printed}</p><p{name}>{beside}</p>', "", lang))
        assert (str(int(offer.price or 0)), offer.price_kind) == (_amount(printed), "now"), issues


OTHER_MARKUP = [
    # (language, address, what the page shows, the price in its currency; None if there is none)
    ("en-us", ADDRESS, "<p>Sold out</p><h2>Alternatives</h2><ul><li><a href='/p/2'>Norvik RTX 5070</a> "
     "<b class='price'>$549.00</b></li></ul>", None),
    ("en-us", ADDRESS, "<p>Discontinued</p><section><h3>Replaced by</h3><a href='/p/2'>Norvik Storm 3X GeForce RTX 5080 16GB"
     f"</a><b class='price'>$1,099.00</b>{CART}</section>", None),
    ("en-us", ADDRESS, "<p>Sold out</p><div><h4>Goes well with</h4><a href='/p/7'>850W PSU</a><b class='price'>$139.99</b>"
     f"{CART}</div>", None),
    ("en-us", ADDRESS, "<p>Sold out</p><table class='compare'><tr><th></th><th>RTX 5070</th><th>RTX 5060</th></tr><tr>"
     "<th>Price</th><td>$549.00</td><td>$299.00</td></tr></table>", None),
    ("de-de", ADDRESS, "<p>Ausverkauft</p><h2>Vergleich</h2><table><tr><td>RTX 5060</td><td class='preis'>299,00 €</td></tr>"
     "</table>", None),
    ("en-us", ADDRESS, "<p class='price'>$999.00</p><h3>Frequently bought together</h3><div><a href='/p/7'>850W PSU</a><b "
     f"class='price'>$129.00</b></div><p>Total: <b class='price'>$1,128.00</b></p>{CART}", "999.00 USD"),
    ("de-de", ADDRESS, "<p class='price'>449,00 €</p><ul><li>8GB 379 €</li><li class='selected'>16GB 449 €</li></ul>",
     "449.00 EUR"),
    ("de-de", ADDRESS, "<p class='price'>449,00 €</p><select><option>8GB 379 €</option><option selected>16GB 449 €</option>"
     "</select>", "449.00 EUR"),
    ("en-us", ADDRESS, "<p class='price'>$999.00</p><ul><li><span>8GB</span><span class='price'>$799.00</span></li><li>"
     f"<span>16GB</span><span class='price'>$999.00</span></li></ul>{CART}", "999.00 USD"),
    ("en-us", ADDRESS, "<p class='price'>$1499<sup>99</sup></p>", "1499.99 USD"),
    ("de-de", ADDRESS, "<p class='price'><b>1499</b><i>,</i><b>99</b><i>€</i></p>", "1499.99 EUR"),
    ("pl-pl", ADDRESS, "<p class='price'>4 299,00 zł (ok. 999,00 €)</p>", "4299.00 PLN"),
    ("zh-hk", ADDRESS, "<p class='price'>HK$8,999 (US$1,150)</p>", "8999 HKD"),
    ("hr-hr", ADDRESS, "<p class='price'>999,00 € / 7.526,97 kn</p>", "999.00 EUR"),
    ("bg-bg", "https://shop.example.bg/p/1", "<p class='price'>2 599,00 лв. / 1 328,85 €</p>", "1328.85 EUR"),
    ("en", "https://www.newegg.com/p/1", f"<p class='price'>$999.00</p>{CART}", "999.00 USD"),
    ("en", "https://cards.example/p/1", f"<p class='price'>$999.00</p>{CART}", None),
    ("en", "https://cards.example/us/p/1", f"<p class='price'>$999.00</p>{CART}", "999.00 USD"),
    ("en-za", ADDRESS, f"<p class='price'>R9,999</p>{CART}", "9999 ZAR"),
    ("nl", "https://cards.example/nl/p/1", f"<p class='price'>1.179,-</p><p>excl. btw € 974,38</p>{CART}", "1179 EUR"),
    ("fr-fr", ADDRESS, f"<p class='price'>Prix Bon plan 649€95</p>{CART}", "649.95 EUR"),
    ("en-gb", ADDRESS, f"<p><s>£466.66</s></p><p class='now'>10% off £419.99 inc VAT</p>{CART}", "419.99 GBP"),
    ("it", "https://cards.example/it/p/1", "<table><tr><th>Prezzo IVA incl.</th><td>1.149,00 €</td></tr><tr><th>Imponibile"
     f"</th><td>941,80 €</td></tr></table>{CART}", "1149.00 EUR"),
    ("en-us", ADDRESS, "<table><tr><td>1</td><td>$8,249.00</td></tr><tr><td>2-4</td><td>$8,149.00</td></tr></table><p>Price:"
     " $8,249.00</p>", "8249.00 USD"),
    ("ko", ADDRESS, "<dl><dt>정상가</dt><dd><s>1,490,000원</s></dd><dt>판매가</dt><dd><b>1,390,000원</b></dd></dl>"
     "<p>품절</p>", "1390000 KRW"),
    ("ko", ADDRESS, "<dl><dt>판매가</dt><dd>989,000원</dd><dt>국민카드 즉시할인</dt><dd>959,330원</dd></dl>"
     "<a class='btn_buy'>구매하기</a>", "989000 KRW"),
    ("en-gb", ADDRESS, "<table><tr><td>WE SELL for</td><td>£620.00</td></tr><tr><td>Trade-in for cash</td><td>£372.00</td>"
     f"</tr></table>{CART}", "620.00 GBP"),
    ("en-in", ADDRESS, "<p class='price'>₹17,890.00 (with all Taxes)</p><p class='gst'>₹15,161.02 + ₹2,728.98 GST (18%)</p>"
     f"{CART}", "17890.00 INR"),
    ("de-de", ADDRESS, f"<p class='price'>Storm 2X 309,90 €*</p>{CART}", "309.90 EUR"),
    ("en-us", ADDRESS, "<p class='price'>$83.25</p><small>per month for 12 months at 0% APR, with the shop's card</small>"
     f"<p>Total: $999.00</p>{CART}", "999.00 USD"),
    ("fr-fr", ADDRESS, "<p class='price'>41,63 €</p><p>par mois pendant 24 mois, sous réserve d'acceptation du dossier</p>"
     "<button>Ajouter au panier</button>", None),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "url", "body", "price"), OTHER_MARKUP)
def test_the_price_in_other_markup(lang: str, url: str, body: str, price: str | None) -> None:
    try:
        offer, issues = offer_on(url, page(body, "", lang))
    except LayoutChanged:
        assert price is None
        return
    assert (None if offer.price is None else f"{offer.price} {offer.currency}") == price, issues


def test_the_old_code_of_the_rouble() -> None:
    offer, issues = offer_on(
        ADDRESS, page('<p class="price">99 990 ₽</p>', of_card(an_offer("99990", currency="RUR")), "ru")
    )
    assert (str(offer.price), offer.currency, issues) == ("99990", "RUB", [])
