"""Operations of a forward pass: exact, against a profiler's published figures, and consistent with themselves."""

from __future__ import annotations

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.running import decode_flops, prefill_flops


@pytest.mark.parametrize(
    ("vocabulary", "gflops"),
    # calflops (MrYxJ/calculate-flops.pytorch) hooks the running model: batch 1, 128 tokens, multiply and add counted apart.
    # Llama-2-7B, Baichuan-7B and Chinese-LLaMA-7B differ in their vocabulary only. It also counts norms and activations,
    # which are left out here.
    [(32000, 1700.06), (64000, 1733.62), (49953, 1718.89)],
)
def test_prefill_against_a_profiler(vocabulary: int, gflops: float) -> None:
    config = dict(catalogue.get("llama-2-7b").config) | {"vocab_size": vocabulary}
    flops = prefill_flops(read_config(config), 128, causal=False, logits="all").total / 1e9
    assert flops == pytest.approx(gflops, rel=1e-4)
    assert flops <= gflops


def test_parts_of_llama_2_7b() -> None:
    flops = prefill_flops(catalogue.architecture("llama-2-7b"), 512, causal=False, logits="all")
    assert flops.projections == 2 * 512 * 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    assert flops.scores == flops.values == 2 * 32 * 512**2 * 4096
    assert flops.output == 2 * 512 * 4096 * 32000
    assert flops.rule_of_thumb == 2 * 6_738_415_616 * 512


def test_causal_attention_multiplies_only_with_what_came_before() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    causal, full = prefill_flops(architecture, 512), prefill_flops(architecture, 512, causal=False)
    assert causal.scores * 2 * 512 == full.scores * 513


def test_only_the_last_token_is_scored_when_answering() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    every, last = prefill_flops(architecture, 512, logits="all"), prefill_flops(architecture, 512)
    assert every.output == 512 * last.output


@pytest.mark.parametrize(
    "model_id", ["llama-2-7b", "llama-3.2-1b", "mixtral-8x7b", "gpt-oss-20b", "gemma-2-2b", "gpt2"]
)
def test_writing_token_by_token_is_the_same_work_as_reading(model_id: str) -> None:
    architecture = catalogue.architecture(model_id)
    steps = [decode_flops(architecture, context) for context in range(1, 301)]
    assert sum(step.total for step in steps) == prefill_flops(architecture, 300, logits="all").total


def test_a_window_bounds_the_attention() -> None:
    architecture = catalogue.architecture("mistral-7b")
    assert decode_flops(architecture, 32768).scores == decode_flops(architecture, 4096).scores


def test_a_mixture_costs_its_active_experts() -> None:
    flops = decode_flops(catalogue.architecture("mixtral-8x7b"), 1)
    layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 2 * 3 * 4096 * 14336 + 8 * 4096
    assert flops.projections == 2 * 32 * layer


def test_latent_attention_decodes_in_its_compressed_space() -> None:
    # 61 layers × 128 heads × (512 + 64) for scores and × 512 for values.
    flops = decode_flops(catalogue.architecture("deepseek-v3"), 1000)
    assert flops.scores == 2 * 61 * 128 * 576 * 1000
    assert flops.values == 2 * 61 * 128 * 512 * 1000
    assert prefill_flops(catalogue.architecture("deepseek-v3"), 1).scores == 2 * 61 * 128 * 192


@pytest.mark.parametrize("model_id", ["llama-2-7b", "llama-3-70b", "qwen2.5-7b", "mixtral-8x7b"])
def test_the_rule_of_thumb_is_near(model_id: str) -> None:
    flops = prefill_flops(catalogue.architecture(model_id), 512, logits="all")
    assert flops.total == pytest.approx(flops.rule_of_thumb, rel=0.07)


def test_batch_multiplies() -> None:
    architecture = catalogue.architecture("llama-3-8b")
    assert prefill_flops(architecture, 100, batch=7).total == 7 * prefill_flops(architecture, 100).total
    assert decode_flops(architecture, 100, batch=7).total == 7 * decode_flops(architecture, 100).total


def test_an_encoder_sees_both_ways() -> None:
    architecture = catalogue.architecture("bert-base")
    assert prefill_flops(architecture, 128).scores == 2 * 12 * 12 * 64 * 128**2


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(SizingError, match="does not write token by token"):
        decode_flops(catalogue.architecture("bert-base"), 10)
    with pytest.raises(SizingError, match="reads one sequence and writes another"):
        prefill_flops(catalogue.architecture("t5-base"), 10)
    with pytest.raises(ContextTooLong):
        prefill_flops(catalogue.architecture("gpt2"), 1025)
