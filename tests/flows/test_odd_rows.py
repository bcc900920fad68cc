"""Whatever nonsense lies in the inbox: the night is published, and each row is in a table with the reason."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import gpuledger, rows
from tests.flows.inprocess import refresh
from tests.nights import Night

HEADER = ("product", "price", "currency", "condition", "quantity", "valid until", "vendor")
#: Product, price, currency and the day until which it holds: each of them wrong in another way, or right and no card.
ODD = [
    ("NVIDIA DGX H100 8x H100 80GB", "300000", "USD", ""),
    ("Supermicro 8x H100 SXM5 80GB HGX server", "285,000", "USD", ""),
    ("GB200 NVL72 rack", "3000000", "USD", ""), ("2x RTX 3090 NVLink", "1800", "USD", ""),
    ("Lot of 12 RTX 3060 12GB", "2400", "USD", ""), ("Laptop with RTX 4090 16GB", "2899", "USD", ""),
    ("NVIDIA H100 80GB", "0", "USD", ""), ("NVIDIA H100 80GB PCIe", "1000000000", "USD", ""),
    ("NVIDIA A100 40GB", "-5000", "USD", ""), ("NVIDIA A100 80GB", "1", "USD", ""),
    ("NVIDIA H100 80GB SXM", "149999999", "USD", ""), ("NVIDIA L40S 48GB", "99999.99", "USD", ""),
    ("NVIDIA RTX 6000 Ada", "€6.800", "USD", ""), ("NVIDIA L4 24GB", "₩3,900,000", "USD", ""),
    ("NVIDIA A40 48GB", "$4,500", "EUR", ""), ("NVIDIA A30 24GB", "4500", "usd dollars", ""),
    ("NVIDIA A10 24GB", "2800", "", ""), ("NVIDIA T4 16GB", "900", "XXX", ""), ("NVIDIA A2 16GB", "1.299", "USD", ""),
    ("GeForce RTX 4090 24GB", "1599", "USD", "2001-01-01"), ("GeForce RTX 4080 16GB", "999", "USD", "31.02.2027"),
    ("GeForce RTX 4070 12GB", "599", "USD", "soon"), ("<b>GeForce RTX 4060 8GB</b>", "299", "USD", ""),
    ("<script>alert(1)</script>", "299", "USD", ""), ("=HYPERLINK(\"http://x\")", "299", "USD", ""),
    ("", "299", "USD", ""), ("x", "299", "USD", ""), ("RTX 3060" * 90, "329", "USD", ""),
    ("GeForce RTX 3070", "", "USD", ""),
    ("GeForce RTX 3080 10GB", "call us", "USD", ""), ("GeForce RTX 3090 24GB", "699 or 799", "USD", ""),
    ("GeForce RTX 3060 Ti", "1e3", "USD", ""), ("GeForce RTX 3050 8GB", "NaN", "USD", ""),
    ("GeForce RTX 5090", "inf", "USD", ""),
    ("GeForce RTX 2080 Ti", "9999.99", "USD", ""), ("GeForce GTX 1080", "٣٠٠", "USD", ""),
    ("GeForce GTX 1070", "３００", "USD", ""),
    ("RTX 3060 or RTX 3070", "400", "USD", ""), ("graphics card", "400", "USD", ""),
    ("water block for RTX 4090", "180", "USD", ""),
    ("RTX 4090 box only, no card", "40", "USD", ""), ("Radeon RX 7900 XTX 24GB", "0.01", "USD", ""),
    ("Radeon RX 7900 XT 20GB", "700 per month", "USD", ""), ("Radeon RX 7800 XT 16GB", "from 480", "USD", ""),
    ("Radeon PRO W7900 48GB", "3500 plus VAT", "USD", ""), ("Instinct MI300X 192GB", "15000;16000", "USD", ""),
    ("Instinct MI250 128GB", "12,34,567", "USD", ""), ("Intel Arc A770 16GB", "1,299.00.00", "USD", ""),
    ("Gaudi 3 128GB", "\u200b?", "USD", ""), ("8x MI300X platform", "180000", "USD", ""),
]  # fmt: skip


def quote_file(odd: list[tuple[str, str, str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADER)
    for product, price, currency, until in odd:
        writer.writerow([product, price, currency, "new", "1", until, "Kettle"])
    writer.writerow(["GeForce RTX 3060 12GB", "289.00", "USD", "new", "5", "", "Kettle"])
    return out.getvalue()


#: Of these the card and the price are clear.
RIGHT = ["<b>GeForce RTX 4060 8GB</b>", "GeForce GTX 1080", "GeForce GTX 1070"]


def _reasons(data: Path) -> Callable[[int, str], str | None]:
    """Why a row of the file, by its number and product, is no card's price, as the tables of the newest run say it."""
    newest = "run_id = (SELECT arg_max(run_id, rowid) FROM ops.source_run WHERE source = 'quotes')"
    issues = dict(rows(data, f"SELECT place, message FROM ops.issue WHERE url LIKE '%odd.csv' AND {newest}"))
    refused = {
        json.loads(item)["title"]: reason
        for item, reason in rows(data, f"SELECT item, reason FROM ops.quarantine WHERE source = 'quotes' AND {newest}")
    }
    listed = dict(
        rows(
            data,
            """SELECT l.title, CASE WHEN l.match_status = 'matched' THEN o.exclusion ELSE l.match_status END
               FROM core.listing l LEFT JOIN core.offer o USING (listing_id) WHERE l.source = 'quotes'""",
        )
    )
    assert len(issues) + len(refused) + len(listed) >= len(ODD) + 1, "no row is lost"
    return lambda number, product: issues.get(f"row {number}") or refused.get(product) or listed.get(product)


