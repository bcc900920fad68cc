"""From bytes to what they say: charset, tree, tables, and structured data as shops write it."""

from __future__ import annotations

import re

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.extract.markup import charset, jsonld, structured
from gpuledger.extract.markup.html import soup, tree, visible_text
from gpuledger.extract.markup.structured import StructuredProduct
from gpuledger.extract.markup.tables import Table, cell_text, read_tables

URL = "https://shop.example.com/p/1"


def read(html: str) -> list[StructuredProduct]:
    return structured.products(tree(html.encode(), "text/html; charset=utf-8"), URL)


def script(text: str) -> str:
    return f'<html><head><script type="application/ld+json">{text}</script></head><body></body></html>'


@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "Product", /* a comment */ "name": "Card", "offers": {"price": "5",},}',
        '<!--{"@type": "Product", "name": "Card", "offers": {"price": "5"}}-->',
        '[{"@type": "Product", "name": "Card", "offers": {"@id": "#o"}}, {"@type": "Offer", "@id": "#o", "price": "5"}]',
        '{"@type": "Product", "name": "Card", "offers": ["$5", 5, null, {"price": "5"}]}',
    ],
)
def test_json_ld_however_it_is_written(text: str) -> None:
    (found,) = [product for product in read(script(text)) if product.name]
    assert (found.name, [offer.price for offer in found.offers]) == ("Card", ["5"])


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", "][", "true", "NaN", '{"price": 1e999}', "[" * 10_000, '"', "undefined"]
)
def test_json_ld_that_says_nothing(text: str) -> None:
    assert read(script(text)) == []


def test_numbers_stay_as_they_are_written() -> None:
    assert jsonld.loads('{"price": 1299.90, "big": 12345678901234567890}') == {
        "price": "1299.90",
        "big": "12345678901234567890",
    }


def test_a_missing_value_may_be_the_word_null() -> None:
    text = '{"@type": "Product", "name": "Card", "sku": "null", "brand": {"name": "undefined"}, "offers": null}'
    (found,) = read(script(text))
    assert (found.sku, found.brand, found.offers) == (None, None, ())


@pytest.mark.parametrize(
    ("word", "expected"),
    [("https://schema.org/InStock", "in_stock"), ("http://schema.org/OutOfStock", "out_of_stock"),
     ("SoldOut", "out_of_stock"), ("schema:PreOrder", "preorder"), ("in stock", "in_stock"),
     ("Sold out", "out_of_stock"), ("BackOrder", "preorder"),
     ("LimitedAvailability", "in_stock"), ("true", "in_stock"), ("whatever", None), ("null", None)],
)  # fmt: skip
def test_availability_as_address_or_word(word: str, expected: str | None) -> None:
    text = f'{{"@type": "Product", "name": "Card", "offers": {{"price": "5", "availability": "{word}"}}}}'
    assert read(script(text))[0].offers[0].availability == expected


def test_aggregates() -> None:
    (outer,) = read(
        script("""{"@type": "Product", "name": "Card", "offers": {"@type": "AggregateOffer", "lowPrice": "5",
        "highPrice": 9, "priceCurrency": "eur"}}""")
    )
    assert [(o.price, o.high_price, o.currency, o.kind) for o in outer.offers] == [("5", "9", "EUR", "from")]
    (inner,) = read(
        script("""{"@type": "Product", "name": "Card", "offers": {"@type": "AggregateOffer", "lowPrice": "5",
        "offers": [{"price": "5"}, {"price": "9"}]}}""")
    )
    assert [(o.price, o.kind) for o in inner.offers] == [("5", "now"), ("9", "now")]


def test_variants_of_a_group() -> None:
    found = read(
        script("""{"@type": "ProductGroup", "name": "Card", "hasVariant": [
        {"@type": "Product", "name": "Card 8GB", "offers": {"price": "5"}},
        {"@type": "Product", "name": "Card 16GB", "offers": {"price": "9"}}]}""")
    )
    assert [variant.name for variant in found[0].variants] == ["Card 8GB", "Card 16GB"]


def test_a_price_by_weight_is_not_the_price() -> None:
    (found,) = read(
        script("""{"@type": "Product", "name": "Paste", "offers": {"priceCurrency": "EUR", "priceSpecification": [
        {"price": "600", "referenceQuantity": {"value": "1", "unitCode": "KGM"}}, {"price": "6.00"}]}}""")
    )
    assert found.offers[0].price == "6.00"


MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Card</h1>
    <div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="5.00">
    <meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock"></div></div>"""
RDFA = re.sub(r'itemscope itemtype="https://schema.org/(\w+)"', r'typeof="\1"', MICRODATA).replace(
    "itemprop", "property"
)


@pytest.mark.parametrize(
    ("html", "syntax"),
    [
        (MICRODATA, "microdata"),
        (RDFA, "rdfa"),
        (re.sub(r'(property|typeof)="', r'\1="schema:', RDFA), "rdfa"),
        (RDFA.replace("<link", "<span").replace("href", "resource"), "rdfa"),
    ],
)
def test_attributes_of_elements(html: str, syntax: str) -> None:
    (found,) = read(html)
    assert (found.syntax, found.name) == (syntax, "Card")
    assert [(o.price, o.currency, o.availability) for o in found.offers] == [("5.00", "EUR", "in_stock")]


def test_what_is_no_goods_is_left_out() -> None:
    assert read(script('{"@type": "Organization", "name": "Shop", "offers": {"price": "5"}}')) == []
    assert read(script('{"@type": "Event", "name": "Fair"}')) == []


def test_text_comes_out_as_it_was_written() -> None:
    page = '<html lang="ko"><p>가격 1.299,00 €</p></html>'
    assert tree(page.encode()).findtext(".//p") == "가격 1.299,00 €"
    assert tree(page.encode("utf-16")).findtext(".//p") == "가격 1.299,00 €"
    assert tree(page.encode("cp949", "replace"), "text/html; charset=euc-kr").findtext(".//p") == "가격 1.299,00 €"
    assert soup(page.encode()).find("p").get_text() == "가격 1.299,00 €"  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"   ", b"<!-- only this -->", b"\x00", b"text", b"<p>x", b"\xff\xfe\xfd"])
