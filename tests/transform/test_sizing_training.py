"""Memory to train, against the published rule and PEFT's counts, and how `buy` and `predict` divide it among cards."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError
from gpuledger.transform.sizing.tuning import (
    Adapter,
    Training,
    Way,
    lora_memory,
    lora_parameters,
    training_memory,
    tuning,
)
from tests.support import buying


def test_mixed_precision_adamw_takes_16_bytes_a_parameter() -> None:
    memory = training_memory(catalogue.architecture("llama-2-7b"), Training("adamw", 2048))
    assert memory.total - memory.activations == 16 * 6_738_415_616


#: What Hu et al. 2021, section 4.2, adapt.
QUERY_AND_VALUE = ("attn_q", "attn_v")


def test_8_bit_states_save_6_of_them_and_activations_are_the_inputs_of_layers_and_all_of_one() -> None:
    memory = training_memory(catalogue.architecture("llama-2-7b"), Training("adamw-8bit", 2048))
    assert memory.total - memory.activations == 10 * 6_738_415_616
    assert memory.activations == (2 * 32 + 34) * 2048 * 4096


@pytest.mark.parametrize(
    ("model_id", "rank", "targets", "expected"),
    [
        # PEFT prints these as trainable params.
        ("llama-2-7b", 8, ("attn_q", "attn_v"), 4_194_304),
        ("llama-2-7b", 16, ("attn_q", "attn_k", "attn_v", "attn_output"), 16_777_216),
        ("opt-6.7b", 16, ("attn_q", "attn_v"), 8_388_608),
        # All seven matrices of a layer, rank 16: the usual setting of QLoRA guides for Llama-3-8B.
        (
            "llama-3-8b",
            16,
            ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"),
            41_943_040,
        ),
    ],
)
def test_lora_as_peft_counts_it(model_id: str, rank: int, targets: tuple[str, ...], expected: int) -> None:
    assert lora_parameters(catalogue.architecture(model_id), rank, targets) == expected


def test_lora_memory_is_the_frozen_model_and_16_bytes_for_each_trained_weight() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    memory = lora_memory(architecture, Adapter(8, QUERY_AND_VALUE), Training("adamw", 512))
    assert memory.total - memory.activations == 2 * 6_738_415_616 + 16 * 4_194_304
    packed = lora_memory(architecture, Adapter(8, QUERY_AND_VALUE, Fraction(4127, 1000)), Training("adamw", 512))
    assert memory.weights - packed.weights == 2 * 6_738_415_616 - round(6_738_415_616 * Fraction(4127, 8000))


def test_more_tokens_than_the_model_was_trained_for_are_refused() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    with pytest.raises(ContextTooLong):
        training_memory(architecture, Training("adamw", 5000))


def need(model_id: str, way: Way, **more: object) -> Need:
    return buying.need(model_id, "ignored", Usage(train=way, **more))  # type: ignore[arg-type]


def test_all_weights_take_16_bytes_each_and_several_cards_divide_them() -> None:
    full = need("llama-3.1-8b", "full").tuning
    assert full.shared == 16 * 8_030_261_248
    # (2 bytes × layers + 34 of the one computed again) × tokens × hidden, and 8 × tokens × vocabulary.
    assert full.each == (2 * 32 + 34) * 2048 * 4096 + 8 * 2048 * 128_256
    asked = need("llama-3.1-8b", "full")
    assert asked.needed_bytes(8) == full.shared + 8 * full.each
    # Mistral 7B with everything in bf16, 4 × 4,096 tokens on an A100, took 81.5 GB: fms-acceleration, scripts/benchmarks.
    shape, bf16 = catalogue.architecture("mistral-7b"), Assumptions(full_bytes_per_weight=8)
    plain = tuning(shape, "full", 4096, 4, bf16)
    assert plain.shared == 8 * plain.trained
    assert 0.8 < (plain.shared + plain.each) / 81.5e9 < 0.9
    assert "8 bytes each" in str(plain.description)


def test_an_adapter_trains_a_thousandth_over_weights_of_16_or_4_bits() -> None:
    shape = catalogue.architecture("llama-3.1-8b")
    lora, qlora = (tuning(shape, way, 2048, 1, Assumptions()) for way in ("lora", "qlora"))  # type: ignore[arg-type]
    # Rank 16 on all seven matrices of a layer, as PEFT counts it above.
    assert lora.trained == qlora.trained == 41_943_040
    assert "ffn_gate_inp" not in tuning(catalogue.architecture("mixtral-8x7b"), "lora", 2048, 1, Assumptions()).targets
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
        assert any(target.startswith(("attn", "ssm")) for target in trained.targets)


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
