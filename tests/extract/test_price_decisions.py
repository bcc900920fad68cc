"""A product page whose parts agree, differ or are silent: which price is believed, and what is left open."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gpuledger.extract.items import Offer
from gpuledger.extract.product import decide
from tests.support.html_page import offer_on

CART = '<button class="add-to-cart">Add to cart</button>'
LD = '{"@type": "Product", "name": "Norvik RTX 4070 12GB", "sku": "NV4070", "offers": %s}'


def read(body: str, *, stated: str = "", head: str = "", lang: str = "en-US", url: str = "") -> tuple[Offer, list[str]]:
    """The offer of a page whose structured data states `stated`, and the codes of its issues."""
    script = f'<script type="application/ld+json">{LD % stated}</script>' if stated else ""
    html = f"""<html lang="{lang}"><head><title>Norvik RTX 4070 12GB | Cards</title>{head}{script}</head>
        <body><main><h1>Norvik RTX 4070 12GB</h1>{body}</main></body></html>"""
    address = url or "https://cards.example.com/p/norvik-rtx-4070"
    offer, issues = offer_on(address, html, datetime(2023, 11, 16, tzinfo=UTC))
    return offer, [issue.code for issue in issues]


def stated(price: str, currency: str = "USD") -> str:
    return f'{{"@type": "Offer", "price": "{price}", "priceCurrency": "{currency}"}}'


def shown(price: str, name: str = "price current-price") -> str:
    return f'<div class="product-price"><span class="{name}">{price}</span></div>{CART}'


def the_price(offer: Offer) -> tuple[str | None, str | None, str | None]:
    return (None if offer.price is None else str(offer.price), offer.currency, offer.price_kind)


def test_a_page_that_shows_no_price_has_that_of_its_structured_data() -> None:
    offer, issues = read(f"<p>A card for games.</p>{CART}", stated=stated("549.99"))
    assert the_price(offer) == ("549.99", "USD", "now")
    assert (offer.price_text, issues) == ("549.99", [])


def test_an_amount_that_nothing_names_does_not_shake_its_structured_data() -> None:
    offer, issues = read("<p>$12.00</p>", stated=stated("549.99"))
    assert (the_price(offer), issues) == (("549.99", "USD", "now"), [])


def test_a_rate_of_the_figure_of_a_variant_is_no_variant() -> None:
    offer, issues = read(shown("$599.99/mo."), stated=f"[{stated('549.99')}, {stated('599.99')}]")
    assert (the_price(offer), issues) == (("549.99", "USD", "from"), [])


def test_what_is_stated_and_what_is_shown_agree() -> None:
    offer, issues = read(shown("$549.99"), stated=stated("549.99"))
    assert (the_price(offer), offer.price_text, issues) == (("549.99", "USD", "now"), "$549.99", [])


def test_another_currency_for_the_eye_leaves_the_price_open() -> None:
    offer, issues = read(shown("€549.99"), stated=stated("549.99"))
    assert (the_price(offer), issues) == ((None, None, None), ["currency_disagreement"])


@pytest.mark.parametrize(
    ("price", "name", "kind"),
    [
        ("From $549.99", "price current-price", "from"),
        ("$549.99/mo.", "price current-price", "monthly"),
        ("$549.99", "price current-price", "now"),
    ],
)
def test_the_word_for_the_eye_says_what_kind_of_price_it_is(price: str, name: str, kind: str) -> None:
    assert read(shown(price, name), stated=stated("549.99"))[0].price_kind == kind


@pytest.mark.parametrize(("price", "expected"), [("From $549.99", "from"), ("$549.99", "now")])
def test_a_price_from_for_the_eye_alone_is_no_price_of_now(price: str, expected: str) -> None:
    offer, _ = read(shown(price))
    assert the_price(offer) == ("549.99", "USD", expected)


def test_a_rate_is_set_aside_for_the_price_and_is_no_price_alone() -> None:
    both = f'<div class="product-price"><span class="price">$549.99</span> <span class="price">$22.92/mo.</span></div>{CART}'
    offer, issues = read(both)
    assert (the_price(offer), issues) == (("549.99", "USD", "now"), [])
    offer, issues = read(shown("$22.92/mo."))
    assert (the_price(offer), issues) == ((None, None, None), ["no_price"])
    offer, issues = read(shown("$22.92/mo."), stated=stated("549.99"))
    assert (the_price(offer), issues) == (("549.99", "USD", "now"), [])


def test_an_old_price_stands_beside_and_is_never_the_price() -> None:
    old = f'<div class="product-price"><del class="price">$649.99</del> <span class="price">$549.99</span></div>{CART}'
    offer, issues = read(old)
    assert (the_price(offer), offer.list_price, issues) == (("549.99", "USD", "now"), Decimal("649.99"), [])
    offer, issues = read(old, stated=stated("649.99"))
    assert (the_price(offer), offer.list_price, issues) == (("549.99", "USD", "now"), Decimal("649.99"), [])


def test_an_old_price_below_the_price_is_none() -> None:
    odd = f'<div class="product-price"><del class="price">$449.99</del> <span class="price">$549.99</span></div>{CART}'
    offer, issues = read(odd)
    assert (the_price(offer), offer.list_price) == (("549.99", "USD", "now"), None)
    offer, issues = read(odd, stated=stated("449.99"))
    assert (the_price(offer), issues) == ((None, None, None), ["price_disagreement"])


def test_two_prices_that_nothing_tells_apart_leave_it_open() -> None:
    two = f'<div><span class="price">$649.99</span><span class="price">$549.99</span></div>{CART}'
    offer, issues = read(two)
    assert (the_price(offer), issues) == ((None, None, None), ["ambiguous_price"])


@pytest.mark.parametrize(
    ("price", "name", "expected"),
    [("549.99", "price current-price", None), ("549.99", "amount", None), ("€549.99", "price", "549.99")],
)
def test_a_number_without_a_currency_is_a_price_where_the_page_names_both(
    price: str, name: str, expected: str | None
) -> None:
    offer, _ = read(shown(price, name), lang="en")
    assert (None if offer.price is None else str(offer.price)) == expected


def test_a_currency_in_the_head_is_that_of_a_bare_number_and_of_a_shared_sign_and_of_no_other() -> None:
    head = '<meta property="product:price:currency" content="CAD">'
    assert read(shown("549.99"), head=head, lang="en")[0].currency == "CAD"
    assert read(shown("$549.99"), head=head, lang="en")[0].currency == "CAD"
    assert read(shown("€549.99"), head=head, lang="en")[0].currency == "EUR"


def test_one_currency_in_the_source_is_taken_and_two_are_none() -> None:
    one, other = '<script>var a = {"currency": "AUD"}</script>', '<script>var b = {"currency": "NZD"}</script>'
    assert read(shown("$549.99") + one, lang="en")[0].currency == "AUD"
    offer, issues = read(shown("$549.99") + one + other, lang="en")
    assert (offer.price, issues) == (None, ["no_currency"])


def test_variants_at_several_prices_are_a_price_from_or_the_one_that_is_shown() -> None:
    several = f"[{stated('549.99')}, {stated('599.99')}]"
    offer, _ = read(CART, stated=several)
    assert the_price(offer) == ("549.99", "USD", "from")
    offer, issues = read(shown("$599.99"), stated=several)
    assert (the_price(offer), issues) == (("599.99", "USD", "now"), [])
    offer, issues = read(shown("From $599.99"), stated=several)
    assert (the_price(offer), issues) == (("599.99", "USD", "from"), [])


def test_a_number_for_machines_that_can_be_read_in_two_ways_needs_the_eye() -> None:
    offer, issues = read(shown("1.299 €"), stated=stated("1,299", "EUR"), lang="de-DE")
    assert (the_price(offer), issues) == (("1299", "EUR", "now"), [])
    offer, issues = read(CART, stated=stated("1.299", "EUR"), lang="en")
    assert (the_price(offer), issues) == ((None, None, None), ["ambiguous_price"])


def test_structured_sources_that_differ_are_settled_by_the_one_amount_that_people_see() -> None:
    meta = (
        '<meta property="product:price:amount" content="649.99"><meta property="product:price:currency" content="USD">'
    )
    offer, issues = read(CART, stated=stated("549.99"), head=meta)
    assert (the_price(offer), issues) == ((None, None, None), ["price_disagreement"])
    apart = f'<div><p class="old-price">$649.99</p></div><div class="product-price"><p class="price">$549.99</p></div>{CART}'
    offer, issues = read(apart, stated=stated("549.99"), head=meta)
    assert (the_price(offer), offer.list_price, issues) == (("549.99", "USD", "now"), Decimal("649.99"), [])
    offer, issues = read(shown("$549.99"), stated=stated("549.99"), head=meta)
    assert (the_price(offer), issues) == (("549.99", "USD", "now"), [])
    both = f'<div class="product-price"><p class="price">$549.99</p><p class="price">$649.99</p></div>{CART}'
    offer, issues = read(both, stated=stated("549.99"), head=meta)
    assert (the_price(offer), issues) == ((None, None, None), ["price_disagreement"])
    offer, issues = read(shown("$499.99"), stated=stated("549.99"), head=meta)
    assert (the_price(offer), issues) == ((None, None, None), ["price_disagreement"])


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<span class="price">$549.99</span>', ("549.99", "now", None)),
        ('<span class="price">Regular price $549.99</span>', ("549.99", "now", None)),
        ('<span class="regular-price">$549.99</span>', ("549.99", "now", None)),
        ('<span class="old-price">$549.99</span>', (None, None, None)),
        ('<del><span class="price">$549.99</span></del>', (None, None, None)),
        ('<span class="price">$549.99</span> <span>/mo.</span>', (None, None, None)),
        ('<span>From</span> <span class="price">$549.99</span>', ("549.99", "from", None)),
        ('<span>You save</span> <span class="price">$549.99</span>', (None, None, None)),
        ('<span class="price">$549.99</span> <span>excl. VAT</span>', ("549.99", "now", None)),
        (
            '<span class="regular-price">$649.99</span> <span class="sale-price">$549.99</span>',
            ("549.99", "now", "649.99"),
        ),
        ("<p>Only this week you get it for $549.99 in our house</p>", (None, None, None)),
        ('<span class="price shipping-price">$9.99</span>', (None, None, None)),
    ],
)
def test_name_and_words_say_what_an_element_s_price_is(
    markup: str, expected: tuple[str | None, str | None, str | None]
) -> None:
    offer, _ = read(f"<div>{markup}</div>{CART}")
    price, old = (None if one is None else str(one) for one in (offer.price, offer.list_price))
    assert (price, offer.price_kind, old) == expected


def test_a_stated_price_before_tax_gives_way_to_the_one_that_people_see() -> None:
    shop = "https://karten.example.de/p/norvik-rtx-4070"
    offer, issues = read(shown("595,00 €"), stated=stated("500.00", "EUR"), lang="de-DE", url=shop)
    assert (the_price(offer), issues) == (("595.00", "EUR", "now"), [])


def test_claims_in_two_currencies_are_settled_by_no_price_on_the_page() -> None:
    head = """<meta property="product:price:amount" content="549.00">
        <meta property="product:price:currency" content="USD">"""
    offer, issues = read(shown("$549.00"), stated=stated("499.00", "EUR"), head=head)
    assert (the_price(offer), issues) == ((None, None, None), ["price_disagreement"])


def test_an_amount_that_scripts_alone_tell_and_that_has_two_readings_is_none_and_said() -> None:
    sold = "{currency: 'EUR', items: [{item_name: 'Norvik RTX 4070 12GB', price: '1.299'}]}"
    script = f"<script>dataLayer.push({{event: 'view_item', ecommerce: {sold}}});</script>"
    offer, issues = read(f"<p>A card for games.</p>{CART}", head=script)
    assert (the_price(offer), issues) == ((None, None, None), ["ambiguous_price"])


@pytest.mark.parametrize("text", ["1.299", "1.299 EUR"])
def test_an_amount_for_the_eye_that_has_two_readings_is_the_one_that_scripts_tell(text: str) -> None:
    sold = "{currency: 'EUR', items: [{item_name: 'Norvik RTX 4070 12GB', price: 1299}]}"
    script = f"<script>dataLayer.push({{event: 'view_item', ecommerce: {sold}}});</script>"
    offer, issues = read(shown(text), head=script, lang="")
    assert (the_price(offer), issues) == (("1299", "EUR", "now"), [])
    assert read(shown(text), lang="")[1] == ["ambiguous_price"], "without the script it has two readings"


def test_an_old_price_alone_for_the_eye_leaves_the_stated_price_as_it_is() -> None:
    old = f'<div class="product-price"><del class="price">$449.99</del></div>{CART}'
    offer, issues = read(old, stated=stated("549.99"))
    assert (the_price(offer), issues) == (("549.99", "USD", "now"), [])


@pytest.mark.parametrize(("gross", "expected"), [("13,579円", "13579"), ("13,580円", "13580"), ("13,600円", None)])
def test_of_a_price_and_the_same_with_tax_it_is_the_one_with_tax(gross: str, expected: str | None) -> None:
    both = f'<div><span class="price">12,345円</span> <span class="price">税込{gross}</span></div>{CART}'
    offer, _ = read(both, lang="ja-JP", url="https://cards.example.jp/p/norvik-rtx-4070")
    assert (None if offer.price is None else str(offer.price)) == expected


def test_the_name_of_one_of_two_parts_that_show_an_amount_is_not_that_of_the_whole() -> None:
    both = '<span class="price"><span class="was old-price">$499.00</span><span>$499.00</span></span>'
    offer, issues = read(f'<div class="product-price">{both}</div>{CART}')
    assert (the_price(offer), issues) == (("499.00", "USD", "now"), [])


def two(first: str, second: str) -> str:
    return f'<p class="price">{first}</p><p class="price">{second}</p>{CART}'


#: A page for each rule, by its reason: what it shows, and what it states to machines or in its head.
PAGES: dict[str, tuple[str, str, str]] = {
    "the number can be read in two ways, and the page shows neither": ("", stated("2.449", "COP"), ""),
    "nothing on the page contradicts the claim": ("", stated("549.99"), ""),
    "the currencies differ": (shown("€549.99"), stated("549.99"), ""),
    "the page shows the claimed amount": (shown("$549.99"), stated("549.99"), ""),
    "the page shows one of several variants": (shown("$599.99"), f"[{stated('549.99')}, {stated('599.99')}]", ""),
    "the claim is the old price": (shown("<s>$599.99</s> $549.99"), stated("599.99"), ""),
    "the claim is the price before tax": (
        '<p class="price current-price">119,00 € inkl. MwSt.</p><p class="price">100,00 € netto</p>' + CART,
        stated("100.00", "EUR"), "",
    ),
    "the page shows the claimed price as well": (two("$599.99", "$549.99"), stated("549.99"), ""),
    "scripts side with one of the two": (
        shown("$499.99"), stated("549.99"), '<script>var product_price = "499.99";</script>',
    ),
    "what the page shows is hardly a price": ("<p>$12.00</p>", stated("549.99"), ""),
    "the page shows only one of the claimed amounts": (
        shown("$549.99"), stated("549.99"), '<meta property="product:price:amount" content="599.99">',
    ),
    "nothing says which of the claims": (
        "", stated("549.99"), '<meta property="product:price:amount" content="599.99">',
    ),
    "an old price is payable if the same before tax stands beside it": (
        '<p class="old-price">119,00 €</p><p class="price">100,00 € netto</p>' + CART, "", "",
    ),
    "scripts state the price": (CART, "", '<script>var product_price = "549.99", currency = "USD";</script>'),
    "the price before tax stands beside the asked one": (
        '<p class="price">100,00 € netto</p><p class="shipping">119,00 € brutto</p>' + CART, "", "",
    ),
    "one price is clearly that of the goods": (shown("$549.99"), "", ""),
    "a percentage proves which of two is the old price": (
        '<div><span class="price">$450.00</span> <span class="price">$600.00</span> 25% off</div>' + CART, "", "",
    ),
    "words say which of two is with tax": (
        '<div class="price"><span>12,800円</span> <span>税込14,080円</span></div>' + CART, "", "",
    ),
    "all scripts name one of the prices": (two("$549.99", "$499.99"), "", '<script>var product_price = "549.99";</script>'),
    "nothing says which of the prices": (two("$549.99", "$499.99"), "", ""),
}  # fmt: skip


@pytest.mark.parametrize("reason", PAGES)
def test_each_rule_decides_the_page_that_it_is_for(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[str] = []

    def recorded(rule: decide.Rule) -> decide.Rule:
        def ask(question: decide.Question) -> decide.Decision | None:
            decision = rule.decide(question)
            decided.extend([rule.reason] if decision is not None else [])
            return decision

        return rule._replace(decide=ask)

    for kind in ("OF_CLAIMS", "OF_DISAGREEING", "OF_NOTHING_PAYABLE", "OF_SIGHT"):
        monkeypatch.setattr(decide, kind, tuple(map(recorded, getattr(decide, kind))))
    body, claim, head = PAGES[reason]
    lang = "ja-JP" if "円" in body else "de-DE" if "netto" in body else "en-US"
    read(body, stated=claim, head=head, lang=lang)
    assert decided == [reason]


def test_each_rule_has_its_page() -> None:
    rules = (*decide.OF_CLAIMS, *decide.OF_DISAGREEING, *decide.OF_NOTHING_PAYABLE, *decide.OF_SIGHT)
    assert sorted(rule.reason for rule in rules) == sorted(PAGES)
