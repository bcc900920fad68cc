"""Where nothing does it as asked, what would is said, whatever is not known of the options."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.advice import what_would
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.market import Card, Evidence
from gpuledger.transform.buying.need import Usage, need_of
from gpuledger.transform.buying.options import Limits, Market, first_options
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue

SEEN = Evidence(source="shop", price_since=datetime(2026, 1, 1, tzinfo=UTC), seen_at=datetime(2026, 1, 2, tzinfo=UTC),
                url=None, snapshot_sha256="0" * 64, market="us")  # fmt: skip


def test_a_card_whose_speed_nobody_knows_is_not_taken_for_one_that_is_fast_enough() -> None:
    known = by_id()["nvidia-geforce-rtx-4090"]
    unknown = replace(known, gpu_id="nobody-knows", memory_bandwidth_gb_s=None)
    cards = [
        Card(
            gpu_id=gpu.gpu_id, gpu=gpu.display_name, condition="new", price_usd=Decimal(2000), memory_gb=24.0,
            bandwidth_gb_s=gpu.memory_bandwidth_gb_s, tdp_w=450, gpus_on_board=1, value_kept=None, history_years=None,
            evidence=SEEN,
        )
        for gpu in (known, unknown)
    ]  # fmt: skip
    need = need_of("llama-3.1-8b", catalogue.architecture("llama-3.1-8b"), "int4", Usage(), Assumptions())
    limits = Limits(min_tokens_per_s=100_000)
    market = Market(cards=cards, instances=[], measured={}, chips={gpu.gpu_id: gpu for gpu in (known, unknown)})
    found = list(first_options(need, limits, market, Assumptions(), 0).options)
    assert any(Message("buy.speed_unknown") in one.against for one in found)
    (said,) = what_would(found, limits, need, lambda _: None, [])
    assert str(said).startswith("the fastest that fits is NVIDIA GeForce RTX 4090, at ")


@pytest.mark.parametrize(
    ("gpu_id", "boards"), [("amd-radeon-instinct-mi300a", ()), ("amd-radeon-pro-w6800x", (1, 2, 3, 4))]
)
def test_what_has_a_slot_of_its_own_goes_into_no_machine_with_others(gpu_id: str, boards: tuple[int, ...]) -> None:
    gpu = by_id()[gpu_id]
    assert tuple(count for count in range(1, 9) if host_for(gpu, count, gpu.tdp_w)) == boards
