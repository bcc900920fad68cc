"""The files that benchmark programs write, in their real shape: what is a figure, what is none, and what is left open."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest

from gpuledger.extract.readers.measured import llama_bench
from gpuledger.extract.readers.measured.figure import NotReadable
from gpuledger.extract.readers.measured.plain import read_kept
from gpuledger.extract.readers.measured.read import read
from tests.support.measurement_files import INFERENCEX, LLAMA_BENCH, LLAMA_BENCH_TABLE, MLPERF, MLPERF_CSV, VLLM


def test_llama_bench_gives_reading_and_writing_apart_and_leaves_their_mixture_out() -> None:
    taken = read(json.dumps(LLAMA_BENCH).encode())
    assert taken.format == "llama-bench"
    assert [(figure.workload_id.rpartition("-")[2], figure.score) for figure in taken.figures] == [
        ("pp512", Decimal("11213.52")),
        ("tg128", Decimal("150.213")),
    ]
    written = taken.figures[1]
    assert (written.gpu_name, written.gpu_count, written.precision) == ("NVIDIA GeForce RTX 4090", 1, "Q4_K_M")
    assert (written.is_single_stream, written.context_tokens, written.measured_on) == (True, 128, date(2026, 11, 2))
    assert written.software == "llama.cpp 7011 cd08fc3"
    assert ["divided by one time" in line for line in taken.left_out] == [True]


@pytest.mark.parametrize(
    ("row", "card", "count"),
    [
        ({"gpu_info": "Varde A, Varde A", "split_mode": "layer", "devices": "auto"}, "Varde A", None),
        ({"gpu_info": "Varde A, Varde A", "split_mode": "layer", "devices": "CUDA0/CUDA1"}, "Varde A", 2),
        ({"gpu_info": "Varde A, Varde B", "split_mode": "none", "main_gpu": 1}, "Varde B", 1),
        ({"gpu_info": "Varde A, Varde B", "split_mode": "layer", "devices": "auto"}, None, None),
        ({"gpu_info": ""}, None, None),
    ],
)
def test_the_gpus_of_a_machine_are_not_those_that_ran(
    row: dict[str, object], card: str | None, count: int | None
) -> None:
    # Every GPU present is listed: to take them all for users would halve a card's speed.
    rows = [{**LLAMA_BENCH[1], **row}]
    figure = llama_bench.read_json(rows).figures[0]
    assert (figure.gpu_name, figure.gpu_count) == (card, count)


def test_a_run_on_the_processor_is_no_figure_of_a_card() -> None:
    taken = llama_bench.read_json([{**LLAMA_BENCH[1], "n_gpu_layers": 0}])
    assert taken.figures == []
    assert "processor" in taken.left_out[0]


def test_llama_bench_as_a_table() -> None:
    taken = read(LLAMA_BENCH_TABLE.encode())
    assert [(figure.score, figure.precision, figure.gpu_name) for figure in taken.figures] == [
        (Decimal("5765.41"), "Q4_0", "Varde GeForce RTX 4090"),
        (Decimal("161.70"), "Q4_0", "Varde GeForce RTX 4090"),
        (Decimal("120.25"), "Q4_0", "Varde GeForce RTX 4090"),
    ]
    assert taken.figures[2].workload_id.endswith("tg128-d4096")
    assert ["pp512+tg128" in line for line in taken.left_out] == [True]


def test_vllm_names_no_gpu_and_may_have_no_request_rate() -> None:
    taken = read(
        "\n".join(json.dumps(one) for one in (VLLM, {**VLLM, "gpu": "NVIDIA H100-SXM-80GB", "tp": 2})).encode()
    )
    first, second = taken.figures
    assert (first.gpu_name, first.gpu_count, first.score) == (None, None, Decimal("2212.5"))
    assert (second.gpu_name, second.gpu_count) == ("NVIDIA H100-SXM-80GB", 2)
    assert first.workload_id == "vllm-varde-8b-1024-128-c16"
    assert (first.concurrent_users, first.is_single_stream) == (16, False)
    assert first.measured_on == date(2026, 11, 3)


@pytest.mark.parametrize("content", [json.dumps(MLPERF), MLPERF_CSV], ids=["json", "csv"])
def test_an_mlperf_result_is_of_all_accelerators(content: str) -> None:
    taken = read(content.encode())
    offline, latency = taken.figures
    assert (offline.score, offline.unit, offline.gpu_count) == (Decimal("106517.0"), "tokens/s", 8)
    assert offline.workload_id == "mlperf-v6.1-llama2-70b-99.9-offline-8x"
    assert offline.measured_by == "Kettle Systems"
    # 20603 ms and 20.603 s are the same time; less is better.
    assert (latency.score, latency.unit, latency.direction) == (Decimal("20.603"), "s", "less")
    assert [("power" in line, "inferred" in line) for line in taken.left_out] == [(True, False), (False, True)]


def test_inferencex_counts_cards_by_tensor_and_pipeline_parallelism() -> None:
    taken = read(json.dumps(INFERENCEX).encode())
    one, apart = taken.figures
    # 8 × 8 = 64 cards would be what the API says.
    assert (one.gpu_count, one.score, one.gpu_name) == (8, Decimal("16000.0"), "B200")
    assert (apart.gpu_count, apart.score) == (12, Decimal("12000"))
    assert one.workload_id == "inferencex-dsr1-fp8-1024-1024-c64-8x"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "none of the known formats"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[{", "breaks off"),
        (b"[1, 2]", "none of the known formats"),
        (b'{"a": 1}', "none of the known formats"),
        (json.dumps([{**LLAMA_BENCH[1], "avg_ts": "fast"}]).encode(), "no number"),
        (json.dumps([{**LLAMA_BENCH[1], "avg_ts": float("nan")}]).encode(), "above zero"),
        (b"workload_id,gpu_name,score,unit\nw,RTX 4090,-3,it/s\n", "above zero"),
        (b"workload_id,gpu_name,score,unit\nw,RTX 4090\n", "not as many values"),
        (b"workload_id,gpu_name,score,unit,gpu_count\nw,RTX 4090,3,it/s,two\n", "gpu_count"),
    ],
)
def test_what_is_no_measurement_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(NotReadable, match=message):
        read(content)


def test_a_kept_file_that_was_edited_badly_names_its_line() -> None:
    with pytest.raises(NotReadable, match="no column"):
        read_kept(b"workload_id,gpu_name\n")
