"""A product page whose parts agree, differ or are silent: which price is believed, and what is left open."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from gpuledger.extract.product import decide
from tests.support.html_page import CART, offer_on, price_of, shop_page, told

NAME = "Norvik RTX 4070 12GB"


def ld(price: str, currency: str = "USD") -> str:
    return f'{{"@type": "Offer", "price": "{price}", "priceCurrency": "{currency}"}}'


def shown(price: str, name: str = "price current-price") -> str:
    return f'<div class="product-price"><span class="{name}">{price}</span></div>{CART}'


def beside(first: str, second: str) -> str:
    """Two parts in one, as a shop puts an old price beside the price."""
    return f'<div class="product-price">{first} <span class="price">{second}</span></div>{CART}'


def two(first: str, second: str) -> str:
    return f'<p class="price">{first}</p><p class="price">{second}</p>{CART}'


def meta(price: str, currency: str = "") -> str:
    code = f'<meta property="product:price:currency" content="{currency}">' if currency else ""
    return f'<meta property="product:price:amount" content="{price}">{code}'


def sold(price: str) -> str:
    """What a script tells of the goods in euros."""
    item = f"{{currency: 'EUR', items: [{{item_name: '{NAME}', price: {price}}}]}}"
    return f"<script>dataLayer.push({{event: 'view_item', ecommerce: {item}}});</script>"


class Case(NamedTuple):
    """What is decided (amount, currency, kind and old price, or the issues that leave it open), and the page.

    `stated` is told to machines. `rule` is the reason of the rule that decides, where a case stands for one.
    """

    decided: str
    body: str
    stated: str = ""
    head: str = ""
    lang: str = "en-US"
    rule: str = ""
    url: str = "https://cards.example.com/p/norvik-rtx-4070"


SEVERAL = f"[{ld('549.99')}, {ld('599.99')}]"
PRODUCT_PRICE = '<script>var product_price = "{}";</script>'
AUD, NZD = '<script>var a = {"currency": "AUD"}</script>', '<script>var b = {"currency": "NZD"}</script>'
CAD = '<meta property="product:price:currency" content="CAD">'
GERMAN, JAPANESE = "https://karten.example.de/p/norvik-rtx-4070", "https://cards.example.jp/p/norvik-rtx-4070"
ONE, OTHER = "549.99 USD now", "549.99 USD from"
CASES = [
    # What is stated, where the page shows nothing, a rate, or an amount that nothing names.
    Case(ONE, f"<p>A card for games.</p>{CART}", ld("549.99"), rule="nothing on the page contradicts the claim"),
    Case(ONE, "<p>$12.00</p>", ld("549.99"), rule="what the page shows is hardly a price"),
    Case(ONE, shown("$22.92/mo."), ld("549.99")),
    Case(OTHER, shown("$599.99/mo."), SEVERAL),
    Case("ambiguous_price", "", ld("2.449", "COP"),
         rule="the number can be read in two ways, and the page shows neither"),
    Case("ambiguous_price", CART, ld("1.299", "EUR"), lang="en"),
    Case("1299 EUR now", shown("1.299 €"), ld("1,299", "EUR"), lang="de-DE"),
    # What is stated, where the page shows the same or another; the words for the eye say what kind of price it is.
    Case(ONE, shown("$549.99"), ld("549.99"), rule="the page shows the claimed amount"),
    Case(OTHER, shown("From $549.99"), ld("549.99")),
    Case("549.99 USD monthly", shown("$549.99/mo."), ld("549.99")),
    Case("currency_disagreement", shown("€549.99"), ld("549.99"), rule="the currencies differ"),
    Case(OTHER, CART, SEVERAL),
    Case("599.99 USD now", shown("$599.99"), SEVERAL, rule="the page shows one of several variants"),
    Case("599.99 USD from", shown("From $599.99"), SEVERAL),
    Case("549.99 USD now, was 599.99", shown("<s>$599.99</s> $549.99"), ld("599.99"), rule="the claim is the old price"),
    Case("119.00 EUR now",
         f'<p class="price current-price">119,00 € inkl. MwSt.</p><p class="price">100,00 € netto</p>{CART}',
         ld("100.00", "EUR"), lang="de-DE", rule="the claim is the price before tax"),
    Case("595.00 EUR now", shown("595,00 €"), ld("500.00", "EUR"), lang="de-DE", url=GERMAN),
    Case(ONE, two("$599.99", "$549.99"), ld("549.99"), rule="the page shows the claimed price as well"),
    Case("499.99 USD now", shown("$499.99"), ld("549.99"), PRODUCT_PRICE.format("499.99"),
         rule="scripts side with one of the two"),
    # Two claims that differ: the one amount that people see settles it.
    Case(ONE, shown("$549.99"), ld("549.99"), meta("599.99"), rule="the page shows only one of the claimed amounts"),
    Case("price_disagreement", "", ld("549.99"), meta("599.99"), rule="nothing says which of the claims"),
    Case("price_disagreement", CART, ld("549.99"), meta("649.99", "USD")),
    Case(ONE, shown("$549.99"), ld("549.99"), meta("649.99", "USD")),
    Case("549.99 USD now, was 649.99", '<div><p class="old-price">$649.99</p></div>' + beside("", "$549.99"), ld("549.99"),
         meta("649.99", "USD")),
    Case("price_disagreement", two("$549.99", "$649.99"), ld("549.99"), meta("649.99", "USD")),
    Case("price_disagreement", shown("$499.99"), ld("549.99"), meta("649.99", "USD")),
    Case("price_disagreement", shown("$549.00"), ld("499.00", "EUR"), meta("549.00", "USD")),
    # What people see, where nothing is stated.
    Case(ONE, shown("$549.99"), rule="one price is clearly that of the goods"),
    Case(OTHER, shown("From $549.99")),
    Case("no_price", shown("$22.92/mo.")),
    Case(ONE, beside('<span class="price">$549.99</span>', "$22.92/mo.")),
    Case("ambiguous_price", two("$549.99", "$499.99"), rule="nothing says which of the prices"),
    Case("ambiguous_price", f'<div><span class="price">$649.99</span><span class="price">$549.99</span></div>{CART}'),
    Case("499.00 USD now", beside("", '<span class="was old-price">$499.00</span><span>$499.00</span>')),
    Case("450.00 USD now, was 600.00",
         f'<div><span class="price">$450.00</span> <span class="price">$600.00</span> 25% off</div>{CART}',
         rule="a percentage proves which of two is the old price"),
    # An old price stands beside, is never the price, and is none if it is below the price.
    Case("549.99 USD now, was 649.99", beside('<del class="price">$649.99</del>', "$549.99")),
    Case("549.99 USD now, was 649.99", beside('<del class="price">$649.99</del>', "$549.99"), ld("649.99")),
    Case(ONE, beside('<del class="price">$449.99</del>', "$549.99")),
    Case("price_disagreement", beside('<del class="price">$449.99</del>', "$549.99"), ld("449.99")),
    Case(ONE, f'<div class="product-price"><del class="price">$449.99</del></div>{CART}', ld("549.99")),
    # Tax.
    Case("119.00 EUR now", '<p class="old-price">119,00 €</p><p class="price">100,00 € netto</p>' + CART, lang="de-DE",
         rule="an old price is payable if the same before tax stands beside it"),
    Case("14080 JPY now", '<div class="price"><span>12,800円</span> <span>税込14,080円</span></div>' + CART, lang="ja-JP",
         rule="words say which of two is with tax"),
    *(
        Case(decided, f'<div><span class="price">12,345円</span> <span class="price">税込{gross}</span></div>{CART}',
             lang="ja-JP", url=JAPANESE)
        for gross, decided in (("13,579円", "13579 JPY now"), ("13,580円", "13580 JPY now"), ("13,600円", "ambiguous_price"))
    ),
    # What scripts alone tell, and what they decide.
    Case("549.99 USD now", CART, head='<script>var product_price = "549.99", currency = "USD";</script>',
         rule="scripts state the price"),
    Case(ONE, two("$549.99", "$499.99"), head=PRODUCT_PRICE.format("549.99"), rule="all scripts name one of the prices"),
    Case("ambiguous_price", f"<p>A card for games.</p>{CART}", head=sold("'1.299'")),
    *(Case("1299 EUR now", shown(text), head=sold("1299"), lang="") for text in ("1.299", "1.299 EUR")),
    *(Case("ambiguous_price", shown(text), lang="") for text in ("1.299", "1.299 EUR")),
    # A number without a currency, or with a sign that several share, where the page names one.
    Case("no_currency", shown("549.99"), lang="en"),
    Case("no_currency", shown("549.99", "amount"), lang="en"),
    Case("549.99 EUR now", shown("€549.99", "price"), lang="en"),
    Case("549.99 CAD now", shown("549.99"), head=CAD, lang="en"),
    Case("549.99 CAD now", shown("$549.99"), head=CAD, lang="en"),
    Case("549.99 EUR now", shown("€549.99"), head=CAD, lang="en"),
    Case("549.99 AUD now", shown("$549.99") + AUD, lang="en"),
    Case("no_currency", shown("$549.99") + AUD + NZD, lang="en"),
    # The name of an element, and the words around it.
    *(
        Case(decided, f"<div>{markup}</div>{CART}")
        for decided, markup in (
            (ONE, '<span class="price">$549.99</span>'),
            (ONE, '<span class="price">Regular price $549.99</span>'),
            (ONE, '<span class="regular-price">$549.99</span>'),
            ("no_price", '<span class="old-price">$549.99</span>'),
            ("no_price", '<del><span class="price">$549.99</span></del>'),
            ("no_price", '<span class="price">$549.99</span> <span>/mo.</span>'),
            (OTHER, '<span>From</span> <span class="price">$549.99</span>'),
            ("no_price", '<span>You save</span> <span class="price">$549.99</span>'),
            (ONE, '<span class="price">$549.99</span> <span>excl. VAT</span>'),
            ("549.99 USD now, was 649.99", '<b class="regular-price">$649.99</b> <b class="sale-price">$549.99</b>'),
            ("no_price", "<p>Only this week you get it for $549.99 in our house</p>"),
            ("no_price", '<span class="price shipping-price">$9.99</span>'),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decided}: {case.rule or case.body}"[:90])
def test_what_is_decided_of_a_page_and_by_which_rule(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def recorded(rule: decide.Rule) -> decide.Rule:
        def ask(question: decide.Question) -> decide.Decision | None:
            decision = rule.decide(question)
            asked.extend([rule.reason] if decision is not None else [])
            return decision

        return rule._replace(decide=ask)

    for kind in ("OF_CLAIMS", "OF_DISAGREEING", "OF_NOTHING_PAYABLE", "OF_SIGHT"):
        monkeypatch.setattr(decide, kind, tuple(map(recorded, getattr(decide, kind))))
    head = case.head + (
        told(f'{{"@type": "Product", "name": "{NAME}", "offers": {case.stated}}}') if case.stated else ""
    )
    offer, issues = offer_on(case.url, shop_page(case.body, case.lang, title=NAME, head=head))
    codes = [issue.code for issue in issues]
    old = f", was {offer.list_price}" if offer.list_price else ""
    decided = " ".join([*price_of(offer), *codes]) + old if offer.price else " ".join(codes)  # type: ignore[list-item]
    assert decided == case.decided
    assert asked == [case.rule] or not case.rule


def test_the_text_of_a_price_is_that_on_the_page_and_else_that_for_machines() -> None:
    head = told(f'{{"@type": "Product", "name": "{NAME}", "offers": {ld("549.99")}}}')
    for body, text in ((shown("$549.99"), "$549.99"), (CART, "549.99")):
        assert offer_on(CASES[0].url, shop_page(body, title=NAME, head=head))[0].price_text == text


def test_each_rule_has_its_page() -> None:
    rules = (*decide.OF_CLAIMS, *decide.OF_DISAGREEING, *decide.OF_NOTHING_PAYABLE, *decide.OF_SIGHT)
    assert sorted(rule.reason for rule in rules) == sorted(case.rule for case in CASES if case.rule)
