"""Questions about models that were answered wrongly once, with the files that people had (../shared/data/cases/decision)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.architecture import count_parameters, read_config
from gpuledger.transform.sizing.files.named import shape_of, usual_precision
from gpuledger.transform.sizing.files.source import described
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import weights
from tests.command import ROOT, gpuledger

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
    ("name", "model_id", "precision"),
    [
        ("Qwen/Qwen3-32B-AWQ", "qwen3-32b", "awq-int4-g128"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1", "int4"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama-3.3-70b", "nvfp4"),
    ],
)
def test_a_quantised_repository_is_the_model_at_that_precision(
    tmp_path: Path, name: str, model_id: str, precision: str
) -> None:
    assert catalogue.canonical(name) == model_id
    assert usual_precision(shape_of(name, tmp_path), name) == precision


def test_a_second_file_of_the_same_inner_name_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for file in CASES.glob("40-*/*.gguf"):
        shutil.copy(file, tmp_path)
    first = gpuledger("model", "add", tmp_path / "Llama-3.1-8B-IQ3_XXS.gguf", data=data)
    assert first.status == 0, first.err
    assert "the tensors of the file take" in first.out
    second = gpuledger("model", "add", tmp_path / "Llama-3.1-8B-NVFP4.gguf", data=data)
    assert second.status == 2
    assert "give yours another with --id" in " ".join(second.err.split())
    assert gpuledger("model", "add", tmp_path / "Llama-3.1-8B-NVFP4.gguf", "--id", "other", data=data).status == 0
