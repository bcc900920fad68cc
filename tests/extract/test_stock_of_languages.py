"""What shops of twenty languages print about stock, on a page and in a quote: `stock_phrases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.extract.items import Offer
from tests.extract.pages import quoted
from tests.support.html_page import offer_on

PHRASES = tomllib.loads(Path(__file__).with_name("stock_phrases.toml").read_text("utf-8"))
PRICES = {"en": "$999.00", "ja": "109,800円", "ko": "1,399,000원", "zh": "NT$35,990", "ru": "99 990 ₽"}
LOCALES = {"en": "en-us", "zh": "zh-tw", "ru": "ru-ru"}
TITLE = "Norvik GeForce RTX 5080 16GB"
LD = (
    f'<script type="application/ld+json">{{"@context":"https://schema.org","@type":"Product","name":"{TITLE}",'
    '"offers":{"@type":"Offer","price":"999","priceCurrency":"USD","availability":"InStock"}}</script>'
)
GONE, NOT_SOLD = ("out_of_stock",), ("out_of_stock", "unknown")
#: How a phrase of each kind stands on a page, and what may come of it.
SHAPES: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {
    "stock": [("", "<p>{}</p>", ("in_stock",))],
    "cart": [("", "<button>{}</button>", ("in_stock",)), ("", "<button disabled>{}</button>", NOT_SOLD)],
    "sold_out": [
        ("", '<p class="box">{}</p>', GONE),
        ("", "<button>{}</button>", GONE),
        ("", '<div><img alt="{}" src="x.png"></div>', GONE),
        # In stock to machines, and to people it is not: it is never simply in stock.
        (LD, "<button disabled>{}</button>", NOT_SOLD),
        (LD, "<p>{}</p>", NOT_SOLD),
    ],
    "to_come": [("", "<button>{}</button>", ("preorder", "out_of_stock"))],
}


def _said(language: str) -> Iterator[tuple[str, str]]:
    return ((kind, phrase) for kind, phrases in PHRASES[language].items() for phrase in phrases)


@pytest.mark.parametrize("language", PHRASES)
def test_on_a_page(language: str) -> None:
    wrong = []
    for kind, phrase in _said(language):
        for head, shape, right in SHAPES[kind]:
            body = f'<h1>{TITLE}</h1><p class="price">{PRICES.get(language, "999,00 €")}</p>{shape.format(phrase)}'
            html = f'<html lang="{LOCALES.get(language, language)}"><head>{head}</head><body>{body}</body></html>'
            offer, _ = offer_on("https://shop.example/p/1", html)
            if offer.availability not in right:
                wrong.append((phrase, shape, offer.availability))
    assert not wrong


@pytest.mark.parametrize("language", PHRASES)
def test_in_a_quote(language: str) -> None:
    wrong = []
    for kind, phrase in _said(language):
        if kind == "cart":
            continue
        content = f'product;price;currency;availability\n{TITLE};999.00;EUR;"{phrase}"\n'
        (offer,) = [item for item in quoted(content) if isinstance(item, Offer)]
        if (offer.availability in ("in_stock", "quoted")) != (kind == "stock"):
            wrong.append((phrase, offer.availability))
    assert not wrong
