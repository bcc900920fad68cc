"""Vendor quotes: headings of sixteen languages, every encoding and cell type of Excel, why each row is refused."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.errors import LayoutChanged, TooLarge
from gpuledger.extract import collect
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.pages import Fetching, LocalFile, OfRun
from gpuledger.extract.source import Page, get
from gpuledger.extract.sources.quotes import columns as quote_columns
from gpuledger.extract.sources.quotes import pages as quotes
from gpuledger.extract.sources.quotes import sheets as quote_tables
from gpuledger.items import Issue, Offer
from tests.extract import pages
from tests.extract.pages import quoted


def page(content: str | bytes, name: str = "file:///inbox/kettle.csv") -> Page:
    return pages.page(content, name, "text/csv")


def workbook(*sheets: Sequence[Sequence[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def one(
    row: str, header: str = "product,price,currency,condition,quantity,valid until,vendor"
) -> tuple[Offer | None, str]:
    """The offer of a file of one row, or None and the reason."""
    offers, rejected = quotes.read_quotes(page(f"{header}\n{row}\n"))
    assert len(offers) + len(rejected) == 1
    return (offers[0], "") if offers else (None, rejected[0].reason)


KOREAN = (
    "제품명,단가,통화,상태,수량,유효기간,공급업체\n"
    '바르데 지포스 RTX 4090 24GB,"2,350,000",KRW,중고,12,2023-12-31,주전자상사\n'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_korean_file_in_every_encoding_of_excel(encoding: str, separator: str) -> None:
    rows = list(csv.reader(io.StringIO(KOREAN)))
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    offers, rejected = quotes.read_quotes(page(text.getvalue().encode(encoding)))
    assert rejected == []
    (offer,) = offers
    assert (offer.title, offer.price, offer.currency) == ("바르데 지포스 RTX 4090 24GB", Decimal(2350000), "KRW")
    assert (offer.condition, offer.quantity, offer.seller) == ("used", 12, "주전자상사")
    assert offer.valid_until == date(2023, 12, 31)
    assert offer.url == "file:///inbox/kettle.csv"


def test_western_file_in_windows_encoding() -> None:
    text = "Artikel;Item;Price (EUR);Supplier\n1;Varde GeForce RTX 4080 – 16GB;1.199,00 €;Kettler & Söhne GmbH\n"
    offers, _ = quotes.read_quotes(page(text.encode("cp1252")))
    assert (offers[0].price, offers[0].currency, offers[0].seller) == (
        Decimal("1199.00"),
        "EUR",
        "Kettler & Söhne GmbH",
    )


def test_workbook_cells_of_every_type() -> None:
    header = (
        ["Quote for", None],
        [None],
        ["Product", "Unit Price", "Currency", "Qty", "Valid until", "VRAM (GB)", "SKU"],
    )
    rows = [
        ["Varde GeForce RTX 4090", 1599.99, "USD", 10, datetime(2023, 12, 31), 24, 8801],  # noqa: DTZ001  as Excel has it
        ["Varde GeForce RTX 3060", 279, "usd", 3.0, "2023-12-31", 12, "8802"],
        ["Varde GeForce RTX 4080", "US$1,099.00", None, "4 pcs", date(2023, 12, 1), 16, None],
        [None, None, None, None, None, None, None],
        ["Varde GeForce RTX 3070", True, "USD", 1, None, None, None],
        ["Varde GeForce RTX 3080", datetime(2023, 5, 1), "USD", 1, None, None, None],  # noqa: DTZ001
        ["Varde GeForce RTX 3090", "#REF!", "USD", 1, None, None, None],
        ["Varde GeForce RTX 3050", -219.0, "USD", 1, None, None, None],
        ["Varde Arc A770", 0.1 + 0.2, "USD", 1.5, None, None, None],
    ]
    book = page(workbook([*header, *rows]), "file:///inbox/q.xlsx")
    opened = quote_tables.tables.cache_info().misses
    offers, rejected = quotes.read_quotes(book)
    found = [quotes.cell_of(book.content, book.url, offer.title, offer.price_text or "") for offer in offers]
    assert quotes.unread_columns(book) == []
    assert quote_tables.tables.cache_info().misses == opened + 1, (
        "one workbook is opened once, however much is asked of it"
    )
    assert [cell and cell[:2] for cell in found] == [("Sheet 1", "B4"), ("Sheet 1", "B5"), ("Sheet 1", "B6")]
    assert [(offer.price, offer.currency, offer.quantity, offer.valid_until) for offer in offers] == [
        (Decimal("1599.99"), "USD", 10, date(2023, 12, 31)),
        (Decimal(279), "USD", 3, date(2023, 12, 31)),
        (Decimal("1099.00"), "USD", 4, date(2023, 12, 1)),
    ]
    assert (offers[0].sku, offers[0].specs) == ("8801", "memory 24GB")
    assert [row.row for row in rejected] == [8, 9, 10, 11, 12]
    assert [row.sheet for row in rejected] == ["Sheet 1"] * 5


def test_sheet_without_a_header_is_told_and_the_others_are_read() -> None:
    offers, rejected = quotes.read_quotes(
        page(workbook([["Terms and conditions"]], [["item", "price (USD)"], ["RTX 4090", 1599]]))
    )
    assert len(offers) == 1
    assert [(row.sheet, row.row) for row in rejected] == [("Sheet 1", 1)]
    assert "not read" in rejected[0].reason


TITLED, PLAIN = "title,price,currency", "product,price,currency,condition,quantity,valid until,vendor"


@pytest.mark.parametrize(
    ("row", "header", "facts"),
    [
        *((f"RTX 4090,1599.00,USD,{said},1,,A", PLAIN, {"condition": condition}) for said, condition in (
            ("New", "new"), ("신품", "new"), ("미개봉", "new"), ("Used - good", "used"), ("리퍼비시", "refurbished"),
            ("open-box", "open_box"), ("", "unknown"),
        )),
        ("RTX 4090 (refurbished),1599.00,USD,,1,,A", PLAIN, {"condition": "refurbished"}),
        ("RTX 4090,1599.00,USD,", f"{TITLED},condition", {"condition": "unknown"}),
        ("RTX 4090,1599.00,USD", TITLED, {"condition": "new", "availability": "quoted", "seller_kind": "quote"}),
        # Days that are clear.
        *((f'RTX 4090,1599.00,USD,new,1,"{day}",A', PLAIN, {"valid_until": date(2024, 1, 31)}) for day in (
            "2024-01-31", "2024.1.31", "2024/01/31", "2024. 01. 31.", "31 Jan 2024", "January 31, 2024", "~2024-01-31",
            "01/31/2024", "31/01/2024", "31.01.2024", "Jan 31 2024", "2024年1月31日", "2024년 1월 31일",
        )),
        # Whether tax is in the price is the vendor's to say.
        ("RTX 4090,1599.00,EUR", "title,price excl. VAT,currency", {"tax_included": False}),
        ("RTX 4090,1599.00,EUR", "title,price (incl. VAT),currency", {"tax_included": True}),
        ("RTX 4090,1599.00,EUR,yes", f"{TITLED},VAT included", {"tax_included": True}),
        ("RTX 4090,2350000,KRW,별도", "품명,단가,통화,부가세", {"tax_included": False}),
        ("RTX 4090,1599.00,EUR,19 %", f"{TITLED},VAT", {"tax_included": None}),
        ("RTX 4090,1599.00,EUR", TITLED, {"tax_included": None}),
        # What the columns count in.
        *((row, header, {"price": Decimal(price), "tax_included": None}) for row, header, price in (
            ("RTX 3090 24GB,95,4", "품명,단가(만원),수량", "950000"),
            ('RTX A6000 48GB,"6,850",2', "품명,단가(천원),수량", "6850000"),
            ("RTX 4070 12GB,82", "品名,単価(千円)", "82000"),
            ("RTX 4090 24GB,1599,EA", "Item,Price (USD),Unit", "1599"),
            ('"RTX 4090 24GB",대,"2,590,000"', "품명,단위,단가(원)", "2590000"),
            ("RTX 4090 24GB;1'749.00;1", "Artikel;Preis CHF;Preiseinheit", "1749.00"),
            ('NVIDIA L40S 48GB,5,"7,450.00"', "Description,MOQ,Unit Price US$", "7450.00"),
            ('RTX 4080 SUPER,"1,450,000","145,000"', "품목,단가(원),부가세", "1450000"),
        )),
    ],
)  # fmt: skip
def test_what_is_read_of_a_row(row: str, header: str, facts: dict[str, object]) -> None:
    offer, reason = one(row, header)
    assert offer is not None, reason
    assert {name: getattr(offer, name) for name in facts} == facts


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("RTX 4090,1599,,new,1,,A", "no currency"),
        ('RTX 4090,"$1,599.00",,new,1,,A', "several currencies"),
        ("RTX 4090,1.599,USD,new,1,,A", "decimal or as thousands"),
        ('RTX 4090,"€1,599.00",USD,new,1,,A', "EUR"),
        ("RTX 4090,1599.00,Taler,new,1,,A", "the currency 'Taler'"),
        ("RTX 4090,$,USD,new,1,,A", "no amount"),
        ("RTX 4090,0,USD,new,1,,A", "no amount"),
        ("RTX 4090,,USD,new,1,,A", "no price"),
        ("RTX 4090,call us,USD,new,1,,A", "no amount"),
        ("RTX 4090,$133.25/mo,USD,new,1,,A", "monthly"),
        ("RTX 4090,$1499 - $1599,USD,new,1,,A", "cannot be told"),
        ("RTX 4090,1599.00,USD,mint,1,,A", "condition 'mint'"),
        ("RTX 4090,1599.00,USD,new,some,,A", "quantity 'some'"),
        ("RTX 4090,1599.00,USD,new,-3,,A", "quantity '-3'"),
        ("RTX 4090,1599.00,USD,new,1,03/04/2024,A", "date '03/04/2024'"),
        ("RTX 4090,1599.00,USD,new,1,30 days,A", "date '30 days'"),
        ("RTX 4090,1599.00,USD,new,1,2024-02-30,A", "date '2024-02-30'"),
        (",1599.00,USD,new,1,,A", "no product"),
        ("product,price (USD),currency\nRTX 4090,1599.00,KRW", "KRW in its column and USD"),
        # A price of no single card.
        ("Item,Price (USD),Unit\nRTX 4090 24GB,5490,BOX", "the price is of one 'BOX', not of one piece"),
        ("품명,단위,단가(원)\nRTX 4080 16GB,SET,2900000", "the price is of one 'SET'"),
        ("Artikel;Preiseinheit;Preis CHF\nRTX 4060 8GB;10;2990.00", "the price is of one '10'"),
        ("Item,Price (USD)\nGrand total,13950", "'Grand total' is a sum"),
        ("Artikel;Preis CHF\nMwSt. 19%;797.92", "'MwSt. 19%' is a sum"),
        ("품명,단가(원)\n소계,4520000", "'소계' is a sum"),
    ],
)
def test_row_is_refused_with_its_reason(row: str, reason: str) -> None:
    header, _, own = row.rpartition("\n")
    offer, told = one(own, header or PLAIN)
    assert offer is None
    assert reason in told


@pytest.mark.parametrize(
    ("header", "field", "currency"),
    [
        ("Unit Price (USD)", "price", "USD"), ("단가(원)", "price", "KRW"), ("가격 [KRW]", "price", "KRW"),
        ("Price EUR", "price", "EUR"), ("Price (excl. VAT)", "price", None), ("Price", "price", None),
        ("Einzelpreis netto (EUR)", "price", "EUR"), ("Unit price excl. VAT", "price", None),
        ("단가(VAT별도)", "price", None), ("単価(税抜)", "price", None), ("Preis zzgl. MwSt.", "price", None),
        ("Title", "product", None), ("Bezeichnung", "product", None), ("商品名", "product", None),
        ("Währung", "currency", None), ("通貨", "currency", None), ("Zustand", "condition", None),
        ("Stückzahl", "quantity", None), ("Gültig bis", "valid_until", None), ("有効期限", "valid_until", None),
        ("Lieferant", "vendor", None), ("仕入先", "vendor", None), ("부가세", "tax", None), ("Land", "market", None),
        ("送料", "shipping", None), ("Verfügbarkeit", "availability", None), ("Bemerkung", None, None),
    ],
)  # fmt: skip
def test_columns_are_known_in_four_languages_with_their_currency(
    header: str, field: str | None, currency: str | None
) -> None:
    assert (quote_columns.field_of(header), quote_columns.stated_currency(header)) == (field, currency)


def test_a_sum_is_no_price_of_a_piece() -> None:
    with pytest.raises(LayoutChanged, match="금액 is a sum"):
        quotes.read_quotes(page("제품명,수량,금액\nRTX 4090,10,23500000\n"))


def test_two_price_columns_are_refused_row_by_row() -> None:
    offers, rejected = quotes.read_quotes(
        page("product,price (USD),price (KRW)\nA,1599.00,2100000\nB,999.00,\nC,,1300000\n")
    )
    assert [(offer.title, offer.price, offer.currency) for offer in offers] == [
        ("B", Decimal("999.00"), "USD"),
        ("C", Decimal(1300000), "KRW"),
    ]
    assert "2 prices" in rejected[0].reason


def test_a_quote_of_no_pieces_is_out_of_stock() -> None:
    rows = ("A,10.00,USD,0,", "B,10.00,USD,0,in stock", "C,10.00,USD,1,", "D,10.00,USD,,", "E,10.00,USD,,0")
    offers, rejected = quotes.read_quotes(page("\n".join(("product,price,currency,quantity,availability", *rows))))
    assert [offer.availability for offer in offers] == [
        "out_of_stock",
        "out_of_stock",
        "quoted",
        "quoted",
        "out_of_stock",
    ]
    assert not rejected


def test_a_lead_time_is_when_it_is_delivered_and_no_state_of_the_stock() -> None:
    rows = (
        "A,10.00,USD,12,in stock,2 weeks",
        "B,10.00,USD,,backorder,4",
        "C,10.00,USD,,4-6 Wochen,",
        "D,10.00,USD,,,EOL",
    )
    offers, _ = quotes.read_quotes(page("\n".join(("product,price,currency,qty,stock,lead time (weeks)", *rows))))
    assert [(offer.availability, offer.quantity, offer.delivery) for offer in offers] == [
        ("quoted", 12, "2 weeks"), ("preorder", None, "4 weeks"), ("quoted", None, "4-6 Wochen"),
        ("out_of_stock", None, "EOL"),
    ]  # fmt: skip


def test_same_product_at_two_prices_goes_back_and_a_price_for_more_stays() -> None:
    rows = ("A,10.00,USD,1", "A,11.00,USD,1", "B,5.00,USD,1", "B,5.00,USD,1", "C,9.00,USD,1", "C,8.00,USD,10",
            "D,7.00,USD,5-9", "D,6.00,USD,ab 10 Stk.", "E,5.00,USD,3", "E,5.50,USD,4")  # fmt: skip
    text = "\n".join(("product,price,currency,quantity", *rows))
    offers, rejected = quotes.read_quotes(page(text))
    assert [(offer.title, offer.price, offer.least_quantity, offer.quantity) for offer in offers] == [
        ("B", Decimal("5.00"), None, 1),
        ("C", Decimal("9.00"), None, None),
        ("C", Decimal("8.00"), 10, None),
        ("D", Decimal("7.00"), 5, 9),
        ("D", Decimal("6.00"), 10, None),
        ("E", Decimal("5.00"), None, 3),
        ("E", Decimal("5.50"), None, 4),
    ]
    assert len({offer.key for offer in offers}) == 7
    assert [row.row for row in rejected] == [2, 3, 5]


def test_rejects_file_says_why_and_can_be_mended_and_dropped_again(tmp_path: Path) -> None:
    text = 'product,price,currency,remark\n=cmd|calc,1.599,USD,@x\nVarde RTX 4080,,USD,"a, b"\n'
    _, rejected = quotes.read_quotes(page(text))
    target = tmp_path / "kettle.rejected.csv"
    quotes.rejects_csv(rejected, target)
    assert target.read_bytes().startswith(b"\xef\xbb\xbf")
    with target.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == ["2", "3"]
    assert rows[0]["product"] == "'=cmd|calc"
    assert rows[0]["remark"] == "'@x"
    assert "decimal or as thousands" in rows[0]["reason"]
    mended = target.read_text("utf-8-sig").replace(",1.599,", ",1599.00,")
    offers, still = quotes.read_quotes(page(mended))
    assert [offer.price for offer in offers] == [Decimal("1599.00")]
    assert len(still) == 1


def test_rejects_file_keeps_columns_of_the_same_name(tmp_path: Path) -> None:
    _, rejected = quotes.read_quotes(page("product,price,price,currency\nA,10.00,11.00,USD\n"))
    quotes.rejects_csv(rejected, tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_text("utf-8-sig")
    assert "10.00" in text
    assert "11.00" in text
    offers, _ = quotes.read_quotes(page(text.replace(",11.00,", ",,")))
    assert [offer.price for offer in offers] == [Decimal("10.00")]


def test_parse_gives_an_issue_for_each_row_refused() -> None:
    found = list(quotes.parse(page("product,price,currency\nA,10.00,USD\nB,x,USD\n")))
    assert [type(item) for item in found] == [Offer, Issue]
    assert found[1].where == "row 3"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password-protected"),
        (b"PK\x03\x04 no workbook", "cannot be read"),
        (b"a,b\n1,2\n", "no sheet has a column"),
        (bytes(range(128, 256)) * 3 + b"\0", "neither a CSV"),
    ],
)
def test_what_is_no_quote_is_refused(content: bytes, seen: str) -> None:
    with pytest.raises(LayoutChanged, match=seen):
        quotes.read_quotes(page(content))


def test_workbook_bomb_is_refused_before_it_is_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (quote_tables.MAX_UNPACKED + 1))
    assert len(file.getvalue()) < 100_000
    with pytest.raises(TooLarge, match="unpacks to"):
        quotes.read_quotes(page(file.getvalue()))


def test_workbook_that_lies_about_its_size_is_bounded() -> None:
    """A sheet whose stated dimension is a million rows and sixteen thousand columns costs no more than what is in it."""
    content = workbook([["product", "price (USD)"], ["Varde RTX 4090", 1599.0]])
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"'))
    offers, _ = quotes.read_quotes(page(file.getvalue()))
    assert [offer.price for offer in offers] == [Decimal("1599.0")]


def test_external_entities_and_entity_bombs_of_a_workbook_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("1599.00")
    content = workbook([["product", "price (USD)"], ["PLACE", 1.0]])
    file = io.BytesIO()
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'.encode()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith("sharedStrings.xml"):
                body = entity + body.replace(b"PLACE", b"&e;")
            new.writestr(name, body)
    try:
        offers, rejected = quotes.read_quotes(page(file.getvalue()))
    except LayoutChanged:
        return
    assert "1599" not in str([offers, rejected])


def test_too_many_rows_are_refused() -> None:
    rows = "A,10.00,USD\n" * (quote_tables.MAX_ROWS + 1)
    with pytest.raises(TooLarge, match="rows"):
        quotes.read_quotes(page("product,price,currency\n" + rows))


_CELLS = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=12)


@given(st.lists(st.lists(_CELLS, min_size=1, max_size=5), max_size=6))
def test_no_row_is_lost_and_no_price_is_invented(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["product", "price", "currency", "quantity", "valid until"], *rows])
    offers, rejected = quotes.read_quotes(page(text.getvalue()))
    filled = [row for row in csv.reader(io.StringIO(text.getvalue())) if any(cell.strip() for cell in row)]
    # A header alone comes back too.
    assert len(offers) + len(rejected) == max(len(filled) - 1, 1)
    assert all(offer.price is not None and offer.price > 0 and offer.currency for offer in offers)


def dropped(folder: Path, text: str) -> collect.Collected:
    """What a run reads of `inbox/kettle.csv` in the folder."""
    file = folder / "inbox" / "kettle.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    archive = Archive(folder / "snapshots")
    with Client(HttpSettings()) as client:
        fetching = Fetching(client, archive, datetime(2024, 1, 5, tzinfo=UTC), "run")
        files = [LocalFile(file, "text/csv")]
        return collect.collect(collect.Reading(get("quotes"), (), files), fetching, ParsedCache(folder / "parsed"))


def test_a_run_gives_the_rows_back_that_it_could_not_read(tmp_path: Path) -> None:
    returned = tmp_path / "rejected" / "kettle.csv.rejected.csv"
    head = "product,price,currency\n"
    result = dropped(tmp_path, f"{head}Varde RTX 4080,1.599,USD\nVarde RTX 4070,549.00,USD\n")
    assert len(result.rows) == 1
    with returned.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["row"], row["product"], row["price"]) == ("2", "Varde RTX 4080", "1.599")
    assert "decimal or as thousands" in row["reason"]
    # The inbox holds what was dropped and nothing else: a file that a run writes there would be read by the next.
    assert [file.name for file in (tmp_path / "inbox").iterdir()] == ["kettle.csv"]
    mended = dropped(tmp_path, f"{head}Varde RTX 4080,1599.00,USD\nVarde RTX 4070,549.00,USD\n")
    assert len(mended.rows) == 2
    assert not returned.exists()


def test_a_run_goes_on_where_nothing_can_be_given_back(tmp_path: Path) -> None:
    (tmp_path / "rejected").write_text("a file in the folder's place")
    result = dropped(tmp_path, "product,price,currency\nVarde RTX 4080,1.599,USD\nVarde RTX 4070,549.00,USD\n")
    assert (len(result.rows), result.failure) == (1, None)
    assert "not_given_back" in [issue.code for issue, _ in result.issues]


def test_a_replay_gives_nothing_back(tmp_path: Path) -> None:
    dropped(tmp_path, "product,price,currency\nVarde RTX 4080,1.599,USD\nVarde RTX 4070,549.00,USD\n")
    returned = tmp_path / "rejected" / "kettle.csv.rejected.csv"
    returned.unlink()
    archive = Archive(tmp_path / "snapshots")
    snapshot = archive.latest("quotes", "file:kettle.csv")
    assert snapshot is not None
    reading = collect.Reading(get("quotes"), (), [LocalFile(Path("kettle.csv"), "text/csv")])
    again = collect.collect(reading, OfRun(archive, [snapshot], {}), ParsedCache(tmp_path / "p"))
    assert len(again.rows) == 1
    assert not returned.exists()


HEADINGS = Path(__file__).with_name("quote_headings.csv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_quote_with_these_headings(heading: str) -> None:
    (offer,) = quoted(f"{heading}\nNorvik GeForce RTX 5080 16GB;999.00;EUR;2\n")
    assert isinstance(offer, Offer)
    facts = (offer.title, offer.price, offer.currency, offer.quantity, offer.price_kind)
    assert facts == ("Norvik GeForce RTX 5080 16GB", Decimal("999.00"), "EUR", 2, "now")
