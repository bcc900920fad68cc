"""Questions about models that were answered wrongly once, with the files that people had (../shared/data/cases/decision)."""

from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path

import pytest

from gpuledger.flows.doors.asking.card_names import gpus_of
from gpuledger.transform.answers.sizes import sizes
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.source import described
from gpuledger.transform.sizing.named import shape_of, usual_precision
from gpuledger.transform.sizing.running import kv_bytes_per_token, kv_cache_bytes
from gpuledger.transform.sizing.tensors import Architecture, count_parameters
from gpuledger.transform.sizing.weights import normalise_precision, weights
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT, KEPT, calibrations
from gpuledger.transform.speed.engines import engine_of
from gpuledger.transform.speed.predict import Prediction, job_of, load_of, predict, with_draft
from gpuledger.transform.speed.rules import Plan
from gpuledger.warehouse.paths import DataDir
from tests.command import ROOT, gpuledger, succeeds

CASES = ROOT.parent / "shared" / "data" / "cases" / "decision"
pytestmark = pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here")


def shape(case: str) -> Architecture:
    (path,) = CASES.glob(f"{case}/*.json")
    return read_config(described(path))


@pytest.mark.parametrize(
    ("case", "billions"),
    [
        ("01-config-qwen3_5", 9.41),
        ("04-config-glm4_moe_lite", 29.94),
        ("05-config-minimax_m2", 228.7),
        ("08-config-qwen3_vl", 12.62),
        ("09-config-kimi_k25", 670.6),
        ("10-config-mistral3-wrapper", 24.0),
    ],
)
def test_a_config_of_this_year_has_its_size(case: str, billions: float) -> None:
    assert count_parameters(shape(case)).total / 1e9 == pytest.approx(billions, rel=0.01)


def test_the_text_of_a_wrapper_is_counted_as_the_model_that_it_is() -> None:
    wrapped = shape("10-config-mistral3-wrapper")
    assert sum(tensor.parameters for tensor in wrapped.tensors) == 23_572_403_200


@pytest.mark.parametrize(
    ("name", "precision", "gigabytes"), [("qwen3_32b_awq", "awq-int4-g128", 19.33), ("qwen3_32b_nvfp4", "nvfp4", 20.67)]
)
def test_a_quantised_config_is_not_sized_at_sixteen_bits(name: str, precision: str, gigabytes: float) -> None:
    found = read_config(json.loads((CASES / "13-config-quantised-sized-at-16-bits" / f"{name}.json").read_text()))
    assert found.stored_as == precision
    assert weights(found, precision).total / 1e9 == pytest.approx(gigabytes, rel=0.001)


@pytest.mark.parametrize(
    ("case", "billions", "gigabytes"),
    [
        ("101-kimi-k3-latent-experts/config.json", 2757, 1514),
        # Experts at 4 bits beside fp8, a quantisation in a file of its own, and one that is listed matrix by matrix.
        ("102-deepseek-v4-expert-dtype-fp4/config.json", 283.9, 155.2),
        ("105-hf-quant-config-beside/model", 671.0, 396.7),
        ("107-modelopt-mixed-precision/config.json", 27.36, 21.05),
    ],
)
def test_each_part_has_the_precision_that_the_files_state(case: str, billions: float, gigabytes: float) -> None:
    found = read_config(described(CASES / case))
    assert count_parameters(found).total / 1e9 == pytest.approx(billions, rel=0.001)
    assert weights(found, found.stored_as).total / 1e9 == pytest.approx(gigabytes, rel=0.001)


def test_entries_that_stand_for_several_tokens_are_kept_as_often_as_each_layer_says() -> None:
    """`compress_ratios`, and since nobody knows the family, no line says that it is exact."""
    found = shape("102-deepseek-v4-expert-dtype-fp4")
    kept = 43 * 128 * 512 + 21 * 20_000 * (512 + 128) / 4 + 20 * 20_000 * 512 / 128
    assert kv_cache_bytes(found, 20_000) == pytest.approx(2 * kept, rel=0.001)
    notes = {line.quantity: str(line.note) for line in sizes(found, "fp8", 4096, 1, Assumptions())}
    assert {name for name, note in notes.items() if "estimate" not in note} == {"longest context"}


def test_a_model_that_was_thinned_out_is_counted_block_by_block() -> None:
    found = shape("104-nemotron-nas-block-configs")
    assert count_parameters(found).total / 1e9 == pytest.approx(49.87, rel=0.001)
    assert kv_bytes_per_token(found) == 49 * 2 * 8 * 128 * 2
    assert found.layers == 80


