"""Words that stand before a product's numbers, in the languages of the shops."""

from __future__ import annotations

import re
from typing import Literal

from gpuledger.extract.word_table import anywhere, entries

Field = Literal["sku", "mpn", "gtin"]


#: How the labels begin, three letters each: texts that begin otherwise are not looked at closer.
BEGINNINGS: set[str] = set()
_LITERAL = re.compile(r"[^\W\d_](?:/?[^\W\d_])*")


def labels(table: str) -> re.Pattern[str]:
    """A pattern for a text that begins with one of the words; ` | ` and the end of a line part them."""
    patterns = entries(table)
    BEGINNINGS.update(match.group()[:3].lower() for word in patterns if (match := _LITERAL.match(word)))
    return re.compile(r"[\s(〈<\[]*(?:" + "|".join(patterns) + r")(?![^\W\d_])", re.IGNORECASE)


#: Tried in this order: a maker's number is often called an article number too.
LABELS: tuple[tuple[Field, re.Pattern[str]], ...] = (
    (
        "gtin",
        labels(r"ean(?:[- ]?13|-?code)? | gtin(?:-?13)? | upc | barcode | code[- ]barres | jan(?:コード)? | kod ean"),
    ),
    (
        "mpn",
        labels(
            r"""
            mpn | mf[gr]\.?(?: part)?(?: (?:no|number)\.?)?
            manufacturer(?:['’]s)? (?:part|ref\w*|code|model|product|number)(?: (?:no|number|id))?\.?
            part ?(?:no|number|nr|\#)\.? | p/n | pn(?=\s*:) | han(?=\s*:) | partnumm?er | onderdeelnummer
            model(?: no| number|nr| name)?\.? | hersteller-?(?:nummer|nr|artikelnummer|teilenummer)\.?
            réf(?:érence|\.)? (?:du )?(?:fabricant|constructeur) | ref(?:erencia|\.)? (?:del )?fabricante
            código (?:del )?fabricante
            tillv(?:erkar\w*|\.)? ?(?:artikel)?(?:nr|nummer)\.? | producent(?:ens?)? ?(?:vare|artikel)(?:nr|nummer)\.?
            produsentens? (?:vare|artikkel)(?:nr|nummer)\.? | codice (?:del )?produttore
            kod producenta | symbol producenta | part ?number | oem | メーカー[型品]番 | 型番 | 型號 | 型号
            모델(?:명|번호)?
            modell?(?:nummer|nr)? | modelo | modèle
            """
        ),
    ),
    (
        "sku",
        labels(
            r"""
            sku | item(?: ?(?:no|nr|num(?:ber)?|code|id|\#))\.? | item(?=\s\d{5}) | item model
            article(?: ?(?:no|nr|number|code|id))?\.?
            product(?: ?(?:code|id|no|number|ref\w*))\.? | product(?=:\s*[A-Z]{0,4}\d{5})
            prod\.? ?code | cat(?:alog(?:ue)?)?\.? ?(?:no|nr|number|code)\.? | web ?(?:code|id)
            stock (?:no|code|number)\.? | style(?: (?:no|code|number))?\.? | model-id
            ref(?:erence|erencia|\.)?(?: ?(?:no|number|nr))?\.? | asin | post id | listing id | ad id | code
            artikel(?:-?(?:nr|nummer|id))?\.? | art\.?[- ]?(?:nr|no|nummer)?\. | bestell-?(?:nr|nummer)\.?
            produkt(?:nummer|-?nr|code|-id)\.?
            interne referenz | referenz | internal reference | référence(?: interne)? | réf\.?
            code (?:article|produit) | código(?: (?:del )?(?:producto|artículo|produto))?
            cód\.? | cod(?:ice)?\.?(?: (?:articolo|prodotto|produs|producto))?
            codul produsului | artikelcode | bestelnummer | productcode | referência
            nr (?:ref|kat|art|katalogowy|produktu)\.? | kod(?: produktu| towaru)? | indeks | symbol
            kód(?: produktu| zboží| tovaru)? | (?:katalogové|objednací) číslo | číslo (?:produktu|zboží)
            šifra(?: artikla| izdelka| proizvoda)? | koda(?: izdelka)? | cikkszám | termékkód
            код(?: товара| товару| продукта)? | артикул | арт\. | номер товара
            varenr\.? | varenummer
            varun(?:r|ummer)\.? | artikelnr\.? | tuote(?:koodi|numero) | tootekood | produkta kods | preces kods
            prekės kodas | ürün kodu | κωδικός(?: προϊόντος)?
            mã (?:sp|sản phẩm|hàng) | מק["״]ט | stok kodu | kode produk | รหัสสินค้า | 品號 | 管理番号
            商品(?:コード|番号|編號|编号|貨號|货号) | 品番 | 貨號 | 货号 | 상품\ ?(?:번호|코드)
            """
        ),
    ),
)

#: A class, id or `data-` value of an element that holds nothing but the shop's number.
CODE_NAME = anywhere(
    r"""
    sku(?<![a-z]sku)(?=[-_ ]|$) | product[-_]?(?:id|code|number|reference|no)(?:[-_ ]|$)
    item[-_]?(?:no|number|code)(?:[-_ ]|$) | article[-_]?(?:no|nr|number|code) | cat(?:alog)?[-_]?number | identifier
    """
)
