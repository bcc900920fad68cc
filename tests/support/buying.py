"""What is for sale in a test of `buy`: a card, a rental, what is asked of them, and the options that come of it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.market import Card, Evidence, Instance
from gpuledger.transform.buying.need import Need, need_of
from gpuledger.transform.buying.options import Limits, Market, Option, options_of
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue

SEEN = Evidence(
    source="shop", price_since=datetime(2026, 1, 1, tzinfo=UTC), seen_at=datetime(2026, 1, 2, tzinfo=UTC), url=None,
    snapshot_sha256="0" * 64, market="us",
)  # fmt: skip


def card(gpu: Gpu, price_usd: int, **other: Any) -> Card:
    """A new board of this GPU at a price in US dollars; `other` fields in place of the GPU's own."""
    stated = {
        "gpu_id": gpu.gpu_id, "gpu": gpu.display_name, "condition": "new", "price_usd": Decimal(price_usd),
        "memory_gb": gpu.memory_gb, "bandwidth_gb_s": gpu.memory_bandwidth_gb_s, "tdp_w": gpu.tdp_w,
        "gpus_on_board": gpu.gpus_on_board, "value_kept": None, "history_years": None, "evidence": SEEN,
    }  # fmt: skip
    return Card(**{**stated, **other})


def rental(gpu: Gpu, hour_usd: str, way: str = "on_demand", gpu_count: int = 1) -> Instance:
    """GPUs of a cloud at a price in US dollars an hour."""
    return Instance(
        offer_id=way, gpu_id=gpu.gpu_id, gpu=gpu.display_name, gpu_count=gpu_count, provider="cloud", region="",
        instance="x", pricing_model=way, hour_usd=Decimal(hour_usd), memory_gb=gpu.memory_gb,
        bandwidth_gb_s=gpu.memory_bandwidth_gb_s, evidence=SEEN,
    )  # fmt: skip


def need(model_id: str, precision: str, asked: Usage | None = None, assumptions: Assumptions | None = None) -> Need:
    shape = catalogue.architecture(model_id)
    return need_of(model_id, shape, precision, asked or Usage(), assumptions or Assumptions())


def market(*, cards: Any = (), instances: Any = (), gpus: Any = (), **other: Any) -> Market:
    """What is for sale, of these GPUs."""
    chips = {gpu.gpu_id: gpu for gpu in gpus}
    return Market(cards=cards, instances=instances, measured={}, chips=chips, **other)


def options(asked: Need, offered: Market, limits: Limits | None = None) -> list[Option]:
    """All ways to do what is asked, cheapest first."""
    return options_of(asked, limits or Limits(), offered, asked.assumptions)
