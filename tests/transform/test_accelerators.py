"""Accelerators that are no GPUs: known, named, and never given a speed, a machine or a price that nobody states of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gpuledger.flows.cli import cli
from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.options import Limits
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import gpus
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.seeds import speeds
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed.engines import accelerator_of, check_node, engines
from gpuledger.transform.speed.predict import Prediction, job_of, load_of, predict
from gpuledger.transform.speed.rules import Plan
from tests.support.buying import market, need, options, rental

A = Assumptions()
ACCELERATORS = [gpu for gpu in gpus() if gpu.segment == "accelerator"]
#: Programs whose documents name none of these.
FOR_GPUS = ["llama.cpp", "ollama", "exllamav2", "transformers", "peft", "sglang", "tensorrt-llm", "mlx"]


def ask(gpu_id: str, engine: str, precision: str, count: int) -> Prediction:
    program, shape = engines()[engine], catalogue.architecture("llama-3.3-70b")
    gpu = next(one for one in ACCELERATORS if one.gpu_id == gpu_id)
    plan = Plan(gpu=gpu, count=count, engine=program, split=program.split)
    return predict(job_of(shape, precision, load_of(shape, 4096, 8, None, A), A), plan)


def test_every_accelerator_has_its_memory_its_rates_their_source_and_its_nodes() -> None:
    assert len(ACCELERATORS) == 6
    for gpu in ACCELERATORS:
        assert None not in (gpu.memory_gb, gpu.memory_bandwidth_gb_s, gpu.tensor_bf16_tflops, gpu.tensor_source)
        assert gpu.msrp_usd is None
        assert accelerator_of(gpu) is not None


@pytest.mark.parametrize("engine", FOR_GPUS)
@pytest.mark.parametrize("gpu", ACCELERATORS, ids=lambda gpu: gpu.gpu_id)
def test_a_program_for_gpus_has_no_speed_there(gpu: object, engine: str) -> None:
    answer = ask(gpu.gpu_id, engine, "fp16", 8)  # type: ignore[attr-defined]
    for rate in (answer.decode, answer.prefill):
        assert (rate.expected, rate.low, rate.high, rate.bound, rate.basis) == (None, None, None, None, "unknown")
    assert any("is not known to run" in str(note) for note in answer.notes)


def test_a_program_that_runs_there_has_a_bound_and_nothing_that_was_measured_on_gpus() -> None:
    answer = ask("intel-gaudi-3", "vllm", "bf16", 8)
    assert answer.verdict == "fits"
    assert (answer.decode.expected, answer.decode.low, answer.decode.basis) == (None, None, "unknown")
    # 8 chips of 3,670 GB/s over 141 GB of weights, which are read once for eight users.
    assert answer.decode.bound == pytest.approx(8 * 8 * 3670 / 141, rel=0.05)
    assert answer.prefill.bound is not None
    assert answer.prefill.expected is None
    said = " ".join(map(str, answer.notes))
    assert "no GPU" in said
    assert "nobody measured vllm so divided" not in said
    assert "between cards" not in said


def test_narrow_weights_are_not_claimed_to_run() -> None:
    assert ask("intel-gaudi-2", "vllm", "fp8", 8).decode.bound is None
    assert ask("google-tpu-v5p", "vllm", "bf16", 4).decode.bound is None


def test_no_machine_of_ours_holds_them_but_a_whole_node() -> None:
    for gpu in ACCELERATORS:
        held = [count for count in (1, 2, 4, 8) if host_for(gpu, count, gpu.tdp_w)]
        assert held == ([8] if gpu.vendor == "Intel" else [])


@pytest.mark.parametrize(("gpu_id", "count"), [("intel-gaudi-3", 1), ("google-tpu-v5e", 2), ("aws-trainium2", 8)])
def test_they_are_asked_about_in_whole_nodes(gpu_id: str, count: int) -> None:
    gpu = next(one for one in ACCELERATORS if one.gpu_id == gpu_id)
    with pytest.raises(SizingError, match="in machines of"):
        check_node(gpu, count, "vllm", "bf16")
    for known in accelerator_of(gpu).nodes:  # type: ignore[union-attr]
        check_node(gpu, known, "vllm", "bf16")


def test_a_question_about_a_program_that_does_not_run_there_is_refused(tmp_path: Path) -> None:
    asked = ["predict", "--gpu", "TPU v6e", "--count", "8", "--model", "llama-3-8b", "--data-dir", str(tmp_path)]
    answer = CliRunner().invoke(cli, asked)
    assert answer.exit_code == 2
    assert "llama.cpp is not known to run Q4_K_M on Google TPU v6e; vllm at bf16 is" in answer.output
    trained = CliRunner().invoke(cli, [*asked, "--train", "qlora"])
    assert trained.exit_code == 2
    assert "peft is not known to run" in trained.output


def test_sql_is_given_no_speed_of_them() -> None:
    known = {row[0] for row in speeds.rows(gpus())}
    assert known
    assert known.isdisjoint(gpu.gpu_id for gpu in ACCELERATORS)


@pytest.mark.parametrize(
    ("title", "source", "gpu_id"),
    [
        ("Gaudi2", "gpuhunt_catalog", "intel-gaudi-2"),
        ("Intel Gaudi 3", None, "intel-gaudi-3"),
        ("Google TPU v5e", None, "google-tpu-v5e"),
        ("TPU v6e", "measurements", "google-tpu-v6e"),
        ("AWS Trainium2", None, "aws-trainium2"),
        ("Supermicro 8x Intel Gaudi 3 server", "some_shop", None),
        ("Coral USB TPU v5e holder", "some_shop", None),
        ("v6e", None, None),
    ],
)
def test_a_name_alone_means_it_and_a_longer_title_does_not(title: str, source: str | None, gpu_id: str | None) -> None:
    assert Resolver.load().resolve(title, source=source).gpu_id == gpu_id


@pytest.mark.parametrize(
    ("users", "precision", "against"),
    [
        (1, "Q4_K_M", ("llama.cpp is not known to run Q4_K_M on Intel Gaudi 2",)),
        (8, "fp8", ("vllm is not known to run fp8 on Intel Gaudi 2",)),
        (8, "fp16", ()),
    ],
)
def test_a_rented_node_is_an_option_without_a_speed(users: int, precision: str, against: tuple[str, ...]) -> None:
    gaudi = next(gpu for gpu in ACCELERATORS if gpu.gpu_id == "intel-gaudi-2")
    asked = need("llama-3.3-70b", precision, Usage(users=users))
    # Nobody sells one, so nothing but the rental is there, and a card that others were measured on says nothing of it.
    rented = market(instances=(rental(gaudi, "10", gpu_count=8),), gpus=[gaudi])
    (option,) = options(asked, rented)
    assert (option.speed, option.usd_per_million_tokens, option.host) == (None, None, None)
    assert tuple(map(str, option.against)) == against
    (fast,) = options(asked, rented, Limits(min_tokens_per_s=1))
    assert Message("its speed is not known") in fast.against
