"""A model that a part of the cards holds is loaded more than once, where many people are served faster so."""

from __future__ import annotations

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import explained
from gpuledger.transform.buying.need import Copies, Need
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.speed.predict import serving
from tests.support import buying
from tests.transform.test_explained import check

SLOTS = "nvidia-geforce-rtx-5090"


def need(users: int, precision: str = "fp16", model_id: str = "llama-3.1-8b") -> Need:
    return buying.need(model_id, precision, Usage(users=users, prompt=1024, answer=256))


def found(asked: Need, gpu_id: str = SLOTS) -> list[Option]:
    gpu = by_id()[gpu_id]
    return buying.options(asked, buying.market(cards=[buying.card(gpu, 2000)], gpus=[gpu]))


def test_a_copy_on_each_pair_serves_many_faster_than_one_that_all_cards_divide() -> None:
    asked = need(64)
    ways = {option.what: option for option in found(asked)}
    whole, copies = ways["4 × NVIDIA GeForce RTX 5090"], ways["4 × NVIDIA GeForce RTX 5090 (2 × 2)"]
    assert copies.speed.each > 1.2 * whole.speed.each
    assert copies.total_usd == whole.total_usd, "they are the same cards"
    assert copies.gpu_count == whole.gpu_count == 4
    assert str(copies.notes[0]) == "2 copies of the model, each on 2 of the GPUs and for 32 at once"
    alone = Copies(asked).of(2).on(by_id()[SLOTS], 2, copies.host.memory(Assumptions()))
    served = serving(alone, asked.answer_tokens)
    assert copies.speed.each == served.each_tokens_per_s
    assert copies.needed_gb == pytest.approx(2 * alone.needed / 1e9)
    assert copies.available_gb == pytest.approx(2 * alone.usable / 1e9)
    assert copies.speed.serving.all_tokens_per_s == pytest.approx(2 * served.all_tokens_per_s)


def test_users_that_cannot_be_shared_out_evenly_are_no_more_than_there_are() -> None:
    """64 at three copies of one card: the fullest has 22, and all 64 write at its pace."""
    asked = need(64)
    (copies,) = (option for option in found(asked) if option.copies == option.gpu_count == 3)
    alone = Copies(asked).of(3).on(by_id()[SLOTS], 1)
    assert alone.job.load.users == 22
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
    assert {option.copies for option in found(asked, gpu_id)} == {1}


def test_every_step_of_copies_is_a_sum_that_comes_out() -> None:
    asked = need(30, model_id="qwen3-14b")
    several = [option for option in found(asked) if option.copies > 1]
    assert {option.copies for option in several} >= {2, 3}
    for option in several:
        steps = check(explained.steps(option, asked))
        assert steps["all copies need"].value == pytest.approx(option.needed_gb)
        assert steps["all copies together"].value == pytest.approx(option.speed.serving.all_tokens_per_s)
        assert steps["each user sees"].value == pytest.approx(option.speed.each)
        assert steps["total"].value == pytest.approx(float(option.total_usd or 0))