def test_any_bytes_give_an_html_element(content: bytes) -> None:
    assert tree(content).tag == "html"


def test_a_declared_xml_encoding_is_no_error() -> None:
    assert tree(b'<?xml version="1.0" encoding="utf-8"?><html lang="de"><p>x</p></html>').get("lang") == "de"


def test_nothing_is_lost_behind_a_nul() -> None:
    assert tree(b"<html><p>a\x00b</p><p>c</p></html>").text_content() == "abc"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>63<sup>07</sup> <span>Lei</span></p>", "63.07 Lei"),
        ("<p>1.299<sup>99</sup> €</p>", "1.299,99 €"),
        ('<p>1,299<span class="price-cents">99</span></p>', "1,299.99"),
        ("<p>1,299<span>.</span><span>99</span></p>", "1,299.99"),
        ("<p>$1299<span>99</span></p>", "$1299 99"),
        ("<p>1<b>299</b> zł</p>", "1299 zł"),
        ("<p>12<b>99</b> zł</p>", "12 99 zł"),
        ("<p>1 299 €<sup>99</sup></p>", "1 299,99 €"),
        ("<p>$549<small>99</small></p>", "$549.99"),
        ("<p>a<script>x</script>b<style>y</style> <!-- c -->d</p>", "a b d"),
        ('<p>5 €<span style="display: none">9 €</span><i hidden>8 €</i></p>', "5 €"),
        ("<p>1&nbsp;299,00&nbsp;€\n  </p>", "1\u00a0299,00\u00a0€"),
        ("<p></p>", ""),
    ],
)  # fmt: skip
def test_what_the_eye_joins_and_parts(markup: str, text: str) -> None:
    assert visible_text(lxml.html.fragment_fromstring(markup)) == text


def test_a_long_text_is_cut() -> None:
    assert 10 < len(visible_text(lxml.html.fragment_fromstring(f"<p>{'<b>word </b>' * 1000}</p>"), 20)) < 40


def tables(html: str) -> list[Table]:
    return list(read_tables(soup(html.encode(), "text/html; charset=utf-8")))


def one(html: str) -> Table:
    (found,) = tables(html)
    return found


CARD, PLACE = "<tr><td>Graphics Card<td>Score<tr><td>card<td>1", "Header Cell - Column"