def test_a_range_is_promised_where_8_of_10_measurements_lay_in_it(tmp_path: Path) -> None:
    """By the table of left-out cards in calibration.toml: AMD's lay outside, so no speed of theirs is called calibrated."""
    for asked, holds in (("llama-3.1-8b", True), ("llama-3.1-8b --users 32", False)):
        out = succeeds("buy", "--model", *asked.split(), cwd=tmp_path).out
        assert ("speeds are for" in out, "within its range in 8 of 10 cases" in out) == (True, holds), asked
    kept = calibrations()["llama.cpp"].kept["decode"]
    for card, maker in (("RX 7900 XT", "AMD"), ("RTX 3090", "NVIDIA")):
        found = asked_of(card, "llama-3.1-8b", "Q4_K_M", "llama.cpp", (512, 1, 256))
        share, deviation = kept[maker]
        assert (share >= KEPT, found.decode.basis == "calibrated") == (maker == "NVIDIA",) * 2
        is_wide = math.log(found.decode.high / found.decode.low) > 2 * EIGHTY_PERCENT * deviation - 1e-9
        assert maker == "NVIDIA" or is_wide
        assert any("held when cards were left out" in str(note) for note in found.notes) == (maker == "AMD")


@pytest.mark.parametrize(
    ("name", "model_id", "precision"),
    [
        ("Qwen/Qwen3-32B-AWQ", "qwen3-32b", "awq-int4-g128"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1", "Q4_K_M"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama-3.3-70b", "nvfp4"),
    ],
)
def test_a_quantised_repository_is_the_model_at_that_precision(
    tmp_path: Path, name: str, model_id: str, precision: str
) -> None:
    assert catalogue.canonical(name) == model_id
    assert usual_precision(shape_of(name, tmp_path), name) == precision


VLLM = ROOT.parent / "shared" / "data" / "benchmarks" / "vllm_fit_2025.csv"
CATALOGUE_IDS = {"gemma3-12b": "gemma-3-12b", "gemma3-27b": "gemma-3-27b"}


@pytest.mark.parametrize(
    "row", list(csv.DictReader(VLLM.open())) if VLLM.exists() else [], ids=lambda row: "-".join(list(row.values())[:7])
)
def test_what_did_not_fit_under_vllm_is_not_said_to_fit(row: dict[str, str], tmp_path: Path) -> None:
    """Starts of vLLM whose logs were read: also what fitted is said to fit."""
    assumptions, engine, count = Assumptions(), engine_of("vllm"), int(row["count"])
    shape = catalogue.architecture(CATALOGUE_IDS.get(row["model"], row["model"]))
    load = load_of(shape, int(row["input"]) + int(row["output"]), int(row["users"]), int(row["input"]), assumptions)
    job = job_of(shape, normalise_precision(row["quantisation"]), load, assumptions)
    card = gpus_of(DataDir(tmp_path), row["card"])[0]
    found = predict(job, Plan(gpu=card, count=count, engine=engine, split=engine.split))
    assert (found.verdict != "no") == (row["all_fit_at_once"] == "fits")


def asked_of(card: str, model: str, precision: str, engine: str, load: tuple[int, int, int]) -> Prediction:
    """What is predicted for one card: of the context, the users and the prompt of `load`."""
    context, users, prompt = load
    shape, program, assumptions = catalogue.architecture(model), engine_of(engine), Assumptions()
    job = job_of(shape, precision, load_of(shape, context, users, prompt, assumptions), assumptions)
    (gpu, *_) = gpus_of(DataDir(Path("data")), card)
    return predict(job, Plan(gpu=gpu, count=1, engine=program, split=program.split))


@pytest.mark.parametrize(
    ("card", "model", "precision", "load"),
    [("RTX 4090", "qwen3-14b", "fp8", (4096, 8, 2048)), ("RTX 5080", "qwen3-4b", "bf16", (40960, 1, 20480))],
)
def test_what_vllm_refused_to_start_is_said_not_to_fit(
    card: str, model: str, precision: str, load: tuple[int, int, int]
) -> None:
    assert asked_of(card, model, precision, "vllm", load).verdict == "no"


@pytest.mark.parametrize(
    ("model", "precision", "engine", "measured"),
    [("qwen3-30b-a3b", "Q4_K_M", "llama.cpp", 2060), ("qwen3.6-35b-a3b", "fp8", "vllm", 3729)],
)
def test_a_long_prompt_is_read_as_fast_as_it_was_measured(
    model: str, precision: str, engine: str, measured: float
) -> None:
    rate = asked_of("DGX Spark", model, precision, engine, (16416, 1, 16384)).prefill
    assert rate.low < measured < rate.high
    assert measured / 2 < rate.expected < 2 * measured


def test_a_card_without_a_rate_at_16_bits_has_no_speed_of_reading_at_32() -> None:
    found = asked_of("M5 Pro 64GB", "llama-3.1-8b", "fp32", "llama.cpp", (4096, 1, 2048))
    assert (found.prefill.expected, found.decode.bound is not None) == (None, True)


