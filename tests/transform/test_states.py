"""Layers that keep a state of fixed size, alone (Mamba) or beside attention (Qwen3-Next), and a decoder that hears."""

from __future__ import annotations

import dataclasses

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import need_of
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import decode_flops, kv_bytes_per_token, kv_cache_bytes, state_bytes


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
