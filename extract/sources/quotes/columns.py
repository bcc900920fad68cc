"""What each column of a vendor's table holds.

A column is matched by its name, in English, Korean, German and Japanese, never by its position.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from gpuledger.extract import wording
from gpuledger.extract.price import currency

#: For each field the names that vendors give its column, in small letters, without spaces, signs and bracketed text.
_NAMES: dict[str, tuple[str, ...]] = {
    "product": (
        "product", "productname", "producttitle", "item", "itemname", "itemtitle", "title", "name", "article", "description",
        "productdescription", "itemdescription", "goods", "gpu", "gpuname", "card", "graphicscard",
        "제품명", "제품", "품명", "품목", "품목명", "상품명", "상품", "물품명", "제품설명", "그래픽카드", "명칭",
        "artikel", "artikelbezeichnung", "artikelname", "bezeichnung", "produkt", "produktname", "produktbezeichnung",
        "beschreibung", "ware", "grafikkarte",
        "製品名", "商品名", "品名", "製品", "商品", "品目", "名称", "商品説明", "摘要",
    ),
    "price": (
        "price", "unitprice", "unitcost", "priceeach", "priceperunit", "quotedprice", "quoteprice", "netprice", "offerprice",
        "saleprice", "yourprice", "sellingprice", "unitnetprice", "grossprice", "cost", "ourprice", "bestprice",
        "priceea", "unitpriceea", "eachprice",
        "가격", "단가", "공급가", "공급단가", "견적가", "견적단가", "판매가", "판매단가", "매입가", "제안가", "제시가",
        "단위가격",
        "preis", "einzelpreis", "stückpreis", "stueckpreis", "nettopreis", "bruttopreis", "einzelpreisnetto", "preisnetto",
        "netto", "brutto", "preisbrutto", "ep", "epnetto", "angebotspreis", "verkaufspreis", "ihrpreis", "vk", "vknetto",
        "単価", "価格", "見積単価", "見積価格", "販売価格", "販売単価", "提示価格", "税抜単価", "税抜価格", "税込単価",
        "税込価格",
        "仕入単価", "卸価格",
    ),
    "list_price": (
        "listprice", "msrp", "rrp", "srp", "regularprice", "retailprice", "정가", "소비자가", "권장가", "출시가",
        "listenpreis", "uvp", "定価", "希望小売価格", "標準価格",
    ),
    "currency": (
        "currency", "currencycode", "ccy", "cur", "curr", "통화", "화폐", "통화단위", "währung", "waehrung", "通貨",
        "通貨単位",
    ),
    "condition": (
        "condition", "cond", "itemcondition", "grade", "상태", "제품상태", "상품상태", "구분",
        "zustand", "artikelzustand", "状態", "商品状態", "コンディション",
    ),
    "quantity": (
        "quantity", "qty", "quantityavailable", "availableqty", "units", "pieces", "수량", "재고수량", "공급수량",
        "menge", "stückzahl", "stueckzahl", "anzahl", "stk", "stück", "数量", "個数", "台数", "枚数",
    ),
    "unit": (
        "unit", "uom", "unitofmeasure", "per", "단위", "판매단위", "einheit", "einh", "mengeneinheit",
        "verkaufseinheit", "ve",
        "単位", "販売単位", "priceunit", "preiseinheit", "preiseinh", "pe",
    ),
    "valid_until": (
        "validuntil", "validthrough", "validto", "validtill", "valid", "validity", "expiry", "expirydate", "expires",
        "expirationdate", "quotevaliduntil", "유효기간", "유효기한", "유효일", "견적유효기간", "견적유효일", "만료일",
        "gültigbis", "gueltigbis", "gültigkeit", "angebotgültigbis", "bindefrist", "有効期限", "見積有効期限", "有効期間",
    ),
    "vendor": (
        "vendor", "vendorname", "supplier", "suppliername", "seller", "sellername", "distributor", "reseller", "company",
        "quotedby", "공급업체", "공급사", "공급자", "공급처", "업체", "업체명", "판매자", "판매처", "거래처", "회사명",
        "lieferant", "anbieter", "händler", "haendler", "verkäufer", "verkaeufer", "firma", "distributorname",
        "仕入先", "業者", "業者名", "販売元", "販売店", "会社名", "見積元", "ベンダー", "サプライヤー", "取引先",
    ),
    "sku": (
        "sku", "vendorsku", "itemno", "itemnumber", "itemcode", "productcode", "품번", "상품코드", "제품코드",
        "artikelnummer", "artikelnr", "artnr", "bestellnummer", "bestellnr", "品番", "商品コード", "商品番号",
    ),
    "mpn": (
        "mpn", "partnumber", "partno", "partnum", "pn", "mfrpartnumber", "manufacturerpartnumber", "model", "modelno",
        "modelnumber", "modelname", "모델", "모델명", "모델번호", "부품번호", "제조사품번",
        "herstellernummer", "herstellernr", "herstellerartikelnummer", "teilenummer", "modell", "typ",
        "型番", "モデル", "型式", "モデル名", "部品番号", "メーカー型番",
    ),
    "gtin": ("gtin", "ean", "upc", "ean13", "barcode", "바코드", "strichcode", "jan", "janコード", "バーコード"),
    "brand": (
        "brand", "manufacturer", "maker", "mfr", "make", "브랜드", "제조사", "제조업체", "hersteller", "marke",
        "メーカー", "ブランド", "製造元",
    ),
    "memory": (
        "memory", "vram", "memorysize", "memorygb", "vramgb", "gpumemory", "메모리", "그래픽메모리", "용량",
        "speicher", "grafikspeicher", "videospeicher", "メモリ", "メモリー", "ビデオメモリ",
    ),
    "specs": (
        "specs", "spec", "specification", "specifications", "규격", "사양", "스펙",
        "spezifikation", "spezifikationen", "technischedaten", "仕様", "スペック",
    ),
    "availability": (
        "availability", "stock", "stockstatus", "instock", "leadtime", "재고", "재고상태", "재고여부", "납기",
        "verfügbarkeit", "verfuegbarkeit", "lagerstatus", "lieferbarkeit", "lieferzeit", "bestand", "在庫",
        "在庫状況", "納期",
    ),
    "tax": (
        "tax", "vat", "vatincluded", "taxincluded", "priceincludesvat", "inclvat", "gst", "salestax",
        "부가세", "부가가치세", "부가세포함", "부가세포함여부", "세금", "과세", "mwst", "ust", "steuer", "mehrwertsteuer",
        "税", "消費税", "税区分", "税込税抜",
    ),
    "market": ("market", "country", "region", "시장", "국가", "지역", "markt", "land", "国", "市場", "地域"),
    "shipping": (
        "shipping", "shippingcost", "shippingfee", "freight", "deliverycost", "배송비", "운송비", "운임",
        "versand", "versandkosten", "fracht", "送料", "運賃",
    ),
    "url": ("url", "link", "producturl", "링크", "주소", "リンク"),
}  # fmt: skip
_FIELD_OF = {name: field for field, names in _NAMES.items() for name in names}
#: Names of columns that hold sums over a quantity, which are never the price of one piece.
TOTALS = frozenset(
    (
        "total",
        "totalprice",
        "amount",
        "subtotal",
        "lineamount",
        "linetotal",
        "extendedprice",
        "extprice",
        "extended",
        "금액",
        "합계",
        "총액",
        "합계금액",
        "공급가액",
        "gesamt",
        "gesamtpreis",
        "summe",
        "betrag",
        "zeilensumme",
        "合計",
        "金額",
        "小計",
        "合計金額",
    )
)
#: Texts in the product column of rows that are not products: sums, taxes, charges. Without spaces and signs.
_NO_PRODUCTS = TOTALS | frozenset(
    re.findall(
        r"\S+",
        """grandtotal totalamount totaldue sum tax vat salestax gst shipping freight delivery handling discount rebate
        deposit balance 소계 총계 총합계 부가세 부가가치세 배송비 운임 할인 할인금액 에누리 공급가액합계
        zwischensumme gesamtsumme nettosumme
        bruttosumme summenetto summebrutto endbetrag rechnungsbetrag mwst ust zzglmwst zzglust versand versandkosten fracht
        rabatt skonto 総計 総額 消費税 税 送料 運賃 値引 値引き 税込合計 税抜合計""",
    )
)
_RATE = re.compile(r"\d+(?:[.,]\d+)?\s?%")


def is_no_product(text: str) -> bool:
    """Return whether a cell in the product column names a sum, a tax or a charge: `Grand total`, `MwSt. 19%`, `소계`."""
    return (
        len(text) < _LONGEST_NAME
        and re.sub(r"[\W_]+", "", _BRACKETS.sub("", _RATE.sub("", text)).lower()) in _NO_PRODUCTS
    )


#: Words in a column's name that say in which multiple of the currency its amounts are.
_SCALES = (
    (re.compile(r"천\s?원|千円|千元|천\s?단위|in thousands|\bTEUR\b|\bT€|\bk(?:usd|eur)\b|\$k\b|\bTsd"), 1_000),
    (re.compile(r"만\s?원|万円|萬元|万元|만\s?단위"), 10_000),
    (re.compile(r"백만\s?원|百万円|in millions"), 1_000_000),
)


def scale(header: str) -> int:
    """Return the factor for a price column's amounts: 10,000 for `단가(만원)` (in ten thousand won), 1 for most columns."""
    return max((factor for pattern, factor in _SCALES if pattern.search(header)), default=1)


