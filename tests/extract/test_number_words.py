"""The words behind which shops of many countries print a product's numbers, and where else a number stands.

Each word is the shop's own, the maker's or the trade's; `code article` must not be read as `code`.
"""

from __future__ import annotations

import pytest

from gpuledger.extract.words import entries
from gpuledger.items import Offer
from tests.support.html_page import offer_on, shop_page, told

_SKU = """
    SKU | SKU# | SKU No. | SKU Number | SKU ID | SKU Code | Item # | Item# | Item No | Item No.
    Item Number | Item Code | Item ID | Item ref. | Product Code | Product # | Product No.
    Product Number | Product ID | Product Ref | Product Reference | Product SKU
    Product reference number | Article Number | Article No. | Article | Art. No. | Art No | Artnr
    Catalogue Number | Catalog # | Cat No. | Cat. no | Catalog No | Stock Code | Stock # | Stock No.
    Stock Number | Stock ID | Style # | Style No | Style | Style Code | Style Number | Web ID
    Web Code | Webcode | Store SKU | Store SKU # | Internet # | Order Code | Order No. | Our ref
    Ref | Ref. No | Reference | Reference code | Reference number | Quick code | DPCI | TCIN | Code
    Listing ID | Ad ID | Lot number | Lot no. | Product ID / SKU | SKU / Item No. | Artikelnummer
    Artikel-Nr. | Artikel-Nr | Artikel Nr. | Artikelnr. | Art.-Nr. | Art.Nr. | Art-Nr | Art. Nr.
    ArtNr | Art.-No. | Bestellnummer | Bestell-Nr. | Bestell-Nr | Best.-Nr. | Best.Nr.
    Produktnummer | Produkt-Nr. | Produktnr. | Produkt-ID | Produkt ID | Produktcode | Produkt-Code
    Artikel-ID | Artikelcode | Katalognummer | Katalog-Nr. | SKU-Nr. | Anzeigen-ID | Anzeigennummer
    Materialnummer | Artikel | Référence | Réf. | Réf | REF | Code article | Code produit
    N° article | N° d'article | Numéro d'article | Référence produit | Référence article
    Référence du produit | Réf. produit | Réf. article | UGS | Code interne | ID produit
    Réf interne | Referencia | Ref. | Código | Código de producto | Código del producto
    Cód. producto | Código de artículo | Núm. de artículo | Número de artículo
    Número de referencia | Nº de artículo | Nº referencia | Referencia interna | Código interno
    Cod | Publicación | Referencia del producto | Referência | Código do produto | Cód.
    Cód. do produto | Cód | Cód. Item | Cod. Produto | Código do anúncio | Anúncio | Codice
    Codice prodotto | Codice articolo | Cod. prodotto | Cod. articolo | Cod. art. | Cod. Prod.
    Cod. | Art. | Rif. | Riferimento | COD | Numero articolo | Codice art. | Codice interno
    Artikelnr | Art.nr. | Art. nr. | Art.nr | Bestelnummer | Bestelcode | Bestelnr. | Productcode
    Product code | Productnummer | Productnr. | Kod produktu | Kod towaru | Symbol | Indeks
    Nr katalogowy | Numer katalogowy | Nr produktu | Numer produktu | Nr art. | Kod | Kod artykułu
    Numer artykułu | Id produktu | Nr referencyjny | Nr kat. | Kod prod. | Kód | Kód produktu
    Kód zboží | Objednací číslo | Obj. kód | Obj. číslo | Katalogové číslo | Kat. číslo | Kat. č.
    Číslo produktu | Objednací kód | Katalógové číslo | Objednávacie číslo | Číslo tovaru
    Kód tovaru | Cikkszám | Termékkód | Termék kód | Cikkszám (SKU) | Cod produs | Cod articol
    Cod intern | Cod Produs | Код | Код на продукта | Артикул № | Кат. номер | Артикул | Код товара
    Арт. | Номер товара | Код продукта | Код товару | Артикул товара | ID товара | Код артикула
    Šifra | Šifra proizvoda | Šifra artikla | Kataloški broj | Šifra izdelka | Kat. št.
    Kataloška številka | Koda izdelka | Kat. broj | Κωδικός | Κωδικός προϊόντος | Κωδ. | Stok Kodu
    Ürün Kodu | Ürün No | Ürün Numarası | Stok No | Art nr | Varunummer | Varenr | Varenummer
    Vare nr. | Vare-nr. | Varenr. | Artikkelnummer | Artikkelnr | Tuotenumero | Tuotekoodi
    Tuote nro | Tuotenro | Tuote-ID | Tuotenro. | Tootekood | Kood | Preces kods | Produkta kods
    Kods | Artikuls | Prekės kodas | Kodas | 商品コード | 商品番号 | 品番 | 商品ID | 管理番号
    注文番号 | 注文コード | お申込番号 | 商品管理番号 | 製品番号 | 申込番号 | 商品No. | 상품코드
    상품번호 | 상품 번호 | 상품 코드 | 제품번호 | 제품코드 | 자체상품코드 | 자체 상품코드
    상품관리코드 | 품번 | 관리번호 | 상품 고유번호 | 상품ID | 商品編號 | 商品编号 | 貨號 | 货号
    商品貨號 | 產品編號 | 产品编号 | 品號 | 商品代碼 | 編號 | 商品号 | Mã sản phẩm | Mã SP
    Mã hàng | Mã | รหัสสินค้า | รหัส | Kode produk | Kode | رقم المنتج | رمز المنتج | كود المنتج
    מק"ט | מקט
    """
