"""--explain: whoever types a sum into a calculator gets the figure that stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pytest

from gpuledger.message import said
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import explained as buying
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.figures import Step
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.speed import explained
from gpuledger.transform.speed.learned import Effect, Kind, Learned
from gpuledger.transform.speed.predict import Prediction
from tests.support.buying import card, market, need, options, rental

SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", ",": None})


def typed_in(step: Step) -> float:
    """What a calculator says of the sum."""
    text = step.arithmetic.translate(SIGNS).replace("^", "**")
    assert re.fullmatch(r"[\d\s.e+*/()-]+", text), text
    return float(eval(text))


def check(steps: Iterable[Step]) -> dict[str, Step]:
    found = list(steps)
    for step in found:
        assert typed_in(step) == pytest.approx(step.value, rel=1e-4), step
        assert step.source, step
    return {step.figure: step for step in found}


def on(asked: Need, gpu_id: str, count: int) -> Prediction:
    gpu = by_id()[gpu_id]
    host = host_for(gpu, count, gpu.tdp_w)
    found = asked.on(gpu, count, host and host.memory(asked.assumptions))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("model_id", "precision", "asked", "gpu_id", "count"),
    [
        ("llama-3.1-8b", "Q4_K_M", Usage(), "nvidia-geforce-rtx-3090", 1),
        ("llama-3.3-70b", "Q4_K_M", Usage(context=8192), "nvidia-geforce-rtx-4090", 4),
        ("llama-3.3-70b", "fp8", Usage(users=16, prompt=1024, answer=256), "nvidia-h100-sxm5", 8),
        ("gpt-oss-120b", "mxfp4", Usage(offload="experts"), "nvidia-geforce-rtx-3090", 1),
        ("qwen3-32b", "Q4_K_M", Usage(offload="layers", embedding="cards"), "nvidia-geforce-rtx-3060-12gb", 1),
        ("gemma-3-27b", "Q4_K_M", Usage(context=32768), "apple-m2-ultra-64gb", 1),
        ("qwen3-next-80b-a3b", "fp8", Usage(users=8, prompt=1024, answer=512), "nvidia-h100-sxm5", 8),
        ("deepseek-v3", "fp8", Usage(users=4), "nvidia-b200", 8),
    ],
)
def test_every_step_of_a_prediction_is_a_sum_that_comes_out(
    model_id: str, precision: str, asked: Usage, gpu_id: str, count: int
) -> None:
    wanted = need(model_id, precision, asked)
    comes_out(on(wanted, gpu_id, count))
    # The same where the warehouse measured the program.
    kind, name = Kind(wanted.engine.name, asked.users > 1), wanted.engine.name
    learned = Learned.of([Effect(kind, "engine", name, -0.2, 0.35, 5), Effect(kind, "card", gpu_id, 0.05, 0.15, 2)])
    comes_out(on(replace(wanted, learned=learned), gpu_id, count))


def comes_out(found: Prediction) -> None:
    steps = check(explained.steps(found))
    assert steps["needed"].value == found.needed / 1e9
    assert steps["usable"].value == found.usable / 1e9
    rate = found.decode
    assert rate.expected is not None
    last = steps.get("written, as answered") or steps["written"]
    assert (last.value, steps["low"].value, steps["high"].value, steps["bound"].value) == pytest.approx(
        (rate.expected, rate.low, rate.high, rate.bound)
    )
    if found.prefill.expected is not None:
        assert steps["reads"].value == found.prefill.expected


def test_boards_of_four_gpus_are_asked_about_up_to_what_a_machine_holds() -> None:
    like = by_id()["nvidia-geforce-rtx-4090"]
    board = card(like, 900, gpu_id="own", memory_gb=16, bandwidth_gb_s=300, tdp_w=200, gpus_on_board=4)
    found = options(need("llama-3.1-8b", "Q4_K_M"), market(cards=[board]))
    assert sorted(option.gpu_count for option in found) == [4, 8, 12, 16]


def test_every_dollar_of_owning_and_renting_is_a_sum_that_comes_out() -> None:
    gpu = by_id()["nvidia-geforce-rtx-4090"]
    texts = {"sales_tax_share": "0.2", "storage_usd_per_month": "10", "building_overhead": "0.3"}
    asked = need("llama-3.1-8b", "fp16", Usage(users=4), Assumptions().with_text(texts))
    rented = [rental(gpu, "0.40", way) for way in ("on_demand", "reserved_1y")]
    ways = {"buy": 0, "on_demand": 0, "reserved_1y": 0}
    offered = card(gpu, 1600, value_kept=Decimal("0.78"), history_years=3.0)
    for option in options(asked, market(cards=[offered], instances=rented, gpus=[gpu])):
        steps = check(buying.steps(option, asked))
        if option.way == "buy":
            kept = said(steps["sold at the end"].source)
            assert (
                "value_kept_per_year 0.78 share: of the question, its country, a setting or a measurement, inst" in kept
            )
        assert steps["total"].value == pytest.approx(float(option.total_usd or 0))
        assert steps["each user sees"].value == pytest.approx(option.speed.serving.each_tokens_per_s)
        assert "a million tokens written" in steps
        ways[option.way] += 1
    assert ways == {"buy": 8, "on_demand": 1, "reserved_1y": 1}