@pytest.mark.parametrize(
    ("html", "header", "rows"),
    [
        # The header is that of thead, or the first row; one of placeholders only gives way to the row below it.
        (f"<thead><tr><th>{PLACE} 0<th>{PLACE} 1</thead>{CARD}", ("Graphics Card", "Score"), [("card", "1")]),
        # Inline markup joins, line breaks part, widgets and scripts are no content, and spaces are of one kind.
        ("<tr><td>A<td>B<tr><td><b>1</b>,599<td>100.0%<br>(143.1fps)<!-- 7 --><script>8</script>", ("A", "B"),
         [("1,599", "100.0% (143.1fps)")]),
        # Short rows are filled, and empty ones left out.
        ("<tr><td>A<td>B<tr><td>1<tr><td> <td>", ("A", "B"), [("1", "")]),
    ],
)  # fmt: skip
def test_header_and_rows_of_a_table(html: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    found = one(f"<table>{html}</table>")
    assert (found.header, list(found.rows)) == (header, rows)


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "99999999999", "²"])
def test_odd_spans_do_no_harm(span: str) -> None:
    found = one(f'<table><tr><th>A<th>B<tr><td colspan="{span}">1<td>2</table>')
    assert found.rows[0][0] == "1"
    assert "2" in found.rows[0]
    assert len(found.header) <= 101


def test_a_title_above_the_header_is_the_caption() -> None:
    found = one("<table><tr><td colspan=2>Ranking<tr><td>Card<td>Score<tr><td>x<td>1</table>")
    assert (found.caption, found.header) == ("Ranking", ("Card", "Score"))


def test_caption_figcaption_heading() -> None:
    assert one("<h2>Head</h2><table><caption>Cap</caption><tr><td>A<tr><td>1</table>").title == "Cap"
    figure = "<h2>Head</h2><figure><table><tr><td>A<tr><td>1</table><figcaption>Fig</figcaption></figure>"
    assert one(figure).title == "Fig"
    found = one("<h2>Head</h2><table><tr><td>A<tr><td>1</table>")
    assert (found.caption, found.heading, found.title) == ("", "Head", "Head")


def test_widgets_are_no_content() -> None:
    widget = '<aside class="hawk-placeholder"><table><tr><td>A<tr><td>$1</table></aside>'
    assert tables(widget) == []
    assert tables(widget.replace("aside", "div").replace("class=", "data-widget-type=")) == []


def test_a_table_inside_a_table_is_its_own() -> None:
    outer, inner = tables("<table><tr><td>A<tr><td>x <table><tr><td>B<tr><td>y</table></table>")
    assert (outer.header, outer.rows) == (("A",), (("x",),))
    assert (inner.header, inner.rows) == (("B",), (("y",),))


def test_empty_tables_are_left_out() -> None:
    assert tables("<table></table><table><tr></table><table><tr><th>A<th>B</table>") == []


def test_find_asks_for_words() -> None:
    found = one("<table><tr><td>Card<td>1440p Ultra<tr><td>x<td>1</table>")
    assert found.find(re.compile("1440p")) == 1
    assert found.find(re.compile("4K")) is None


_PIECES = """
<table> </table> <tr> </tr> <td> <th> <thead> <caption> </caption> <h2> </h2> <aside> </aside> <br> <figure> <b> a 1
"""
_MARKUP = st.lists(
    st.sampled_from([*_PIECES.split(), " ", "Row 0 - Cell 1", "<td colspan=3 rowspan=2>"]), max_size=60
).map("".join)


@given(_MARKUP)
def test_any_markup_gives_rectangles(html: str) -> None:
    for found in tables(html):
        assert found.header
        assert all(len(row) == len(found.header) for row in found.rows)


@given(st.text(max_size=40))
def test_cell_text_is_one_line(text: str) -> None:
    document = soup(b"<p></p>")
    paragraph = document.p
    paragraph.string = text
    found = cell_text(paragraph)
    assert "\n" not in found
    assert found == found.strip()


