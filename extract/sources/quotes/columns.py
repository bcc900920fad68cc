"""Which column of a vendor's table holds what: matched by its name, in English and Korean, never by its position."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuledger.extract.price import currency

#: Field to the names by which vendors head it, in small letters without spaces, signs and what stands in brackets.
_NAMES: dict[str, tuple[str, ...]] = {
    "product": (
        "product", "productname", "item", "itemname", "description", "productdescription", "itemdescription", "gpu", "card",
        "제품명", "제품", "품명", "품목", "품목명", "상품명", "상품", "물품명", "제품설명",
    ),
    "price": (
        "price", "unitprice", "unitcost", "priceeach", "priceperunit", "quotedprice", "quoteprice", "netprice", "offerprice",
        "saleprice", "yourprice", "가격", "단가", "공급가", "공급단가", "견적가", "견적단가", "판매가", "판매단가", "매입가",
    ),
    "list_price": ("listprice", "msrp", "rrp", "srp", "regularprice", "retailprice", "정가", "소비자가", "권장가", "출시가"),
    "currency": ("currency", "currencycode", "ccy", "cur", "curr", "통화", "화폐", "통화단위"),
    "condition": ("condition", "cond", "itemcondition", "grade", "상태", "제품상태", "상품상태", "구분"),
    "quantity": ("quantity", "qty", "quantityavailable", "availableqty", "units", "수량", "재고수량", "공급수량", ),
    "valid_until": (
        "validuntil", "validthrough", "validto", "validtill", "valid", "validity", "expiry", "expirydate", "expires",
        "expirationdate", "quotevaliduntil", "유효기간", "유효기한", "유효일", "견적유효기간", "견적유효일", "만료일",
    ),
    "vendor": (
        "vendor", "vendorname", "supplier", "suppliername", "seller", "distributor", "reseller", "company",
        "공급업체", "공급사", "공급자", "공급처", "업체", "업체명", "판매자", "판매처", "거래처", "회사명",
    ),
    "sku": ("sku", "vendorsku", "itemno", "itemnumber", "itemcode", "productcode", "품번", "상품코드", "제품코드"),
    "mpn": (
        "mpn", "partnumber", "partno", "partnum", "pn", "mfrpartnumber", "manufacturerpartnumber", "model", "modelno",
        "modelnumber", "modelname", "모델", "모델명", "모델번호", "부품번호", "제조사품번",
    ),
    "gtin": ("gtin", "ean", "upc", "ean13", "barcode", "바코드"),
    "brand": ("brand", "manufacturer", "maker", "mfr", "make", "브랜드", "제조사", "제조업체"),
    "memory": ("memory", "vram", "memorysize", "memorygb", "vramgb", "gpumemory", "메모리", "그래픽메모리", "용량"),
    "specs": ("specs", "spec", "specification", "specifications", "규격", "사양", "스펙"),
    "availability": ("availability", "stock", "stockstatus", "instock", "leadtime", "재고", "재고상태", "재고여부", "납기"),
    "url": ("url", "link", "producturl", "링크", "주소"),
}  # fmt: skip
_FIELD_OF = {name: field for field, names in _NAMES.items() for name in names}
#: Sums over a quantity: never the price of one piece.
TOTALS = frozenset(
    (
        "total",
        "totalprice",
        "amount",
        "subtotal",
        "lineamount",
        "linetotal",
        "extendedprice",
        "금액",
        "합계",
        "총액",
        "합계금액",
        "공급가액",
    )
)

_BRACKETS = re.compile(r"[(\[{（]([^)\]}）]*)[)\]}）]")


def field_of(header: str) -> str | None:
    """The field that a column of this name holds, or None."""
    bare = re.sub(r"[\W_]+", "", _BRACKETS.sub("", header).lower())
    if bare in _FIELD_OF:
        return _FIELD_OF[bare]
    # "Price USD", "단가 KRW": the currency without brackets.
    return _FIELD_OF.get(re.sub(r"(usd|krw|eur|gbp|jpy|pln|cny)$", "", bare))


def fields(headers: Sequence[str]) -> dict[str, list[int]]:
    """Field to the positions of its columns, of which there may be several. Without a product, the model stands for it."""
    found: dict[str, list[int]] = {}
    for position, header in enumerate(headers):
        field = field_of(header)
        if field:
            found.setdefault(field, []).append(position)
    if "product" not in found and "mpn" in found:
        found["product"] = found["mpn"]
    return found


def stated_currency(header: str) -> str | None:
    """The currency that a price column's name states: `Unit price (USD)`, `단가(원)`. None for none or several."""
    inside = " ".join(_BRACKETS.findall(header))
    codes = {code for word in (inside, header) if (code := currency.find(word))}
    return codes.pop() if len(codes) == 1 else None


def has_gigabytes(header: str) -> bool:
    """Whether a memory column's name says that its numbers are gigabytes."""
    return "gb" in header.lower() or "기가" in header
