"""The files that benchmark programs write, and tables of results: what is a figure, what none, what is left open."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract import source
from gpuledger.extract.markup import markdown
from gpuledger.extract.readers.measured import llama_bench
from gpuledger.extract.readers.measured.figure import NotReadable
from gpuledger.extract.readers.measured.plain import read_stored
from gpuledger.extract.readers.measured.read import read_figures
from gpuledger.flows.night import gather
from gpuledger.items import Score
from tests.extract.pages import page
from tests.flows import inprocess
from tests.support.measurement_files import INFERENCEX, LLAMA_BENCH, LLAMA_BENCH_TABLE, MLPERF, MLPERF_CSV, VLLM


def test_llama_bench_gives_reading_and_writing_apart_and_leaves_their_mixture_out() -> None:
    taken = read_figures(json.dumps(LLAMA_BENCH).encode())
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


def test_llama_bench_as_csv_as_lines_and_as_a_windows_shell_saves_it() -> None:
    rows = [{key: value for key, value in row.items() if not key.startswith("samples")} for row in LLAMA_BENCH]
    rows[1] = {**rows[1], "cpu_info": "O'Kettle, 16"}
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writeheader()  # two runs that were written one after the other
        writer.writerow(row)
    lines = "\n".join(json.dumps(row) for row in rows)
    forms = [out.getvalue().encode(), lines.encode(), lines.encode("utf-16")]
    plain = read_figures(json.dumps(rows).encode())
    for form in forms:
        assert read_figures(form) == plain


def test_llama_bench_without_a_graphics_card_in_its_backends() -> None:
    assert llama_bench.read_json([{**LLAMA_BENCH[1], "backends": "CPU"}]).figures == []
    assert len(llama_bench.read_json([{**LLAMA_BENCH[1], "backends": "CUDA,BLAS"}]).figures) == 1


def test_what_a_run_varies_or_keeps_from_the_card_is_part_of_its_workload() -> None:
    run = LLAMA_BENCH[1]
    rows: list[dict[str, object]] = [
        {**run, "flash_attn": 0}, run, {**run, "n_depth": 4096}, {**run, "n_cpu_moe": 24}, {**run, "type_k": "q8_0"},
        {**run, "n_gpu_layers": 12},
    ]  # fmt: skip
    figures = llama_bench.read_json(rows).figures
    ends = [figure.workload_id.partition("tg128")[2] for figure in figures]
    assert ends == ["-fa0", "-fa1", "-d4096", "-cpu-moe24", "-k-q8-0", ""]
    assert [(figure.is_single_stream, figure.layers_on_card) for figure in figures[3:]] == [
        (False, None), (True, None), (True, 12),
    ]  # fmt: skip
    table = LLAMA_BENCH_TABLE.replace("  Device 0: Varde GeForce RTX 4090, compute", "  Device 0: Varde B, compute") + (
        "  Device 1: Varde B, compute capability 8.9\n"
    )
    # Two cards that are alike are named; which of them ran is open.
    assert {(figure.gpu_name, figure.gpu_count) for figure in read_figures(table.encode()).figures} == {
        ("Varde B", None)
    }
    vulkan = "ggml_vulkan: 0 = Varde C (RADV) (radv) | uma: 0\n" + LLAMA_BENCH_TABLE.partition("VMM: yes\n")[2]
    assert {figure.gpu_name for figure in read_figures(vulkan.encode()).figures} == {"Varde C (RADV)"}


@pytest.mark.parametrize(
    ("content", "score", "on"),
    [
        ("workload_id;gpu_name;score;unit;Date\nw;A;1.028,25;s;2.11.2026\n;;;;\n", "1028.25", date(2026, 11, 2)),
        ("sep=;\nworkload;gpu;score;unit\nw;A;28,9;s\n", "28.9", None),
        ('Workload,GPU,Score,Unit,Date\nw,A,"1,028",s,11/25/2026\n', "1028", date(2026, 11, 25)),
        ("워크로드,그래픽카드,점수,단위,측정일\nw,A,28.9,s,2026. 11. 2.\n", "28.9", date(2026, 11, 2)),
    ],
    ids=["decimal comma", "sep", "thousands", "korean"],
)
def test_a_csv_as_spreadsheets_write_it(content: str, score: str, on: date | None) -> None:
    for encoding in ("utf-8-sig", "utf-16") + (("cp949",) if "워" in content else ()):
        [figure] = read_figures(content.replace("\n", "\r\n").encode(encoding)).figures
        assert (figure.workload_id, figure.gpu_name, figure.score, figure.measured_on) == ("w", "A", Decimal(score), on)


def test_a_number_that_may_be_two_is_settled_by_the_others_of_its_column() -> None:
    head = "workload_id;gpu_name;score;unit;claim\n"
    scores = [figure.score for figure in read_figures(f"{head}w;A;1,234;s;vendor\nw;A;28,9;s;\n".encode()).figures]
    assert scores == [Decimal("1.234"), Decimal("28.9")]
    assert [figure.claim for figure in read_figures(f"{head}w;A;28,9;s;Vendor\n".encode()).figures] == ["vendor"]


def test_whose_figures_files_of_a_format_hold() -> None:
    files = (LLAMA_BENCH, VLLM, MLPERF, INFERENCEX)
    claims = [read_figures(json.dumps(one).encode()).claim for one in files]
    assert claims == ["own", "own", "published", "published"]
    unfinished = {"0": MLPERF["0"], "1": {**MLPERF["0"], "Result": ""}}
    assert "no result" in read_figures(json.dumps(unfinished).encode()).left_out[0]


def test_llama_bench_as_a_table() -> None:
    taken = read_figures(LLAMA_BENCH_TABLE.encode())
    assert [(figure.score, figure.precision, figure.gpu_name) for figure in taken.figures] == [
        (Decimal("5765.41"), "Q4_0", "Varde GeForce RTX 4090"),
        (Decimal("161.70"), "Q4_0", "Varde GeForce RTX 4090"),
        (Decimal("120.25"), "Q4_0", "Varde GeForce RTX 4090"),
    ]
    assert taken.figures[2].workload_id.endswith("tg128-d4096")
    assert ["512 prompt and 128 answer" in line for line in taken.left_out] == [True]


def test_vllm_names_no_gpu_and_may_have_no_request_rate() -> None:
    taken = read_figures(
        "\n".join(json.dumps(one) for one in (VLLM, {**VLLM, "gpu": "NVIDIA H100-SXM-80GB", "tp": 2})).encode()
    )
    first, second = taken.figures
    assert (first.gpu_name, first.gpu_count, first.score) == (None, None, Decimal("2212.5"))
    assert (second.gpu_name, second.gpu_count) == ("NVIDIA H100-SXM-80GB", 2)
    assert first.workload_id == "vllm-varde-8b-1024-128-c16"
    # What is asked need not be vLLM, and stages of a pipeline are cards too.
    other = read_figures(
        json.dumps({**VLLM, "backend": "sglang", "tensor_parallel_size": "2", "pp": 2}).encode()
    ).figures[0]
    assert (other.software, other.gpu_count, other.workload_id[:7]) == ("SGLang", 4, "sglang-")
    assert (first.concurrent_users, first.is_single_stream) == (16, False)
    assert first.measured_on == date(2026, 11, 3)


@pytest.mark.parametrize("content", [json.dumps(MLPERF), MLPERF_CSV], ids=["json", "csv"])
def test_an_mlperf_result_is_of_all_accelerators(content: str) -> None:
    taken = read_figures(content.encode())
    offline, latency = taken.figures
    assert (offline.score, offline.unit, offline.gpu_count) == (Decimal("106517.0"), "tokens/s", 8)
    assert offline.workload_id == "mlperf-v6.1-llama2-70b-99.9-offline-8x"
    assert offline.measured_by == "Kettle Systems"
    # 20603 ms and 20.603 s are the same time; less is better.
    assert (latency.score, latency.unit, latency.direction) == (Decimal("20.603"), "s", "less")
    assert [("power" in line, "inferred" in line) for line in taken.left_out] == [(True, False), (False, True)]


def test_inferencex_counts_cards_by_tensor_and_pipeline_parallelism() -> None:
    taken = read_figures(json.dumps(INFERENCEX).encode())
    one, apart = taken.figures
    # 8 × 8 = 64 cards would be what the API says.
    assert (one.gpu_count, one.score, one.gpu_name) == (8, Decimal("16000.0"), "B200")
    assert (apart.gpu_count, apart.score) == (12, Decimal("12000"))
    # Of cards sold in two forms, the benchmark runs on one, as its own page of specifications says.
    hopper = read_figures(json.dumps([{**INFERENCEX[0], "hw": name} for name in ("h200-trt", "h100")]).encode()).figures
    assert [figure.gpu_name for figure in hopper] == ["H200 SXM", "H100 SXM"]
    assert one.workload_id == "inferencex-dsr1-fp8-1024-1024-c64-8x"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"[]", "empty list"),
        (b"\xe9\xff", "not UTF-8"),
        (b"\xff\xfeA", "not UTF-8"),
        (b"[{", "breaks off"),
        (json.dumps(LLAMA_BENCH[1]).encode() + b'\n{"avg_ts": 1', "line 2"),
        (b"[1, 2]", "none of the known formats"),
        (b'{"a": 1}', "begins with a, is none of the known formats"),
        (json.dumps([{**LLAMA_BENCH[1], "avg_ts": "fast"}]).encode(), "no number"),
        (json.dumps([{**LLAMA_BENCH[1], "avg_ts": float("nan")}]).encode(), "above zero"),
        (b"workload_id,gpu_name,score,unit\nw,RTX 4090,-3,it/s\n", "above zero"),
        (b"workload_id;gpu_name;score;unit\nw;RTX 4090;1,234;it/s\n", "line 2: score '1,234' may be 1234 or 1.234"),
        (b"Workload,GPU,Score,Unit,Date\nw,RTX 4090,3,it/s,11/2/2026\n", "line 2: .* 2026-02-11 or 2026-11-02"),
        (b"Workload,GPU,Score,Unit,gpu_name\nw,RTX 4090,3,it/s,b\n", "two columns are gpu_name"),
        (b"workload_id,gpu_name,score,unit\nw,RTX 4090\n", "not as many values"),
        (b"workload_id,gpu_name,score,unit,gpu_count\nw,RTX 4090,3,it/s,two\n", "gpu_count"),
    ],
)
def test_what_is_no_measurement_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(NotReadable, match=message):
        read_figures(content)


def test_a_kept_file_that_was_edited_badly_names_its_line() -> None:
    with pytest.raises(NotReadable, match="no column"):
        read_stored(b"workload_id,gpu_name\n")


ADDRESS = "https://raw.example.org/r/README.md#workload=deepseek-r1-14b&table=DeepSeek+R1+14b&score=Eval+Rate&rows=CPU/GPU:GPU"


def test_a_table_that_somebody_keeps_of_ollama(shared_data: Path) -> None:
    kept = page((shared_data / "benchmarks" / "ollama-benchmark_README.md").read_bytes(), ADDRESS, "text/plain")
    found = [one for one in source.get("result_tables").parse(kept) if isinstance(one, Score)]
    figures = {one.gpu_name: (one.score, one.unit, one.workload_id) for one in found}
    assert figures["Radxa Orion O6 - 16GB (Nvidia RTX 3080 Ti)"] == (Decimal("64.58"), "tokens/s", "deepseek-r1-14b")
    assert figures["Pi 5 - 16GB (AMD Pro W7700)"][0] == Decimal("19.90")
    assert not any("GMKtek" in name for name in figures), "that ran on the processor"


def test_the_addresses_are_those_of_the_settings(tmp_path: Path) -> None:
    context = dataclasses.replace(inprocess.context(tmp_path, 1, only=["result_tables"]), sample_night=None)
    assert gather.readings(context) == []
    context = dataclasses.replace(context, settings=dataclasses.replace(context.settings, result_tables=(ADDRESS,)))
    (reading,) = gather.readings(context)
    assert list(reading.starts) == [ADDRESS]


def test_pipes_marks_and_short_rows() -> None:
    text = "## A *short* one\n\nname | `t/s`\n--- | ---\n**a \\| b** | 1\nonly\n\n| x |\n|---|\n| y |\n"
    first, second = markdown.read_tables(text)
    assert (first.title, first.header, first.rows) == ("A short one", ("name", "t/s"), (("a | b", "1"),))
    assert (second.header, second.rows) == (("x",), (("y",),))
