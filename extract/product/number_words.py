"""Words that stand before a product's numbers, in the languages of the shops."""

from __future__ import annotations

import re
from typing import Literal

from gpuledger.extract.words import anywhere, entries

Field = Literal["sku", "mpn", "gtin"]


#: The first letters of the labels, up to three of each. A text that begins otherwise is not looked at closer.
BEGINNINGS: set[str] = set()
_LITERAL = re.compile(r"[^\W\d_](?:/?(?:[^\W\d_]|°))*")


def labels(table: str, behind: str = "") -> re.Pattern[str]:
    """A pattern for a text that begins with one of the words of `table`, which ` | ` and line ends separate.

    `behind` is a pattern for what must stand behind the word. Raises ValueError if a word does not begin with a letter: the
    first letters of a text decide whether it is looked at closer.
    """
    patterns = entries(table)
    for word in patterns:
        beginning = _LITERAL.match(word)
        if beginning is None:
            raise ValueError(f"the label {word!r} begins with no letter")
        BEGINNINGS.add(beginning.group()[:3].lower())
    return re.compile(r"[\s(〈<\[]*(?:" + "|".join(patterns) + r")(?![^\W\d_])" + behind, re.IGNORECASE)


#: The number or nothing stands behind the word for a number, so that in `Code article: 12` the word is not `Code`.
_A_NUMBER = (
    r"(?:\s?[/(]\s?(?:sku|ref\.?|id|code|item (?:no|number)\.?|ean|gtin|upc)\)?)?"
    r"(?=[\W_]{0,8}(?:$|\S*\d|(?-i:[A-Z]{2,}[-_.][A-Z])))"
)

