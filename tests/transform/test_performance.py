"""Bounds on speed, and what a measurement says beside them."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transform import performance
from transform.assumptions import Assumptions
from transform.identity.catalogue import by_id, gpus
from transform.sizing import catalogue
from transform.sizing.flops import decode_flops, prefill_flops
from transform.sizing.memory import kv_cache_bytes
from transform.sizing.weights import weights


def test_peak_of_the_third_document() -> None:
    assert performance.peak_flops(1.3e9, 1, 2) == pytest.approx(2.6e9)


def test_peak_from_units_and_clock_is_the_catalogues_figure() -> None:
    checked, wrong = 0, []
    for gpu in gpus():
        if not (gpu.shading_units and gpu.boost_clock_mhz and gpu.fp32_tflops):
            continue
        peak = performance.shader_tflops(gpu.shading_units, gpu.boost_clock_mhz, gpu.architecture)
        if peak is None:
            continue
        checked += 1
        if peak != pytest.approx(gpu.fp32_tflops, rel=0.01):
            wrong.append((gpu.gpu_id, peak, gpu.fp32_tflops))
    assert checked > 1500
    # The catalogue itself is off for a few: a clock or a unit count of another revision of the card.
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize(
    ("gpu_id", "tflops"),
    # NVIDIA's data sheets, dense 16-bit tensor operations.
    [
        ("nvidia-geforce-rtx-4090", 330.3),
        ("nvidia-geforce-rtx-3090", 142),
        ("nvidia-a100-sxm4-80gb", 312),
        ("nvidia-tesla-t4", 65),
        ("nvidia-geforce-rtx-5090", 419),
    ],
)
def test_tensor_peaks(gpu_id: str, tflops: float) -> None:
    gpu = by_id()[gpu_id]
    assert gpu.tensor_cores is not None
    assert gpu.boost_clock_mhz is not None
    assert gpu.architecture is not None
    peak = performance.tensor_tflops(gpu.tensor_cores, gpu.boost_clock_mhz, gpu.architecture, gpu.chip)
    assert peak == pytest.approx(tflops, rel=0.01)


def test_tensor_peak_of_a_v100() -> None:
    assert performance.tensor_tflops(640, 1530, "Volta") == pytest.approx(125, rel=0.01)


def test_a_card_with_a_hidden_shader_clock_has_no_peak() -> None:
    assert performance.shader_tflops(128, 600, "Tesla") is None


def test_an_unknown_tensor_core_has_no_peak() -> None:
    assert performance.tensor_tflops(100, 2000, "RDNA 9") is None
    assert performance.tensor_tflops(0, 2000, "Hopper") is None


@pytest.mark.parametrize(("bandwidth", "expected"), [(1008, 155), (360, 55)])
def test_the_surveys_llama_test_could_be_much_faster(bandwidth: float, expected: float) -> None:
    # 13B weights of 4 bits: 6.5 GB a token, so 1008 GB/s bound a 4090 near 155 tokens/s and 360 GB/s a 3060 near 55.
    bound = performance.decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    assert bound == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("measured", "bandwidth", "share"), [(25.82, 1008, 0.17), (19.48, 360, 0.35)])
def test_and_was_limited_by_software(measured: float, bandwidth: float, share: float) -> None:
    bound = performance.decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    result = performance.utilisation(measured, bound, Assumptions())
    assert result.share == pytest.approx(share, abs=0.006)
    assert result.verdict == "limited by software or CPU, not by the card"


def test_verdicts() -> None:
    assumptions = Assumptions()
    assert performance.utilisation(101, 100, assumptions).verdict == "error in data or formula"
    assert performance.utilisation(100, 100, assumptions).verdict == "limited by the card"
    assert performance.utilisation(40, 100, assumptions).verdict == "limited by the card"
    assert performance.utilisation(39.9, 100, assumptions).verdict == "limited by software or CPU, not by the card"
    strict = dataclasses.replace(assumptions, low_utilisation=0.8)
    assert performance.utilisation(70, 100, strict).verdict == "limited by software or CPU, not by the card"
    with pytest.raises(ValueError, match="bound must be above zero"):
        performance.utilisation(10, 0, assumptions)


def test_cache_slows_decoding() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    size = weights(architecture, "fp16")
    empty = performance.decode_bound(size, 0, 1000)
    full = performance.decode_bound(size, kv_cache_bytes(architecture, 4096), 1000)
    assert empty == pytest.approx(1e12 / size.read_bytes())
    assert full == pytest.approx(1e12 / (size.read_bytes() + 2 * 2**30))


def test_a_batch_shares_the_weights_until_arithmetic_binds() -> None:
    architecture = catalogue.architecture("llama-3-8b")
    size = weights(architecture, "fp16")

    def bound(batch: int) -> float:
        flops = decode_flops(architecture, 1, batch).total
        return performance.decode_bound(size, 0, 1000, batch=batch, flops_per_step=flops, tflops=100)

    assert bound(8) == pytest.approx(8 * bound(1))
    # Past the balance of 100 operations a byte, more sequences do not help.
    assert bound(1000) == pytest.approx(bound(2000), rel=0.01)
    assert bound(2000) < 1000 * bound(1)


def test_prefill_is_bounded_by_arithmetic() -> None:
    flops = prefill_flops(catalogue.architecture("llama-2-7b"), 512).total
    assert performance.prefill_bound(flops, 512, 100) == pytest.approx(512 / (flops / 1e14))
    with pytest.raises(ValueError, match="above zero"):
        performance.prefill_bound(flops, 512, 0)


def test_the_roofline_turns_at_the_balance() -> None:
    balance = performance.arithmetic_intensity_at_balance(330, 1008)
    assert balance == pytest.approx(327.4, abs=0.1)
    memory = performance.roofline_seconds(balance * 0.99 * 1e9, 1e9, 330, 1008)
    arithmetic = performance.roofline_seconds(balance * 1.01 * 1e9, 1e9, 330, 1008)
    assert memory == pytest.approx(1 / 1008)
    assert arithmetic == pytest.approx(1.01 / 1008)
    assert performance.roofline_seconds(1e15, 1e9, None, 1008) == pytest.approx(1 / 1008)
    with pytest.raises(ValueError, match="rates must be above zero"):
        performance.roofline_seconds(1, 1, 1, 0)


@given(
    model_id=st.sampled_from(["llama-2-7b", "mixtral-8x7b", "gpt-oss-20b", "deepseek-v3", "gemma-3-27b"]),
    precision=st.sampled_from(["fp16", "Q8_0", "Q4_K_M", "int4"]),
    bandwidth=st.floats(10, 10_000),
    batch=st.integers(1, 256),
)
def test_more_bandwidth_and_fewer_bytes_never_slow_down(
    model_id: str, precision: str, bandwidth: float, batch: int
) -> None:
    size = weights(catalogue.architecture(model_id), precision)
    bound = performance.decode_bound(size, 1000, bandwidth, batch=batch)
    assert bound > 0
    assert performance.decode_bound(size, 1000, bandwidth * 2, batch=batch) == pytest.approx(2 * bound)
    assert performance.decode_bound(size, 2000, bandwidth, batch=batch) < bound
    assert performance.decode_bound(size, 1000, bandwidth, batch=batch + 1) > bound * 0.999
