"""Several cards: Amdahl with communication."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed.links import Link, amdahl_speedup, exchange_seconds, link_between


@pytest.mark.parametrize(("p", "n", "expected"), [(0.6, 4, 1.82), (0.95, 32768, 19.99)])
def test_amdahl_as_the_third_document_has_it(p: float, n: int, expected: float) -> None:
    assert round(amdahl_speedup(p, n), 2) == expected


@given(p=st.floats(0, 1), n=st.integers(1, 100_000), communication=st.floats(0, 10))
def test_amdahl_bounds(p: float, n: int, communication: float) -> None:
    speedup = amdahl_speedup(p, n)
    assert speedup * (1 + 1e-12) >= 1
    assert speedup <= n * (1 + 1e-12)
    assert amdahl_speedup(p, n, communication) <= speedup


@pytest.mark.parametrize(("p", "n", "c"), [(1.1, 2, 0), (-0.1, 2, 0), (0.5, 0, 0), (0.5, 2, -1)])
def test_impossible_parts_are_refused(p: float, n: int, c: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        amdahl_speedup(p, n, c)


def test_exchange_of_a_token() -> None:
    # Llama-2-7B on 2 cards: 64 exchanges of 8,192 bytes, of which half goes each way twice, over 31.5 GB/s after 10 µs.
    link = Link(31.5, 10, "a slot")
    seconds = exchange_seconds(catalogue.architecture("llama-2-7b"), 1, 2, link)
    assert seconds == pytest.approx(64 * (10e-6 + 8192 / 31.5e9))
    assert exchange_seconds(catalogue.architecture("llama-2-7b"), 1, 1, link) == 0
    # Around a ring of slots each of four cards passes on three times, there and back.
    ring = Link(31.5, 10, "slots", is_ring=True)
    four = exchange_seconds(catalogue.architecture("llama-2-7b"), 1, 4, ring)
    assert four == pytest.approx(64 * (6 * 10e-6 + 1.5 * 8192 / 31.5e9))


@pytest.mark.parametrize(
    # nccl-tests among four A100: 4,096 tokens of 8,192 values, over NVLink 3.0 and over slots of PCIe 4.0.
    ("gpu_id", "microseconds"), [("nvidia-a100-sxm4-80gb", 603), ("nvidia-a100-pcie-80gb", 11_369)],
)  # fmt: skip
def test_an_exchange_takes_what_was_measured(gpu_id: str, microseconds: float) -> None:
    shape = catalogue.architecture("llama-3-70b")
    link = link_between(by_id()[gpu_id], Assumptions())
    one = exchange_seconds(shape, 4096, 4, link) / (2 * shape.layers)
    assert one == pytest.approx(microseconds * 1e-6, rel=0.05)