#: Tried in this order, because a maker's number is often called an article number too.
LABELS: tuple[tuple[Field, re.Pattern[str]], ...] = (
    (
        "gtin",
        labels(
            r"""
            ean(?:[- ]?(?:13|8|code|nummer|kod|kód|no|nr|number))?\.? | gtin(?:-?1[234])? | upc(?: code)? | bar ?code
            isbn(?:-?1[03])?
            jan(?:コード)? | kod (?:ean|kreskowy) | strichcode | code[- ]barres? | gencod(?:e)? | código de barras
            codice (?:ean|a barre) | vonalkód | čárový kód | штрих-?код | streckkod | strekkode | stregkode | barkod
            바코드 | 條碼 | 条码 | 国际条码 | 商品條碼
            """,
            _A_NUMBER,
        ),
    ),
    (
        "mpn",
        labels(
            r"""
            mpn | mf[gr]\.?(?: part)?(?: (?:no|number)\.?)?
            manufacturer(?:['’]s)? (?:part|ref\w*|code|model|product|number)(?: (?:no|number|id))?\.?
            part ?(?:no|number|nr|\#)\.? | p/n(?: výrobce)? | pn(?=\s*(?::|$)) | han(?=\s*(?::|$)) | partnumm?er
            onderdeelnummer
            model(?: no| number| nr| name| producenta)?\.? | item model(?: (?:no|number))?\.? | vendor code | supplier code
            hersteller[- ]?(?:nummer|nr|artikelnummer|teilenummer|art\.?[- ]?nr)\.? | teilenummer
            artikelnummer (?:hersteller|des herstellers|fabrikant|leverancier) | fabrikantcode
            réf(?:érence|\.)? (?:du )?(?:fabricant|constructeur) | ref(?:erencia|\.)? (?:del )?fabricante
            código (?:del )?fabricante | nº de pieza | número de (?:modelo|pieza)
            tillv(?:erkar\w*|\.)? ?(?:artikel)?(?:nr|nummer)\.? | producent(?:ens?)? ?(?:vare|artikel)(?:nr|nummer)\.?
            produsentens? (?:vare|artikkel)(?:nr|nummer)\.? | valmistajan (?:tuotenumero|tuotekoodi|koodi)
            cod(?:ice)?\.? (?:del )?produttore | cod producător
            kod producenta | symbol producenta | part ?number | oem | メーカー[型品]番 | 型番 | 型號 | 型号 | モデル
            제조사 ?코드
            모델(?:명|번호)? | kód výrobc[eu] | výrobní číslo | gyár(?:i|tói) cikkszám | код производителя | модель
            modell?(?:nummer|nr|o)? | modelo | modèle | üretici kodu | דגם
            """,
            _A_NUMBER,
        ),
    ),
    (
        "sku",
        labels(
            r"""
            i/n | ilan no | İlan no | listing no\.?
    sku(?:[- ]?(?:no|nr|num(?:ber)?|code|id|\#))?\.? | store sku(?: ?\#)?
            item(?: ?(?:no|nr|num(?:ber)?|code|id|ref|\#))\.? | item(?=\s\d{5}) | item(?=:\s*[A-Z\d]*\d[A-Z\d-]{3,})
            article(?: ?(?:no|nr|number|code|id))?\.?
            product(?: ?(?:code|id|no|number|ref\w*|reference number|sku|\#))\.? | product(?=:\s*[A-Z]{0,4}\d{5})
            prod\.? ?code | cat(?:alog(?:ue)?)?\.? ?(?:no|nr|number|code|\#)\.? | web ?(?:code|id) | internet \#
            stock (?:no|code|number|id|\#)\.? | style(?: (?:no|code|number|\#))?\.? | model-id
            order (?:code|no|number|\#)\.?
            our ref\.? | ref(?:erence|erencia|\.)?(?: ?(?:code|no|number|nr))?\.? | asin | dpci | tcin | quick code | code
            post id | listing id | ad id | lot (?:no|number|\#)\.? | kavelnummer | anzeigen-?(?:id|nr|nummer)\.?
            artikel(?:[- ]?(?:nr|no|nummer|id|code))?\.? | art\.?[- ]?(?:nr|no|nummer)\.? | art\.
            best(?:ell)?\.?[- ]?(?:nr|nummer)\.? | produkt[- ]?(?:nummer|nr|code|id)\.? | katalog-?(?:nr|nummer)\.?
            materialnummer | interne referenz | referenz | internal reference
            référence(?: (?:interne|produit|article|du produit))? | réf\.?(?: (?:interne|produit|article))? | ugs
            code (?:article|produit|interne) | id produit | n° (?:d['’])?article | nº (?:de )?(?:artículo|referencia|ref\.?)
            numéro d['’]article | referencia (?:interna|del? producto)
            c[óo]d(?:igo|\.)?(?: (?:intern[oa]?|(?:del? |do )?(?:producto|produto|artículo|item|anúncio)))?
            n[úu]m(?:ero|\.)? de (?:artículo|referencia|producto|produto) | publicación | anúncio
            codice (?:minsan|aic) | minsan | pzn | cip | cnk | código nacional
    cod(?:ice)?\.?(?: (?:articolo|prodotto|produs|producto|produto|articol|art|prod|intern[oa]?))?\.?
            numero articolo | rif(?:erimento)?\.? | codul produsului | referência(?: do produto)?
            bestel(?:nummer|nr|code)\.? | product-?(?:code|nummer|nr)\.?
            nr (?:ref|kat|art|katalogowy|referencyjny|produktu)\.? | kod(?: produktu| towaru| artykułu| prod\.)?
            id ogłoszenia | numer (?:ogłoszenia|oferty) | nr (?:ogłoszenia|oferty)
            indeks | symbol | numer (?:katalogowy|produktu|artykułu|referencyjny) | id produktu
            kód(?: produktu| zboží| tovaru)? | katalogové číslo | katalógové číslo | objedn(?:ací|ávac(?:í|ie)) (?:číslo|kód)
            obj\. ?(?:číslo|kód|č\.) | kat\. ?(?:číslo|č\.|št\.|broj|номер) | číslo (?:produktu|zboží|tovaru)
            šifra(?: artikla| izdelka| proizvoda)? | koda(?: izdelka)? | katalošk[ia] (?:broj|številka) | cikkszám
            termék ?kód | код(?: товара| товару| продукта| артикула| на продукта)? | артикул(?: товара)? | арт\.
            номер товара | id товара | кат\. ?номер
            vare[- ]?(?:nr|nummer)\.? | varun(?:r|ummer)\.? | artikelnr\.? | artikkel(?:nr|nummer)\.?
            tuote[- ]?(?:koodi|numero|nro|id)\.? | tootekood | kood | produkta kods | preces kods | kods | artikuls
            prekės kodas | kodas | ürün (?:kodu|no|numarası) | stok (?:kodu|no) | κωδ(?:ικός|\.)(?: προϊόντος)?
            mã(?: sp| sản phẩm| hàng)? | מק["״]?ט | kode(?: produk)? | รหัส(?:สินค้า)? | 品號 | 管理番号
            رقم المنتج | رمز المنتج | كود المنتج
            商品(?:コード|番号|管理番号|id|no\.?|編號|编号|貨號|货号|代碼|代码|号)
            注文(?:番号|コード) | お申込番号 | 申込番号 | 製品番号
            產品編號 | 产品编号 | 編號 | 编号 | 品番 | 貨號 | 货号
            자체 ?상품 ?코드 | 상품\ ?(?:관리 ?)?(?:고유 ?)?(?:번호|코드|id) | 제품 ?(?:번호|코드) | 품번 | 관리 ?번호
            """,
            _A_NUMBER,
        ),
    ),
)

#: A number without a digit, which a shop makes of words: `CC-GRD-PRO`. It counts only behind a word for a number.
OF_WORDS = re.compile(r"(?=.{5,30}$)[A-Z]{2,}(?:[-_.][A-Z]+)+")

#: A class, id or `data-` value of an element that holds only the shop's number.
CODE_NAME = anywhere(
    r"""
    sku(?<![a-z]sku)(?=[-_ ]|$) | sku[-_]?(?:ref(?:erence)?|code|no|number|value)(?![a-z])
    product[-_]?(?:id|code|number|reference|no)(?:[-_ ]|$)
    item[-_]?(?:no|number|code)(?:[-_ ]|$) | article[-_]?(?:no|nr|number|code) | cat(?:alog)?[-_]?number | identifier
    """
)
