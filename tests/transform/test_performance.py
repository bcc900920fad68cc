"""Bounds on speed, and what a measurement says beside them."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import need
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import kv_cache_bytes
from gpuledger.transform.sizing.weights import Weights, weights


def decode_bound(size: Weights, cache: int, bandwidth_gb_s: float, *, batch: int = 1) -> float:
    """The most tokens a second of all sequences: a step reads the weights once and the cache of each."""
    return batch * bandwidth_gb_s * 1e9 / (size.read_bytes(batch) + batch * cache)


@pytest.mark.parametrize(("bandwidth", "expected"), [(1008, 155), (360, 55)])
def test_the_surveys_llama_test_could_be_much_faster(bandwidth: float, expected: float) -> None:
    # 13B weights of 4 bits: 6.5 GB a token, so 1008 GB/s bound a 4090 near 155 tokens/s and 360 GB/s a 3060 near 55.
    bound = decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    assert bound == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("measured", "bandwidth", "share"), [(25.82, 1008, 0.17), (19.48, 360, 0.35)])
def test_and_was_limited_by_software(measured: float, bandwidth: float, share: float) -> None:
    bound = decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    result = need.utilisation(measured, bound, Assumptions())
    assert result.share == pytest.approx(share, abs=0.006)
    assert result.verdict == "limited by software or CPU, not by the card"


def test_verdicts() -> None:
    assumptions = Assumptions()
    assert need.utilisation(101, 100, assumptions).verdict == "error in data or formula"
    assert need.utilisation(100, 100, assumptions).verdict == "limited by the card"
    assert need.utilisation(40, 100, assumptions).verdict == "limited by the card"
    assert need.utilisation(39.9, 100, assumptions).verdict == "limited by software or CPU, not by the card"
    strict = dataclasses.replace(assumptions, low_utilisation=0.8)
    assert need.utilisation(70, 100, strict).verdict == "limited by software or CPU, not by the card"
    with pytest.raises(ValueError, match="bound must be above zero"):
        need.utilisation(10, 0, assumptions)


def test_cache_slows_decoding() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    size = weights(architecture, "fp16")
    empty = decode_bound(size, 0, 1000)
    full = decode_bound(size, kv_cache_bytes(architecture, 4096), 1000)
    assert empty == pytest.approx(1e12 / size.read_bytes())
    assert full == pytest.approx(1e12 / (size.read_bytes() + 2 * 2**30))


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
    bound = decode_bound(size, 1000, bandwidth, batch=batch)
    assert bound > 0
    assert decode_bound(size, 1000, bandwidth * 2, batch=batch) == pytest.approx(2 * bound)
    assert decode_bound(size, 2000, bandwidth, batch=batch) < bound
    assert decode_bound(size, 1000, bandwidth, batch=batch + 1) > bound * 0.999