TEXTS = {
    "Korean": ("그래픽카드 최저가 비교 지포스 1,234,000원 무료배송 상품평 오늘 출발 정품 등록", "cp949"),
    "Japanese (Shift JIS)": ("グラフィックボード 価格比較 送料無料 在庫あり 翌日配送 税込み 12,800円", "cp932"),
    "Japanese (EUC)": ("グラフィックボード 価格比較 送料無料 在庫あり 翌日配送 税込み", "euc_jp"),
    "Chinese": ("显卡 价格 对比 有货 包邮 正品 保证 今日发货 12GB", "gb18030"),
    "Chinese (Taiwan)": ("顯示卡 價格 比較 有貨 免運費 正品 保證 今日出貨", "big5"),
    "Polish (Windows)": ("Karta graficzna cena 1 299,00 zł dostępność wysyłka gratis żółć gęślą jaźń", "cp1250"),
    "Polish (Latin 2)": ("Karta graficzna cena 1 299,00 zł dostępność wysyłka gratis żółć gęślą jaźń", "iso8859-2"),
    "German": ("Grafikkarte für Spieler — Preis 1.299,00 € verfügbar Größe Lüfter geräuschlos", "cp1252"),
    "French": ("Carte graphique à prix réduit 1 299,00 € livraison gratuite été déjà", "cp1252"),
    "Russian": ("Видеокарта цена 99 990 руб. в наличии доставка бесплатно", "cp1251"),
    "Turkish": ("Ekran kartı fiyatı 12.999,00 TL ücretsiz kargo stokta şık güçlü", "cp1254"),
    "one no-break space": ("RTX 4090 price 1\xa0299 only", "cp1252"),
    "one pound sign": ("RTX 4090 now £1,299.00 in stock", "cp1252"),
}
DECLARED = [
    None,
    "right",
    "utf-8",
    "iso-8859-1",
    "windows-1252",
    "euc-kr",
    "shift_jis",
    "windows-1250",
    "hex",
    "nonsense",
]


def page(text: str, declared: str | None) -> str:
    meta = f'<meta charset="{declared}">' if declared else ""
    return f"<html><head>{meta}<title>x</title></head><body>{f'<p>{text}</p>' * 20}</body></html>"


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("by_header", [True, False], ids=["header", "meta"])
def test_bytes_decide_and_declarations_only_choose_among_what_fits(
    language: str, declared: str | None, by_header: bool
) -> None:
    text, encoding = TEXTS[language]
    label = encoding if declared == "right" else declared
    html = page(text, None if by_header else label)
    content_type = f"text/html; charset={label}" if by_header and label else "text/html"
    assert charset.decode(html.encode(encoding), content_type) == html


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("language", TEXTS)
def test_utf_8_is_read_as_such_whatever_is_declared(language: str, declared: str | None) -> None:
    html = page(TEXTS[language][0], declared)
    assert charset.decode(html.encode(), f"text/html; charset={declared}") == html


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_with_a_mark_or_wide_letters(encoding: str) -> None:
    html = page("그래픽카드 1,234,000원 £5", "iso-8859-1")
    assert charset.decode(html.encode(encoding), "text/html; charset=utf-8") == html


def test_a_7_bit_charset_needs_its_declaration() -> None:
    html = page("グラフィックボード 価格比較", "iso-2022-jp")
    assert charset.decode(html.encode("iso2022_jp")) == html


@pytest.mark.parametrize("damage", [b"\xff", b"\xa3", "가".encode()[:2]])
def test_a_few_damaged_bytes_do_not_turn_a_utf_8_page_into_noise(damage: bytes) -> None:
    good = page("그래픽카드 1,234,000원", "utf-8").encode()
    text = charset.decode(good + damage, "text/html; charset=utf-8")
    assert "1,234,000원" in text
    assert text.endswith("\ufffd")


def test_a_korean_page_cut_in_a_letter_is_still_korean() -> None:
    content = (
        page("그래픽카드 1,234,000원", "euc-kr").encode("cp949").split("카".encode("cp949"))[0] * 9
        + "카".encode("cp949")[:1]
    )
    assert "그래픽" in charset.decode(content)


def test_web_labels_mean_what_browsers_take_them_for() -> None:
    html = page("Preis 1.299,00 € — „günstig“", "iso-8859-1")
    assert charset.decode(html.encode("cp1252"), "text/html; charset=ISO-8859-1") == html


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "text/html; charset=euc-kr", "charset=", "charset=hex", "charset='utf-7'"]),
)
def test_any_bytes_are_read_somehow(content: bytes, content_type: str | None) -> None:
    assert isinstance(charset.decode(content, content_type), str)


@given(st.text(max_size=200))
def test_utf_8_survives(text: str) -> None:
    if not text.startswith("\ufeff") and "\x00" not in text:
        assert charset.decode(text.encode("utf-8", "ignore")) == text.encode("utf-8", "ignore").decode()