_MPN = """
    MPN | Part Number | Part No. | Part # | P/N | PN | Manufacturer Part Number
    Manufacturer part no. | Mfr Part # | Mfg Part No. | Mfr. # | Manufacturer number
    Manufacturer's code | Model | Model # | Model No. | Model Number | Item model number
    Vendor code | Supplier code | Herstellernummer | Hersteller-Nr. | Herstellernr.
    Herstellerartikelnummer | Hersteller Art.-Nr. | Hersteller-Artikelnummer | Hersteller-Art.-Nr.
    HAN | Teilenummer | Modellnummer | Modell | Référence fabricant | Réf. fabricant
    Référence constructeur | Modèle | Referencia del fabricante | Ref. fabricante | Modelo
    Part number | Nº de pieza | Número de modelo | Codice produttore | Cod. produttore | Modello
    Fabrikantcode | Modelnummer | Artikelnummer fabrikant | Kod producenta | Symbol producenta
    Model producenta | Gyári cikkszám | Kód výrobce | Výrobní číslo | P/N výrobce | Cod producător
    Код производителя | Модель | Tillverkarens artikelnummer | Producentens varenummer
    Valmistajan tuotenumero | 型番 | メーカー型番 | メーカー品番 | モデル | 型號 | 型号 | 모델명
    모델번호 | 제조사 코드 | דגם | Üretici Kodu
    """
_GTIN = """
    EAN | EAN-13 | EAN13 | EAN code | EAN-Code | EAN Code | EAN Nummer | EAN-Nummer | EAN/GTIN
    GTIN | GTIN-13 | GTIN/EAN | UPC | UPC/EAN | Barcode | Bar code | Strichcode | Code-barres
    Code barre | Gencod | Código de barras | Codice EAN | Codice a barre | Kod EAN | Kod kreskowy
    EAN kód | Vonalkód | Штрихкод | JAN | JANコード | 바코드 | 條碼 | ISBN | ISBN-13 | EAN-kod
    Streckkod | Barkod
    """

NUMBERS = {"sku": "KX-20417", "mpn": "KX-20417", "gtin": "4006381333931"}
WORDS = [(field, word) for field, table in (("sku", _SKU), ("mpn", _MPN), ("gtin", _GTIN)) for word in entries(table)]
#: In one text, and in two cells.
FORMS = (
    "<p>{word}: {number}</p>",
    "<table><tr><th>{word}</th><td>{number}</td></tr></table>",
)


def read(markup: str, head: str = "", path: str = "p/kompressor") -> Offer:
    """The offer of a page with this markup beside its price."""
    body = f'<p class="price">189,90 €</p>{markup}<button class="btn-buy">In den Warenkorb</button>'
    return offer_on(f"https://werk.example.de/{path}", shop_page(body, "de", title="Kompressor Alu", head=head))[0]


@pytest.mark.parametrize("form", FORMS)
def test_the_number_behind_each_word(form: str) -> None:
    missed = []
    for field, word in WORDS:
        number = NUMBERS[field]
        offer = read(form.format(word=word, number=number))
        found = [name for name in NUMBERS if getattr(offer, name) == number]
        if found != [field]:
            missed.append((word, field, found))
    assert missed == []


def ld(**numbers: str) -> str:
    """A JSON-LD product that is the page's own."""
    offer = {"@type": "Offer", "price": "189.90", "priceCurrency": "EUR"}
    return told({"@type": "Product", "name": "Kompressor Alu", **numbers, "offers": offer})


#: name: the markup, the head, and the shop's number.
PLACES = {
    "on a line of its own, far from the margin": (
        f"<span>{' ' * 40}SKU:\n{' ' * 30}746423\n{' ' * 30}</span>",
        "",
        "746423",
    ),
    "in a part that is named after a product's specification, and not after products": (
        '<div class="productSpecificationBox--3x5"><ul><li><strong>Product Code - </strong>39139301</li></ul></div>',
        "",
        "39139301",
    ),
    "in an element that only the shop's tests know by name": (
        '<p><span data-qa-qualifier="product-reference">0210/088</span></p>',
        ld(sku="56256011-999-99", mpn="56256011-999-99"),
        "0210/088",
    ),
    "one of several, which the address names": (
        "<p>Art.-Nr.: 903.294.89</p><p>Art.-Nr.: 992.775.08</p>",
        "",
        "992.775.08",
    ),
    "in an element that a theme defines": ("<variant-sku>SKU: KG-CH-01</variant-sku>", "", "KG-CH-01"),
    "behind a colon in an element of its own": (
        "<span>Artikelnummer</span><span>: </span><span>KG-117</span>",
        "",
        "KG-117",
    ),
    "in Cyrillic": ("<p>Артикул: ДУ-650</p>", "", "ДУ-650"),
    "to machines, where none is printed": ("", ld(sku="11-22", mpn="KX-9"), "11-22"),
    "of the maker to machines, of the shop for people": ("<p>Artikelnummer: 4711</p>", ld(mpn="KX-9"), "4711"),
}


@pytest.mark.parametrize("name", PLACES)
def test_where_a_number_stands(name: str) -> None:
    markup, head, number = PLACES[name]
    path = "p/kompressor-s99277508" if "address" in name else "p/kompressor"
    assert read(markup, head, path).sku == number


@pytest.mark.parametrize(
    "markup",
    [
        "<p>Code promo: SAVE10</p>",
        "<p>Codes: 20 % mit SAVE10</p>",
        "<p>Referenzen: seit 1998 im Handel</p>",
        "<p>Typ: A1</p>",
    ],
)
def test_other_words_name_no_number(markup: str) -> None:
    assert read(markup).sku is None
