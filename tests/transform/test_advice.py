"""Where nothing does it as asked, what would is said, whatever is not known of the options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuledger.extract.message import Message
from gpuledger.transform.buying.advice import what_would
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.options import Limits
from gpuledger.transform.identity.catalogue import by_id
from tests.support.buying import card, market, need, options


def test_a_card_whose_speed_nobody_knows_is_not_taken_for_one_that_is_fast_enough() -> None:
    known = by_id()["nvidia-geforce-rtx-4090"]
    unknown = replace(known, gpu_id="nobody-knows", memory_bandwidth_gb_s=None)
    asked, limits = need("llama-3.1-8b", "int4"), Limits(min_tokens_per_s=100_000)
    found = options(asked, market(cards=[card(gpu, 2000) for gpu in (known, unknown)], gpus=(known, unknown)), limits)
    assert any(Message("its speed is not known") in one.against for one in found)
    (said,) = what_would(found, limits, asked, lambda _: None, [])
    assert str(said).startswith("the fastest that fits is NVIDIA GeForce RTX 4090, at ")


@pytest.mark.parametrize(
    ("gpu_id", "boards"), [("amd-radeon-instinct-mi300a", ()), ("amd-radeon-pro-w6800x", (1, 2, 3, 4))]
)
def test_what_has_a_slot_of_its_own_goes_into_no_machine_with_others(gpu_id: str, boards: tuple[int, ...]) -> None:
    gpu = by_id()[gpu_id]
    assert tuple(count for count in range(1, 9) if host_for(gpu, count, gpu.tdp_w)) == boards
