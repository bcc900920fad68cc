"""The one vocabulary: what a shop's sentence says, in twenty languages (`stock_phrases.toml`), everywhere the same."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.extract import words
from gpuledger.extract.price import money
from gpuledger.items import Offer
from tests.extract.pages import quoted
from tests.support.html_page import offer_on

#: Sold out and in stock in the languages of the shops, as they stand on a badge, a list's card or in a quote.
STOCK = {
    "en": ("Sold out", "In stock"), "de": ("nicht lieferbar", "Auf Lager"), "fr": ("Rupture de stock", "En stock"),
    "es": ("Agotado", "Disponible"), "it": ("Non disponibile", "Disponibile"), "pt": ("Esgotado", "Em stock"),
    "nl": ("Uitverkocht", "Op voorraad"), "pl": ("Zapas wyczerpany", "W magazynie"), "cs": ("Není skladem", "Skladem"),
    "sv": ("Slut i lager", "I lager"), "da": ("Udsolgt", "På lager"), "fi": ("Loppunut varastosta", "Varastossa"),
    "ru": ("Нет в наличии", "В наличии"), "ja": ("売り切れ", "在庫あり"), "ko": ("일시품절", "재고 있음"),
    "zh": ("缺货", "现货"), "no": ("Utsolgt", "På lager"), "sk": ("Vypredané", "Na sklade"), "hu": ("Elfogyott", "Raktáron"),
    "tr": ("Tükendi", "Stokta var"), "th": ("สินค้าหมด", "มีสินค้า"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Bald wieder auf Lager", "preorder"), ("Lagernd ab 12.12.2026", "preorder"), ("Brzy skladem", "preorder"),
        ("Ab 1. Dezember auf Lager", "preorder"), ("Will be available in 3 weeks", "preorder"),
        ("Åter i lager 12 dec", "preorder"),
        ("В наличии с 12.12.2026", "preorder"), ("Was in stock 3 days ago", "out_of_stock"),
        ("Last in stock in May", "out_of_stock"),
        ("War bis gestern auf Lager", "out_of_stock"), ("In stock, delivery by 12 December", "in_stock"),
        ("In stock since 12 November", "in_stock"), ("Last 3 in stock", "in_stock"), ("Back in stock", "in_stock"),
        ("Skladem, u vás 12. 12.", "in_stock"), ("Sofort lieferbar, Lieferzeit 1-3 Tage", "in_stock"),
    ],
)  # fmt: skip
def test_stock_of_another_time_is_not_there_now(text: str, status: str) -> None:
    assert words.availability(text) == status


@pytest.mark.parametrize("language", STOCK)
def test_stock_in_every_language(language: str) -> None:
    gone, there = STOCK[language]
    for form in (str, str.upper, lambda text: f"{text}!", lambda text: f"  {text} (Online)"):
        assert words.availability(form(gone)) == "out_of_stock"
        assert words.availability(form(there)) == "in_stock"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # Negation, before and behind.
        ("not yet available", "out_of_stock"), ("momentan leider nicht auf Lager", "out_of_stock"),
        ("pas en stock", "out_of_stock"),
        ("ei varastossa", "out_of_stock"), ("在庫がありません", "out_of_stock"), ("没有现货", "out_of_stock"),
        ("not sold out", None), ("nicht ausverkauft", None),
        # Numbers of pieces.
        ("0 in stock", "out_of_stock"), ("Lagerbestand: 0", "out_of_stock"), ("재고 0", "out_of_stock"),
        ("10 auf Lager", "in_stock"),
        ("Stock: 12 pcs", "in_stock"), ("Only 3 left", "in_stock"), ("残り2点", "in_stock"),
        # What it is about.
        ("Image not available", None), ("Bild nicht verfügbar", None), ("Photo non disponible", None),
        ("Video coming soon", None),
        ("Available in three colours", None), ("Pickup unavailable", None), ("unavailable for pickup", None),
        ("Zdjęcie niedostępne", None), ("In stock. Free shipping available", "in_stock"),
        # Words, and not parts of words.
        ("Lagerung bei 20 Grad", None), ("stockings", None), ("Bestandsschutz", None), ("unavailability statement", None),
        # Still to come.
        ("Coming soon", "preorder"), ("Lieferbar ab 12.12.", "preorder"), ("預購", "preorder"),
        ("사전 예약 판매", "preorder"),
        # A button that puts the goods into the cart; one that tells when they are back.
        ("In den Warenkorb", "in_stock"), ("カートに入れる", "in_stock"), ("Notify me when back in stock", "out_of_stock"),
        ("Benachrichtigen", "out_of_stock"), ("Lieferzeit 3 Tage", None), ("", None),
    ],
)  # fmt: skip
def test_what_a_sentence_says_about_stock(text: str, says: str | None) -> None:
    assert words.availability(text) == says


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("This item is currently sold out", "out_of_stock"), ("Leider nicht mehr verfügbar", "out_of_stock"),
        ("Czasowo niedostępny", "out_of_stock"), ("Availability: in stock", "in_stock"),
        ("If an item is sold out, we refund it", None), ("Gift cards are always available", None),
    ],
)  # fmt: skip
def test_a_line_that_is_a_status(line: str, says: str | None) -> None:
    assert words.status_of_line(line) == says


def test_every_word_can_be_searched_for() -> None:
    for topic in ("stock", "condition", "tax", "price", "goods", "order", "delivery"):
        for meaning in words.meanings(topic):
            assert words.pattern(topic, meaning).search("") is None, f"{topic}, {meaning}: a word is empty"


@pytest.mark.parametrize(
    "text",
    ["1599 ± 5%", "1599 USD ±10", "1599 +-5%", "1599..00", "$1,599 +/- 20", "1.599,,00 €", "1599 plus or minus 5"],
)
def test_an_amount_that_is_not_exact_is_no_price(text: str) -> None:
    assert not isinstance(money.read_price(text, currency="USD", country="US"), money.Money)
    assert isinstance(money.read_price("$1,599.00", country="US"), money.Money)


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