#: Words on tax in a column's name, beside what the column holds: "Price excl. VAT", "단가 VAT별도", "単価(税抜)".
_BESIDE = re.compile(
    r"(?:excl?|exkl|incl?|inkl|excluding|including|ohne|zzgl|ex)[.\s]*(?:vat|tax|mwst|ust|gst)|(?:vat|부가세)\s?(?:별도|포함|미포함|제외)"
    r"|税抜き?|税込み?|税別|netto|brutto|\bnet\b|\bgross\b"
)

#: The most letters of a column's name. A longer text is not a name, and the search for brackets would start at each letter.
_LONGEST_NAME = 300
_BRACKETS = re.compile(r"[(\[{（]([^)\]}）]*)[)\]}）]")


def field_of(header: str) -> str | None:
    """Return the field that a column of this name holds, or None."""
    if len(header) > _LONGEST_NAME:
        return None
    name = unicodedata.normalize("NFC", _BRACKETS.sub("", header).lower())
    bare = re.sub(r"[\W_]+", "", name)
    if bare in _FIELD_OF:
        return _FIELD_OF[bare]
    bare = re.sub(r"[\W_]+", "", _BESIDE.sub("", name)) or bare
    if bare in _FIELD_OF:
        return _FIELD_OF[bare]
    # The currency may stand without brackets: "Price USD", "단가 KRW", "Unit price US$".
    name_words = name.split()
    if len(name_words) > 1 and (
        currency.is_code(name_words[-1].upper()) or currency.of_symbol(name_words[-1].upper()) or name_words[-1] == "$"
    ):
        return _FIELD_OF.get(re.sub(r"[\W_]+", "", "".join(name_words[:-1])))
    return _FIELD_OF.get(re.sub(r"(usd|krw|eur|gbp|jpy|pln|cny)$", "", bare))


def fields(headers: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of each field's columns; a field may have several.

    Without a product column, the model stands for it.
    """
    positions: dict[str, list[int]] = {}
    for position, header in enumerate(headers):
        field = field_of(header)
        if field:
            positions.setdefault(field, []).append(position)
    if "product" not in positions and "mpn" in positions:
        positions["product"] = positions["mpn"]
    return positions


def stated_currency(header: str) -> str | None:
    """Return the currency that a price column's name states, as in `단가(원)`; None if it states none or several."""
    inside = " ".join(_BRACKETS.findall(header))
    codes = {code for word in (inside, header) if (code := currency.find(word))}
    return codes.pop() if len(codes) == 1 else None


def stated_tax(header: str) -> bool | None:
    """Return whether a price column's name says that tax is included (`단가 (VAT 별도)`); None if it says nothing."""
    return wording.tax_included(header)


def has_gigabytes(header: str) -> bool:
    """Return whether a memory column's name says that its numbers are gigabytes."""
    return "gb" in header.lower() or "기가" in header
