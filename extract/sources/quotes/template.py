"""An empty file for a vendor to fill in. The parser knows all of its columns."""

from __future__ import annotations

import csv
import io
from pathlib import Path

#: The columns, each with its name in every language of the template and with the meaning of its cells.
COLUMNS: tuple[tuple[dict[str, str], str], ...] = (
    ({"en": "Product", "ko": "제품명", "de": "Artikelbezeichnung", "ja": "製品名"},
     "Maker and name with memory: RTX 4090 24GB"),
    ({"en": "Part number", "ko": "부품번호", "de": "Herstellernummer", "ja": "型番"}, "The maker's part number"),
    ({"en": "Unit price", "ko": "단가", "de": "Einzelpreis", "ja": "単価"}, "Price of one piece, a plain number: 1599.00"),
    ({"en": "Currency", "ko": "통화", "de": "Währung", "ja": "通貨"}, "ISO code: USD, KRW, EUR, JPY"),
    ({"en": "VAT included", "ko": "부가세 포함", "de": "MwSt", "ja": "消費税"}, "included or excluded"),
    ({"en": "Condition", "ko": "상태", "de": "Zustand", "ja": "状態"}, "new, used, refurbished or open box"),
    ({"en": "Quantity", "ko": "수량", "de": "Menge", "ja": "数量"}, "Pieces that are offered at this price"),
    ({"en": "Valid until", "ko": "유효기간", "de": "Gültig bis", "ja": "有効期限"}, "Last day of the offer: 2024-01-31"),
    ({"en": "Vendor", "ko": "공급업체", "de": "Lieferant", "ja": "仕入先"}, "Who makes the offer"),
    ({"en": "Country", "ko": "국가", "de": "Land", "ja": "国"}, "Where it is sold: US, KR, DE, JP"),
    ({"en": "Shipping cost", "ko": "배송비", "de": "Versandkosten", "ja": "送料"}, "For one piece, in the same currency"),
)  # fmt: skip
LANGUAGES = ("en", "ko", "de", "ja")


def headings(language: str) -> list[str]:
    """Return the names of the columns in a language of `LANGUAGES`."""
    return [names[language] for names, _ in COLUMNS]


def as_csv(language: str) -> bytes:
    """Return the template as CSV, in UTF-8 with the mark by which Excel recognises UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(headings(language))
    return text.getvalue().encode("utf-8-sig")


def write(target: Path, language: str) -> None:
    """Write the template to `target`, as a workbook if the name ends in .xlsx, else as CSV.

    In a workbook each column name has a note that says what its cells mean.
    """
    if target.suffix.lower() != ".xlsx":
        target.write_bytes(as_csv(language))
        return
    import openpyxl  # imported here, since it takes 0.2 s and most commands write no workbook
    from openpyxl.comments import Comment
    from openpyxl.styles import Font

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "quotes"
    sheet.append(headings(language))
    for cell, (_, meaning) in zip(sheet[1], COLUMNS, strict=True):
        cell.font = Font(bold=True)
        cell.comment = Comment(meaning, "gpuledger")
        sheet.column_dimensions[cell.column_letter].width = 18
    sheet.freeze_panes = "A2"
    book.save(target)
