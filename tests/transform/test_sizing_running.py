"""Caches, states, memory and operations of running a model, against closed forms, published figures and a profiler."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import need_of
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import ContextTooLong, SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.running import (
    activation_bytes,
    decode_flops,
    inference_memory,
    kv_bytes_per_token,
    kv_cache_bytes,
    prefill_flops,
    state_bytes,
)
from gpuledger.transform.speed.engines import engines
from gpuledger.transform.speed.memory import usable_bytes

MIB = 2**20
LLAMA_CPP = engines()["llama.cpp"]


@pytest.mark.parametrize(
    ("model_id", "expected"),
    [
        ("llama-2-7b", MIB // 2),  # 2 × 32 layers × 32 heads × 128 × 2 bytes
        ("llama-3-8b", 128 * 1024),  # 2 × 32 × 8 × 128 × 2
        ("mistral-7b", 128 * 1024),
        ("mixtral-8x7b", 128 * 1024),
        ("qwen2.5-7b", 2 * 28 * 4 * 128 * 2),
        ("gemma-2b", 2 * 18 * 1 * 256 * 2),  # multi-query
        # DeepSeek-AI 2025, "Insights into DeepSeek-V3", table 1: 70.272, 327.680 and 516.096 KB a token.
        ("deepseek-v3", 70_272),
        ("qwen2.5-72b", 327_680),
        ("llama-3.1-405b", 516_096),
    ],
)
def test_cache_of_one_token(model_id: str, expected: int) -> None:
    architecture = catalogue.architecture(model_id)
    assert kv_bytes_per_token(architecture) == expected
    assert kv_cache_bytes(architecture, 1) == expected


def test_cache_grows_with_context_batch_and_bits() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    assert kv_cache_bytes(architecture, 4096) == 2 * 1024 * MIB
    assert kv_cache_bytes(architecture, 4096, batch=8) == 16 * 1024 * MIB
    assert kv_cache_bytes(architecture, 4096, bits=8) == 1024 * MIB


def test_a_sliding_window_stops_the_growth() -> None:
    architecture = catalogue.architecture("mistral-7b")
    assert kv_cache_bytes(architecture, 4096) == 512 * MIB
    assert kv_cache_bytes(architecture, 32768) == 512 * MIB
    assert kv_cache_bytes(architecture, 32768, piece=32768) == 4096 * MIB


def test_alternating_windows() -> None:
    # gpt-oss-20b: 12 layers keep 128 tokens, 12 keep all; 2 × 8 × 64 × 2 bytes a layer and token.
    architecture = catalogue.architecture("gpt-oss-20b")
    assert kv_cache_bytes(architecture, 131_072) == 2048 * 12 * (128 + 131_072)
    # Gemma 3 has five local layers to a full one.
    gemma = catalogue.architecture("gemma-3-27b")
    assert [layer.window for layer in gemma.attention[:7]] == [1024] * 5 + [None, 1024]


def test_an_encoder_keeps_no_cache() -> None:
    assert kv_cache_bytes(catalogue.architecture("bert-base"), 512) == 0


def test_a_context_beyond_the_models_is_refused_with_the_reason() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    with pytest.raises(ContextTooLong, match=r"4097 tokens is beyond the 4096 .* ask for 4096 or fewer"):
        kv_cache_bytes(architecture, 4097)
    with pytest.raises(SizingError, match="at least 1 token"):
        kv_cache_bytes(architecture, 0)
    with pytest.raises(
        ContextTooLong, match=r"take qwen3-30b-a3b-2507 \(262,144 tokens\) or .* with 131072 .* by YaRN"
    ):
        kv_cache_bytes(catalogue.architecture("qwen3-30b-a3b"), 65536)


@given(context=st.integers(1, 32_767), batch=st.integers(1, 64))
def test_cache_never_shrinks_and_a_window_never_costs_more(context: int, batch: int) -> None:
    architecture = catalogue.architecture("mistral-7b")
    cache = kv_cache_bytes(architecture, context, batch)
    assert cache <= kv_cache_bytes(architecture, context + 1, batch)
    assert cache <= kv_cache_bytes(architecture, context, batch, piece=context)
    assert cache == batch * kv_cache_bytes(architecture, context)


def test_activations_of_llama_2_7b_are_a_small_part() -> None:
    # 512 tokens: 2 × 4096 + 2 × 11008 … values of 2 bytes, and 32,000 scores of 4.
    architecture = catalogue.architecture("llama-2-7b")
    assert activation_bytes(architecture, 512) == 512 * (2 * 4096 + 2 * 11008) * 2 + 32000 * 4


def test_inference_memory_is_the_sum_of_its_parts() -> None:
    memory = inference_memory(catalogue.architecture("llama-2-7b"), "fp16", 4096, 1, Assumptions())
    assert memory.weights == 2 * 6_738_415_616
    assert memory.kv_cache == 2 * 1024 * MIB
    assert memory.total == memory.weights + memory.kv_cache + memory.activations


def test_each_assumption_on_memory_changes_the_answer() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    base = Assumptions()
    total = inference_memory(architecture, "fp16", 4096, 1, base).total
    for change in ({"kv_cache_bits": 8}, {"prefill_chunk_tokens": 2048}):
        assert inference_memory(architecture, "fp16", 4096, 1, dataclasses.replace(base, **change)).total != total


def test_what_fits_where() -> None:
    assumptions = Assumptions()

    def fits(model_id: str, precision: str, memory_gb: float, count: int = 1) -> bool:
        needed = inference_memory(catalogue.architecture(model_id), precision, 4096, 1, assumptions)
        on_cards = needed.total + (count - 1) * needed.activations
        return on_cards <= usable_bytes(memory_gb * 2**30, count, LLAMA_CPP, assumptions)

    assert fits("llama-2-7b", "fp16", 24)
    assert not fits("llama-2-7b", "fp16", 12)
    assert fits("llama-2-7b", "Q4_K_M", 8)
    assert not fits("llama-3-70b", "Q4_K_M", 24)
    assert fits("llama-3-70b", "Q4_K_M", 24, count=2)
    assert not fits("deepseek-v3", "Q8_0", 80, count=8)
    assert fits("deepseek-v3", "Q8_0", 141, count=8)


def test_memory_adds_up_less_the_overhead_of_each_card() -> None:
    assumptions = Assumptions()
    assert usable_bytes(24e9, 4, LLAMA_CPP, assumptions) == 4 * usable_bytes(24e9, 1, LLAMA_CPP, assumptions)
    assert usable_bytes(24e9, 1, LLAMA_CPP, assumptions) == 23_200_000_000
    assert usable_bytes(0.5e9, 2, LLAMA_CPP, assumptions) == 0
    # vLLM takes nine tenths at most, and more of that where cards exchange.
    vllm = engines()["vllm"]
    assert usable_bytes(80e9, 1, vllm, assumptions) == 70_700_000_000
    assert usable_bytes(80e9, 2, vllm, assumptions) == 2 * 70_400_000_000
    with pytest.raises(ValueError, match="at least 1 card"):
        usable_bytes(24e9, 0, LLAMA_CPP, assumptions)


def test_mamba_keeps_the_same_however_long_the_text_is() -> None:
    shape = catalogue.architecture("mamba-2.8b")
    # 64 layers of 5,120 channels: 16 values of state at 32 bits, three inputs of the convolution at 16.
    assert state_bytes(shape) == 64 * 5120 * (16 * 4 + 3 * 2)
    assert kv_bytes_per_token(shape) == 0
    assert kv_cache_bytes(shape, 1) == kv_cache_bytes(shape, 2048) == state_bytes(shape)
    assert kv_cache_bytes(shape, 100, 8, 8) == 8 * state_bytes(shape), "fewer bits of a cache are none of a state"
    assert decode_flops(shape, 1) == decode_flops(shape, 2048)


def test_of_four_layers_of_qwen3_next_one_keeps_a_cache() -> None:
    shape = catalogue.architecture("qwen3-next-80b-a3b")
    # 12 layers with two heads of 256 for key and value each; 36 with 32 heads of 128 × 128 and a convolution of 8,192.
    assert kv_bytes_per_token(shape) == 12 * 2 * 2 * 256 * 2
    assert state_bytes(shape) == 36 * (32 * 128 * 128 * 4 + 8192 * 3 * 2)
    assert kv_cache_bytes(shape, 262_144) == 262_144 * kv_bytes_per_token(shape) + state_bytes(shape)


def test_llama_4_looks_back_a_chunk_in_three_layers_of_four() -> None:
    shape = catalogue.architecture("llama-4-scout")
    each = 2 * 8 * 128 * 2
    assert kv_cache_bytes(shape, 1_000_000) == each * (12 * 1_000_000 + 36 * 8192)


def test_whisper_keeps_what_it_hears_beside_what_it_writes() -> None:
    shape = catalogue.architecture("whisper-large-v3")
    assert kv_cache_bytes(shape, 448) == 32 * 2 * 1280 * 2 * (448 + 1500)


def test_nobody_measured_such_a_model_so_long_on_such_a_card_so_its_speed_is_an_estimate() -> None:
    need = need_of(
        "qwen3-next-80b-a3b",
        catalogue.architecture("qwen3-next-80b-a3b"),
        "Q4_K_M",
        Usage(context=32768),
        Assumptions(),
    )
    found = need.on(dataclasses.replace(by_id()["nvidia-geforce-rtx-4090"], memory_gb=96), 1)
    assert (found.decode.basis, found.prefill.basis) == ("estimated", "estimated")
    measured = need_of("llama-3-8b", catalogue.architecture("llama-3-8b"), "Q4_K_M", Usage(), Assumptions())
    dense = measured.on(by_id()["nvidia-geforce-rtx-4090"], 1).decode
    assert dense.basis == "calibrated"
    assert found.decode.expected / found.decode.low > 1.1 * dense.expected / dense.low
    assert any("however long it is" in str(note) for note in found.notes)


def test_t5_keeps_what_it_reads_and_what_it_writes_in_each_layer_of_its_decoder() -> None:
    shape = catalogue.architecture("t5-base")
    assert kv_bytes_per_token(shape) == 12 * 2 * 2 * 768 * 2


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
