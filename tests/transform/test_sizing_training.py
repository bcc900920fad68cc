"""Memory to train: the published rule, the full account, and LoRA against counts that PEFT prints."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError, UnknownPrecision
from gpuledger.transform.sizing.tuning import (
    Adapter,
    Training,
    lora_memory,
    lora_parameters,
    optimizer_state_bytes,
    training_memory,
)


@pytest.mark.parametrize(("optimizer", "gb"), [("adamw", 56), ("adafactor", 28), ("adamw-8bit", 14)])
def test_the_published_rule(optimizer: str, gb: int) -> None:
    assert optimizer_state_bytes(7 * 10**9, optimizer) == gb * 10**9


def test_mixed_precision_adamw_takes_16_bytes_a_parameter() -> None:
    memory = training_memory(catalogue.architecture("llama-2-7b"), Training("adamw", 2048))
    assert memory.total - memory.activations == 16 * 6_738_415_616


def test_full_precision_adamw_takes_16_too_and_8_bit_states_save_6() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    full = training_memory(architecture, Training("adamw", 2048, mixed_precision=False))
    eight = training_memory(architecture, Training("adamw-8bit", 2048))
    assert full.total - full.activations == 16 * 6_738_415_616
    assert eight.total - eight.activations == 10 * 6_738_415_616


def test_checkpointing_keeps_a_seventeenth_of_the_activations_and_those_of_the_layer_that_is_computed_again() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    kept = training_memory(architecture, Training("adamw", 2048, checkpointing=False)).activations
    assert kept == 34 * 2048 * 4096 * 32
    assert training_memory(architecture, Training("adamw", 2048)).activations == kept // 17 + kept // 32


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
    memory = lora_memory(architecture, Adapter(8), Training("adamw", 512))
    assert memory.total - memory.activations == 2 * 6_738_415_616 + 16 * 4_194_304
    packed = lora_memory(architecture, Adapter(8, base_bits=Fraction(4127, 1000)), Training("adamw", 512))
    assert memory.weights - packed.weights == 2 * 6_738_415_616 - round(6_738_415_616 * Fraction(4127, 8000))


def test_what_cannot_be_trained_is_refused() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    with pytest.raises(SizingError, match="'sgd' is not known; known are adamw, adafactor, adamw-8bit"):
        training_memory(architecture, Training("sgd", 512))
    with pytest.raises(SizingError, match=r"has no c_attn; its matrices are attn_k, attn_output"):
        lora_parameters(architecture, 8, ("c_attn",))
    with pytest.raises(SizingError, match="rank must be at least 1"):
        lora_parameters(architecture, 0)
    with pytest.raises(ContextTooLong):
        training_memory(architecture, Training("adamw", 5000))
    with pytest.raises(UnknownPrecision, match="positive number of bits"):
        lora_memory(architecture, Adapter(8, base_bits=Fraction(0)), Training("adamw", 512))
