"""Several cards: Amdahl with communication."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed.links import Link, amdahl_speedup, exchange_seconds


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