def test_a_model_of_texts_that_a_server_does_not_hold_says_so() -> None:
    found = asked_of("GT 1030 GDDR5", "bge-reranker-v2-m3", "bf16", "vllm", (4096, 1, 2048))
    assert (found.verdict, found.users_at_once) == ("no", 0)


@pytest.mark.parametrize(("card", "is_said"), [("Arc Pro B70", True), ("RTX 5090", False)])
def test_of_intel_s_cards_it_is_said_that_two_backends_were_measured(card: str, is_said: bool) -> None:
    notes = asked_of(card, "llama-3.1-8b", "Q4_K_M", "llama.cpp", (4096, 1, 2048)).notes
    assert any("with Vulkan the same card wrote" in str(note) for note in notes) == is_said


def test_a_draft_is_said_beside_the_bound_and_its_speed_holds_what_people_run(tmp_path: Path) -> None:
    found = asked_of("RTX 5090", "qwen3.8-27b", "Q4_K_M", "llama.cpp", (4096, 1, 2048))
    assert any("without a draft" in str(note) for note in found.notes)
    drafted = with_draft(found).decode
    assert drafted.low < 135 < 182 < drafted.high
    asked = ("predict", "--gpu", "RTX 5090", "--model", "qwen3.8-27b", "--context", "4096")
    for words, by_text in ((asked, False), ((*asked, "--draft"), True)):
        out = succeeds(*words, cwd=tmp_path).out
        assert ("without a draft" in out, "a draft wrote code 1.4–2.3 times" in out) == (not by_text, by_text)
    with pytest.raises(SizingError, match="one user"):
        with_draft(asked_of("RTX 5090", "qwen3.8-27b", "Q4_K_M", "llama.cpp", (4096, 2, 2048)))


def test_a_model_that_is_not_understood_has_no_calibrated_speed() -> None:
    found = asked_of("Ryzen AI Max+ 395 128GB", "deepseek-v4-flash", "Q2_K", "llama.cpp", (32768, 1, 16384))
    assert (found.decode.basis, found.prefill.basis) == ("estimated", "estimated")


def test_a_second_file_of_the_same_inner_name_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for file in CASES.glob("40-*/*.gguf"):
        shutil.copy(file, tmp_path)
    first = succeeds("model", "add", tmp_path / "Llama-3.1-8B-IQ3_XXS.gguf", data=data)
    assert "the tensors of the file take" in first.out
    second = gpuledger("model", "add", tmp_path / "Llama-3.1-8B-NVFP4.gguf", data=data)
    assert second.status == 2
    assert "give yours another with --id" in " ".join(second.err.split())
    assert gpuledger("model", "add", tmp_path / "Llama-3.1-8B-NVFP4.gguf", "--id", "other", data=data).status == 0


@pytest.mark.parametrize(
    ("case", "options", "lines"),
    [
        ("30-sglang-jsonl", ["--gpu", "H100 SXM", "--gpu-count", "8"],
         ["8 × H100 SXM: 392.685628 tokens/s", "8 × H100 SXM: 957.162043 tokens/s"]),
        ("31-aiperf-json", ["--gpu", "RTX 5060 Ti 16GB", "--gpu-count", "1"],
         ["256-256-c128: RTX 5060 Ti 16GB: 2113.855756 tokens/s"]),
        ("32-vllm-text-block", ["--gpu", "H100 SXM", "--gpu-count", "1", "--model", "llama-3.1-8b", "--precision", "bf16"],
         ["vllm-llama-3.1-8b-230-203-rinf: H100 SXM: 6582.87 tokens/s"]),
        ("35-llmfit-community", [], ["llmfit-qwen3-4b-q4-k-m: NVIDIA GeForce RTX 2080: 110.6 tokens/s (published)"]),
        ("37-sm-none-row-with-two-cards", ["--gpu-count", "2"],
         ["pp512: AMD Radeon AI PRO R9700 (RADV GFX1201): 937.04", "tg256-2x: 2 × AMD Radeon AI PRO R9700"]),
        ("38-strix-halo-measured-as-8060s", [], ["tg128: AMD Ryzen AI Max+ 395 128GB: 51.81 tokens/s"]),
    ],
)  # fmt: skip
def test_a_file_that_people_have_is_taken_in(case: str, options: list[str], lines: list[str], tmp_path: Path) -> None:
    (path,) = (path for path in (CASES / case).iterdir() if path.name not in ("command", "expected.txt", "got.txt"))
    taken = succeeds("measure", "import", path, *options, data=tmp_path / "data")
    assert [line for line in lines if line not in taken.out] == []


def test_a_run_over_two_machines_is_no_figure_of_a_card(tmp_path: Path) -> None:
    refused = gpuledger("measure", "import", CASES / "36-rpc-two-machines-as-one-card" / "kyuz0_rpc.log", data=tmp_path)
    assert (refused.status, refused.out) == (1, "")
    assert "ROCm,RPC" in refused.err