@pytest.mark.slow
def test_fifty_odd_rows_stop_no_night_and_each_is_in_a_table_with_the_reason(tmp_path: Path) -> None:
    assert len(ODD) == 50
    data = tmp_path / "data"
    inbox = data / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "odd.csv").write_text(quote_file(ODD), encoding="utf-8")
    whole = quote_file(ODD[:20])
    (inbox / "half.csv").write_bytes(whole.encode()[: len(whole) // 2])
    (inbox / "page.csv").write_text("<!DOCTYPE html><html><body><h1>Not Found</h1></body></html>", encoding="utf-8")
    for night in (1, 2, 3):
        summary = refresh(data, night, only=["ecb_fx", "quotes"])
        assert summary.published is not None, summary.reason
        statuses = {outcome.source: outcome.status for outcome in summary.sources}
        # Two of the three files cannot be read whole.
        assert statuses["quotes"] == "degraded", statuses
    prices = dict(rows(data, "SELECT gpu_id, price_usd FROM mart.gpu_price WHERE price_usd IS NOT NULL"))
    assert float(prices["nvidia-geforce-rtx-3060-12gb"]) == 289
    assert all(2 <= price <= 100_000 for price in prices.values())
    why = _reasons(data)
    silent = [product for number, (product, *_) in enumerate(ODD, start=2) if not why(number, product)]
    assert silent == RIGHT, "each other row is in a table with the reason"
    counting = rows(
        data,
        """SELECT l.title, o.exclusion FROM core.listing l LEFT JOIN core.offer o USING (listing_id)
           WHERE l.source = 'quotes' AND l.match_status = 'matched' AND o.exclusion IS NULL AND l.gpu_count = 1""",
    )
    assert not {title for title, _ in counting} & {"NVIDIA DGX H100 8x H100 80GB", "8x MI300X platform"}


# ── what a quote comes to: a card's price, or a node that buy weighs; never a server as one card ──────────────────────


QUOTE = """title,price,currency
ASUS GeForce RTX 4090 24GB,1299.00,USD
NVIDIA DGX H100 8x H100 80GB,300000,USD
2x RTX 3090 NVLink,1500,USD
RTX 4080,0,USD
"""


def test_check_shows_what_would_be_read_and_what_not(tmp_path: Path) -> None:
    file = tmp_path / "quote.csv"
    file.write_text(QUOTE)
    done = gpuledger("quotes", "check", file, "--format", "json", cwd=tmp_path)
    told = json.loads(done.out)
    assert [(row["gpu"], row["product_kind"], row["gpu_count"]) for row in told["read"]] == [
        ("NVIDIA GeForce RTX 4090", "card", 1),
        ("NVIDIA H100 SXM5", "server", 8),
        ("NVIDIA GeForce RTX 3090", "kit", 2),
    ]
    assert [row["row"] for row in told["left_out"]] == ["row 5"]
    file.write_text("product,part no,price,currency,delivery,colour\nRTX 4090,H-4090,1299.00,USD,5 days,black\n")
    shown = gpuledger("quotes", "check", file, cwd=tmp_path).out
    assert "H-4090" in shown
    assert "\tquoted\t5 days\nColumns that are not read: colour\nNo vendor is named" in shown
    assert done.status == 3
    assert list(tmp_path.iterdir()) == [file]


def test_a_quote_counts_from_the_first_night(nights: dict[int, Night], tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(nights[1].data, data, symlinks=True)
    (data / "inbox").mkdir(exist_ok=True)
    (data / "inbox" / "quote.csv").write_text(QUOTE)
    assert refresh(data, 1, only=["quotes"]).exit_status in (0, 3)
    (best,) = rows(data, "SELECT price_usd, source FROM mart.gpu_price WHERE gpu_id = 'nvidia-geforce-rtx-4090'")
    assert (float(best[0]), best[1]) == (1299.0, "quotes")
    assert (
        rows(data, "SELECT gpu_id FROM mart.gpu_price WHERE gpu_id = 'nvidia-h100-sxm5' AND price_usd IS NOT NULL")
        == []
    )
    offered = rows(
        data,
        """SELECT product_kind, gpu_id, gpu_count, contents, price_usd::INTEGER, exclusion
           FROM mart.node_offer WHERE source = 'quotes' ORDER BY price_usd""",
    )
    assert offered == [
        ("kit", "nvidia-geforce-rtx-3090", 2, "1 nvlink_bridge", 1500, None),
        ("server", "nvidia-h100-sxm5", 8, "2 cpu", 300000, None),
    ]
    bought = gpuledger(
        "buy", "--model", "llama-2-70b", "--precision", "fp16", "--limit", 0, "--format", "json", data=data
    )
    nodes = [row for row in json.loads(bought.out)["options"] if row["source"] == "quotes" and row["gpu_count"] == 8]
    assert [(row["gpu_id"], row["price_usd"]) for row in nodes if row["what"].startswith("server")] == [
        ("nvidia-h100-sxm5", 300000)
    ]
