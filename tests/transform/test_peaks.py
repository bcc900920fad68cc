"""Peak operations from units and clock, against catalogue and data sheets, and what several cards exchange."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id, gpus
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed import cards
from gpuledger.transform.speed.links import Link, amdahl_speedup, exchange_seconds, link_between


def test_peak_from_units_and_clock_is_the_catalogues_figure() -> None:
    checked, wrong = 0, []
    for gpu in gpus():
        if not (gpu.shading_units and gpu.boost_clock_mhz and gpu.fp32_tflops):
            continue
        if gpu.architecture in ("Tesla", "Tesla 2.0"):
            continue  # no catalogue states the clock of their shading units
        # One multiply-add in a cycle. RDNA from 3 on issues two, and Fermi's units run at twice the stated clock.
        operations = 4 if gpu.architecture in ("RDNA 3.0", "RDNA 4.0", "Fermi", "Fermi 2.0") else 2
        peak = cards.peak_flops(gpu.boost_clock_mhz * 1e6, gpu.shading_units, operations) / 1e12
        checked += 1
        if peak != pytest.approx(gpu.fp32_tflops, rel=0.01):
            wrong.append((gpu.gpu_id, peak, gpu.fp32_tflops))
    assert checked > 1500
    # AMD states these with two operations packed into one instruction, which the shader rate does not count.
    wrong = [entry for entry in wrong if not entry[0].startswith("amd-radeon-instinct-mi3")]
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
    peak = cards.tensor_tflops(gpu.tensor_cores, gpu.boost_clock_mhz, gpu.architecture, gpu.chip)
    assert peak == pytest.approx(tflops, rel=0.01)


def test_tensor_peak_of_a_v100() -> None:
    assert cards.tensor_tflops(640, 1530, "Volta") == pytest.approx(125, rel=0.01)


def test_matrix_rates_of_cards() -> None:
    def rates(gpu_id: str) -> list[float | None]:
        found = [cards.matrix_tflops(by_id()[gpu_id], bits) for bits in (32, 16, 8, 4)]
        return [None if rate is None else round(rate) for rate in found]

    # NVIDIA's data sheets: T4 8.1 / 65 / 130 / 260; A100 19.5 / 312 / 624 / 1248.
    assert rates("nvidia-tesla-t4") == [8, 65, 130, 260]
    assert rates("nvidia-a100-sxm4-80gb") == pytest.approx([19, 312, 624, 1248], abs=2)
    # A P40 multiplies on its shaders; an RDNA 3 card's matrix rate is its 16-bit shader rate.
    assert rates("nvidia-tesla-p40") == [12, 12, 47, None]
    assert rates("amd-radeon-rx-7900-xtx") == [61, 123, 123, 246]
    # Of Turing, the GTX 16 cards have no tensor cores and multiply 16 bits at twice their 32-bit rate.
    assert rates("nvidia-geforce-gtx-1660-ti") == [5, 11, 22, None]


def test_a_rate_that_nobody_published_is_not_made_up() -> None:
    # Intel's matrix engines are several times faster than its shaders, so the shader rate would be a bound too low.
    card = dataclasses.replace(
        by_id()["intel-arc-b580"], tensor_fp16_tflops=None, tensor_bf16_tflops=None, tensor_int8_tops=None
    )
    assert cards.matrix_tflops(card, 16) is None
    published = dataclasses.replace(card, tensor_fp16_tflops=116.5)
    assert cards.matrix_tflops(published, 16) == 116.5


def test_an_unknown_tensor_core_has_no_peak() -> None:
    assert cards.tensor_tflops(100, 2000, "RDNA 9") is None
    assert cards.tensor_tflops(0, 2000, "Hopper") is None


def _rates(gpu_id: str) -> list[float | None]:
    return [cards.fastest_matrix_tflops(by_id()[gpu_id], bits) for bits in (16, 8, 4.5, 4)]


@pytest.mark.parametrize(
    ("gpu_id", "rates"),
    [
        ("nvidia-geforce-rtx-4090", [330.3, 660.6, 660.6, 1321.2]),
        ("nvidia-h100-sxm5", [989.4, 1978.9, 1978.9, 1978.9]),  # no 4-bit rate there is none missing
        ("nvidia-tesla-v100-sxm2-32gb", [125, 125, 125, 125]),
        ("amd-radeon-rx-7900-xtx", [122.8, 122.8, 122.8, 245.6]),
        ("amd-radeon-instinct-mi300x", [1307.4, 2614.9, 2614.9, 2614.9]),
    ],
)
def test_narrow_weights_are_multiplied_at_their_width_or_a_wider_one(gpu_id: str, rates: list[float]) -> None:
    assert _rates(gpu_id) == rates


def test_a_pascal_card_multiplies_eight_bits_four_at_a_time() -> None:
    pascal = by_id()["nvidia-geforce-gtx-1080-ti"]
    assert cards.fastest_matrix_tflops(pascal, 16) == pascal.fp32_tflops
    assert cards.fastest_matrix_tflops(pascal, 4) == 4 * pascal.fp32_tflops
    assert cards.fastest_matrix_tflops(pascal, 32) == pascal.fp32_tflops


def test_a_file_of_sixteen_bits_with_a_few_wider_vectors_has_the_rate_of_sixteen_bits() -> None:
    card = by_id()["nvidia-geforce-rtx-4090"]
    assert cards.fastest_matrix_tflops(card, 16.0005) == 330.3
    assert cards.fastest_matrix_tflops(card, 17) == card.fp32_tflops


def test_where_a_narrow_rate_may_be_missing_there_is_no_bound() -> None:
    intel = by_id()["intel-arc-a770-16gb"]
    assert cards.fastest_matrix_tflops(intel, 4) is None, "its matrix units' rate is not in the catalogue"


@pytest.mark.parametrize(("p", "n", "expected"), [(0.6, 4, 1.82), (0.95, 32768, 19.99)])
def test_amdahl_as_the_third_document_has_it(p: float, n: int, expected: float) -> None:
    assert round(amdahl_speedup(p, n), 2) == expected


@given(p=st.floats(0, 1), n=st.integers(1, 100_000), communication=st.floats(0, 10))
def test_amdahl_bounds(p: float, n: int, communication: float) -> None:
    speedup = amdahl_speedup(p, n)
    assert speedup * (1 + 1e-12) >= 1
    assert speedup <= n * (1 + 1e-12)
    assert amdahl_speedup(p, n, communication) <= speedup


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
