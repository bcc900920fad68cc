"""Training in `buy` and `predict`: what is divided among cards, what each keeps, and that no speed is claimed."""

from __future__ import annotations

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.tuning import Way, tuning
from tests.support import buying


def need(model_id: str, way: Way, **more: object) -> Need:
    return buying.need(model_id, "ignored", Usage(train=way, **more))  # type: ignore[arg-type]


def test_all_weights_take_16_bytes_each_and_several_cards_divide_them() -> None:
    full = need("llama-3.1-8b", "full").tuning
    assert full.shared == 16 * 8_030_261_248
    # (2 bytes × layers + 34 of the one computed again) × tokens × hidden, and 8 × tokens × vocabulary.
    assert full.each == (2 * 32 + 34) * 2048 * 4096 + 8 * 2048 * 128_256
    asked = need("llama-3.1-8b", "full")
    assert asked.needed_bytes(8) == full.shared + 8 * full.each


def test_an_adapter_trains_a_thousandth_over_weights_of_16_or_4_bits() -> None:
    shape = catalogue.architecture("llama-3.1-8b")
    lora, qlora = (tuning(shape, way, 2048, 1, Assumptions()) for way in ("lora", "qlora"))  # type: ignore[arg-type]
    # Rank 16 on query (4,096 × 4,096) and value (1,024 × 4,096) of 32 layers.
    assert lora.trained == qlora.trained == 32 * 16 * (4096 + 4096 + 1024 + 4096)
    assert lora.memory.weights == 2 * 8_030_261_248 + 2 * lora.trained
    assert qlora.memory.weights < 0.4 * lora.memory.weights
    assert lora.memory.optimizer == 8 * lora.trained
    twice = tuning(shape, "lora", 2048, 1, Assumptions().with_text({"lora_rank": "32"}))
    assert twice.trained == 2 * lora.trained


def test_known_fits_and_known_failures() -> None:
    """QLoRA of 65B models on one card of 48 GB is what its paper is known for; all weights of 7B do not fit on one of 80."""
    card, large = by_id()["nvidia-rtx-a6000"], by_id()["nvidia-a100-sxm4-80gb"]
    packed, whole = need("llama-65b", "qlora", context=512), need("llama-2-7b", "full")
    assert packed.needed_bytes(1) < packed.usable_bytes(card, 1)
    assert whole.needed_bytes(1) > whole.usable_bytes(large, 1)
    assert whole.needed_bytes(2) < whole.usable_bytes(large, 2)


def test_a_model_whose_query_is_no_matrix_of_its_own_gets_an_adapter_all_the_same() -> None:
    for model_id in ("deepseek-v2-lite", "phi-3-mini", "mamba-2.8b"):
        trained = need(model_id, "lora").tuning
        assert trained.trained > 0
        assert all(target.startswith(("attn", "ssm")) for target in trained.targets)


def test_the_speed_is_an_estimate_with_a_range_and_what_cannot_be_is_refused() -> None:
    asked = need("llama-3.1-8b", "lora")
    card = by_id()["nvidia-geforce-rtx-4090"]
    assert asked.on(card, 1) is None
    one, two = asked.trained(card, 1), asked.trained(card, 2)
    assert one.basis == "estimated"
    assert (one.low or 0) < (one.expected or 0) < (one.high or 0) <= (one.bound or 0)
    assert two.bound == pytest.approx(2 * (one.bound or 0))
    assert (two.high or 0) / (two.low or 1) > (one.high or 0) / (one.low or 1), "nobody measured several cards"
    with pytest.raises(SizingError, match="who trains serves nobody"):
        need("llama-3.1-8b", "lora", users=4)
    with pytest.raises(SizingError, match="does not write token by token"):
        need("whisper-small", "lora")
