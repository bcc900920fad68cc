"""Pages are read in the charset that their bytes are in, whatever they and their server say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.extract.markup import charset

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
