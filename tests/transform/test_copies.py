"""A model that a part of the cards holds is loaded more than once, where many people are served faster so."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import explained
from gpuledger.transform.buying.market import Card, Evidence
from gpuledger.transform.buying.need import Copies, Need, Usage, need_of
from gpuledger.transform.buying.options import Limits, Market, Option, first_options
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed.predict import serving
from tests.transform.test_explained import check

SLOTS = "nvidia-geforce-rtx-5090"
SEEN = Evidence(source="shop", price_since=datetime(2026, 1, 1, tzinfo=UTC), seen_at=datetime(2026, 1, 2, tzinfo=UTC),
                url=None, snapshot_sha256="0" * 64, market="us")  # fmt: skip


def need(users: int, precision: str = "fp16", model_id: str = "llama-3.1-8b") -> Need:
    asked = Usage(users=users, prompt=1024, answer=256)
    return need_of(model_id, catalogue.architecture(model_id), precision, asked, Assumptions())


def found(asked: Need, limits: Limits, gpu_id: str = SLOTS) -> list[Option]:
    gpu = by_id()[gpu_id]
    assert gpu.memory_gb
    card = Card(
        gpu_id=gpu_id, gpu=gpu.display_name, condition="new", price_usd=Decimal(2000), memory_gb=gpu.memory_gb,
        bandwidth_gb_s=gpu.memory_bandwidth_gb_s, tdp_w=gpu.tdp_w, gpus_on_board=1, value_kept=None, history_years=None,
        evidence=SEEN,
    )  # fmt: skip
    market = Market(cards=[card], instances=[], measured={}, chips={gpu_id: gpu})
    return list(first_options(asked, limits, market, Assumptions(), 0).options)


def test_a_copy_on_each_pair_serves_many_faster_than_one_that_all_cards_divide() -> None:
    asked = need(64)
    ways = {option.what: option for option in found(asked, Limits())}
    whole, copies = ways["4 × NVIDIA GeForce RTX 5090"], ways["4 × NVIDIA GeForce RTX 5090 (2 × 2)"]
    assert whole.speed
    assert copies.speed
    assert copies.speed.each > 1.2 * whole.speed.each
    assert copies.total_usd == whole.total_usd, "they are the same cards"
    assert copies.gpu_count == whole.gpu_count == 4
    assert str(copies.notes[0]) == "2 copies of the model, each on 2 of the GPUs and for 32 at once"
    assert copies.host
    alone = Copies(asked).of(2).on(by_id()[SLOTS], 2, copies.host.memory(Assumptions()))
    assert alone
    served = serving(alone, asked.answer_tokens)
    assert served
    assert copies.speed.each == served.each_tokens_per_s
    assert copies.needed_gb == pytest.approx(2 * alone.needed / 1e9)
    assert copies.available_gb == pytest.approx(2 * alone.usable / 1e9)
    assert copies.speed.serving
    assert copies.speed.serving.all_tokens_per_s == pytest.approx(2 * served.all_tokens_per_s)


def test_users_that_cannot_be_shared_out_evenly_are_no_more_than_there_are() -> None:
    """64 at three copies of one card: the fullest has 22, and all 64 write at its pace."""
    asked = need(64)
    (copies,) = (option for option in found(asked, Limits()) if option.copies == option.gpu_count == 3)
    alone = Copies(asked).of(3).on(by_id()[SLOTS], 1)
    assert alone
    assert alone.job.load.users == 22
    assert alone.decode.expected
    assert copies.speed
    assert copies.speed.expected == pytest.approx(alone.decode.expected * 64 / 22)


@pytest.mark.parametrize(
    ("asked", "gpu_id"),
    [
        (need(1), SLOTS),
        (need(64), "nvidia-h100-sxm5"),
        (need(64, "Q4_K_M"), SLOTS),
        (need(64, "fp8", "deepseek-v3"), SLOTS),
    ],
    ids=["one person", "modules exchange fast", "llama.cpp has its own way", "nothing to spare"],
)
def test_no_copies_where_they_gain_nothing(asked: Need, gpu_id: str) -> None:
    assert list(Copies(asked).on(by_id()[gpu_id], 8)) == []
    assert {option.copies for option in found(asked, Limits(), gpu_id)} == {1}


def test_every_step_of_copies_is_a_sum_that_comes_out() -> None:
    asked = need(30, model_id="qwen3-14b")
    several = [option for option in found(asked, Limits()) if option.copies > 1]
    assert {option.copies for option in several} >= {2, 3}
    for option in several:
        steps = check(explained.steps(option, asked))
        assert option.speed
        assert option.speed.serving
        assert steps["all copies need"].value == pytest.approx(option.needed_gb)
        assert steps["all copies together"].value == pytest.approx(option.speed.serving.all_tokens_per_s)
        assert steps["each user sees"].value == pytest.approx(option.speed.each)
        assert steps["total"].value == pytest.approx(float(option.total_usd or 0))
