"""What a buyer sees on a shop's page, and what it tells machines: stock, variants, members, comparisons, plans, cents."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gpuledger.items import Issue, Offer
from tests.support.html_page import offer_on, told

CARD = "Norvik GeForce RTX 5080 16GB Graphics Card"
CART = '<button class="btn">Add to cart</button>'


def read(
    body: str, offers: Any = None, *, lang: str = "en-us", url: str = "https://shop.example/p/1", **product: Any
) -> tuple[Offer, list[Issue]]:
    """The offer and the issues of a page of one card; `offers` and `product` are told to machines."""
    script = told({"@type": "Product", "name": CARD, "offers": offers} | product) if offers or product else ""
    return offer_on(url, f'<html lang="{lang}"><head>{script}</head><body><h1>{CARD}</h1>{body}</body></html>')


def in_stock(price: str = "999.00", currency: str = "USD", **more: Any) -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": "InStock", **more}


PRICE = '<p class="price">$999.00</p>'


@pytest.mark.parametrize(
    "sold_out",
    [
        '<div class="nav-row"><div class="nav-item-box"><span class="btn">Sold out</span></div></div>',
        '<p class="box"><i class="icon icon-x"></i> Out of stock</p>',
        '<p class="store"><span>0 new in stock</span> at our shop</p>',
        "<button disabled>Sold out</button>",
        "<button>Auto notify</button>",
        '<form id="add-to-cart"><button disabled>Sold out</button></form>',
        "<p>Out of stock</p><p>Image not available</p>",
    ],
)
def test_sold_out_as_people_read_it(sold_out: str) -> None:
    offer, _ = read(PRICE + sold_out)
    assert offer.availability == "out_of_stock"
    # What the page tells machines does not make it buyable: both are named.
    offer, issues = read(PRICE + sold_out, in_stock())
    assert offer.availability == "unknown"
    (issue,) = issues
    assert issue.code == "availability_disagreement"
    assert "in_stock" in issue.message.replace("out_of_stock", "")
    assert "out_of_stock" in issue.message


@pytest.mark.parametrize("waiting", ["<button disabled>Coming soon</button>", "<p>Pre-order now</p>"])
def test_what_is_still_to_come(waiting: str) -> None:
    assert read(PRICE + waiting)[0].availability == "preorder"
    assert read(PRICE + waiting, in_stock())[0].availability == "preorder"


@pytest.mark.parametrize(
    "no_sign",
    ["", "<p>Free returns</p>", "<button disabled>Add to cart</button>", "<p>Image not available</p>",
     "<p>Available in three colours</p>", "<button>Write a message</button>", "<p>Free shipping available</p>"],
)  # fmt: skip
def test_without_a_sign_it_is_unknown(no_sign: str) -> None:
    offer, issues = read(PRICE + no_sign)
    assert (offer.price, offer.availability, issues) == (Decimal("999.00"), "unknown", [])


def variant(name: str, sku: str, price: str, stock: str, **more: Any) -> dict[str, Any]:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": stock,
             "url": f"https://shop.example/p/card?variant={sku}"}  # fmt: skip
    return {"@type": "Product", "name": name, "sku": sku, "mpn": f"M-{sku}", "offers": offer, **more}


EIGHT = variant("Norvik RTX 5060 Ti Duo - 8GB", "DUO08", "379.00", "InStock")
SIXTEEN = variant("Norvik RTX 5060 Ti Duo - 16GB", "DUO16", "469.00", "OutOfStock")


def group(*variants: dict[str, Any]) -> str:
    return told({"@type": "ProductGroup", "name": "Norvik RTX 5060 Ti Duo", "brand": "Norvik", "hasVariant": variants})


def of_group(body: str, query: str = "", heading: str = "Norvik RTX 5060 Ti Duo", *variants: dict[str, Any]) -> Offer:
    head = group(*(variants or (EIGHT, SIXTEEN)))
    html = f'<html lang="en"><head>{head}</head><body><h1>{heading}</h1>{body}</body></html>'
    return offer_on(f"https://shop.example/p/card{query}", html)[0]


def facts(offer: Offer) -> tuple[Any, ...]:
    return offer.title, offer.sku, offer.mpn, offer.brand, str(offer.price), offer.availability


OF_EIGHT = ("Norvik RTX 5060 Ti Duo - 8GB", "DUO08", "M-DUO08", "Norvik", "379.00", "in_stock")
OF_SIXTEEN = ("Norvik RTX 5060 Ti Duo - 16GB", "DUO16", "M-DUO16", "Norvik", "469.00", "out_of_stock")


def test_the_variant_that_the_address_names() -> None:
    assert facts(of_group("", "?variant=DUO16")) == OF_SIXTEEN
    assert facts(of_group("", "?variant=DUO08&ref=mail")) == OF_EIGHT


def test_the_variant_that_the_heading_names() -> None:
    assert facts(of_group("", heading="Norvik RTX 5060 Ti Duo 16GB")) == OF_SIXTEEN


def test_the_variant_whose_price_is_shown() -> None:
    assert facts(of_group('<p class="price">€469.00</p><button>Sold out</button>')) == OF_SIXTEEN
    assert facts(of_group(f'<p class="price">€379.00</p>{CART}')) == OF_EIGHT


def test_where_nothing_names_a_variant_no_fact_of_one_is_given() -> None:
    html = f'<html lang="en"><head>{group(EIGHT, SIXTEEN)}</head><body><h1>Norvik RTX 5060 Ti Duo</h1></body></html>'
    offer, issues = offer_on("https://shop.example/p/card", html)
    assert (offer.title, offer.sku, offer.mpn) == ("Norvik RTX 5060 Ti Duo", None, None)
    assert (offer.price, offer.price_kind) == (Decimal("379.00"), "from")
    assert [issue.code for issue in issues] == ["several_variants"]


def test_variants_of_one_price_are_no_riddle() -> None:
    white = variant("Norvik RTX 5060 Ti Duo - White", "WHT", "379.00", "InStock")
    black = variant("Norvik RTX 5060 Ti Duo - Black", "BLK", "379.00", "OutOfStock")
    offer = of_group('<p class="price">€379.00</p>', "", "Norvik RTX 5060 Ti Duo", white, black)
    assert (offer.title, str(offer.price), offer.availability) == ("Norvik RTX 5060 Ti Duo", "379.00", "in_stock")


@pytest.mark.parametrize(
    ("body", "price"),
    [
        # A member's price is not what a stranger pays.
        ('<p class="price">$899.00</p><div class="a"><h5>Member price</h5><b class="price">$899.00</b></div>'
         f'<div class="b"><h5>Regular price</h5><b class="price">$999.00</b>{CART}</div>', "999.00"),
        ('<ul><li>Club price <b class="price">$899.00</b></li><li>Non-member price <b class="price">$999.00</b></li></ul>'
         f"{CART}", "999.00"),
        # A promise, a badge or a heading before the price is no label of it; a label ends with a colon or adjoins.
        ('<p>10% off</p><div class="price">$999.00</div>', "999.00"),
        ('<p>36 months warranty</p><div class="price">$999.00</div>', "999.00"),
        ('<p>Extended warranty</p><div class="price">$999.00</div>', "999.00"),
        ('<span class="badge">Coupon</span><span class="price">$999.00</span>', "999.00"),
        ('<h2>Twin Fan 2X</h2><div class="price">$999.00</div>', "999.00"),
        ('<p>Monthly deals</p><div class="price">$999.00</div>', "999.00"),
        (f'<p>Shipping: <b class="price">$9.90</b></p><p>Price on request</p>{CART}', None),
        (f'<p>Shipping:</p><p class="price">$9.90</p><p>Price on request</p>{CART}', None),
        (f'<p>Extended warranty</p><p class="price">$89.00</p><p class="price">$999.00</p>{CART}', "999.00"),
        # The row and the column of another card in a comparison.
        ('<p>Sold out</p><table><tr><td>Norvik RTX 5060 8GB</td><td><b class="price">$299.00</b></td></tr></table>', None),
        ("<p>Sold out</p><table><tr><th>Norvik RTX 5060</th><th>Norvik RTX 5070</th></tr><tr>"
         '<td class="price">$299.00</td><td class="price">$549.00</td></tr></table>', None),
        # A plan beside the price.
        ('<p class="price">$999.00</p><ul><li><label>2 year replacement plan</label><b class="price">$49.00</b></li></ul>'
         f"{CART}", "999.00"),
        (f'<p class="price">$999.00</p><p>Extended warranty <b class="price">$89.00</b></p>{CART}', "999.00"),
        # Cents in an element of their own.
        ('<div class="price"> <b>$</b> <b>1499</b> <b>.</b> <b>99</b> </div>', "1499.99"),
        ('<div> <sup>$</sup> <span class="price">1499</span> <sup>99</sup> </div>', "1499.99"),
    ],
)  # fmt: skip
def test_the_amount_of_exactly_these_goods(body: str, price: str | None) -> None:
    offer, issues = read(body)
    assert (None if offer.price is None else str(offer.price)) == price, issues
    assert offer.price_kind in ("now", None)


@pytest.mark.parametrize(
    ("lang", "stated", "body", "price"),
    [
        ("en-US", "579.00 USD", "<p class='price'>$599.00</p><p>Members pay $579.00</p>", "599.00"),
        ("pl-PL", "2599.00 PLN", "<p class='cena'>2 699,00 zł</p><p>Cena dla klubowiczów: 2 599,00 zł</p>", "2699.00"),
        ("de-DE", "504.19 EUR", "<p class='preis'>599,99 €*</p>", "599.99"),
        ("fr-FR", "524.92 EUR", "<p class='prix'>629,90 € TTC</p><p>soit 524,92 € HT</p>", "629.90"),
        ("ja-JP", "99818 JPY", "<p class='price'>109,800円（税込）</p>", "109800"),
    ],
)
def test_what_meta_data_alone_say_of_members_or_without_tax_is_not_the_price(
    lang: str, stated: str, body: str, price: str
) -> None:
    amount, currency = stated.split()
    meta = f'<meta property="product:price:amount" content="{amount}">'
    meta += f'<meta property="product:price:currency" content="{currency}">'
    html = f'<html lang="{lang}"><head>{meta}</head><body><h1>{CARD}</h1>{body}{CART}</body></html>'
    offer, issues = offer_on("https://shop.example/p/1", html)
    assert (offer.price, offer.currency, issues) == (Decimal(price), currency, [])


@pytest.mark.parametrize("name", ["offers", "Offers"])
@pytest.mark.parametrize("nested", [False, True])
def test_offers_in_a_list_of_lists_and_under_a_capital(name: str, nested: bool) -> None:
    offer, _ = read("", **{name: [[in_stock()]] if nested else [in_stock()]})
    assert (offer.price, offer.availability) == (Decimal("999.00"), "in_stock")
