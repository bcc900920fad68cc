"""What stays with the processor where the cards do not hold it, and a model that is loaded more than once."""

from __future__ import annotations

import math

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import explained
from gpuledger.transform.buying.hosts import host_for, host_with_room
from gpuledger.transform.buying.need import Copies, Need, need_of
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed.memory import Offload
from gpuledger.transform.speed.predict import Prediction, serving
from tests.support import buying
from tests.transform.test_explained import check


def ask(gpu_id: str, model_id: str, precision: str, asked: Usage, texts: dict[str, str] | None = None) -> Prediction:
    assumptions = Assumptions().with_text(texts or {})
    gpu = by_id()[gpu_id]
    host = host_for(gpu, 1, gpu.tdp_w)
    need = need_of(model_id, catalogue.architecture(model_id), precision, asked, assumptions)
    found = need.on(gpu, 1, host.memory(assumptions))
    assert found is not None
    return found


def test_no_more_stays_behind_than_has_to() -> None:
    for offload in ("experts", "layers"):
        found = ask("nvidia-geforce-rtx-3090", "gpt-oss-120b", "mxfp4", Usage(offload=offload))  # type: ignore[arg-type]
        each = found.moved.size / found.moved.layers
        assert found.verdict == "fits"
        assert found.needed <= 0.95 * found.usable < found.needed + each
    held = ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage(offload="layers"))
    assert (held.moved, held.decode.basis) == (None, "calibrated")


def test_experts_are_the_cheaper_part_to_leave_and_no_speed_is_called_calibrated() -> None:
    kinds: tuple[Offload, ...] = ("experts", "layers")
    experts, layers = (ask("nvidia-geforce-rtx-3090", "gpt-oss-120b", "mxfp4", Usage(offload=o)).decode for o in kinds)
    # 40.7 GB of 128 experts are left, of which a token reads 4: 1.27 GB at 89.6 GB/s are 14 ms, which no card makes up for.
    assert experts.bound == pytest.approx(1 / (2.3219e9 / 936.2e9 + 1.2724e9 / 89.6e9), rel=1e-3)
    assert layers.expected < experts.expected < (experts.bound or math.inf)
    assert experts.basis == layers.basis == "bound"


def test_the_memory_of_the_machine_has_to_hold_it() -> None:
    asked = Usage(offload="experts")
    small = ask("nvidia-geforce-rtx-3090", "gpt-oss-120b", "mxfp4", asked, {"host_memory_gb": "40"})
    assert (small.moved, small.verdict) == (None, "no")


def test_how_processors_serve_several_people_is_not_known() -> None:
    found = ask("nvidia-geforce-rtx-3090", "qwen3-32b", "Q8_0", Usage(offload="layers", users=4))
    assert found.moved is not None
    assert (found.decode.expected, found.decode.basis) == (None, "unknown")
    assert found.decode.bound is not None


def test_a_cache_of_eight_bits_is_half_as_large_and_faster_to_read() -> None:
    full = ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage(context=65536))
    half = ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage(context=65536), {"kv_cache_bits": "8"})
    assert half.job.cache * 2 == full.job.cache
    assert half.needed == full.needed - half.job.cache
    assert (half.decode.expected or 0) > 1.1 * (full.decode.expected or 0)


def test_what_a_program_cannot_do_is_refused() -> None:
    with pytest.raises(SizingError, match=r"vllm leaves no weights with the processor; llama\.cpp and ollama do"):
        ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "fp8", Usage(offload="layers"))
    with pytest.raises(SizingError, match="has no experts; --offload layers"):
        ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage(offload="experts"))
    with pytest.raises(SizingError, match="vllm keeps token embeddings on the cards"):
        ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "fp8", Usage(embedding="host"))
    cards = ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage(embedding="cards"))
    assert cards.needed - ask("nvidia-geforce-rtx-3090", "llama-3.1-8b", "Q4_K_M", Usage()).needed == (
        cards.job.size.total - cards.job.size.on_cards
    )


def test_the_machine_is_the_smallest_with_room_for_what_stays_behind() -> None:
    assumptions, gpu = Assumptions(), by_id()["nvidia-geforce-rtx-5080"]

    def machine(model_id: str, precision: str) -> str | None:
        need = need_of(model_id, catalogue.architecture(model_id), precision, Usage(offload="experts"), assumptions)
        found = host_with_room(gpu, 1, gpu.tdp_w, lambda host: need.on(gpu, 1, host.memory(assumptions)))
        return found.name if found else None

    assert machine("gpt-oss-120b", "mxfp4") == "desktop"
    assert machine("qwen3-235b-a22b", "Q4_K_M") == "workstation"
    assert machine("deepseek-v3", "Q4_K_M") == "4U server"
    # No machine has room for 671 GB: the smallest, in which it does not fit.
    assert machine("deepseek-v3", "Q8_0") == "desktop"


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
    assert copies.speed.each > 1.1 * whole.speed.each
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
