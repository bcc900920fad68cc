"""`gpuledger quotes`, and what a quote comes to: a card's price, or a node that `buy` weighs; never a server as one card."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.command import gpuledger, rows
from tests.flows.inprocess import refresh
from tests.nights import Night

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
    assert [row["row"] for row in told["left_out"]] == ["5"]
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
